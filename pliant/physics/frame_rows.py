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

from pliant._numba import kernel
from pliant.engine.arrays import copy, take
from pliant.engine.program import run
from pliant.physics.contract import Moment, Rows, Step
from pliant.rods.contract import Array, Ints
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work

TOUCHING = 1e-9
"""Gap, relative to the longest part, below which a row touches."""
_ROUNDING = 1e-12
"""Part of the slopes of all sides below which their sum is rounding error."""
ROUGHLY = (1e-2, 1e3)
"""In a motion, part of the largest rate that a row that touches may part with, and how much larger gaps
may be."""


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
        self._set_columns(np.concatenate([tree.frame_columns(*side) for side in self.sides]))
        self._near = TOUCHING * tree.length

    def _set_columns(self, numbers: Ints) -> None:
        """Set the numbers `columns` (c,), each once, from those of one side after the other."""
        self.columns, self._merged = numbers, np.arange(0)
        if len(np.unique(numbers)) < len(numbers):
            self.columns, self._merged = np.unique(numbers, return_inverse=True)

    def pairs(self) -> list[Pair]:
        rows, columns = self.rows[None], self.columns[None]
        both = [(rows, columns), (columns, rows), (columns, columns)]
        return [*both, (rows, rows)] if self.one_sided or not self.hard else both

    def enough(self, tree: Tree) -> list[tuple[list[int], list[int]]]:
        """Its rows with the coordinates of each side that can meet them alone, in the undeformed robot.

        The coordinates of joints do not count: they may be free of stiffness, and of mass.
        """
        if self.one_sided or not self.hard or len(self.sides) < 2:
            return []
        free = np.concatenate([part.joint_index for part in tree.parts])
        A, found = self.jacobian(tree.rest), []
        for side in self.sides:
            columns = tree.frame_columns(*side)
            own = np.isin(self.columns, columns) & (self.columns < tree.size)
            sizes = np.linalg.svd(A[:, own & ~np.isin(self.columns, free)], compute_uv=False)
            if np.sum(sizes > TOUCHING * np.max(sizes, initial=0.0)) == len(self.rows):
                met = columns[columns < tree.size]
                found.append((self.rows.tolist(), met.tolist()))
        return found

    # -- what a kind of row gives --------------------------------------------------------------

    @abstractmethod
    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        """Write gaps (r,) and their derivatives (r, 6 K) in the body twists of all sides."""

    @abstractmethod
    def bend(self, state: State, force: Array, out: Array) -> None:
        """Write the second derivative (6 K, 6 K) of force (r,) . gaps in the charts g exp(x)."""

    def measured(self, state: State) -> tuple[Array, Array]:
        """Gaps (r,) and slopes (r, 6 K) at a state."""
        r = len(self.rows)
        gap, slopes = np.zeros(r), np.zeros((r, 6 * len(self.sides)))
        self.set_gaps(state, gap, slopes)
        return gap, slopes

    def row_name(self, row: int) -> str:
        """How error messages call one of its rows."""
        return f"row {row}"

    # -- rows --------------------------------------------------------------------------------

    def gaps(self, state: State) -> Array:
        return self.measured(state)[0]

    def add_gaps(self, state: State, scale: float, out: Array) -> None:
        run(add_to_rows, self.measured(state)[0], scale, self.rows, out)

    def violations(self, state: State) -> Array:
        gaps = self.gaps(state)
        return np.maximum(gaps, 0.0) if self.one_sided else gaps

    def holding(self, z: Array | None) -> Array:
        if not self.one_sided:
            return np.ones(len(self.rows))
        return np.zeros(len(self.rows)) if z is None else (z[self.rows] > 0.0).astype(float)

    def touch(self, state: State, v: Array, z: Array, rough: bool = False) -> None:
        if not self.one_sided:
            return
        gap, slopes = self.measured(state)
        A = self._in_columns(state, slopes)
        near = (ROUGHLY[0], ROUGHLY[1] * self._near) if rough else (TOUCHING, self._near)
        where = (self.columns, v, *near, self.stiffness, self.rows, z)
        run(touch_rows, gap, A, *where)

    def release(self, x: Array, z: Array, pulled: Ints) -> None:
        if self.one_sided:
            run(release_rows, self.rows, x, z, pulled)

    def _marks(self, z: Array | None) -> Array:
        """What `holding` returns, as part of a program."""
        held = self.holding(None)
        if self.one_sided and z is not None:
            run(mark_holding, self.rows, z, held)
        return held

    def hold(self, state: State, tangent: Tangent, z: Array | None) -> None:
        held = self._marks(z)
        self._add_rows(tangent, self.jacobian(state), held, 1.0, 1.0)
        self._add_own(tangent, held, 1.0)

    def jacobian(self, state: State) -> Array:
        """Derivative (r, c) of the gaps in the numbers of `columns`."""
        return self._in_columns(state, self.measured(state)[1])

    def frames_jacobian(self, state: State) -> Array:
        """Twists (6 K, c) of the frames of all sides in the numbers of `columns`."""
        J = state.frames_jacobian(self.sides)
        if not len(self._merged):
            return J
        merged = np.zeros((len(J), len(self.columns)))
        run(merge_columns, J, self._merged, merged)
        return merged

    def _in_columns(self, state: State, slopes: Array) -> Array:
        J = self.frames_jacobian(state)
        A = np.zeros((len(slopes), J.shape[1]))
        run(multiply, slopes, J, A)
        if len(self._merged):
            run(clear_rounding, slopes, J, self.row_weights, A)
        return A

    def _add_rows(
        self, tangent: Tangent, A: Array, held: Array, down: float | Array, up: float | Array
    ) -> None:
        """Add `down` times A and `up` times A^T of the rows that hold.

        down, up : numbers, or arrays (r,), whose values a program looks up as it runs.
        """
        slots = tangent.effects[self.number]
        for slot, scale in ((slots[0], down), (tangent.mirrored(self.number, 1), up)):
            if isinstance(scale, np.ndarray) or scale:
                factors = scale if isinstance(scale, np.ndarray) else np.full(len(held), scale)
                blocks = np.zeros((1, *A.shape))
                run(scale_rows, A, held, factors, blocks[0])
                tangent.add(slot, blocks)

    def add_gap_rates(
        self,
        state: State,
        v: Array,
        lifted: list[Array],
        z: Array | None,
        scale: float,
        out: Array,
    ) -> None:
        where = (self.jacobian(state), self.columns, v, self._marks(z))
        run(add_row_rates, *where, scale, self.rows, out)

    def add_forces(self, state: State, z: Array, work: Work, scale: float) -> None:
        force = np.zeros(len(self.rows))
        take(z, self.rows, force)
        self._add_wrench(work, self.measured(state)[1], force, scale)

    def _add_wrench(self, work: Work, slopes: Array, force: Array, scale: float) -> None:
        for n, (i, station) in enumerate(self.sides):
            run(add_wrench, slopes, force, scale, 6 * n, work.parts[i].p[station])

    def _add_own(self, tangent: Tangent, held: Array, share: float | Array) -> None:
        """Add the derivatives of the rows in their own multipliers."""
        if self.one_sided or not self.hard:
            own, shares = np.zeros((1, len(held), len(held))), share * np.ones(len(held))
            run(own_slopes, held, self.stiffness, self.compliance, shares, own[0])
            tangent.add(tangent.effects[self.number][3], own)

    def add_compliance(self, tangent: Tangent, mobility: float | None) -> None:
        if not self.hard:
            tangent.add(tangent.effects[self.number][3], -np.eye(len(self.rows))[None])

    def augmented(self, gaps: Array) -> Array | float:
        return self.stiffness * gaps

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        wrenches = (self.measured(state)[1].T @ z[self.rows]).reshape(-1, 6)
        return [(*side, -wrench) for side, wrench in zip(self.sides, wrenches, strict=True)]

    # -- what acts ---------------------------------------------------------------------------

    def _meet(
        self, z: Array, keep: Array | None, gap: Array, work: Work, share: float | Array, k: Array
    ) -> tuple[Array, Array]:
        """Add the equations of the rows, times a share, to the residual.

        keep (total,) : gaps to keep, None for none. k (r,) : what a gap adds to the multiplier. Returns
        which rows hold, and their forces.
        """
        r = len(self.rows)
        held, force, shares = np.zeros(r), np.zeros(r), share * np.ones(r)
        kept = np.zeros(len(z)) if keep is None else keep
        rule = (self.stiffness, self.compliance, shares, k)
        run(meet_rows, self.rows, z, kept, *rule, self.one_sided, gap, work.residual, held, force)
        if self.one_sided:
            copy(held, work.active[self._at])
        return held, force

    def act(self, m: Moment) -> None:
        gap, slopes = self.measured(m.state)
        share = 1.0 - self.stiffness * self.compliance
        held, force = self._meet(m.z, m.keep, gap, m.work, share, self.stiffness)
        self._add_wrench(m.work, slopes, force, 1.0)
        if m.tangent is None:
            return
        A = self._in_columns(m.state, slopes)
        self._add_rows(m.tangent, A, held, share, share)
        self._add_own(m.tangent, held, share)
        K, c = 6 * len(self.sides), A.shape[1]
        bent, curved = np.zeros((K, K)), np.zeros((1, c, c))
        self.bend(m.state, force, bent)
        J = self.frames_jacobian(m.state)
        run(add_forms, J, bent, A, held, self.stiffness, curved[0])
        m.tangent.add(m.tangent.effects[self.number][2], curved)

    def go(self, step: Step) -> None:
        gap, below = self.measured(step.b)
        held, force = self._meet(step.z, None, gap, step.work, 1.0, np.zeros(len(gap)))
        slopes = self.measured(step.a)[1]
        self._add_wrench(step.work, slopes, force, step.h)
        if step.tangent is not None:
            self._add_rows(step.tangent, self._in_columns(step.b, below), held, 1.0, 0.0)
            self._add_rows(step.tangent, self._in_columns(step.a, slopes), held, 0.0, step.h)
            self._add_own(step.tangent, held, 1.0)


