"""Motions as experiments: when they begin, the time steps through their rows, and the prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from pliant.model import (
    Array,
    ConvergenceError,
    Description,
    DescriptionError,
    Signal,
    TimeTable,
)
from pliant.model.measurement import Measurement
from pliant.results.sensitivities import neighbouring_motions, refuse_impacts
from pliant.robot import Robot
from pliant.study.experiments import Experiment, Family
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


class TimeGrid:
    """The times of a measured motion.

    rows : (N,) compared rows of the measurement.  input_columns : names of columns that are inputs.
    inputs : all inputs by name.

    origin : the time at which the motion begins, s: 0, or the first time of a file with inputs whose
    clock did not start at 0.  notes : a remark in that case.
    """

    def __init__(
        self,
        measurement: Measurement,
        rows: NDArray[np.int64],
        input_columns: list[str],
        inputs: Mapping[str, Any],
    ) -> None:
        assert measurement.t is not None
        self.measurement = measurement
        self.t, self.rows = measurement.t, rows
        self.interval = float(np.median(np.diff(self.t)))
        self.origin = 0.0
        self.notes: list[str] = []
        if input_columns:
            self._check_gaps(input_columns)
            if self.t[0] > GAP * self.interval:
                others = [name for name in inputs if name not in input_columns]
                self._begin_late(input_columns, [name for name in others if callable(inputs[name])])

    def steps(self, dt: float | None) -> tuple[float, int, bool]:
        """Return duration, s, number of steps and whether all rows lie on steps.

        dt : requested step, s; shortened so that evenly spaced rows lie on steps. None takes the
        interval between rows, and at least 200 steps.
        """
        t = self.t[self.rows] - self.origin
        requested = dt if dt is not None else min(self.interval, float(t[-1]) / 200)
        if t[-1] > MOST_STEPS * requested:
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}", float(t[-1]),
                f"seconds since the start of the motion, up to {MOST_STEPS:g} steps of {requested:g} s",
                "count time from the start, or give a longer dt",
            )  # fmt: skip
        part = self.interval / max(1, int(np.ceil(self.interval / requested - 1e-6)))
        numbers = np.round(t / part)
        if np.abs(t - numbers * part).max() <= 1e-6 * part and numbers[-1] >= 1:
            return float(t[-1]), int(numbers[-1]), True
        steps = max(4, int(np.ceil(t[-1] / requested - 1e-6)))
        return float(t[-1]), steps, False

    def _check_gaps(self, input_columns: list[str]) -> None:
        """Refuse gaps over which input columns cannot be interpolated."""
        t = self.t
        gap = np.flatnonzero(np.diff(t[: self.rows[-1] + 1]) > GAP * self.interval)
        if len(gap):
            row = int(gap[0]) + 1
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}, row {row + 1}",
                float(t[row]),
                f"without a gap, because {input_columns[0]!r} is an input (the row before is at "
                f"{t[row - 1]:g} s, the usual interval is {self.interval:g} s)",
                "add rows with the inputs and leave the cells of outputs empty, split the file "
                "there, or give the input as a function of time",
            )  # fmt: skip

    def _begin_late(self, input_columns: list[str], timed: list[str]) -> None:
        """Begin at the first row, because the inputs before it are unknown."""
        first = float(self.t[0])
        if timed:
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}, row 1", first,
                f"about 0 s, because {input_columns[0]!r} is not known before it and {timed[0]!r} is a "
                "function of the time since 0 s",
                "count time from the start of the motion",
            )  # fmt: skip
        self.origin = first
        self.notes.append(
            f"{self.measurement.name} begins at {first:.12g} s: the motion is taken to begin there"
        )


class SmoothTable(Signal):
    """A cubic spline through values (N,) at times t (N,), s, constant before and after them.

    A prescribed base needs a velocity and an acceleration, which a piecewise linear table lacks.
    """

    def __init__(self, t: Array, values: Array) -> None:
        self._ends = float(t[0]), float(t[-1])
        self._values = CubicSpline(t, values)
        self._rates = self._values.derivative()
        self._accelerations = self._values.derivative(2)

    def __call__(self, t: float) -> float:
        """Return the value at time ``t``, s."""
        return float(self._values(min(max(t, self._ends[0]), self._ends[1])))

    def rate(self, t: float) -> float:
        """Return the first derivative at time ``t``, per second."""
        return float(self._rates(t)) if self._ends[0] <= t <= self._ends[1] else 0.0

    def acceleration(self, t: float) -> float:
        """Return the second derivative at time ``t``, per second squared."""
        return float(self._accelerations(t)) if self._ends[0] <= t <= self._ends[1] else 0.0


class MotionRun(Experiment):
    """A motion, compared at the measured times.

    dt : requested step, s; shortened so that evenly spaced rows lie on steps.

    t : (N,) measured times of the rows, s.  origin : the time at which the motion begins, as of
    `TimeGrid`.
    """

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
        grid = TimeGrid(measurement, self.rows, self.input_columns, self.inputs)
        self.origin, self.notes = grid.origin, grid.notes
        self.duration, self.steps, self.on_grid = grid.steps(dt)
        self.schedule: Mapping[str, Any] = {
            **self.inputs,
            **{name: self._column_signal(robot, name) for name in self.input_columns},
        }
        self.rates = any(probe.rates for probe in probes)

    @property
    def _times(self) -> Array:
        """(N,) times of the rows since the motion began, s."""
        return self.t - self.origin

    def _column_signal(self, robot: Robot, name: str) -> Signal:
        """A column over time: linear between rows, smooth if it prescribes a base."""
        t, values = self.measurement.t, self.measurement.column(name)
        assert t is not None
        t = t - self.origin
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
        family.counts.solves += 1
        family.counts.followed += len(steps)
        pairs = zip(motions, robots, strict=True)
        y, *sides = [self._predicted(motion, robot.description) for motion, robot in pairs]
        return y, (np.stack(sides, axis=-1) - y[..., None]) / steps

    def _simulated(self, family: Family, z: Array) -> Array:
        robot = family.at(z)
        motion = self.simulate(robot, family.formulation)
        family.counts.solves += 1
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
