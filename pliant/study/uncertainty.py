"""How well parameters are known: covariance, and what the data cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array
from pliant.results.fit import Estimate
from pliant.study.least_squares import Minimum
from pliant.study.parameters import Variables

LOST = 1e-7
"""Singular value, relative to the largest, below which a combination is not determined at all: less
than derivatives by differences are good for."""
HOPELESS = 1e-3
"""The same as a number: a parameter known to a factor of exp(1000) is not known."""
LOOSE = 1.0
"""Standard error, relative to the parameter, above which the data say nothing about it."""
TWINS = 0.98
"""Correlation above which two parameters are told apart by little."""


@dataclass
class Uncertainty:
    """Estimates with their covariance and correlation (P, P), and singular values (P,)."""

    items: list[Estimate]
    covariance: Array
    correlation: Array
    singular_values: Array
    directions: Array
    """(P, P): rows are the combinations of z that belong to the singular values."""


def estimates(variables: Variables, minimum: Minimum, dof: float) -> Uncertainty:
    """Return the estimates at a minimum; dof : those of the noise, infinite where it was given.

    With residuals in units of their noise the covariance of z is (J^T J)^-1; that of the values
    follows with the slope dp/dz. Parameters in combinations whose singular value is lost to rounding
    get an infinite variance, and the correlation that they have in the limit.
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
            Estimate(item.name, float(values[j]), float(error), start, item.whole, at_bound, dof)
        )
    covariance *= np.outer(slope, slope)
    covariance[lost, lost] = np.inf
    return Uncertainty(items, covariance, correlation, s, directions)


def _determined(s: Array) -> NDArray[np.bool_]:
    """Which combinations, by their singular values (P,), the data say anything about."""
    return np.asarray((s > LOST * max(float(s[0]), 1e-300)) & (s > HOPELESS))


def judged(variables: Variables, minimum: Minimum, found: Uncertainty) -> list[str]:
    """Return sentences about parameters that the data do not determine, or that met a bound."""
    notes = []
    for item in found.items:
        if item.at_bound:
            notes.append(
                f"{item.name} stopped at its bound {item.value:g}: its standard error does not "
                "hold; widen the bounds, or ask whether the model is right"
            )
    names = variables.names
    good = _determined(found.singular_values) & (found.singular_values >= 1.0 / LOOSE)
    for clear, direction in zip(good, found.directions, strict=True):
        if not clear:
            part = _combination(names, direction)
            fewer = "fix one of them" if part.endswith("separately") else "leave it out"
            notes.append(
                f"the data do not determine {part}: give a prior, {fewer}, or measure something that "
                "depends on it"
            )
    notes += [
        f"the data say next to nothing about {name}: what is found is its prior"
        for name in _from_prior_alone(variables, minimum)
    ]
    told = {name for text in notes for name in names if name in text}
    for i in range(len(names)):
        for j in range(i):
            close = abs(found.correlation[i, j])
            if close > TWINS and not {names[i], names[j]} <= told:
                notes.append(
                    f"{names[j]} and {names[i]} are hard to tell apart (correlation "
                    f"{found.correlation[i, j]:+.4f}): their errors go together"
                )
    return notes


def _from_prior_alone(variables: Variables, minimum: Minimum) -> list[str]:
    """Parameters of whose prior no more than a hundredth was needed to tell as much as the data do."""
    known = [j for j, item in enumerate(variables.items) if np.isfinite(item.std)]
    data = minimum.slopes[: len(minimum.slopes) - len(known)]
    told = np.sqrt((data**2).sum(axis=0))
    return [variables.names[j] for j in known if told[j] * variables.items[j].std < 0.1]


def _combination(names: list[str], direction: Array) -> str:
    """Name the parameters that make up a direction in z."""
    weight = np.abs(direction) / np.abs(direction).max()
    parts = [names[k] for k in np.argsort(-weight, kind="stable") if weight[k] > 0.1]
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]} separately"
