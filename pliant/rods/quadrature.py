"""Quadrature along a rod."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pliant.rods.contract import RodMap

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


_SAME = 1e-9
"""Distance, in lengths of the rod, below which a stretch ends at a break of its map."""


def stretch_rule(rod_map: RodMap, start: float, end: float) -> tuple[Array, Array]:
    """Gauss points s (S,) and weights w (S,) between two arclengths, m.

    Its ends need not be breaks of the map, but no span crosses one: what is collected has the
    derivative of strains as a factor, and that jumps there by as much as its own size.
    """
    breaks, near = rod_map.breaks, _SAME * rod_map.rod.length
    inside = breaks[(breaks > start + near) & (breaks < end - near)]
    return gauss_per_span(np.concatenate([[start], inside, [end]]), 5)
