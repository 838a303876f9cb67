"""A hinge: rotation about one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.joints.options import Axis, Numbers, direction, per_coordinate
from pliant.joints.screws import ScrewJoint, turn
from pliant.lie.tuples import Array
from pliant.model.fields import holds


@dataclass(frozen=True)
class Revolute(ScrewJoint):
    """A hinge through the origin of the part; q is its angle in radians.

    axis : "x", "-x", "y", "-y", "z", "-z" or a vector (3,) in the frame of the part.
    stiffness : N m/rad against `rest`.  damping : N m s/rad.
    drive : "angle" if an input prescribes the angle, "torque" if it is a torque, None for neither.
    initial, rest, power, friction, limits, limit_stiffness, input : see `MovingJoint`.
    """

    axis: str | tuple[float, ...] = holds(Axis("of the hinge, frame of the part", "", "x"), "z")
    stiffness: Numbers = per_coordinate("N m/rad", "against its rest")
    damping: Numbers = per_coordinate("N m s/rad")

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    units: ClassVar[tuple[str, ...]] = ("rad",)
    names: ClassVar[tuple[str, ...]] = ("angle",)

    def twists(self) -> Array:
        return np.array([turn(direction("Revolute", "axis", self.axis))])
