"""A hinge: rotation about one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, combine
from pliant.engine.program import run
from pliant.joints.contract import JointMap
from pliant.lie import se3
from pliant.lie.se3_kernels import exp_pose_array
from pliant.lie.tuples import Array
from pliant.model.checks import DescriptionError, choice, number, vector

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Revolute(JointMap):
    """A hinge through the origin of the part; q is its angle in radians, zero at rest.

    axis : "x", "y", "z" or a vector (3,) in the frame of the part.
    stiffness : N m/rad against rest.  damping : N m s/rad.
    drive : "angle" if an input prescribes the angle, None for a hinge that turns freely.
    input : name of that input; None for the name of the part.
    """

    axis: str | Sequence[float] = "z"
    stiffness: float = 0.0
    damping: float = 0.0
    drive: str | None = None
    input: str | None = None

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if isinstance(self.axis, str):
            choice("Revolute", "axis", self.axis, AXES)
        elif not np.any(vector("Revolute", "axis", self.axis, 3, "")):
            raise DescriptionError(
                "Revolute", "axis", self.axis, "a direction that is not zero", "give e.g. 'x'"
            )
        for field, unit in (("stiffness", "N m/rad"), ("damping", "N m s/rad")):
            given = getattr(self, field)
            value = number("Revolute", field, given, unit, "give 0 or more", "zero")
            object.__setattr__(self, field, value)
        if self.drive is not None:
            choice("Revolute", "drive", self.drive, ("angle",))

    @cached_property
    def screw(self) -> Array:
        """Unit twist (6,) of the hinge."""
        direction = np.array(AXES[self.axis] if isinstance(self.axis, str) else self.axis)
        return np.concatenate([direction / np.linalg.norm(direction), np.zeros(3)])

    def pose(self, q: Array) -> Array:
        return np.asarray(se3.exp(q[0] * self.screw))

    def axes(self, q: Array) -> Array:
        return self.screw[:, None]

    def place(self, q: Array, pose: Array, axes: Array) -> None:
        run(turn_about, self.screw, q, pose)

    def move(self, q: Array, x: Array, index: Array, out: Array) -> None:
        run(add_turn, q, x, index, out)

    def extrapolate(self, before: Array, now: Array, out: Array) -> None:
        combine(2.0, now, -1.0, before, out)

    def set_difference(self, a: Array, b: Array, out: Array) -> None:
        combine(1.0, b, -1.0, a, out)

    def add_second(self, q: Array, wrench: Array, H: Array) -> None:
        """Add nothing."""

    def set_bias(self, q: Array, v: Array, index: Array, bias: Array) -> None:
        clear(bias)


@kernel
def turn_about(screw, q, pose):  # type: ignore[no-untyped-def]
    """pose (4, 4) = exp(q screw), q (1,)."""
    x = np.empty(6)
    for i in range(6):
        x[i] = q[0] * screw[i]
    exp_pose_array(x, pose)


@kernel
def add_turn(q, x, index, out):  # type: ignore[no-untyped-def]
    """out = q + x[index]."""
    out[0] = q[0] + x[index[0]]
