"""Curves of IGES files as polylines, and wireframes as IGES files.

Read are arcs (100), composite curves (102), polylines (106), lines (110), parametric splines (112),
rational B-splines (126) and their transformations (124), in the unit of the file. Others are
counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pliant.model.checks import Array

METRES = {
    1: 0.0254,
    2: 1e-3,
    4: 0.3048,
    5: 1609.344,
    6: 1.0,
    7: 1e3,
    8: 2.54e-5,
    9: 1e-6,
    10: 1e-2,
    11: 2.54e-8,
}
"""Length of the unit with a flag, m; flag 3 names its unit."""
_NAMES = {"IN": 1, "INCH": 1, "MM": 2, "FT": 4, "M": 6, "KM": 7, "MIL": 8, "UM": 9, "CM": 10}
_COMPOSITE, _TRANSFORM = 102, 124
_STRINGS = re.compile(r"(\d+)H")


@dataclass
class Curves:
    """Polylines, each (K, 3), metres; and how many entities of other types were left out, by type."""

    lines: list[Array] = field(default_factory=list)
    skipped: dict[int, int] = field(default_factory=dict)


@dataclass
class _Entity:
    """One entity: its type and form, the number of its transformation, its parameters."""

    kind: int
    form: int
    matrix: int
    values: list[str]

    def numbers(self, first: int = 0, count: int | None = None) -> Array:
        """Parameters as numbers."""
        last = None if count is None else first + count
        return np.array([_number(text) for text in self.values[first:last]])


def _number(text: str) -> float:
    """A number as Fortran writes it; an empty field is zero."""
    return float(text.upper().replace("D", "E")) if text else 0.0


def read_iges(text: str, segments: int) -> Curves:
    """Return the curves of an IGES file; raises ValueError for what is none.

    segments : into which each arc and each span of a spline is cut.
    """
    sections: dict[str, list[str]] = {letter: [] for letter in "SGDPT"}
    for line in text.splitlines():
        if len(line) >= 73 and line[72] in sections:
            sections[line[72]].append(line)
    if not sections["D"] or not sections["P"]:
        raise ValueError("no directory of entities")
    separator, end, scale = _globals("".join(line[:72] for line in sections["G"]))
    entities = _entities(sections["D"], sections["P"], separator, end)
    found, parents = Curves(), _parents(entities)
    for number, entity in entities.items():
        if entity.kind in (_COMPOSITE, _TRANSFORM):
            continue
        points = _points(entity, segments)
        if points is None:
            found.skipped[entity.kind] = found.skipped.get(entity.kind, 0) + 1
            continue
        owner: int | None = number
        while owner is not None:
            points = _transformed(points, entities, entities[owner].matrix)
            owner = parents.get(owner)
        found.lines.append(scale * points)
    return found


def _globals(text: str) -> tuple[str, str, float]:
    """Separators of parameters and of records, and the length of the unit, m."""
    separator = text[2] if text.startswith("1H") else ","
    rest = text[3:].lstrip(separator) if text.startswith("1H") else text.lstrip(separator)
    end = rest[2] if rest.startswith("1H") else ";"
    values = _split(text, separator, end)
    flag = int(_number(values[13])) if len(values) > 13 else 1
    if flag == 3:
        flag = _NAMES.get(values[14].upper() if len(values) > 14 else "", 0)
    if flag not in METRES:
        raise ValueError("a unit of length that is not known")
    return separator, end, METRES[flag]


def _split(text: str, separator: str, end: str) -> list[str]:
    """Parameters of a record, with strings such as 3Habc."""
    values, at = [], 0
    while at < len(text):
        while at < len(text) and text[at] == " ":
            at += 1
        string = _STRINGS.match(text, at)
        if string:
            last = string.end() + int(string[1])
            values.append(text[string.end() : last])
            at = last
            while at < len(text) and text[at] not in (separator, end):
                at += 1
        else:
            stop = at
            while stop < len(text) and text[stop] not in (separator, end):
                stop += 1
            values.append(text[at:stop].strip())
            at = stop
        if at >= len(text) or text[at] == end:
            break
        at += 1
    return values


def _entities(
    directory: list[str], lines: list[str], separator: str, end: str
) -> dict[int, _Entity]:
    """The entities of a file by the number of their directory entry."""
    found = {}
    for k in range(0, len(directory) - 1, 2):
        first = [directory[k][8 * i : 8 * i + 8].strip() for i in range(9)]
        second = [directory[k + 1][8 * i : 8 * i + 8].strip() for i in range(5)]
        start, count = int(first[1]) - 1, int(second[3] or 1)
        text = "".join(line[:64] for line in lines[start : start + count])
        values = _split(text, separator, end)[1:]
        form, matrix = int(second[4] or 0), int(first[6] or 0)
        found[k + 1] = _Entity(int(first[0]), form, matrix, values)
    return found


def _parents(entities: dict[int, _Entity]) -> dict[int, int]:
    """The composite curve of each curve that is a part of one."""
    found = {}
    for number, entity in entities.items():
        if entity.kind == _COMPOSITE:
            count = int(_number(entity.values[0]))
            found.update({int(x): number for x in entity.numbers(1, count)})
    return found


def _transformed(points: Array, entities: dict[int, _Entity], matrix: int) -> Array:
    """Points (K, 3) moved by a transformation and by those that it refers to."""
    seen: set[int] = set()
    while matrix and matrix not in seen:
        seen.add(matrix)
        T = entities[matrix].numbers(0, 12).reshape(3, 4)
        points = points @ T[:, :3].T + T[:, 3]
        matrix = entities[matrix].matrix
    return points


def _points(entity: _Entity, segments: int) -> Array | None:
    """Points (K, 3) along a curve, None for other entities."""
    match entity.kind:
        case 100:
            return _arc(entity.numbers(0, 7), segments)
        case 106:
            return _polyline(entity)
        case 110:
            return entity.numbers(0, 6).reshape(2, 3)
        case 112:
            return _parametric_spline(entity, segments)
        case 126:
            return _rational_spline(entity, segments)
    return None


def _arc(values: Array, segments: int) -> Array:
    """A circular arc: height, centre, start and end in a plane z = constant, counter-clockwise."""
    z, centre = values[0], values[1:3]
    start, stop = values[3:5] - centre, values[5:7] - centre
    a, b = np.arctan2(start[1], start[0]), np.arctan2(stop[1], stop[0])
    turn = (b - a) % (2 * np.pi) or 2 * np.pi
    angles = a + np.linspace(0.0, turn, segments + 1)
    xy = centre + np.linalg.norm(start) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.column_stack([xy, np.full(len(xy), z)])


def _polyline(entity: _Entity) -> Array:
    kind, count = int(_number(entity.values[0])), int(_number(entity.values[1]))
    if kind == 1:
        z, xy = _number(entity.values[2]), entity.numbers(3, 2 * count).reshape(-1, 2)
        points = np.column_stack([xy, np.full(len(xy), z)])
    else:
        width = 3 if kind == 2 else 6
        points = entity.numbers(2, width * count).reshape(-1, width)[:, :3]
    closed = entity.form == 63
    return np.concatenate([points, points[:1]]) if closed else points


def _parametric_spline(entity: _Entity, segments: int) -> Array:
    """Cubics a + b u + c u^2 + d u^3 between breakpoints, u from the start of each."""
    count = int(_number(entity.values[3]))
    breaks = entity.numbers(4, count + 1)
    cubics = entity.numbers(5 + count, 12 * count).reshape(count, 3, 4)
    pieces = []
    for k in range(count):
        u = np.linspace(0.0, breaks[k + 1] - breaks[k], segments + 1)[int(k > 0) :]
        pieces.append(np.stack([np.ones_like(u), u, u**2, u**3], axis=1) @ cubics[k].T)
    return np.concatenate(pieces)


def _rational_spline(entity: _Entity, segments: int) -> Array:
    last, degree = (int(x) for x in entity.numbers(0, 2))
    at = 6
    knots = entity.numbers(at, last + degree + 2)
    at += len(knots)
    weights = entity.numbers(at, last + 1)
    at += len(weights)
    controls = entity.numbers(at, 3 * (last + 1)).reshape(-1, 3)
    first, end = entity.numbers(at + 3 * (last + 1), 2)
    inner = np.unique(knots[(knots > first) & (knots < end)])
    cuts = np.concatenate([[first], inner, [end]])
    steps = [np.linspace(a, b, segments + 1)[:-1] for a, b in pairwise(cuts)]
    u = np.concatenate([*steps, [end]])
    if degree == 1:
        u = cuts
    weighted = np.column_stack([weights[:, None] * controls, weights])
    from scipy.interpolate import splev

    shape = np.stack(splev(u, (knots, list(weighted.T), degree)), axis=-1)
    return np.asarray(shape[:, :3] / shape[:, 3:])


def written_iges(lines: Iterator[Array]) -> str:
    """Return the text of an IGES file with straight lines, each (2, 3), metres."""
    head = [("S", "Wireframe written by Pliant")]
    words = "1H,,1H;,6Hpliant,9Hwireframe,6Hpliant,3H0.1,32,38,6,308,15,6Hpliant,1.0,6,1HM,1,0.0,"
    words += "15H20000101.000000,1E-9,0.0,6Hpliant,6Hpliant,11,0,15H20000101.000000;"
    head += [("G", words[k : k + 72]) for k in range(0, len(words), 72)]
    rows: list[str] = []
    data: list[str] = []
    for directory, points in enumerate(lines, start=1):
        numbers = ",".join(repr(float(x)) for x in np.ravel(points))
        record = f"110,{numbers};"
        pieces = _cut(record)
        first = len(data) + 1
        data += [f"{piece:<64}{2 * directory - 1:8d}" for piece in pieces]
        rows.append("".join(f"{x:8d}" for x in (110, first, 0, 0, 0, 0, 0, 0)) + "00000000")
        rows.append("".join(f"{x:8d}" for x in (110, 0, 0, len(pieces), 0)) + " " * 32)
    body = head + [("D", row) for row in rows] + [("P", row) for row in data]
    counts = dict.fromkeys("SGDP", 0)
    found = []
    for letter, words in body:
        counts[letter] += 1
        found.append(f"{words:<72}{letter}{counts[letter]:7d}")
    tail = "".join(f"{letter}{counts[letter]:7d}" for letter in "SGDP")
    return "\n".join([*found, f"{tail:<72}T{1:7d}", ""])


def _cut(record: str) -> list[str]:
    """A record in pieces of at most 64 characters, cut behind separators."""
    pieces, line = [], ""
    for word in re.findall(r"[^,;]*[,;]", record):
        if len(line) + len(word) > 64:
            pieces.append(line)
            line = ""
        line += word
    return [*pieces, line]
