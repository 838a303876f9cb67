"""A sleeve on a shaft: rotation about an axis and translation along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.joints.options import Axis, Numbers, direction, per_coordinate
from pliant.joints.screws import ScrewJoint, shift, turn
from pliant.lie.tuples import Array
from pliant.model.fields import holds


@dataclass(frozen=True)
class Cylindrical(ScrewJoint):
    """Turns about an axis and slides along it; q is (angle, position), rad and m.

    axis : "x", "-x", "y", "-y", "z", "-z" or a vector (3,) in the frame of the part.
    stiffness : N m/rad and N/m against `rest`.  damping : N m s/rad and N s/m.
    drive : of each coordinate, e.g. ("torque", None).  initial, rest, power, friction, limits,
    limit_stiffness, input : see `MovingJoint`.
    """

    axis: str | tuple[float, ...] = holds(Axis("of the sleeve, frame of the part", "", "x"), "z")
    stiffness: Numbers = per_coordinate("N m/rad, N/m", "against its rest")
    damping: Numbers = per_coordinate("N m s/rad, N s/m")

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    units: ClassVar[tuple[str, ...]] = ("rad", "m")
    names: ClassVar[tuple[str, ...]] = ("angle", "position")

    def twists(self) -> Array:
        axis = direction("Cylindrical", "axis", self.axis)
        return np.array([turn(axis), shift(axis)])
