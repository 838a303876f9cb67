"""Quadrature along a rod."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.lie.tuples import Array
from pliant.model import Rod

if TYPE_CHECKING:
    from pliant.rods.contract import RodMap


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


def spans_with_breaks(
    rod: Rod, even: Array, fixed: bool = False, firm: Sequence[float] = ()
) -> tuple[Array, NDArray[np.bool_]]:
    """Borders (N + 1,) of the spans of a map, m, and whether strains jump at each of them (N + 1,).

    even : (n + 1,) the borders that the settings ask for. Breaks of the rod are added; unless `fixed`,
    a border that is closer to one of them than a third of its shorter span gives way to it, and borders
    are moved to points at which other parts and effects act.  firm : places that become borders too.
    """
    breaks = rod.breaks_along(rod.length)
    borders = _with_places(even, breaks.places, (), _SAME * rod.length if fixed else None)
    moved, jumps = list[float](), breaks.jumps
    if not fixed and len(rod.points) <= _MOST_POINTS:
        borders, moved = _moved_to_points(borders, breaks.places, rod.points)
    missing = [s for s in firm if np.abs(borders - s).min() > _SAME * rod.length]
    borders = _with_places(borders, missing, (*breaks.places, *firm), None)
    return borders, np.isin(borders, (*jumps, *moved, *firm))


def _with_places(
    borders: Array, places: Sequence[float], kept: Sequence[float], room: float | None
) -> Array:
    """Borders with places among them.

    A border closer to one of them than `room`, or else than a third of its shorter span, gives way
    unless it is one of those that are `kept`.
    """
    if not len(places):
        return borders
    inner, spans = borders[1:-1], np.diff(borders)
    least = np.minimum(spans[:-1], spans[1:]) / 3.0 if room is None else room
    near = np.abs(inner[:, None] - np.array(places)).min(axis=1)
    stays = inner[(near > least) | np.isin(inner, kept)]
    return np.sort(np.concatenate([borders[[0, -1]], stays, places]))


_MOST_POINTS = 4
"""Points of a rod beyond which no border moves: many act nearly as a line load, and where strains jump
a spline needs more control points."""


def _moved_to_points(
    borders: Array, firm: Sequence[float], points: Sequence[float]
) -> tuple[Array, list[float]]:
    """Borders of spans, of which the nearest to each point moved there, and these points.

    No span is added: a point that is farther than half a span from all borders that can move, or closer
    than a quarter of one to a break or to another point, is left out.
    """
    borders, taken = borders.copy(), list[float]()
    widths = np.minimum(np.diff(borders)[:-1], np.diff(borders)[1:])
    free = ~np.isin(borders[1:-1], firm)
    for s in points:
        if not free.any():
            break
        k = int(np.argmin(np.where(free, np.abs(borders[1:-1] - s), np.inf)))
        apart = min((abs(s - other) for other in (*firm, *taken)), default=np.inf)
        if abs(borders[1 + k] - s) <= 0.5 * widths[k] and apart > 0.25 * widths[k]:
            borders[1 + k], free[k] = s, False
            taken.append(s)
    return borders, taken


_SAME = 1e-9
"""Distance, in lengths of the rod, below which a stretch ends at a break of its map."""


def stretch_rule(
    rod_map: RodMap, start: float, end: float, more: Sequence[float] = ()
) -> tuple[Array, Array]:
    """Gauss points s (S,) and weights w (S,) between two arclengths, m, with `more` breaks.

    Its ends need not be breaks of the map, but no span crosses one: what is collected has the
    derivative of strains as a factor, and that jumps there by as much as its own size.
    """
    near = _SAME * rod_map.rod.length
    breaks = np.unique(np.concatenate([rod_map.breaks, more]))
    breaks = breaks[np.diff(breaks, prepend=-np.inf) > near]
    inside = breaks[(breaks > start + near) & (breaks < end - near)]
    return gauss_per_span(np.concatenate([[start], inside, [end]]), 5)


_TOTAL = 1e-5
"""Part of the total of a load that its stations may leave out."""


def line_rule(
    rod_map: RodMap,
    over: tuple[float, float] | None,
    breaks: Sequence[float],
    density: Callable[[Array], Array] | None,
) -> tuple[Array, Array] | None:
    """Stations (S,), m, and weights (S,) of what acts along a rod; None where its mass rule serves.

    over : the stretch that it covers, None for the whole rod.  breaks : where it jumps or peaks.
    density : its value (S, k) at arclengths (S,), None if it is not known beforehand. Where spans of
    the map are too long to collect its total, they are cut.
    """
    start, end = over or (0.0, rod_map.rod.length)
    plain = over is None and not len(breaks)
    rule = rod_map.mass_rule() if plain else stretch_rule(rod_map, start, end, breaks)
    if density is not None:
        even = np.linspace(start, end, 17)[1:-1]
        fine = stretch_rule(rod_map, start, end, [*breaks, *even])
        values = density(fine[0])
        gap = rule[1] @ density(rule[0]) - fine[1] @ values
        if np.abs(gap).max() > _TOTAL * (fine[1] @ np.abs(values)).max():
            return fine
    return None if plain else rule
