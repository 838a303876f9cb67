"""The integrators among which `accuracy=` chooses, with what their steps cost.

A method's step costs `fixed` seconds and `per_station` seconds for each strain station; both were
measured on soft and stiff rods with 4 to 96 stations. Only their ratios matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.model import PliantError, Rod
from pliant.model.plausible import scale_of
from pliant.solve.integrators.contract import Integrator
from pliant.solve.problem import Problem

LONGEST = 8.0
"""Longest step that is chosen for a tolerance, in intervals in which inputs are straight lines."""
STEPS_PER_PERIOD = 40.0
"""First guess for the steps in the slowest period of a rod."""


@dataclass(frozen=True)
class StepMethod:
    """An integrator with what decides its error in time.

    make : the integrator for a level: the length of its steps (s), or its tolerance.
    has_level : False if its steps follow from the mesh alone.
    order : of the error in the level.  coarser : factor of the level with which a motion is compared.
    """

    make: Callable[[float], Integrator]
    has_level: bool
    by_length: bool
    order: float
    coarser: float
    fixed: float
    per_station: float

    def cost(self, steps: float, stations: int) -> float:
        """Seconds of some steps."""
        return steps * (self.fixed + self.per_station * stations)

    def fitting(self, level: float, between: float) -> float:
        """The next finer level with which outputs `between` seconds apart are ends of steps, also of
        those of twice the length.
        """
        return 0.5 * between / math.ceil(0.5 * between / level) if self.by_length else level

    def dt(self, level: float, between: float) -> float:
        """What `simulate` is given as dt, s; between : seconds in which inputs are straight lines."""
        return level if self.by_length else between


def explicit_method() -> StepMethod:
    """Steps at the stability limit."""
    from pliant.solve.integrators.explicit import Explicit

    return StepMethod(lambda _: Explicit(), False, False, 2.0, 1.0, 0.8e-6, 0.1e-6)


def capped_method(integrator: Any) -> StepMethod:
    """Steps of `Explicit` that follow from the mesh, but are not longer than the level, s."""
    return replace(
        explicit_method_of(integrator), make=lambda level: replace(integrator, longest=level)
    )


def tolerance_method(between: float = math.inf, most: int | None = None) -> StepMethod:
    """Steps of high order that choose their length for a tolerance; a motion has `most` at most.

    between : seconds in which inputs are straight lines.
    """
    from pliant.solve.integrators.radau import Radau

    largest = LONGEST * between if math.isfinite(between) else None
    return StepMethod(
        lambda level: Radau(level, largest, most), True, False, 0.8, 8.0, 35e-6, 12e-6
    )


def stepped_method(integrator: Integrator) -> StepMethod:
    """Steps of one length, of any integrator."""
    return StepMethod(lambda _: integrator, True, True, float(integrator.order), 2.0, 2e-6, 3e-6)


def given_method(integrator: Integrator) -> StepMethod:
    """The method for an integrator that somebody chose."""
    own = integrator.order > 2
    return explicit_method_of(integrator) if own else stepped_method(integrator)


def explicit_method_of(integrator: Integrator) -> StepMethod:
    """An integrator that chooses its own steps."""
    return StepMethod(lambda _: integrator, False, False, 2.0, 1.0, 0.8e-6, 0.1e-6)


def first_step(rods: Mapping[str, Rod], duration: float) -> float:
    """First guess for the length of implicit steps, s."""
    periods = []
    for rod in rods.values():
        scale = scale_of(rod)
        if scale.mass > 0.0:
            frequency = 3.516 * math.sqrt(scale.bending / (scale.mass * scale.length**4))
            periods.append(2.0 * math.pi / frequency)
    weight = [2.0 * math.pi * math.sqrt(rod.length / 9.81) for rod in rods.values()]
    period = min([*periods, *weight], default=duration)
    return min(duration / 20.0, period / STEPS_PER_PERIOD)


def explicit_steps(problem: Problem, duration: float, dt: float) -> float:
    """Steps of `Explicit` on the mesh of a problem; infinite if it cannot be taken."""
    from pliant.solve.integrators.explicit import ExplicitStepper

    effects: Any = getattr(problem, "effects_for_now", None)
    if effects is None or not problem.description.rods:
        return math.inf
    method = explicit_method()
    try:
        with method.make(math.nan).borrowed(effects, dt) as stepper:
            assert isinstance(stepper, ExplicitStepper)
            stepper.start(effects.tree.q_rest, np.zeros(effects.tree.total), effects.nothing)
            return float(stepper.short_steps) * duration / dt
    except PliantError:
        return math.inf


def stations(problem: Problem) -> int:
    """Strain stations of all rods."""
    effects: Any = getattr(problem, "effects_for_now", None)
    return 0 if effects is None else sum(len(part.strain_s) for part in effects.tree.parts)
