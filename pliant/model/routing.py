"""Where something runs inside the section of a rod: an offset (x, y) along s, with its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.breaks import Breaks
from pliant.model.checks import Array, DescriptionError, as_array, refuse
from pliant.model.fields import NUMBER, Reader, Schema, Writer
from pliant.model.profile import Rows, Table, evaluate_rows, read_table

if TYPE_CHECKING:
    from pliant.model.description import Description

Offset = tuple[float, ...] | tuple[tuple[float, ...], ...] | Callable[[float], ArrayLike] | Table

_STEP = 1e-3
"""Distance of the points of a difference formula, in lengths of the stretch."""
_ARM = np.arange(-3, 4)
"""Seven of them."""


class Route(NamedTuple):
    """Offset r (S, 2) at some arclengths, metres, its slope (S, 2) and its bend (S, 2), 1/m."""

    r: Array
    slope: Array
    bend: Array


class Stretch(NamedTuple):
    """The part of a tendon in one rod.

    rod : its name.  start : arclength of its base along the tendon's rods, metres.  over : (s0, s1) on
    the rod, metres.  link : (4, 4) pose of its base in the section at the tip of the rod before.
    """

    rod: str
    start: float
    over: tuple[float, float]
    link: Array


class Routed(Protocol):
    """What runs through rods at an offset from their centrelines."""

    least_gap: ClassVar[float]

    @property
    def name(self) -> str:
        """Its own name."""

    @property
    def offset(self) -> Any:
        """As given."""

    @property
    def label(self) -> str:
        """How messages call it."""

    def stretches(self, description: Description) -> list[Stretch]:
        """Return its parts in the rods that it covers."""

    def route(self, stretch: Stretch, s: Array, length: float) -> Route:
        """Return its offsets at arclengths s (S,) of a rod; length : of all its rods, metres."""

    def straight(self, before: Stretch, after: Stretch, length: float) -> tuple[float, Array]:
        """Return length and way (3,) of the straight piece between two of its stretches, metres."""

    def whole_length(self, description: Description) -> float:
        """Return the length of all its rods, metres."""

    def breaks_along(self, length: float) -> Breaks:
        """Return where its offsets jump or bend along its rods of a length, metres."""


@dataclass(frozen=True)
class Routing(Rows):
    """An offset (x, y) in the section: fixed, (base, tip) of them, a function of s, or a Table."""

    sizes: tuple[int, ...] = (2,)

    def check(self, part: str, field: str, value: Any) -> Any:
        array = None if callable(value) else as_array(value)
        if array is not None and array.shape == (2, 2):
            return tuple(super(Routing, self).check(part, field, row) for row in value)
        if isinstance(value, Table):
            refuse(
                np.asarray(value.values).shape[1:] != (2,),
                part,
                field,
                np.asarray(value.values).shape,
                "a table with two values, x and y in metres, per arclength",
                "give e.g. Table([0, 0.3], [[0.01, 0], [0.005, 0]])",
            )
        return super().check(part, field, value)

    def read(self, reader: Reader, path: Any, given: Any) -> Any:
        return self.check("", "", read_table(given))

    def write(self, writer: Writer, value: Any) -> Any:
        return writer.along(value)

    def schema(self, defs: Schema) -> Schema:
        point = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
        pair = {"type": "array", "items": point, "minItems": 2, "maxItems": 2}
        return {"anyOf": [*super().schema(defs)["anyOf"], pair]}


def route(
    label: str, field: str, offset: Any, s: Array, over: tuple[float, float], cuts: Any = ()
) -> Route:
    """Return the offset and its derivatives at arclengths s (S,), metres.

    over : the stretch (s0, s1) between whose ends a (base, tip) pair is linear.  cuts : arclengths at
    which the offset or its slope jump. Derivatives of a function are those of the polynomial through
    seven of its values near s, on the same side of every cut.
    """
    start, end = over
    if isinstance(offset, tuple) and np.ndim(offset) == 2:
        base, tip = np.asarray(offset, dtype=float)
        t = ((s - start) / (end - start))[:, None]
        slope = np.repeat((tip - base)[None] / (end - start), len(s), axis=0)
        return Route(base + t * (tip - base), slope, np.zeros_like(slope))
    if not callable(offset):
        r = np.repeat(np.asarray(offset, dtype=float)[None], len(s), axis=0)
        return Route(r, np.zeros_like(r), np.zeros_like(r))
    edges = np.unique([start, *(x for x in cuts if start < x < end), end])
    which = np.clip(np.searchsorted(edges, s, side="right") - 1, 0, len(edges) - 2)
    lower, upper = edges[which], edges[which + 1]
    h = np.minimum(_STEP * (end - start), (upper - lower) / 8.0)
    middle = np.clip(s, lower + 3.5 * h, upper - 3.5 * h)
    points = middle[:, None] + h[:, None] * _ARM
    values = evaluate(label, field, offset, points.ravel()).reshape(len(s), len(_ARM), 2)
    # coefficients of the polynomial in (s - middle) / h
    c = np.einsum(
        "ij,sjk->ski", np.linalg.inv(np.vander(_ARM.astype(float), increasing=True)), values
    )
    x, n = ((s - middle) / h)[:, None], np.arange(len(_ARM))
    first = n[1:] * x ** (n[1:] - 1)
    second = n[2:] * (n[2:] - 1) * x ** (n[2:] - 2)
    slope = np.einsum("ski,si->sk", c[:, :, 1:], first) / h[:, None]
    bend = np.einsum("ski,si->sk", c[:, :, 2:], second) / h[:, None] ** 2
    return Route(evaluate(label, field, offset, s), slope, bend)


def evaluate(label: str, field: str, offset: Any, s: Array) -> Array:
    """Return a function or table of offsets at arclengths s (S,): (S, 2), metres."""
    if isinstance(offset, Table):
        return np.asarray(offset(s), dtype=float).reshape(len(s), 2)
    return np.array(evaluate_rows(label, field, offset, s, (2,), "metres")).reshape(len(s), 2)


def check_cover(label: str, field: str, offset: Any, length: float) -> None:
    """Refuse a table of offsets that does not cover rods of a length, metres."""
    if isinstance(offset, Table):
        try:
            offset.check_cover(length)
        except DescriptionError as error:
            raise error.within(label, field) from None
