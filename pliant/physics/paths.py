"""Paths through via-points as transmissions: from tensions of spans to wrenches on frames.

A term along a path gives the tension of each span, N, and its derivative in the points. Where tensions
are given, a via-point is coupled with its neighbours only; where they depend on the length of the whole
path, all via-points are coupled.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.engine.program import run
from pliant.model import Frame
from pliant.physics import path_kernels as kernels
from pliant.physics.contract import KernelTerm, Moment, Step
from pliant.rods.contract import Array, Ints
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work

NOTHING = np.zeros((0, 0, 0))


@dataclass
class Spans:
    """The spans of a path between two states, or at one of them.

    Ra, Rb (K, 3, 3) rotations of the frames of the points at both ends, n (K - 1, 3) directions, nb
    (K - 1, 3) those at b, lengths (3, K - 1) at a, at b, and their sum, m.
    """

    Ra: Array
    Rb: Array
    n: Array
    nb: Array
    lengths: Array


@dataclass
class _Group:
    """Points of a path on one part: their rows in the path, and their stations."""

    i: int
    rows: Ints
    stations: Ints


class Path:
    """K via-points on frames of a tree, or in the world.

    coupled : whether the tension of a span depends on all points, else on none.
    """

    def __init__(self, tree: Tree, points: Sequence[Any], coupled: bool) -> None:
        self.count = len(points)
        self.coupled = coupled
        self.sides: list[tuple[int, int] | None] = []
        """Part and frame station of each point, None in the world."""
        self.offsets = np.zeros((self.count, 3))
        self._world = np.zeros((self.count, 3))
        for k, point in enumerate(points):
            if not isinstance(point, Frame):
                self.sides.append(None)
                self._world[k] = point
                continue
            i, s, pose = tree.place_of(point)
            part = tree.parts[i]
            self.sides.append((i, part.attach(s, np.eye(4))))
            self.offsets[k] = pose[:3, 3]
            part.reach = max(part.reach, float(np.linalg.norm(pose[:3, 3])))
        self._groups = [self._group(i) for i in sorted({side[0] for side in self.sides if side})]
        self._couple(tree)
        rods = [tree.parts[group.i].rod for group in self._groups]
        self.squeezes = any(rod is not None and rod.theory == "cosserat" for rod in rods)
        """Whether it runs along rods that shear and stretch, see `Term`."""

    def _group(self, i: int) -> _Group:
        rows = [k for k, side in enumerate(self.sides) if side is not None and side[0] == i]
        stations = [side[1] for side in self.sides if side is not None and side[0] == i]
        return _Group(i, np.array(rows, dtype=np.int64), np.array(stations, dtype=np.int64))

    def _couple(self, tree: Tree) -> None:
        far = self.count if self.coupled else 2
        couples, same = [], {group.i: [] for group in self._groups}  # type: ignore[var-annotated]
        for a in range(self.count):
            for b in range(a + 1, min(a + far, self.count)):
                left, right = self.sides[a], self.sides[b]
                if left is None or right is None:
                    continue
                if left == right:
                    same[left[0]].append((a, b, left[1]))
                else:
                    couples.append((a, b, *tree.couple(left, right)))
        self._couples = np.array(couples, dtype=np.int64).reshape(-1, 4)
        self._same = {i: np.array(rows, dtype=np.int64) for i, rows in same.items() if rows}

    # -- measures --------------------------------------------------------------------------------

    def points(self, state: State) -> tuple[Array, Array]:
        """Points (K, 3) and rotations (K, 3, 3) of their frames."""
        x, R = self._world.copy(), np.tile(np.eye(3), (self.count, 1, 1))
        for group in self._groups:
            where = (group.stations, group.rows, self.offsets)
            run(kernels.set_points, state.parts[group.i].g, *where, x, R)
        return x, R

    def spans(self, a: State, b: State | None = None, between: bool = True) -> Spans:
        """The spans from state a to state b, at a alone if there is no b; between : False for the
        directions at a.
        """
        xa, Ra = self.points(a)
        xb, Rb = (xa, Ra) if b is None else self.points(b)
        n, nb = np.zeros((2, self.count - 1, 3))
        lengths = np.zeros((3, self.count - 1))
        run(kernels.set_spans, xa, xb, between, n, nb, lengths)
        return Spans(Ra, Rb, n, nb, lengths)

    def rates(self, spans: Spans, work: Work) -> Array:
        """Rates (K - 1,) of the spans from the twists of the stations in `work`, m/s."""
        v, rates = np.zeros((self.count, 3)), np.zeros(self.count - 1)
        for group in self._groups:
            where = (group.stations, group.rows, self.offsets)
            run(kernels.set_velocities, work.parts[group.i].eta, *where, spans.Rb, v)
        run(kernels.set_rates, spans.n, v, rates)
        return rates

    def length(self, state: State) -> float:
        """Length of the path, m."""
        return float(self.spans(state).lengths[0].sum())

    # -- wrenches ----------------------------------------------------------------------------------

    def add(self, spans: Spans, tension: Array, scale: float, work: Work) -> None:
        """Add scale times the gradients of tensions (K - 1,), with the frames at a, to `work.p`."""
        for group in self._groups:
            where = (group.stations, group.rows, self.offsets)
            p = work.parts[group.i].p
            run(kernels.add_wrenches, spans.n, tension, scale, *where, spans.Ra, p)

    def add_arriving(self, spans: Spans, tension: Array, scale: float, work: Work) -> None:
        """Add scale times the gradients, with the frames at b, to `work.pb`."""
        for group in self._groups:
            where = (group.stations, group.rows, self.offsets)
            p = work.parts[group.i].pb
            run(kernels.add_wrenches, spans.n, tension, scale, *where, spans.Rb, p)

    def add_slopes(
        self, spans: Spans, tension: Array, dT: Array, bend: float, scale: float, work: Work
    ) -> None:
        """Add scale times the derivatives of the gradients in the points at b.

        dT (K - 1, K, 3) : of the tensions; not read where the path is not coupled. bend : 2 at one
        configuration, 1 in a step, 0 where directions are given.
        """
        given = dT if self.coupled else NOTHING
        what = (spans.n, spans.nb, spans.lengths[2], tension, given, bend)
        turn = 1.0 if bend == 2.0 else 0.0
        frames = (self.offsets, spans.Ra, spans.Rb)
        self._add_own_slopes(what, turn, scale, frames, work)
        if len(self._couples):
            run(kernels.add_cross, *what, scale, self._couples, *frames, work.cross)
        for i, same in self._same.items():
            run(kernels.add_same, *what, scale, same, *frames, work.parts[i].k)

    def _add_own_slopes(
        self, what: tuple[Any, ...], turn: float, scale: float, frames: tuple[Any, ...], work: Work
    ) -> None:
        for group in self._groups:
            where = (group.stations, group.rows)
            k = work.parts[group.i].k
            run(kernels.add_slopes, *what, turn, scale, *where, *frames, k)

    def add_turns(self, spans: Spans, tension: Array, scale: float, work: Work) -> None:
        """Add scale times the derivatives of the gradients as frames at b turn under given pulls."""
        what = (spans.n, spans.nb, spans.lengths[2], tension, NOTHING, 0.0)
        self._add_own_slopes(what, 1.0, scale, (self.offsets, spans.Rb, spans.Rb), work)

    def wrenches(self, spans: Spans, tension: Array) -> list[tuple[int, int, Array]]:
        """Part, frame station and body wrench (6,) of each point on a frame."""
        found = []
        for k, side in enumerate(self.sides):
            if side is not None:
                p = np.zeros((1, 6))
                at = (np.array([0]), np.array([k]), self.offsets, spans.Ra)
                kernels.add_wrenches(spans.n, tension, -1.0, *at, p)
                found.append((*side, p[0]))
        return found


@dataclass
class Pull:
    """What a law has to say: tension (K - 1,) of the spans, N, and its derivative dT (K - 1, K, 3)."""

    tension: Array
    dT: Array


class PathTerm(KernelTerm):
    """An effect along a path, by a law for the tensions of its spans."""

    path: Path
    moves: bool = False
    """Whether its law depends on rates."""

    # -- the law -----------------------------------------------------------------------------------

    @abstractmethod
    def pull(
        self, spans: Spans, u: Array, rates: Array | None, speed: float, h: float, implicit: bool
    ) -> Pull:
        """Tensions at one configuration (h = 0), with rates (K - 1,) of the spans and their derivative
        `speed` in the lengths, 1/s; or in a step of h seconds.
        """

    def _empty(self) -> Pull:
        K = self.path.count
        return Pull(np.zeros(K - 1), np.zeros((K - 1, K, 3) if self.path.coupled else (0, 0, 0)))

    def pull_at(self, m: Moment, spans: Spans, rates: Array | None, speed: float) -> Pull:
        """`pull` at a moment, for laws that remember something."""
        return self.pull(spans, m.u, rates, speed, 0.0, True)

    # -- what acts ---------------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        spans = self.path.spans(m.state)
        moving = self.moves and m.v is not None
        rates = self.path.rates(spans, m.work) if moving else None
        pull = self.pull_at(m, spans, rates, m.speed if moving else 0.0)
        self.path.add(spans, pull.tension, 1.0, m.work)
        if m.tangent is not None:
            self.path.add_slopes(spans, pull.tension, pull.dT, 2.0, 1.0, m.work)

    def go(self, step: Step) -> None:
        """Half of the impulse leaves a, the other half arrives at b; all of it in an explicit step."""
        implicit, h = step.implicit, step.h
        spans = self.path.spans(step.a, step.b, between=implicit)
        pull = self.pull(spans, step.u, None, 0.0, h, implicit)
        share = 0.5 * h if implicit else h
        self.path.add(spans, pull.tension, share, step.work)
        if implicit:
            self.path.add_arriving(spans, pull.tension, -share, step.work)
        if step.tangent is not None and (implicit or self.moves):
            bend = 1.0 if implicit else 0.0
            self.path.add_slopes(spans, pull.tension, pull.dT, bend, share, step.work)

    def arrive(self, step: Step) -> None:
        """Impulses at b are there already; how they turn with the frames is added to a tangent."""
        if step.implicit and step.tangent is not None:
            spans = self.path.spans(step.a, step.b)
            tension = self.pull(spans, step.u, None, 0.0, step.h, True).tension
            self.path.add_turns(spans, tension, -0.5 * step.h, step.work)

    # -- forces ------------------------------------------------------------------------------------

    def now(self, m: Moment) -> tuple[Spans, Array]:
        """Spans, and their tensions (K - 1,) at the rates of a moment."""
        spans = self.path.spans(m.state)
        moving = self.moves and m.v is not None
        rates = self.path.rates(spans, m.work) if moving else None
        return spans, self.pull_at(m, spans, rates, 0.0).tension

    def readings(self, m: Moment) -> dict[str, Any]:
        """Tension, N, the same in all spans; and length, m."""
        spans, tension = self.now(m)
        return {"tension": float(tension[0]), "length": float(spans.lengths[0].sum())}

    def wrenches_at(self, m: Moment) -> list[tuple[int, int, Array]]:
        return self.path.wrenches(*self.now(m))
