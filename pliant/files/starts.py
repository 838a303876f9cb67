"""Where a motion of a robot file begins: points along rods, values of joints, velocities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pliant.model import Array, Choice, Description, DescriptionError, Kind, Schema, Writer
from pliant.model.checks import as_array, did_you_mean, raised, refuse
from pliant.model.fields import NUMBER

STARTS = ("statics", "rest")
_LIST: Schema = {"type": "array", "items": {"anyOf": [NUMBER, {"type": "array", "items": NUMBER}]}}


@dataclass(frozen=True)
class ArraysByPart(Kind):
    """A number, or lists of numbers, by name of a part."""

    example: str = "{hand: 0.3}"

    def check(self, part: str, field: str, value: Any) -> dict[str, Array]:
        bad = not isinstance(value, Mapping) or not value
        refuse(bad, part, field, value, "numbers by name of a part", self.remedy)
        return {str(name): self._array(part, field, str(name), x) for name, x in value.items()}

    def _array(self, part: str, field: str, name: str, value: Any) -> Array:
        found = as_array(value)
        place = f"{field}.{name}" if field else name
        if found is None or not found.size or not np.isfinite(found).all():
            raise DescriptionError(part, place, value, "finite numbers", self.remedy)
        return found

    def write(self, writer: Writer, value: Any) -> Any:
        return {name: writer.plain(item.tolist()) for name, item in value.items()}

    def schema(self, defs: Schema) -> Schema:
        item = {"anyOf": [NUMBER, _LIST]}
        return {"type": "object", "additionalProperties": item, "minProperties": 1}


@dataclass(frozen=True)
class StartShape(Choice):
    """A word, or points (n, 3) in metres by rod, evenly spaced or with their arclengths s (n,)."""

    names: tuple[str, ...] = STARTS

    def check(self, part: str, field: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return super().check(part, field, value)
        return {str(name): self._points(part, str(name), x) for name, x in value.items()}

    def _points(self, part: str, name: str, value: Any) -> Any:
        named = isinstance(value, Mapping) and set(value) == {"s", "points"}
        clean = isinstance(value, tuple) and len(value) == 2
        given = [value["s"], value["points"]] if named else [*value] if clean else [value]
        pair, arrays = named or clean, [as_array(x) for x in given]
        points = arrays[-1]
        good = points is not None and points.ndim == 2 and points.shape[1] == 3
        expected = (
            "points of three numbers in metres, from base to tip, or {s: [...], points: [...]}"
        )
        remedy = "give e.g. [[0, 0, 0], [0, 0, 0.1]]"
        refuse(not good or arrays[0] is None, part, name, value, expected, remedy)
        return tuple(arrays) if pair else points

    def write(self, writer: Writer, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return {
            name: {"s": x[0].tolist(), "points": x[1].tolist()}
            if isinstance(x, tuple)
            else x.tolist()
            for name, x in value.items()
        }

    def schema(self, defs: Schema) -> Schema:
        points: Schema = {"type": "array", "items": {"type": "array", "items": NUMBER}}
        placed = {
            "type": "object",
            "properties": {"s": {"type": "array", "items": NUMBER}, "points": points},
            "required": ["s", "points"],
            "additionalProperties": False,
        }
        by_rod = {"type": "object", "additionalProperties": {"anyOf": [points, placed]}}
        return {"anyOf": [super().schema(defs), by_rod]}


def start_problems(
    description: Description, start: Any, joints: Mapping[str, Array], velocity: Mapping[str, Array]
) -> Iterator[DescriptionError]:
    """Yield names of parts that a robot does not have, and numbers that do not fit their joints."""
    jointed = {
        name: part.joint
        for name, part in description.jointed().items()
        if getattr(part, "joint", None) is not None and part.joint.moves
    }
    moving = {**description.rods, **description.bodies}
    shapes = start if isinstance(start, Mapping) else {}
    known: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
        "start": (shapes, description.rods, "a rod"),
        "joints": (joints, jointed, "a part with a joint that moves"),
        "velocity": (velocity, moving, "a rod or a body"),
    }
    for field, (given, names, what) in known.items():
        for name in given:
            if name not in names:
                expected, remedy = f"the name of {what} of this robot", did_you_mean(name, names)
                yield DescriptionError("simulate", f"{field}.{name}", name, expected, remedy)
    for name, value in joints.items():
        if name in jointed:
            yield from raised(
                partial(jointed[name].coordinates, "simulate", f"joints.{name}", value)
            )
    for name, value in velocity.items():
        nv = jointed[name].nv if name in jointed else 6
        if name in moving and value.shape not in ((6,), (nv,), () if nv == 1 else (6,)):
            expected = f"six numbers, its twist{f', or {nv} for its joint' if nv < 6 else ''}"
            remedy = "give e.g. [0, 0, 0, 0, 0.1, 0]"
            yield DescriptionError("simulate", f"velocity.{name}", value.tolist(), expected, remedy)
