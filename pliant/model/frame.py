"""Places on a robot and poses in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from pliant.model.checks import (
    Array,
    as_array,
    choice,
    finite_array,
    number,
    part_name,
    rotation_matrix,
    vector,
)

if TYPE_CHECKING:
    from pliant.model.registry import Effect


@dataclass(frozen=True)
class Frame:
    """A frame fixed to a section of a rod or to a rigid body.

    part : name of the part.  s : arclength on a rod, metres from its base; 0 on a body.
    offset : (x, y) or (x, y, z) in the frame of the section or body, metres.
    rotation : (3,) rotation vector of the frame in the section or body, radians.
    """

    part: str
    s: float = 0.0
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        part_name("Frame", self.part)
        s = number(f"frame on {self.part!r}", "s", self.s, "metres", "give e.g. 0.1")
        object.__setattr__(self, "s", s)
        shift = vector(f"frame on {self.part!r}", "offset", self.offset, (2, 3), "metres")
        object.__setattr__(self, "offset", (*shift, 0.0)[:3])
        turn = rotation_vector(f"frame on {self.part!r}", self.rotation)
        object.__setattr__(self, "rotation", turn)

    def pose_offset(self) -> Array:
        """Return the pose (4x4) of this frame in the frame of its section or body."""
        return pose(self.offset, self.rotation)


def rotation_vector(part: str, rotation: ArrayLike | None) -> tuple[float, ...]:
    """Return a rotation, given as a vector (3,) in radians or a matrix (3, 3), as a vector."""
    if rotation is None:
        return (0.0, 0.0, 0.0)
    given = as_array(rotation)
    if given is not None and given.shape == (3, 3):
        matrix = rotation_matrix(part, "rotation", given)
        return tuple(float(x) for x in Rotation.from_matrix(matrix).as_rotvec())
    return vector(part, "rotation", rotation, 3, "radians")


# columns: where local x, y and z point
AXES: dict[str, list[list[float]]] = {
    "x": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
    "-x": [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
    "y": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    "-y": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    "z": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "-z": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
}


def along(axis: str, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Return the pose (4x4) whose local z axis points along a world axis.

    axis : "x", "-x", "y", "-y", "z" or "-z" ("+x" also works).  origin : (3,) world, metres.
    For x the frame is turned about world y (local y stays y, local x points to -z for "x" and to
    +z for "-x"); for y and "-z" it is turned about world x (local x stays x).
    """
    name = axis[1:] if isinstance(axis, str) and axis.startswith("+") else axis
    choice("along", "axis", name, AXES)
    matrix = np.eye(4)
    matrix[:3, :3] = AXES[name]
    matrix[:3, 3] = vector("along", "origin", origin, 3, "metres")
    return matrix


def pose(position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Array:
    """Return the pose (4x4) with this position (3,) in metres and rotation.

    rotation : 3x3 matrix whose columns are the local axes, or a rotation vector (3,) in radians
    (axis times angle), or None for no rotation.
    """
    matrix = np.eye(4)
    matrix[:3, 3] = vector("pose", "position", position, 3, "metres")
    if rotation is None:
        return matrix
    given = finite_array(
        "pose",
        "rotation",
        rotation,
        "a 3x3 matrix or a rotation vector of 3 finite numbers in radians",
        "give e.g. (0, 1.57, 0)",
        lambda x: x.shape in ((3,), (3, 3)),
    )
    if given.ndim == 2:
        matrix[:3, :3] = rotation_matrix("pose", "rotation", given)
    else:
        matrix[:3, :3] = Rotation.from_rotvec(given).as_matrix()
    return matrix


class BaseState(NamedTuple):
    """Where a base is and how it moves.

    pose : (4, 4) world.  twist : (6,) body twist (w, q), rad/s and m/s.  twist_rate : (6,) its
    time derivative, rad/s^2 and m/s^2.
    """

    pose: Array
    twist: Array
    twist_rate: Array


class MovingFrame(NamedTuple):
    """A frame in motion: rotation (3, 3) and position (3,) in the world, angular velocity and its
    derivative (3,) in the body, velocity and acceleration (3,) in the world.
    """

    R: Array
    p: Array
    w: Array
    w_rate: Array
    velocity: Array
    acceleration: Array


class Moving(NamedTuple):
    """One motion at one instant: input x, its rate (per second) and acceleration (per second^2)."""

    motion: Effect
    x: float
    rate: float = 0.0
    acceleration: float = 0.0


def base_state(pose: Array, moving: Sequence[Moving]) -> BaseState:
    """Return where a base is and how it moves.

    pose : (4, 4) as described.  moving : the motions of the rod in the order of description.
    """
    base = MovingFrame(np.array(pose[:3, :3]), np.array(pose[:3, 3]), *np.zeros((4, 3)))
    for motion, *x in moving:
        base = motion.displaced(base, *x)
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = base.R, base.p
    q = base.R.T @ base.velocity
    q_rate = base.R.T @ base.acceleration - np.cross(base.w, q)
    return BaseState(place, np.concatenate((base.w, q)), np.concatenate((base.w_rate, q_rate)))
