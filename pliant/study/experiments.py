"""Experiments: a robot with given parameters predicts the measured columns and their derivatives.

Derivatives are differences between *neighbours*: results of the robot with one parameter changed a
little. An equilibrium of a coordinate formulation is corrected by Newton's method from the known one,
dq/dp = -K^-1 dr/dp; a motion is corrected step by step with the factorised tangents of the known one
(`pliant.solve.sensitivities`); anything else is solved again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
    values_at,
)
from pliant.model.telling import untold
from pliant.robot import Robot
from pliant.study.neighbours import neighbouring_equilibrium, neighbouring_motions, refuse_impacts
from pliant.study.outputs import CachedResult, Probe, infer
from pliant.study.parameters import Variables
from pliant.study.task import Task

STATIC_STEP = 1e-4
"""Step in z of the central differences of equilibria, which are known to many digits."""
MOTION_STEP = 3e-4
"""Step in z of the central differences of simulated motions, above the errors of the solver."""
NEIGHBOUR_STEP = 1e-5
"""Step in z of the one-sided differences of neighbouring motions, whose solver errors cancel."""
GAP = 5.0
"""Longest gap between rows, in median intervals, over which input columns are interpolated."""
MOST_STEPS = 20_000_000
"""Largest number of steps; more means that the column does not hold times in seconds."""
FAR = 3.0
"""Farthest plausible distance from the clamp, in lengths of all rods up to the point."""


@dataclass
class Family:
    """The robot with any values of its parameters.

    sensitivities : "auto", or "differences" to solve every neighbour from scratch.
    solves, followed : number of simulations or static solves, and of neighbours corrected from a
        known result.
    """

    robot: Robot
    variables: Variables
    formulation: Any
    sensitivities: str = "auto"
    solves: int = 0
    followed: int = 0

    def at(self, z: Array) -> Robot:
        """Return the robot with the parameters at z (P,)."""
        return Robot._from(self.variables.described(z), self.robot.inputs)

    def differences(
        self, z: Array, y: Array, step: float, predict: Callable[[Array], Array]
    ) -> Array:
        """Return central differences (N, C, P) of predict(z) (N, C), which is y at z."""
        columns = []
        for j, item in enumerate(self.variables.items):
            low, high = z.copy(), z.copy()
            low[j], high[j] = max(z[j] - step, item.low), min(z[j] + step, item.high)
            below, above = (y if side[j] == z[j] else predict(side) for side in (low, high))
            columns.append((above - below) / (high[j] - low[j]))
        return np.stack(columns, axis=-1)


class Experiment(ABC):
    """One measurement of one robot.

    moving : whether it is a motion.  t : (N,) s, or row numbers of load cases.
    target : (N, C) measured values in the compared rows and columns, NaN where missing.
    there : (N, C) True where measured.  rows : (N,) their numbers in the measurement.
    input_columns : names of columns that are inputs.  units : of these, by name.  empty : output
    columns without a number in these rows, which are ignored.  unused : columns that are neither
    inputs nor outputs.  known_inputs : of the robot.  notes : how the measurement is read.
    """

    moving: bool
    t: Array
    signal: tuple[Experiment, Array] | None = None
    """The motion of which features are compared, and what was last computed of it (N, C)."""

    def __init__(self, measurement: Measurement, probes: list[Probe], robot: Robot) -> None:
        self.measurement = measurement
        self.notes: list[str] = []
        known = robot.description.inputs()
        given = {**robot.inputs, **measurement.inputs}
        for name in given:
            if name not in known:
                raise DescriptionError(
                    measurement.label, f"inputs[{name!r}]", given[name],
                    "given by the name of an input of the robot",
                    f"choose from {', '.join(known) or 'none: the robot has no input'}",
                )  # fmt: skip
        asked = {probe.column for probe in probes}
        self.input_columns = [n for n in measurement.columns if n in known and n not in asked]
        used = {measurement.time, *asked, *self.input_columns}
        rest = [n for n in measurement.columns if n not in used]
        outputs = {probe.column for probe in infer(robot.description, rest)}
        self.unused = [n for n in rest if n not in outputs]
        self.known_inputs = list(known)
        owner = robot.description.input_owner
        self.units = {name: owner(name).input_unit(name) for name in self.input_columns}
        self.inputs: Mapping[str, Any] = given
        for name in self.input_columns:
            measurement.complete(name, "an input of the robot")
        self.rows = np.flatnonzero(measurement.compared)
        values = {p.column: measurement.column(p.column)[self.rows] for p in probes}
        self.probes = [p for p in probes if not np.isnan(values[p.column]).all()]
        refuse(
            not self.probes,
            measurement.label,
            "columns",
            list(values),
            "measured in one row or more",
            "give numbers, or another window",
        )
        self.target = np.stack([values[p.column] for p in self.probes], axis=1)
        self.empty = [p.column for p in probes if p not in self.probes]
        check_positions(robot.description, measurement.label, self.probes, self.target)

    @property
    def there(self) -> NDArray[np.bool_]:
        """(N, C): True for measured cells."""
        return ~np.isnan(self.target)

    @abstractmethod
    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        """Return predictions (N, C) and, if asked, their derivatives in z (N, C, P)."""

    def only_input(self) -> tuple[str, Array] | None:
        """Label and values (N,) of the input that varies between load cases, if there is only one."""
        if self.moving or len(self.input_columns) != 1:
            return None
        name = self.input_columns[0]
        label = " / ".join(filter(None, (name, self.units[name])))
        return label, self.measurement.column(name)[self.rows]

    def _unwrapped(self, y: Array) -> Array:
        """Return predictions (N, C) with angles shifted by full turns towards the measured ones.

        Missing measurements are interpolated.
        """
        for k, probe in enumerate(self.probes):
            if probe.periodic:
                there = self.there[:, k]
                near = np.interp(self.rows, self.rows[there], self.target[there, k])
                y[:, k] += 2 * np.pi * np.round((near - y[:, k]) / (2 * np.pi))
        return y


class LoadCases(Experiment):
    """Equilibria, one for each row with a measured value."""

    moving = False

    def __init__(self, measurement: Measurement, probes: list[Probe], robot: Robot) -> None:
        super().__init__(measurement, probes, robot)
        some = self.there.any(axis=1)
        self.rows, self.target = self.rows[some], self.target[some]
        self.t = self.rows.astype(float)
        fixed = values_at(self.inputs, 0.0)
        self.cases = [
            {**fixed, **{name: float(measurement.column(name)[k]) for name in self.input_columns}}
            for k in self.rows
        ]

    def solve(self, robot: Robot, formulation: Any) -> list[Any]:
        """Return the equilibria of a robot in this experiment."""
        with untold():  # at the end of a fit, `resolution_warnings` tells
            return [robot.statics(case, formulation) for case in self.cases]

    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        robot = family.at(z)
        equilibria = self.solve(robot, family.formulation)
        family.solves += len(equilibria)
        y = self._predicted(equilibria, robot.description)
        if not slopes:
            return y, None

        def predict(side: Array) -> Array:
            near = family.at(side)
            pairs = zip(equilibria, self.cases, strict=True)
            results = [self._neighbour(family, near, still, case) for still, case in pairs]
            return self._predicted(results, near.description)

        return y, family.differences(z, y, STATIC_STEP, predict)

    def _neighbour(self, family: Family, robot: Robot, still: Any, case: Mapping[str, Any]) -> Any:
        """Return the equilibrium of a robot that differs little from that of `still`."""
        if family.sensitivities == "auto":
            near = neighbouring_equilibrium(still, robot._compiler, case)
            if near is not None:
                family.followed += 1
                return near
        family.solves += 1
        with untold():
            return robot.statics(case, family.formulation)

    def _predicted(self, results: list[Any], robot: Description) -> Array:
        cached = [CachedResult(result) for result in results]
        rows = [[float(p.ask(result, robot)) for p in self.probes] for result in cached]
        return self._unwrapped(np.array(rows))


def check_positions(
    description: Description, label: str, probes: Iterable[Probe], target: Array
) -> None:
    """Refuse positions much farther from the clamp of a robot than it is long.

    label : of the measurement, for messages.  target : (N, C) measured values of the probes. Free
    rods and rods with a prescribed base may be anywhere.
    """
    for k, probe in enumerate(probes):
        if probe.position is None:
            continue
        rod, axis, offset = probe.position
        limits = _clamp_and_reach(description, rod)
        if limits is None:
            continue
        clamp, reach = limits[0][axis], limits[1] + offset
        away = np.abs(target[:, k] - clamp)
        if np.nanmax(away) > FAR * reach:
            row = int(np.nanargmax(away))
            raise DescriptionError(
                label, f"column {probe.column!r}", float(target[row, k]),
                f"a position in metres within reach of the robot, which reaches {reach:.3g} m from "
                f"{clamp:.3g} m",
                "convert it to metres, in the axes of the robot",
            )  # fmt: skip


def _clamp_and_reach(description: Description, rod: str) -> tuple[Array, float] | None:
    """World position (3,) of the clamp at the root of a rod's chain, and the length of the chain, m."""
    reach = 0.0
    while True:
        part = description.rods[rod]
        if part.base is None or description.motions_of(rod):
            return None
        reach += float(part.length)
        place = np.asarray(part.pose, dtype=float)[:3, 3]
        if isinstance(part.base, str):
            return place, reach
        reach += float(np.linalg.norm(place) + np.linalg.norm(part.base.offset))
        if part.base.part not in description.rods:
            return None
        rod = part.base.part


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
        gap = np.append(False, np.diff(t) > GAP * self.interval)
        gap[self.rows[-1] + 1 :] = False
        before = float(t[max(int(gap.argmax()) - 1, 0)])
        self.measurement.refuse_rows(
            str(self.measurement.time),
            gap,
            t,
            f"without a gap, because {self.input_columns[0]!r} is an input (the row before is at "
            f"{before:g} s, the usual interval is {self.interval:g} s)",
            "add rows with the inputs and leave the cells of outputs empty, split the file "
            "there, or give the input as a function of time",
        )

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
        moves = name in robot.description.input_owner(name).motion_inputs() and len(t) > 3
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
        with untold():  # at the end of a fit, `energy_warnings` tells
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
