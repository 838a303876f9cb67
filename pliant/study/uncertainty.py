"""How well parameters are known: covariance, what the data cannot tell apart, suspicious residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model import Array
from pliant.results.fit import Estimate, FitData
from pliant.study.least_squares import Minimum
from pliant.study.parameters import Variables

LOST = 1e-9
"""Singular value, relative to the largest, below which a combination is not determined at all."""
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
    follows with the slope dp/dz. Combinations whose singular value is lost to rounding get an
    infinite variance.
    """
    z, J = minimum.z, minimum.slopes
    _, s, directions = np.linalg.svd(J, full_matrices=False)
    good = s > LOST * max(float(s[0]), 1e-300)
    inverse = np.where(good, 1.0 / np.where(good, s, 1.0), 0.0)
    covariance = (directions.T * inverse**2) @ directions
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
    return Uncertainty(items, covariance * np.outer(slope, slope), correlation, s, directions)


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
    for s, direction in zip(found.singular_values, found.directions, strict=True):
        lost = s <= LOST * found.singular_values[0]
        if lost or s < 1.0 / LOOSE:
            part = _combination(names, direction)
            notes.append(
                f"the data do not determine {part}: give a prior, fix one of them, or measure "
                "something that depends on it"
            )
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


def _combination(names: list[str], direction: Array) -> str:
    """Name the parameters that make up a direction in z."""
    weight = np.abs(direction) / np.abs(direction).max()
    parts = [names[k] for k in np.argsort(-weight, kind="stable") if weight[k] > 0.1]
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]} separately"


def residual_warnings(data: list[FitData]) -> list[str]:
    """Return sentences about residuals that are not noise."""
    notes = []
    for item in data:
        if not item.moving or len(item.t) < 20:
            continue
        for k, name in enumerate(item.columns):
            r = item.residuals[:, k]
            power = float(r @ r)
            scale = float(np.abs(item.measured[:, k]).max())
            if power <= (1e-6 * scale) ** 2 * len(r):
                continue
            lag = float(r[1:] @ r[:-1]) / power
            if lag > 0.5:
                notes.append(
                    f"the residuals of {name} in {item.name} follow one another (correlation "
                    f"{lag:.2f} from row to row): the model misses something, and the standard "
                    "errors are too small"
                )
    return notes
