"""What touches what in a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model import Array


@dataclass(frozen=True, eq=False)
class Contacts:
    """The places of one contact, N of them; in a motion all arrays have a leading axis T.

    part, other : (N,) names of what may touch and of what may be touched: rods, parts, surfaces.
    s : (N,) arclengths on rods, metres.  gap : (N,) distance of the surfaces, metres, below zero where
    they overlap; between rods that are far from each other a lower bound.
    point, normal : (N, 3) in the world; the normal points to the first side.
    force : (N, 3) on the first side, N, world frame; friction included in a motion.
    """

    part: tuple[str, ...]
    other: tuple[str, ...]
    s: Array
    gap: Array
    point: Array
    normal: Array
    force: Array

    @property
    def touching(self) -> Array:
        """(N,): where there is a force."""
        return np.asarray(self.force.any(axis=-1))

    @property
    def total(self) -> Array:
        """(3,): the sum of all forces on the first side, N, world frame."""
        return np.asarray(self.force.sum(axis=-2))
