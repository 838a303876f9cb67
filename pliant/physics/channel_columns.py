"""Derivatives of the strains in channels in the numbers of all coordinates that change them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import ask, run
from pliant.physics.channel_route import Channel
from pliant.rods.contract import Array, Ints
from pliant.tree import collect
from pliant.tree.state import State
from pliant.tree.tree import Tree


class ChannelColumns:
    """The numbers that the strains of some channels depend on: `columns` (n,), increasing.

    others : more numbers that a user of the columns needs.
    """

    def __init__(
        self, tree: Tree, channels: Sequence[Channel], others: Sequence[Ints] = ()
    ) -> None:
        self.channels = channels
        own = [(c.part.index, tree.base_columns(c.i)) for c in channels]
        flat = [*others, *(part.ravel() for pair in own for part in pair)]
        columns = np.unique(np.concatenate(flat))
        self.columns = columns[columns >= 0]
        self._own = [(self.find(numbers), self.find(base)) for numbers, base in own]
        self._slots = [_slots_in_elements(c) for c in channels]
        counts = np.cumsum([0, *(len(c.rows) for c in channels)]).tolist()
        self.stations = list(pairwise(counts))
        """First and last but one of the stations of each channel among those of all."""

    def find(self, numbers: Ints) -> Ints:
        """Places of numbers among the columns, -1 for none."""
        return np.where(numbers >= 0, np.searchsorted(self.columns, np.maximum(numbers, 0)), -1)

    def add(self, state: State, slopes: Sequence[Array], out: Array) -> None:
        """Add the derivative of what has slopes (S, 6) in the strains of each channel to out (n,)."""
        for c, slope, places in zip(self.channels, slopes, self._own, strict=True):
            part, here = c.part, state.parts[c.i]
            E, n = part.map.elements.shape
            rows, lifted = np.zeros((E, part.map.m)), np.zeros((E, 1, n))
            clear(rows)
            where = (here.strain.element[c.at], here.strain.B[c.at])
            run(collect.add_vector, *where, slope, rows)
            ask(part.map.lift_rows, here.c, rows.reshape(E, 1, -1), lifted)
            run(add_entries, lifted, places[0], out)
            if len(places[1]):
                above = state.base_jacobian(c.i)
                run(add_base_entries, part.base_elements, lifted, above, places[1], out)

    def strains(self, state: State) -> Array:
        """Derivative (N, 6, n) of the strains at all stations."""
        found = np.zeros((self.stations[-1][1], 6, len(self.columns)))
        clear(found)
        for c, places, (slots, most), (first, last) in zip(
            self.channels, self._own, self._slots, self.stations, strict=True
        ):
            part, here = c.part, state.parts[c.i]
            E, n = part.map.elements.shape
            rows, lifted = np.zeros((E, 6 * most, part.map.m)), np.zeros((E, 6 * most, n))
            clear(rows)
            element = here.strain.element[c.at]
            run(put_strains, element, slots, here.strain.B[c.at], rows)
            ask(part.map.lift_rows, here.c, rows, lifted)
            out = found[first:last]
            run(spread_strains, element, slots, lifted, places[0], out)
            if len(places[1]):
                above, based = state.base_jacobian(c.i), np.zeros(E)
                based[part.base_elements] = 1.0
                run(spread_base_strains, element, slots, based, lifted, above, places[1], out)
        return found


def _slots_in_elements(c: Channel) -> tuple[Ints, int]:
    """Which station of its element each one (S,) of a channel is, and how many an element has."""
    element = c.part.map.strains(c.part.strain_s).element[c.at]
    slots = np.zeros(len(element), dtype=np.int64)
    for e in np.unique(element):
        mine = element == e
        slots[mine] = np.arange(mine.sum())
    return slots, int(slots.max()) + 1


@kernel
def add_entries(lifted, places, out):  # type: ignore[no-untyped-def]
    """out[places] += lifted (E, 1, n), places (E, n), where there is a place."""
    for e in range(places.shape[0]):
        for i in range(places.shape[1]):
            if places[e, i] >= 0:
                out[places[e, i]] += lifted[e, 0, i]


@kernel
def add_base_entries(elements, lifted, above, places, out):  # type: ignore[no-untyped-def]
    """out[places] += lifted[elements, 0, :6] above, above (6, b), places (b,)."""
    for k in range(elements.shape[0]):
        for j in range(places.shape[0]):
            for a in range(6):
                out[places[j]] += lifted[elements[k], 0, a] * above[a, j]


@kernel
def put_strains(element, slots, B, rows):  # type: ignore[no-untyped-def]
    """Put B (S, 6, m) into the rows (E, 6 K, m) of its elements."""
    for s in range(B.shape[0]):
        for i in range(6):
            for a in range(B.shape[2]):
                rows[element[s], 6 * slots[s] + i, a] = B[s, i, a]


@kernel
def spread_strains(element, slots, lifted, places, out):  # type: ignore[no-untyped-def]
    """out (S, 6, N)[:, :, places] += the rows of lifted (E, 6 K, n) of each station."""
    for s in range(slots.shape[0]):
        e = element[s]
        for a in range(places.shape[1]):
            at = places[e, a]
            if at >= 0:
                for i in range(6):
                    out[s, i, at] += lifted[e, 6 * slots[s] + i, a]


@kernel
def spread_base_strains(element, slots, based, lifted, above, places, out):  # type: ignore[no-untyped-def]
    """out (S, 6, N)[:, :, places] += lifted[..., :6] above, of elements at the base; above (6, b)."""
    for s in range(slots.shape[0]):
        e = element[s]
        if based[e] == 0.0:
            continue
        for j in range(places.shape[0]):
            if places[j] < 0:
                continue
            for i in range(6):
                for a in range(6):
                    out[s, i, places[j]] += lifted[e, 6 * slots[s] + i, a] * above[a, j]
