"""One boundary-value problem by shooting: a plain attempt, and help where it does not arrive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import Record
from pliant.bvp.ends import Base, Tip
from pliant.bvp.mesh import Mesh
from pliant.bvp.newton import Attempt, RejectedError
from pliant.bvp.segments import Guess, Segments
from pliant.lie.tuples import Array

_GROWING = 8
"""Lengths through which modified shooting grows from base to tip."""
_MOST_SEGMENTS = 64


def more_segments(count: int, intervals: int) -> list[int]:
    """Numbers of segments that help, one after the other, where `count` are not enough."""
    found, more = [], 4 if count == 1 else 2 * count
    while more <= min(_MOST_SEGMENTS, intervals // 2):
        found.append(more)
        more *= 2
    return found


class Shooter:
    """Solves the problem on a mesh as it is loaded, from the states it holds.

    nodes : (N, 2, 24) states at both ends of each interval.  slopes : (N, 12) derivatives of wrench
    and velocity at their starts.  x : (6,) unknowns at the base.  c0 : of the time rule, 0 at rest.
    count : segments that a plain attempt uses.
    """

    def __init__(self, chain: Chain, mesh: Mesh, kind: int, scheme: int, count: int) -> None:
        self.chain, self.mesh, self.kind, self.scheme = chain, mesh, kind, scheme
        self.tip = Tip(chain)
        self.count = count
        self.record = Record()
        self.nodes = np.zeros((mesh.N, 2, 24))
        self.slopes = np.zeros((mesh.N, 12))
        self.x = np.zeros(6)
        self.c0 = 0.0
        self._kept: dict[int, Segments] = {}

    def segments(self, count: int) -> Segments:
        """The problem cut into `count` segments."""
        if count not in self._kept:
            self._kept[count] = Segments(self.tip, self.mesh, self.kind, self.scheme, count)
        return self._kept[count]

    def guess(self, count: int) -> Guess:
        """The states that are held, as unknowns of a problem with `count` segments."""
        cuts = self.segments(count).cuts
        return Guess(self.x.copy(), self.nodes[cuts[1:-1] - 1, 1].copy())

    def integrate(self, base: Base, x: Array) -> Array:
        """Hold the states that follow from unknowns x (6,) at the base; return what the tip lacks."""
        problem = self.segments(1)
        lacking = problem.residual(base, Guess(x, np.zeros((0, 24))), self.c0)
        self._take(problem, Guess(x, np.zeros((0, 24))))
        return lacking

    def attempt(self, base: Base, tolerance: float, count: int, strict: bool = False) -> None:
        """Newton's method from the states that are held; raises RejectedError, changing nothing."""
        self._run(self.segments(count), base, self.guess(count), tolerance, strict)

    def rescue(self, base: Base, tolerance: float, check: Callable[[], None] = lambda: None) -> int:
        """Modified shooting, then multiple shooting with more and more segments; tell how many.

        check : raises RejectedError if what modified shooting found is not to be believed.
        """
        nodes, x = self.nodes.copy(), self.x.copy()
        if self.count == 1:
            try:
                self._modified(base, tolerance)
                check()
            except RejectedError:
                self.nodes[:], self.x = nodes, x
            else:
                self.record.rescues["modified shooting"] += 1
                return 1
        for count in more_segments(self.count, self.mesh.N):
            try:
                self.attempt(base, tolerance, count)
            except RejectedError:
                continue
            self.record.rescues["multiple shooting"] += 1
            return count
        raise RejectedError("neither modified nor multiple shooting arrived")

    def _modified(self, base: Base, tolerance: float) -> None:
        """Shoot at the states that are held over a part of the chain that grows to the whole.

        (Modified simple shooting, Holsapple, Venkataraman and Doman 2003.) The unknowns at the base
        are corrected before they can carry the integration far from where it should pass.
        """
        N = self.mesh.N
        ends = np.unique(np.linspace(0, N, _GROWING + 1).round().astype(int))[1:]
        guess, reference = self.guess(1), self.nodes.copy()
        for end in ends:
            problem = Segments(self.tip, self.mesh, self.kind, self.scheme, 1)
            problem.cuts = np.array([0, end])
            problem.goal = None if end == N else reference[end - 1, 1, :6]
            guess = self._run(problem, base, guess, tolerance if end == N else 1e-6, keep=end == N)

    def _run(
        self,
        problem: Segments,
        base: Base,
        guess: Guess,
        tolerance: float,
        strict: bool = False,
        keep: bool = True,
    ) -> Guess:
        attempt = Attempt(tolerance, strict=strict, rounding=1e-7 if self.c0 == 0.0 else 1e-9)
        try:
            found = attempt.solve(problem, base, guess, self.c0)
        finally:
            self.record.iterations += attempt.used
        if keep:
            self.record.residual = attempt.size
            self.record.history = attempt.history
            self._take(problem, found)
        return found

    def _take(self, problem: Segments, found: Guess) -> None:
        self.nodes[:] = problem.nodes
        self.slopes[:] = problem.slopes
        self.x = found.x.copy()
