"""A chain of rods cut into intervals of integration."""

from __future__ import annotations

import numpy as np

from pliant.bvp.chain import BODY, WRENCH, Chain
from pliant.bvp.energy_balance import Balance, new_balance
from pliant.bvp.sections import Sections
from pliant.bvp.shooting.integration import Intervals
from pliant.lie.tuples import Array

STAGES = 4
"""Stations of an interval: one for each stage of RK4, at its start, twice in its middle, at its end.
Each stage has a history of its own, so that what rests in one time step rests in the next."""


class Mesh(Sections):
    """The chain on N intervals; stations are the stages of each.

    first : (pieces + 1,) first interval of each piece.  edges : of the intervals of each piece, m.
    intervals : what kernels read.  body_places : (B,) of the 2 N ends of intervals, those of bodies.
    """

    def __init__(self, chain: Chain, edges: list[Array]) -> None:
        counts = [len(e) - 1 for e in edges]
        self.edges, self.N = edges, sum(counts)
        self.first = np.concatenate([[0], np.cumsum(counts)])
        a, b = (np.concatenate([e[part] for e in edges]) for part in (slice(-1), slice(1, None)))
        s = np.stack([a, 0.5 * (a + b), 0.5 * (a + b), b], axis=1)
        super().__init__(
            chain, np.repeat(np.arange(len(counts)), STAGES * np.array(counts)), s.ravel()
        )
        groups = np.zeros(self.N + 2, dtype=np.int64)
        groups[[*(self.first[:-1] + 1), self.N + 1]] = np.diff(self.jumps.first)
        self.jumps = self.jumps._replace(first=np.cumsum(groups))
        table = self.table.reshape(self.N, STAGES, -1)
        own = np.array([0 if self.own is None else self.own.address], dtype=np.int64)
        self.intervals = Intervals(np.ascontiguousarray(b - a), table, self.jumps, own)
        self._ends = 2 * self.first[:-1], 2 * self.first[1:] - 1
        self.body_places = self.places(BODY, *self._ends)
        self.rest()

    def balance(self, totals: Array) -> Balance:
        """An energy balance whose stations are weighted as the stages of RK4."""
        h = self.intervals.h
        weights = (h[:, None] * np.array([1.0, 2.0, 2.0, 1.0]) / 6.0).ravel()
        station = (STAGES * np.arange(self.N)[:, None] + np.array([0, STAGES - 1])).ravel()
        line = np.stack([station, np.arange(2 * self.N)], axis=1)
        sites = self.places(WRENCH, *self._ends)
        return new_balance(self, totals, weights, sites, line, np.repeat(0.5 * h, 2))


def even_edges(chain: Chain, steps: int) -> list[Array]:
    """About `steps` equal intervals over the chain, whole numbers of them in each piece."""
    found = []
    for piece in chain.pieces:
        count = piece.intervals(steps, chain.length)
        found.append(np.linspace(piece.a, piece.b, count + 1))
    return found
