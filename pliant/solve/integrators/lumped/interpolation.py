"""Kernels that interpolate rigid nodes inside a short step.

Centres of mass and the four components of the quaternions are polynomials of degree five in time, with
the values, first and second derivatives of both ends; the quaternion is then divided by its length. The
error is of order six in positions, of order five in velocities: below that of the steps.
"""

from __future__ import annotations

from math import sqrt

from pliant._numba import kernel, leaf
from pliant.lie.quaternion_leaves import quaternion_matrix, quaternion_multiply
from pliant.lie.tuples import add, apply, cross

ROWS = 21
"""Rows of a sample: centre and quaternion, then their first and their second derivatives."""


@leaf
def _vector(rows, c):  # type: ignore[no-untyped-def]
    return rows[0, c], rows[1, c], rows[2, c]


@leaf
def _matrix(rows, c):  # type: ignore[no-untyped-def]
    return (
        rows[0, c], rows[1, c], rows[2, c],
        rows[3, c], rows[4, c], rows[5, c],
        rows[6, c], rows[7, c], rows[8, c],
    )  # fmt: skip


@kernel
def sample(of, centre, inverse, X, Q, V, L, A, T, out):  # type: ignore[no-untyped-def]
    """out (21, C) : centres of mass and quaternions of the nodes with their derivatives in time, in the
    columns that have a node, of (C,) >= 0.

    With the spin w = I^-1 L, w' = I^-1 (T + L x w), Q' = Q w / 2 and Q'' = (Q' w + Q w') / 2.
    """
    for c in range(of.shape[0]):
        if of[c] < 0:
            continue
        J, p = _matrix(inverse, c), _vector(L, c)
        w = apply(J, p)
        spun = apply(J, add(1.0, _vector(T, c), 1.0, cross(p, w)))
        q = (Q[0, c], Q[1, c], Q[2, c], Q[3, c])
        at = apply(quaternion_matrix(q), _vector(centre, c))
        rate = quaternion_multiply(q, (0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]))
        first = quaternion_multiply(rate, (0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]))
        second = quaternion_multiply(q, (0.0, 0.5 * spun[0], 0.5 * spun[1], 0.5 * spun[2]))
        for a in range(3):
            out[a, c], out[7 + a, c], out[14 + a, c] = X[a, c] + at[a], V[a, c], A[a, c]
        for a in range(4):
            out[3 + a, c], out[10 + a, c], out[17 + a, c] = q[a], rate[a], first[a] + second[a]


@leaf
def _quintic(t, h, a, b, k, c):  # type: ignore[no-untyped-def]
    """Value and derivative in time, at the part t of h seconds, of row k between samples a and b."""
    x, v, p = a[k, c], h * a[7 + k, c], 0.5 * h * h * a[14 + k, c]
    gap = b[k, c] - x - v - p
    rate = h * b[7 + k, c] - v - 2.0 * p
    bend = 0.5 * h * h * b[14 + k, c] - p
    c3 = 10.0 * gap - 4.0 * rate + bend
    c4 = -15.0 * gap + 7.0 * rate - 2.0 * bend
    c5 = 6.0 * gap - 3.0 * rate + bend
    value = x + t * (v + t * (p + t * (c3 + t * (c4 + t * c5))))
    slope = v + t * (2.0 * p + t * (3.0 * c3 + t * (4.0 * c4 + 5.0 * t * c5)))
    return value, slope / h


@kernel
def interpolate(part, step, of, moving, centre, about, ends, X, Q, V, L):  # type: ignore[no-untyped-def]
    """Set nodes and momenta at the part part_0 of a short step of step_0 seconds, ends (2, 21, C)."""
    t, h, a, b = part[0], step[0], ends[0], ends[1]
    for c in range(of.shape[0]):
        if of[c] < 0 or moving[0, c] == 0.0:
            continue
        q0, s0 = _quintic(t, h, a, b, 3, c)
        q1, s1 = _quintic(t, h, a, b, 4, c)
        q2, s2 = _quintic(t, h, a, b, 5, c)
        q3, s3 = _quintic(t, h, a, b, 6, c)
        unit = 1.0 / sqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
        q, two = (unit * q0, unit * q1, unit * q2, unit * q3), 2.0 * unit
        w = quaternion_multiply(
            (q[0], -q[1], -q[2], -q[3]), (two * s0, two * s1, two * s2, two * s3)
        )
        arm = apply(quaternion_matrix(q), _vector(centre, c))
        momentum = apply(_matrix(about, c), (w[1], w[2], w[3]))
        for k in range(4):
            Q[k, c] = q[k]
        for k in range(3):
            x, V[k, c] = _quintic(t, h, a, b, k, c)
            X[k, c], L[k, c] = x - arm[k], momentum[k]
