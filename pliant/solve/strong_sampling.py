"""Poses, strains, velocities and wrenches of a chain at any arclength, for results."""

from __future__ import annotations

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import State
from pliant.bvp.knots import interpolated
from pliant.lie.tuples import Array


class StrongSampler:
    """Answers questions about states of a chain, by rod name and arclength."""

    def __init__(self, chain: Chain) -> None:
        self._pieces = {
            rod.name: [(k, p.b) for k, p in enumerate(chain.pieces) if p.rod is rod]
            for rod in chain.rods
        }

    def at(
        self, state: State, rod: str, s: Array, fields: tuple[str, ...], poses: bool = False
    ) -> State:
        """What is asked for at s (S,) of a rod; where pieces meet, on the side of the base."""
        where = np.asarray(s, dtype=float)
        numbers, ends = (np.array(column) for column in zip(*self._pieces[rod], strict=True))
        index = np.searchsorted(ends, where - 1e-12 * ends[-1])
        piece = numbers[np.clip(index, 0, len(ends) - 1)]
        return interpolated(state, piece, where, fields, poses)

    def poses(self, q: State, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4) of a rod's sections at arclengths s (S,)."""
        return self.at(q, rod, s, (), poses=True).pose

    def strains(self, q: State, rod: str, s: Array) -> Array:
        """Strains (S, 6) at s, body frame."""
        return self.at(q, rod, s, ("strain",)).strain

    def wrenches(self, q: State, rod: str, s: Array) -> Array:
        """Internal wrenches (S, 6) at s, body frame."""
        return self.at(q, rod, s, ("wrench",)).wrench

    def velocities(self, q: State, v: object, rod: str, s: Array) -> Array:
        """Body twists (S, 6) at s; a state holds its own."""
        return self.at(q, rod, s, ("velocity",)).velocity
