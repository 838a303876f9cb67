"""Newton's method, once, for statics and for the steps of every integrator."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from pliant.linalg.matrices import Matrix, SingularError
from pliant.physics.own_law import LawError
from pliant.rods.contract import Array

INFINITE, SINGULAR, LOST, SLOW = "infinite", "singular", "lost", "slow"


class NewtonError(Exception):
    """An attempt that should not be continued; says one of the reasons above or a sentence."""


class Equations(ABC):
    """What Newton's method solves: residual, tangent and move at the present iterate."""

    @property
    @abstractmethod
    def matrix(self) -> Matrix:
        """The matrix that `tangent` fills."""

    @abstractmethod
    def residual(self, tangent: bool) -> Array:
        """Residual (total,) of the iterate; fills the matrix as well if asked."""

    @abstractmethod
    def size(self, residual: Array) -> float:
        """Size of a residual, in the units of `scale`."""

    @abstractmethod
    def move(self, x: Array) -> None:
        """Move the iterate by x (n + m,)."""

    @abstractmethod
    def enough(self, size: float, residual: Array, at_rounding: bool) -> bool:
        """Whether the iterate is a solution; at_rounding : it cannot become a better one."""

    def inspect(self, progress: Progress, residual: Array, x: Array) -> None:  # noqa: B027
        """Look at a correction before it is made; raises NewtonError to reject it."""

    scale: float = 1.0
    """Size of all that is in play."""


@dataclass(frozen=True)
class Policy:
    """When to stop, when to renew the tangent, when to give up.

    iterations : most corrections.  contraction : the tangent is renewed if an iteration leaves more
    than this part of the residual, unless new ones do no better.  keep : most steps with one factor,
    None for no limit.  near : a residual below which it is looked at before a new
    tangent is made.  stalled : relative residual at which a solve is done that rounding keeps from its
    tolerance, where an iteration leaves more than `progress` of it.  lost : times the first residual
    and all that is in play at which there is no return.
    """

    iterations: int = 25
    contraction: float = 0.0
    keep: int | None = None
    near: float = 0.0
    stalled: float = 1e-6
    progress: float = 0.5
    patience: int = 3
    lost: float = math.inf


@dataclass
class Progress:
    """How a solve went."""

    history: list[float] = field(default_factory=list)
    iterations: int = 0
    at_rounding: bool = False


@dataclass
class Factor:
    """The factor of a tangent that is kept from solve to solve.

    age : steps that it has served.
    reach : part of the residual that was left by the first iteration with a new tangent.
    """

    there: bool = False
    age: int = 0
    reach: float = 0.0


def newton(equations: Equations, policy: Policy, factor: Factor) -> Progress:
    """Solve from the present iterate; raises NewtonError where that fails."""
    try:
        return _solve(equations, policy, factor)
    except LawError as error:
        raise NewtonError(str(error)) from error


def _solve(equations: Equations, policy: Policy, factor: Factor) -> Progress:
    progress = Progress()
    history = progress.history
    fresh = False
    for k in range(policy.iterations + 1):
        eager = policy.contraction == 0.0 and not (history and history[-1] < policy.near)
        residual = equations.residual(eager)
        size = equations.size(residual)
        if not math.isfinite(size):
            raise NewtonError(INFINITE)
        previous = history[-1] if history else math.inf
        history.append(size)
        if size > policy.lost * max(history[0], equations.scale):
            raise NewtonError(LOST)
        stuck = fresh and k >= policy.patience and size > policy.progress * previous
        progress.at_rounding = stuck and size <= policy.stalled * equations.scale
        if equations.enough(size, residual, progress.at_rounding):
            return progress
        if k == policy.iterations:
            break
        if fresh:
            factor.reach = size / previous
        fresh = _renew(policy, factor, size, previous)
        if fresh:
            if not eager:
                equations.residual(True)
            factor.there = False
            try:
                equations.matrix.factorise()
            except SingularError:
                raise NewtonError(SINGULAR) from None
            factor.there, factor.age = True, 1
        try:
            x = equations.matrix.solve(-residual[: equations.matrix.n])
        except SingularError:
            raise NewtonError(SINGULAR) from None
        progress.iterations += 1
        equations.inspect(progress, residual, x)
        equations.move(x)
    raise NewtonError(SLOW)


def _renew(policy: Policy, factor: Factor, size: float, previous: float) -> bool:
    """Whether the tangent is to be renewed."""
    if not factor.there or policy.contraction == 0.0:
        return True
    if policy.keep is not None:
        return factor.age > policy.keep or size > policy.contraction * previous
    return size > min(0.5, max(policy.contraction, 4.0 * factor.reach)) * previous
