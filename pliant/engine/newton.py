"""Settings of Newton's method, the arrays it works on, and its failures.

The method itself is in `loops`. Coordinates and strong forms solve their equations by it: they write
programs and hand them over with a `Newton`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pliant.engine import loops, modes

INFINITE, SINGULAR, LOST, SLOW = "infinite", "singular", "lost", "slow"
WORSE = "no part of a correction makes the residual smaller"
REASONS = {
    loops.INFINITE: INFINITE,
    loops.SINGULAR: SINGULAR,
    loops.RAN_AWAY: LOST,
    loops.SLOW: SLOW,
    loops.WORSE: WORSE,
}


class NewtonError(Exception):
    """An attempt that should not be continued; says one of the reasons above or a sentence."""


@dataclass(frozen=True)
class Policy:
    """When to stop, when to renew the tangent, when to give up.

    iterations : most corrections.  least : fewest corrections.  contraction : the tangent is renewed if
    an iteration leaves more than this part of the residual, unless new ones do no better.  keep : most
    steps with one factor, None for no limit.  near : a residual below which it is looked at before a
    new tangent is made.  shortest : least part of a correction that is tried where a longer one does
    not make the residual smaller, 1 for whole ones only; 0 to let residuals grow.  stalled : relative
    residual at which a solve is done that rounding keeps from its tolerance, where an iteration leaves
    more than `progress` of it.  lost : times the first residual and all that is in play at which there
    is no return.  forget : part of how little a new tangent did that is kept in each step, so that
    from time to time one is tried.
    """

    iterations: int = 25
    least: int = 0
    contraction: float = 0.0
    keep: int | None = None
    near: float = 0.0
    shortest: float = 0.0
    stalled: float = 1e-6
    progress: float = 0.5
    patience: int = 3
    lost: float = 1e100
    forget: float = 1.0


class Newton:
    """What Newton's method reads and writes: numbers, counts and history, named in `loops`, and flags.

    flags : what the last factor is like.  reasons : in words, by how the method ended.
    """

    reasons: ClassVar[Mapping[int, str]] = REASONS

    def __init__(self, policy: Policy, flags: NDArray[np.int64]) -> None:
        self.flags = flags
        self.numbers = np.zeros(loops.NUMBERS)
        self.counts = np.zeros(loops.COUNTS, dtype=np.int64)
        self.history = np.zeros(policy.iterations + 1)
        self.numbers[loops.SCALE] = 1.0
        self.problem = ""
        """What stopped an attempt, if it was not the method itself."""
        self.use(policy)

    def use(self, policy: Policy) -> None:
        """Work by another policy from now on, with no more corrections than the first one."""
        for place, value in (
            (loops.CONTRACTION, policy.contraction),
            (loops.NEAR, policy.near),
            (loops.SHORTEST, policy.shortest),
            (loops.STALLED, policy.stalled),
            (loops.PROGRESS, policy.progress),
            (loops.LOST_AT, policy.lost),
            (loops.FORGET, policy.forget),
        ):
            self.numbers[place] = value
        for place, count in (
            (loops.LIMIT, policy.iterations),
            (loops.LEAST, policy.least),
            (loops.PATIENCE, policy.patience),
            (loops.KEEP, -1 if policy.keep is None else policy.keep),
        ):
            self.counts[place] = count

    @property
    def control(self) -> tuple[Any, ...]:
        """What the loops share: numbers, counts, flags and history."""
        return self.numbers, self.counts, self.flags, self.history

    @property
    def iterations(self) -> int:
        """Corrections so far."""
        return int(self.counts[loops.ITERATIONS])

    @iterations.setter
    def iterations(self, value: int) -> None:
        self.counts[loops.ITERATIONS] = value

    @property
    def scale(self) -> float:
        """Size of all that is in play."""
        return float(self.numbers[loops.SCALE])

    @scale.setter
    def scale(self, value: float) -> None:
        self.numbers[loops.SCALE] = value

    @property
    def sizes(self) -> list[float]:
        """Sizes of the residual in the last solve."""
        return self.history[: self.counts[loops.SIZES]].tolist()

    def forget_factor(self) -> None:
        """Begin the next solve with a new tangent."""
        self.counts[loops.THERE] = 0

    # -- programs ------------------------------------------------------------------------------

    def guarded(self, function: Callable[[], object] | None) -> Callable[[], None] | None:
        """A program in plain Python whose errors end the attempt; None for none."""
        if function is None:
            return None

        def guard() -> None:
            try:
                function()
            except Exception as error:
                self.problem = self.reason(error)
                self.numbers[loops.SIZE] = math.inf

        return guard

    def reason(self, error: Exception) -> str:
        """Why an error ends an attempt; raises it again if it should end more than that."""
        if isinstance(error, NewtonError):
            return str(error)
        raise error

    def run_newton(self, programs: Any) -> None:
        """Newton's method from the present iterate; raises NewtonError where it fails."""
        self.problem = ""
        end = modes.uncompiled(loops.__name__).newton(programs, *self.control)
        self.check(end)

    def check(self, end: int) -> None:
        """Raise NewtonError if a solve did not end well."""
        if end != loops.CONVERGED:
            raise NewtonError(self.problem or self.reasons[end])
