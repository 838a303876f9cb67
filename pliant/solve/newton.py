"""Newton's method for statics and for the steps of every integrator: settings, errors, control.

The method itself is in `loops`. Whoever has equations to solve derives from `Equations`, writes its
programs, and asks for `solve`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine import modes
from pliant.linalg.matrices import Matrix, SingularError
from pliant.physics.own_law import LawError
from pliant.solve import loops

INFINITE, SINGULAR, LOST, SLOW = "infinite", "singular", "lost", "slow"
REASONS = {
    loops.INFINITE: INFINITE,
    loops.SINGULAR: SINGULAR,
    loops.RAN_AWAY: LOST,
    loops.SLOW: SLOW,
}


class NewtonError(Exception):
    """An attempt that should not be continued; says one of the reasons above or a sentence."""


@dataclass(frozen=True)
class Policy:
    """When to stop, when to renew the tangent, when to give up.

    iterations : most corrections.  contraction : the tangent is renewed if an iteration leaves more
    than this part of the residual, unless new ones do no better.  keep : most steps with one factor,
    None for no limit.  near : a residual below which it is looked at before a new
    tangent is made.  stalled : relative residual at which a solve is done that rounding keeps from its
    tolerance, where an iteration leaves more than `progress` of it.  lost : times the first residual
    and all that is in play at which there is no return.  forget : part of how little a new tangent
    did that is kept in each step, so that from time to time one is tried.
    """

    iterations: int = 25
    contraction: float = 0.0
    keep: int | None = None
    near: float = 0.0
    stalled: float = 1e-6
    progress: float = 0.5
    patience: int = 3
    lost: float = 1e100
    forget: float = 1.0


class Equations:
    """What Newton's method solves, and the arrays that it shares with `loops`.

    x (n,) is the correction and `right` (n,) the right-hand side of its equations.
    """

    def __init__(self, policy: Policy, matrix: Matrix) -> None:
        self.matrix = matrix
        self.x, self.right = np.zeros(matrix.n), np.zeros(matrix.n)
        self.numbers = np.zeros(loops.NUMBERS)
        self.counts = np.zeros(loops.COUNTS, dtype=np.int64)
        self.history = np.zeros(policy.iterations + 1)
        self.problem = ""
        """What stopped an attempt, if it was not the method itself."""
        for place, value in (
            (loops.CONTRACTION, policy.contraction),
            (loops.NEAR, policy.near),
            (loops.STALLED, policy.stalled),
            (loops.PROGRESS, policy.progress),
            (loops.LOST_AT, policy.lost),
            (loops.FORGET, policy.forget),
            (loops.SCALE, 1.0),
        ):
            self.numbers[place] = value
        self.counts[loops.LIMIT], self.counts[loops.PATIENCE] = policy.iterations, policy.patience
        self.counts[loops.KEEP] = -1 if policy.keep is None else policy.keep

    @property
    def control(self) -> tuple[Any, ...]:
        """What the loops share: numbers, counts, flags and history."""
        return self.numbers, self.counts, self.matrix.flags, self.history

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
            except SingularError:
                self.problem = SINGULAR
            except (NewtonError, LawError) as error:
                self.problem = str(error)
            else:
                return
            self.numbers[loops.SIZE] = math.inf

        return guard

    def repair(self) -> None:
        """Solve for the correction with row exchanges."""
        self.matrix.repair(self.right, self.x)

    def run_newton(self, programs: Any) -> None:
        """Newton's method from the present iterate; raises NewtonError where it fails."""
        self.problem = ""
        end = modes.uncompiled(loops.__name__).newton(programs, *self.control)
        self.check(end)

    def check(self, end: int) -> None:
        """Raise NewtonError if a solve did not end well."""
        if end != loops.CONVERGED:
            raise NewtonError(self.problem or REASONS[end])


@kernel
def negate(r, out):  # type: ignore[no-untyped-def]
    """out (n,) = -r, the first entries."""
    for i in range(out.shape[0]):
        out[i] = -r[i]
