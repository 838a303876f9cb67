"""Identification of the parameters of a robot from measurements."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.files.measurement import Measurement, read_measurement
from pliant.model import Array, DescriptionError, choice, instance, positive, refuse
from pliant.model.progress import told
from pliant.results.fit import Fit, FitData, FitWarning
from pliant.robot import Robot
from pliant.solve.compiled import choose_formulations
from pliant.study.diagnostics import (
    column_warnings,
    energy_warnings,
    noise_warnings,
    residual_warnings,
    resolution_warnings,
    start_warnings,
)
from pliant.study.experiments import Experiment, Family, LoadCases, MotionRun
from pliant.study.features import feature_run
from pliant.study.least_squares import Minimum, minimise
from pliant.study.outputs import Probe, infer, probes
from pliant.study.parameters import Variables, variables
from pliant.study.task import check_robot
from pliant.study.uncertainty import NoiseModel, estimates, parameter_warnings

ROUNDS = 4
"""How often the noise is estimated and the search repeated."""


@dataclass(frozen=True)
class _Setup:
    """How measurements become experiments."""

    robot: Robot
    outputs: list[Any] | None
    inputs: Mapping[str, Any]
    dt: float | None
    integrator: Any

    def experiments(self, data: object, name: str) -> list[Experiment]:
        """Return the experiments of a measurement, a file, or a list of them."""
        items = data if isinstance(data, (list, tuple)) else [data]
        refuse(not items, "fit", name, data, "one measurement or more", "give a file")
        experiments = []
        for item in items:
            if isinstance(item, (str, os.PathLike)):
                item = read_measurement(item)
            expected = "a Measurement or the path of a CSV file"
            remedy = "read it with read_measurement(path)"
            item = instance("fit", name, item, Measurement, expected, remedy)
            if self.inputs:
                item = replace(item, inputs={**self.inputs, **item.inputs})
            experiments += self._made(item, self._probes(item))
        return experiments

    def _made(self, item: Measurement, wanted: list[Probe]) -> list[Experiment]:
        """Return the experiments of one measurement: one of rows, one of features."""
        rows = [probe for probe in wanted if not probe.feature]
        features = [probe for probe in wanted if probe.feature]
        refuse(
            features and item.t is None,
            item.label,
            "outputs",
            [probe.column for probe in features],
            "outputs of single rows, for this measurement has no times",
            "name the column of times: Measurement(..., time='t')",
        )

        def experiment(probes: list[Probe]) -> Experiment:
            return make_experiment(item, probes, self.robot, self.dt, self.integrator)

        made = [experiment(rows)] if rows else []
        made += [feature_run(experiment, features)] if features else []
        for one in made:  # what one of them uses is used
            one.unused = [
                name for name in one.unused if all(name in other.unused for other in made)
            ]
        return made

    def _probes(self, item: Measurement) -> list[Probe]:
        description = self.robot.description
        if self.outputs is not None:
            return probes(description, self.outputs)
        inferred = infer(description, item.columns)
        if not inferred:
            example = f"{next(iter(description.rods), 'arm')}.tip.z"
            raise DescriptionError(
                item.label, "columns", list(item.columns), "one that is the path of an output",
                f"name a column such as {example!r}, or give outputs=[Output({example!r}, 'column')], "
                f"--output {example}=COLUMN on the command line",
            )  # fmt: skip
        return inferred


def make_experiment(
    measurement: Measurement, probes: list[Probe], robot: Robot, dt: float | None, integrator: Any
) -> Experiment:
    """Return the experiment of a measurement: a motion if it has times, else load cases."""
    if measurement.t is None:
        return LoadCases(measurement, probes, robot)
    return MotionRun(measurement, probes, robot, dt, integrator)


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
    progress: bool | Callable[[int, float, dict[str, float]], object] | None = None,
) -> Fit:
    """Identify parameters of a robot from measurements, with their uncertainty.

    robot : a Robot; the search starts from its described values.
    data : a Measurement, the path of a CSV file, or a list of them; you may mix equilibria and
        motions.
    parameters : a list of `Parameter` or of paths such as "arm.material.E".
    outputs : a list of `Output` or of paths such as "arm.tip.z"; None takes every column whose
        name is such a path.
    validation : measurements that are held out: predicted at the end, not fitted.
    inputs : by name, for measurements that do not give them.
    formulation, integrator : as for `Robot.simulate`.  dt : step of motions, s; None takes the
        interval between rows, and at least 200 steps.
    sensitivities : "auto" reuses the factorised tangents of a solution for its derivatives where the
        solver supports it; "differences" solves the robot twice more for each parameter.
    iterations : largest number of iterations.  tolerance : the search ends when the relative decrease
        of the sum of squares is smaller, or when a step would change the parameters by less than a
        hundredth of their standard errors.
    progress : True for a line with the iteration, half the sum of squares and the time so far; or a
        function, called with the iteration, half the sum of squares and the values by path.

    The sum of squared differences, in units of their noise, is minimised within the bounds by the
    Levenberg-Marquardt method. Priors count as measurements. Noise that you do not give as
    `Output.std` is estimated from the residuals, and the search is repeated until both agree.
    """
    began = time.perf_counter()
    check_robot("fit", robot)
    choice("fit", "sensitivities", sensitivities, ("auto", "differences"))
    positive("fit", "tolerance", tolerance, remedy="give e.g. 1e-8")
    if dt is not None:
        positive("fit", "dt", dt, "seconds", "give e.g. 0.005")
    chosen = None if outputs is None else list(outputs)
    refuse(
        chosen == [],
        "fit",
        "outputs",
        [],
        "one or more, or None for all columns that are outputs",
        "give e.g. ['arm.tip.z']",
    )
    setup = _Setup(robot, chosen, dict(inputs or {}), dt, integrator)
    unknowns = variables(robot.description, parameters)
    experiments = setup.experiments(data, "data")
    held_out = [] if validation is None else setup.experiments(validation, "validation")
    _check_enough(experiments, unknowns)
    family = Family(robot, unknowns, formulation, sensitivities)
    search = _Search(family, experiments)
    with told(
        progress, "fit", lambda k, cost, _: (None, f"iteration {k}, {cost:.4g}"), True
    ) as report:
        minimum = search.run(iterations, tolerance, report)
    return _result(search, minimum, held_out, setup, time.perf_counter() - began)


class _Search:
    """The weighted residuals of all experiments, and the search for parameters and noise."""

    def __init__(self, family: Family, experiments: list[Experiment]) -> None:
        self.family = family
        self.experiments = experiments
        self.noise = NoiseModel(experiments, len(family.variables.items))
        self.last: tuple[bytes, list[tuple[Array, Array]]] | None = None

    def run(
        self, iterations: int, tolerance: float, progress: Callable[..., object] | None
    ) -> Minimum:
        """Return the minimum at which noise and parameters are consistent."""
        unknowns = self.family.variables
        z, low, high = np.array([[v.start, v.low, v.high] for v in unknowns.items]).T
        done = 0
        priors = any(np.isfinite(item.std) for item in unknowns.items)
        for round_ in range(ROUNDS):

            def report(k: int, cost: float, at: Array, done: int = done) -> None:
                if progress is not None:
                    values = dict(zip(unknowns.names, unknowns.values(at).tolist(), strict=True))
                    progress(done + k, cost, values)

            minimum = minimise(self.evaluate, z, low, high, iterations, tolerance, report)
            done += minimum.iterations
            z, minimum.iterations = minimum.z, done
            change = self.noise.estimate([y for y, _ in self.predictions(z)], len(z))
            alone = len(self.noise.std) == 1 and not priors
            if alone or change < 0.02 or not minimum.converged or round_ == ROUNDS - 1:
                break
        minimum.residuals, minimum.slopes = self.evaluate(z)
        return minimum

    def predictions(self, z: Array) -> list[tuple[Array, Array]]:
        """Predictions (N, C) and derivatives (N, C, P) of every experiment; the last ones are kept."""
        key = z.tobytes()
        if self.last is None or self.last[0] != key:
            every = [experiment.evaluate(self.family, z, True) for experiment in self.experiments]
            self.last = key, [(y, J) for y, J in every if J is not None]
        return self.last[1]

    def evaluate(self, z: Array) -> tuple[Array, Array]:
        """Weighted residuals (N,) of the measured cells and the priors, and slopes (N, P)."""
        parts, slopes = [], []
        for experiment, (y, J) in zip(self.experiments, self.predictions(z), strict=True):
            std = np.array([self.noise.std[probe.group] for probe in experiment.probes])
            there = experiment.there
            parts.append(((y - experiment.target) / std)[there])
            slopes.append((J / std[:, None])[there])
        mean, std = np.array([[item.mean, item.std] for item in self.family.variables.items]).T
        known = np.isfinite(std)
        parts.append(((z - mean) / std)[known])
        slopes.append(np.diag(1.0 / std)[known])
        return np.concatenate(parts), np.concatenate(slopes)


def _check_enough(experiments: list[Experiment], unknowns: Variables) -> None:
    count = sum(int(e.there.sum()) for e in experiments)
    priors = sum(np.isfinite(item.std) for item in unknowns.items)
    refuse(
        count + priors <= len(unknowns.items),
        "fit",
        "data",
        f"{count} measured numbers",
        f"more than the {len(unknowns.items)} parameters",
        "measure more, or fit fewer",
    )


@dataclass
class _Predictions:
    """What the fitted robot predicts of other measurements."""

    setup: _Setup
    family: Any
    z: Array
    std: Mapping[str, float]

    def __call__(self, more: object) -> list[FitData]:
        return self.of(self.setup.experiments(more, "data"))

    def of(self, experiments: list[Experiment]) -> list[FitData]:
        """Measured and predicted outputs of experiments."""
        return [
            _data(one, one.evaluate(self.family, self.z, False)[0], self.std) for one in experiments
        ]


def _result(
    search: _Search, minimum: Minimum, held_out: list[Experiment], setup: _Setup, seconds: float
) -> Fit:
    family, noise = search.family, search.noise
    predicted = [y for y, _ in search.predictions(minimum.z)]
    data = [_data(e, y, noise.std) for e, y in zip(search.experiments, predicted, strict=True)]

    predictions = _Predictions(setup, family, minimum.z, noise.std)
    spare = len(minimum.residuals) - len(minimum.z)
    all_given = set(noise.std) <= noise.given
    uncertainty = estimates(family.variables, minimum, np.inf if all_given else max(spare, 1))
    notes = [
        *parameter_warnings(family.variables, minimum, uncertainty),
        *residual_warnings(data),
        *start_warnings(search.experiments, data),
        *energy_warnings(search.experiments, family.at(minimum.z), family.formulation),
        *resolution_warnings(search.experiments, family.at(minimum.z), family.formulation),
        *noise_warnings(noise.scarce),
        *column_warnings(search.experiments),
    ]
    if not minimum.converged:
        notes.insert(0, f"the search did not converge: {minimum.reason}")
    for text in notes:
        warnings.warn(text, FitWarning, stacklevel=4)
    return Fit(
        family.at(minimum.z),
        predictions,
        estimates=uncertainty.items,
        covariance=uncertainty.covariance,
        correlation=uncertainty.correlation,
        singular_values=uncertainty.singular_values,
        data=data,
        validation=predictions.of(held_out),
        noise=dict(noise.std),
        chi2=float(minimum.residuals @ minimum.residuals),
        dof=spare,
        iterations=minimum.iterations,
        solves=family.solves,
        followed=family.followed,
        seconds=seconds,
        reason=minimum.reason,
        converged=minimum.converged,
        warnings=notes,
        method=_method(search, setup),
    )


def _method(search: _Search, setup: _Setup) -> dict[str, str]:
    """How the robot was solved: formulation of each rod, and for motions integrator and step."""
    chosen = choose_formulations(setup.robot.description, search.family.formulation)
    method = {rod: repr(formulation) for rod, formulation in chosen.items()}
    motions = [getattr(item, "inner", item) for item in search.experiments]
    runs = [item for item in motions if isinstance(item, MotionRun)]
    if runs:
        compiled = setup.robot._compiler.compiled(search.family.formulation)
        method["integrator"] = repr(compiled.integrator(setup.integrator))
        method["dt"] = ", ".join(f"{h:.6g} s" for h in sorted({run.h for run in runs}))
    return method


def _data(experiment: Experiment, y: Array, std: Mapping[str, float]) -> FitData:
    return FitData(
        experiment.measurement.name,
        experiment.t,
        experiment.moving,
        tuple(probe.column for probe in experiment.probes),
        tuple(probe.unit for probe in experiment.probes),
        experiment.target,
        y,
        np.array([std.get(probe.group, 1.0) for probe in experiment.probes]),
        experiment.only_input(),
        None if experiment.signal is None else _data(*experiment.signal, std),
    )
