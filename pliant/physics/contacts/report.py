"""What results tell of a contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.physics.contacts.found import Found
from pliant.rods.contract import Array

if TYPE_CHECKING:
    from pliant.physics.contacts.search import Search


@dataclass
class Touches:
    """The places of one contact at one instant, M of them.

    parts, others : names of what touches and of what is touched.  s (M,) : arclengths on rods, m.
    gap (M,) : distance of the surfaces, m; below zero where they overlap.  point, normal (M, 3) : world
    frame; the normal points to the first side.  force (M, 3) : on the first side, N, world frame.
    """

    parts: list[str]
    others: list[str]
    s: Array
    gap: Array
    point: Array
    normal: Array
    force: Array


def touches_of(search: Search, found: Found, force: Array) -> Touches:
    """What a search has found, with forces (M, 3)."""
    names = list(zip(*search.labels, strict=True)) or [(), ()]
    s = search.s.copy()
    for first, segments in search.segments:
        rows = slice(first, first + len(segments.first) - 1)
        s[rows] += found.place[rows, 0] * np.diff(segments.s_first)
    return Touches(
        list(names[0]),
        list(names[1]),
        s,
        -found.gap,
        found.point.copy(),
        found.normal.copy(),
        force,
    )
