"""Put other numbers into a robot file, keeping what else it says, its comments and its order."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from pliant.model import (
    Description,
    DescriptionError,
    Entry,
    Stiffness,
    Table,
    as_float,
    field_at,
    fields_of,
    sections,
)
from pliant.model.differences import difference


def rewritten(path: Path, description: Description, changed: Iterable[str]) -> str:
    """Return the text of a robot file with the numbers that a description has at some paths.

    path : the file.  description : with the new numbers.  changed : their paths. Comments stay where
    they are; spaces and line breaks may change.
    """
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 100_000
    data = yaml.load(path.read_text(encoding="utf-8-sig"))
    for item in changed:
        keys, value = field_at(description, item)
        group, places = data, {tuple(keys): value}
        if keys[0] == "origin":
            group = data.get("parameters") or {}
            places = {(keys[2],): value} if keys[2] in group else {}
        elif keys[0] == "parts":
            part = description.parts[keys[1]]
            group, places = _entry(data, part, keys[2:], value)
        holders = {place: _holder(group, place) for place in places}
        if not holders or None in holders.values():
            raise _refused(path, item, "written out in the file")
        for place, holder in holders.items():
            holder[place[-1]] = _kept(holder.get(place[-1]), _plain(places[place]))
    text = io.StringIO()
    yaml.dump(data, text)
    return text.getvalue()


def check_rewritten(path: Path, found: Description, wanted: Description) -> None:
    """Refuse a description `found` in a file that is not the one it was to hold.

    path : the file it was made from, for the message.
    """
    other = difference(_felt(found), _felt(wanted))
    if other is not None:
        raise _refused(
            path,
            other.removeprefix("parts."),
            "a number of its own, which nothing else follows from or shares",
        )


def _felt(description: Description) -> Description:
    """A description without the stiffness against shear and stretch that Kirchhoff rods never feel."""
    rods = {
        name: replace(rod, section=replace(rod.section, shear=1.0, axial=1.0))
        for name, rod in description.rods.items()
        if rod.theory == "kirchhoff" and isinstance(rod.section, Stiffness)
    }
    return replace(description, parts={**description.parts, **rods})


def _entry(data: Any, part: Entry, path: list[str], value: Any) -> tuple[Any, dict[Any, Any]]:
    """The entry of the file that a part stands in or comes from, and by place what to write there."""
    heading = part.heading or part.family
    if part.name in (data.get(heading) or {}):
        return data[heading][part.name], {tuple(path): value}
    for section, cls in sections().items():
        if cls.naming == "name":
            continue
        names = fields_of(cls)[cls.naming].default
        for name, entry in (data.get(section) or {}).items():
            if part.name in (name, *entry.get(cls.naming, names)):
                return entry, cls.written(entry, part, path, value)
    return data, {}


def _holder(group: Any, place: tuple[str, ...]) -> Any:
    """The group that holds a field, or None; it may stand below the name of a kind (circle:)."""
    for key in place[:-1]:
        group = _inside(group, key)
        if key not in group or not isinstance(group[key], dict):
            return None
        group = group[key]
    return _inside(group, place[-1])


def _inside(group: Any, key: str) -> Any:
    """The group itself, or what it holds under the name of a kind, as {circle: {radius: ...}}."""
    only = next(iter(group.values())) if len(group) == 1 else None
    return only if key not in group and isinstance(only, dict) else group


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return {"table": {"s": _plain(value.s), "values": _plain(value.values)}}
    one = as_float(value)
    if one is not None:
        return one
    return [_plain(item) for item in np.asarray(value, dtype=object)]


def _kept(old: Any, new: Any) -> Any:
    """The new value in the shape and style of the old one where both are lists of one length."""
    if not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
        return new
    for k, item in enumerate(new):
        old[k] = _kept(old[k], item)
    return old


def _refused(path: Path, item: str, expected: str) -> DescriptionError:
    return DescriptionError(
        str(path), "number", item, expected, "write the values of the report into the file by hand"
    )
