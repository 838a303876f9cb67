"""Points that a tendon or a spring runs through: on parts, or fixed in the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import Array, DescriptionError, refuse, vector
from pliant.model.drawing import Placed
from pliant.model.fields import Kind, Place, Reader, Schema, Several, Vector, Writer
from pliant.model.places import Frame, OnFrame

if TYPE_CHECKING:
    from pliant.model.description import Description

ViaPoint = Frame | tuple[float, ...]

KINDS = ("two-way", "tension", "compression")
"""Whether something between two points pulls and pushes, or does one of both only."""


@dataclass(frozen=True)
class OnFrameOrPoint(OnFrame):
    """A Frame or its name such as "arm.tip", or a point (x, y, z) in the world, metres."""

    meaning: str = "a place on a part, or a point in the world (m)"
    expected: ClassVar[str] = (
        "a Frame, its name such as 'arm.tip', or three numbers in metres for a point in the world"
    )

    def check(self, part: str, field: str, value: Any) -> Any:
        if isinstance(value, (tuple, list, np.ndarray)):
            return vector(part, field, value, 3, "metres")
        return super().check(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        if isinstance(given, list):
            return vector("", "", given, 3, "metres")
        return super().read(reader, path, given)

    def write(self, writer: Writer, value: Any) -> Any:
        return super().write(writer, value) if isinstance(value, Frame) else list(value)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        if isinstance(value, (str, Frame)):
            yield from super().problems(description, part, field, value)

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [*super().schema(defs)["anyOf"], Vector().schema(defs)]}


@dataclass(frozen=True)
class ViaPoints(Several):
    """Two points or more, one after the other."""

    meaning: str = "points that it runs through"
    example: str = "[arm.base, arm.tip]"
    item: Kind = OnFrameOrPoint()

    def check(self, part: str, field: str, value: Any) -> tuple[Any, ...]:
        listed = isinstance(value, (tuple, list, np.ndarray)) and not isinstance(value, str)
        refuse(
            not listed or len(value) < 2,
            part,
            field,
            value,
            "a list of two via-points or more",
            "give e.g. [arm.at(0.0, (0.007, 0)), arm.at(0.3, (0.007, 0))]",
        )
        return tuple(self.item.check(part, f"{field}[{k}]", x) for k, x in enumerate(value))

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        return self.check("", "", super().read(reader, path, given))

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        for k, point in enumerate(value):
            yield from self.item.problems(description, part, f"{field}[{k}]", point)
        if all(isinstance(point, (str, Frame)) is False for point in value):
            yield DescriptionError(
                part.label,
                field,
                value,
                "at least one point on a part, for points in the world do not move",
                "give a place such as 'arm.tip'",
            )


def fixed_ends(label: str, a: ViaPoint, b: ViaPoint) -> Iterator[DescriptionError]:
    """Yield what is wrong with something between two points that do not move."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        expected = "a place on a part, for 'b' is a point in the world"
        yield DescriptionError(label, "a", a, expected, "give e.g. 'arm.tip'")


def points_of(path: tuple[Any, ...], at: Placed) -> Array:
    """Where via-points are (K, 3), metres, in a robot at one configuration."""
    return np.array([at.frame(p)[:3, 3] if isinstance(p, Frame) else p for p in path])


def coil(a: Array, b: Array, turns: int = 8) -> Array:
    """Points (N, 3) of a coil between two points (3,), with straight ends."""
    way = b - a
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return np.array([a, b])
    t = np.linspace(0.0, 1.0, 16 * turns + 1)
    side = np.cross(way / length, np.eye(3)[int(np.argmin(np.abs(way)))])
    side /= np.linalg.norm(side)
    up = np.cross(way / length, side)
    radius = 0.06 * length
    angle = 2.0 * np.pi * turns * t
    middle = a + (0.15 + 0.7 * t)[:, None] * way
    middle += radius * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up)
    return np.concatenate([[a, a + 0.15 * way], middle, [a + 0.85 * way, b]])
