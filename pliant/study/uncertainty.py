"""Uncertainty of parameters: covariance, and combinations that the data do not determine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array
from pliant.results.fit import Estimate
from pliant.study.least_squares import Minimum
from pliant.study.parameters import Variables

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
