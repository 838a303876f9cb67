"""What effects show in pictures: plain shapes in world coordinates, without any drawing library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pliant.model.checks import Array
from pliant.model.places import Frame


class Placed(Protocol):
    """A robot at one configuration, as a drawing sees it."""

    def frame(self, frame: Frame) -> Array:
        """World pose (4, 4) of a frame."""

    def sections(self, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4) of sections of a rod at arclengths s (S,), m."""

    def length(self, rod: str) -> float:
        """Length of a rod, m."""

    def input(self, name: str) -> Any:
        """Value of an input."""

    def told(self, name: str) -> Mapping[str, Any]:
        """What the effect of that name tells of itself in a result; nothing where it is not known."""


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force (N) or a moment (N m) at a point: origin (3,), metres; vector (3,)."""

    name: str
    origin: Array
    vector: Array
    kind: str = "force"


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points (N, 3), metres.

    inside : whether it runs inside of parts, so that it is drawn over them.
    """

    name: str
    points: Array
    inside: bool = False


@dataclass(frozen=True, eq=False)
class Tube:
    """A body swept along poses (S, 4, 4), with half widths (S, 2) or (2,), metres."""

    name: str
    poses: Array
    half_widths: Array


@dataclass(frozen=True, eq=False)
class Mark:
    """A ball at a point (3,), metres."""

    name: str
    origin: Array


@dataclass(frozen=True, eq=False)
class Value:
    """A number with its unit, told in the legend and marked at a point (3,), metres."""

    name: str
    origin: Array
    number: float
    unit: str = ""


Primitive = Arrow | Line | Tube | Mark | Value


def frame_marks(name: str, frames: Iterable[Frame], at: Placed) -> list[Primitive]:
    """Balls at some frames."""
    return [Mark(name, at.frame(frame)[:3, 3]) for frame in frames]


def rod_mark(name: str, rod: str, at: Placed) -> list[Primitive]:
    """A ball in the middle of a rod."""
    return [Mark(name, at.frame(Frame(rod, 0.5 * at.length(rod)))[:3, 3])]
