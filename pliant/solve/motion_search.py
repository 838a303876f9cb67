"""The motion for an accuracy: meshes of a ladder and steps until the whole shape no longer changes.

Two motions are enough where one on a coarse mesh in coarse steps agrees with one on a finer mesh in
finer steps. Else the error in time is found on the coarsest mesh, by a motion with coarser steps, and
looked at again on the last mesh but one. The error of the mesh is extrapolated from the last meshes,
with the order that their distances show. Meshes that are far too coarse for the folds of the first
motion are left out.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model import Array, ConvergenceError, PliantError, ResolutionWarning, Rod
from pliant.rods.contract import RodModel
from pliant.solve.automatic import MARGIN, RUNGS, finer, intervals, next_rung
from pliant.solve.controller_memory import Repeated
from pliant.solve.integrators.contract import ChosenSteps, Integrator
from pliant.solve.motion_error import SECTIONS, MotionError
from pliant.solve.problem import Problem
from pliant.solve.step_methods import (
    StepMethod,
    capped_method,
    explicit_method,
    explicit_steps,
    first_step,
    stations,
    stepped_method,
    tolerance_method,
)

OUTPUTS = 101
"""Output times where none are given."""
TYPICAL = 8
"""Intervals of a rod on the mesh for which the costs of integrators are compared."""
MORE_STEPS = 1.5
"""Explicit steps on that mesh over those on the first one."""
CLIMBED = 0.6
"""Part of the accuracy that an extrapolated estimate may reach; one of two motions may reach MARGIN."""
TIME, SPACE = 0.5, 0.7
"""Parts of the allowed error that the steps and the mesh may have."""
FIRST_TOLERANCE, FINEST_TOLERANCE = 0.3, 1e-3
"""Tolerance of steps that choose their length, over the accuracy: the first and the last one."""
LOOSEST = 3e-3
"""Largest tolerance, in lengths: with larger ones steps become too long for Newton's method."""
FEWEST_OWN, MOST_OWN = 60, 10_000
"""Steps of a motion that chooses their length: so many are worth a trial, and most of them."""
UNKNOWN, LOWEST, HIGHEST = 1.5, 1.0, 3.5
"""Order of the error in the intervals: as long as it is not known, and bounds of what is observed."""
FEW, FEWEST, SHORTEST = 150, 200, 2**15
"""Steps of a motion whose steps are chosen automatically: as a trial where explicit ones cannot be
taken, else at least and at most.
"""
INPUTS_IN_STEP = 4.0
"""Straight pieces of inputs within a step, at most."""
SURELY = 3.0
"""How many times cheaper implicit steps must be: on finer meshes they need more of them."""
TURN = 4.0
"""Largest turn of a rod within an interval, rad, on the mesh that follows the first one, for an
accuracy of 1e-3: four times as many intervals usually meet it."""
SMOOTH = 4.0
"""Order of the error in the intervals of rods without folds."""
FINEST_FIRST = 16
"""Most intervals of the first mesh on which explicit steps reach the end."""
HOPELESS = 10.0
"""Factor over the accuracy that the error is expected to have on the finest mesh, at which the search
ends: motions that change as much from one fine mesh to the next as between coarse ones are chaotic."""
NO_FURTHER = 3
"""Ever shorter steps that fail at about the same time: then the length of steps is not the reason."""
NEAR = 1.5
"""Factor beyond the usual one up to which the levels of two motions tell an error."""

Run = Callable[[Mapping[str, RodModel], Integrator, float], Any]
"""Simulates with formulations, an integrator and a step, s."""


class InterruptedSearchError(Exception):
    """Ctrl-C ended the search.

    motion : what there is, the finest one that ran through, else the one that was interrupted.
    """

    def __init__(self, motion: Any) -> None:
        super().__init__("the search for a motion was interrupted")
        self.motion = motion


@dataclass
class Taken:
    """A motion with its mesh, the level of its method and its shapes (T, P, 3), m."""

    formulations: Mapping[str, RodModel]
    level: float
    motion: Any
    shapes: Array

    @property
    def intervals(self) -> int:
        return intervals(self.formulations)


