"""Write a robot to a robot file, by the same fields of classes by which files are read."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from pliant.files.robot_file import InputKind, load_robot_file
from pliant.model import (
    Description,
    DescriptionError,
    Entry,
    Frame,
    Table,
    as_float,
    check_suffix,
    count,
    fields_of,
    headings,
    refuse,
    whole_file,
)
from pliant.model.breaks import Breaks
from pliant.model.fields import Name

_SUFFIXES = (".yaml", ".yml")
_WORD = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_RESERVED = ("true", "false", "null", "yes", "no", "off", "y", "n")
_SIDE = 1e-9
"""Distance of a table's entries on both sides of a jump from it, as a part of the rod's length."""
_BLOCKS = 3
"""Levels of a file that are written line by line: section, entry, field."""


def save_robot_file(
    path: str | os.PathLike[str],
    description: Description,
    inputs: Mapping[str, Any],
    families: Mapping[str, Mapping[str, type]],
    tabulate: int | None = None,
) -> Path:
    """Write a robot to a robot file and return its path.

    inputs : values or signals by name.  families : as for `load_robot_file`, by "formulation" and
    "integrator".  tabulate : intervals of the tables that replace functions of s; None refuses them.
    The file is read back before it takes its place: it holds what was described, or is not written.
    """
    target = check_suffix("save", path, _SUFFIXES)
    if tabulate is not None:
        count("save", "tabulate", tabulate, 1, "give e.g. 200")
    description.validate()
    data = _data(description, inputs, families, tabulate)
    with whole_file(target) as partial:
        partial.write_text("\n".join(_lines(data)) + "\n", encoding="utf-8")
        found = load_robot_file(partial, families["formulation"], families["integrator"])
        again = _data(found.description, found.inputs, families, None)
        refuse(
            again != data,
            "save",
            "robot",
            _first_difference(data, again),
            "read back from the file as it was described",
            "check how the class of this entry reads its fields",
        )
    return target


def _data(
    description: Description,
    inputs: Mapping[str, Any],
    families: Mapping[str, Mapping[str, type]],
    tabulate: int | None,
) -> dict[str, Any]:
    """Return a robot file as plain data: sections, entries by name, fields."""
    data: dict[str, Any] = {}
    if description.gravity != Description().gravity:
        data["gravity"] = list(description.gravity)
    data |= {heading: {} for heading in headings()}
    for name, entry in description.parts.items():
        writer = FileWriter(description, entry, families, tabulate)
        fields = entry.write(writer)
        general = not entry.heading
        section = entry.family if general else entry.heading
        data[section][name] = {entry.file_name: fields} if general else fields
    writer = FileWriter(description, None, families, tabulate)
    data["inputs"] = {name: writer.input(name, value) for name, value in inputs.items()}
    return {name: section for name, section in data.items() if section}


class FileWriter:
    """Writes the fields of one entry as plain data, as the `Writer` of the kinds."""

    def __init__(
        self,
        description: Description,
        entry: Entry | None,
        families: Mapping[str, Mapping[str, type]],
        tabulate: int | None,
    ) -> None:
        self.description, self.entry = description, entry
        self.label = "" if entry is None else entry.label
        self.families, self.tabulate = families, tabulate
        self._path: list[str] = []

    def input(self, name: str, value: object) -> Any:
        """Return the value or signal of an input."""
        self.label = f"input {name!r}"
        with self._within("value"):
            return InputKind().write(self, value)

    def group(self, described: object) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, item in fields_of(type(described)).items():
            if isinstance(item.kind, Name):
                continue
            value = getattr(described, name)
            default = item.kind.check("", name, None) if item.kind.nullable else item.default
            if value is default:
                continue
            with self._within(name):
                values[name] = item.kind.write(self, value)
                known = default is not None and default is not MISSING
                if known and values[name] == item.kind.write(self, default):
                    del values[name]
        return values

    def setting(self, family: str, value: object) -> Any:
        name = type(value).__name__
        if self.families[family].get(name) is not type(value):
            self.refuse(
                value,
                f"a {family} that comes with Pliant, for a file cannot name one of your own",
                "leave it out, and give it to statics, simulate and modes",
            )
        return {name: settings} if (settings := self.group(value)) else name

    def along(self, value: object) -> Any:
        if callable(value) and not isinstance(value, Table):
            value = self._tabulated(value)
        if isinstance(value, Table):
            return {"table": {"s": self.plain(value.s), "values": self.plain(value.values)}}
        return self.plain(value)

    def length(self, part: str) -> float | None:
        rod = self.description.rods.get(part)
        return None if rod is None else rod.length

    def plain(self, value: object) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if isinstance(value, (tuple, list)):
            return [self.plain(item) for item in value]
        if value is None or isinstance(value, (str, bool, int)):
            return value
        number = as_float(value)
        if number is None:
            what = "a function, which a file cannot hold" if callable(value) else "an object"
            self.refuse(value, f"numbers, texts or lists of them, not {what}", "replace it")
        return number

    def refuse(self, value: object, expected: str, remedy: str) -> NoReturn:
        raise DescriptionError(self.label, ".".join(self._path), value, expected, remedy)

    @contextmanager
    def _within(self, name: str) -> Iterator[None]:
        """Tell errors as those of this field."""
        self._path.append(name)
        try:
            yield
        finally:
            self._path.pop()

    def _tabulated(self, function: Any) -> Table:
        """Return a function of s as a table over the whole rod, if the user asked for it."""
        length = self._rod_length()
        if self.tabulate is None or length is None:
            self.refuse(
                function,
                "numbers or a Table, for a file cannot hold a Python function",
                "give a Table, or save(path, tabulate=200) for a table of it with 200 intervals",
            )
        breaks = Breaks() if self.entry is None else self.entry.breaks_along(length)
        sides = [s + side * _SIDE * length for s in breaks.jumps for side in (-1.0, 1.0)]
        evenly = np.linspace(0.0, length, self.tabulate + 1)
        s = np.unique(np.concatenate([evenly, breaks.bends, np.clip(sides, 0.0, length)]))
        values = [np.asarray(function(point), dtype=float).tolist() for point in s.tolist()]
        return Table(s, values)

    def _rod_length(self) -> float | None:
        """The length of the rod that the entry is or names, metres."""
        entry = self.entry
        if entry is None or entry.name in self.description.rods:
            return None if entry is None else self.length(entry.name)
        named = [getattr(entry, name, None) for name in fields_of(type(entry))]
        parts = [value.part if isinstance(value, Frame) else value for value in named]
        rods = [part for part in parts if isinstance(part, str) and part in self.description.rods]
        return self.length(rods[0]) if rods else None


def _lines(data: Mapping[str, Any], level: int = 0) -> Iterator[str]:
    """Yield the lines of a file: sections, entries and fields as blocks, deeper ones in braces."""
    for name, value in data.items():
        lead = f"{'  ' * level}{_text(name)}:"
        if isinstance(value, dict) and value and level + 1 < _BLOCKS:
            yield lead
            yield from _lines(value, level + 1)
        else:
            yield f"{lead} {_flow(value)}"


def _flow(value: Any) -> str:
    """Return plain data as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and math.isfinite(value):
        # every YAML version takes a number with a point for a number
        mantissa, mark, exponent = repr(value).partition("e")
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}{mark}{exponent}"
    if isinstance(value, float):
        return f".{value}" if value != -math.inf else "-.inf"
    return json.dumps(value)


def _text(text: str) -> str:
    """Return a text as YAML, in quotes where it needs them."""
    if _WORD.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(x if x.isprintable() else f"\\U{ord(x):08x}" for x in escaped) + '"'


def _first_difference(a: Any, b: Any) -> str:
    """Return the dotted place at which two robot files differ first."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return ""
    name = next((key for key in {**a, **b} if a.get(key) != b.get(key)), "")
    return ".".join(filter(None, (str(name), _first_difference(a.get(name), b.get(name)))))
