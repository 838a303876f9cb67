"""Linking: calls of kernels turned into words in memory, as `calls` executes them.

Arguments are taken apart by compiled code, which reads what an array is from its header in memory: a
call costs a tenth of what Python would take, and robots are described, meshed and linked all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count
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
    return _numbers.setdefault(item, next(_unused))


class _Opening(int):
    """The tag of a tuple, in front of its items."""


def link(calls: Sequence[Call]) -> tuple[Any, Any]:
    """Words (N,) of calls, and their table: how many, then the addresses of their blocks."""
    count = len(calls)
    given = _taken_apart(calls)
    keys, sizes = np.empty(count, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    inspect(*given, keys, sizes)
    numbers = keys.tolist()
    targets = list(map(_known.get, numbers))
    if None in targets:
        met = zip(targets, numbers, calls, strict=True)
        targets = [target or _meet(key, call) for target, key, call in met]
    words, table = np.empty(sizes[count], dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    found = np.array(targets, dtype=np.int64).reshape(count, _HEADER)
    write(*given[:3], found, sizes, _ITEMSIZES, words, table, words.ctypes.data)
    return words, table


def _taken_apart(calls: Sequence[Call]) -> tuple[Any, Any, Any, Any]:
    """Tags and items (A,) of the arguments of all calls in the order in which compiled functions take
    them, the first one of each call (C + 1,), and the numbers of the kernels (C,).
    """
    functions, given = zip(*calls, strict=True)
    values = list(chain.from_iterable(given))
    kinds = set(map(type, values))
    if any(issubclass(kind, tuple) for kind in kinds):
        given = tuple(list(_opened(arguments)) for arguments in given)
        values = list(chain.from_iterable(given))
        kinds = set(map(type, values))
    tag_of = {kind: _ARRAY if issubclass(kind, np.ndarray) else _number(kind) for kind in kinds}
    many = len(values)
    tags = np.fromiter(map(tag_of.__getitem__, map(type, values)), dtype=np.int64, count=many)
    items = np.fromiter(map(id, values), dtype=np.int64, count=many)
    real_of = {kind: issubclass(kind, float) for kind in kinds}
    is_real = np.fromiter(map(real_of.__getitem__, map(type, values)), dtype=np.bool_, count=many)
    real = np.flatnonzero(is_real).tolist()
    whole = np.flatnonzero(~is_real & (tags != _ARRAY)).tolist()
    items[real] = np.array([values[k] for k in real], dtype=float).view(np.int64)
    items[whole] = np.array([values[k] for k in whole], dtype=np.int64)
    opened = tags == tag_of.get(_Opening, -1)
    tags[opened] = items[opened]
    starts = np.cumsum([0, *map(len, given)])
    for function in set(functions) - _numbers.keys():
        _number(function)
    kernels = np.fromiter(map(_numbers.__getitem__, functions), dtype=np.int64)
    return tags, items, starts, kernels


def _opened(arguments: Sequence[Any]) -> Iterator[Any]:
    """Arguments with the items of tuples among them."""
    for value in arguments:
        if isinstance(value, tuple):
            yield _Opening(-(_number(type(value)) << 16 | len(value)))
            yield from _opened(value)
        else:
            yield value


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
def write(tags, items, starts, targets, sizes, itemsizes, words, table, at):  # type: ignore[no-untyped-def]
    """Write the words (N,) of calls, which are at an address, and their table (C + 1,).

    An array is: two empty words, number of items, bytes of one, address, shape and strides.
    """
    table[0] = targets.shape[0]
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
