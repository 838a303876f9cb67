"""Programs of a step back to front: those from a to b with the arrays of both exchanged.

A step leads from one state to another, which then change places. Both are made alike, so that the
programs of the way back are those of the way there with other addresses: copying their words costs a
tenth of recording and linking them.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.linking import bounds
from pliant.engine.program import Program, Stretch

_PLAIN = (FunctionType, MethodType, BuiltinFunctionType, type)


class UnlikeError(Exception):
    """Two objects are not made alike."""


class Exchange:
    """Makes programs with the arrays of one object in the place of those of another, and vice versa.

    Raises UnlikeError if the objects have other arrays than each other.
    """

    def __init__(self, a: Any, b: Any) -> None:
        pairs: list[tuple[Any, Any]] = []
        _pair(a, b, pairs, set())
        both = [(id(x), id(y)) for one, other in pairs for x, y in ((one, other), (other, one))]
        items = np.array(both, dtype=np.int64).reshape(-1, 2)
        found = np.empty((len(items), 3), dtype=np.int64)
        bounds(items, found)
        self._moves = _merged(found[np.lexsort((-found[:, 1], found[:, 0]))])
        self._made: dict[int, Program] = {}

    def __call__(self, program: Program) -> Program:
        """The program with the arrays exchanged; itself if it knows none of them."""
        if id(program) not in self._made:
            self._made[id(program)] = self._exchanged(program)
        return self._made[id(program)]

    def _exchanged(self, program: Program) -> Program:
        stretch = program.stretch
        if stretch is None:
            return program
        inner = [(x, self(x)) for x in program.inner if x.stretch is not None]
        others = np.array([(x.address, y.address) for x, y in inner if y is not x], dtype=np.int64)
        words, table = stretch.words.copy(), stretch.table.copy()
        if not relocate(words, table, stretch.words, self._moves, others.reshape(-1, 2)):
            return program
        return Program.of(Stretch(words, table, (stretch, *(y for _, y in inner))))


def _pair(a: Any, b: Any, found: list[tuple[Any, Any]], met: set[int]) -> None:
    """Append all pairs of arrays that have the same place in two objects."""
    if a is b or id(a) in met:
        return
    met.add(id(a))
    if type(a) is not type(b):
        raise UnlikeError
    if isinstance(a, np.ndarray):
        if a.shape != b.shape or a.strides != b.strides:
            raise UnlikeError
        found.append((a, b))
    elif isinstance(a, list | tuple):
        for x, y in zip(a, b, strict=True):
            _pair(x, y, found, met)
    elif isinstance(a, dict):
        if a.keys() != b.keys():
            raise UnlikeError
        for key, x in a.items():
            _pair(x, b[key], found, met)
    elif hasattr(a, "__dict__") and not isinstance(a, _PLAIN):
        _pair(vars(a), vars(b), found, met)


def _merged(moves: Any) -> Any:
    """Moves (N, 3) by their first addresses, those inside others left out."""
    kept: list[list[int]] = []
    for first, last, shift in moves.tolist():
        if kept and first < kept[-1][1]:
            if shift != kept[-1][2]:
                raise UnlikeError
            kept[-1][1] = max(last, kept[-1][1])
        else:
            kept.append([first, last, shift])
    return np.array(kept, dtype=np.int64).reshape(-1, 3)


@kernel
def relocate(words, table, old, moves, programs):  # type: ignore[no-untyped-def]
    """Move the addresses among words (N,) of a program that was at `old`; returns how many.

    moves (M, 3) : first address, one after the last, and by how much it moves, in order.  programs
    (P, 2) : addresses of other programs and what stands for them. No other word looks like an address
    of an array: they are small numbers, functions, or bits of floating-point numbers.
    """
    count = 0
    shift = words.ctypes.data - old.ctypes.data
    for c in range(table[0]):
        table[c + 1] += shift
    if moves.shape[0] == 0:
        return 0
    lowest, highest = moves[0, 0], moves[moves.shape[0] - 1, 1]
    for n in range(words.shape[0]):
        word = words[n]
        for k in range(programs.shape[0]):
            if word == programs[k, 0]:
                words[n] = programs[k, 1]
                count += 1
        if word < lowest or word >= highest:
            continue
        low, high = 0, moves.shape[0]
        while high - low > 1:
            middle = (low + high) // 2
            if word < moves[middle, 0]:
                high = middle
            else:
                low = middle
        if word < moves[low, 1]:
            words[n] = word + moves[low, 2]
            count += 1
    return count