@dataclass
class MotionSearch:
    """Finds the motion for an accuracy.

    run : see `Run`.  bodies : names of those that move on joints.  duration : s.
    methods : those that may be chosen, the cheapest one is.  level : given by the user, None if free.
    chooses_mesh : False where the user gave one.  between : time between outputs, s.
    straight : seconds in which inputs are straight lines.  planned : output times, more than a motion
    has that an event ends.  controllers : those of each motion, None if there are none.
    """

    run: Run
    rods: Mapping[str, Rod]
    bodies: list[str]
    duration: float
    accuracy: float
    level: float | None
    chooses_mesh: bool
    between: float
    straight: float = math.inf
    planned: int | None = None
    controllers: Repeated | None = None

    def __post_init__(self) -> None:
        if self.controllers is not None:
            self.between = self.controllers.between(self.duration)
            self.straight = min(self.straight, self.between)
        self.length = max((rod.length for rod in self.rods.values()), default=1.0)
        self.enough = CLIMBED * self.accuracy * self.length
        self.began = time.perf_counter()
        self.finest: Taken | None = None
        self._known: dict[Any, Taken | PliantError] = {}

    # -- the search --------------------------------------------------------------------------------

    def find(
        self, problem: Problem, implicit: Integrator, smooth: Mapping[str, RodModel] | None
    ) -> Any:
        """The motion by the method that costs least.

        problem : the robot on the first mesh.  implicit : the integrator where neither explicit steps
        nor those that choose their length pay: how many steps it takes is found on the first mesh.
        smooth : the first mesh for steps that choose their length, None if they are not to be tried.
        """
        mesh = problem.formulations
        explicit, stepped = explicit_method(), stepped_method(implicit)
        count = MORE_STEPS * explicit_steps(problem, self.duration, self.straight)
        many = stations(problem) * TYPICAL // max(1, intervals(mesh))
        cost = explicit.cost(count, many)
        if self.level is None:
            if math.isinf(count):
                found = self._by_few_steps(mesh, stepped)
                if found is not None:
                    return found
            most = cost / (SURELY * tolerance_method().cost(1.0, many))
            if smooth is not None and most > FEWEST_OWN:
                found = self._by_tolerance(smooth, most, math.isfinite(count))
                if found is not None:
                    return found
            most = cost / (SURELY * stepped.cost(1.0, many))
            settled = self._settle(mesh, stepped, most) if most > 2.0 * FEWEST else None
            if settled is not None:
                return self.climb(*settled, stepped)
        if math.isfinite(count):
            try:
                return self._climb_explicit(self._first_explicit(mesh, explicit), explicit)
            except ConvergenceError:  # energy reaches the grid faster than steps are shortened
                return self.find_by(mesh, stepped)
        return self._climb_by_steps(mesh, stepped)

    def _first_explicit(self, mesh: Mapping[str, RodModel], method: StepMethod) -> Taken:
        """The motion on the first mesh that is not too coarse for it to come to its end."""
        while True:
            try:
                return self._take(mesh, method, math.nan)
            except ConvergenceError:
                following = next_rung(mesh, 0.0) if self.chooses_mesh else None
                if following is None or intervals(following) > FINEST_FIRST:
                    raise
                mesh = following

    def _climb_explicit(self, taken: Taken, method: StepMethod) -> Any:
        """`climb` with steps that follow from the mesh, from the first motion on.

        Where they are of second order, as with damping, elements are soon more accurate than steps, and
        on coarse meshes steps do not get shorter with the intervals: their error is found on the first
        mesh, by a motion with half their length, and bounds their length on all meshes.
        """
        chosen = taken.motion.scheme
        if not isinstance(chosen, ChosenSteps) or chosen.order > 2:
            return self.climb(taken, None, method)
        capped = capped_method(method.make(math.nan))
        half = self._take(taken.formulations, capped, 0.5 * chosen.length)
        late = self._distances(taken, half) / 0.75
        over = float(late.max(initial=0.0)) / (TIME * self.enough)
        if over <= 1.0:
            return self.climb(taken, late, method)
        length = chosen.length / math.sqrt(1.5 * over)
        return self.climb(
            self._take(taken.formulations, capped, length), late / (1.5 * over), capped
        )

    def find_by(self, mesh: Mapping[str, RodModel], method: StepMethod) -> Any:
        """The motion by a method that was chosen, from a first mesh on."""
        if method.has_level and self.level is None:
            settled = self._settle(mesh, method, math.inf)
            assert settled is not None
            return self.climb(*settled, method)
        if not method.has_level and self.level is None:
            return self._climb_explicit(self._take(mesh, method, math.nan), method)
        return self._climb_by_steps(mesh, method)

    def _climb_by_steps(self, mesh: Mapping[str, RodModel], method: StepMethod) -> Any:
        """`climb` with the user's steps, whose error is told, or with steps that follow from meshes."""
        taken = self._take(mesh, method, self.level or math.nan)
        coarse = None
        if self.level is not None and method.has_level:
            coarse = self._tried(mesh, method, method.coarser * self.level)
        return self.climb(
            taken, None if coarse is None else self._late(coarse, taken, method), method
        )

    def climb(self, taken: Taken, late: Array | None, method: StepMethod) -> Any:
        """The motion on the first mesh of the ladder whose estimated error is below the accuracy, or
        the best one with a warning.

        late : error in time (T,) of the motion on the first mesh, None if it is not known.
        """
        free = late is not None and self.level is None
        meshes = [taken]
        if not self.rods:  # rigid bodies have no mesh
            return self._with_parts(taken.motion, self._none(taken), late)
        if not self.chooses_mesh:
            return self._with_parts(taken.motion, self._of_given(taken, method), late)
        while True:
            following = self._following(meshes)
            if following is None:
                return self._with_parts(meshes[-1].motion, self._space(meshes), late)
            meshes.append(self._take(following, method, meshes[-1].level))
            space = self._space(meshes)
            if self._hopeless(meshes):
                return self._with_parts(meshes[-1].motion, space, late)
            if late is not None and late.max(initial=0.0) > self.enough:  # no mesh mends that
                return self._with_parts(meshes[-1].motion, space, late)
            if space.max() > (SPACE if free else 1.0) * self.enough:
                continue
            if free and method.has_level and len(meshes) > 2:
                late = self._look_again(meshes, method)
            total = space if late is None else space + late
            if total.max() <= self.enough:
                return self._with_parts(meshes[-1].motion, space, late)

    def _of_given(self, taken: Taken, method: StepMethod) -> Array:
        """Error (T,) of a motion on a given mesh, by one on a mesh of half as many intervals or, if
        there is none, of twice as many; zero where no other mesh can be had, as from a result on.
        """
        for factor in (0.5, 2.0):
            mesh = finer(taken.formulations, factor)
            if mesh is None or intervals(mesh) == taken.intervals:
                continue
            other = self._tried(mesh, method, taken.level)
            if other is not None:
                counts = sorted((other.intervals, taken.intervals))
                ratio = (counts[1] / counts[0]) ** UNKNOWN
                worse = ratio if other.intervals > taken.intervals else 1.0
                return self._distances(taken, other) * worse / (ratio - 1.0)
        return self._none(taken)

    def _take(self, mesh: Mapping[str, RodModel], method: StepMethod, level: float) -> Taken:
        key = (*map(repr, mesh.values()), repr(method.make(level)), level)
        known = self._known.get(key)
        if isinstance(known, PliantError):
            raise known
        if known is not None:
            return known
        try:
            motion = self._run(mesh, method, level)
        except PliantError as error:
            self._known[key] = error
            raise
        if not motion.complete:
            raise InterruptedSearchError(self._what_there_is(mesh, motion))
        taken = self._known[key] = Taken(mesh, level, motion, self._shapes(motion))
        if self.finest is None or self.finest.intervals <= taken.intervals:
            self.finest = taken
        return taken

    def _run(self, mesh: Mapping[str, RodModel], method: StepMethod, level: float) -> Any:
        dt = method.dt(level, self.straight)
        if self.controllers is None:
            return self.run(mesh, method.make(level), dt)
        if not method.by_length:
            dt = self.between / math.ceil(self.between / dt)
        return self.controllers.take(lambda: self.run(mesh, method.make(level), dt))

    def _by_tolerance(self, mesh: Mapping[str, RodModel], most: float, others: bool) -> Any:
        """The motion by steps that choose their length, from the first mesh for them on; None if they
        fail or more than `most` are needed.

        others : whether other steps may reach what these do not.
        """
        own = tolerance_method(self.straight, int(min(most, MOST_OWN)))
        if self.chooses_mesh:
            try:
                found = self._agreeing(mesh, own, *self._first_levels(own))
            except PliantError:
                return None
            if found is not None:
                return found
        settled = self._settle_tolerance(mesh, own)
        if settled is None or (others and settled[1].max(initial=0.0) > self.enough):
            return None
        return self.climb(*settled, tolerance_method(self.straight, MOST_OWN))

    def _agreeing(
        self, mesh: Mapping[str, RodModel], method: StepMethod, larger: float, level: float
    ) -> Any:
        """The motion on the mesh that follows one, in finer steps, if it agrees with that on the first
        one in coarser steps; else None.
        """
        following = next_rung(mesh, 0.0)
        if following is None:
            return None
        coarse = self._take(mesh, method, larger)
        fine = self._take(following, method, level)
        error = self._gap(coarse, fine, method)
        enough = MARGIN * self.accuracy * self.length
        return self._with_error(fine.motion, error) if error.max() <= enough else None

    def _by_few_steps(self, mesh: Mapping[str, RodModel], method: StepMethod) -> Any:
        """The motion by a few steps of one length, None if they are too few."""
        first = finer(mesh, 0.5) if self.chooses_mesh else None
        if first is None or self.duration > FEW * INPUTS_IN_STEP * self.straight:
            return None
        level = method.fitting(self.duration / FEW, self.between)
        try:
            return self._agreeing(first, method, method.coarser * level, level)
        except PliantError:
            return None

    def _first_levels(self, method: StepMethod) -> tuple[float, float]:
        """The first two tolerances, the larger one first."""
        level = min(FIRST_TOLERANCE * self.accuracy, LOOSEST / 4.0)
        return min(method.coarser * level, LOOSEST), level

    def _what_there_is(self, mesh: Mapping[str, RodModel], interrupted: Any) -> Any:
        """What an interrupted search returns, with a warning, for its error is not known."""
        motion = interrupted
        if self.finest is not None:
            mesh, motion = self.finest.formulations, self.finest.motion
            motion.complete = False
        text = (
            f"interrupted before the accuracy {self.accuracy:g} was reached: this motion, up to "
            f"{motion.t[-1]:.4g} s, has {intervals(mesh)} intervals a rod and an unknown error."
        )
        warnings.warn(text, ResolutionWarning, stacklevel=8)
        return motion

    def _settle(
        self, mesh: Mapping[str, RodModel], method: StepMethod, most: float
    ) -> tuple[Taken, Array] | None:
        """The motion on a mesh with steps that are fine enough, and its error in time (T,).

        most : steps that another method is worth; None if more are needed.
        """
        seen = self.duration / (INPUTS_IN_STEP * self.straight)
        if seen > most:
            return None
        count = max(FEWEST, seen, self.duration / first_step(self.rods, self.duration))
        count = min(most, count)
        coarse: Taken | None = None
        reached: list[float] = []
        while count <= most:
            level = method.fitting(self.duration / count, self.between)
            coarse = coarse or self._tried(mesh, method, method.coarser * level, reached)
            taken = self._tried(mesh, method, level, reached)
            more = 4.0
            if coarse is not None and taken is not None:
                error = self._late(coarse, taken, method)
                worst = float(error.max(initial=0.0)) / (TIME * self.enough)
                if worst <= 1.0 or count > SHORTEST:
                    return taken, error
                more = min(16.0, max(2.0, (2.0 * worst) ** (1.0 / method.order)))
            elif count > SHORTEST or no_further(reached):
                if math.isinf(most):
                    self._take(mesh, method, level)  # raises what went wrong
                return None
            count, coarse = more * count, taken if more <= NEAR * method.coarser else None
        return None

    def _settle_tolerance(
        self, mesh: Mapping[str, RodModel], method: StepMethod
    ) -> tuple[Taken, Array] | None:
        """The motion on a mesh with a tolerance that is small enough or, if that fails or takes too
        many steps, with the smallest one so far, and its error in time (T,); None if there is none.
        """
        larger, level = self._first_levels(method)
        coarse = self._tried(mesh, method, larger)
        best: tuple[Taken, Array] | None = None
        while coarse is not None and level >= FINEST_TOLERANCE * self.accuracy:
            taken = self._tried(mesh, method, level)
            if taken is None:
                break
            error = self._late(coarse, taken, method)
            best, worst = (taken, error), float(error.max(initial=0.0)) / (TIME * self.enough)
            if worst <= 1.0:
                break
            level, coarse = level / min(16.0, max(4.0, 2.0 * worst)), taken
        return best

    def _tried(
        self,
        mesh: Mapping[str, RodModel],
        method: StepMethod,
        level: float,
        reached: list[float] | None = None,
    ) -> Taken | None:
        """A motion, or None if its steps fail: `reached` then gets the time of that, s."""
        try:
            return self._take(mesh, method, level)
        except PliantError as error:
            if reached is not None:
                reached.append(getattr(error, "reached", None) or 0.0)
            return None

    def _look_again(self, meshes: list[Taken], method: StepMethod) -> Array:
        """The error in time (T,) of the last motion, from the mesh before it; the last motion is taken
        again with finer steps if they are too coarse.
        """
        before, last = meshes[-2:]
        level = method.coarser * before.level
        level = level if method.by_length else min(level, LOOSEST)
        coarse = self._tried(before.formulations, method, level)
        if coarse is None:
            return self._none(last)
        error = self._late(coarse, before, method)
        worst = float(error.max(initial=0.0)) / (TIME * self.enough)
        if worst <= 1.0:
            return error
        level = last.level * max(1.0 / 16.0, (0.5 / worst) ** (1.0 / method.order))
        level = method.fitting(level, self.between)
        meshes[-1] = self._take(last.formulations, method, level)
        return self._late(last, meshes[-1], method)

    def _hopeless(self, meshes: list[Taken]) -> bool:
        """Whether the error is expected to stay far too large up to the end of the ladder, by the
        larger of the last two orders that were observed.
        """
        if len(meshes) < 4:
            return False
        order = max(self._order(meshes), self._order(meshes[:-1]))
        shrinks = (RUNGS[-1] / meshes[-1].intervals) ** order
        return bool(self._space(meshes).max() > HOPELESS * shrinks * self.enough)

    def _following(self, meshes: list[Taken]) -> dict[str, RodModel] | None:
        """The next mesh: a rung higher, or several if the error asks for it."""
        last, least = meshes[-1], 0.0
        if len(meshes) == 1:
            least = self._bend(last) / (TURN * (self.accuracy / 1e-3) ** (1.0 / SMOOTH))
        else:
            over = float(self._space(meshes).max()) / (SPACE * self.enough)
            order = self._order(meshes) if len(meshes) > 2 else SMOOTH
            least = last.intervals * min(2.0, over ** (1.0 / order))
        return next_rung(last.formulations, least)

    # -- errors ------------------------------------------------------------------------------------

    def _shapes(self, motion: Any) -> Array:
        """Positions (T, P, 3) of sections of rods and of bodies, m; after an event the last ones."""
        found = [np.zeros((len(motion.t), 0, 3))]
        for name, rod in self.rods.items():
            found.append(motion.position(name, np.linspace(0.0, rod.length, SECTIONS)))
        found += [motion.pose(name)[:, None, :3, 3] for name in self.bodies]
        shapes = np.concatenate(found, axis=1)
        missing = max(0, (self.planned or 0) - len(shapes))
        return np.pad(shapes, ((0, missing), (0, 0), (0, 0)), mode="edge")

    def _bend(self, taken: Taken) -> float:
        """Largest curvature of a rod in a motion, times its length, by the angles of chords."""
        bend, rods = 0.0, range(len(self.rods))
        for k in rods:
            chords = np.diff(taken.shapes[:, k * SECTIONS : (k + 1) * SECTIONS], axis=1)
            chords = chords / np.maximum(np.linalg.norm(chords, axis=-1, keepdims=True), 1e-300)
            cosines = np.einsum("tsi,tsi->ts", chords[:, :-1], chords[:, 1:])
            bend = max(bend, float(np.arccos(np.clip(cosines.min(initial=1.0), -1.0, 1.0))))
        return bend * (SECTIONS - 1)

    def _distances(self, a: Taken, b: Taken) -> Array:
        """Largest distance (T,) of two motions at each output time, m."""
        apart = np.linalg.norm(a.shapes - b.shapes, axis=-1)
        return np.asarray(apart.max(axis=1, initial=0.0))

    def _none(self, taken: Taken) -> Array:
        return np.zeros(len(taken.shapes))

    def _late(self, coarse: Taken, fine: Taken, method: StepMethod) -> Array:
        """Error in time (T,) of the finer of two motions on one mesh, m."""
        shrinks = (coarse.level / fine.level) ** method.order
        return self._distances(coarse, fine) / (shrinks - 1.0)

    def _gap(self, coarse: Taken, fine: Taken, method: StepMethod) -> Array:
        """Error (T,) of a motion on a finer mesh in finer steps, m: what shrinks least may be all."""
        in_time = (coarse.level / fine.level) ** method.order
        in_space = (fine.intervals / coarse.intervals) ** UNKNOWN
        return self._distances(coarse, fine) / (min(in_time, in_space) - 1.0)

    def _space(self, meshes: list[Taken]) -> Array:
        """Error (T,) of the last mesh, m."""
        if len(meshes) < 2:
            return np.full(len(meshes[-1].shapes), math.inf)
        before, last = meshes[-2:]
        ratio = (last.intervals / before.intervals) ** self._order(meshes)
        return self._distances(before, last) / (ratio - 1.0)

    def _order(self, meshes: list[Taken]) -> float:
        """Order in the intervals that the last three meshes show, within bounds."""
        if len(meshes) < 3:
            return UNKNOWN
        a, b, c = meshes[-3:]
        gaps = [float(self._distances(x, y).max()) for x, y in ((a, b), (b, c))]
        return observed_order((a.intervals, b.intervals, c.intervals), gaps[0], gaps[1])

    def _with_parts(self, motion: Any, space: Array, late: Array | None) -> Any:
        """The motion with its errors by the mesh and by the steps (T,), m, if one of them was found."""
        if not self.chooses_mesh and late is None:
            return motion
        steps = np.zeros(len(space)) if late is None else late
        parts = (float(space.max(initial=0.0)), float(steps.max(initial=0.0)))
        return self._with_error(motion, space + steps, parts)

    def _with_error(
        self,
        motion: Any,
        total: Array,
        parts: tuple[float | None, float | None] = (None, None),
    ) -> Any:
        """The motion with its error (T,), m, and with a warning if that is too large."""
        end = len(motion.t) - 1
        total = np.append(total[:end], total[end:].max(initial=0.0))
        shape = float(total.max(initial=0.0))
        seconds = time.perf_counter() - self.began
        relative = shape / self.length
        motion.error = MotionError(shape, relative, *parts, motion.t, total, seconds)
        if relative > self.accuracy:
            remedy = "Give a smaller dt, or none, or ask for less."
            if self.level is None:
                remedy = "Ask for less, or for a shorter time, or give dt and formulation."
            text = (
                f"the accuracy {self.accuracy:g} was not reached: the estimated error is "
                f"{motion.error}. {remedy}"
            )
            warnings.warn(text, ResolutionWarning, stacklevel=6)
        return motion


def no_further(reached: list[float]) -> bool:
    """Whether ever shorter steps failed at times, s, that do not become later."""
    last = reached[-NO_FURTHER:]
    return len(last) == NO_FURTHER and max(last[1:]) <= NEAR * last[0]


def observed_order(counts: tuple[int, int, int], first: float, second: float) -> float:
    """Order p, within bounds, of an error C n^-p on three meshes of n intervals, from the distances of
    the first two and of the last two.
    """
    if second <= 0.0:
        return HIGHEST

    def quotient(p: float) -> float:
        a, b, c = (n**-p for n in counts)
        return (a - b) / (b - c)

    low, high = LOWEST, HIGHEST
    if quotient(low) >= first / second:
        return low
    if quotient(high) <= first / second:
        return high
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if quotient(middle) < first / second else (low, middle)
    return 0.5 * (low + high)
