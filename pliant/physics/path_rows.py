"""Cables along paths whose length is given: one multiplier, the tension.

The gap phi = L - (rest length) is above zero where the cable is stretched. A cable that cannot stretch
is a hard one-sided row, 0 <= T, phi <= 0, T phi = 0; one that can has phi = C T where it is taut. The
tension is an unknown of its own, so that a via-point is coupled with its neighbours and with the
multiplier, and the matrix stays sparse however long the path is.

In a variational step a cable that cannot stretch is met at the end of the step. One that can has the
secant of its potential between both ends as tension, along the mean directions of `path_kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.model.registry import Effect
from pliant.physics.contract import Moment, Step
from pliant.physics.frame_rows import FrameRows
from pliant.physics.path_kernels import add_wrenches
from pliant.physics.paths import NOTHING, Path
from pliant.physics.symbolic import Symbols, path_length
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_MANY = 64
"""Most coordinates that move a path with an augmented multiplier (`frame_rows`): its block is dense."""
_CLOSE = 1e-9
"""Change of length, relative to the length, below which a secant is a tangent."""


class PathRow(FrameRows):
    """A cable that cannot stretch; `slack` is how much longer it is at rest than its path, m.

    reel : whether the first span leads to a reel, and is no part of the path.
    """

    compiled = True
    one_sided = True

    def __init__(
        self, tree: Tree, effect: Effect, points: Sequence[Any], slack: float, reel: bool
    ) -> None:
        super().__init__(tree, 1)
        self.reel = reel
        self.source, self.label, self.name = effect, effect.label, effect.name
        self.slack, self.via = slack, tuple(points)
        self.path = Path(tree, points, coupled=False)
        self.squeezes = self.squeezes_at_once = self.path.squeezes
        self._moving = [k for k, side in enumerate(self.path.sides) if side is not None]
        self.sides = [side for side in self.path.sides if side is not None]

    def close(self, tree: Tree) -> None:
        super().close(tree)
        self.rest = np.array([self.path.length(tree.rest) + self.slack])
        each = [tree.frame_columns(*side) for side in self.sides]
        self.columns = np.unique(np.concatenate(each))
        self._places = [np.searchsorted(self.columns, columns) for columns in each]
        self._augmented = len(self.columns) <= _MANY

    def pairs(self) -> list[Pair]:
        rows, columns = self.rows[None], self.columns[None]
        none = np.zeros((0, 0), dtype=np.int64)
        block = (columns, columns) if self._augmented else (none, none)
        return [(rows, columns), (columns, rows), block, (rows, rows)]

    # -- measure -----------------------------------------------------------------------------------

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        spans = self.path.spans(state)
        run(set_gap, self.rest, spans.lengths, gap)
        self._set_slopes(spans.n, spans.Ra, slopes)

    def _set_slopes(self, n: Array, R: Array, slopes: Array) -> None:
        """Write E_i^T (n_{i-1} - n_i) of all moving points to slopes (1, 6 K)."""
        count = len(self._moving)
        unit, rows = np.ones(self.path.count - 1), np.array(self._moving)
        out = slopes.reshape(count, 6)
        run(clear_rows, out)
        run(add_wrenches, n, unit, 1.0, np.arange(count), rows, self.path.offsets, R, out)

    def bend(self, state: State, force: Array, out: Array) -> None:
        raise NotImplementedError("it is added to the couplings of stations")

    def _in_columns(self, state: State, slopes: Array) -> Array:
        A = np.zeros((1, len(self.columns)))
        run(clear_rows, A)
        for k, (side, places) in enumerate(zip(self.sides, self._places, strict=True)):
            if len(places):
                J = state.frame_jacobian(*side)
                run(add_row, slopes[0, 6 * k : 6 * k + 6], J, places, A[0])
        return A

    def _force(self, z: Array) -> Array:
        """The multiplier as the tension (K - 1,) of all spans, zero where it is idle."""
        tension = np.zeros(self.path.count - 1)
        run(spread_force, self.rows, z, tension)
        return tension

    # -- what acts ---------------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        gap, slopes = self.measured(m.state)
        stiffness = self.stiffness if self._augmented else 0.0 * self.stiffness
        share = 1.0 - stiffness * self.compliance
        held, force = self._meet(m.z, m.keep, gap, m.work, share, stiffness)
        self._add_wrench(m.work, slopes, force, 1.0)
        if m.tangent is None:
            return
        A = self._in_columns(m.state, slopes)
        self._add_rows(m.tangent, A, held, share, share)
        self._add_own(m.tangent, held, share)
        tension = np.zeros(self.path.count - 1)
        run(spread_force, np.zeros(1, dtype=np.int64), force, tension)
        self.path.add_slopes(self.path.spans(m.state), tension, NOTHING, 2.0, 1.0, m.work)
        if self._augmented:
            square = np.zeros((1, A.shape[1], A.shape[1]))
            run(set_square, A[0], held, self.stiffness, square[0])
            m.tangent.add(m.tangent.effects[self.number][2], square)

    def add_bends(self, state: State, z: Array, work: Work, scale: float) -> None:
        self.path.add_slopes(self.path.spans(state), self._force(z), NOTHING, 2.0, scale, work)

    # -- forces ------------------------------------------------------------------------------------

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        return self.path.wrenches(self.path.spans(state), self._force(z))

    def readings(self, m: Moment) -> dict[str, Any]:
        """Tension, N, length of the path and slack, m."""
        tension = max(float(m.z[self.rows[0]]), 0.0)
        slack = max(-float(self.gaps(m.state)[0]), 0.0)
        return {"tension": tension, "length": self.own_length(m.state), "slack": slack}

    def own_length(self, state: State) -> float:
        """Length of the path without the way to a reel, m."""
        return float(self.path.spans(state).lengths[0, int(self.reel) :].sum())


class ElasticPathRow(PathRow):
    """A cable that stretches by its compliance, m/N."""

    compiled = True
    column = "elastic"
    hard = False

    stiffness_EA: float = np.inf
    """Axial stiffness, N."""

    def close(self, tree: Tree) -> None:
        self.compliance = (self.own_length(tree.rest) + self.slack) / self.stiffness_EA
        super().close(tree)

    def symbolic(self, x: Symbols) -> None:
        """An elastic rope along its path, which includes the way to a reel."""
        length, own = path_length(x, self.via), path_length(x, self.via[int(self.reel) :])
        slack = x.number(self.source, "slack")
        stretch = x.math.fmax(length - x.at_rest(length) - slack, 0.0)
        EA = x.number(self.source, "stiffness")
        x.store(0.5 * EA * stretch**2 / (x.at_rest(own) + slack))

    def settle(self, state: State, work: Work, z: Array) -> None:
        z[self.rows] = self.violations(state) / self.compliance

    def go(self, step: Step) -> None:
        implicit, h = step.implicit, step.h
        spans = self.path.spans(step.a, step.b, between=implicit)
        slope, tension = np.zeros(1), self._force(step.z)
        rule = (self.rest, spans.lengths, implicit, self.compliance)
        run(meet_secant, *rule, self.rows, step.z, step.work.residual, slope)
        share = 0.5 * h if implicit else h
        self.path.add(spans, tension, share, step.work)
        if implicit:
            self.path.add_arriving(spans, tension, -share, step.work)
        if step.tangent is None:
            return
        if implicit:
            self.path.add_slopes(spans, tension, NOTHING, 1.0, share, step.work)
        one = np.ones(1)
        A = self._columns_at(step.b, spans.nb, spans.Rb)
        self._add_rows(step.tangent, A, one, slope, 0.0)
        A = self._columns_at(step.a, spans.n, spans.Ra)
        self._add_rows(step.tangent, A, one, 0.0, share)
        self._add_own(step.tangent, one, 1.0)

    def _columns_at(self, state: State, n: Array, R: Array) -> Array:
        slopes = np.zeros((1, 6 * len(self.sides)))
        self._set_slopes(n, R, slopes)
        return self._in_columns(state, slopes)

    def energy(self, state: State, u: Array) -> float:
        gap = self.violations(state)
        return float(gap @ gap) / (2.0 * self.compliance)

    def readings(self, m: Moment) -> dict[str, Any]:
        found = super().readings(m)
        return {**found, "tension": float(self.violations(m.state)[0]) / self.compliance}


@kernel
def set_gap(rest, lengths, gap):  # type: ignore[no-untyped-def]
    """gap_0 = length at a less the rest length."""
    gap[0] = -rest[0]
    for i in range(lengths.shape[1]):
        gap[0] += lengths[0, i]


@kernel
def clear_rows(out):  # type: ignore[no-untyped-def]
    """out[:, :] = 0."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0


