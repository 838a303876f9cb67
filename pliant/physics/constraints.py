"""Constraints that hold a frame against another frame or a pose: multipliers and their forces.

The gap is that of `frame_gap`, of which the held rows are kept. In statics and in acceleration form a
gap adds its `stiffness` times itself to the multiplier (augmented Lagrangian), which changes nothing at
the solution and keeps the tangent of a part that only constraints hold factorisable.
"""

from __future__ import annotations

import numpy as np

from pliant.model import Constraint, Frame
from pliant.physics import frame_gap
from pliant.physics.contract import Moment, Rows, Step, Term
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work

Side = tuple[int, int]
"""Part and frame station."""


class FrameConstraint(Rows):
    """A frame `on` held against a frame `to` of the robot or a pose in the world."""

    def __init__(self, tree: Tree, constraint: Constraint) -> None:
        self.constraint = constraint
        self.label = constraint.label
        self.held = np.array(constraint.rows, dtype=np.int64)
        self.on = tree.attach(constraint.on)
        self.to = tree.attach(constraint.to) if isinstance(constraint.to, Frame) else None
        self._at = tree.add_multipliers(len(self.held))

    def close(self, tree: Tree) -> None:
        self.rows = tree.n + np.arange(self._at.start, self._at.stop)
        self.row_weights = np.full(len(self.rows), 1.0 / tree.length)
        stiffness = np.repeat([tree.bending / tree.length, tree.bending / tree.length**3], 3)
        self.stiffness = stiffness[self.held]
        """What a gap costs, N m/rad and N/m."""
        self.sides: list[Side] = [self.on] if self.to is None else [self.to, self.on]
        self.columns = np.concatenate([tree.frame_columns(*side) for side in self.sides])
        self.pose = np.eye(4)
        if self.to is None:
            rest = tree.rest.parts[self.on[0]].g[self.on[1]]
            given = self.constraint.to
            self.pose = rest.copy() if given is None else np.asarray(given, dtype=float)

    def pairs(self) -> list[Pair]:
        rows, columns = self.rows[None], self.columns[None]
        return [(rows, columns), (columns, rows), (columns, columns)]

    def poses(self, state: State) -> tuple[Array, Array]:
        """Poses of the frame that it holds to and of the frame that it holds."""
        g2 = state.parts[self.on[0]].g[self.on[1]]
        return (self.pose if self.to is None else state.parts[self.to[0]].g[self.to[1]]), g2

    # -- rows --------------------------------------------------------------------------------

    def gaps(self, state: State) -> Array:
        return frame_gap.residual(*self.poses(state))[self.held]

    def _slopes(self, state: State) -> list[Array]:
        """Derivative (6, 6) of the gap in the twist of each side."""
        A1, A2 = frame_gap.jacobian(*self.poses(state))
        return [A2] if self.to is None else [A1, A2]

    def jacobian(self, state: State) -> Array:
        """Derivative (r, c) of the held gaps in the numbers of `columns`."""
        pairs = zip(self._slopes(state), self.sides, strict=True)
        parts = [A @ state.frame_jacobian(*side) for A, side in pairs]
        return np.asarray(np.concatenate(parts, axis=1)[self.held])

    def add_jacobian(
        self, state: State, tangent: Tangent, down: float | Array, up: float | Array
    ) -> None:
        A = self.jacobian(state)
        slots = tangent.effects[self.number]
        tangent.add(slots[0], (down * A)[None])
        tangent.add(slots[1], (up * A).T[None])

    def gap_rates(self, state: State, v: Array, lifted: list[Array]) -> Array:
        return np.asarray(self.jacobian(state) @ v[self.columns])

    def add_forces(self, state: State, z: Array, work: Work, scale: float) -> None:
        self._add_wrench(state, work, scale * self._force(z[self.rows]))

    def _force(self, values: Array) -> Array:
        force = np.zeros(6)
        force[self.held] = values
        return force

    def _add_wrench(self, state: State, work: Work, force: Array) -> None:
        for A, (i, station) in zip(self._slopes(state), self.sides, strict=True):
            work.parts[i].p[station] += A.T @ force

    def augmented(self, gaps: Array) -> Array | float:
        return self.stiffness * gaps

    def reactions(self, z: Array) -> dict[str, Array]:
        return {self.constraint.name: -self._force(z[self.rows])}

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        force = self._force(z[self.rows])
        pairs = zip(self._slopes(state), self.sides, strict=True)
        return [(*side, -A.T @ force) for A, side in pairs]

    # -- what acts ---------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        gap = self.gaps(m.state)
        if m.keep is not None:
            gap -= m.keep[self.rows]
        force = self._force(m.z[self.rows] + self.stiffness * gap)
        m.work.residual[self.rows] += gap
        self._add_wrench(m.state, m.work, force)
        if m.tangent is None:
            return
        self.add_jacobian(m.state, m.tangent, 1.0, 1.0)
        A, J = self.jacobian(m.state), [m.state.frame_jacobian(*side) for side in self.sides]
        H = frame_gap.second(*self.poses(m.state), force)
        stack = _block_diagonal(J)
        curved = stack.T @ (H[6:, 6:] if self.to is None else H) @ stack
        curved += A.T @ (self.stiffness[:, None] * A)
        m.tangent.add(m.tangent.effects[self.number][2], curved[None])

    def go(self, step: Step) -> None:
        step.work.residual[self.rows] += self.gaps(step.b)
        self.add_forces(step.a, step.z, step.work, step.h)
        if step.tangent is not None:
            self.add_jacobian(step.b, step.tangent, 1.0, 0.0)
            self.add_jacobian(step.a, step.tangent, 0.0, step.h)


def _block_diagonal(blocks: list[Array]) -> Array:
    out = np.zeros((6 * len(blocks), sum(block.shape[1] for block in blocks)))
    column = 0
    for a, block in enumerate(blocks):
        out[6 * a : 6 * a + 6, column : column + block.shape[1]] = block
        column += block.shape[1]
    return out


def terms(tree: Tree) -> list[Term]:
    """The constraints of a robot."""
    return [FrameConstraint(tree, item) for item in tree.description.of(Constraint).values()]
