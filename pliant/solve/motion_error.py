"""Estimate of the error of a motion from coarser companions, split into space and time.

The motion M has N intervals and steps of h; its companion C has N/2 intervals and steps of 2 h. If both
were smooth, M would be off by |M - C| / (2^p - 1) with p the order of the integrator. Motions of soft
robots hold waves that neither resolves, which lowers the order: `OBSERVED` and `SPACE` were found on
random robots (benchmarks/motion_error.py). Two more over the first eighth of the motion, with
(N/2, 4 h) and (N/4, 2 h), tell time from space; explicit integrators are unstable in the first of them.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model import (
    Array,
    Body,
    ConvergenceError,
    PliantError,
    ResolutionWarning,
    is_nested,
    refuse,
)
from pliant.model.checks import flag
from pliant.model.telling import silenced
from pliant.rods.contract import RodModel
from pliant.solve.clock import Clock
from pliant.solve.control import Control
from pliant.solve.dynamics import Trajectory
from pliant.solve.integrators.contract import Integrator
from pliant.solve.problem import Problem, Start, Still
from pliant.solve.resolution_hint import rough_errors
from pliant.solve.shape_error import ShapeError

SECTIONS, TIMES, BETWEEN = 21, 16, 8
"""Sections of each rod and times that are compared; fewer times where steps are cut for them."""
FEWEST_TIMES = 3
"""Times at the ends of long steps that are enough; else steps are cut."""
OBSERVED = 0.85, 0.76
"""Observed order of motions: a p^b, with p the integrator's order of drift and these a, b."""
PART, FEWEST_LONG = 8, 3
"""Part of the motion over which space is told from time, and steps of four times the length in it."""
FEW_STEPS = 64
"""Steps of a motion below which the companion of a strong form with long steps costs too much: what
elements do not explain is then due to the step."""
LITTLE = 0.05
"""Share of elements in the distance to the companion below which the step has the rest."""
SPACE, SMOOTH = 2, 3
"""Observed order in elements: of motion and companion, and of smooth motions."""
SETTLED, SAME_BRANCH = 1e-8, 0.02
"""Tolerance of the equilibrium from which a companion starts, and how far, over the length, it may be
from that of the motion to be on the same branch."""
FEWEST_STEPS, FEWEST_CONTROLLED = 8, 16
"""Fewest steps of a motion that companions can be made of, and of one with controllers, which is
compared at ends of steps of four times the length."""


@dataclass(frozen=True)
class MotionError(ShapeError):
    """Estimated error of the whole shape of a moving robot, by coarser companions.

    shape : largest error of the position of any section or body during the motion, metres.
    relative : the same over the length of the longest part.
    space, time : what elements and step contribute to it, m; None if that could not be told.
    t, over_time : (T,) some of the output times, s, and the error of the shape at each, m.
    seconds : wall time of the companions.

    All errors are infinite if the companions failed: then nothing is known.
    """

    space: float | None
    time: float | None
    t: Array
    over_time: Array
    seconds: float

    def numbers(self) -> dict[str, float]:
        """Its single numbers, for files; without those that are not known."""
        parts = {"error_by_elements": self.space, "error_by_step": self.time}
        known = {name: value for name, value in parts.items() if value is not None}
        return {"error": self.shape, "error_relative": self.relative, **known}

    def __str__(self) -> str:
        if not np.isfinite(self.shape):
            return "unknown, as a coarser motion failed"
        if self.space is None or self.time is None:
            return super().__str__()
        parts = f"{1e3 * self.space:.2g} mm by elements, {1e3 * self.time:.2g} mm by the step"
        return f"{super().__str__()}: {parts}"


def check_error(
    wanted: object,
    clock: Clock,
    problem: Problem,
    integrator: Integrator,
    control: Control | None = None,
) -> None:
    """Refuse what has no coarser companion: too few steps, steps that choose themselves, rods of one
    interval, or controllers that ask too often.

    wanted : whether the error is to be estimated.
    """
    if not flag("simulate", "error", wanted):
        return
    if control is not None:
        _check_samples(control, clock)
    about = problem.description
    nested = any(is_nested(about, rod) for rod in about.rods.values())
    remedy = "compare motions with two time steps, or with two formulations"
    expected = "left out for nested tubes, whose coarser motions cannot start alike"
    refuse(nested, "simulate", "error", wanted, expected, remedy)
    expected = f"left out with {type(integrator).__name__}(), which keeps to a tolerance by itself"
    chosen = "give accuracy= instead, or compare two tolerances"
    refuse(integrator.chooses_steps, "simulate", "error", wanted, expected, chosen)
    expected = f"{FEWEST_STEPS} steps or more to estimate an error"
    refuse(clock.steps < FEWEST_STEPS, "simulate", "dt", clock.h, expected, "take a smaller dt")
    coarser(problem, 2)


