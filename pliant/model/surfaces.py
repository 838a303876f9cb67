"""Surfaces that a robot may touch: planes, spheres and cylinders, in the world or fixed to parts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pliant.model.checks import Array, DescriptionError
from pliant.model.drawing import Placed, Primitive, Tube
from pliant.model.fields import Flag, holds, quantity
from pliant.model.places import Frame, OnFrame
from pliant.model.registry import Described

if TYPE_CHECKING:
    from pliant.model.description import Description

_FIXED = OnFrame("what it is fixed to; the world if left out", example="ball")


def _point(meaning: str, default: Any = (0.0, 0.0, 0.0)) -> Any:
    return quantity("metres", meaning, shape=3, default=default)


class Surface(Described):
    """What rods and spheres may touch; its subclasses are known to robot files.

    on : the frame that it is fixed to, or its name; None for the world. Points and directions are in
    that frame.
    """

    file_name = ""
    on: Frame | None

    def numbers(self) -> tuple[Array, Array, float, float]:
        """Point (3,), normal or axis (3,) of length one, radius, and side: -1 for what is inside."""
        return np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.0, 1.0

    def located(self, description: Description, owner: Any, field: str) -> Self:
        """Return it with the place it is fixed to looked up in a robot."""
        place = _FIXED.located(description, owner, f"{field}.on", self.on)
        return self if place is self.on else replace(self, on=place)  # type: ignore[type-var]

    def problems(
        self, description: Description, owner: Any, field: str
    ) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot as a whole."""
        if self.on is not None:
            yield from _FIXED.problems(description, owner, f"{field}.on", self.on)

    @property
    def drawn(self) -> bool:
        """Whether pictures show it."""
        return True

    def pose(self, at: Placed) -> Array:
        """World pose (4, 4) of its frame, for pictures."""
        return np.eye(4) if self.on is None else at.frame(self.on)

    @abstractmethod
    def shape(self, name: str, at: Placed, near: Array, size: float) -> Primitive:
        """What pictures show of it: near (3,) is a point of the robot, size that of the robot, m."""

    def _unit(self, field: str) -> None:
        """Make a direction one of length one."""
        given = np.array(getattr(self, field))
        length = float(np.linalg.norm(given))
        self.refuse(length == 0.0, field, "a direction that is not zero", "give e.g. (0, 0, 1)")
        self._set(field, tuple(float(x) for x in given / length))


@dataclass(frozen=True)
class Plane(Surface):
    """A plane; the robot stays on the side to which its normal points.

    point : (3,) a point of it, metres.  normal : (3,) a direction.  on : as for `Sphere`.
    """

    point: tuple[float, ...] = _point("a point of it")
    normal: tuple[float, ...] = quantity("", "direction", shape=3, default=(0.0, 0.0, 1.0))
    on: Frame | None = holds(_FIXED, None)

    def check(self) -> None:
        """Make the normal one of length one."""
        self._unit("normal")

    def numbers(self) -> tuple[Array, Array, float, float]:
        """Point and normal."""
        return np.array(self.point), np.array(self.normal), 0.0, 1.0

    def shape(self, name: str, at: Placed, near: Array, size: float) -> Primitive:
        """A disc below the robot."""
        g = self.pose(at)
        n, p = g[:3, :3] @ np.array(self.normal), g[:3, :3] @ np.array(self.point) + g[:3, 3]
        foot = near - n * (n @ (near - p))
        poses = np.tile(frame_on(n), (4, 1, 1))
        poses[:, :3, 3] = foot - np.outer([0.012, 0.012, 0.0, 0.0], size * n)
        return Tube(
            name, poses, 0.6 * size * np.array([[0.0] * 2, [1.0] * 2, [1.0] * 2, [0.0] * 2])
        )


@dataclass(frozen=True)
class Sphere(Surface):
    """A sphere.

    radius : metres.  centre : (3,) metres.
    on : a Frame, or the name of a body or place such as "ball", that it is fixed to; None for the
        world.
    inside : True for a hollow sphere, in which the robot stays.
    """

    radius: float = quantity("metres", sign="positive", example="0.05")
    centre: tuple[float, ...] = _point("of the sphere")
    on: Frame | None = holds(_FIXED, None)
    inside: bool = holds(Flag("true: the robot is inside of it"), False)

    @property
    def drawn(self) -> bool:
        """Not where it is fixed to a part: that is drawn in its place."""
        return self.on is None

    def numbers(self) -> tuple[Array, Array, float, float]:
        """Centre and radius."""
        side = -1.0 if self.inside else 1.0
        return np.array(self.centre), np.array([0.0, 0.0, 1.0]), self.radius, side

    def shape(self, name: str, at: Placed, near: Array, size: float) -> Primitive:
        """The sphere."""
        g = self.pose(at)
        height = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 17))
        poses = np.tile(np.eye(4), (len(height), 1, 1))
        centre = g[:3, :3] @ np.array(self.centre) + g[:3, 3]
        poses[:, :3, :3] = g[:3, :3]
        poses[:, :3, 3] = centre + np.outer(self.radius * height, g[:3, 2])
        widths = self.radius * np.sqrt(1.0 - height**2)
        return Tube(name, poses, np.stack([widths, widths], axis=-1))


@dataclass(frozen=True)
class Cylinder(Surface):
    """A cylinder without ends.

    radius : metres.  point : (3,) a point of its axis, metres.  axis : (3,) a direction.
    on : as for `Sphere`.  inside : True for a pipe, in which the robot stays.
    """

    radius: float = quantity("metres", sign="positive", example="0.05")
    point: tuple[float, ...] = _point("a point of its axis")
    axis: tuple[float, ...] = quantity("", "direction", shape=3, default=(0.0, 0.0, 1.0))
    on: Frame | None = holds(_FIXED, None)
    inside: bool = holds(Flag("true: the robot is inside of it"), False)

    def check(self) -> None:
        """Make the axis one of length one."""
        self._unit("axis")

    def numbers(self) -> tuple[Array, Array, float, float]:
        """Point, axis and radius."""
        side = -1.0 if self.inside else 1.0
        return np.array(self.point), np.array(self.axis), self.radius, side

    def shape(self, name: str, at: Placed, near: Array, size: float) -> Primitive:
        """A piece of the cylinder beside the robot."""
        g = self.pose(at)
        a, p = g[:3, :3] @ np.array(self.axis), g[:3, :3] @ np.array(self.point) + g[:3, 3]
        foot = p + a * (a @ (near - p))
        half = max(2.0 * self.radius, 0.25 * size)
        poses = np.tile(frame_on(a), (4, 1, 1))
        poses[:, :3, 3] = foot + np.outer([-half, -half, half, half], a)
        rings = np.array([[0.0] * 2, [1.0] * 2, [1.0] * 2, [0.0] * 2])
        shown = slice(1, 3) if self.inside else slice(0, 4)
        return Tube(name, poses[shown], self.radius * rings[shown])


def frame_on(axis: Array) -> Array:
    """A pose (4, 4) at the origin whose z axis has a direction (3,) of length one."""
    other = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    return pose
