"""Measurements as experiments: a robot at given parameters predicts every column, and its slopes.

Slopes come from *neighbours*: results of the robot with one parameter a little off. How a neighbour
is found depends on what the solver offers. An equilibrium of a coordinate formulation takes one
Newton correction from the equilibrium that is known, which is dq/dp = -K^-1 dr/dp; a motion is
followed step by step with the factor of the step that is known (`pliant.solve.sensitivities`); anything
else is solved anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from pliant.results.neighbours import follow_equilibrium, follow_motions
from pliant.robot import Robot
from pliant.study.outputs import Probe, Remembering, infer
from pliant.study.parameters import Variables
from pliant.study.reach import check_reach
from pliant.study.smooth import SmoothTable
from pliant.study.timing import Timing

STATIC_STEP = 1e-4
"""Step in z for equilibria, both ways: they are known to many digits."""
MOTION_STEP = 3e-4
"""Step in z for motions that are simulated anew, both ways: above what the solver leaves."""
FOLLOW_STEP = 1e-5
"""Step in z for motions that are followed, one way: errors of the solver cancel."""


@dataclass
class Counts:
    """What was computed: whole simulations or static solves, and neighbours that were followed."""

    solves: int = 0
    followed: int = 0


@dataclass
class Family:
    """The robot at any parameters.

    sensitivities : "auto", or "differences" to solve every neighbour anew.
    """

    robot: Robot
    variables: Variables
    formulation: Any
    sensitivities: str = "auto"
    counts: Counts = field(default_factory=Counts)

    def at(self, z: Array) -> Robot:
        """Return the robot with the parameters at z (P,)."""
        return Robot._from(self.variables.described(z), self.robot.inputs)

    def sides(self, z: Array, j: int, step: float) -> tuple[Array, Array]:
        """Return z with entry j lowered and raised by a step, as far as its bounds allow."""
        item = self.variables.items[j]
        low, high = z.copy(), z.copy()
        low[j], high[j] = max(z[j] - step, item.low), min(z[j] + step, item.high)
        return low, high


class Experiment(ABC):
    """One measurement of one robot.

    target : (N, C) measured values in the rows and columns that are compared, NaN where missing.
    there : (N, C) which of them are not missing.  rows : (N,) of the measurement.
    empty : columns of outputs without a number in these rows, which are left aside.
    unused : columns that are neither inputs nor could be outputs.  known_inputs : of the robot.
    pressures : those that are in Pa.  notes : sentences about how the measurement is understood.
    """

    def __init__(self, measurement: Measurement, probes: list[Probe], robot: Robot) -> None:
        self.measurement = measurement
        self.notes: list[str] = []
        known = robot.description.inputs()
        given = {**robot.inputs, **measurement.inputs}
        for name in given:
            if name not in known:
                raise DescriptionError(
                    measurement.label, f"inputs[{name!r}]", given[name],
                    "filed under the name of an input of the robot",
                    f"choose from {', '.join(known) or 'none, for it has no input'}",
                )  # fmt: skip
        asked = {probe.column for probe in probes}
        self.driving = [n for n in measurement.columns if n in known and n not in asked]
        used = {measurement.time, *asked, *self.driving}
        rest = [n for n in measurement.columns if n not in used]
        outputs = {probe.column for probe in infer(robot.description, rest)}
        self.unused = [n for n in rest if n not in outputs]
        self.known_inputs = list(known)
        self.pressures = set(robot.description.chambers)
        self.inputs: Mapping[str, Any] = given
        for name in self.driving:
            measurement.complete(name, "an input of the robot")
        self.rows = np.flatnonzero(measurement.compared)
        whole = {p.column: measurement.column(p.column)[self.rows] for p in probes}
        self.probes = [p for p in probes if not np.isnan(whole[p.column]).all()]
        if not self.probes:
            raise DescriptionError(
                measurement.label, "columns", list(whole), "measured in one row or more",
                "give numbers, or another window",
            )  # fmt: skip
        self.target = np.stack([whole[p.column] for p in self.probes], axis=1)
        self.empty = [p.column for p in probes if p not in self.probes]
        check_reach(robot.description, measurement.label, self.probes, self.target)

    @property
    def there(self) -> NDArray[np.bool_]:
        """(N, C): which cells were measured."""
        return ~np.isnan(self.target)

    @abstractmethod
    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        """Return predictions (N, C) and, if asked, their derivatives in z (N, C, P)."""

    def _turned(self, found: Array) -> Array:
        """Return predictions with angles moved by full turns next to what was measured.

        Where that is missing, next to the line between the rows that are there.
        """
        for k, probe in enumerate(self.probes):
            if probe.periodic:
                there = self.there[:, k]
                near = np.interp(self.rows, self.rows[there], self.target[there, k])
                found[:, k] += 2 * np.pi * np.round((near - found[:, k]) / (2 * np.pi))
        return found


class LoadCases(Experiment):
    """Equilibria, one for each row in which something was measured."""

    def __init__(self, measurement: Measurement, probes: list[Probe], robot: Robot) -> None:
        super().__init__(measurement, probes, robot)
        some = self.there.any(axis=1)
        self.rows, self.target = self.rows[some], self.target[some]
        fixed = {k: v(0.0) if callable(v) else v for k, v in self.inputs.items()}
        self.cases = [
            {**fixed, **{name: float(measurement.column(name)[k]) for name in self.driving}}
            for k in self.rows
        ]

    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        robot = family.at(z)
        found = [robot.statics(case, family.formulation) for case in self.cases]
        family.counts.solves += len(found)
        y = self._ask(found, robot.description)
        if not slopes:
            return y, None
        columns = []
        for j in range(len(z)):
            low, high = family.sides(z, j, STATIC_STEP)
            ends = []
            for side in (low, high):
                near = self._near(family, found, side) if side[j] != z[j] else (found, robot)
                ends.append(self._ask(near[0], near[1].description))
            columns.append((ends[1] - ends[0]) / (high[j] - low[j]))
        return y, np.stack(columns, axis=-1)

    def _near(self, family: Family, found: list[Any], side: Array) -> tuple[list[Any], Robot]:
        """Return the equilibria of the robot at `side`, next to those found."""
        robot = family.at(side)
        results = []
        for still, case in zip(found, self.cases, strict=True):
            near = None
            if family.sensitivities == "auto":
                near = follow_equilibrium(still, robot._compiler, case)
            if near is None:
                near = robot.statics(case, family.formulation)
                family.counts.solves += 1
            else:
                family.counts.followed += 1
            results.append(near)
        return results, robot

    def _ask(self, results: list[Any], robot: Description) -> Array:
        asked = [Remembering(result) for result in results]
        rows = [[float(p.ask(result, robot)) for p in self.probes] for result in asked]
        return self._turned(np.array(rows))


class MotionRun(Experiment):
    """A motion, compared at the measured times.

    dt : wished step, s; shortened so that evenly spaced rows fall on steps.

    t : (N,) times of the rows as measured, s.  origin : the one at which the motion begins: 0, or that
    of the first row where the clock of a file with its inputs was running before.
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
        timing = Timing(measurement, self.rows, self.driving, self.inputs)
        self.origin, self.notes = timing.origin, timing.notes
        self.duration, self.steps, self.on_grid = timing.grid(dt)
        self.schedule: Mapping[str, Any] = {
            **self.inputs,
            **{name: self._column_signal(robot, name) for name in self.driving},
        }
        self.rates = any(probe.rates for probe in probes)

    @property
    def _times(self) -> Array:
        """(N,) times of the rows since the motion began, s."""
        return self.t - self.origin

    def _column_signal(self, robot: Robot, name: str) -> Signal:
        """A column over time: linear between rows, smooth for what moves a base."""
        t, values = self.measurement.t, self.measurement.column(name)
        assert t is not None
        t = t - self.origin
        moves = name in robot.description.base_motions and len(t) > 3
        return SmoothTable(t, values) if moves else TimeTable(t, values)

    @property
    def h(self) -> float:
        """Length of a step, s."""
        return self.duration / self.steps

    @property
    def outputs(self) -> Array | None:
        """Times at which states are kept: the measured ones, or every step (None)."""
        return self._times if self.on_grid else None

    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        if slopes and family.sensitivities == "auto":
            sides = []
            for j, item in enumerate(family.variables.items):
                side = z.copy()
                side[j] += FOLLOW_STEP if z[j] + FOLLOW_STEP <= item.high else -FOLLOW_STEP
                sides.append(side)
            robots = [family.at(point) for point in (z, *sides)]
            found = follow_motions([robot._compiler for robot in robots], family.formulation, self)
            if found is not None:
                family.counts.solves += 1
                family.counts.followed += len(sides)
                asked = [self._ask(m, r.description) for m, r in zip(found, robots, strict=True)]
                steps = [side[j] - z[j] for j, side in enumerate(sides)]
                columns = [(y - asked[0]) / d for y, d in zip(asked[1:], steps, strict=True)]
                return asked[0], np.stack(columns, axis=-1)
        y = self._simulated(family, z)
        if not slopes:
            return y, None
        columns = []
        for j in range(len(z)):
            low, high = family.sides(z, j, MOTION_STEP)
            ends = [y if side[j] == z[j] else self._simulated(family, side) for side in (low, high)]
            columns.append((ends[1] - ends[0]) / (high[j] - low[j]))
        return y, np.stack(columns, axis=-1)

    def _simulated(self, family: Family, z: Array) -> Array:
        robot = family.at(z)
        found = self.simulate(robot, family.formulation)
        family.counts.solves += 1
        return self._ask(found, robot.description)

    def simulate(self, robot: Robot, formulation: Any) -> Any:
        """Return the motion of a robot in this experiment."""
        start: Any = self.measurement.start
        if isinstance(start, Mapping):
            start = robot.statics({**self._at_once(), **start}, formulation)
        found = robot.simulate(
            self.duration,
            self.h,
            inputs=self.schedule,
            start=start,
            velocity=self.measurement.velocity,
            formulation=formulation,
            integrator=self.integrator,
            output_times=self.outputs,
        )
        if not found.complete:
            raise ConvergenceError("the simulation was interrupted", found)
        return found

    def _at_once(self) -> dict[str, Any]:
        return {k: v(0.0) if callable(v) else v for k, v in self.schedule.items()}

    def _ask(self, motion: Any, robot: Description) -> Array:
        asked = Remembering(motion)
        found = np.stack([np.asarray(p.ask(asked, robot)) for p in self.probes], axis=1)
        if not self.on_grid:
            for k, probe in enumerate(self.probes):
                if probe.periodic:
                    found[:, k] = np.unwrap(found[:, k])
            found = CubicSpline(np.asarray(motion.t), found)(self._times)
        return self._turned(found)


def make_experiment(
    measurement: Measurement, probes: list[Probe], robot: Robot, dt: float | None, integrator: Any
) -> Experiment:
    """Return the experiment that a measurement is."""
    if measurement.t is None:
        return LoadCases(measurement, probes, robot)
    return MotionRun(measurement, probes, robot, dt, integrator)
