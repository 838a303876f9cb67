"""Uncertainty: the noise of the outputs, the covariance of the parameters, and combinations that the
data do not determine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array
from pliant.results.fit import Estimate
from pliant.study.experiments import Experiment
from pliant.study.least_squares import Minimum
from pliant.study.parameters import Variables


class NoiseModel:
    """Standard deviation of each group of outputs, given or estimated.

    std : by group.  given : groups whose noise is given.
    scarce : groups with so few numbers that the parameters could fit all of them; their residuals do
        not tell their noise. If there are any, outputs of one unit share their noise.
    """

    def __init__(self, experiments: list[Experiment], parameters: int) -> None:
        self._experiments = experiments
        probes = [probe for experiment in experiments for probe in experiment.probes]
        self.given = {probe.group for probe in probes if probe.std is not None}
        self.scarce = self._scarce(parameters)
        self.std: dict[str, float] = {}
        for probe in probes:
            shared = {p.group for p in probes if self.scarce and p.unit and p.unit == probe.unit}
            sizes = [self._magnitude(group) for group in {probe.group, *shared}]
            self.std[probe.group] = probe.std or 0.01 * max(sizes)

    def _columns(self, group: str) -> list[tuple[Experiment, int]]:
        """The experiments and columns that measure a group."""
        return [
            (experiment, k)
            for experiment in self._experiments
            for k, probe in enumerate(experiment.probes)
            if probe.group == group
        ]

    def _magnitude(self, group: str) -> float:
        """The largest measured value of a group."""
        columns = self._columns(group)
        return max(*(float(np.nanmax(abs(e.target[:, k]))) for e, k in columns), 1e-9)

    def _scarce(self, parameters: int) -> list[str]:
        groups = list(dict.fromkeys(p.group for e in self._experiments for p in e.probes))
        unknown = [group for group in groups if group not in self.given]
        counts = {g: sum(int(e.there[:, k].sum()) for e, k in self._columns(g)) for g in unknown}
        return [g for g in unknown if counts[g] <= parameters] if len(unknown) > 1 else []

    def estimate(self, predictions: list[Array], parameters: int) -> float:
        """Update the unknown noise from the residuals of predictions (N, C), one per experiment.

        Returns the largest change of the logarithm of a standard deviation.
        """
        residuals = {
            id(e): y - e.target for e, y in zip(self._experiments, predictions, strict=True)
        }
        squares: dict[str, float] = {}
        counts: dict[str, int] = {}
        for group in self.std:
            parts = [residuals[id(e)][e.there[:, k], k] for e, k in self._columns(group)]
            squares[group] = sum(float(part @ part) for part in parts)
            counts[group] = sum(len(part) for part in parts)
        total = sum(counts.values())
        share = max(1.0 - parameters / total, 1.0 / total)
        unknown = [group for group in self.std if group not in self.given]
        values = {g: np.sqrt(squares[g] / (counts[g] * share)) for g in unknown}
        if self.scarce:
            sum_of_squares = sum(squares[g] / self.std[g] ** 2 for g in unknown)
            common = np.sqrt(sum_of_squares / (share * sum(counts[g] for g in unknown)))
            values = {g: common * self.std[g] for g in unknown}
        before = dict(self.std)
        for group, value in values.items():
            self.std[group] = max(float(value), 1e-12 * self._magnitude(group))
        return max(abs(np.log(self.std[g] / before[g])) for g in self.std)


LOST = 1e-7
"""Singular value, relative to the largest, below which a combination is not determined: the accuracy
of derivatives by differences."""
HOPELESS = 1e-3
"""The same in absolute terms: a parameter known to a factor of exp(1000) is not known."""
LOOSE = 1.0
"""Relative standard error above which the data do not determine a parameter."""
TWINS = 0.98
"""Correlation above which two parameters are hard to distinguish."""


@dataclass
class Uncertainty:
    """Estimates with their covariance and correlation (P, P), and singular values (P,)."""

    items: list[Estimate]
    covariance: Array
    correlation: Array
    singular_values: Array
    directions: Array
    """(P, P): rows are the combinations of z of the singular values."""


def estimates(variables: Variables, minimum: Minimum, dof: float) -> Uncertainty:
    """Return the estimates at a minimum.

    dof : degrees of freedom of the noise estimate, infinite if the noise is given. With residuals in
    units of their noise, the covariance of z is (J^T J)^-1; that of the values follows with the slope
    dp/dz. Parameters in undetermined combinations get an infinite variance, and the correlation of
    the limit.
    """
    z, J = minimum.z, minimum.slopes
    _, s, directions = np.linalg.svd(J, full_matrices=False)
    good = _determined(s)
    least = 1e-2 * LOST * max(float(s[0]), 1e-100)
    covariance = (directions.T / np.where(good, s, least) ** 2) @ directions
    lost = (np.abs(directions[~good]) > 1e-3).any(axis=0)
    slope = np.array([item.slope(float(x)) for item, x in zip(variables.items, z, strict=True)])
    spread = np.sqrt(np.diag(covariance))
    safe = np.where(spread > 0, spread, 1.0)
    correlation = covariance / np.outer(safe, safe)
    np.fill_diagonal(correlation, 1.0)
    values = variables.values(z)
    items = []
    for j, item in enumerate(variables.items):
        at_bound = bool(z[j] <= item.low or z[j] >= item.high)
        error = np.inf if lost[j] else abs(slope[j]) * spread[j]
        start = item.value(item.start)
        items.append(
            Estimate(item.name, float(values[j]), float(error), start, item.factor, at_bound, dof)
        )
    covariance *= np.outer(slope, slope)
    covariance[lost, lost] = np.inf
    return Uncertainty(items, covariance, correlation, s, directions)


def _determined(s: Array) -> NDArray[np.bool_]:
    """Which combinations the data determine, by their singular values (P,)."""
    return np.asarray((s > LOST * max(float(s[0]), 1e-300)) & (s > HOPELESS))


def parameter_warnings(
    variables: Variables, minimum: Minimum, uncertainty: Uncertainty
) -> list[str]:
    """Return warnings about parameters that the data do not determine, or that are at a bound."""
    names, singular = variables.names, uncertainty.singular_values
    notes = [
        f"{item.name} stopped at its bound {item.value:g}, where its standard error is not valid: "
        "widen the bounds, or reconsider the model"
        for item in uncertainty.items
        if item.at_bound
    ]
    good = _determined(singular) & (singular >= 1.0 / LOOSE)
    for direction in uncertainty.directions[~good]:
        part = _combination(names, direction)
        fewer = "fix one of them" if part.endswith("separately") else "leave it out"
        notes.append(
            f"the data do not determine {part}: give a prior, {fewer}, or measure something that "
            "depends on it"
        )
    notes += [
        f"the data say next to nothing about {name}: its estimate is its prior"
        for name in _from_prior_alone(variables, minimum)
    ]
    mentioned = {name for text in notes for name in names if name in text}
    return notes + [
        f"{names[j]} and {names[i]} are hard to distinguish (correlation "
        f"{uncertainty.correlation[i, j]:+.4f}): their errors are coupled"
        for i, j in zip(*np.nonzero(np.tril(abs(uncertainty.correlation) > TWINS, -1)), strict=True)
        if not {names[i], names[j]} <= mentioned
    ]


def _from_prior_alone(variables: Variables, minimum: Minimum) -> list[str]:
    """Parameters about which the data say less than a hundredth of what the prior says."""
    known = [j for j, item in enumerate(variables.items) if np.isfinite(item.std)]
    data = minimum.slopes[: len(minimum.slopes) - len(known)]
    information = np.sqrt((data**2).sum(axis=0))
    return [variables.names[j] for j in known if information[j] * variables.items[j].std < 0.1]


def _combination(names: list[str], direction: Array) -> str:
    """The names of the parameters in a direction of z."""
    weight = np.abs(direction) / np.abs(direction).max()
    parts = [names[k] for k in np.argsort(-weight, kind="stable") if weight[k] > 0.1]
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]} separately"
