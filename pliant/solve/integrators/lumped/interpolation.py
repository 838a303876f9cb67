"""Kernels that interpolate rigid nodes inside a short step.

Centres of mass and the four components of the quaternions are polynomials of degree five in time, with
the values, first and second derivatives of both ends; the quaternion is then divided by its length. The
error is of order six in positions, of order five in velocities: below that of the steps.
"""

from __future__ import annotations

from math import sqrt

from pliant._numba import kernel, leaf
from pliant.lie.quaternion_leaves import quaternion_matrix, quaternion_multiply
from pliant.lie.tuples import add, apply, cross, read_block, read_vector

WIDTH = 21
"""Numbers of a sample: centre and quaternion, then their first and their second derivatives."""


@kernel
def sample(moving, centre, inverse, poses, quaternions, V, L, A, T, out):  # type: ignore[no-untyped-def]
    """out (N, 21) : centres of mass and quaternions of the nodes with their derivatives in time.

    With the spin w = I^-1 L, w' = I^-1 (T + L x w), Q' = Q w / 2 and Q'' = (Q' w + Q w') / 2.
    """
    for i in range(moving.shape[0]):
        if moving[i] == 0:
            continue
        J, p = read_block(inverse[i]), read_vector(L[i], 0)
        w = apply(J, p)
        spun = apply(J, add(1.0, read_vector(T[i], 0), 1.0, cross(p, w)))
        at = apply(read_block(poses[i]), read_vector(centre[i], 0))
        Q = (quaternions[i, 0], quaternions[i, 1], quaternions[i, 2], quaternions[i, 3])
        q = quaternion_multiply(Q, (0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]))
        first = quaternion_multiply(q, (0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]))
        second = quaternion_multiply(Q, (0.0, 0.5 * spun[0], 0.5 * spun[1], 0.5 * spun[2]))
        for a in range(3):
            out[i, a], out[i, 7 + a], out[i, 14 + a] = poses[i, a, 3] + at[a], V[i, a], A[i, a]
        for a in range(4):
            out[i, 3 + a], out[i, 10 + a], out[i, 17 + a] = Q[a], q[a], first[a] + second[a]


@leaf
def _quintic(t, h, a, b, k):  # type: ignore[no-untyped-def]
    """Value and derivative in time, at the part t of h seconds, of the entry k between samples a, b."""
    x, v, p = a[k], h * a[7 + k], 0.5 * h * h * a[14 + k]
    gap = b[k] - x - v - p
    rate = h * b[7 + k] - v - 2.0 * p
    bend = 0.5 * h * h * b[14 + k] - p
    c3 = 10.0 * gap - 4.0 * rate + bend
    c4 = -15.0 * gap + 7.0 * rate - 2.0 * bend
    c5 = 6.0 * gap - 3.0 * rate + bend
    value = x + t * (v + t * (p + t * (c3 + t * (c4 + t * c5))))
    slope = v + t * (2.0 * p + t * (3.0 * c3 + t * (4.0 * c4 + 5.0 * t * c5)))
    return value, slope / h


@kernel
def interpolate(part, step, moving, centre, about, ends, poses, quaternions, V, L):  # type: ignore[no-untyped-def]
    """Set nodes and momenta at the part part_0 of a short step of step_0 seconds, ends (2, N, 21)."""
    t, h = part[0], step[0]
    for i in range(moving.shape[0]):
        if moving[i] == 0:
            continue
        a, b = ends[0, i], ends[1, i]
        q0, s0 = _quintic(t, h, a, b, 3)
        q1, s1 = _quintic(t, h, a, b, 4)
        q2, s2 = _quintic(t, h, a, b, 5)
        q3, s3 = _quintic(t, h, a, b, 6)
        unit = 1.0 / sqrt(q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
        Q = (unit * q0, unit * q1, unit * q2, unit * q3)
        back, two = (Q[0], -Q[1], -Q[2], -Q[3]), 2.0 * unit
        w = quaternion_multiply(back, (two * s0, two * s1, two * s2, two * s3))
        R = quaternion_matrix(Q)
        arm = apply(R, read_vector(centre[i], 0))
        momentum = apply(read_block(about[i]), (w[1], w[2], w[3]))
        for k in range(4):
            quaternions[i, k] = Q[k]
        for k in range(3):
            x, V[i, k] = _quintic(t, h, a, b, k)
            poses[i, k, 3], L[i, k] = x - arm[k], momentum[k]
            for j in range(3):
                poses[i, k, j] = R[3 * k + j]
