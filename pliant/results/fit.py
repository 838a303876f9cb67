"""Parameters identified from measurements: the result of `pliant.fit`."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import Array, DescriptionError, as_float, check_suffix, known_name, whole_file
from pliant.results.export import dataset, paragraph, table, variable, write_table
from pliant.results.result import Study
from pliant.results.result_file import write

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class FitWarning(UserWarning):
    """A caveat about an identification that its numbers alone do not show."""


@dataclass(frozen=True)
class Estimate:
    """The estimate of one parameter.

    name : its path.  value : the estimate.  error : its standard error, infinite if the data do not
    determine it.  initial : the start value.  factor : True if the value multiplies the described
    quantity.  at_bound : True if the estimate is at a bound, where the standard error is not valid.
    dof : degrees of freedom of the noise estimate; infinite if you gave the noise.
    """

    name: str
    value: float
    error: float
    initial: float
    factor: bool = False
    at_bound: bool = False
    dof: float = math.inf

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the ends of the interval that covers the true value with probability ``confidence``.

        The interval uses Student's distribution, because noise estimated from few residuals is itself
        uncertain: 95 % is 1.96 standard errors for many degrees of freedom and 2.26 for nine.
        """
        from scipy.special import stdtrit

        inside = as_float(confidence)
        if inside is None or not 0.0 < inside < 1.0:
            raise DescriptionError(
                self.name, "confidence", confidence, "a number between 0 and 1", "give e.g. 0.95"
            )
        half = float(stdtrit(min(self.dof, 1e9), 0.5 + 0.5 * inside)) * self.error
        return self.value - half, self.value + half


@dataclass(frozen=True, eq=False)
class FitData:
    """One measurement and the prediction of the robot.

    name : of the measurement.  t : (N,) s, or row numbers of load cases.  moving : whether t is
    time.  columns, units : of the outputs.  measured, predicted : (N, C), NaN where nothing was
    measured.  std : (C,) of the noise.  along : if one input distinguishes the load cases, its label
    and values (N,).  signal : if the columns are features of a motion, the motion, for pictures.
    Statistics are over the measured cells.
    """

    name: str
    t: Array
    moving: bool
    columns: tuple[str, ...]
    units: tuple[str, ...]
    measured: Array
    predicted: Array
    std: Array
    along: tuple[str, Array] | None = None
    signal: FitData | None = None

    @property
    def residuals(self) -> Array:
        """Predicted minus measured (N, C), NaN where nothing was measured."""
        return self.predicted - self.measured

    @property
    def counts(self) -> dict[str, int]:
        """Number of measured cells by column."""
        counts = np.isfinite(self.measured).sum(axis=0)
        return dict(zip(self.columns, counts.tolist(), strict=True))

    @property
    def missing(self) -> dict[str, int]:
        """Number of missing cells by column."""
        return {name: len(self.t) - count for name, count in self.counts.items()}

    @property
    def rms(self) -> dict[str, float]:
        """Root mean square of the residuals by column."""
        rms = np.sqrt(np.nanmean(self.residuals**2, axis=0))
        return dict(zip(self.columns, rms.tolist(), strict=True))

    @property
    def r2(self) -> dict[str, float]:
        """Fraction of the variance of each column that the robot explains; at most 1."""
        left = np.nansum(self.residuals**2, axis=0)
        spread = np.nansum((self.measured - np.nanmean(self.measured, axis=0)) ** 2, axis=0)
        return {
            name: 1.0 - left[k] / spread[k] if spread[k] > 0 else float(left[k] == 0)
            for k, name in enumerate(self.columns)
        }

    @property
    def chi2(self) -> float:
        """Sum of squared residuals in units of the noise."""
        return float(np.nansum((self.residuals / self.std) ** 2))


