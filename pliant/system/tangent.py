"""Storage of a tangent matrix and where the blocks of a system go in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from pliant.rods.contract import Ints
from pliant.system.block import Block
from pliant.system.linear import Matrix, make_matrix
from pliant.system.system import Link, System

Pair = tuple[Ints, Ints]


@dataclass
class Tangent:
    """Storage of a tangent with the slots of all its blocks.

    elements : per rod, coordinates against coordinates. modes : per rod with stress modes, the
    blocks (modes, coordinates), its mirror image and (modes, modes). mounts : per mounted rod
    (carrier, rod) and (rod, carrier). links : per constraint (multipliers, frames), its mirror image
    and (frames, frames). Mirrored blocks keep the shape of the block they mirror. held : diagonal
    entries of driven bases, whose rows and columns hold nothing else.
    """

    matrix: Matrix
    elements: list[Ints]
    modes: list[tuple[Ints, Ints, Ints] | None]
    mounts: list[tuple[Ints, Ints]]
    links: list[tuple[Ints, Ints, Ints]]
    held: Ints

    def clear(self, held: float = 1.0) -> None:
        """Begin anew: zero, with `held` on the diagonal of driven bases."""
        self.matrix.data[...] = 0.0
        self.matrix.data[self.held] = held


_KEPT: WeakKeyDictionary[System, dict[bool, Tangent]] = WeakKeyDictionary()


def tangent_of(system: System, symmetric: bool) -> Tangent:
    """The storage of a system's symmetric or general tangent, made on first use and kept."""
    kept = _KEPT.setdefault(system, {})
    if symmetric not in kept:
        kept[symmetric] = new_tangent(system, symmetric)
    return kept[symmetric]


def new_tangent(system: System, symmetric: bool) -> Tangent:
    """A tangent for one owner, who may keep its factor."""
    multipliers = system.m
    links = np.arange(system.n, system.n + multipliers)
    saddle = np.concatenate([system.mode_unknowns, links])
    return make_tangent(
        system, lambda n, pairs: make_matrix(n, pairs, saddle, multipliers, symmetric)
    )


def make_tangent(system: System, make: Callable[[int, list[Pair]], Matrix]) -> Tangent:
    """A tangent in the storage that `make(size, index pairs of all blocks)` returns."""
    blocks = system.blocks
    elements = [_pairs(b.index, b.index) for b in blocks]
    modes = [
        (
            _pairs(b.mode_unknowns, b.index),
            _mirror(_pairs(b.mode_unknowns, b.index)),
            _pairs(b.mode_unknowns, b.mode_unknowns),
        )
        for b in blocks
    ]
    mounts = [_pairs(*_mount_index(system, b)) for b in system.mounted()]
    links = []
    for link in system.links:
        frames = system.link_frames(link)[None]
        held = _pairs(_link_rows(system, link), frames)
        links.append((held, _mirror(held), _pairs(frames, frames)))
    pairs = elements + [p for three in modes + links for p in three]
    pairs += mounts + [_mirror(p) for p in mounts]
    held = (system.driven, system.driven)
    known = np.zeros(system.n + system.m + 1, dtype=bool)
    known[system.driven] = True

    def free(pair: Pair) -> Pair:
        return (np.where(known[pair[0]], -1, pair[0]), np.where(known[pair[1]], -1, pair[1]))

    matrix = make(system.n + system.m, [*(free(pair) for pair in pairs), held])

    def at(rows: Ints, cols: Ints) -> Ints:
        return matrix.slots(*free((rows, cols)))

    return Tangent(
        matrix,
        [at(*p) for p in elements],
        [
            None if b.modes is None else (at(*x), at(*y), at(*z))
            for b, (x, y, z) in zip(blocks, modes, strict=True)
        ],
        [(at(*p), at(*_mirror(p))) for p in mounts],
        [(at(*x), at(*y), at(*z)) for x, y, z in links],
        matrix.slots(*held),
    )


def _mount_index(system: System, block: Block) -> Pair:
    """Unknowns that move the carrier (rows) and those of a mounted rod's base elements (columns)."""
    assert block.parent is not None
    carrier = system.frame_index(block.parent, block.mount)
    columns = np.concatenate([block.index[:, 6:], block.mode_unknowns], axis=1)
    columns = columns[block.base_elements]
    return np.repeat(carrier[None], len(columns), axis=0), columns


def _link_rows(system: System, link: Link) -> Ints:
    return system.n + np.arange(link.at.start, link.at.stop)[None]


def _mirror(pair: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    return pair[1], pair[0]


def _pairs(rows: Ints, cols: Ints) -> tuple[Ints, Ints]:
    """Row and column numbers (E, a, b) of element blocks with indices rows (E, a), cols (E, b)."""
    shape = (len(rows), rows.shape[1], cols.shape[1])
    return (
        np.broadcast_to(rows[:, :, None], shape).copy(),
        np.broadcast_to(cols[:, None, :], shape).copy(),
    )
