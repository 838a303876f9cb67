"""No connection at all: six degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, copy
from pliant.engine.program import run
from pliant.joints.contract import JointMap
from pliant.lie import se3, symbolic
from pliant.lie.mean_forces import mean_wrenches
from pliant.lie.se3_kernels import (
    dexp_inverse_array,
    exp_pose_array,
    log_relative_array,
    multiply_array,
)
from pliant.lie.tuples import Array, multiply, read_block, transpose, write_block
from pliant.model.checks import pose_matrix

_UNIT = np.eye(6)


@dataclass(frozen=True)
class Free(JointMap):
    """The part moves freely; q is the pose (4, 4), flat, and v its body twist (w, q), rad/s and m/s."""

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 16
    nv: ClassVar[int] = 6
    chart: ClassVar[str] = "pose"

    def origin(self) -> Array:
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

    def place(self, q: Array, pose: Array, axes: Array) -> None:
        copy(q, pose)

    def move(self, q: Array, x: Array, index: Array, out: Array) -> None:
        run(move_pose, q, x, index, out)

    def extrapolate(self, before: Array, now: Array, out: Array) -> None:
        x = np.zeros(6)
        self.set_difference(before, now, x)
        run(move_pose, now, x, np.arange(6), out)

    def set_difference(self, a: Array, b: Array, out: Array) -> None:
        run(log_relative_array, a.reshape(4, 4), b.reshape(4, 4), out)

    def set_change(self, a: Array, b: Array, out: Array, slope: Array) -> None:
        run(set_way, a.reshape(4, 4), b.reshape(4, 4), out, slope)

    def set_mean_force(
        self, q: Array, other: Array, index: Array, r: Array, far: Array, out: Array
    ) -> None:
        poses = (q.reshape(1, 4, 4), other.reshape(1, 4, 4))
        run(mean_wrenches, *poses, np.zeros(1, dtype=np.int64), index.reshape(1, 6), r, far, out)

    def add_second(self, q: Array, wrench: Array, H: Array) -> None:
        """Add nothing."""

    def set_bias(self, q: Array, v: Array, index: Array, bias: Array) -> None:
        clear(bias)

    def symbolic_coordinates(self, q: Array) -> Array:
        """Position (3,) and unit quaternion (4,)."""
        g = q.reshape(4, 4)
        return np.concatenate([g[:3, 3], symbolic.numeric_quaternion(g[:3, :3])])

    def symbolic_pose(self, math: Any, q: Any) -> tuple[Any, Any]:
        return symbolic.quaternion_matrix(math, q[3:7]), q[:3]

    def symbolic_rates(self, math: Any, q: Any, v: Any) -> Any:
        R, _ = self.symbolic_pose(math, q)
        return math.vertcat(R @ v[3:6], symbolic.quaternion_rate(math, q[3:7], v[:3]))


@kernel
def move_pose(q, x, index, out):  # type: ignore[no-untyped-def]
    """out (16,) = q exp(x[index]), a pose without rounding errors: R <- R (3 I - R^T R) / 2."""
    twist = np.empty(6)
    g = np.empty((4, 4))
    for i in range(6):
        twist[i] = x[index[i]]
    exp_pose_array(twist, g)
    moved = out.reshape((4, 4))
    multiply_array(q.reshape((4, 4)), g, moved)
    R = read_block(moved)
    S = multiply(transpose(R), R)
    half = (
        1.5 - 0.5 * S[0], -0.5 * S[1], -0.5 * S[2],
        -0.5 * S[3], 1.5 - 0.5 * S[4], -0.5 * S[5],
        -0.5 * S[6], -0.5 * S[7], 1.5 - 0.5 * S[8],
    )  # fmt: skip
    write_block(moved, 0, 0, multiply(R, half))


@kernel
def set_way(a, b, x, slope):  # type: ignore[no-untyped-def]
    """x (6,) = log(a^-1 b) and its derivative in a variation of b, slope (6, 6) = dexp^-1."""
    log_relative_array(a, b, x)
    dexp_inverse_array(x, slope)
