"""Meshes, integrators and steps for an accuracy: what `accuracy=` chooses where you do not.

Equilibria and modes carry an estimate of their error, by which the mesh is refined. Motions are
repeated: on finer meshes and, where the integrator has a step of its own choice, with shorter steps,
until the extrapolated distance of the whole shapes is below the accuracy.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.model import Array, DescriptionError, PliantError, ResolutionWarning, Rod
from pliant.model.checks import as_float
from pliant.model.plausible import scale_of
from pliant.model.telling import untold
from pliant.rods.contract import RodModel
from pliant.solve.integrators.contract import Integrator
from pliant.solve.motion_error import SECTIONS, MotionError
from pliant.solve.problem import Problem
from pliant.solve.registry import default_formulation, lumped_formulation

DEFAULT = 1e-3
"""Accuracy, relative to the length, where neither it nor dt is given."""
MARGIN = 0.7
"""Part of the accuracy that an estimate may reach."""
FINER, FINEST = 1.5, 256
"""Factor of intervals from one mesh to the next, at least, and most intervals of a rod."""
SHORTEST = 2**14
"""Most steps of a motion that is chosen automatically."""
STEPS_PER_PERIOD = 60.0
"""First guess for the steps of an implicit integrator in the slowest period of a rod."""
IMPLICIT_COST = 60.0
"""Explicit steps that take as long as one implicit step of the first guess, cut as needed."""
OUTPUTS, STEPS = 101, 200
"""Output times where none are given, and times at which explicit steps are given their inputs."""
FIRST_ELEMENTS = 6
"""Elements of a rod on the first mesh."""


def check_accuracy(part: str, value: object) -> float:
    """The accuracy that a user asks for."""
    wanted = as_float(value)
    if wanted is None or not 1e-8 <= wanted <= 0.1:
        raise DescriptionError(
            part,
            "accuracy",
            value,
            "a fraction of the length between 1e-8 and 0.1",
            "give e.g. 1e-3 for a thousandth of the length",
        )
    return wanted


def finer(formulations: Mapping[str, RodModel], factor: float) -> dict[str, RodModel] | None:
    """Formulations with `factor` times as many intervals, None if one of them cannot have more."""
    found: dict[str, RodModel] = {}
    for name, item in formulations.items():
        if item.intervals is None or item.intervals >= FINEST:
            return None
        count = min(FINEST, math.ceil(factor * item.intervals))
        found[name] = item.with_size(item.least_size(name) + count - 1)
    return found


def refine(
    solve: Callable[[Any], Any],
    error_of: Callable[[Any], float],
    formulations_of: Callable[[Any], Mapping[str, RodModel]],
    accuracy: float,
) -> Any:
    """The result of solve(formulations) on the first mesh whose estimated error is small enough.

    The first one is solve(None). A warning says if no mesh is fine enough.
    """
    with untold():
        result = solve(None)
        while (error := error_of(result)) > MARGIN * accuracy:
            factor = min(4.0, max(FINER, 1.2 * (error / (MARGIN * accuracy)) ** (1.0 / 3.0)))
            choice = finer(formulations_of(result), factor)
            if choice is None:
                break
            result = solve(choice)
    if error > accuracy:
        text = (
            f"the accuracy {accuracy:g} was not reached: the finest mesh has an estimated error of "
            f"{error:.2g} of the length. Ask for less, or give a formulation."
        )
        warnings.warn(text, ResolutionWarning, stacklevel=4)
    return result


# -- motions ---------------------------------------------------------------------------------------


class Moved(Protocol):
    """What is asked of a motion."""

    t: Array
    error: MotionError | None

    def position(self, name: str, s: Any) -> Array:
        """Positions (T, S, 3) of sections of a rod."""
        ...


Run = Callable[[Mapping[str, RodModel], Integrator, float], Any]
"""Simulates with formulations, an integrator and a step, s."""


@dataclass
class Candidate:
    """A mesh and a step with the motion that they give."""

    formulations: dict[str, RodModel]
    h: float
    motion: Any


class MotionSearch:
    """Finds the motion for an accuracy with one integrator.

    chooses_step : whether the step is ours to choose; not with an integrator that takes shorter
    steps by itself, or where dt is given.
    """

    def __init__(
        self,
        run: Run,
        rods: Mapping[str, Rod],
        bodies: list[str],
        integrator: Integrator,
        accuracy: float,
        chooses_step: bool,
        chooses_mesh: bool,
    ) -> None:
        self.run, self.rods, self.bodies, self.integrator = run, rods, bodies, integrator
        self.accuracy = accuracy
        self.chooses_step, self.chooses_mesh = chooses_step, chooses_mesh
        self.length = max((rod.length for rod in rods.values()), default=1.0)

    def take(self, formulations: Mapping[str, RodModel], h: float) -> Candidate:
        """Simulate on a mesh with a step."""
        return Candidate(dict(formulations), h, self.run(formulations, self.integrator, h))

    def distances(self, a: Any, b: Any) -> Array:
        """Largest distance (T,) of two motions at each output time, m."""
        found = [np.zeros(len(a.t))]
        for name, rod in self.rods.items():
            s = np.linspace(0.0, rod.length, SECTIONS)
            gap = np.linalg.norm(a.position(name, s) - b.position(name, s), axis=-1)
            found.append(gap.max(axis=1))
        for name in self.bodies:
            x, y = (motion.pose(name)[:, :3, 3] for motion in (a, b))
            found.append(np.linalg.norm(x - y, axis=-1))
        return np.max(found, axis=0)

    def find(self, formulations: Mapping[str, RodModel], h: float) -> Any:
        """The motion whose estimated error is below the accuracy, or the best one with a warning."""
        began = time.perf_counter()
        enough = MARGIN * self.accuracy * self.length
        now = self.take(formulations, h)
        none = np.zeros(len(now.motion.t))
        while True:
            mesh = self._finer_mesh(now) if self.chooses_mesh else None
            space = none if mesh is None else self._extrapolated(now, mesh)
            base = now if mesh is None else mesh
            step = self._shorter_step(base) if self.chooses_step else None
            period = none if step is None else self.distances(base.motion, step.motion) / 3.0
            best = step or base
            if space.max() + period.max() <= enough or (mesh is None and step is None):
                return self._with_error(best.motion, space, period, began)
            now = self._next(now, mesh, step, float(space.max()), float(period.max()), enough)

    def _extrapolated(self, now: Candidate, mesh: Candidate) -> Array:
        """Error (T,) of the finer of two meshes, m."""
        sizes = [self._intervals(x.formulations) for x in (now, mesh)]
        ratio = max((sizes[1] / sizes[0]) ** 3, 1.5)
        return self.distances(now.motion, mesh.motion) / (ratio - 1.0)

    def _intervals(self, formulations: Mapping[str, RodModel]) -> float:
        counts = [item.intervals or 1 for item in formulations.values()]
        return float(min(counts, default=1))

    def _finer_mesh(self, now: Candidate) -> Candidate | None:
        choice = finer(now.formulations, FINER)
        return None if choice is None else self.take(choice, now.h)

    def _shorter_step(self, now: Candidate) -> Candidate | None:
        steps = float(now.motion.t[-1]) / now.h
        return None if steps > SHORTEST else self.take(now.formulations, 0.5 * now.h)

    def _next(
        self,
        now: Candidate,
        mesh: Candidate | None,
        step: Candidate | None,
        space: float,
        period: float,
        enough: float,
    ) -> Candidate:
        """Where to go on: the finer mesh, and further where its error asks for it, with a step that
        should do.
        """
        base, h = mesh or now, now.h
        if step is not None and period > 0.5 * enough:
            h = max(now.h / 8.0, now.h * 0.5 * (0.4 * enough / period) ** 0.5)
        factor = (space / (0.4 * enough)) ** (1.0 / 3.0) / FINER if mesh is not None else 0.0
        choice = finer(base.formulations, min(factor, 3.0)) if factor > FINER else None
        if choice is None and h == base.h:
            return base
        return self.take(choice or base.formulations, h)

    def _with_error(self, motion: Any, space: Array, period: Array, began: float) -> Any:
        total = space + period
        shape = float(total.max(initial=0.0))
        sizes = (float(space.max(initial=0.0)), float(period.max(initial=0.0)))
        seconds = time.perf_counter() - began
        known = self.chooses_mesh or self.chooses_step
        if known:
            relative = shape / self.length
            motion.error = MotionError(shape, relative, *sizes, motion.t, total, seconds)
            if relative > self.accuracy:
                text = (
                    f"the accuracy {self.accuracy:g} was not reached: the estimated error is "
                    f"{motion.error}. Ask for less, or for a shorter time, or give dt and formulation."
                )
                warnings.warn(text, ResolutionWarning, stacklevel=5)
        return motion


def first_step(rods: Mapping[str, Rod], duration: float) -> float:
    """First guess for the step of an implicit integrator, s."""
    periods = []
    for rod in rods.values():
        scale = scale_of(rod)
        if scale.mass > 0.0:
            frequency = 3.516 * math.sqrt(scale.bending / (scale.mass * scale.length**4))
            periods.append(2.0 * math.pi / frequency)
    weight = [2.0 * math.pi * math.sqrt(rod.length / 9.81) for rod in rods.values()]
    period = min([*periods, *weight], default=duration)
    return min(duration / 20.0, max(period / STEPS_PER_PERIOD, duration / SHORTEST))


def first_mesh(rods: Mapping[str, Rod]) -> dict[str, RodModel]:
    """Coarse meshes to begin with, by name of the rod, where a rod has no formulation of its own."""
    usual = {
        name: default_formulation(rod)
        for name, rod in rods.items()
        if rod.theory == "kirchhoff" and rod.formulation is None
    }
    own = [name for name, rod in rods.items() if rod.formulation is None and name not in usual]
    return {**usual, **dict.fromkeys(own, lumped_formulation(FIRST_ELEMENTS))}


def choose_integrator(problem: Problem, duration: float) -> Integrator:
    """The integrator that should be the fastest for a robot: explicit, if it can and steps are few.

    problem : the robot with the formulations that it begins with.
    """
    from pliant.solve.integrators.explicit import Explicit, ExplicitStepper

    rods = problem.description.rods
    effects = getattr(problem, "effects", None)
    if effects is None or not rods:
        return problem.integrator(None)
    try:
        stepper = Explicit().stepper(effects, duration)
        assert isinstance(stepper, ExplicitStepper)
        stepper.start(effects.tree.q_rest, np.zeros(effects.tree.total), effects.nothing)
    except PliantError:
        return problem.integrator(None)
    many = duration / first_step(rods, duration) * IMPLICIT_COST
    return Explicit() if stepper.short_steps < many else problem.integrator(None)
