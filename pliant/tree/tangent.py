"""Storage of a tangent matrix, and where the blocks of parts and effects go in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.by_value import by_value
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
        make: Callable[[int, list[Pair]], Matrix] | Layout,
        effects: Sequence[list[Pair]],
        prescribed: bool = False,
        coupled: bool = True,
    ) -> None:
        self.tree = tree
        self.size = tree.total if prescribed else tree.size
        parts = [self._part_pairs(i) for i in range(len(tree.parts))]
        between = tree.couplings.columns(tree) if coupled else []
        pairs = [pair for some in (*parts, between, *effects) for pair in some]
        if isinstance(make, Layout):
            self.matrix, slots = make.of(self.size, pairs)
        else:
            self.matrix, slots = _laid_out(make, self.size, pairs)
        each = iter(slots)
        self.parts = [_part_slots([next(each) for _ in part]) for part in parts]
        self.couplings = [next(each) for _ in between]
        """Two for each coupling of stations, see `couplings`; empty if it has none."""
        self.effects = [[next(each) for _ in wanted] for wanted in effects]
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


def _part_slots(slots: list[Ints]) -> PartSlots:
    found = PartSlots()
    found.elements, found.down = slots[:2]
    found.up = np.ascontiguousarray(slots[2].transpose(0, 2, 1))
    found.joint = None if len(slots) == 3 else (slots[3], slots[4], slots[5])
    return found


def _laid_out(
    make: Callable[[int, list[Pair]], Matrix], size: int, pairs: Sequence[Pair]
) -> tuple[Matrix, list[Ints]]:
    """A matrix (size, size) that has all blocks, and their slots."""
    known = [_solved(_spread(*pair), size) for pair in pairs]
    matrix = make(size, known)
    return matrix, [matrix.slots(*pair) for pair in known]


def _solved(pair: Pair, size: int) -> Pair:
    """The pair without numbers that the matrix does not have."""
    return (np.where(pair[0] < size, pair[0], -1), np.where(pair[1] < size, pair[1], -1))


@dataclass(frozen=True)
class Layout:
    """The storage that suits a pattern, and its slots, found once for all robots of that pattern.

    saddle, multipliers, symmetric, enough : as for `make_matrix`.
    """

    saddle: Ints
    multipliers: int
    symmetric: bool
    enough: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    def of(self, size: int, pairs: Sequence[Pair]) -> tuple[Matrix, list[Ints]]:
        """A matrix of its own, and slots that are shared."""
        given = (self.saddle, self.multipliers, self.symmetric, self.enough)
        matrix, slots = _known_layout(size, *given, *(x for pair in pairs for x in pair))
        return matrix.alike(), slots


@by_value(32)
def _known_layout(
    size: int, saddle: Ints, multipliers: int, symmetric: bool, enough: Enough, *numbers: Ints
) -> tuple[Matrix, list[Ints]]:
    def make(n: int, pairs: list[Pair]) -> Matrix:
        return make_matrix(n, pairs, saddle, multipliers, symmetric, enough)

    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    return _laid_out(make, size, pairs)


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
    alone = tuple((tuple(rows), tuple(columns)) for rows, columns in enough)
    return Tangent(tree, Layout(saddle, tree.m, symmetric, alone), effects, coupled=coupled)
