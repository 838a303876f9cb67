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

from pliant.files.measurement import Measurement
from pliant.model import Array, Description, DescriptionError, refuse, values_at
from pliant.robot import Robot
from pliant.study.neighbours import neighbouring_equilibrium
from pliant.study.outputs import CachedResult, Probe, infer
from pliant.study.parameters import Variables

STATIC_STEP = 1e-4
"""Step in z of the central differences of equilibria, which are known to many digits."""


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
        self.units = {n: robot.description.input_owner(n).input_unit for n in self.input_columns}
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

    def evaluate(self, family: Family, z: Array, slopes: bool) -> tuple[Array, Array | None]:
        robot = family.at(z)
        equilibria = [robot.statics(case, family.formulation) for case in self.cases]
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
        return robot.statics(case, family.formulation)

    def _predicted(self, results: list[Any], robot: Description) -> Array:
        cached = [CachedResult(result) for result in results]
        rows = [[float(p.ask(result, robot)) for p in self.probes] for result in cached]
        return self._unwrapped(np.array(rows))


FAR = 3.0
"""Farthest plausible distance from the clamp, in lengths of all rods up to the point."""


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