@dataclass(eq=False, repr=False)
class Fit(Study):
    """Identified parameters with their uncertainty.

    robot : the robot with the estimated parameters.
    estimates : value and standard error of each parameter.  values, errors : the same by path.
    covariance, correlation : (P, P) of the estimates.
    singular_values : (P,) of the derivatives of all outputs, in units of their noise, with respect to
        the logarithms (or scaled values) of the parameters, largest first. The inverse of the last
        is the uncertainty of the least determined combination.
    data, validation : measured and predicted outputs of every measurement.
    noise : by output, the standard deviation, given or estimated.
    chi2, dof : sum of squares in units of the noise, and measured numbers minus parameters.
    iterations, solves, followed, seconds : iterations of the search, simulations or static solves,
        neighbours computed from a known solution instead, and wall time.
    warnings : caveats that the numbers alone do not show.  converged, reason : how the search ended.
    method : how the robot was solved: formulation by rod, and for motions integrator and dt.
    predict : the function behind `validate`.

    Made by `pliant.fit`.
    """

    robot: Any
    predict: Callable[[Any], list[FitData]]
    estimates: list[Estimate]
    covariance: Array
    correlation: Array
    singular_values: Array
    data: list[FitData]
    validation: list[FitData]
    noise: dict[str, float]
    chi2: float
    dof: int
    iterations: int
    solves: int
    followed: int
    seconds: float
    reason: str
    converged: bool
    warnings: list[str] = field(default_factory=list)
    method: dict[str, str] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, float]:
        """The parameters by path."""
        return {item.name: item.value for item in self.estimates}

    @property
    def errors(self) -> dict[str, float]:
        """Their standard errors by path."""
        return {item.name: item.error for item in self.estimates}

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of a parameter by its path."""
        estimates = {item.name: item for item in self.estimates}
        return estimates[known_name("fit", "parameter", name, estimates, "a fitted parameter")]

    def validate(self, data: Any) -> list[FitData]:
        """Return predictions of other measurements (`Measurement` or files) by the fitted robot."""
        return self.predict(data)

    def __repr__(self) -> str:
        listed = ", ".join(f"{item.name} = {item.value:.5g}" for item in self.estimates)
        return f"<Fit: {listed}>"

    def summary(self) -> str:
        """Return estimates, correlation, goodness of fit, validation and warnings as text."""
        heading = ["parameter", "value", "standard error", "", "start"]
        lines = table([heading, *(_cells(item) for item in self.estimates)])
        if len(self.estimates) > 1:
            width = max(len(name) for name in (heading[0], *self.values))
            lines += ["", "correlation"]
            lines += [
                f"{name:<{width}}  " + "  ".join(f"{x:+.3f}" for x in row)
                for name, row in zip(self.values, self.correlation, strict=True)
            ]
        lines += ["", *_describe("fitted", self.data), *_describe("held out", self.validation)]
        noise = ", ".join(f"{name} {value:.3g}" for name, value in self.noise.items())
        lines += [
            f"noise: {noise}",
            f"chi2 / degrees of freedom: {self.chi2:.4g} / {self.dof}",
            f"{self.iterations} iterations, {self.solves} solves and {self.followed} neighbours "
            f"followed, {self.seconds:.3g} s; {self.reason}",
        ]
        solved = ", ".join(f"{name} {value}" for name, value in self.method.items())
        lines += paragraph(f"solved with: {solved}") if solved else []
        return "\n".join(
            lines + [line for text in self.warnings for line in paragraph(f"warning: {text}")]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the predicted columns as plain data."""
        return {
            "kind": "Fit",
            "parameters": {
                item.name: {
                    "value": item.value,
                    "standard_error": item.error if math.isfinite(item.error) else None,
                    "initial": item.initial,
                    "factor": item.factor,
                    "at_bound": item.at_bound,
                }
                for item in self.estimates
            },
            "correlation": self.correlation.tolist(),
            "singular_values": self.singular_values.tolist(),
            "noise": self.noise,
            "chi2": self.chi2,
            "degrees_of_freedom": self.dof,
            "data": [_goodness(item) for item in self.data],
            "validation": [_goodness(item) for item in self.validation],
            "warnings": self.warnings,
            "method": self.method,
            "converged": self.converged,
            "reason": self.reason,
            "iterations": self.iterations,
            "solves": self.solves,
            "followed": self.followed,
            "seconds": self.seconds,
            "pliant_version": sys.modules["pliant"].__version__,
        }

    def to_xarray(self) -> xr.Dataset:
        """Return measured and predicted columns with the estimates as labelled arrays."""
        names, along = list(self.values), ("parameter",)
        variables: dict[str, Any] = {
            "value": variable("value", along, list(self.values.values())),
            "standard_error": variable("standard_error", along, list(self.errors.values())),
            "correlation": variable("correlation", (*along, "other"), self.correlation),
        }
        labels: dict[str, Any] = {"parameter": names, "other": names}
        for kind, group in (("data", self.data), ("validation", self.validation)):
            for k, item in enumerate(group):
                dims = (f"row_{kind}_{k}", f"column_{kind}_{k}")
                for what in ("measured", "predicted"):
                    variables[f"{what}_{kind}_{k}"] = variable(
                        what, dims, getattr(item, what), measurement=item.name
                    )
                labels[dims[0]] = item.t
                labels[dims[1]] = list(item.columns)
        report = self.to_dict()
        kept = ("kind", "chi2", "degrees_of_freedom", "reason", "pliant_version")
        attributes = {name: report[name] for name in kept}
        return dataset(variables, labels, {**attributes, "report": json.dumps(report)})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a report (.md), numbers (.json) or all columns (.nc), and return the path."""
        target = check_suffix("save", path, (".md", ".json", ".nc"))
        if target.suffix.lower() == ".nc":
            return write(self.to_xarray(), target)
        text = f"# Identification\n\n```\n{self.summary()}\n```\n"
        if target.suffix.lower() == ".json":
            text = json.dumps(self.to_dict(), indent=2) + "\n"
        with whole_file(target) as partial:
            partial.write_text(text, encoding="utf-8")
        return target

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write a row for each parameter as .csv and return the path; `save` writes everything."""
        names = ["name", "value", "error", "initial", "factor", "at_bound"]
        return write_table(check_suffix("to_csv", path, (".csv",)), names, self.estimates)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw measured and predicted outputs and residuals; save it if a path is given.

        Of features the motion is drawn that they are features of.
        """
        from pliant.view import draw_fits, saved

        titles = _titles(self.data, "") + _titles(self.validation, " (held out)")
        drawn = [item.signal or item for item in (*self.data, *self.validation)]
        groups = [*zip(drawn, titles, strict=True)]
        sizes = {len(item.columns) for item, _ in groups}
        figure = draw_fits(
            {
                f"{title}: {name}": (
                    item.t if item.along is None else item.along[1],
                    item.measured[:, k],
                    item.predicted[:, k],
                    f"input {item.along[0]}"
                    if item.along
                    else "time / s"
                    if item.moving
                    else "load case",
                    f"{name} / {item.units[k] or '1'}",
                )
                for item, title in groups
                for k, name in enumerate(item.columns)
            },
            across=min(4, sizes.pop()) if len(groups) > 1 and len(sizes) == 1 else 4,
        )
        return saved(figure, path)


def _titles(data: list[FitData], mark: str) -> list[str]:
    """A title for each measurement; equal names are numbered."""
    names = [item.name for item in data]
    return [
        f"{name} {names[: k + 1].count(name)}{mark}" if names.count(name) > 1 else f"{name}{mark}"
        for k, name in enumerate(names)
    ]


def _goodness(item: FitData) -> Mapping[str, Any]:
    return {
        "name": item.name,
        "rows": len(item.t),
        "missing": item.missing,
        "rms": item.rms,
        "r2": item.r2,
    }


def _cells(item: Estimate) -> list[str]:
    value = f"{item.value:.6g}" + (" x" if item.factor else "")
    if not math.isfinite(item.error):
        return [item.name, value, "undetermined", "", f"{item.initial:.4g}"]
    share = f"{100 * item.error / abs(item.value):.2g} %" if item.value else ""
    mark = "at bound" if item.at_bound else share
    return [item.name, value, f"{item.error:.2g}", mark, f"{item.initial:.4g}"]


def _describe(what: str, data: list[FitData]) -> list[str]:
    lines = []
    for item in data:
        for k, (name, unit) in enumerate(zip(item.columns, item.units, strict=True)):
            text = f"rms {item.rms[name]:.3g} {unit}, R2 {item.r2[name]:.5f}, {len(item.t)} rows"
            if len(item.t) == 1:
                measured, predicted = item.measured[0, k], item.predicted[0, k]
                text = f"{predicted:.6g} {unit} computed, {measured:.6g} {unit} measured"
            missing = f", {item.missing[name]} missing" if item.missing[name] else ""
            lines.append(f"{what} {item.name}, {name}: {text}{missing}")
    return lines
