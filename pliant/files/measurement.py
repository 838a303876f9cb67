"""Read measurements from CSV files; refuse what cannot be read, with its line and column."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.model import DescriptionError, Measurement, known_name
from pliant.model.checks import number_in
from pliant.model.file_access import read_csv

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
    file = Path(path)
    lines = read_csv(str(file), file)
    header = [name.strip() for name in lines[0][1]] if lines else []
    _check_header(file, header)
    rows = [(line, cells) for line, cells in lines[1:] if any(cell.strip() for cell in cells)]
    if not rows:
        raise _wrong(file, 2, "file", "no rows", "rows of numbers below the header", "add them")
    columns: dict[str, list[float]] = {name: [] for name in header}
    for line, cells in rows:
        if len(cells) != len(header):
            raise _wrong(
                file, line, "row", f"{len(cells)} cells", f"as many as in the header, {len(header)}",
                "give one number for each column",
            )  # fmt: skip
        for name, cell in zip(header, cells, strict=True):
            columns[name].append(_number(file, line, name, cell))
    if time is None:
        time = _time_column(file, header)
    else:
        known_name(f"{file}, line 1", "column", time, header, "a column of the header")
    if time is not None:
        _check_order(file, [line for line, _ in rows], time, np.array(columns[time]))
    return Measurement(columns, time, dict(inputs or {}), start, velocity, file.name)


def _check_header(file: Path, header: list[str]) -> None:
    if not any(header):
        raise _wrong(
            file, 1, "header", "empty", "the names of the columns", "add a row such as t,arm.tip.z"
        )
    for k, name in enumerate(header):
        if not name:
            raise _wrong(
                file, 1, f"column {k + 1}", "", "a name in the header", "name or remove the column"
            )
        if name in header[:k]:
            raise _wrong(file, 1, "column", name, "named once", "rename one of the two")
    if None not in map(number_in, header):
        raise _wrong(
            file, 1, "header", ", ".join(header[:3]), "the names of the columns, not numbers",
            "add a first row such as t,arm.tip.z",
        )  # fmt: skip


def _time_column(file: Path, header: list[str]) -> str | None:
    """The column called t or time, with or without seconds as its unit; None if there is none."""
    for name in header:
        match = _TIME.match(name)
        unit = "" if match is None else (match[1] or "s").lower()
        if unit in _OTHER_UNITS:
            raise _wrong(file, 1, "column", name, "of times in seconds", "convert it and call it t")
        if unit in _SECONDS:
            return name
    return None


def _number(file: Path, line: int, name: str, cell: str) -> float:
    text = cell.strip()
    field = f"column {name!r}"
    if not text:
        return math.nan
    value = number_in(text)
    if value is None:
        hint = "write decimals with a point" if "," in text else "correct this cell"
        raise _wrong(file, line, field, text, "a number", hint)
    if math.isinf(value):
        raise _wrong(
            file, line, field, text, "a finite number", "leave the cell empty, or repair it"
        )
    return value


def _check_order(file: Path, lines: list[int], name: str, t: np.ndarray) -> None:
    """Refuse times that are missing or go back, with their line."""
    missing = np.flatnonzero(np.isnan(t))
    if len(missing):
        raise _wrong(
            file, lines[int(missing[0])], f"column {name!r}", "", "a number (the cell is empty)",
            "fill in the time, or leave out the line",
        )  # fmt: skip
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        k = int(back[0]) + 1
        raise _wrong(
            file, lines[k], f"column {name!r}", float(t[k]),
            f"later than the line before it, {t[k - 1]:g} s",
            "sort the lines by time and leave out repeated ones",
        )  # fmt: skip


def _wrong(
    file: Path, line: int, field: str, value: object, expected: str, remedy: str
) -> DescriptionError:
    return DescriptionError(f"{file}, line {line}", field, value, expected, remedy)