@kernel
def touch_rows(gap, A, columns, v, part, near, stiffness, rows, z):  # type: ignore[no-untyped-def]
    """Set multipliers z > 0 of rows with gaps (r,) above -near that do not part at rates v (total,).

    A (r, c). Rows part if their gaps fall faster than the part `part` of the largest rate, and than
    `near` in a second.
    """
    fastest = 0.0
    for i in range(v.shape[0]):
        fastest = max(fastest, abs(v[i]))
    for i in range(rows.shape[0]):
        rate = 0.0
        for j in range(columns.shape[0]):
            rate += A[i, j] * v[columns[j]]
        touches = gap[i] > -near and not rate < -max(part * fastest, near)
        z[rows[i]] = 2.0 * near * stiffness[i] if touches else 0.0


@kernel
def release_rows(rows, x, z, pulled):  # type: ignore[no-untyped-def]
    """Let rows go idle (z = 0) that hold and pull in x; pulled_0 = 1 if there were any."""
    for at in rows:
        if z[at] > 0.0 and x[at] < 0.0:
            z[at] = 0.0
            pulled[0] = 1


@kernel
def mark_holding(rows, z, held):  # type: ignore[no-untyped-def]
    """held (r,) = 1 for rows with z > 0, else 0."""
    for i in range(rows.shape[0]):
        held[i] = 1.0 if z[rows[i]] > 0.0 else 0.0


