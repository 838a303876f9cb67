"""Rows that hold frames of a robot: multipliers, their forces, rows that give way or only push.

Rows that hold have phi = C lambda with a compliance C >= 0. In statics and in acceleration form
psi = phi - C lambda adds its `stiffness` k times itself to the multiplier (augmented Lagrangian), which
changes nothing at the solution and keeps the tangent of a part that only constraints hold factorisable.
A one-sided row holds where lambda + k psi > 0; else its equation is -lambda / k = 0. Newton's method
with this choice is the semismooth one for

    0 <= lambda,   psi <= 0,   lambda psi = 0.

In a variational step hard rows are met at its end, and their impulse acts at its start.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from pliant.physics.contract import Moment, Rows, Step
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_TOUCHING = 1e-9
"""Gap, relative to the longest part, below which a row touches."""


class FrameRows(Rows):
    """Rows between K frames of a robot, their `sides` (part and frame station)."""

    compliance: float = 0.0
    """Gap for a unit of force, m/N; rows that have one are not hard."""
    sides: list[tuple[int, int]]
    stiffness: Array
    """What a gap costs (len(rows),), N m/rad or N/m; set by `close`."""

    def __init__(self, tree: Tree, count: int) -> None:
        self._at = tree.add_multipliers(count)

    def close(self, tree: Tree) -> None:
        self.rows = tree.n + np.arange(self._at.start, self._at.stop)
        self.row_weights = np.full(len(self.rows), 1.0 / tree.length)
        stiffness = tree.bending / tree.length**3
        if self.compliance:
            stiffness = min(stiffness, 0.5 / self.compliance)
        self.stiffness = np.full(len(self.rows), stiffness)
        self.columns = np.concatenate([tree.frame_columns(*side) for side in self.sides])
        self._near = _TOUCHING * tree.length

    def pairs(self) -> list[Pair]:
        rows, columns = self.rows[None], self.columns[None]
        both = [(rows, columns), (columns, rows), (columns, columns)]
        return [*both, (rows, rows)] if self.one_sided or not self.hard else both

    # -- what a kind of row gives --------------------------------------------------------------

    @abstractmethod
    def slopes(self, state: State) -> Array:
        """Derivative (len(rows), 6 K) of the gaps in the body twists of all sides."""

    @abstractmethod
    def curvature(self, state: State, force: Array) -> Array:
        """Second derivative (6 K, 6 K) of force (len(rows),) times the gaps in the charts g exp(x)."""

    # -- rows --------------------------------------------------------------------------------

    def violations(self, state: State) -> Array:
        gaps = self.gaps(state)
        return np.maximum(gaps, 0.0) if self.one_sided else gaps

    def holding(self, z: Array | None) -> Array:
        if not self.one_sided:
            return np.ones(len(self.rows))
        return np.zeros(len(self.rows)) if z is None else (z[self.rows] > 0.0).astype(float)

    def touch(self, state: State, v: Array, z: Array) -> None:
        if not self.one_sided:
            return
        resting = -_TOUCHING * float(np.max(np.abs(v), initial=0.0))
        near = self.gaps(state) > -self._near
        parting = self.jacobian(state) @ v[self.columns] < resting
        z[self.rows] = np.where(near & ~parting, 2.0 * self._near * self.stiffness, 0.0)

    def release(self, x: Array, z: Array) -> bool:
        pulls = (self.holding(z) > 0.0) & (x[self.rows] < 0.0)
        if not self.one_sided or not pulls.any():
            return False
        z[self.rows[pulls]] = 0.0
        return True

    def hold(self, state: State, tangent: Tangent, z: Array | None) -> None:
        held = self.holding(z)
        self.add_jacobian(state, tangent, held[:, None], held[:, None])
        self._add_own(tangent, held, 1.0)

    def jacobian(self, state: State) -> Array:
        """Derivative (r, c) of the gaps in the numbers of `columns`."""
        return self.slopes(state) @ state.frames_jacobian(self.sides)

    def add_jacobian(
        self, state: State, tangent: Tangent, down: float | Array, up: float | Array
    ) -> None:
        self._add_rows(tangent, self.jacobian(state), down, up)

    def _add_rows(self, tangent: Tangent, A: Array, down: float | Array, up: float | Array) -> None:
        slots = tangent.effects[self.number]
        tangent.add(slots[0], (down * A)[None])
        tangent.add(slots[1], (up * A).T[None])

    def gap_rates(self, state: State, v: Array, lifted: list[Array]) -> Array:
        return np.asarray(self.jacobian(state) @ v[self.columns])

    def add_forces(self, state: State, z: Array, work: Work, scale: float) -> None:
        self._add_wrench(state, work, scale * z[self.rows])

    def _add_wrench(self, state: State, work: Work, force: Array) -> None:
        if not force.any():
            return
        wrenches = (self.slopes(state).T @ force).reshape(-1, 6)
        for (i, station), wrench in zip(self.sides, wrenches, strict=True):
            work.parts[i].p[station] += wrench

    def _add_own(self, tangent: Tangent, held: Array, share: float | Array) -> None:
        """Add the derivatives of the rows in their own multipliers."""
        if self.one_sided or not self.hard:
            own = (held - 1.0) / self.stiffness - held * share * self.compliance
            tangent.add(tangent.effects[self.number][3], np.diag(own)[None])

    def add_compliance(self, tangent: Tangent, mobility: float | None) -> None:
        if not self.hard:
            tangent.add(tangent.effects[self.number][3], -np.eye(len(self.rows))[None])

    def augmented(self, gaps: Array) -> Array | float:
        return self.stiffness * gaps

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        wrenches = (self.slopes(state).T @ z[self.rows]).reshape(-1, 6)
        return [(*side, -wrench) for side, wrench in zip(self.sides, wrenches, strict=True)]

    # -- what acts ---------------------------------------------------------------------------

    def _meet(self, z: Array, gap: Array, work: Work, share: float | Array = 1.0) -> Array:
        """Add the equations of the rows, times a share, to the residual; returns which rows hold."""
        held = np.ones(len(gap))
        if self.one_sided:
            held = (z + self.stiffness * gap > 0.0).astype(float)
        work.residual[self.rows] += held * share * gap + (held - 1.0) * z / self.stiffness
        return held

    def act(self, m: Moment) -> None:
        z = m.z[self.rows]
        gap = self.gaps(m.state) - self.compliance * z
        if m.keep is not None:
            gap -= m.keep[self.rows]
        share = 1.0 - self.stiffness * self.compliance
        held = self._meet(z, gap, m.work, share)
        force = held * (z + self.stiffness * gap)
        self._add_wrench(m.state, m.work, force)
        if m.tangent is None:
            return
        J = m.state.frames_jacobian(self.sides)
        A = self.slopes(m.state) @ J
        both = (held * share)[:, None]
        self._add_rows(m.tangent, A, both, both)
        self._add_own(m.tangent, held, share)
        curved = J.T @ self.curvature(m.state, force) @ J
        curved += A.T @ ((held * self.stiffness)[:, None] * A)
        m.tangent.add(m.tangent.effects[self.number][2], curved[None])

    def go(self, step: Step) -> None:
        z = step.z[self.rows]
        held = self._meet(z, self.gaps(step.b), step.work)
        self._add_wrench(step.a, step.work, step.h * held * z)
        if step.tangent is not None:
            self.add_jacobian(step.b, step.tangent, held[:, None], 0.0)
            self.add_jacobian(step.a, step.tangent, 0.0, step.h * held[:, None])
            self._add_own(step.tangent, held, 1.0)
