"""The gap between two frames: residual, Jacobian and second derivative in body twists.

With h = g1^-1 g2 = (R, p), the residual is b = (log R, p), of which the held rows are kept: zero when
the frames agree. p is kept as it is instead of the translation part of log h, so that the
multipliers are the force and (at b = 0) the moment of the connection in the frame of g1. These are
the types of Xun et al., Table 3, whose Jacobian in g1 lacks a minus sign.
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie import operators as op
from pliant.lie.leaves import add_hat
from pliant.lie.so3 import log_vector, operator_array, second_array
from pliant.lie.tuples import read_block
from pliant.rods.contract import Array

_CUT = math.pi - 1e-9
"""Angle between frames from which on the shorter turn is in doubt, rad."""


def residual(g1: Array, g2: Array) -> Array:
    """b (6,) = (log R, p) of h = g1^-1 g2."""
    b = np.zeros(6)
    set_gap(g1, g2, np.arange(6), b, np.zeros((6, 12)))
    return b


@kernel
def set_gap(g1, g2, held, gap, slopes):  # type: ignore[no-untyped-def]
    """Write the held rows (r,) of b and their derivatives (r, 6 K) in the body twists of the frames.

    slopes : in the twists of g1 and g2 (r, 12), or in that of g2 alone (r, 6). Rotations of frames half
    a turn apart have no gap: it is infinite.
    """
    R, D, A, b = np.empty((3, 3)), np.empty((3, 3)), np.zeros((6, 12)), np.empty(6)
    angle = _relative(g1, g2, R, b)
    operator_array(op.DEXP_INVERSE, b[:3], D)
    for i in range(3):
        A[3 + i, 3 + i] = -1.0
        for j in range(3):
            A[i, 6 + j] = D[i, j]
            A[3 + i, 9 + j] = R[i, j]
            A[i, j] = -(D[i, 0] * R[j, 0] + D[i, 1] * R[j, 1] + D[i, 2] * R[j, 2])
    add_hat(A, 3, 0, b[3], b[4], b[5], 1.0)
    first = 12 - slopes.shape[1]
    for r in range(held.shape[0]):
        gap[r] = b[held[r]] if angle < _CUT or held[r] > 2 else np.inf
        for j in range(slopes.shape[1]):
            slopes[r, j] = A[held[r], first + j]


@inner
def _relative(g1, g2, R, b):  # type: ignore[no-untyped-def]
    """R (3, 3) and b (6,) = (log R, p) of g1^-1 g2; returns the angle of R."""
    for i in range(3):
        b[3 + i] = 0.0
        for k in range(3):
            b[3 + i] += g1[k, i] * (g2[k, 3] - g1[k, 3])
        for j in range(3):
            R[i, j] = g1[0, i] * g2[0, j] + g1[1, i] * g2[1, j] + g1[2, i] * g2[2, j]
    b[0], b[1], b[2], angle = log_vector(read_block(R))
    return angle


@kernel
def set_curvature(g1, g2, held, force, out):  # type: ignore[no-untyped-def]
    """Write the second derivative of force . b along (exp(x1), exp(x2)), symmetric.

    force (r,) on the held rows; out (12, 12), or (6, 6) in x2 alone.
    Rotation: with k = log R, w = x2 - R^T x1 (angular), k' = D w and
    lam.k'' = -k'.M(k, d) k' + d.(x2 x R^T x1), d = D^T lam, M = so3.dexp_second.
    Position p = R1^T (p2 - p1): with a, u the angular and linear parts of x1, b, v those of x2,
    p'' = a x (a x p) - 2 a x (R v - u) + R (b x v) - (a x u).
    """
    R, D, M, b = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(6)
    lam, d, T, H = np.zeros(6), np.zeros(3), np.zeros((3, 12)), np.zeros((12, 12))
    _relative(g1, g2, R, b)
    operator_array(op.DEXP_INVERSE, b[:3], D)
    for r in range(held.shape[0]):
        lam[held[r]] = force[r]
    for i in range(3):
        for j in range(3):
            d[j] += D[i, j] * lam[i]
            T[i, 6 + j] = D[i, j]
            T[i, j] = -(D[i, 0] * R[j, 0] + D[i, 1] * R[j, 1] + D[i, 2] * R[j, 2])
    second_array(op.DEXP, b[:3], d, M)
    for i in range(12):
        for j in range(12):
            for k in range(3):
                for m in range(3):
                    H[i, j] -= T[k, i] * M[k, m] * T[m, j]
    _add_turned(H, 6, 0, d, R, True, -0.5)  # d.(x2 x R^T x1) = -x2 . d^ R^T x1
    _add_turned(H, 0, 9, lam[3:], R, False, 1.0)  # -2 lam.(a x R v) = 2 a.(lam^ R v)
    p, force_p = b[3:], lam[3:]
    along = force_p[0] * p[0] + force_p[1] * p[1] + force_p[2] * p[2]
    turned = np.empty(3)
    for i in range(3):
        H[i, i] -= along
        turned[i] = R[0, i] * force_p[0] + R[1, i] * force_p[1] + R[2, i] * force_p[2]
        for j in range(3):
            H[i, j] += 0.5 * (force_p[i] * p[j] + p[i] * force_p[j])
    # lam.(a x u) = -a.(lam^ u), and lam.R (b x v) = -b.((R^T lam)^ v)
    _add_hat_twice(H, 0, 3, force_p)
    _add_hat_twice(H, 6, 9, turned)
    first = 12 - out.shape[0]
    for i in range(out.shape[0]):
        for j in range(out.shape[0]):
            out[i, j] = H[first + i, first + j]


@inner
def _add_turned(H, row, col, x, R, transposed, scale):  # type: ignore[no-untyped-def]
    """Add scale x^ R, or x^ R^T, to the block of H at (row, col), and its mirror image."""
    X = np.zeros((3, 3))
    add_hat(X, 0, 0, x[0], x[1], x[2], scale)
    for i in range(3):
        for j in range(3):
            v = 0.0
            for k in range(3):
                v += X[i, k] * (R[j, k] if transposed else R[k, j])
            H[row + i, col + j] += v
            H[col + j, row + i] += v


@inner
def _add_hat_twice(H, row, col, x):  # type: ignore[no-untyped-def]
    """Add -1/2 x^ to the block of H at (row, col), and its mirror image."""
    add_hat(H, row, col, x[0], x[1], x[2], -0.5)
    add_hat(H, col, row, x[0], x[1], x[2], 0.5)
