"""Motion in a plane: two translations and a rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.joints.options import Axis, Numbers, direction, per_coordinate
from pliant.joints.screws import ScrewJoint, shift, turn
from pliant.lie.tuples import Array
from pliant.model.fields import holds


@dataclass(frozen=True)
class Planar(ScrewJoint):
    """Slides in a plane and turns about its normal; q is (x, y, angle), m and rad.

    axis : the normal of the plane: "x", "-x", "y", "-y", "z", "-z" or a vector (3,) in the carrying
    frame. For "z" the coordinates are those along x and y; for "x" along y and z, for "y" along z and
    x; for "-z" along x and -y, and so on.
    stiffness : N/m, N/m and N m/rad against `rest`.  damping : N s/m, N s/m and N m s/rad.
    drive : of each coordinate, e.g. ("position", "position", None).  initial, rest, power, friction,
    limits, limit_stiffness, input : see `MovingJoint`.
    """

    axis: str | tuple[float, ...] = holds(Axis("normal of the plane", "", "z"), "z")
    stiffness: Numbers = per_coordinate("N/m, N/m, N m/rad", "against its rest")
    damping: Numbers = per_coordinate("N s/m, N s/m, N m s/rad")

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3
    units: ClassVar[tuple[str, ...]] = ("m", "m", "rad")
    names: ClassVar[tuple[str, ...]] = ("x", "y", "angle")

    def twists(self) -> Array:
        normal = direction("Planar", "axis", self.axis)
        # the next axis in cyclic order is least parallel to the normal for "x", "y" and "z"
        near = int(np.argmax(np.abs(normal)))
        first = np.eye(3)[(near + 1) % 3]
        first = first - (first @ normal) * normal
        first /= np.linalg.norm(first)
        return np.array([shift(first), shift(np.cross(normal, first)), turn(normal)])
