"""Whole arrays in programs: set, copied and combined entry by entry.

The functions here take arrays of any shape, in one piece, and call `run` for you.
"""

from __future__ import annotations

from typing import Any

from pliant._numba import kernel
from pliant.engine.program import run


def clear(out: Any) -> None:
    """out = 0."""
    if out.size:
        run(_fill, 0.0, _flat(out))


def copy(source: Any, out: Any) -> None:
    """out = source, both of the same size."""
    if out.size:
        run(_copy, _flat(source), _flat(out))


def combine(a: float, x: Any, b: float, y: Any, out: Any) -> None:
    """out = a x + b y, all of the same size; out may be x or y."""
    if out.size:
        run(_combine, float(a), _flat(x), float(b), _flat(y), _flat(out))


def take(source: Any, places: Any, out: Any) -> None:
    """out (N,) = source[places], places (N,)."""
    if out.size:
        run(_take, source, places, out)


def put(source: Any, places: Any, out: Any) -> None:
    """out[places] = source[places], for vectors of the same size and places (N,)."""
    if places.size:
        run(_put, source, places, out)


def put_values(values: Any, places: Any, out: Any) -> None:
    """out[places] = values (N,), places (N,)."""
    if places.size:
        run(_put_values, values, places, out)


def _flat(array: Any) -> Any:
    """The array as a vector that shares its memory."""
    flat = array.reshape(-1)
    assert flat.base is array or flat.base is array.base or array.ndim == 1
    return flat


@kernel
def _fill(value, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = value


@kernel
def _copy(source, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = source[i]


@kernel
def _combine(a, x, b, y, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = a * x[i] + b * y[i]


@kernel
def _take(source, places, out):  # type: ignore[no-untyped-def]
    for i in range(places.shape[0]):
        out[i] = source[places[i]]


@kernel
def _put_values(values, places, out):  # type: ignore[no-untyped-def]
    for i in range(places.shape[0]):
        out[places[i]] = values[i]


@kernel
def _put(source, places, out):  # type: ignore[no-untyped-def]
    for at in places:
        out[at] = source[at]