def _check_samples(control: Control, clock: Clock) -> None:
    """Refuse controllers whose samples do not fall on ends of steps of twice the length."""
    odd = [k for k in control.between if k % 2]
    if odd:
        every = odd[0] * clock.h
        refuse(
            True, "controllers", "seconds between samples", every,
            f"an even number of time steps of {clock.h:g} s to estimate an error, for it compares with "
            "a motion of twice the step", f"take dt={0.5 * every:g}, or another rate",
        )  # fmt: skip
    expected = f"{FEWEST_CONTROLLED} steps or more to estimate an error with controllers"
    few = clock.steps < FEWEST_CONTROLLED
    refuse(few, "simulate", "dt", clock.h, expected, "take a smaller dt")


def coarser(problem: Problem, factor: int) -> dict[str, RodModel]:
    """Formulations by rod name with `factor` times fewer intervals."""
    return {name: item.coarser(name, factor) for name, item in problem.formulations.items()}


@dataclass
class Companions:
    """Makes coarser motions like one that was simulated.

    make : compiles the robot with formulations by rod name.  start : of the motion.  control : its
    controllers, which are asked again.
    """

    problem: Problem
    make: Callable[[Mapping[str, RodModel]], Problem]
    integrator: Integrator
    inputs: Mapping[str, Any]
    start: Start
    control: Control | None = None
    _starts: dict[int, Start] = field(default_factory=dict)
    """By factor of intervals."""
    _failed: str = ""
    """Why the first companion failed that did."""

    def error(self, found: Trajectory, clock: Clock) -> MotionError:
        """Estimate the error of the motion."""
        with nullcontext() if self.control is None else self.control.rehearsal():
            return self._estimate(found, clock)

    def _estimate(self, found: Trajectory, clock: Clock) -> MotionError:
        began = time.perf_counter()
        grid = _Grid(clock, found)
        length = self.problem.length
        C = self._shapes(2, grid.clock(2))
        if C is None:
            if self.control is not None:
                text = (
                    "the error of this motion is unknown, for a coarser one with the same controllers "
                    f"failed: {self._failed}"
                )
                warnings.warn(text, ResolutionWarning, stacklevel=5)
            none, over = math.inf, np.full(len(grid.t), math.inf)
            seconds = time.perf_counter() - began
            return MotionError(none, none, None, None, grid.t, over, seconds)
        gap = _shapes(self.problem, grid.configurations) - C
        share = self._space_share(grid, gap, C) if _most(gap) > 0.0 else 0.0
        order = OBSERVED[0] * self.integrator.drift_order ** OBSERVED[1]
        known = 0.0 if share is None else share
        space, step = known / (2**SPACE - 1), (1.0 - known) / (2**order - 1)
        over = _size(gap) * (space + step)
        shape, d = float(over.max()), _most(gap)
        missed = max(self._damping(found) - shape, 0.0) if shape > 0.0 else 0.0
        over, shape = over * (1.0 + missed / max(shape, 1e-300)), shape + missed
        by_space, by_step = d * space, d * step + missed
        parts = (None, None) if share is None else (by_space, by_step)
        seconds = time.perf_counter() - began
        return MotionError(shape, shape / length, parts[0], parts[1], grid.t, over, seconds)

    def _damping(self, found: Trajectory) -> float:
        """Rough error, m, of an integrator of first order, 0 for others.

        Long steps of such an integrator damp the motion and its companion alike, so that their
        distance tells little.
        """
        if self.integrator.drift_order > 1:
            return 0.0
        return rough_errors(self.problem, found, 1)[0] * self.problem.length

    def _space_share(self, grid: _Grid, gap: Array, C: Array) -> float | None:
        """Which part of the gap is due to elements; None if that cannot be told."""
        if not self.problem.formulations:
            return 0.0
        part = grid.clock(4, PART)
        count = len(part.outputs)
        whole = _most(gap[:count])
        space = step = None
        if coarser(self.problem, 4) != coarser(self.problem, 2):
            fewer = self._shapes(4, grid.clock(2, PART))
            space = None if fewer is None else _most(C[:count] - fewer) / 2**SMOOTH
        few = grid.longest * 4 < FEW_STEPS and space is not None and self.problem.slow_starts
        longer_steps = self.control is None or not any(k % 4 for k in self.control.between)
        halves = self.integrator.halves and longer_steps
        if halves and not few and (space is None or space > LITTLE * whole):
            longer = self._shapes(2, part)
            step = None if longer is None else _most(C[:count] - longer) / 2**self.integrator.order
        if step is None and space is None:
            return None
        step = max(whole - (space or 0.0), 0.0) if step is None else step
        space = max(whole - step, 0.0) if space is None else space
        return space / max(space + step, 1e-300)

    def _shapes(self, factor: int, clock: Clock) -> Array | None:
        """Positions (T, P, 3) of a coarser motion at the output times; None if it failed."""
        with silenced():  # a companion is coarse on purpose
            try:
                problem = self.make(coarser(self.problem, factor))
                if factor not in self._starts:
                    self._starts[factor] = self._start(problem)
                found = self._moved(problem, clock, self._starts[factor])
            except PliantError as error:
                self._failed = self._failed or str(error)
                return None
            shapes = _shapes(problem, found.q)
        return shapes if found.complete and np.isfinite(shapes).all() else None

    def _moved(self, problem: Problem, clock: Clock, start: Start) -> Trajectory:
        """A motion like it of a coarser robot."""
        control = None if self.control is None else self.control.again(problem, clock.h)
        inputs = {**self.inputs, **({} if control is None else control.signals)}
        return problem.simulate(self.integrator, inputs, clock, start, None, None, control)

    def _start(self, problem: Problem) -> Start:
        """Where the coarser motion begins."""
        given, fine = self.start, self.problem
        if given.q is None or problem is fine:
            return given
        q = None if given.still is None else self._equilibrium(problem, given.still)
        if q is None:
            q = problem.adopt(fine, given.q)
        if given.v is None or given.velocity is not None:
            return Start(q, None, given.velocity)
        return Start(q, None, fine.twists(given.q, given.v))

    def _equilibrium(self, problem: Problem, still: Still) -> Any:
        """The configuration of the coarser robot in the same equilibrium; None if it is not found."""
        share, values = still.applied[-1]
        if len(still.applied) > 1 or share != 1.0:
            return None
        try:
            q = problem.statics(values, None, SETTLED, None).solution.q
        except ConvergenceError:
            return None
        gap = _shapes(problem, [q]) - _shapes(self.problem, [still.solution.q])
        return q if _most(gap) <= SAME_BRANCH * problem.length else None


