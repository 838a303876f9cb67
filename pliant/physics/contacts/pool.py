"""Frame stations of several parts under one numbering, with their Jacobians, for effects between many.

A contact meets whatever it finds near: which stations act on which changes from step to step. So all
stations that may take part are gathered into arrays with one row each: frames G (P, 4, 4), twists
(P, 6), wrenches (P, 6) and Jacobians (P, 6, c) in `columns` (P, c), numbers of the robot, -1 for none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import ask, run
from pliant.rods.contract import Array, Ints
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


@dataclass
class _Group:
    """The stations of one part: its number, stations (N,) and their places in the pool (N,).

    element, row (N,) : element of each station and which of its rows is lifted; entries (N, c) : which
    columns of the element move it, -1 for none; based (N,) : how many of these come before those that
    move the base, -1 if the base does not move it.
    """

    part: int
    stations: Ints
    places: Ints
    element: Ints
    row: Ints
    entries: Ints
    based: Ints


class Pool:
    """Stations of a tree, asked for by part and number."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.sides: list[tuple[int, int]] = []

    def add(self, side: tuple[int, int]) -> int:
        """Place of a station, which is added."""
        if side not in self.sides:
            self.sides.append(side)
        return self.sides.index(side)

    def __len__(self) -> int:
        return len(self.sides)

    def close(self, tree: Tree) -> None:
        """Take over the numbers of the tree."""
        columns = [tree.frame_columns(*side) for side in self.sides]
        width = max((len(x) for x in columns), default=0)
        self.columns = np.full((len(self.sides), width), -1, dtype=np.int64)
        for row, numbers in zip(self.columns, columns, strict=True):
            row[: len(numbers)] = numbers
        parts = sorted({i for i, _ in self.sides})
        self._groups = [self._group(i, width) for i in parts]

    def _group(self, i: int, width: int) -> _Group:
        tree = self.tree
        places = np.array([k for k, side in enumerate(self.sides) if side[0] == i])
        stations = np.array([self.sides[k][1] for k in places])
        element = tree.rest.parts[i].element[stations]
        row = np.array([int(np.sum(element[:n] == e)) for n, e in enumerate(element)])
        entries, based = np.full((len(places), width), -1), np.full(len(places), -1)
        for n, station in enumerate(stations):
            own, hangs = tree.frame_entries(i, int(station))
            entries[n, : len(own)] = own
            if hangs:
                based[n] = len(own)
        return _Group(i, stations, places, element, row, entries, based)

    # -- gathering -----------------------------------------------------------------------------

    def frames(self, state: State) -> Array:
        """Frames (P, 4, 4) at a state."""
        G = np.zeros((len(self), 4, 4))
        for group in self._groups:
            run(take_frames, state.parts[group.part].g, group.stations, group.places, G)
        return G

    def twists(self, work: Work) -> Array:
        """Body twists (P, 6) of a moment."""
        eta = np.zeros((len(self), 6))
        for group in self._groups:
            run(take_rows, work.parts[group.part].eta, group.stations, group.places, eta)
        return eta

    def jacobians(self, state: State) -> Array:
        """Twists (P, 6, c) of all stations in the numbers of `columns`."""
        out = np.zeros((len(self), 6, self.columns.shape[1]))
        for group in self._groups:
            at, part = state.parts[group.part], self.tree.parts[group.part]
            E, n = part.map.elements.shape
            many = 6 * (1 + int(np.max(group.row)))
            rows, lifted = np.zeros((E, many, part.map.m)), np.zeros((E, many, n))
            where = (group.stations, group.element, group.row)
            run(set_lifted_rows, at.J, *where, rows)
            ask(part.map.lift_rows, at.c, rows, lifted)
            above = state.base_jacobian(group.part)
            what = (group.places, group.element, group.row, group.entries, group.based)
            run(spread_jacobians, lifted, above, *what, out)
        return out

    def add_wrenches(self, wrenches: Array, work: Work, arriving: bool = False) -> None:
        """Add rows (P, 6) to the gradients at the stations, or to what arrives there."""
        for group in self._groups:
            w = work.parts[group.part]
            run(add_rows, wrenches, group.places, group.stations, w.pb if arriving else w.p)


@kernel
def take_frames(g, stations, places, out):  # type: ignore[no-untyped-def]
    """out[places] = g[stations], frames (4, 4)."""
    for n in range(stations.shape[0]):
        for i in range(4):
            for j in range(4):
                out[places[n], i, j] = g[stations[n], i, j]


@kernel
def take_rows(rows, stations, places, out):  # type: ignore[no-untyped-def]
    """out[places] = rows[stations], rows (6,)."""
    for n in range(stations.shape[0]):
        for j in range(6):
            out[places[n], j] = rows[stations[n], j]


@kernel
def add_rows(rows, places, stations, out):  # type: ignore[no-untyped-def]
    """out[stations] += rows[places], rows (6,)."""
    for n in range(stations.shape[0]):
        for j in range(6):
            out[stations[n], j] += rows[places[n], j]


@kernel
def set_lifted_rows(J, stations, element, row, rows):  # type: ignore[no-untyped-def]
    """rows[element, 6 row ...] = J[stations]: six rows (6, m) for each station."""
    for n in range(stations.shape[0]):
        for i in range(6):
            for a in range(J.shape[2]):
                rows[element[n], 6 * row[n] + i, a] = J[stations[n], i, a]


@kernel
def spread_jacobians(lifted, above, places, element, row, entries, based, out):  # type: ignore[no-untyped-def]
    """out[places] (6, c): columns `entries` of the lifted rows, then those that move the base, above
    (6, b), through the first six columns of the element.
    """
    for n in range(places.shape[0]):
        for i in range(6):
            source = lifted[element[n], 6 * row[n] + i]
            target = out[places[n], i]
            for a in range(entries.shape[1]):
                if entries[n, a] >= 0:
                    target[a] = source[entries[n, a]]
            if based[n] >= 0:
                for b in range(above.shape[1]):
                    v = 0.0
                    for a in range(6):
                        v += source[a] * above[a, b]
                    target[based[n] + b] = v
