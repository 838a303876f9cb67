"""Basis functions of curves: of B-splines, only those that are alive, and cumulative ones as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from pliant.engine.by_value import by_value
from pliant.lie.tuples import Array, Ints
from pliant.model import DescriptionError


def find_span(knots: Array, s: Array) -> tuple[Ints, Ints]:
    """Number of the non-empty span (S,) of each s, and the knot index where each span begins."""
    spans = np.flatnonzero(np.diff(knots) > 0)
    element = np.searchsorted(knots[spans], s, side="right") - 1
    return np.clip(element, 0, len(spans) - 1), spans


def alive(knots: Array, degree: int, s: Array, span: Ints) -> Array:
    """Values (S, degree + 1) of the basis functions span - degree .. span at s, span (S,).

    Cox and de Boor's recursion, from degree 0 upwards.
    """
    values = np.ones((len(s), 1))
    for d in range(1, degree + 1):
        raised = np.zeros((len(s), d + 1))
        for j in range(d):
            left = knots[span - d + 1 + j]
            right = knots[span + 1 + j]
            share = values[:, j] / (right - left)
            raised[:, j] += (right - s) * share
            raised[:, j + 1] += (s - left) * share
        values = raised
    return values


@by_value(128)
def cumulative_splines(s: Array, knots: Array, degree: int) -> tuple[Ints, Array, Array]:
    """Span (S,), and cumulative B-splines and their slopes (S, degree), at arclengths s (S,), m."""
    k, t = degree, knots
    element, spans = find_span(t, s)
    span = spans[element]
    tails = np.cumsum(alive(t, k, s, span)[:, ::-1], axis=1)[:, ::-1]
    columns = span[:, None] - k + np.arange(1, k + 1)
    slope = k * alive(t, k - 1, s, span) / (t[columns + k] - t[columns])
    return element, np.ascontiguousarray(tails[:, 1:]), slope


# -- cumulative functions as data -----------------------------------------------------------------

Function = Callable[[float], float]
_INTERPOLATED = 40
"""Degree of the polynomials that stand for functions of the user, and that give their slopes."""
_SMOOTH = 1e-8
"""How far such a polynomial may be from its function."""
_COMPLETE = 1e-6
"""Part of a uniform strain that a basis may miss."""


class Cumulative(NamedTuple):
    """Cumulative functions of one span, each from 0 at its start to 1 at its end.

    functions, slopes : of x in [0, 1].  shares : increments (k,) of a uniform strain, as parts of that
    over the whole span.
    """

    functions: tuple[Callable[[Array], Array], ...]
    slopes: tuple[Callable[[Array], Array], ...]
    shares: Array

    def at(self, x: Array) -> tuple[Array, Array]:
        """Values and slopes (S, k) at x (S,)."""
        return (
            np.stack([f(x) for f in self.functions], axis=1),
            np.stack([f(x) for f in self.slopes], axis=1),
        )


def power_basis(degree: int) -> list[Polynomial]:
    """Monomials x, ..., x^degree.

    Table 2 of Xun et al. (2025) sums them from the last one on. The sums span the same functions, but a
    uniform strain needs large increments of opposite signs in them, 3 and -2 for degree 3.
    """
    return [Polynomial([0.0] * i + [1.0]) for i in range(1, degree + 1)]


@lru_cache(maxsize=32)
def cumulative_basis(basis: str | tuple[Function, ...], degree: int) -> Cumulative:
    """The functions of a span by name, "power", or as the user gives them.

    Each is divided by its end value, which only changes the unit of its increment. Refused are
    functions that do not start at zero, are not smooth, or cannot hold a uniform strain together: x
    must be a sum of them, or a rod would be too stiff however fine it is.
    """
    own: Sequence[Polynomial | Chebyshev]
    own = power_basis(degree) if basis == "power" else [_smooth(f) for f in basis if callable(f)]
    ends = [(float(f(0.0)), float(f(1.0))) for f in own]
    for start, end in ends:
        if abs(start) > _SMOOTH or abs(end) < _SMOOTH:
            expected = "functions of x that are 0 at x = 0 and not 0 at x = 1"
            raise _refused(f"one from {start:.3g} to {end:.3g}", expected, "give e.g. lambda x: x")
    own = [f / end for f, (_, end) in zip(own, ends, strict=True)]
    slopes = [f.deriv() for f in own]
    x = 0.5 - 0.5 * np.cos(np.pi * np.arange(65) / 64)
    A = np.stack([f(x) for f in slopes], axis=1)
    shares = np.linalg.lstsq(A, np.ones(len(x)), rcond=None)[0]
    missed = float(np.max(np.abs(A @ shares - 1.0)))
    if missed > _COMPLETE:
        raise _refused(
            f"{len(own)} function{'s' if len(own) > 1 else ''}",
            "a basis that can hold a uniform strain: no sum of these is x, they miss up to "
            f"{missed:.0%} of it, and a rod would be too stiff however fine it is",
            "add the function lambda x: x and raise the degree by one",
        )
    return Cumulative(tuple(own), tuple(slopes), np.asarray(shares, dtype=float))


def _smooth(function: Function) -> Chebyshev:
    """A polynomial in place of a function of x in [0, 1]."""
    found = Chebyshev.interpolate(
        lambda x: np.array([float(function(float(point))) for point in x]),
        _INTERPOLATED,
        domain=[0.0, 1.0],
    )
    x = np.linspace(0.0, 1.0, 97)
    gap = np.max(np.abs(found(x) - [float(function(float(point))) for point in x]))
    if not gap < _SMOOTH:
        expected = "smooth functions of x in [0, 1]"
        raise _refused(function, expected, "put kinks between spans, not inside of them")
    return found


def _refused(value: object, expected: str, remedy: str) -> DescriptionError:
    return DescriptionError("formulation BSpline", "basis", value, expected, remedy)
