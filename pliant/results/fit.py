"""Parameters found from data: the result of `pliant.fit`."""

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

from pliant.model import Array, DescriptionError, did_you_mean
from pliant.model.checks import as_float

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


class FitWarning(UserWarning):
    """Something about an identification that its numbers alone do not show."""


@dataclass(frozen=True)
class Estimate:
    """One parameter.

    name : its path.  value : found.  error : its standard error, infinite if the data do not
    determine it.  initial : where the search began.  factor : True if the value multiplies what is
    described.  at_bound : True if a bound stopped it, where the standard error does not hold.
    dof : residuals less parameters that the noise was estimated from, infinite where it was given.
    """

    name: str
    value: float
    error: float
    initial: float
    factor: bool = False
    at_bound: bool = False
    dof: float = math.inf

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the ends of an interval that covers the truth with a probability ``confidence``.

        By Student's distribution, since noise that was estimated from few residuals is not known
        well: 95 % are 1.96 standard errors for many residuals, 2.26 for nine to spare.
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
    """One measurement beside what the robot does.

    name : of the measurement.  t : (N,) s, or row numbers of load cases.  moving : whether t is
    time.  columns, units : of the outputs.  measured, predicted : (N, C), NaN where nothing was
    measured.  std : (C,) of the noise.  along : the input that distinguishes load cases, as label and
    values (N,), where there is one. Statistics are those of the cells that were measured.
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

    @property
    def residuals(self) -> Array:
        """Predicted minus measured (N, C), NaN where nothing was measured."""
        return self.predicted - self.measured

    @property
    def counts(self) -> dict[str, int]:
        """How many cells of each column were measured."""
        found = np.isfinite(self.measured).sum(axis=0)
        return dict(zip(self.columns, found.tolist(), strict=True))

    @property
    def missing(self) -> dict[str, int]:
        """How many cells of each column are missing."""
        return {name: len(self.t) - count for name, count in self.counts.items()}

    @property
    def rms(self) -> dict[str, float]:
        """Root mean square of the residuals by column."""
        found = np.sqrt(np.nanmean(self.residuals**2, axis=0))
        return dict(zip(self.columns, found.tolist(), strict=True))

    @property
    def r2(self) -> dict[str, float]:
        """Part of the variance of each column that the robot explains; 1 is all of it."""
        left = np.nansum(self.residuals**2, axis=0)
        spread = np.nansum((self.measured - np.nanmean(self.measured, axis=0)) ** 2, axis=0)
        found = {}
        for k, name in enumerate(self.columns):
            found[name] = 1.0 - left[k] / spread[k] if spread[k] > 0 else float(left[k] == 0)
        return found

    @property
    def chi2(self) -> float:
        """Sum of squared residuals over the squared noise."""
        return float(np.nansum((self.residuals / self.std) ** 2))


@dataclass(eq=False)
class FitReport:
    """What an identification leaves besides its estimates: see `Fit`."""

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


class Fit(FitReport):
    """Parameters with what is known about them.

    robot : the robot with the parameters found.
    estimates : value and standard error of each.  values, errors : the same by path.
    covariance, correlation : (P, P) of the estimates.
    singular_values : (P,) of the derivatives of all outputs, in units of their noise, in the
        logarithms (or sizes) of the parameters, largest first: the inverse of the last is the
        uncertainty of the worst determined combination.
    data, validation : measured and predicted outputs of every measurement.
    noise : by output, the standard deviation given or estimated.
    chi2, dof : sum of squares in units of the noise, and the numbers measured less the parameters.
    iterations, solves, followed, seconds : steps of the search, simulations or static solves,
        neighbours that were followed instead of solved, and the time it took.
    warnings : sentences about what the numbers alone do not show.  converged, reason : how it ended.
    method : how the robot was solved: formulation by rod, and for motions integrator and dt.

    Made by `pliant.fit` from robot, report and predict, a function that predicts more measurements.
    """

    def __init__(
        self, robot: Any, report: FitReport, predict: Callable[[Any], list[FitData]]
    ) -> None:
        self.robot = robot
        self._report = report
        self._predict = predict
        super().__init__(**vars(report))

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
        for item in self.estimates:
            if item.name == name:
                return item
        raise DescriptionError(
            "fit", "parameter", name, "one that was fitted", did_you_mean(name, self.values)
        )

    def validate(self, data: Any) -> list[FitData]:
        """Return how the fitted robot predicts other measurements (`Measurement` or files)."""
        return self._predict(data)

    def __repr__(self) -> str:
        listed = ", ".join(f"{item.name} = {item.value:.5g}" for item in self.estimates)
        return f"<Fit: {listed}>"

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Return estimates, goodness of fit and warnings as text."""
        from pliant.results.fit_text import describe_fit

        return describe_fit(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the predicted columns as plain data."""
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
        from pliant.results.saving import dataset, variable

        names = list(self.values)
        variables: dict[str, Any] = {
            "value": variable("value", ("parameter",), [e.value for e in self.estimates]),
            "standard_error": variable(
                "standard_error", ("parameter",), [e.error for e in self.estimates]
            ),
            "correlation": variable("correlation", ("parameter", "other"), self.correlation),
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
        """Write a report and return its path: .md to read, .json for programs, .nc with columns."""
        from pliant.results.saving import write
        from pliant.view.saving import check_suffix, whole_file

        found = check_suffix("save", path, (".md", ".json", ".nc"))
        if found.suffix.lower() == ".nc":
            return write(self.to_xarray(), found)
        text = f"# Identification\n\n```\n{self.summary()}\n```\n"
        if found.suffix.lower() == ".json":
            text = json.dumps(self.to_dict(), indent=2) + "\n"
        with whole_file(found) as partial:
            partial.write_text(text, encoding="utf-8")
        return found

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw measured and predicted outputs and the residuals; save the picture if asked."""
        from pliant.view import draw_fits, save_figure

        titles = _titles(self.data, "") + _titles(self.validation, " (held out)")
        groups = [*zip([*self.data, *self.validation], titles, strict=True)]
        sizes = {len(item.columns) for item, _ in groups}
        figure = draw_fits(
            {
                f"{title}: {name}": (
                    item.t if item.along is None else item.along[1],
                    item.measured[:, k],
                    item.predicted[:, k],
                    item.along[0] if item.along else "time / s" if item.moving else "load case",
                    f"{name} / {item.units[k] or '1'}",
                )
                for item, title in groups
                for k, name in enumerate(item.columns)
            },
            across=min(4, sizes.pop()) if len(groups) > 1 and len(sizes) == 1 else 4,
        )
        if path is not None:
            save_figure(figure, path)
        return figure

    def show(self) -> None:
        """Draw the fit in a window and wait until it is closed."""
        from pliant.view import show

        self.plot()
        show()


def _titles(data: list[FitData], mark: str) -> list[str]:
    """A title for each measurement, those of one name numbered."""
    names = [item.name for item in data]
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        number = f" {seen[name]}" if names.count(name) > 1 else ""
        found.append(f"{name}{number}{mark}")
    return found


def _goodness(item: FitData) -> Mapping[str, Any]:
    return {
        "name": item.name,
        "rows": len(item.t),
        "missing": item.missing,
        "rms": item.rms,
        "r2": item.r2,
    }
