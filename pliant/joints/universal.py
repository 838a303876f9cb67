"""A cardan joint: rotation about one axis, then about another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.joints.options import Axis, Numbers, direction, per_coordinate
from pliant.joints.screws import ScrewJoint, turn
from pliant.lie.tuples import Array
from pliant.model.fields import holds


@dataclass(frozen=True)
class Universal(ScrewJoint):
    """Turns about an axis of the carrying frame, then about one of the part; q are both angles, rad.

    axis : the first axis, in the carrying frame.  second_axis : in the frame of the part. Each is "x",
    "y", "z" or a vector (3,).  stiffness : N m/rad against `rest`.  damping : N m s/rad.
    drive : "angle" or "torque" for both, or one for each.  initial, rest, power, friction, limits,
    limit_stiffness, input : see `MovingJoint`.
    """

    axis: str | tuple[float, ...] = holds(Axis("the first one", "", "x"), "x")
    second_axis: str | tuple[float, ...] = holds(Axis("the second one", "", "y"), "y")
    stiffness: Numbers = per_coordinate("N m/rad", "against its rest")
    damping: Numbers = per_coordinate("N m s/rad")

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    units: ClassVar[tuple[str, ...]] = ("rad", "rad")
    names: ClassVar[tuple[str, ...]] = ("first", "second")

    def check_own(self) -> None:
        """Refuse one axis for both turns."""
        first, second = (direction(self.label, "axis", x) for x in (self.axis, self.second_axis))
        same = bool(np.linalg.norm(np.cross(first, second)) < 1e-9)
        self.refuse(same, "second_axis", "another direction than axis", "give e.g. 'y'")

    def twists(self) -> Array:
        axes = [direction("Universal", "axis", x) for x in (self.axis, self.second_axis)]
        return np.array([turn(x) for x in axes])
