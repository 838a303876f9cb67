"""A slider: translation along one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.joints.options import Axis, Numbers, direction, per_coordinate
from pliant.joints.screws import ScrewJoint, shift
from pliant.lie.tuples import Array
from pliant.model.fields import holds


@dataclass(frozen=True)
class Prismatic(ScrewJoint):
    """A slider; q is its position in metres.

    axis : "x", "-x", "y", "-y", "z", "-z" or a vector (3,) in the frame of the part.
    stiffness : N/m against `rest`.  damping : N s/m.
    drive : "position" if an input prescribes it, "force" if it is a force, None for neither.
    initial, rest, power, friction, limits, limit_stiffness, input : see `MovingJoint`.
    """

    axis: str | tuple[float, ...] = holds(Axis("of the slider, frame of the part", "", "x"), "z")
    stiffness: Numbers = per_coordinate("N/m", "against its rest")
    damping: Numbers = per_coordinate("N s/m")

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    units: ClassVar[tuple[str, ...]] = ("m",)
    names: ClassVar[tuple[str, ...]] = ("position",)

    def twists(self) -> Array:
        return np.array([shift(direction("Prismatic", "axis", self.axis))])
