"""Poses, SE(3): public functions on stacks of arrays.

Twists x are (..., 6), angular part first, (rad, m); poses g are (..., 4, 4).  Derivatives are
left-trivialised: exp(x)^-1 D exp(x)[y] = hat(dexp(x) y), dexp = I - ad(x)/2 + ...  The Cayley map
is the one of the adjoint representation: Ad(cayley(x)) = (I - ad(x)/2)^-1 (I + ad(x)/2).

The functions of `se3_kernels` act on one item and are meant to be called inside kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant._numba import kernel
from pliant.lie import operators as op, so3
from pliant.lie.batch import as_stack, as_two_stacks, filled, refuse_cut
from pliant.lie.se3_kernels import operator_array, pose_array, relative_array, second_array
from pliant.lie.tuples import Array


@kernel
def _map_stack(kind: int, x: Array, g: Array) -> None:
    for n in range(x.shape[0]):
        pose_array(kind, x[n], g[n])


@kernel
def _inverse_map_stack(kind: int, origin: Array, g: Array, x: Array, angles: Array) -> None:
    for n in range(g.shape[0]):
        angles[n] = relative_array(kind, origin, g[n], x[n])


@kernel
def _operator_stack(kind: int, x: Array, out: Array) -> None:
    for n in range(x.shape[0]):
        operator_array(kind, x[n], out[n])


@kernel
def _second_stack(kind: int, x: Array, u: Array, out: Array) -> None:
    for n in range(x.shape[0]):
        second_array(kind, x[n], u[n], out[n])


def _map(kind: int, x: ArrayLike) -> Array:
    stack, lead = as_stack("x", x, (6,))
    return filled(_map_stack, kind, (stack,), lead, (4, 4))


def _inverse_map(kind: int, name: str, g: ArrayLike) -> Array:
    stack, lead = as_stack("g", g, (4, 4))
    out = np.empty((len(stack), 6))
    angles = np.empty(len(stack))
    _inverse_map_stack(kind, np.eye(4), stack, out, angles)
    refuse_cut(name, angles)
    return out.reshape((*lead, 6))


def _operator(kind: int, x: ArrayLike) -> Array:
    stack, lead = as_stack("x", x, (6,))
    return filled(_operator_stack, kind, (stack,), lead, (6, 6))


def _second(kind: int, x: ArrayLike, u: ArrayLike) -> Array:
    first, second, lead = as_two_stacks(("x", "u"), (x, u), (6, 6))
    return filled(_second_stack, kind, (first, second), lead, (6, 6))


def _dual(diagonal: Array, lower: Array, lead: tuple[int, ...]) -> Array:
    """Return the matrices [[diagonal, 0], [lower, diagonal]] of shape (*lead, 6, 6)."""
    out = np.zeros((len(diagonal), 6, 6))
    out[:, :3, :3] = out[:, 3:, 3:] = diagonal
    out[:, 3:, :3] = lower
    return out.reshape((*lead, 6, 6))


def hat(x: ArrayLike) -> Array:
    """Return the matrices (..., 4, 4) [[k^, e], [0, 0]] of the twists x = (k, e) (..., 6)."""
    stack, lead = as_stack("x", x, (6,))
    out = np.zeros((len(stack), 4, 4))
    out[:, :3, :3] = so3.hat(stack[:, :3])
    out[:, :3, 3] = stack[:, 3:]
    return out.reshape((*lead, 4, 4))


def vee(m: ArrayLike) -> Array:
    """Return the twists (..., 6) of the matrices m (..., 4, 4), the inverse of `hat`."""
    stack, lead = as_stack("m", m, (4, 4))
    return np.concatenate((so3.vee(stack[:, :3, :3]), stack[:, :3, 3]), axis=-1).reshape((*lead, 6))


def exp(x: ArrayLike) -> Array:
    """Return the poses (..., 4, 4) reached by the constant twists x (..., 6) in unit time."""
    return _map(op.EXP, x)


def log(g: ArrayLike) -> Array:
    """Return the twists (..., 6) of the poses g (..., 4, 4); refuses half a turn."""
    return _inverse_map(op.EXP, "se3.log", g)


def cayley(x: ArrayLike) -> Array:
    """Return the Cayley poses (..., 4, 4) of x (..., 6): exp up to third order in x."""
    return _map(op.CAYLEY, x)


def cayley_inverse(g: ArrayLike) -> Array:
    """Return x (..., 6) with cayley(x) = g; refuses half a turn, where x is infinite."""
    return _inverse_map(op.CAYLEY, "se3.cayley_inverse", g)


def dexp(x: ArrayLike) -> Array:
    """Return the left-trivialised derivative (..., 6, 6) of exp at x (..., 6)."""
    return _operator(op.DEXP, x)


def dexp_inverse(x: ArrayLike) -> Array:
    """Return the inverse (..., 6, 6) of dexp at x (..., 6), for an angle below 2 pi."""
    return _operator(op.DEXP_INVERSE, x)


def dcayley(x: ArrayLike) -> Array:
    """Return the left-trivialised derivative (..., 6, 6) of cayley at x (..., 6)."""
    return _operator(op.DCAYLEY, x)


def dcayley_inverse(x: ArrayLike) -> Array:
    """Return the inverse (..., 6, 6) of dcayley at x (..., 6)."""
    return _operator(op.DCAYLEY_INVERSE, x)


def dexp_second(x: ArrayLike, u: ArrayLike) -> Array:
    """Return the symmetric M (..., 6, 6) with v.M v = u . D(dexp)(x)[v] v, x and u (..., 6)."""
    return _second(op.DEXP, x, u)


def dcayley_second(x: ArrayLike, u: ArrayLike) -> Array:
    """Return the symmetric M (..., 6, 6) with v.M v = u . D(dcayley)(x)[v] v, x and u (..., 6)."""
    return _second(op.DCAYLEY, x, u)


def ad(x: ArrayLike) -> Array:
    """Return the matrices (..., 6, 6) of the Lie bracket: ad(x) y = [x, y], x (..., 6)."""
    stack, lead = as_stack("x", x, (6,))
    return _dual(so3.hat(stack[:, :3]), so3.hat(stack[:, 3:]), lead)


def Ad(g: ArrayLike) -> Array:
    """Return the matrices (..., 6, 6) that carry body twists into the frame g is written in."""
    stack, lead = as_stack("g", g, (4, 4))
    R = stack[:, :3, :3]
    return _dual(R, so3.hat(stack[:, :3, 3]) @ R, lead)


def inverse(g: ArrayLike) -> Array:
    """Return the inverse poses (..., 4, 4)."""
    stack, lead = as_stack("g", g, (4, 4))
    Rt = np.swapaxes(stack[:, :3, :3], 1, 2)
    return pose(Rt, -np.einsum("nij,nj->ni", Rt, stack[:, :3, 3])).reshape((*lead, 4, 4))


def pose(R: ArrayLike, p: ArrayLike) -> Array:
    """Return the poses (..., 4, 4) of rotations R (..., 3, 3) and positions p (..., 3), m."""
    rotations, lead = as_stack("R", R, (3, 3))
    rows, positions, shape = as_two_stacks(("R", "p"), (rotations.reshape((*lead, 9)), p), (9, 3))
    out = np.zeros((len(rows), 4, 4))
    out[:, :3, :3] = rows.reshape((-1, 3, 3))
    out[:, :3, 3] = positions
    out[:, 3, 3] = 1.0
    return out.reshape((*shape, 4, 4))


def orthonormal(g: ArrayLike) -> Array:
    """Return the pose g (4, 4) without rounding errors in its rotation: R <- R (3 I - R^T R) / 2."""
    out = np.array(g, dtype=float)
    R = out[:3, :3]
    out[:3, :3] = R @ (1.5 * np.eye(3) - 0.5 * R.T @ R)
    return out
