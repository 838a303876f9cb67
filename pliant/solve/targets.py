"""Targets of frames: poses, positions, directions and single coordinates, as residuals to be closed.

Residuals are plain numbers: positions over the length of the robot, rotations in radians. Each comes
with its derivative for the body twist (w, v) of the frame with pose (R, p):

    position     (p - p*) / L           R v / L
    rotation     log(R*^T R)            dexp^-1(log) w
    direction    R a - d*               -R [a]^ w

with a the axis of the frame that is to point along d*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.lie import so3
from pliant.model import Array, DescriptionError, Frame, as_array, choice
from pliant.model.checks import pose_matrix, refuse, rotation_matrix, vector
from pliant.rods.contract import Ints

_AXES = {"x": 0, "y": 1, "z": 2}
_KEYS = ("position", "rotation", "direction", "axis")
_EXPECTED = (
    "a pose (4x4), a position (x, y, z) in metres with None for a free coordinate, or a dict with "
    "position, rotation (3x3), or direction and axis"
)
_REMEDY = "give e.g. (0.2, 0, 0.1) or {'position': (0.2, None, 0.1), 'direction': (0, 0, 1)}"


@dataclass(frozen=True)
class Target:
    """Where a frame is to be brought.

    coordinates (k,) of the position that are wanted, at `position` (k,), m, world frame.
    rotation (3, 3) of the frame in the world, or None.  direction (3,), of length one, along which
    `axis` 0, 1 or 2 of the frame is to point, or None.
    """

    name: str
    frame: Frame
    coordinates: Ints
    position: Array
    rotation: Array | None = None
    direction: Array | None = None
    axis: int = 2

    @property
    def size(self) -> int:
        """How many residuals it has."""
        turns = (self.rotation is not None) + (self.direction is not None)
        return len(self.coordinates) + 3 * turns

    def residual(self, pose: Array, length: float) -> tuple[Array, Array]:
        """Residuals (size,) at a pose (4, 4), and their derivative (size, 6) in its body twist."""
        R = pose[:3, :3]
        gaps = [(pose[self.coordinates, 3] - self.position) / length]
        slope = np.zeros((self.size, 6))
        k = len(self.coordinates)
        slope[:k, 3:] = R[self.coordinates] / length
        if self.rotation is not None:
            turn = _turn_between(self.rotation, R)
            gaps.append(turn)
            slope[k : k + 3, :3] = so3.dexp_inverse(turn)
            k += 3
        if self.direction is not None:
            a = np.eye(3)[self.axis]
            gaps.append(R @ a - self.direction)
            slope[k : k + 3, :3] = -R @ so3.hat(a)
        return np.concatenate(gaps), slope

    def miss(self, pose: Array) -> tuple[float, float]:
        """How far a pose (4, 4) is off: distance in m, and angle in rad."""
        R = pose[:3, :3]
        angle = 0.0
        if self.rotation is not None:
            angle = float(np.linalg.norm(_turn_between(self.rotation, R)))
        if self.direction is not None:
            points = R[:, self.axis]
            across = float(np.linalg.norm(np.cross(points, self.direction)))
            angle = max(angle, float(np.arctan2(across, points @ self.direction)))
        return float(np.linalg.norm(pose[self.coordinates, 3] - self.position)), angle


def _turn_between(wanted: Array, R: Array) -> Array:
    """log(wanted^T R) (3,), also at half a turn, where one of both ways is taken."""
    turn = wanted.T @ R
    if np.trace(turn) > -1.0 + 1e-9:
        return so3.log(turn)
    axis = np.linalg.svd(turn - np.eye(3))[2][-1]
    return (np.pi - 1e-6) * axis


def read_target(name: str, frame: Frame, given: Any) -> Target:
    """The target that a user gave for a place, by name."""
    part = f"reach: target of {name!r}"
    found = given if isinstance(given, Mapping) else {"position": given}
    array = None if isinstance(given, Mapping) else as_array(given)
    if array is not None and array.shape == (4, 4):
        pose = pose_matrix(part, "pose", array)
        found = {"position": pose[:3, 3], "rotation": pose[:3, :3]}
    for key in found:
        choice(part, "key", key, _KEYS)
    coordinates, position = _position(part, found.get("position"))
    rotation, direction = found.get("rotation"), found.get("direction")
    axis = choice(part, "axis", found.get("axis", "z"), tuple(_AXES))
    if rotation is not None:
        matrix = as_array(rotation)
        if matrix is None or matrix.shape != (3, 3):
            raise DescriptionError(part, "rotation", rotation, "a 3x3 rotation matrix", _REMEDY)
        rotation = rotation_matrix(part, "rotation", matrix)
    if direction is not None:
        direction = np.array(vector(part, "direction", direction, 3, ""))
        size = float(np.linalg.norm(direction))
        refuse(size == 0.0, part, "direction", direction, "a direction in the world", _REMEDY)
        direction = direction / size
    target = Target(name, frame, coordinates, position, rotation, direction, _AXES[axis])
    refuse(not target.size, part, "value", given, _EXPECTED, _REMEDY)
    return target


def _position(part: str, given: Any) -> tuple[Ints, Array]:
    """The wanted coordinates of a position, and their values."""
    if given is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    try:
        listed = list(given)
    except TypeError:
        listed = []
    wanted = [k for k, value in enumerate(listed) if value is not None]
    values = as_array([listed[k] for k in wanted])
    wrong = len(listed) != 3 or values is None or values.shape != (len(wanted),)
    refuse(wrong, part, "value", given, _EXPECTED, _REMEDY)
    assert values is not None
    refuse(not np.isfinite(values).all(), part, "value", given, _EXPECTED, _REMEDY)
    return np.array(wanted, dtype=np.int64), values