@kernel
def multiply(A, B, out):  # type: ignore[no-untyped-def]
    """out (r, c) = A B."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            v = 0.0
            for k in range(A.shape[1]):
                v += A[i, k] * B[k, j]
            out[i, j] = v


@kernel
def merge_columns(J, places, out):  # type: ignore[no-untyped-def]
    """out (6 K, c)[:, places] = sums of the columns of J."""
    for i in range(J.shape[0]):
        for b in range(out.shape[1]):
            out[i, b] = 0.0
        for j in range(J.shape[1]):
            out[i, places[j]] += J[i, j]


@kernel
def clear_rounding(slopes, J, weights, A):  # type: ignore[no-untyped-def]
    """Set entries of A = slopes J (r, c) to zero that are rounding errors: frames of one rigid piece
    move alike. weights (r,) make rows plain numbers.
    """
    for j in range(A.shape[1]):
        most = 0.0
        for i in range(A.shape[0]):
            size = 0.0
            for k in range(J.shape[0]):
                size += abs(slopes[i, k] * J[k, j])
            most = max(most, weights[i] * size)
        for i in range(A.shape[0]):
            if weights[i] * abs(A[i, j]) <= _ROUNDING * most:
                A[i, j] = 0.0


@kernel
def scale_rows(A, held, scale, out):  # type: ignore[no-untyped-def]
    """out (r, c) = diag(held scale) A."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = held[i] * scale[i] * A[i, j]


