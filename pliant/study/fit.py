"""Identification: parameters of any robot from measurements of it."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.files.measurement import read_measurement
from pliant.model import Array, DescriptionError
from pliant.model.checks import choice, positive
from pliant.model.measurement import Measurement
from pliant.results.fit import Fit, FitData, FitReport, FitWarning
from pliant.robot import Robot
from pliant.solve.compiled import choose_formulations
from pliant.study.experiments import Experiment, Family, MotionRun, make_experiment
from pliant.study.least_squares import Minimum, minimise
from pliant.study.noise import first_noise, size_of, too_few
from pliant.study.outputs import Probe, infer, probes
from pliant.study.parameters import Variables, variables
from pliant.study.suspicions import (
    column_warnings,
    noise_warnings,
    residual_warnings,
    start_warnings,
)
from pliant.study.uncertainty import estimates, judged

ROUNDS = 4
"""How often the noise is estimated anew and the search repeated."""


@dataclass(frozen=True)
class _Setting:
    """How measurements become experiments."""

    robot: Robot
    outputs: list[Any] | None
    inputs: Mapping[str, Any]
    dt: float | None
    integrator: Any

    def experiments(self, data: object, name: str) -> list[Experiment]:
        """Return the experiments of a measurement, a file, or a list of them."""
        items = data if isinstance(data, (list, tuple)) else [data]
        if not items:
            raise DescriptionError("fit", name, data, "one measurement or more", "give a file")
        found = []
        for item in items:
            if isinstance(item, (str, os.PathLike)):
                item = read_measurement(item)
            if not isinstance(item, Measurement):
                raise DescriptionError(
                    "fit", name, item, "a Measurement or the path of a CSV file",
                    "read it with read_measurement(path)",
                )  # fmt: skip
            if self.inputs:
                mixed = {**self.inputs, **item.inputs}
                item = Measurement(**{**vars(item), "inputs": mixed})
            asked = self._probes(item)
            found.append(make_experiment(item, asked, self.robot, self.dt, self.integrator))
        return found

    def _probes(self, item: Measurement) -> list[Probe]:
        description = self.robot.description
        if self.outputs is not None:
            return probes(description, self.outputs)
        found = infer(description, item.columns)
        if not found:
            example = f"{next(iter(description.rods), 'arm')}.tip.z"
            raise DescriptionError(
                item.label, "columns", list(item.columns), "one that is the path of an output",
                f"name a column such as {example!r}, or give outputs=[Output({example!r}, 'column')], "
                f"--output {example}=COLUMN on the command line",
            )  # fmt: skip
        return found


def fit(
    robot: Robot,
    data: Any,
    parameters: Sequence[Any],
    outputs: Iterable[Any] | None = None,
    validation: Any = None,
    inputs: Mapping[str, Any] | None = None,
    formulation: Any = None,
    integrator: Any = None,
    dt: float | None = None,
    sensitivities: str = "auto",
    iterations: int = 50,
    tolerance: float = 1e-8,
    progress: Callable[[int, float, dict[str, float]], object] | None = None,
) -> Fit:
    """Find parameters of a robot from measurements, with their uncertainty.

    robot : as described; its numbers are where the search starts.
    data : a Measurement, the path of a CSV file, or a list of them; equilibria and motions mix.
    parameters : a list of `Parameter` or of paths such as "arm.material.E".
    outputs : a list of `Output` or of paths such as "arm.tip.z"; None takes every column whose
        name is such a path.
    validation : measurements that are held out: predicted at the end, not fitted.
    inputs : for all measurements, by name, where they give none themselves.
    formulation, integrator : as for `Robot.simulate`.  dt : step of motions, s; None takes the
        interval between rows, and 200 steps at least.
    sensitivities : "auto" follows neighbours with the factorised tangents of the solution where the
        solver offers it; "differences" solves the robot anew for each parameter, twice.
    iterations : most steps of the search.  tolerance : it ends when the sum of squares falls by less
        than this part of itself, or a step would move parameters by less than a hundredth of their
        standard errors.
    progress : called with the iteration, half the sum of squares and the values by path.

    The sum of squared differences, each in units of its noise, is minimised by
    Levenberg-Marquardt within the bounds, priors included as if measured. Noise that no
    `Output.std` gives is estimated from the residuals, and the search repeated until both agree.
    """
    began = time.perf_counter()
    if not isinstance(robot, Robot):
        raise DescriptionError("fit", "robot", robot, "a Robot", "give what pl.Robot() made")
    choice("fit", "sensitivities", sensitivities, ("auto", "differences"))
    positive("fit", "tolerance", tolerance, remedy="give e.g. 1e-8")
    if dt is not None:
        positive("fit", "dt", dt, "seconds", "give e.g. 0.005")
    chosen = None if outputs is None else list(outputs)
    if chosen == []:
        raise DescriptionError(
            "fit", "outputs", [], "one or more, or None for all columns that are outputs",
            "give e.g. ['arm.tip.z']",
        )  # fmt: skip
    setting = _Setting(robot, chosen, dict(inputs or {}), dt, integrator)
    unknowns = variables(robot.description, parameters)
    experiments = setting.experiments(data, "data")
    held = [] if validation is None else setting.experiments(validation, "validation")
    _check_enough(experiments, unknowns)
    family = Family(robot, unknowns, formulation, sensitivities)
    search = _Search(family, experiments)
    minimum = search.run(iterations, tolerance, progress)
    return _result(search, minimum, held, setting, time.perf_counter() - began)


class _Search:
    """The weighted residuals of all experiments, and the search with the noise estimated."""

    def __init__(self, family: Family, experiments: list[Experiment]) -> None:
        self.family = family
        self.experiments = experiments
        self.known = {p.group for e in experiments for p in e.probes if p.std is not None}
        self.few = too_few(experiments, self.known, len(family.variables.items))
        self.std = first_noise(experiments, bool(self.few))
        self.last: tuple[bytes, list[tuple[Array, Array]]] | None = None

    def run(
        self, iterations: int, tolerance: float, progress: Callable[..., object] | None
    ) -> Minimum:
        """Return the minimum at which noise and parameters agree."""
        unknowns = self.family.variables
        z = np.array([item.start for item in unknowns.items])
        low = np.array([item.low for item in unknowns.items])
        high = np.array([item.high for item in unknowns.items])
        done = 0
        priors = any(np.isfinite(item.std) for item in unknowns.items)
        for round_ in range(ROUNDS):

            def tell(k: int, cost: float, at: Array, done: int = done) -> None:
                if progress is not None:
                    values = dict(zip(unknowns.names, unknowns.values(at).tolist(), strict=True))
                    progress(done + k, cost, values)

            found = minimise(self.evaluate, z, low, high, iterations, tolerance, tell)
            done += found.iterations
            z, found.iterations = found.z, done
            old = self.std
            self.std = self._noise(z)
            change = max(abs(np.log(self.std[g] / old[g])) for g in self.std)
            alone = len(self.std) == 1 and not priors
            if alone or change < 0.02 or not found.converged or round_ == ROUNDS - 1:
                break
        found.residuals, found.slopes = self.evaluate(z)
        return found

    def predictions(self, z: Array) -> list[tuple[Array, Array]]:
        """Predictions (N, C) and derivatives (N, C, P) of every experiment, remembered once."""
        key = z.tobytes()
        if self.last is None or self.last[0] != key:
            found = []
            for experiment in self.experiments:
                y, J = experiment.evaluate(self.family, z, True)
                assert J is not None
                found.append((y, J))
            self.last = (key, found)
        return self.last[1]

    def evaluate(self, z: Array) -> tuple[Array, Array]:
        """Weighted residuals (N,) of the cells that are there, priors last, and slopes (N, P)."""
        parts, slopes = [], []
        for experiment, (y, J) in zip(self.experiments, self.predictions(z), strict=True):
            std = np.array([self.std[probe.group] for probe in experiment.probes])
            there = experiment.there
            parts.append(((y - experiment.target) / std)[there])
            slopes.append((J / std[:, None])[there])
        for j, item in enumerate(self.family.variables.items):
            if np.isfinite(item.std):
                parts.append(np.array([(z[j] - item.mean) / item.std]))
                slopes.append(np.eye(len(z))[j : j + 1] / item.std)
        return np.concatenate(parts), np.concatenate(slopes)

    def _noise(self, z: Array) -> dict[str, float]:
        """Noise by group: as given, or from the residuals at z."""
        squares: dict[str, float] = {}
        counts: dict[str, int] = {}
        for experiment, (y, _) in zip(self.experiments, self.predictions(z), strict=True):
            for k, probe in enumerate(experiment.probes):
                gap = (y - experiment.target)[experiment.there[:, k], k]
                squares[probe.group] = squares.get(probe.group, 0.0) + float(gap @ gap)
                counts[probe.group] = counts.get(probe.group, 0) + len(gap)
        total, found = sum(counts.values()), dict(self.std)
        share = max(1.0 - len(z) / total, 1.0 / total)
        unknown = [group for group in squares if group not in self.known]
        if self.few:
            parts = [squares[group] / self.std[group] ** 2 for group in unknown]
            common = np.sqrt(sum(parts) / (share * sum(counts[group] for group in unknown)))
            values = {group: common * self.std[group] for group in unknown}
        else:
            values = {group: np.sqrt(squares[group] / (counts[group] * share)) for group in unknown}
        for group, value in values.items():
            found[group] = max(float(value), 1e-12 * size_of(self.experiments, group))
        return found


def _check_enough(experiments: list[Experiment], unknowns: Variables) -> None:
    count = sum(int(e.there.sum()) for e in experiments)
    priors = sum(np.isfinite(item.std) for item in unknowns.items)
    if count + priors <= len(unknowns.items):
        raise DescriptionError(
            "fit", "data", f"{count} measured numbers",
            f"more than the {len(unknowns.items)} parameters", "measure more, or fit fewer",
        )  # fmt: skip


def _result(
    search: _Search, minimum: Minimum, held: list[Experiment], setting: _Setting, seconds: float
) -> Fit:
    family = search.family
    predicted = [y for y, _ in search.predictions(minimum.z)]
    data = [_data(e, y, search.std) for e, y in zip(search.experiments, predicted, strict=True)]

    def predict(experiments: list[Experiment]) -> list[FitData]:
        found = [e.evaluate(family, minimum.z, False)[0] for e in experiments]
        return [_data(e, y, search.std) for e, y in zip(experiments, found, strict=True)]

    spare = len(minimum.residuals) - len(minimum.z)
    given = set(search.std) <= search.known
    found = estimates(family.variables, minimum, np.inf if given else max(spare, 1))
    notes = [*judged(family.variables, minimum, found), *residual_warnings(data)]
    notes += start_warnings(search.experiments, data)
    notes += [*noise_warnings(search.few), *column_warnings(search.experiments)]
    if not minimum.converged:
        notes.insert(0, f"the search did not converge: {minimum.reason}")
    report = FitReport(
        estimates=found.items,
        covariance=found.covariance,
        correlation=found.correlation,
        singular_values=found.singular_values,
        data=data,
        validation=predict(held),
        noise=dict(search.std),
        chi2=float(minimum.residuals @ minimum.residuals),
        dof=spare,
        iterations=minimum.iterations,
        solves=family.counts.solves,
        followed=family.counts.followed,
        seconds=seconds,
        reason=minimum.reason,
        converged=minimum.converged,
        warnings=notes,
        method=_method(search, setting),
    )
    for text in notes:
        warnings.warn(text, FitWarning, stacklevel=4)
    robot = family.at(minimum.z)
    return Fit(robot, report, lambda more: predict(setting.experiments(more, "data")))


def _method(search: _Search, setting: _Setting) -> dict[str, str]:
    """How the robot was solved: formulation of each rod, and of motions integrator and step."""
    chosen = choose_formulations(setting.robot.description, search.family.formulation)
    found = {rod: repr(formulation) for rod, formulation in chosen.items()}
    runs = [item for item in search.experiments if isinstance(item, MotionRun)]
    if runs:
        compiled = setting.robot._compiler.compiled(search.family.formulation)
        found["integrator"] = repr(compiled.integrator(setting.integrator))
        found["dt"] = ", ".join(f"{h:.6g} s" for h in sorted({run.h for run in runs}))
    return found


def _data(experiment: Experiment, y: Array, std: Mapping[str, float]) -> FitData:
    measurement = experiment.measurement
    moving = isinstance(experiment, MotionRun)
    along = experiment.t if isinstance(experiment, MotionRun) else experiment.rows.astype(float)
    return FitData(
        measurement.name,
        np.asarray(along),
        moving,
        tuple(probe.column for probe in experiment.probes),
        tuple(probe.unit for probe in experiment.probes),
        experiment.target,
        y,
        np.array([std.get(probe.group, 1.0) for probe in experiment.probes]),
        None if moving else _only_input(experiment),
    )


def _only_input(experiment: Experiment) -> tuple[str, Array] | None:
    """The input that load cases differ in, as label and values (N,), if there is only one."""
    if len(experiment.driving) != 1:
        return None
    name = experiment.driving[0]
    unit = " / Pa" if name in experiment.pressures else ""
    return f"{name}{unit}", experiment.measurement.column(name)[experiment.rows]
