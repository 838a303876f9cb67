"""What a search for contacts finds: one row for each pair of surfaces that may touch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.rods.contract import Array, Ints

SIDES = 4
"""Stations that a row depends on at most."""


class Found(NamedTuple):
    """M rows between stations of a pool.

    at (M, 4) : stations of the pool, -1 for none.  gap (M,) : phi, m, above zero where they overlap.
    slopes (M, 4, 6) : derivatives of phi in the body twists of the stations.
    normal (M, 3) : from the second surface to the first; point (M, 3) : between both; world frame.
    weight (M, 4) : shares of the stations in the velocity of the first surface at the point, minus
    those in the velocity of the second.  place (M, 2) : of the point between the stations of each side,
    0 to 1.
    """

    at: Ints
    gap: Array
    slopes: Array
    normal: Array
    point: Array
    weight: Array
    place: Array


def nothing_found(count: int) -> Found:
    """Arrays for `count` rows."""
    return Found(
        np.full((count, SIDES), -1, dtype=np.int64),
        np.full(count, -np.inf),
        np.zeros((count, SIDES, 6)),
        np.zeros((count, 3)),
        np.zeros((count, 3)),
        np.zeros((count, SIDES)),
        np.zeros((count, 2)),
    )
