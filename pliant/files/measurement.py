"""What was measured on a real robot: columns of numbers over time or over load cases, and CSV files of
them. What cannot be read is refused with its line and column.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model import (
    Array,
    DescriptionError,
    as_array,
    check_suffix,
    file_path,
    known_name,
    number_in,
    read_csv,
    refuse,
    whole_file,
)


@dataclass(frozen=True, eq=False)
class Measurement:
    """One experiment: columns of equal length.

    columns : by name, (N,) numbers in SI units. NaN is a cell that is missing, as of a marker that the
        camera lost; only columns of outputs may have such cells.
    time : the name of the column of times (s, from 0 on, increasing) for a motion; None for
        equilibria, one row for each load case.
    inputs : for inputs of the robot that no column holds: values, or for a motion functions of time.
        A column with the name of an input is that input, linear between rows, or smooth where it
        moves a base; it must be complete, and without long gaps between rows.
    start : where a motion begins: "rest", "statics" (the equilibrium under the inputs at t = 0), or
        inputs by name, in whose equilibrium it is held until it is let go at t = 0.
    velocity : body twists by rod name at the start of a motion, as for `Robot.simulate`.
    name : of the file or the experiment, for messages and pictures.
    window : (first, last) times in s, or row numbers from 0 of load cases, between which outputs are
        compared; None for all. Inputs act outside of it too.
    places : where each row stands in its file, for messages; None for row numbers.
    """

    columns: Mapping[str, ArrayLike]
    time: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    start: str | Mapping[str, Any] = "rest"
    velocity: Mapping[str, Any] | None = None
    name: str = "measurement"
    window: tuple[float, float] | None = None
    places: Sequence[str] | None = None

    def __post_init__(self) -> None:
        good = isinstance(self.columns, Mapping) and self.columns
        self._refuse(not good, "columns", self.columns, "arrays by column name", "give a dict")
        clean = {str(name): self._clean(name, values) for name, values in self.columns.items()}
        sizes = {name: len(values) for name, values in clean.items()}
        unequal = len(set(sizes.values())) > 1
        self._refuse(unequal, "columns", sizes, "of one length", "give a number in every row")
        object.__setattr__(self, "columns", clean)
        self._refuse(
            (isinstance(self.start, str) and self.start not in ("rest", "statics"))
            or not isinstance(self.start, (str, Mapping)),
            "start",
            self.start,
            "'rest', 'statics' or inputs by name",
            "give e.g. 'statics'",
        )
        if self.time is not None:
            self._check_time(self.complete(self.time, "the time"))
        empty = not self.compared.any()
        self._refuse(empty, "window", self.window, "a range with rows in it", "widen it")

    def _clean(self, name: str, values: object) -> Array:
        """Return a column as a read-only array; NaN is allowed, infinity is not."""
        column = as_array(values)
        if column is None or column.ndim != 1 or len(column) == 0:
            expected, remedy = "numbers (N,)", "give one per row"
            raise DescriptionError(self.label, f"column {name!r}", values, expected, remedy)
        self.refuse_rows(
            name, np.isinf(column), column, "a finite number", "give NaN where an output is missing"
        )
        column.flags.writeable = False
        return column

    @property
    def label(self) -> str:
        """How error messages call this measurement."""
        return f"measurement {self.name!r}"

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))  # type: ignore[arg-type]

    @property
    def t(self) -> Array | None:
        """The times (N,), s, of a motion; None for load cases."""
        return None if self.time is None else self.column(self.time)

    def column(self, name: str) -> Array:
        """Return a column (N,)."""
        known_name(self.label, "column", name, self.columns, "in the file")
        return np.asarray(self.columns[name])

    def complete(self, name: str, what: str) -> Array:
        """Return a column (N,) without missing cells; what : it is, for the message."""
        column = self.column(name)
        remedy = "fill it in, or leave out the row; only what was measured may be missing"
        expected = f"a number, for it is {what} (the cell is empty)"
        self.refuse_rows(name, np.isnan(column), [""] * len(column), expected, remedy)
        return column

    @property
    def compared(self) -> NDArray[np.bool_]:
        """(N,): which rows lie in the window."""
        along = np.arange(self.rows, dtype=float) if self.t is None else self.t
        first, last = (-np.inf, np.inf) if self.window is None else self.window
        return np.asarray((along >= first) & (along <= last))

    def between(self, first: float, last: float) -> Measurement:
        """Return the measurement with the window first <= t <= last.

        first, last : seconds; of load cases, row numbers from 0.
        """
        return replace(self, window=(first, last))

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the columns as .csv, for `read_measurement`, and return the path; NaN stays empty."""
        target = check_suffix("to_csv", path, (".csv",))
        rows = np.column_stack(list(self.columns.values())).tolist()
        with (
            whole_file(target) as partial,
            partial.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.writer(stream)
            writer.writerow(self.columns)
            writer.writerows([["" if x != x else x for x in row] for row in rows])
        return target

    def _check_time(self, t: Array) -> None:
        name = str(self.time)
        self._refuse(len(t) < 2, f"column {name!r}", t, "two rows or more", "measure longer")
        back = np.append(False, np.diff(t) <= 0)
        before = float(t[max(int(back.argmax()) - 1, 0)])
        self.refuse_rows(
            name,
            back,
            t,
            f"later than the row before it, {before:g} s",
            "sort the rows by time and leave out repeated ones",
        )
        self.refuse_rows(name, t < 0, t, "0 s or later", "count time from the start")

    def _refuse(
        self, wrong: object, field_name: str, value: object, expected: str, remedy: str
    ) -> None:
        refuse(wrong, self.label, field_name, value, expected, remedy)

    def refuse_rows(
        self, name: str, wrong: NDArray[np.bool_], cells: Any, expected: str, remedy: str
    ) -> None:
        """Refuse the first cell of a column in a row that is wrong."""
        if wrong.any():
            row = int(wrong.argmax())
            part, field_name = self.label, f"column {name!r}, row {row + 1}"
            if self.places is not None:
                part, field_name = self.places[row], f"column {name!r}"
            raise DescriptionError(part, field_name, cells[row], expected, remedy)


_TIME = re.compile(r"^(?:t|time)(?:\s*[/\[(_ ]\s*(\w+)\s*[\])]?)?$", re.IGNORECASE)
_SECONDS = ("s", "sec", "secs", "second", "seconds")
_OTHER_UNITS = ("ns", "us", "µs", "ms", "msec", "milliseconds", "min", "minutes", "h", "hours")


def read_measurement(
    path: str | os.PathLike[str],
    time: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    start: str | Mapping[str, Any] = "rest",
    velocity: Mapping[str, Any] | None = None,
) -> Measurement:
    """Return the columns of a CSV file with a header row.

    path : the file; numbers in SI units, separated by comma, semicolon or tab.
    time : the name of the column of times in seconds. None looks for "t" or "time", also with a
        unit as in "Time (s)"; a file without one holds equilibria, one row for each load case.
    inputs, start, velocity : as for `Measurement`.

    Empty cells and NaN are outputs that are missing, and left out of a fit. Text among numbers, rows of
    another length, columns named twice, and times that are missing or do not increase are refused
    with file, line, column and remedy.
    """
    file = file_path("read_measurement", path, "the path of a CSV file", "'data.csv'")
    lines = read_csv(str(file), file)
    header = [name.strip() for name in lines[0][1]] if lines else []
    _check_header(file, header)
    rows = [(line, cells) for line, cells in lines[1:] if any(cell.strip() for cell in cells)]
    below = "rows of numbers below the header"
    _refuse(not rows, file, 2, "file", "no rows", below, "add them")
    columns: dict[str, list[float]] = {name: [] for name in header}
    for line, cells in rows:
        _refuse(
            len(cells) != len(header), file, line, "row", f"{len(cells)} cells",
            f"as many as in the header, {len(header)}", "give one number for each column",
        )  # fmt: skip
        for name, cell in zip(header, cells, strict=True):
            columns[name].append(_number(file, line, name, cell))
    if time is None:
        time = _time_column(file, header)
    else:
        known_name(f"{file}, line 1", "column", time, header, "a column of the header")
    places = [f"{file}, line {line}" for line, _ in rows]
    given = dict(inputs or {})
    return Measurement(columns, time, given, start, velocity, file.name, places=places)


def _check_header(file: Path, header: list[str]) -> None:
    names = "the names of the columns"
    _refuse(not any(header), file, 1, "header", "empty", names, "add a row such as t,arm.tip.z")
    for k, name in enumerate(header):
        remedy = "name or remove the column"
        _refuse(not name, file, 1, f"column {k + 1}", "", "a name in the header", remedy)
        twice = name in header[:k]
        _refuse(twice, file, 1, "column", name, "named once", "rename one of the two")
    _refuse(
        None not in map(number_in, header), file, 1, "header", ", ".join(header[:3]),
        f"{names}, not numbers", "add a first row such as t,arm.tip.z",
    )  # fmt: skip


def _time_column(file: Path, header: list[str]) -> str | None:
    """The column called t or time, with or without seconds as its unit; None if there is none."""
    for name in header:
        match = _TIME.match(name)
        unit = "" if match is None else (match[1] or "s").lower()
        seconds, remedy = "of times in seconds", "convert it and call it t"
        _refuse(unit in _OTHER_UNITS, file, 1, "column", name, seconds, remedy)
        if unit in _SECONDS:
            return name
    return None


def _number(file: Path, line: int, name: str, cell: str) -> float:
    text = cell.strip() or "nan"
    value = number_in(text)
    if value is None:
        hint = "write decimals with a point" if "," in text else "correct this cell"
        where = f"{file}, line {line}"
        raise DescriptionError(where, f"column {name!r}", text, "a number", hint)
    return value


def _refuse(
    wrong: object, file: Path, line: int, field: str, value: object, expected: str, remedy: str
) -> None:
    refuse(wrong, f"{file}, line {line}", field, value, expected, remedy)
