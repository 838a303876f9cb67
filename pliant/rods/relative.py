"""Chains of segments with relative coordinates: base of the serial models.

The coordinates of a segment are its turn alpha and its shift eps (m), (alpha, eps) / h its strain
beyond that of a straight rod. A model says by six numbers where a station of a segment is, see
`relative_kernels`; everything else is here. Matrices are full, as coordinates move all that follows.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from pliant.engine.program import run
from pliant.model import Rod
from pliant.rods import relative_kernels
from pliant.rods.contract import Array, Configuration, Ints, KernelMap, Plan, SymbolicRod
from pliant.rods.quadrature import gauss_per_span, spans_with_breaks
from pliant.rods.relative_kernels import Pieces

STRAIGHT = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
"""Strain of a straight rod without natural strain."""


class ChainPlan(Plan):
    """Stations for frames, as pieces of their segments."""

    def __init__(self, s: Array, m: int, pieces: Pieces) -> None:
        super().__init__(s, np.zeros(len(s), dtype=np.int64), m)
        self.pieces = pieces


class SegmentPlan(Plan):
    """Stations for strains: the segment (S,) of each."""

    def __init__(self, s: Array, m: int, segment: Ints) -> None:
        super().__init__(s, np.zeros(len(s), dtype=np.int64), m)
        self.segment = segment


class SegmentChain(Configuration):
    """Coordinates x (n, 6) of all segments, those without unknowns included, and their poses."""

    def __init__(self, nq: int, pieces: Pieces) -> None:
        super().__init__(nq)
        self.pieces = pieces
        self.x = np.zeros((len(pieces.segment), 6))


class RelativeMap(KernelMap):
    """The map of one rod of segments. q (segments, rows), flat; rows 6, Kirchhoff 3.

    kind : which rotation the turn of a segment stands for, EXP, CAYLEY or ZXY.
    """

    def __init__(self, rod: Rod, segments: int, kind: int) -> None:
        even = np.linspace(0.0, rod.length, segments + 1)
        borders, _ = spans_with_breaks(rod, even)
        self.rows = 6 if rod.theory == "cosserat" else 3
        self.segments, self.kind = len(borders) - 1, kind
        super().__init__(rod, self.segments * self.rows)
        self.breaks, self.lengths = borders, np.diff(borders)
        self.middles = 0.5 * (borders[1:] + borders[:-1])
        strain = np.array(rod.natural_strain(self.middles)) - STRAIGHT
        self.natural = np.ascontiguousarray(strain * self.lengths[:, None])

    @abstractmethod
    def shape(self, t: Array, h: Array) -> Array:
        """The six numbers (S, 6) of stations at shares t (S,) of segments of lengths h (S,), m."""

    @abstractmethod
    def symbolic_piece(self, math: Any, turn: Any, shift: Any, h: float, t: float) -> Any:
        """Rotation and position of a station, seen from the start of its segment.

        turn, shift (3, 1) : coordinates of the segment.  h : its length, m.  t : share of it.
        """

    # -- stations ----------------------------------------------------------------------------

    def place(self, s: Array) -> Ints:
        """Segment (S,) of each station; at a border the one that starts there."""
        near = np.asarray(s, dtype=float) + 1e-12 * self.rod.length
        found = np.searchsorted(self.breaks, near, side="right") - 1
        return np.clip(found, 0, self.segments - 1).astype(np.int64)

    def before(self, s: Array) -> tuple[Array, Array]:
        """Places s (S,) a hair before the ends of segments, m, and the lengths of these (S,), m."""
        near = np.maximum(np.asarray(s, dtype=float) - 1e-11 * self.rod.length, 0.0)
        return near, self.lengths[self.place(near)]

    def _pieces(self, segment: Ints, t: Array) -> Pieces:
        count = len(segment)
        shape = np.ascontiguousarray(self.shape(t, self.lengths[segment]), dtype=float)
        poses = (np.zeros((count, 3, 4)), np.zeros((count, 3, 4)))
        return Pieces(shape, segment, *poses, np.zeros((count, 6, 6)), np.zeros((count, 6, 6)))

    def frames(self, s: Array) -> ChainPlan:
        s = np.asarray(s, dtype=float)
        segment = self.place(s)
        t = np.clip((s - self.breaks[segment]) / self.lengths[segment], 0.0, 1.0)
        return ChainPlan(s, self.m, self._pieces(segment, t))

    def strains(self, s: Array) -> SegmentPlan:
        """Plan for strains at s (S,), constant on a segment; fills B."""
        s = np.asarray(s, dtype=float)
        segment, rows = self.place(s), np.arange(self.rows)
        plan = SegmentPlan(s, self.m, segment)
        columns = 6 + segment[:, None] * self.rows + rows
        plan.B[np.arange(len(s))[:, None], rows, columns] = 1.0 / self.lengths[segment, None]
        return plan

    def strain_rule(self) -> tuple[Array, Array]:
        """The middles of the segments (S,), m, and weights (S, 6), m."""
        weights = np.zeros((self.segments, 6))
        weights[:, : self.rows] = self.lengths[:, None]
        return self.middles, weights

    def section_rule(self) -> tuple[Array, Array]:
        """Two Gauss points a segment: what balance asks for is no constant."""
        return gauss_per_span(self.breaks, 2)

    # -- configuration -----------------------------------------------------------------------

    def rest(self) -> Array:
        return np.asarray(self.natural[:, : self.rows].ravel())

    def configuration(self) -> SegmentChain:
        whole = np.arange(self.segments, dtype=np.int64)
        return SegmentChain(self.nq, self._pieces(whole, np.ones(self.segments)))

    def update(self, c: SegmentChain, base: Array, q: Array) -> None:
        super().update(c, base, q)
        run(relative_kernels.fill, c.q.reshape(-1, self.rows), self.natural, c.x)
        run(relative_kernels.sweep, self.kind, c.pieces, c.x)

    # -- the map -----------------------------------------------------------------------------

    def frame(self, plan: ChainPlan, c: SegmentChain) -> None:
        where = (self.kind, c.pieces, plan.pieces, c.x, self.rows)
        run(relative_kernels.evaluate_frames, *where, c.base, plan.g, plan.J)

    def strain(self, plan: SegmentPlan, c: SegmentChain) -> None:
        """Write plan.e; plan.B does not depend on q and was written with the plan."""
        run(relative_kernels.evaluate_strains, plan.segment, self.lengths, c.x, plan.e)

    def section_strain(self, plan: SegmentPlan, c: SegmentChain) -> None:
        """Write the constant strains plan.e that join the ends of the segments as they are."""
        run(relative_kernels.evaluate_twists, plan.segment, self.lengths, c.pieces.own, plan.e)

    def frame_second(self, plan: ChainPlan, c: SegmentChain, f: Array, K: Array) -> None:
        where = (self.kind, c.pieces, plan.pieces, c.x, self.rows)
        run(relative_kernels.add_frame_second, *where, f, K[0])

    def strain_second(self, plan: Plan, c: Configuration, sigma: Array, K: Array) -> None:
        """Add nothing: strains are linear in q."""

    def frame_bias(self, plan: ChainPlan, c: SegmentChain, ydot: Array, bias: Array) -> None:
        own = ydot[0, 6:].reshape(-1, self.rows)
        where = (self.kind, c.pieces, plan.pieces, c.x)
        run(relative_kernels.frame_bias, *where, ydot[0, :6], own, bias)

    def symbolic(self, math: Any, base: tuple[Any, Any], q: Any) -> SymbolicRod:
        return SymbolicChain(self, math, base, q)


class SymbolicChain(SymbolicRod):
    """Segments one after the other, each seen from the end of the one before."""

    def __init__(self, rod_map: RelativeMap, math: Any, base: tuple[Any, Any], q: Any) -> None:
        self._map, self._math = rod_map, math
        rows = rod_map.rows
        fixed = [math.SX(row) for row in rod_map.natural[:, rows:]]
        own = [q[k * rows : (k + 1) * rows] for k in range(rod_map.segments)]
        self._x = [math.vertcat(x, y) for x, y in zip(own, fixed, strict=True)]
        self._starts = [base]
        for k in range(rod_map.segments):
            self._starts.append(self._beyond(k, 1.0))

    def _beyond(self, k: int, t: float) -> tuple[Any, Any]:
        (R, p), x = self._starts[k], self._x[k]
        h = float(self._map.lengths[k])
        turned, moved = self._map.symbolic_piece(self._math, x[:3], x[3:], h, t)
        return R @ turned, p + R @ moved

    def _segment(self, s: float) -> tuple[int, float]:
        """Segment of a place, the one that starts there at a border, and the share of it before s."""
        ends = self._map.breaks
        near = 1e-12 * float(ends[-1])
        k = next((k for k in range(len(ends) - 1) if s + near < ends[k + 1]), len(ends) - 2)
        return k, min(max((s - float(ends[k])) / float(ends[k + 1] - ends[k]), 0.0), 1.0)

    def frame(self, s: float) -> tuple[Any, Any]:
        return self._beyond(*self._segment(s))

    def strain(self, s: float) -> Any:
        k, _ = self._segment(s)
        return self._x[k] / float(self._map.lengths[k]) + self._math.SX(STRAIGHT)


__all__ = ["RelativeMap"]
