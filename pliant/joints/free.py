"""No connection at all: six degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.joints.contract import JointMap
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model.checks import pose_matrix

_UNIT = np.eye(6)


@dataclass(frozen=True)
class Free(JointMap):
    """The part moves freely; q is the pose (4, 4), flat, and v its body twist (w, q), rad/s and m/s."""

    nq: ClassVar[int] = 16
    nv: ClassVar[int] = 6

    def rest(self) -> Array:
        return np.eye(4).ravel()

    def coordinates(self, part: str, field: str, value: object) -> Array:
        return pose_matrix(part, field, value).ravel()

    def pose(self, q: Array) -> Array:
        return q.reshape(4, 4)

    def axes(self, q: Array) -> Array:
        return _UNIT

    def retract(self, q: Array, x: Array) -> Array:
        return np.asarray(se3.orthonormal(q.reshape(4, 4) @ se3.exp(x)).ravel())

    def difference(self, a: Array, b: Array) -> Array:
        return np.asarray(se3.log(se3.inverse(a.reshape(4, 4)) @ b.reshape(4, 4)))

    def second(self, q: Array, r: Array) -> Array:
        return np.zeros((6, 6))

    def bias(self, q: Array, v: Array) -> Array:
        return np.zeros(6)
