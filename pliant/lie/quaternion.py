"""Unit quaternions (w, x, y, z): public functions on stacks (..., 4).

A unit quaternion q and its negative stand for the same rotation, v -> q v q*, from the body frame
to the frame the body is described in, as a rotation matrix does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant._numba import kernel, leaf
from pliant.lie.batch import LieError, as_stack, as_two_stacks, refuse_cut
from pliant.lie.quaternion_leaves import (
    quaternion_exp,
    quaternion_from_matrix,
    quaternion_log,
    quaternion_matrix,
    quaternion_multiply,
    quaternion_rotate,
)
from pliant.lie.tuples import (
    Array,
    Quaternion,
    read_block,
    read_vector,
    write_block,
    write_vector,
)


@leaf
def read(q: Array) -> Quaternion:
    """Return the four entries of q (4,)."""
    return q[0], q[1], q[2], q[3]


@kernel
def _multiply_stack(p: Array, q: Array, out: Array) -> None:
    for n in range(p.shape[0]):
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = quaternion_multiply(read(p[n]), read(q[n]))


@kernel
def _rotate_stack(q: Array, v: Array, out: Array) -> None:
    for n in range(q.shape[0]):
        write_vector(out[n], 0, quaternion_rotate(read(q[n]), read_vector(v[n], 0)))


@kernel
def _matrix_stack(q: Array, out: Array) -> None:
    for n in range(q.shape[0]):
        write_block(out[n], 0, 0, quaternion_matrix(read(q[n])))


@kernel
def _from_matrix_stack(R: Array, out: Array) -> None:
    for n in range(R.shape[0]):
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = quaternion_from_matrix(read_block(R[n]))


@kernel
def _exp_stack(k: Array, out: Array) -> None:
    for n in range(k.shape[0]):
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = quaternion_exp(read_vector(k[n], 0))


@kernel
def _log_stack(q: Array, out: Array, angles: Array) -> None:
    for n in range(q.shape[0]):
        out[n, 0], out[n, 1], out[n, 2], angles[n] = quaternion_log(read(q[n]))


def multiply(p: ArrayLike, q: ArrayLike) -> Array:
    """Return the Hamilton products p q (..., 4): first q, then p, in the outer frame."""
    first, second, lead = as_two_stacks(("p", "q"), (p, q), (4, 4))
    out = np.empty_like(first)
    _multiply_stack(first, second, out)
    return out.reshape((*lead, 4))


def conjugate(q: ArrayLike) -> Array:
    """Return (w, -x, -y, -z) (..., 4), the inverse of a unit quaternion."""
    stack, lead = as_stack("q", q, (4,))
    return (stack * np.array([1.0, -1.0, -1.0, -1.0])).reshape((*lead, 4))


def normalise(q: ArrayLike) -> Array:
    """Return q / |q| (..., 4); refuses a quaternion of length zero."""
    stack, lead = as_stack("q", q, (4,))
    length = np.linalg.norm(stack, axis=-1, keepdims=True)
    if np.any(length == 0.0):
        raise LieError(
            f"q of item {np.argmin(length)} has length 0, expected a quaternion other than zero; "
            "use (1, 0, 0, 0) for no rotation."
        )
    return (stack / length).reshape((*lead, 4))


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Return the vectors v (..., 3) rotated by the unit quaternions q (..., 4)."""
    first, second, lead = as_two_stacks(("q", "v"), (q, v), (4, 3))
    out = np.empty_like(second)
    _rotate_stack(first, second, out)
    return out.reshape((*lead, 3))


def to_matrix(q: ArrayLike) -> Array:
    """Return the rotation matrices (..., 3, 3) of the unit quaternions q (..., 4)."""
    stack, lead = as_stack("q", q, (4,))
    out = np.empty((len(stack), 3, 3))
    _matrix_stack(stack, out)
    return out.reshape((*lead, 3, 3))


def from_matrix(R: ArrayLike) -> Array:
    """Return the unit quaternions (..., 4) with w >= 0 of the rotation matrices R (..., 3, 3)."""
    stack, lead = as_stack("R", R, (3, 3))
    out = np.empty((len(stack), 4))
    _from_matrix_stack(stack, out)
    return out.reshape((*lead, 4))


def exp(k: ArrayLike) -> Array:
    """Return the unit quaternions (..., 4) of the rotation vectors k (..., 3), rad."""
    stack, lead = as_stack("k", k, (3,))
    out = np.empty((len(stack), 4))
    _exp_stack(stack, out)
    return out.reshape((*lead, 4))


def log(q: ArrayLike) -> Array:
    """Return the rotation vectors (..., 3), rad, of the quaternions q; refuses half a turn."""
    stack, lead = as_stack("q", q, (4,))
    out = np.empty((len(stack), 3))
    angles = np.empty(len(stack))
    _log_stack(stack, out, angles)
    refuse_cut("quaternion.log", angles)
    return out.reshape((*lead, 3))
