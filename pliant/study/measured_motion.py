"""Motions as experiments: when they begin, the time steps through their rows, and the prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.files.measurement import Measurement
from pliant.model import (
    Array,
    ConvergenceError,
    Description,
    DescriptionError,
    Signal,
    TimeTable,
    refuse,
)
from pliant.robot import Robot
from pliant.study.experiments import Experiment, Family
from pliant.study.neighbours import neighbouring_motions, refuse_impacts
from pliant.study.outputs import CachedResult, Probe
from pliant.study.task import Task

MOTION_STEP = 3e-4
"""Step in z of the central differences of simulated motions, above the errors of the solver."""
NEIGHBOUR_STEP = 1e-5
"""Step in z of the one-sided differences of neighbouring motions, whose solver errors cancel."""
GAP = 5.0
"""Longest gap between rows, in median intervals, over which input columns are interpolated."""
MOST_STEPS = 20_000_000
"""Largest number of steps; more means that the column does not hold times in seconds."""


class SmoothTable(Signal):
    """A cubic spline through values (N,) at times t (N,), s, constant before and after them.

    A prescribed base needs a velocity and an acceleration, which a piecewise linear table lacks.
    """

    def __init__(self, t: Array, values: Array) -> None:
        self._ends = float(t[0]), float(t[-1])
        self._spline = CubicSpline(t, values)

    def __call__(self, t: float) -> float:
        """Return the value at time ``t``, s."""
        return float(self._spline(min(max(t, self._ends[0]), self._ends[1])))

    def _derivative(self, t: float, order: int) -> float:
        return float(self._spline(t, order)) if self._ends[0] <= t <= self._ends[1] else 0.0

    def rate(self, t: float) -> float:
        """Return the first derivative at time ``t``, per second."""
        return self._derivative(t, 1)

    def acceleration(self, t: float) -> float:
        """Return the second derivative at time ``t``, per second squared."""
        return self._derivative(t, 2)


class MotionRun(Experiment):
    """A motion, compared at the measured times.

    dt : requested step, s; shortened so that evenly spaced rows lie on steps. None takes the interval
    between rows, and at least 200 steps.

    t : (N,) measured times of the rows, s.  interval : between rows, s.  origin : the time at which
    the motion begins, s: 0, or the first time of a file with inputs whose clock did not start at 0.
    on_grid : whether all rows lie on steps.
    """

    moving = True

    def __init__(
        self,
        measurement: Measurement,
        probes: list[Probe],
        robot: Robot,
        dt: float | None,
        integrator: Any,
    ) -> None:
        super().__init__(measurement, probes, robot)
        assert measurement.t is not None
        t = measurement.t
        self.t = t[self.rows]
        self.integrator = integrator
        self.interval = float(np.median(np.diff(t)))
        self.origin = 0.0
        if self.input_columns:
            self._check_gaps(t)
            if t[0] > GAP * self.interval:
                self._begin_late(float(t[0]))
        self.duration, self.steps, self.on_grid = self._grid(dt)
        signals = {name: self._column_signal(robot, name) for name in self.input_columns}
        self.schedule: Mapping[str, Any] = {**self.inputs, **signals}
        self.rates = any(probe.rates for probe in probes)

    def _check_gaps(self, t: Array) -> None:
        """Refuse gaps over which input columns cannot be interpolated."""
        gap = np.flatnonzero(np.diff(t[: self.rows[-1] + 1]) > GAP * self.interval)
        if len(gap):
            row = int(gap[0]) + 1
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}, row {row + 1}",
                float(t[row]),
                f"without a gap, because {self.input_columns[0]!r} is an input (the row before is at "
                f"{t[row - 1]:g} s, the usual interval is {self.interval:g} s)",
                "add rows with the inputs and leave the cells of outputs empty, split the file "
                "there, or give the input as a function of time",
            )  # fmt: skip

    def _begin_late(self, first: float) -> None:
        """Begin at the time of the first row, because the inputs before it are unknown."""
        columns = self.input_columns
        timed = [n for n, value in self.inputs.items() if n not in columns and callable(value)]
        if timed:
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}, row 1", first,
                f"about 0 s, because {columns[0]!r} is not known before it and {timed[0]!r} is a "
                "function of the time since 0 s",
                "count time from the start of the motion",
            )  # fmt: skip
        self.origin = first
        self.notes.append(
            f"{self.measurement.name} begins at {first:.12g} s: the motion is taken to begin there"
        )

    def _grid(self, dt: float | None) -> tuple[float, int, bool]:
        """Duration, s, number of steps and whether all rows lie on steps."""
        t = self._times
        requested = dt if dt is not None else min(self.interval, float(t[-1]) / 200)
        refuse(
            t[-1] > MOST_STEPS * requested,
            self.measurement.label,
            f"column {self.measurement.time!r}",
            float(t[-1]),
            f"seconds since the start of the motion, up to {MOST_STEPS:g} steps of {requested:g} s",
            "count time from the start, or give a longer dt",
        )
        part = self.interval / max(1, int(np.ceil(self.interval / requested - 1e-6)))
        numbers = np.round(t / part)
        if np.abs(t - numbers * part).max() <= 1e-6 * part and numbers[-1] >= 1:
            return float(t[-1]), int(numbers[-1]), True
        return float(t[-1]), max(4, int(np.ceil(t[-1] / requested - 1e-6))), False

    @property
    def _times(self) -> Array:
        """(N,) times of the rows since the motion began, s."""
        return self.t - self.origin

    def _column_signal(self, robot: Robot, name: str) -> Signal:
        """A column over time: linear between rows, smooth if it prescribes a base."""
        assert self.measurement.t is not None
        t, values = self.measurement.t - self.origin, self.measurement.column(name)
        moves = robot.description.input_owner(name).prescribes and len(t) > 3
        return SmoothTable(t, values) if moves else TimeTable(t, values)

    @property
    def h(self) -> float:
        """Length of a step, s."""
        return self.duration / self.steps

    @property
    def outputs(self) -> Array | None:
        """Output times: the measured ones, or every step (None)."""
        return self._times if self.on_grid else None

    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        if slopes and family.sensitivities == "auto":
            neighbours = self._neighbours(family, z)
            if neighbours is not None:
                return neighbours
        y = self._simulated(family, z)
        if not slopes:
            return y, None
        return y, family.differences(z, y, MOTION_STEP, lambda side: self._simulated(family, side))

    def _neighbours(self, family: Family, z: Array) -> tuple[Array, Array] | None:
        """Predictions and derivatives by neighbouring motions, None if the solver has none."""
        highest = np.array([item.high for item in family.variables.items])
        steps = np.where(z + NEIGHBOUR_STEP <= highest, NEIGHBOUR_STEP, -NEIGHBOUR_STEP)
        robots = [family.at(point) for point in (z, *(z + np.diag(steps)))]
        compilers = [robot._compiler for robot in robots]
        motions = neighbouring_motions(compilers, family.formulation, self)
        if motions is None:
            return None
        family.solves += 1
        family.followed += len(steps)
        pairs = zip(motions, robots, strict=True)
        y, *sides = [self._predicted(motion, robot.description) for motion, robot in pairs]
        return y, (np.stack(sides, axis=-1) - y[..., None]) / steps

    def _simulated(self, family: Family, z: Array) -> Array:
        robot = family.at(z)
        motion = self.simulate(robot, family.formulation)
        family.solves += 1
        return self._predicted(motion, robot.description)

    def simulate(self, robot: Robot, formulation: Any) -> Any:
        """Return the motion of a robot in this experiment."""
        refuse_impacts(robot._compiler.compiled(formulation))
        start, velocity = self.measurement.start, self.measurement.velocity
        task = Task("fit", robot, self.schedule, self.duration, self.integrator, start, velocity)
        motion = task.solve(formulation, self.h, times=self.outputs)
        if not motion.complete:
            raise ConvergenceError("the simulation was interrupted", motion)
        return motion

    def _predicted(self, motion: Any, robot: Description) -> Array:
        cached = CachedResult(motion)
        y = np.stack([np.asarray(p.ask(cached, robot)) for p in self.probes], axis=1)
        if not self.on_grid:
            for k, probe in enumerate(self.probes):
                if probe.periodic:
                    y[:, k] = np.unwrap(y[:, k])
            y = CubicSpline(np.asarray(motion.t), y)(self._times)
        return self._unwrapped(y)
