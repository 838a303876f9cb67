"""B-spline basis functions, only those that are alive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


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
