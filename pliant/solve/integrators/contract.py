"""The contract of an integrator: settings that make a stepper for one robot.

A stepper holds the state between steps. `advance(before, after)` takes one step of length h with the
inputs at its two ends; `velocity()` is asked at output times only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.model import ConvergenceError
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.newton import INFINITE, LOST, SINGULAR, SLOW, Equations, Factor

if TYPE_CHECKING:
    from pliant.solve.integrators.march import March
    from pliant.solve.schedule import Schedule


class StepError(ConvergenceError):
    """A time step did not converge; the stepper still holds the state before it."""


class Stepper(Equations):
    """The moving state of one simulation, and the equations of its next step; it belongs to one thread.

    q (nq,) configuration; z (total,) force fields and multipliers of the last step; energy dissipated
    and work done by the inputs so far, J; Newton iterations so far.
    """

    q: Array
    z: Array
    dissipated: float = 0.0
    work: float = 0.0
    iterations: int = 0
    factor: Factor
    books: bool = True
    """Whether energy is accounted for; it costs time."""

    def __init__(self, effects: Effects, h: float) -> None:
        self.effects = effects
        self.tree = effects.tree
        self.h = h
        self.z = np.zeros(effects.tree.total)

    @abstractmethod
    def start(self, q: Array, v: Array, inputs: Inputs) -> None:
        """Begin at configuration q with rates v (total,) under `inputs`."""

    def advance(self, before: Inputs, after: Inputs) -> None:
        """One step; raises StepError and leaves the state unchanged if it does not converge."""
        self.solve(before, after)
        self.accept(before, after)

    @abstractmethod
    def solve(self, before: Inputs, after: Inputs) -> None:
        """Find the end of a step."""

    @abstractmethod
    def begin(self, before: Inputs, after: Inputs) -> None:
        """Set the equations of a step."""

    @abstractmethod
    def aim(self, x: Array, z: Array, after: Inputs) -> None:
        """Set the iterate: what is sought, x, and force fields and multipliers z (total,)."""

    @property
    @abstractmethod
    def iterate(self) -> tuple[Array, Array]:
        """What `aim` sets, as it is now."""

    @abstractmethod
    def accept(self, before: Inputs, after: Inputs) -> None:
        """Take the iterate, whose residual was the last one asked for, as the end of the step."""

    def march(self, schedule: Schedule) -> March | None:
        """Many steps at once under the inputs of a schedule, from where `start` began; or None."""
        return None

    @abstractmethod
    def velocity(self) -> Array:
        """Coordinate rates (total,) at the present configuration."""


class Integrator(ABC):
    """Settings of an integrator."""

    variational: ClassVar[bool] = False
    halves: ClassVar[bool] = True
    """Whether a step that fails is worth two of half its length: not if it fails by instability."""
    damped: ClassVar[str] = "GeneralizedAlpha(rho=0.5)"
    """One for the same robots that damps what the step cannot resolve, for advice."""

    @abstractmethod
    def stepper(self, effects: Effects, h: float) -> Stepper:
        """A stepper with step length h, s."""


def constraints_met(effects: Effects, residual: Array) -> bool:
    """True if all constraint gaps in a residual are below 1e-10 of the longest part."""
    tree = effects.tree
    if not tree.m:
        return True
    return float(np.max(np.abs(residual[tree.multipliers]))) <= 1e-10 * max(tree.length, 1e-300)


def rounding_force(effects: Effects, h: float) -> float:
    """Force that rounding of poses and strains makes up when the step is h, N."""
    force = 0.0
    for part in effects.tree.parts:
        reach = float(np.max(np.abs(part.pose[:3, 3]))) + part.length
        force += float(np.sum(part.M[:, 3])) * reach / h**2
        if len(part.C):
            own = np.setdiff1d(np.arange(6), part.field_rows)
            force += float(np.max(part.C[:, own])) / (1.0 if part.fields is None else reach)
    return 1e-15 * force


def step_failed(h: float, reason: str, hint: str, iterations: int) -> StepError:
    """The error of a step of h seconds, with what went wrong and what to try."""
    what = {
        INFINITE: "the motion became infinite",
        SINGULAR: "the step matrix is singular (a rod without mass?)",
        LOST: "Newton's method ran away",
        SLOW: f"no convergence in {iterations} iterations",
    }.get(reason, reason)
    return StepError(f"a time step of {h:g} s failed: {what}; try {hint}")
