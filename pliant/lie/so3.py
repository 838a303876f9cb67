"""Rotations, SO(3): public functions on stacks of arrays, and the kernels behind them.

Rotation vectors k are (..., 3) in radians, rotation matrices (..., 3, 3).  Derivatives are
left-trivialised: exp(k)^T D exp(k)[v] = hat(dexp(k) v), dexp = I - hat(k)/2 + ...
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant._numba import inner, kernel, leaf
from pliant.lie import operators as op
from pliant.lie.batch import as_stack, as_two_stacks, filled, refuse_cut
from pliant.lie.quaternion_leaves import (
    quaternion_from_matrix,
    quaternion_log,
    quaternion_matrix,
)
from pliant.lie.tuples import (
    Array,
    Matrix,
    dot,
    read_block,
    read_vector,
    write_block,
    write_symmetric,
)


@leaf
def exp_matrix(kx: float, ky: float, kz: float) -> Matrix:
    """Return the nine entries, row by row, of the rotation matrix of the vector (kx, ky, kz)."""
    k = (kx, ky, kz)
    i, s, q, _, _, _ = op.coefficients(op.EXP, dot(k, k))
    return op.operator(i, s, q, k)


@leaf
def log_vector(r: Matrix) -> tuple[float, float, float, float]:
    """Return (kx, ky, kz, angle) of a rotation matrix; at the angle pi one of the two axes."""
    return quaternion_log(quaternion_from_matrix(r))


@inner
def operator_array(kind: int, k: Array, out: Array) -> None:
    """Write the 3x3 operator `kind` of `pliant.lie.operators` at the vector k (3,) to `out`."""
    v = read_vector(k, 0)
    i, s, q, _, _, _ = op.coefficients(kind, dot(v, v))
    write_block(out, 0, 0, op.operator(i, s, q, v))


@inner
def second_array(kind: int, k: Array, u: Array, out: Array) -> None:
    """Write the second form (3, 3) of DEXP or DCAYLEY at k (3,) for u (3,) to `out`."""
    v = read_vector(k, 0)
    p, s1, q, _, _, q1, _ = op.second_coefficients(kind, dot(v, v))
    write_symmetric(out, 0, 0, op.second_form(p, s1, q, q1, v, read_vector(u, 0)))


@kernel
def _operator_stack(kind: int, k: Array, out: Array) -> None:
    for n in range(k.shape[0]):
        operator_array(kind, k[n], out[n])


@kernel
def _second_stack(kind: int, k: Array, u: Array, out: Array) -> None:
    for n in range(k.shape[0]):
        second_array(kind, k[n], u[n], out[n])


@kernel
def _log_stack(R: Array, k: Array, angles: Array) -> None:
    for n in range(R.shape[0]):
        k[n, 0], k[n, 1], k[n, 2], angles[n] = log_vector(read_block(R[n]))


def _operator(kind: int, k: ArrayLike) -> Array:
    stack, lead = as_stack("k", k, (3,))
    return filled(_operator_stack, kind, (stack,), lead, (3, 3))


def hat(k: ArrayLike) -> Array:
    """Return the skew matrices (..., 3, 3) with hat(k) v = k x v for the vectors k (..., 3)."""
    stack, lead = as_stack("k", k, (3,))
    out = np.zeros((len(stack), 3, 3))
    out[:, 2, 1], out[:, 0, 2], out[:, 1, 0] = stack.T
    out[:, 1, 2], out[:, 2, 0], out[:, 0, 1] = -stack.T
    return out.reshape((*lead, 3, 3))


def vee(m: ArrayLike) -> Array:
    """Return the vectors (..., 3) of the skew parts of the matrices m (..., 3, 3)."""
    m, lead = as_stack("m", m, (3, 3))
    skew = 0.5 * (m - np.swapaxes(m, 1, 2))
    return np.stack((skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]), axis=-1).reshape((*lead, 3))


def exp(k: ArrayLike) -> Array:
    """Return the rotation matrices (..., 3, 3) of the rotation vectors k (..., 3), rad."""
    return _operator(op.EXP, k)


def log(R: ArrayLike) -> Array:
    """Return the rotation vectors (..., 3), rad, of the matrices R; refuses half a turn."""
    stack, lead = as_stack("R", R, (3, 3))
    out = np.empty((len(stack), 3))
    angles = np.empty(len(stack))
    _log_stack(stack, out, angles)
    refuse_cut("so3.log", angles)
    return out.reshape((*lead, 3))


def dexp(k: ArrayLike) -> Array:
    """Return the left-trivialised derivative (..., 3, 3) of exp at k (..., 3)."""
    return _operator(op.DEXP, k)


def dexp_inverse(k: ArrayLike) -> Array:
    """Return the inverse (..., 3, 3) of dexp at k (..., 3), for |k| < 2 pi."""
    return _operator(op.DEXP_INVERSE, k)


def dexp_second(k: ArrayLike, u: ArrayLike) -> Array:
    """Return the symmetric M (..., 3, 3) with v.M v = u . D(dexp)(k)[v] v, k and u (..., 3)."""
    first, second, lead = as_two_stacks(("k", "u"), (k, u), (3, 3))
    return filled(_second_stack, op.DEXP, (first, second), lead, (3, 3))


def from_quaternion(q: ArrayLike) -> Array:
    """Return the rotation matrices (..., 3, 3) of the unit quaternions q = (w, x, y, z) (..., 4).

    q and -q stand for the same rotation, v -> q v q*, from the body frame to the outer one.
    """
    stack, lead = as_stack("q", q, (4,))
    return np.stack(quaternion_matrix(stack.T), axis=-1).reshape((*lead, 3, 3))
