"""Read measurements from CSV files; refuse what cannot be read, with its line and column."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.model import Measurement, known_name, number_in, read_csv, refuse

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
    if time is not None:
        _check_order(file, [line for line, _ in rows], time, np.array(columns[time]))
    return Measurement(columns, time, dict(inputs or {}), start, velocity, file.name)


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
    field = f"column {name!r}"
    hint = "write decimals with a point" if "," in text else "correct this cell"
    _refuse(value is None, file, line, field, text, "a number", hint)
    remedy = "leave the cell empty, or repair it"
    _refuse(value in (-math.inf, math.inf), file, line, field, text, "a finite number", remedy)
    return float(text)


def _check_order(file: Path, lines: list[int], name: str, t: np.ndarray) -> None:
    """Refuse times that are missing or go back, with their line."""
    field = f"column {name!r}"
    for k in np.flatnonzero(np.isnan(t))[:1]:
        expected, remedy = "a number (the cell is empty)", "fill in the time, or leave out the line"
        _refuse(True, file, lines[k], field, "", expected, remedy)
    for k in np.flatnonzero(np.diff(t) <= 0)[:1]:
        expected = f"later than the line before it, {t[k]:g} s"
        remedy = "sort the lines by time and leave out repeated ones"
        _refuse(True, file, lines[k + 1], field, float(t[k + 1]), expected, remedy)


def _refuse(
    wrong: object, file: Path, line: int, field: str, value: object, expected: str, remedy: str
) -> None:
    refuse(wrong, f"{file}, line {line}", field, value, expected, remedy)
