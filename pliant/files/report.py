"""Problems of a robot file that name part, field, value and remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pliant.files.source import Source
from pliant.model import DescriptionError
from pliant.model.errors import nearest_name
from pliant.model.kinds import Kind, Place
from pliant.model.registry import headings

_RUNS = ("statics", "simulate", "modes")
_GENERAL = ("parts", "effects")


def part_and_field(path: Place) -> tuple[str, str]:
    """Split a path into the part it belongs to and the field in it.

    ("rods", "arm", "section", "circle") gives "rod 'arm'" and "section.circle".
    """
    head = path[0] if path else ""
    words = {**headings(), "inputs": "input"}
    if head in _GENERAL and len(path) > 2:
        return f"{str(path[2]).replace('_', ' ')} {path[1]!r}", _dotted(path[3:])
    if head in words and len(path) > 1:
        return f"{words[str(head)]} {path[1]!r}", _dotted(path[2:])
    if head in _RUNS and len(path) > 1:
        return str(head), _dotted(path[1:])
    return "robot", _dotted(path)


def report_error(source: Source, path: Place, error: DescriptionError) -> None:
    """Report an error of the Python classes about the entry at ``path``."""
    inner = error.field.split(".") if error.field else []
    place = _in_file(source, path, inner)
    part, field = part_and_field(place)
    value = error.value
    if not isinstance(value, (str, int, float)):
        # a vector or a frame is shown as the file writes it
        written = source.value(place)
        value = written if written is not None else value
    told = DescriptionError(part, field or "entry", value, error.expected, _as_yaml(error.remedy))
    source.report(place, part, field, told.problem)


def report_missing(source: Source, path: Place, kind: Kind) -> None:
    """Report a field that must be given."""
    part, field = part_and_field(path)
    meaning = f" ({kind.note})" if kind.note else ""
    example = f"give e.g. {kind.example}" if kind.example else "give it"
    source.report(path[:-1], part, field, f"{field} is missing{meaning}; {example}")


def unknown_name(kind: str, value: object, name: str, known: Sequence[str]) -> DescriptionError:
    """Return the error for a field or setting that does not exist."""
    there = f"there are {', '.join(known)}" if known else "there are none"
    near = nearest_name(name, known)
    remedy = f"did you mean {near!r}?" if near is not None else "remove it"
    return DescriptionError("", "", value, f"left out, there is no such {kind} ({there})", remedy)


def _in_file(source: Source, path: Place, inner: Sequence[str]) -> Place:
    """Return the path of a field of a Python class as the file has it.

    The file names the class of some objects, as in ``section: {circle: {radius: ...}}``, the
    arclength of a place ``at``, and the path of a table ``csv``.
    """
    for name in inner:
        group = source.value(path)
        if isinstance(group, dict) and name not in group:
            only = next(iter(group.values())) if len(group) == 1 else None
            if isinstance(only, dict) and name in only:
                path = (*path, next(iter(group)))
            elif name == "s" and "part" in group:
                name = "at"
            elif name == "path" and "csv" in group:
                name = "csv"
        path = (*path, name)
    return path


def _as_yaml(remedy: str) -> str:
    """Return a remedy with Python's ('a', 2) and name=1 written as [a, 2] and name: 1."""
    if "e.g." not in remedy:
        return remedy
    lists = re.sub(r"(?<!\w)\(([^()]*)\)", lambda m: f"[{m[1].replace(chr(39), '')}]", remedy)
    return re.sub(r"\b(\w+)=(?=\S)", r"\1: ", lists)


def _dotted(path: Place) -> str:
    found = ""
    for item in path:
        found += f"[{item}]" if isinstance(item, int) else f".{item}" if found else str(item)
    return found
