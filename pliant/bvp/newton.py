"""Newton's method on a boundary-value problem, with backtracking and a sense of when to give up."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from pliant.bvp.ends import Base
from pliant.bvp.events import FLOOR, applied, heaviness
from pliant.bvp.segments import SINGULAR, Guess, Segments
from pliant.model import PliantError

_SMALLEST = 1.0 / 64.0


class RejectedError(Exception):
    """An attempt that should not be continued."""


@dataclass
class Attempt:
    """Limits of one attempt.

    tolerance : on the residual relative to the wrench in the chain.  iterations : at most.
    strict : give up when a full Newton step does not bring the residual down, instead of
        shortening it: what arrives then is the equilibrium nearby.
    rounding : residual below which it may stay if it no longer falls.
    """

    tolerance: float = 1e-10
    iterations: int = 25
    strict: bool = False
    rounding: float = 1e-7
    used: int = 0
    history: list[float] = field(default_factory=list)
    size: float = math.inf
    distance: float = math.inf

    def solve(self, segments: Segments, base: Base, guess: Guess, c0: float) -> Guess:
        """Return the solution near `guess`; raises RejectedError."""
        with np.errstate(all="ignore"):
            self.size, self.distance = self._measure(segments, base, guess, c0)
            for _ in range(self.iterations):
                if self.size <= self.tolerance or self._stalled():
                    return guess
                r, blocks = segments.linearised(base, guess, c0)
                try:
                    step = segments.newton_step(r, blocks, c0)
                except SINGULAR:
                    raise RejectedError(
                        "the end conditions do not depend on the unknowns"
                    ) from None
                self.used += 1
                guess = self._advance(segments, base, guess, step, c0)
        if self.size <= self.tolerance or self._stalled():
            return guess
        raise RejectedError(f"no convergence in {self.iterations} iterations")

    def _advance(
        self, segments: Segments, base: Base, guess: Guess, step: np.ndarray, c0: float
    ) -> Guess:
        if not np.isfinite(step).all():
            raise RejectedError("the numbers became infinite")
        part = 1.0
        while part >= _SMALLEST:
            ahead = guess.moved(step, part)
            size, distance = self._measure(segments, base, ahead, c0)
            closer = distance <= (1.0 - 0.1 * part) * self.distance
            if closer or (size < 1e-6 and part == 1.0):
                self.history.append(size)
                self.size, self.distance = size, distance
                return ahead
            if self.strict and len(self.history) > 0:
                break
            part *= 0.5
        raise RejectedError("the residual does not get smaller")

    def _stalled(self) -> bool:
        """True if the residual is small and no longer falls: rounding is all that is left."""
        h = self.history
        return len(h) > 1 and h[-1] < self.rounding and h[-1] > 0.3 * h[-2]

    @staticmethod
    def _measure(segments: Segments, base: Base, guess: Guess, c0: float) -> tuple[float, float]:
        """Residual relative to the wrench in the chain, and to one that bends it by a radian."""
        try:
            r = segments.residual(base, guess, c0)
        except PliantError:  # half a turn between two states that should agree
            return math.inf, math.inf
        _, rows = segments.scales(c0)
        distance = float(np.linalg.norm(r / rows))
        wrench = np.abs(segments.nodes[: segments.cuts[-1], :, :6]).max(axis=(0, 1))
        load = float(np.max(wrench / segments.chain.scale))
        # where nothing holds the chain, loads and inertia cancel and little is left of them inside
        load = max(load, applied(segments.mesh.arrays, segments.chain.scale))
        heavy = heaviness(segments.mesh.arrays, segments.chain.scale, segments.chain.length, c0)
        if not math.isfinite(distance + load):
            return math.inf, math.inf
        return distance / max(load, FLOOR, heavy), distance