@kernel
def add_row(slopes, J, places, out):  # type: ignore[no-untyped-def]
    """out[places] += slopes (6,) J (6, c)."""
    for b in range(places.shape[0]):
        for i in range(6):
            out[places[b]] += slopes[i] * J[i, b]


@kernel
def spread_force(rows, z, tension):  # type: ignore[no-untyped-def]
    """tension[:] = z[rows_0]."""
    for i in range(tension.shape[0]):
        tension[i] = z[rows[0]]


@kernel
def set_square(A, held, stiffness, out):  # type: ignore[no-untyped-def]
    """out (c, c) = held_0 stiffness_0 A A^T."""
    w = held[0] * stiffness[0]
    for a in range(A.shape[0]):
        for b in range(A.shape[0]):
            out[a, b] = w * A[a] * A[b]


@kernel
def meet_secant(rest, lengths, implicit, compliance, rows, z, residual, slope):  # type: ignore[no-untyped-def]
    """residual[rows_0] += C (secant of the potential - z); slope_0 : its derivative in the length at b.

    The potential is c^2 / 2 C with c = max(length - rest, 0).
    """
    ea, eb = -rest[0], -rest[0]
    for i in range(lengths.shape[1]):
        ea += lengths[0, i]
        eb += lengths[1, i]
    ca, cb = max(ea, 0.0), max(eb, 0.0)
    sb = 1.0 if eb > 0.0 else 0.0
    share, change = 0.5 * sb + (0.5 if ea > 0.0 else 0.0), 0.0
    if abs(eb - ea) > _CLOSE * rest[0]:
        share = (cb - ca) / (eb - ea)
        change = (sb - share) / (eb - ea)
    gap = 0.5 * (ca + cb) * share if implicit else ca
    slope[0] = 0.5 * (sb * share + (ca + cb) * change) if implicit else 0.0
    residual[rows[0]] += gap - compliance * z[rows[0]]
