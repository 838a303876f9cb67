"""A tree of rods, rigid bodies and joints, as plain data; SI units, angular parts first.

A part hangs on the world, on the frame of a body or on a section of a rod. Its own frame is

    g = g_on  pose  exp(axis q),

so a revolute axis is given in the part's frame and passes through its origin. The frame of a rod is
its base section; the rod runs along its local z axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Any_ = NDArray[Any]
ZERO = (0.0, 0.0, 0.0)


def placed(translation: ArrayLike = ZERO, about: str = "z", angle: float = 0.0) -> Array:
    """Pose 4x4: a translation, then a rotation by `angle` (rad) about a coordinate axis."""
    pose = np.eye(4)
    pose[:3, :3] = turned(np.eye(3)["xyz".index(about)], np.array(angle))
    pose[:3, 3] = translation
    return pose


def hat(vector: ArrayLike) -> Array:
    """Matrix 3x3 of the cross product with a vector."""
    a, b, c = np.asarray(vector, dtype=float)
    return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def turned(axis: ArrayLike, angle: Any_) -> Any_:
    """Rotations (..., 3, 3) about a unit axis by real or complex angles (...)."""
    k = hat(axis)
    a = np.asarray(angle)[..., None, None]
    return np.eye(3) + np.sin(a) * k + (1.0 - np.cos(a)) * (k @ k)


@dataclass(frozen=True)
class Joint:
    """Fixed without axis; otherwise revolute about a unit axis, spring N m/rad, damper N m s/rad."""

    axis: tuple[float, float, float] | None = None
    stiffness: float = 0.0
    damping: float = 0.0


FIXED = Joint()


@dataclass(frozen=True, kw_only=True)
class Part:
    """What bodies and rods have in common.

    on: name of the part that carries this one, None for the world. s: arclength on it (m) if it is
    a rod. pose: 4x4 of this part's frame at rest in the frame that carries it.
    force, moment: dead load, world frame, N and N m, at a body's frame or a rod's tip.
    """

    name: str
    on: str | None = None
    s: float | None = None
    pose: Any = None
    joint: Joint = FIXED
    force: tuple[float, float, float] = ZERO
    moment: tuple[float, float, float] = ZERO

    @cached_property
    def rotation(self) -> Array:
        """Rotation 3x3 of `pose`."""
        return np.eye(3) if self.pose is None else np.asarray(self.pose, dtype=float)[:3, :3]

    @cached_property
    def translation(self) -> Array:
        """Translation (3,) of `pose`."""
        return np.zeros(3) if self.pose is None else np.asarray(self.pose, dtype=float)[:3, 3]


@dataclass(frozen=True, kw_only=True)
class BodyPart(Part):
    """Rigid body: mass (kg), principal moments (3,) about its centre (kg m^2), centre (3,) (m)."""

    mass: float
    inertia: tuple[float, float, float] = ZERO
    centre: tuple[float, float, float] = ZERO


@dataclass(frozen=True, kw_only=True)
class RodPart(Part):
    """Uniform straight rod: length (m), stiffness (6,), mass per length (kg/m), inertia (3,) (kg m)."""

    length: float
    stiffness: tuple[float, ...]
    line_mass: float = 0.0
    inertia: tuple[float, float, float] = ZERO


def circular_rod(
    name: str,
    length: float,
    radius: float,
    young: float,
    poisson: float,
    density: float,
    **more: Any,
) -> RodPart:
    """A rod with a solid circular section, shear factor 1."""
    area, second = np.pi * radius**2, np.pi * radius**4 / 4.0
    shear = young / (2.0 * (1.0 + poisson))
    stiffness = (young * second, young * second, 2.0 * shear * second,
                 shear * area, shear * area, young * area)  # fmt: skip
    inertia = (density * second, density * second, 2.0 * density * second)
    return RodPart(name=name, length=length, stiffness=stiffness, line_mass=density * area,
                   inertia=inertia, **more)  # fmt: skip


@dataclass(frozen=True)
class TreeProblem:
    """Parts, parents before children, and gravity (3,) in the world frame, m/s^2."""

    parts: tuple[BodyPart | RodPart, ...]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    def children(self, name: str | None) -> Iterator[BodyPart | RodPart]:
        """Parts that hang on the named part, or on the world for None."""
        return (part for part in self.parts if part.on == name)

    def __getitem__(self, name: str) -> BodyPart | RodPart:
        return next(part for part in self.parts if part.name == name)
