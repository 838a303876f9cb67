"""Linking: calls of kernels turned into words in memory, as `calls` executes them.

Arguments are taken apart by compiled code, which reads what an array is from its header in memory: a
call costs a tenth of what Python would take, and robots are described, meshed and linked all the time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
from numba import typeof

from pliant._numba import inner, kernel
from pliant.engine.calls import _load, trampoline

Call = tuple[Callable[..., Any], tuple[Any, ...]]

_HEADER = 2
"""Words of a block before its arguments: trampoline and function."""
_DATA, _DIMENSIONS, _SHAPE, _STRIDES, _TYPE, _FLAGS = 16, 24, 32, 40, 56, 64
"""Bytes from the address of an array object to its fields, as in the headers of NumPy."""
_CODE = 24
"""Bytes from the address of a type of NumPy to the word whose second byte is its letter."""
_ORDERS, _USUAL = 0x503, 0x501
"""Flags of an array that tell its type, and those of one that is contiguous, aligned and writable."""
_ARRAY = 0
"""Tag of an argument that is an array; others have the number of their type, tuples a negative one
that tells their length as well."""

_ITEMSIZES = np.zeros(256, dtype=np.int64)
for _letter in "?bBhHiIlLqQefdFD":
    _ITEMSIZES[ord(_letter)] = np.dtype(_letter).itemsize

_numbers: dict[Any, int] = {}
"""Numbers of kernels and of types of arguments; they are kept, so that no number is given twice."""
_unused = count(1)
_known: dict[int, tuple[int, int]] = {}
"""By key of a call, which tells its kernel and the types of its arguments: trampoline and function."""


def _number(item: Any) -> int:
    """A number of a kernel or type, from 1 on; threads never give the same one twice."""
    return _numbers.get(item) or _numbers.setdefault(item, next(_unused))


for _kind in (int, bool):
    _number(_kind)


def link(calls: Sequence[Call]) -> tuple[Any, Any]:
    """Words (N,) of calls, and their table: how many, then the addresses of their blocks."""
    tags: list[int] = []
    items: list[int] = []
    starts, kernels = [0], []
    for function, arguments in calls:
        kernels.append(_numbers.get(function) or _number(function))
        for value in arguments:
            kind = type(value)
            if kind is np.ndarray:
                tags.append(_ARRAY)
                items.append(id(value))
            elif kind is int or kind is bool:
                tags.append(_numbers[kind])
                items.append(value)
            else:
                _append(value, tags, items)
        starts.append(len(tags))
    many = len(calls)
    given = tuple(np.array(x, dtype=np.int64) for x in (tags, items, starts, kernels))
    keys, sizes = np.empty(many, dtype=np.int64), np.empty(many + 1, dtype=np.int64)
    inspect(*given, keys, sizes)
    met = zip(keys.tolist(), calls, strict=True)
    targets = [_known.get(key) or _meet(key, call) for key, call in met]
    words, table = np.empty(sizes[many], dtype=np.int64), np.empty(many + 1, dtype=np.int64)
    found = np.array(targets, dtype=np.int64).reshape(many, _HEADER)
    write(*given[:3], found, sizes, _ITEMSIZES, words, table)
    return words, table


def _append(value: Any, tags: list[int], items: list[int]) -> None:
    """Append an argument in the order in which compiled functions take it."""
    if isinstance(value, np.ndarray):
        tags.append(_ARRAY)
        items.append(id(value))
        return
    tags.append(_number(type(value)))
    if isinstance(value, tuple):
        items.append(0)
        tags[-1] = -(tags[-1] << 16 | len(value))
        for item in value:
            _append(item, tags, items)
    elif isinstance(value, bool | int | np.integer):
        items.append(int(value))
    else:
        items.append(struct.unpack("q", struct.pack("d", value))[0])


def _meet(key: int, call: Call) -> tuple[int, int]:
    """Trampoline and function of a call whose types are new."""
    function: Any = call[0]
    types = tuple(typeof(value) for value in call[1])
    function.compile(types)
    _known[key] = trampoline(function.overloads[types])
    return _known[key]


@inner
def _mixed(key, value):  # type: ignore[no-untyped-def]
    """A key of 64 bits that depends on all bits of a key and a value."""
    x = (key ^ value) * np.int64(-7046029254386353131)
    x ^= (x >> 32) & 0xFFFFFFFF
    x *= np.int64(-4417276706812531889)
    return x ^ ((x >> 29) & 0x7FFFFFFFF)


@inner
def _letter_of(array):  # type: ignore[no-untyped-def]
    """The letter of the type of an array object at an address."""
    return (_load(_load(array + _TYPE) + _CODE) >> 8) & 0xFF


@kernel
def inspect(tags, items, starts, kernels, keys, sizes):  # type: ignore[no-untyped-def]
    """Set the keys (C,) of calls, and where their blocks of words begin (C + 1,).

    tags, items (A,) : arguments, see `_append`.  starts (C + 1,) : first argument of each call.
    """
    sizes[0] = 0
    for c in range(keys.shape[0]):
        key, size = _mixed(1, kernels[c]), _HEADER
        for k in range(starts[c], starts[c + 1]):
            kind = tags[k]
            if kind == _ARRAY:
                array = items[k]
                dimensions = _load(array + _DIMENSIONS) & 0xFFFF
                flags = _load(array + _FLAGS) & _ORDERS
                if flags & _USUAL == _USUAL:
                    flags = _USUAL
                kind = (_letter_of(array) << 32) | (dimensions << 16) | flags | (1 << 48)
                size += 5 + 2 * dimensions
            elif kind > 0:
                size += 1
            key = _mixed(key, kind)
        keys[c] = key
        sizes[c + 1] = sizes[c] + size


@kernel
def write(tags, items, starts, targets, sizes, itemsizes, words, table):  # type: ignore[no-untyped-def]
    """Write the words (N,) of calls and their table (C + 1,).

    An array is: two empty words, number of items, bytes of one, address, shape and strides.
    """
    table[0], at = targets.shape[0], words.ctypes.data
    for c in range(targets.shape[0]):
        n = sizes[c]
        table[c + 1] = at + 8 * n
        words[n], words[n + 1] = targets[c, 0], targets[c, 1]
        n += _HEADER
        for k in range(starts[c], starts[c + 1]):
            if tags[k] == _ARRAY:
                array = items[k]
                dimensions = _load(array + _DIMENSIONS) & 0xFFFF
                shape, strides = _load(array + _SHAPE), _load(array + _STRIDES)
                count = 1
                for i in range(dimensions):
                    words[n + 5 + i] = _load(shape + 8 * i)
                    words[n + 5 + dimensions + i] = _load(strides + 8 * i)
                    count *= _load(shape + 8 * i)
                words[n], words[n + 1], words[n + 2] = 0, 0, count
                words[n + 3], words[n + 4] = itemsizes[_letter_of(array)], _load(array + _DATA)
                n += 5 + 2 * dimensions
            elif tags[k] > 0:
                words[n] = items[k]
                n += 1


@kernel
def bounds(items, out):  # type: ignore[no-untyped-def]
    """Set first byte, end and way to the other (N, 3) of the first of two arrays, by objects (N, 2)."""
    for n in range(items.shape[0]):
        array = items[n, 0]
        first = _load(array + _DATA)
        last, size = first, 1
        shape, strides = _load(array + _SHAPE), _load(array + _STRIDES)
        for i in range(_load(array + _DIMENSIONS) & 0xFFFF):
            extent = _load(shape + 8 * i)
            size *= extent
            last += (extent - 1) * _load(strides + 8 * i)
        out[n, 0], out[n, 1] = first, first if size == 0 else last + 1
        out[n, 2] = _load(items[n, 1] + _DATA) - first


@kernel
def address_of(words):  # type: ignore[no-untyped-def]
    """Where an array is in memory."""
    return words.ctypes.data
