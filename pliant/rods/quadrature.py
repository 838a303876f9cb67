"""Quadrature along a rod."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@lru_cache
def gauss_points(points: int) -> tuple[Array, Array]:
    """Gauss-Legendre points and weights (points,) on [-1, 1]; not to be changed."""
    x, w = np.polynomial.legendre.leggauss(points)
    return x, w


def gauss_per_span(breaks: Array, points: int) -> tuple[Array, Array]:
    """Gauss-Legendre stations and weights, `points` in each span of `breaks` (m)."""
    x, w = gauss_points(points)
    h = np.diff(breaks)[:, None]
    return (breaks[:-1, None] + 0.5 * h * (x + 1)).ravel(), (0.5 * h * w).ravel()