class _Grid:
    """Times at which a motion and its companions are compared, if possible at the ends of all steps.

    t : (T,) s.  configurations : of the motion at these times.
    """

    def __init__(self, clock: Clock, found: Trajectory) -> None:
        self.longest = clock.steps // 4
        """Steps of four times the length."""
        self.duration = 4 * self.longest * clock.h if clock.steps % 4 else clock.duration
        kept = self._at_long_steps(clock, found)
        most = TIMES
        if len(kept) < FEWEST_TIMES:
            rows = np.flatnonzero(clock.outputs > 0.0)
            kept = {float(clock.outputs[k]): found.q[k] for k in rows}
            most, self.duration = BETWEEN, clock.duration
        if not kept:
            kept = {clock.duration: found.final[1]}
        times = np.array(sorted(kept))
        chosen = np.unique(np.linspace(0, len(times) - 1, most).astype(int))[: len(times)]
        self.t = times[chosen]
        self.configurations = [kept[t] for t in self.t.tolist()]

    @staticmethod
    def _at_long_steps(clock: Clock, found: Trajectory) -> dict[float, Any]:
        """Configurations kept at the ends of steps of four times the length, by their time."""
        on = ~clock.between & (clock.step_of % 4 == 0) & (clock.step_of > 0)
        kept = {float(clock.outputs[k]): found.q[k] for k in np.flatnonzero(on)}
        if len(kept) < TIMES and found.watched is not None:
            steps = np.round(found.watched.t / clock.h).astype(int)
            known = {round(t / clock.h) for t in kept}
            for k in np.flatnonzero((steps % 4 == 0) & (steps > 0)):
                if steps[k] not in known:
                    kept[float(found.watched.t[k])] = found.watched.q[k]
        return kept

    def clock(self, factor: int, part: int = 1) -> Clock:
        """Steps of `factor` times the length, over a part of the motion: the first half for 2.

        More of it where no time to compare is in it.
        """
        long = self.duration / self.longest
        needed = int(np.ceil(self.t[0] / long - 1e-9))
        steps = min(max(-(-self.longest // part), needed, FEWEST_LONG), self.longest)
        duration = self.duration if steps == self.longest else long * steps
        inside = self.t[self.t <= duration * (1 + 1e-9)]
        return Clock(duration, steps * 4 // factor, np.minimum(inside, duration))


def _size(gap: Array) -> Array:
    """Largest distance (T,) at each time."""
    return np.asarray(np.linalg.norm(gap, axis=-1).max(axis=-1))


def _most(gap: Array) -> float:
    return float(_size(gap).max())


def _shapes(problem: Problem, configurations: Any) -> Array:
    """Positions (T, P, 3) of sections of all rods and of points of all bodies, m."""
    sections = problem.description.stations(SECTIONS).items()
    bodies = problem.description.bodies.values()
    rows = [
        [problem.sampler.poses(q, name, s)[:, :3, 3] for name, s in sections]
        + [_points(problem, q, body) for body in bodies]
        for q in configurations
    ]
    return np.array([np.concatenate(row) for row in rows])


def _points(problem: Problem, q: Any, body: Body) -> Array:
    """The centre of mass of a body (3, 3), and two points beside it at its radius of gyration."""
    g = problem.frame(q, body.at(body.centre))
    inertia, _ = body.principal()
    radius = np.sqrt(float(inertia[:3].max()) / max(body.mass, 1e-300))
    return np.asarray(g[:3, 3] + radius * np.array([np.zeros(3), g[:3, 0], g[:3, 1]]))
