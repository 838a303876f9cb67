"""Poses, SE(3): kernels on single arrays, allocation free, for use inside other kernels.

A twist x (6,) is (k, e), angular part first; a pose g (4, 4) is [[R, p], [0, 1]].  Each kernel
writes its result to the last argument.  `pliant.lie.se3` re-exports all of them.
"""

from __future__ import annotations

from pliant._numba import inner, kernel, leaf
from pliant.lie import operators as op
from pliant.lie.coefficients import cayley_coefficients, exp_short_coefficients
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
def log_pose(R: Matrix, p: Vector) -> tuple[Vector, Vector, float]:
    """Return (k, e, angle) of the pose (R, p): e is the left inverse of dexp applied to p."""
    kx, ky, kz, angle = quaternion_log(quaternion_from_matrix(R))
    k = (kx, ky, kz)
    i, s, q, _, _, _ = op.coefficients(op.DEXP_INVERSE, dot(k, k))
    return k, op.apply_transposed(i, s, q, k, p), angle


@inner
def exp_pose_array(x: Array, g: Array) -> None:
    """Write the pose exp(x) to g."""
    k = read_vector(x, 0)
    t2 = dot(k, k)
    a, b, c = exp_short_coefficients(t2)
    R = op.operator(1.0 - t2 * b, a, b, k)
    _write_pose(g, R, op.apply_transposed(a, -b, c, k, read_vector(x, 3)))


@inner
def cayley_pose_array(x: Array, g: Array) -> None:
    """Write the pose cayley(x), the Cayley map of the adjoint representation, to g."""
    k = read_vector(x, 0)
    t2 = dot(k, k)
    al, _, _ = cayley_coefficients(t2)
    R = op.operator(1.0 - 0.5 * t2 * al, al, 0.5 * al, k)
    _write_pose(g, R, op.apply_transposed(al, -0.5 * al, 0.0, k, read_vector(x, 3)))


@inner
def log_pose_array(g: Array, x: Array) -> float:
    """Write the twist log(g) to x and return the rotation angle; at pi, one of the two axes."""
    k, e, angle = log_pose(read_block(g), _position(g))
    write_vector(x, 0, k)
    write_vector(x, 3, e)
    return angle


@inner
def cayley_inverse_pose_array(g: Array, x: Array) -> float:
    """Write x with cayley(x) = g and return the rotation angle; x is infinite at pi."""
    kx, ky, kz, angle = quaternion_cayley_inverse(quaternion_from_matrix(read_block(g)))
    k = (kx, ky, kz)
    write_vector(x, 0, k)
    write_vector(x, 3, op.apply_transposed(1.0, 0.5, 0.25, k, _position(g)))
    return angle


@kernel
def log_relative_array(g: Array, h: Array, x: Array) -> float:
    """Write the twist log(g^-1 h) to x and return its rotation angle."""
    Rt = transpose(read_block(g))
    p = _position(g)
    r = _position(h)
    k, e, angle = log_pose(
        multiply(Rt, read_block(h)), apply(Rt, (r[0] - p[0], r[1] - p[1], r[2] - p[2]))
    )
    write_vector(x, 0, k)
    write_vector(x, 3, e)
    return angle


@inner
def inverse_array(g: Array, out: Array) -> None:
    """Write the pose g^-1 to `out`, which may be g."""
    Rt = transpose(read_block(g))
    p = _position(g)
    _write_pose(out, Rt, apply(Rt, (-p[0], -p[1], -p[2])))


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


@kernel
def dcayley_array(x: Array, out: Array) -> None:
    """Write dcayley at x to `out` (6, 6)."""
    operator_array(op.DCAYLEY, x, out)


@kernel
def dcayley_inverse_array(x: Array, out: Array) -> None:
    """Write the inverse of dcayley at x to `out` (6, 6)."""
    operator_array(op.DCAYLEY_INVERSE, x, out)


@inner
def ad_array(x: Array, out: Array) -> None:
    """Write ad_x = [[k^, 0], [e^, k^]] to `out` (6, 6)."""
    write_dual(out, _hat(read_vector(x, 0)), _hat(read_vector(x, 3)))


@kernel
def Ad_array(g: Array, out: Array) -> None:
    """Write Ad_g = [[R, 0], [p^ R, R]] to `out` (6, 6)."""
    R = read_block(g)
    write_dual(out, R, multiply(_hat(_position(g)), R))


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
def dexp_second_array(x: Array, u: Array, out: Array) -> None:
    """Write M (6, 6) with v.M v = u . D(dexp)(x)[v] v to `out`."""
    second_array(op.DEXP, x, u, out)


@kernel
def dcayley_second_array(x: Array, u: Array, out: Array) -> None:
    """Write M (6, 6) with v.M v = u . D(dcayley)(x)[v] v to `out`."""
    second_array(op.DCAYLEY, x, u, out)
