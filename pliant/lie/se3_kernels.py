"""Poses, SE(3): kernels on single arrays, allocation free, for use inside other kernels.

A twist x (6,) is (k, e), angular part first; a pose g (4, 4) is [[R, p], [0, 1]].  Each kernel
writes its result to the last argument.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie import operators as op
from pliant.lie.coefficients import log_coefficients
from pliant.lie.quaternion_leaves import (
    quaternion_cayley_inverse,
    quaternion_from_matrix,
    quaternion_log,
)
from pliant.lie.tuples import (
    Array,
    Matrix,
    Vector,
    apply,
    assemble,
    dot,
    multiply,
    read_block,
    read_vector,
    transpose,
    write_block,
    write_dual,
    write_symmetric,
    write_vector,
)


@leaf
def _hat(v: Vector) -> Matrix:
    return assemble(0.0, v, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@leaf
def _position(g: Array) -> Vector:
    return g[0, 3], g[1, 3], g[2, 3]


@leaf
def _write_pose(g: Array, R: Matrix, p: Vector) -> None:
    write_block(g, 0, 0, R)
    g[0, 3], g[1, 3], g[2, 3] = p
    g[3, 0], g[3, 1], g[3, 2], g[3, 3] = 0.0, 0.0, 0.0, 1.0


@leaf
def inverse_map(kind: int, R: Matrix, p: Vector) -> tuple[Vector, Vector, float]:
    """Return (k, e, angle) of the pose (R, p): e is the left inverse of dtau applied to p."""
    quaternion = quaternion_from_matrix(R)
    if kind == op.EXP:
        kx, ky, kz, angle = quaternion_log(quaternion)
        t2 = kx * kx + ky * ky + kz * kz
        q, _ = log_coefficients(t2)
        i = 1.0 - t2 * q
    else:
        kx, ky, kz, angle = quaternion_cayley_inverse(quaternion)
        i, q = 1.0, 0.25
    k = (kx, ky, kz)
    return k, op.apply_transposed(i, 0.5, q, k, p), angle


@inner
def pose_array(kind: int, x: Array, g: Array) -> None:
    """Write the pose tau(x) to g; kind : EXP, or CAYLEY for that of the adjoint representation."""
    k = read_vector(x, 0)
    of_map, of_tangent = op.map_coefficients(kind, dot(k, k))
    R = op.operator(of_map[0], of_map[1], of_map[2], k)
    i, s, q, _, _, _ = of_tangent
    _write_pose(g, R, op.apply_transposed(i, s, q, k, read_vector(x, 3)))


@inner
def exp_pose_array(x: Array, g: Array) -> None:
    """Write the pose exp(x) to g."""
    pose_array(op.EXP, x, g)


@inner
def relative_array(kind: int, g: Array, h: Array, x: Array) -> float:
    """Write x with tau(x) = g^-1 h, return its rotation angle.

    At half a turn it is one of the two axes for the exponential, infinite for the Cayley map.
    """
    Rt = transpose(read_block(g))
    p, r = _position(g), _position(h)
    between = apply(Rt, (r[0] - p[0], r[1] - p[1], r[2] - p[2]))
    k, e, angle = inverse_map(kind, multiply(Rt, read_block(h)), between)
    write_vector(x, 0, k)
    write_vector(x, 3, e)
    return angle


@kernel
def log_relative_array(g: Array, h: Array, x: Array) -> float:
    """Write the twist log(g^-1 h) to x and return its rotation angle."""
    return relative_array(op.EXP, g, h, x)  # type: ignore[no-any-return]


@inner
def multiply_array(g: Array, h: Array, out: Array) -> None:
    """Write the pose g h to `out`, which may be g or h."""
    R = read_block(g)
    p = _position(g)
    r = apply(R, _position(h))
    _write_pose(out, multiply(R, read_block(h)), (p[0] + r[0], p[1] + r[1], p[2] + r[2]))


@inner
def operator_array(kind: int, x: Array, out: Array) -> None:
    """Write the 6x6 operator `kind` (DEXP, DEXP_INVERSE, DCAYLEY, DCAYLEY_INVERSE) at x."""
    k = read_vector(x, 0)
    i, s, q, i1, s1, q1 = op.coefficients(kind, dot(k, k))
    derivative = op.operator_derivative(s, q, i1, s1, q1, k, read_vector(x, 3))
    write_dual(out, op.operator(i, s, q, k), derivative)


@inner
def dexp_array(x: Array, out: Array) -> None:
    """Write dexp at x to `out` (6, 6)."""
    operator_array(op.DEXP, x, out)


@inner
def dexp_inverse_array(x: Array, out: Array) -> None:
    """Write the inverse of dexp at x to `out` (6, 6)."""
    operator_array(op.DEXP_INVERSE, x, out)


@inner
def ad_array(x: Array, out: Array) -> None:
    """Write ad_x = [[k^, 0], [e^, k^]] to `out` (6, 6)."""
    write_dual(out, _hat(read_vector(x, 0)), _hat(read_vector(x, 3)))


@inner
def Ad_inverse_array(g: Array, out: Array) -> None:
    """Write the adjoint of g^-1, [[R^T, 0], [-R^T p^, R^T]], to `out` (6, 6)."""
    Rt = transpose(read_block(g))
    p = _position(g)
    write_dual(out, Rt, multiply(Rt, _hat((-p[0], -p[1], -p[2]))))


@inner
def second_array(kind: int, x: Array, u: Array, out: Array) -> None:
    """Write the second form (6, 6) of DEXP or DCAYLEY at x (6,) for u (6,) to `out`."""
    upper, mixed = op.second_blocks(
        kind, read_vector(x, 0), read_vector(x, 3), read_vector(u, 0), read_vector(u, 3)
    )
    write_symmetric(out, 0, 0, upper)
    write_symmetric(out, 0, 3, mixed)
    write_symmetric(out, 3, 0, mixed)
    write_symmetric(out, 3, 3, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@kernel
def step_twists(ga, gb, h, eta):  # type: ignore[no-untyped-def]
    """eta (S, 6) = log(ga^-1 gb) / h of poses ga, gb (S, 4, 4)."""
    x = np.empty(6)
    for s in range(ga.shape[0]):
        log_relative_array(ga[s], gb[s], x)
        for i in range(6):
            eta[s, i] = x[i] / h
