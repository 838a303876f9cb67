"""A ball joint: any rotation about a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.joints.options import MovingJoint, Numbers, per_coordinate
from pliant.lie import so3, symbolic
from pliant.lie.leaves import add_hat
from pliant.lie.mean_forces import mean_torque
from pliant.lie.operators import DEXP, DEXP_INVERSE
from pliant.lie.quaternion_leaves import quaternion_log, quaternion_matrix, quaternion_multiply
from pliant.lie.so3 import operator_array, second_array
from pliant.lie.tuples import Array, write_block
from pliant.model.checks import DescriptionError, as_array

_UNIT = np.eye(6)[:, :3]


@dataclass(frozen=True)
class Spherical(MovingJoint):
    """A ball joint at the origin of the part; no orientation is singular.

    q is the unit quaternion (w, x, y, z) of its rotation, v its angular velocity in the frame of the
    part, rad/s. Its values are the rotation vector (rx, ry, rz), rad.
    stiffness : N m/rad along that vector against `rest`.  damping : N m s/rad.
    drive : "angle" if inputs prescribe the rotation vector, "torque" if they are torques about the axes
    of the part, None for neither.  initial, rest, power, friction, limits,
    limit_stiffness, input : see `MovingJoint`.
    """

    stiffness: Numbers = per_coordinate("N m/rad", "against its rest")
    damping: Numbers = per_coordinate("N m s/rad")

    compiled: ClassVar[bool] = True
    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    chart: ClassVar[str] = "rotation"
    units: ClassVar[tuple[str, ...]] = ("rad", "rad", "rad")
    names: ClassVar[tuple[str, ...]] = ("rx", "ry", "rz")

    def origin(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def coordinates(self, part: str, field: str, value: object) -> Array:
        """A rotation vector (3,), or a quaternion (4,) of any length."""
        found = as_array(value)
        if found is None or found.shape not in ((3,), (4,)) or not np.isfinite(found).all():
            expected = "a rotation vector (3 finite numbers) or a quaternion (4)"
            raise DescriptionError(part, field, value, expected, "give e.g. (0.1, 0, 0)")
        if found.shape == (3,):
            return self.retract(self.origin(), found)
        if not found.any():
            raise DescriptionError(part, field, value, "not zero", "give e.g. (1, 0, 0, 0)")
        return np.asarray(found / np.linalg.norm(found))

    def pose(self, q: Array) -> Array:
        out = np.eye(4)
        out[:3, :3] = so3.from_quaternion(q)
        return out

    def axes(self, q: Array) -> Array:
        return _UNIT

    def retract(self, q: Array, x: Array) -> Array:
        out = np.empty(4)
        turn_quaternion(q, x, np.arange(3), out)
        return out

    def difference(self, a: Array, b: Array) -> Array:
        out = np.empty(3)
        turn_between(a, b, out)
        return out

    def slope(self, q: Array) -> Array:
        return so3.dexp_inverse(self.values(q))

    def curvature(self, q: Array, r: Array) -> Array:
        H = np.zeros((3, 3))
        add_log_second(q, r, H)
        return H

    def place(self, q: Array, pose: Array, axes: Array) -> None:
        run(place_quaternion, q, pose)

    def move(self, q: Array, x: Array, index: Array, out: Array) -> None:
        run(turn_quaternion, q, x, index, out)

    def extrapolate(self, before: Array, now: Array, out: Array) -> None:
        x = np.zeros(3)
        self.set_difference(before, now, x)
        run(turn_quaternion, now, x, np.arange(3), out)

    def set_difference(self, a: Array, b: Array, out: Array) -> None:
        run(turn_between, a, b, out)

    def set_mean_force(
        self, q: Array, other: Array, index: Array, r: Array, far: Array, out: Array
    ) -> None:
        poses = np.zeros((2, 4, 4))
        run(place_quaternion, q, poses[0])
        run(place_quaternion, other, poses[1])
        run(mean_torque, *poses, index, r, far, out)

    def add_second(self, q: Array, wrench: Array, H: Array) -> None:
        """Add nothing: j(q o x) = j(q) exp(x)."""

    def set_bias(self, q: Array, v: Array, index: Array, bias: Array) -> None:
        clear(bias)

    def set_values(self, q: Array, out: Array, slope: Array) -> None:
        run(set_rotation_vector, q, out, slope)

    def set_change(self, a: Array, b: Array, out: Array, slope: Array) -> None:
        run(set_turn_between, a, b, out, slope)

    def add_turning(self, force: Array, H: Array) -> None:
        run(add_half_hat, force, H)

    def add_curvature(self, q: Array, r: Array, H: Array) -> None:
        run(add_log_second, q, r, H)

    def symbolic_pose(self, math: Any, q: Any) -> tuple[Any, Any]:
        return symbolic.quaternion_matrix(math, q), math.SX.zeros(3)

    def symbolic_values(self, math: Any, q: Any) -> Any:
        return symbolic.quaternion_vector(math, q)

    def symbolic_rates(self, math: Any, q: Any, v: Any) -> Any:
        return symbolic.quaternion_rate(math, q, v)


@kernel
def place_quaternion(q, pose):  # type: ignore[no-untyped-def]
    """The rotation of pose (4, 4) from the unit quaternion q (4,)."""
    write_block(pose, 0, 0, quaternion_matrix((q[0], q[1], q[2], q[3])))


@kernel
def turn_quaternion(q, x, index, out):  # type: ignore[no-untyped-def]
    """out (4,) = q exp(x[index]), of unit length."""
    a, b, c = 0.5 * x[index[0]], 0.5 * x[index[1]], 0.5 * x[index[2]]
    angle = np.sqrt(a * a + b * b + c * c)
    s = np.sin(angle) / angle if angle > 1e-8 else 1.0 - angle * angle / 6.0
    step = (np.cos(angle), s * a, s * b, s * c)
    p = quaternion_multiply((q[0], q[1], q[2], q[3]), step)
    size = np.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    for i in range(4):
        out[i] = p[i] / size


@kernel
def turn_between(a, b, out):  # type: ignore[no-untyped-def]
    """out (3,) = log(a^-1 b) of unit quaternions a and b (4,)."""
    back = (a[0], -a[1], -a[2], -a[3])
    x, y, z, _ = quaternion_log(quaternion_multiply(back, (b[0], b[1], b[2], b[3])))
    out[0], out[1], out[2] = x, y, z


@kernel
def set_turn_between(a, b, out, slope):  # type: ignore[no-untyped-def]
    """out (3,) = log(a^-1 b) and slope (3, 3) = dexp(out)^-1, its derivative in a variation of b."""
    turn_between(a, b, out)
    operator_array(DEXP_INVERSE, out, slope)


@kernel
def set_rotation_vector(q, out, slope):  # type: ignore[no-untyped-def]
    """out (3,) = log(q) and slope (3, 3) = its derivative dexp(out)^-1 in a variation of q."""
    out[0], out[1], out[2], _ = quaternion_log((q[0], q[1], q[2], q[3]))
    operator_array(DEXP_INVERSE, out, slope)


@kernel
def add_half_hat(force, H):  # type: ignore[no-untyped-def]
    """H (3, 3) += 1/2 of the matrix of the cross product with force (3,)."""
    add_hat(H, 0, 0, force[0], force[1], force[2], 0.5)


@kernel
def add_log_second(q, r, H):  # type: ignore[no-untyped-def]
    """H (3, 3) += second derivative of r . log(q exp(x)) in x.

    With k = log q, T = dexp(k)^-1 and k' = T x at a constant rate x, dexp(k) k' = x gives
    k'' = -T D(dexp)(k)[k'] k', so that H = -T^T M(k, T^T r) T with M of `so3.dexp_second`.
    """
    k, w, T, M = np.empty(3), np.zeros(3), np.empty((3, 3)), np.empty((3, 3))
    set_rotation_vector(q, k, T)
    for i in range(3):
        for j in range(3):
            w[i] += T[j, i] * r[j]
    second_array(DEXP, k, w, M)
    for i in range(3):
        for j in range(3):
            for a in range(3):
                for b in range(3):
                    H[i, j] -= T[a, i] * M[a, b] * T[b, j]
