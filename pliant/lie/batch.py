"""Shape and cut checks of the public functions on stacks of arrays."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.lie.tuples import Array
from pliant.model.checks import PliantError

CUT = pi - 1e-9
"""Rotation angle in radians beyond which the logarithm has no definite axis."""


class LieError(PliantError, ValueError):
    """An argument of a Lie group function has no answer there."""


def as_stack(name: str, value: ArrayLike, item: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
    """Return `value` as a contiguous array (n, *item), and the leading shape it had."""
    array = np.ascontiguousarray(value, dtype=np.float64)
    lead = array.shape[: max(array.ndim - len(item), 0)]
    if array.shape != lead + item:
        wanted = ", ".join(str(size) for size in item)
        raise LieError(
            f"{name} has shape {array.shape}, expected (..., {wanted}); "
            f"put the {wanted.replace(', ', 'x')} entries of each item on the last "
            f"{'axis' if len(item) == 1 else 'axes'}."
        )
    return array.reshape((-1, *item)), lead


def as_two_stacks(
    names: tuple[str, str], values: tuple[ArrayLike, ArrayLike], items: tuple[int, int]
) -> tuple[Array, Array, tuple[int, ...]]:
    """Return two stacks of vectors broadcast against each other, and their leading shape."""
    first, lead_one = as_stack(names[0], values[0], items[:1])
    second, lead_two = as_stack(names[1], values[1], items[1:])
    try:
        lead = np.broadcast_shapes(lead_one, lead_two)
    except ValueError:
        raise LieError(
            f"{names[0]} and {names[1]} have leading shapes {lead_one} and {lead_two}, which do "
            "not broadcast; give one item each, or stacks of equal shape."
        ) from None
    one = np.broadcast_to(first.reshape((*lead_one, items[0])), (*lead, items[0]))
    two = np.broadcast_to(second.reshape((*lead_two, items[1])), (*lead, items[1]))
    return (
        np.ascontiguousarray(one).reshape((-1, items[0])),
        np.ascontiguousarray(two).reshape((-1, items[1])),
        lead,
    )


def filled(
    kernel: Any, kind: int, stacks: tuple[Array, ...], lead: tuple[int, ...], item: tuple[int, ...]
) -> Array:
    """Return what ``kernel(kind, *stacks, out)`` writes into out (n, *item), as (*lead, *item)."""
    out = np.empty((len(stacks[0]), *item))
    kernel(kind, *stacks, out)
    return out.reshape((*lead, *item))


def refuse_cut(name: str, angles: Array) -> None:
    """Raise when one of the rotation `angles` (n,), rad, lies on the cut at pi."""
    beyond = np.flatnonzero(angles > CUT)
    if beyond.size:
        where = f" (item {beyond[0]} of {angles.size})" if angles.size > 1 else ""
        raise LieError(
            f"{name} is undefined for a rotation of {angles[beyond[0]]:.12g} rad{where}, expected "
            "an angle below pi - 1e-9: at half a turn the axis has two signs; "
            "split the rotation in two, or measure it from a nearer frame."
        )
