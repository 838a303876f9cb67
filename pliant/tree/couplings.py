"""Couplings between frame stations: blocks of a tangent by which what acts at one depends on another.

An effect between stations asks the tree for a coupling of two of them and adds to `work.cross` the
derivatives of its gradients, (2, 6, 6): that of the first station in the chart of the second, and that
of the second in the chart of the first. Effects that couple the same stations share a coupling, so that
its blocks are carried to the coordinates once, however many tendons run through two disks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run

if TYPE_CHECKING:
    from pliant.rods.contract import Array, Ints
    from pliant.tree.state import State
    from pliant.tree.tangent import Tangent
    from pliant.tree.tree import Tree

Station = tuple[int, int]
"""Number of a part, and frame station of it."""


class Couplings:
    """Pairs of stations, each with the smaller one first."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Station, Station]] = []
        self._number: dict[tuple[Station, Station], int] = {}

    def add(self, a: Station, b: Station) -> tuple[int, bool]:
        """Number of the coupling of two stations, made if needed; whether b comes first in it."""
        pair = (min(a, b), max(a, b))
        if pair not in self._number:
            self._number[pair] = len(self.pairs)
            self.pairs.append(pair)
        return self._number[pair], a > b

    def __len__(self) -> int:
        return len(self.pairs)

    def columns(self, tree: Tree) -> list[tuple[Ints, Ints]]:
        """Numbers of rows (1, a) and columns (1, b) of all blocks, two for each coupling."""
        found = []
        for a, b in self.pairs:
            first, second = tree.frame_columns(*a)[None], tree.frame_columns(*b)[None]
            found += [(first, second), (second, first)]
        return found


def add_couplings(tree: Tree, left: State, right: State, cross: Array, tangent: Tangent) -> None:
    """Add cross (N, 2, 6, 6) between variations of `left` and `right` to a tangent that has them."""
    if not tangent.couplings:
        return
    for n, (a, b) in enumerate(tree.couplings.pairs):
        for side, (row, col) in enumerate(((a, b), (b, a))):
            slots = tangent.couplings[2 * n + side]
            if slots.size:
                J, other = left.frame_jacobian(*row), right.frame_jacobian(*col)
                run(add_coupled, J, cross[n, side], other, slots[0], tangent.matrix.data)


@kernel
def add_coupled(left, k, right, slots, data):  # type: ignore[no-untyped-def]
    """data[slots] += left^T k right, left (6, a), k (6, 6), right (6, b), slots (a, b)."""
    a, b = slots.shape
    row = np.empty(b)
    for i in range(6):
        alive = False
        for c in range(b):
            row[c] = 0.0
        for j in range(6):
            v = k[i, j]
            if v != 0.0:
                alive = True
                for c in range(b):
                    row[c] += v * right[j, c]
        if alive:
            for r in range(a):
                v = left[i, r]
                if v != 0.0:
                    for c in range(b):
                        at = slots[r, c]
                        if at >= 0:
                            data[at] += v * row[c]
