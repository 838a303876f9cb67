"""Storage of a tangent matrix, and where the blocks of parts and effects go in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.linalg.elimination import Enough
from pliant.linalg.matrices import Matrix, make_matrix
from pliant.linalg.scatter import scatter
from pliant.rods.contract import Array, Ints
from pliant.tree.tree import Tree

Pair = tuple[Ints, Ints]
"""Numbers of the rows (E, a) and of the columns (E, b) of E blocks of a matrix."""


class PartSlots:
    """Places of the blocks of one part: its elements, and what they share with all that moves its base.

    elements (E, n, n).  down (B, b, n - 6): columns of the base against own ones of the base elements;
    up: its mirror image, of the same shape.  joint (1, j, b), its mirror image and (1, j, j).
    """

    elements: Ints
    down: Ints
    up: Ints
    joint: tuple[Ints, Ints, Ints] | None


class Tangent:
    """Storage of a tangent with the slots of all its blocks.

    effects : per effect, the slots of the blocks that it asked for.
    prescribed : whether the matrix has the prescribed coordinates too; it is (size, size).
    coupled : whether it has the blocks of couplings between stations.
    """

    def __init__(
        self,
        tree: Tree,
        make: Callable[[int, list[Pair]], Matrix],
        effects: Sequence[list[Pair]],
        prescribed: bool = False,
        coupled: bool = True,
    ) -> None:
        self.tree = tree
        self.size = tree.total if prescribed else tree.size
        blocks = [self._part_pairs(i) for i in range(len(tree.parts))]
        pairs = [self._solved(_spread(*pair)) for part in blocks for pair in part]
        between = tree.couplings.columns(tree) if coupled else []
        wanted = [*between, *(pair for pairs in effects for pair in pairs)]
        pairs += [self._solved(_spread(*pair)) for pair in wanted]
        self.matrix = make(self.size, pairs)
        self.parts = [self._part_slots(part) for part in blocks]
        self.couplings = [self._slots(pair) for pair in between]
        """Two for each coupling of stations, see `couplings`; empty if it has none."""
        self.effects = [[self._slots(pair) for pair in wanted] for wanted in effects]
        self._mirrored: dict[tuple[int, int], Ints] = {}

    def alike(self) -> Tangent:
        """A tangent with the same slots and a matrix of its own."""
        other = copy(self)
        other.matrix = self.matrix.alike()
        return other

    def clear(self) -> None:
        """Set all to zero."""
        clear(self.matrix.data)

    def mirrored(self, effect: int, k: int) -> Ints:
        """Slots of the k-th blocks of an effect for blocks that are given transposed."""
        key = (effect, k)
        if key not in self._mirrored:
            self._mirrored[key] = np.ascontiguousarray(self.effects[effect][k].transpose(0, 2, 1))
        return self._mirrored[key]

    def add(self, slots: Ints, blocks: Array) -> None:
        """Add blocks (E, a, b)."""
        run(scatter, slots, np.ascontiguousarray(blocks), self.matrix.data)

    def _solved(self, pair: Pair) -> Pair:
        """The pair without numbers that the matrix does not have."""
        size = self.size
        return (np.where(pair[0] < size, pair[0], -1), np.where(pair[1] < size, pair[1], -1))

    def _slots(self, pair: Pair) -> Ints:
        return self.matrix.slots(*self._solved(_spread(*pair)))

    def _part_pairs(self, i: int) -> list[Pair]:
        tree, part = self.tree, self.tree.parts[i]
        base = tree.base_columns(i)
        own = part.index[part.base_elements][:, 6:]
        carriers = np.repeat(base[None], len(own), axis=0)
        pairs = [(part.index, part.index), (carriers, own), (own, carriers)]
        if part.joint.nv:
            joint, rest = part.joint_index[None], base[None, : len(base) - part.joint.nv]
            pairs += [(joint, rest), (rest, joint), (joint, joint)]
        return pairs

    def _part_slots(self, pairs: list[Pair]) -> PartSlots:
        found = PartSlots()
        slots = [self._slots(pair) for pair in pairs]
        found.elements, found.down = slots[:2]
        found.up = np.ascontiguousarray(slots[2].transpose(0, 2, 1))
        found.joint = None if len(slots) == 3 else (slots[3], slots[4], slots[5])
        return found


def _spread(rows: Ints, cols: Ints) -> Pair:
    """Row and column numbers (E, a, b) of blocks with numbers rows (E, a) and cols (E, b)."""
    shape = (len(rows), rows.shape[1], cols.shape[1])
    return (
        np.broadcast_to(rows[:, :, None], shape).copy(),
        np.broadcast_to(cols[:, None, :], shape).copy(),
    )


def new_tangent(
    tree: Tree,
    effects: Sequence[list[Pair]],
    symmetric: bool,
    enough: Enough = (),
    coupled: bool = True,
) -> Tangent:
    """A tangent in the storage that suits its pattern.

    enough : multipliers, and coordinates that can meet their rows alone.  coupled : see `Tangent`.
    """
    saddle = np.concatenate([tree.fields, tree.multipliers])

    def make(n: int, pairs: list[Pair]) -> Matrix:
        return make_matrix(n, pairs, saddle, tree.m, symmetric, enough)

    return Tangent(tree, make, effects, coupled=coupled)
