"""Results as text: summaries, tables and settings."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.model import Array, whole_file

WIDTH = 98
"""Longest line of a paragraph."""


def describe_formulation(formulation: Mapping[str, str]) -> str:
    """Return the formulation of each rod, rods of one formulation together."""
    groups: dict[str, list[str]] = {}
    for rod, text in formulation.items():
        groups.setdefault(text, []).append(repr(rod))
    listed = "; ".join(f"{', '.join(rods)} as {text}" for text, rods in groups.items())
    return listed or "rigid bodies"


def describe_places(places: Mapping[str, Array]) -> list[str]:
    """Return one line for each pose (4, 4) of a tip or body: position and direction of its z axis."""
    width = max(len(name) for name in places)
    return [
        f"  {name:<{width}}  ({', '.join(_length(x) for x in g[:3, 3])}) m, pointing along "
        f"({', '.join(f'{x:+.3f}' for x in g[:3, 2])})"
        for name, g in places.items()
    ]


def describe_energy(parts: Mapping[str, float], lead: str = "  energy") -> str:
    """Return energies, J, on one line in one unit."""
    largest = max((abs(value) for value in parts.values()), default=0.0)
    unit, factor = ("J", 1.0) if largest >= 0.1 or largest == 0.0 else ("mJ", 1e3)
    listed = ", ".join(f"{name} {_four_digits(factor * value)}" for name, value in parts.items())
    return f"{lead} / {unit}: {listed}"


def _length(value: float) -> str:
    """A length, m, to a hundredth of a millimetre, without a negative zero."""
    return f"{value + 0.0 if abs(value) >= 5e-6 else 0.0:.5f}"


def _four_digits(value: float) -> str:
    return f"{float(np.format_float_positional(value, 4, fractional=False)):.6g}"


def settings_text(item: object) -> str:
    """Return a settings object as Python code, without settings at their default."""
    if not is_dataclass(item) or isinstance(item, type):
        return " ".join(repr(item).split())
    given = []
    for one in fields(item):
        value = getattr(item, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if one.init and not (value is default or (np.ndim(value) == 0 and value == default)):
            given.append(f"{one.name}={_short(value)}")
    return f"{type(item).__name__}({', '.join(given)})"


def _short(value: object) -> str:
    return f"({len(value)} values)" if np.ndim(value) and len(value) > 4 else repr(value)  # type: ignore[arg-type, arg-type]


def paragraph(text: str) -> list[str]:
    """Return the text as lines, all but the first indented."""
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ")


def table(cells: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: a ruled heading, the first column left, the others right."""
    first, *widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join([name.ljust(first), *map(str.rjust, rest, widths)]).rstrip()
        for name, *rest in cells
    ]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def write_table(path: Path, names: Sequence[str], rows: Iterable[Any]) -> Path:
    """Write the attributes `names` of rows as .csv and return the path; None stays empty."""
    with whole_file(path) as partial, partial.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        for row in rows:
            values = (getattr(row, name) for name in names)
            writer.writerow(["" if value is None else value for value in values])
    return path