@kernel
def add_to_rows(values, scale, rows, out):  # type: ignore[no-untyped-def]
    """out[rows] += scale values (r,)."""
    for i in range(rows.shape[0]):
        out[rows[i]] += scale * values[i]


@kernel
def add_row_rates(A, columns, v, held, scale, rows, out):  # type: ignore[no-untyped-def]
    """out[rows] += scale held A v[columns], A (r, c)."""
    for i in range(rows.shape[0]):
        rate = 0.0
        for j in range(columns.shape[0]):
            rate += A[i, j] * v[columns[j]]
        out[rows[i]] += scale * held[i] * rate


@kernel
def add_wrench(slopes, force, scale, first, p):  # type: ignore[no-untyped-def]
    """p (6,) += scale force . slopes, in the six columns from `first` on."""
    for j in range(6):
        for i in range(force.shape[0]):
            p[j] += scale * force[i] * slopes[i, first + j]


@kernel
def own_slopes(held, stiffness, compliance, share, out):  # type: ignore[no-untyped-def]
    """Diagonal of out (r, r): derivative of what `meet_rows` adds to the residual in lambda."""
    for i in range(held.shape[0]):
        out[i, i] = (held[i] - 1.0) / stiffness[i] - held[i] * share[i] * compliance


@kernel
def meet_rows(  # type: ignore[no-untyped-def]
    rows, z, keep, stiffness, compliance, share, k, one_sided, gap, residual, held, force
):
    """Add the equations of rows (r,) to the residual (total,); write which hold, and their forces.

    psi = gap - compliance lambda - keep. A row that holds adds share psi and has the force
    lambda + k psi; one that is idle adds -lambda / stiffness.
    """
    for i in range(rows.shape[0]):
        at = rows[i]
        psi = gap[i] - compliance * z[at] - keep[at]
        holds = not one_sided or z[at] + stiffness[i] * psi > 0.0
        held[i] = 1.0 if holds else 0.0
        residual[at] += share[i] * psi if holds else -z[at] / stiffness[i]
        force[i] = z[at] + k[i] * psi if holds else 0.0


@kernel
def add_forms(J, bent, A, held, stiffness, out):  # type: ignore[no-untyped-def]
    """out (c, c) = J^T bent J + A^T diag(held stiffness) A, J (6 K, c), A (r, c)."""
    K, c = J.shape
    row = np.empty(c)
    for a in range(c):
        for b in range(c):
            out[a, b] = 0.0
    for i in range(K):
        for b in range(c):
            row[b] = 0.0
            for k in range(K):
                row[b] += bent[i, k] * J[k, b]
        for a in range(c):
            for b in range(c):
                out[a, b] += J[i, a] * row[b]
    for i in range(A.shape[0]):
        w = held[i] * stiffness[i]
        for a in range(c):
            for b in range(c):
                out[a, b] += w * A[i, a] * A[i, b]
