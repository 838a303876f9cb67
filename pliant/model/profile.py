"""Quantities that vary along a rod: a number, a linear taper, a function or a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.breaks import Breaks, Values, breaks_of
from pliant.model.checks import (
    Array,
    DescriptionError,
    as_array,
    did_you_mean,
    finite_array,
    number,
    refuse,
    told_within,
)
from pliant.model.fields import (
    NUMBER,
    Kind,
    Place,
    Reader,
    Schema,
    Vector,
    Writer,
    fields_of,
)


@dataclass(frozen=True, eq=False)
class Table:
    """Values given at some arclengths, linear in between.

    Two rows within 0.0001 of the length of a rod make a step.

    Parameters
    ----------
    s : (N,) arclengths in metres, strictly increasing, N >= 2. They must cover the whole rod.
    values : (N,) values, or (N, k) for a quantity with k components, in the unit of the field.
    """

    s: ArrayLike
    values: ArrayLike

    def __post_init__(self) -> None:
        s, values = table_columns("Table", "s", self.s, self.values)
        object.__setattr__(self, "s", s)
        object.__setattr__(self, "values", values)

    def __call__(self, s: ArrayLike) -> Array:
        """Return the values at arclengths ``s`` (metres), shape of ``s`` (+ (k,))."""
        return interpolate(np.asarray(self.s), np.asarray(self.values), s)

    def check_cover(self, length: float) -> None:
        """Refuse a table that does not reach from 0 to ``length`` (metres)."""
        s = np.asarray(self.s)
        refuse(
            s[0] > 1e-9 * length or s[-1] < length * (1 - 1e-9),
            "Table",
            "s",
            self.s,
            f"arclengths that cover the rod from 0 to {length:g} m",
            f"start the table at 0 and end it at {length:g}",
        )


ProfileLike = float | tuple[float, float] | Callable[[float], float] | Table


@dataclass(frozen=True, eq=False)
class Profile:
    """A scalar along a rod.

    ``source`` is a number (constant), a ``(base, tip)`` pair (linear taper from s = 0 to
    s = length), a function of the arclength s in metres, or a `Table`.
    """

    source: ProfileLike

    def at(self, s: ArrayLike, length: float) -> Array:
        """Return the values at arclengths ``s`` (metres), in the shape of ``s``."""
        where = np.asarray(s, dtype=np.float64)
        source = self.source
        if isinstance(source, Table):
            source.check_cover(length)
            return source(where)
        if callable(source):
            values = [_scalar(source(float(point))) for point in where.ravel()]
            return np.array(values, dtype=np.float64).reshape(where.shape)
        if isinstance(source, (tuple, list, np.ndarray)):
            base, tip = float(source[0]), float(source[1])
            return base + (tip - base) * (where / length)
        return np.full(where.shape, float(source))


def evaluate(
    part: str, field: str, value: ProfileLike, s: ArrayLike, length: float, zero: bool = False
) -> Array:
    """Return the profile at ``s``; raise if it is not finite or not positive there."""
    with told_within(part, field):
        values = Profile(value).at(s, length)
    bad = ~np.isfinite(values) | ((values < 0) if zero else (values <= 0))
    if bad.any():
        where = float(np.asarray(s, dtype=np.float64)[bad].ravel()[0])
        sign = "zero or positive" if zero else "positive"
        raise DescriptionError(
            part,
            field,
            float(values[bad].ravel()[0]),
            f"finite and {sign} everywhere on the rod",
            f"correct the value at s = {where:g} m",
        )
    return values


def evaluate_rows(
    part: str, field: str, value: Any, s: Array, sizes: tuple[int, ...], unit: str = ""
) -> list[Array]:
    """Return the vectors of a field at arclengths ``s`` (S,): fixed, or from a function of s."""
    if not callable(value):
        return [np.asarray(value, dtype=np.float64)] * len(s)
    counts = " or ".join(map(str, sizes))
    expected = f"{counts} finite numbers{f' in {unit}' if unit else ''} at every s"

    def row(point: float) -> Array:
        remedy = f"correct what it gives at s = {point:g} m"
        given, shapes = value(point), [(size,) for size in sizes]
        return finite_array(part, field, given, expected, remedy, lambda x: x.shape in shapes)

    return [row(point) for point in s.tolist()]


def table_columns(part: str, axis: str, x: object, values: object) -> tuple[Array, Array]:
    """Return the two columns of a table as read-only arrays, x strictly increasing."""
    listed = "a list of at least two finite numbers"
    first = finite_array(
        part, axis, x, listed, "give e.g. [0.0, 0.3]", lambda x: x.ndim == 1 and len(x) > 1
    )
    refuse(
        (np.diff(first) <= 0).any(),
        part,
        axis,
        x,
        "strictly increasing",
        "sort the rows and drop repeated ones",
    )
    listed, one = "a list of finite numbers", "give one value per entry"
    second = finite_array(part, "values", values, listed, one, lambda x: x.ndim in (1, 2))
    refuse(
        len(second) != len(first),
        part,
        "values",
        values,
        f"as many values as {axis} has entries ({len(first)}, not {len(second)})",
        one,
    )
    first.flags.writeable = False
    second.flags.writeable = False
    return first, second


def interpolate(x: Array, values: Array, at: ArrayLike) -> Array:
    """Return linear interpolation, constant outside the table; shape of ``at`` (+ (k,))."""
    where = np.asarray(at, dtype=np.float64)
    if values.ndim == 1:
        return np.asarray(np.interp(where, x, values), dtype=np.float64)
    columns = [np.interp(where, x, values[:, k]) for k in range(values.shape[1])]
    return np.stack(columns, axis=-1)


def _scalar(value: object) -> float:
    """Return what a profile function gave as a float; NaN marks anything that is not a number."""
    array = as_array(value)
    return float(array.item()) if array is not None and array.size == 1 else math.nan


_TABLE = {"type": "array", "items": NUMBER}


def read_table(given: Any) -> Any:
    """Return ``{table: {s: ..., values: ...}}`` of a robot file as a Table, anything else as it is."""
    if not isinstance(given, dict):
        return given
    remedy = "give {table: {s: [...], values: [...]}}"
    if list(given) != ["table"] or not isinstance(given["table"], dict):
        raise DescriptionError("", "", given, "a number, a list or a table", remedy)
    # "value" is a natural slip for a single column, and its meaning is not in doubt
    columns = {"values" if key == "value" else key: item for key, item in given["table"].items()}
    for key in columns:
        if key not in ("s", "values"):
            raise DescriptionError(
                "", f"table.{key}", columns[key], "left out", did_you_mean(key, ["s", "values"])
            )
    refuse(len(columns) < 2, "", "table", given["table"], "given with s and values", remedy)
    with told_within("", "table"):
        return Table(**columns)


def _table_schema(values: Schema) -> Schema:
    def only(properties: Schema) -> Schema:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    return only({"table": only({"s": _TABLE, "values": values})})


@dataclass(frozen=True)
class Along(Kind):
    """A scalar along a rod, positive, or zero as well; pair : whether (base, tip) is a taper."""

    zero: bool = False
    pair: bool = True

    def check(self, part: str, field: str, value: Any) -> ProfileLike:
        """Return a clean profile source. A function is checked when it is evaluated."""
        sign = "zero" if self.zero else "positive"
        check = partial(number, part, field, unit=self.unit, remedy=self.remedy, sign=sign)
        if isinstance(value, Table):
            values = np.asarray(value.values)
            refuse(
                values.ndim != 1,
                part,
                field,
                values,
                "a table with one value per arclength",
                "give one column",
            )
            check(value=values.min())
            return value
        if callable(value):
            return value  # type: ignore[no-any-return]
        array = as_array(value)
        if array is None or array.ndim == 0:
            return check(value=value)
        taper = "a number, a (base, tip) pair, a function of s"
        forms = taper if self.pair else "a number, a function"
        fits = self.pair and array.shape == (2,)
        refuse(not fits, part, field, value, f"{forms} or a Table", self.remedy)
        base, tip = (check(value=item) for item in array)
        return (base, tip)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        return self.check("", "", read_table(given))

    def write(self, writer: Writer, value: Any) -> Any:
        return writer.along(value)

    def schema(self, defs: Schema) -> Schema:
        taper = [Vector(sizes=(2,)).schema(defs)] if self.pair else []
        return {"anyOf": [NUMBER, *taper, _table_schema(_TABLE)]}


@dataclass(frozen=True)
class Directions(Along):
    """A scalar along a rod for both directions of the section, or a pair of them."""

    pair: bool = False

    def check(self, part: str, field: str, value: Any) -> Any:
        if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2:
            return tuple(super(Directions, self).check(part, field, item) for item in value)
        return super().check(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        two = isinstance(given, list) and len(given) == 2
        return self.check(
            "", "", [read_table(item) for item in given] if two else read_table(given)
        )

    def write(self, writer: Writer, value: Any) -> Any:
        if isinstance(value, tuple):
            return [writer.along(item) for item in value]
        return writer.along(value)

    def schema(self, defs: Schema) -> Schema:
        one = super().schema(defs)
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 2, "maxItems": 2}]}


@dataclass(frozen=True)
class Rows(Vector):
    """A vector, a function of s that returns one, or a Table of them along a rod."""

    def check(self, part: str, field: str, value: Any) -> Any:
        return value if callable(value) else super().check(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        table = read_table(given)
        if not isinstance(table, Table):
            return self.check("", "", table)
        for row in np.asarray(table.values):
            try:
                super().check("", "table.values", row)
            except DescriptionError as error:
                raise DescriptionError(
                    "", "table.values", row, f"rows of {error.expected}", error.remedy
                ) from None
        return table

    def write(self, writer: Writer, value: Any) -> Any:
        return writer.along(value)

    def schema(self, defs: Schema) -> Schema:
        rows = {"type": "array", "items": _TABLE}
        return {"anyOf": [super().schema(defs), _table_schema(rows)]}


# -- breaks ---------------------------------------------------------------------------------------


def field_breaks(
    label: str, holder: Any, length: float, span: tuple[float, float], declared: tuple[float, ...]
) -> Iterator[tuple[str, Breaks]]:
    """Yield the breaks of every field of a description that is a function of s or a Table.

    label : of the holder, for messages.  length : of the rod, metres.  span : the stretch of it that
    counts.  declared : breaks that the user named.
    """
    for name, item in fields_of(type(holder)).items():
        if not isinstance(item.kind, (Along, Rows)):
            continue
        given = getattr(holder, name)
        for source in given if isinstance(given, tuple) else (given,):
            if callable(source):
                values = _values(label, name, item.kind, source, length)
                yield name, breaks_of(source, values, span, declared)


def _values(label: str, field: str, kind: Along | Rows, source: Any, length: float) -> Values:
    """The values of a function; where it fails, the careful way tells what is wrong.

    A stiffness counts by its inverse as well, for strains follow that; a length counts by the fourth
    power of it, as in the bending stiffness of a section.
    """
    power = 4.0 if kind.unit == "metres" else 1.0

    def carefully(s: Array) -> Array:
        if isinstance(kind, Along):
            return evaluate(label, field, source, s, length, kind.zero)[:, None]
        rows = evaluate_rows(label, field, source, s, kind.sizes, kind.unit)
        return np.array([row[: min(kind.sizes)] for row in rows])

    def values(s: Array) -> Array:
        try:
            given = source(s) if isinstance(source, Table) else [source(x) for x in s.tolist()]
            rows = np.array(given, dtype=np.float64).reshape(len(s), -1)
        except Exception:
            rows = carefully(s)
        if not np.isfinite(rows).all():
            rows = carefully(s)
        if isinstance(kind, Along) and not kind.zero:
            good = np.maximum(rows, 1e-30)
            return np.stack([rows, good**-power], axis=1)
        return rows[:, None]

    return values
