"""How results leave Pliant: summaries and tables as text, labelled arrays."""

from __future__ import annotations

import csv
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array, whole_file

if TYPE_CHECKING:
    import xarray as xr

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


def poses_by_name(places: Mapping[str, Array]) -> dict[str, Any]:
    """Return poses (4, 4) by name as plain data: position, m, and rows of the rotation."""
    return {
        name: {"position": g[:3, 3].tolist(), "rotation": g[:3, :3].tolist()}
        for name, g in places.items()
    }


def plain_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data as JSON takes them: arrays as lists, numbers that are not finite as None."""
    return {str(name): _plain(value) for name, value in data.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return plain_data(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


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
    return write_rows(path, names, ([getattr(row, name) for name in names] for row in rows))


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a header and rows of cells as .csv and return the path; None stays empty."""
    with whole_file(path) as partial, partial.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return path


AXES = {
    "axis": ["x", "y", "z"],
    "local": ["x", "y", "z"],
    "strain_part": ["ux", "uy", "uz", "vx", "vy", "vz"],
    "wrench_part": ["mx", "my", "mz", "nx", "ny", "nz"],
    "twist_part": ["wx", "wy", "wz", "vx", "vy", "vz"],
}
UNITS = {
    "position": "m",
    "rotation": "1",
    "strain": "rad/m, 1",
    "wrench": "N m, N",
    "velocity": "rad/s, m/s",
    "shape": "rad, m for unit modal mass",
    "energy": "J",
    "reaction": "N m, N",
    "frequency": "Hz",
    "growth": "1/s",
    "time": "s",
    "s": "m",
}


def variable(name: str, dims: tuple[str, ...], values: Any, **more: object) -> Any:
    """Return a labelled array with its unit."""
    unit = {"units": UNITS[name]} if name in UNITS else {}
    return dims, np.asarray(values), {**unit, **more}


def names(items: Iterable[str]) -> NDArray[Any]:
    """Return names as the labels of an axis, which may be empty."""
    listed = list(items)
    return np.array(listed, dtype=object if listed else "U1")


def pose_variables(dims: tuple[str, ...], poses: Array, of: str = "") -> dict[str, Any]:
    """Return position and rotation of poses (..., 4, 4) whose leading axes are `dims`."""
    return {
        f"{of}position": variable("position", (*dims, "axis"), poses[..., :3, 3], frame="world"),
        f"{of}rotation": variable(
            "rotation", (*dims, "axis", "local"), poses[..., :3, :3], columns="local axes in world"
        ),
    }


def dataset(
    variables: Mapping[str, Any], coordinates: Mapping[str, Any], attributes: Mapping[str, Any]
) -> xr.Dataset:
    """Return an xarray Dataset with the components of vectors named."""
    import xarray as xr

    used = {dim for dims, *_ in variables.values() for dim in dims}
    axes = {name: parts for name, parts in AXES.items() if name in used}
    return xr.Dataset(dict(variables), {**axes, **coordinates}, dict(attributes))
