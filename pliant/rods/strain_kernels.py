"""Kernels of the strain formulation: Magnus steps on SE(3) and their first and second derivatives.

A step of length h takes the strains xi1, xi2 at its two Gauss points to the increment

    Omega = h/2 (xi1 + xi2) + a [xi1, xi2],      a = sqrt(3)/12 h^2        (g' = g xi)

and multiplies the pose by exp(Omega): the fourth-order Magnus expansion. All steps are followed in
the frame of the base. With H_i the pose after step i, a coordinate moves everything beyond the step
by the twist Theta_i = Ad(H_i) dexp(Omega_i) O_i, O_i the derivative of Omega_i, hence

    V = x_base + sum_i Theta_i q',      J = Ad(H)^-1 (1, sum_i Theta_i)
    V' = sum_i Ad(H_i) (dexp(Omega_i) Omega_i'' + D dexp(Omega_i)[Omega_i'] Omega_i')
         + [V_i^-, Theta_i q']

where V_i^- is the velocity before step i and Omega'' = 2 a [xi1', xi2']. A station adds one step of
its own, from the node below it to its arclength. The kernels that need V' are in `strain_second`.

Two families of 6x6 matrices are kept as (6, 3) arrays: [F; G] stands for [[F, 0], [G, F]] (twists,
one block for each mode), and [A; B] for [[A, B], [B, 0]] (wrenches and second derivatives). The
product of a transposed twist block with a wrench block is again a wrench block. For Kirchhoff rods
only the first three columns of a mode (`rows` = 3) are coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie.blocks import compose, tau_pose
from pliant.lie.operators import EXP
from pliant.lie.tuples import (
    Array,
    Ints,
    add,
    apply,
    combine,
    cross,
    read_block,
    read_vector,
    write_vector,
)

BRACKET = np.sqrt(3.0) / 12.0
"""Factor of h^2 [xi1, xi2] in the Magnus increment."""


class Steps(NamedTuple):
    """Magnus steps: those of the grid, or the last step of each station.

    Fixed: segment (n,), length (n,), basis values phi (n, 2, K) and natural strain (n, 2, 6) at the
    two Gauss points. State: strains xi (n, 2, 6), increment omega (n, 6), tangent (n, 6, 3) the
    blocks of dexp(omega), pose (n, 3, 4) after the step and theta (n, K, 6, 3), both in the frame
    of the base.
    """

    segment: Ints
    length: Array
    phi: Array
    natural: Array
    xi: Array
    omega: Array
    tangent: Array
    pose: Array
    theta: Array


@inner
def point_strains(z, i, q, rows, scale, out):  # type: ignore[no-untyped-def]
    """out (2, 6) = scale * natural strain + modes q (segments, K, rows) at the points of step i."""
    part = q[z.segment[i]]
    for j in range(2):
        for r in range(6):
            out[j, r] = scale * z.natural[i, j, r]
        for k in range(part.shape[0]):
            for r in range(rows):
                out[j, r] += z.phi[i, j, k] * part[k, r]


@inner
def add_brackets(a, x, d, out):  # type: ignore[no-untyped-def]
    """out += a ([x1, d2] + [d1, x2]) for pairs of twists x, d (2, 6)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i] += a * (
            x[0, j] * d[1, k] - x[0, k] * d[1, j] + d[0, j] * x[1, k] - d[0, k] * x[1, j]
        )
        out[3 + i] += a * (
            x[0, j] * d[1, 3 + k]
            - x[0, k] * d[1, 3 + j]
            + x[0, 3 + j] * d[1, k]
            - x[0, 3 + k] * d[1, j]
            + d[0, j] * x[1, 3 + k]
            - d[0, k] * x[1, 3 + j]
            + d[0, 3 + j] * x[1, k]
            - d[0, 3 + k] * x[1, j]
        )


@leaf
def slope(z, i, k, w):  # type: ignore[no-untyped-def]
    """O_k = alpha I + ad(w): derivative of Omega_i in the coefficients of mode k; returns alpha."""
    h = z.length[i]
    a = BRACKET * h * h
    for r in range(6):
        w[r] = a * (z.phi[i, 1, k] * z.xi[i, 0, r] - z.phi[i, 0, k] * z.xi[i, 1, r])
    return 0.5 * h * (z.phi[i, 0, k] + z.phi[i, 1, k])


@inner
def _take_step(z, i, q, rows, start, step, D, w):  # type: ignore[no-untyped-def]
    """Take step i from pose `start` (3, 4), writing all of its state.

    step (3, 4), D (6, 3) and w (6,) are scratch.
    """
    h = z.length[i]
    point_strains(z, i, q, rows, 1.0, z.xi[i])
    for r in range(6):
        z.omega[i, r] = 0.5 * h * (z.xi[i, 0, r] + z.xi[i, 1, r])
    add_brackets(0.5 * BRACKET * h * h, z.xi[i], z.xi[i], z.omega[i])
    T = z.tangent[i]
    tau_pose(EXP, z.omega[i], step, T[:3], T[3:])
    compose(start, step, z.pose[i])
    for k in range(z.phi.shape[2]):
        alpha = slope(z, i, k, w)
        u, v = read_vector(w, 0), read_vector(w, 3)
        for r in range(3):
            # a row times the hat matrix of u is the row x u
            f, g = read_vector(T[r], 0), read_vector(T[3 + r], 0)
            write_vector(D[r], 0, add(alpha, f, 1.0, cross(f, u)))
            write_vector(D[3 + r], 0, combine(alpha, g, 1.0, cross(g, u), 1.0, cross(f, v)))
        _carry_out(z.pose[i], D, z.theta[i, k])


@leaf
def _carried(P, f, h):  # type: ignore[no-untyped-def]
    """Both parts of Ad(P) (f, h) for vectors f and h."""
    R = read_block(P)
    turned = apply(R, f)
    return turned, add(1.0, apply(R, h), 1.0, cross((P[0, 3], P[1, 3], P[2, 3]), turned))


@inner
def _carry_out(P, D, out):  # type: ignore[no-untyped-def]
    """out = Ad(P) D for twist blocks (6, 3)."""
    for c in range(3):
        f, h = _carried(P, (D[0, c], D[1, c], D[2, c]), (D[3, c], D[4, c], D[5, c]))
        out[0, c], out[1, c], out[2, c] = f
        out[3, c], out[4, c], out[5, c] = h


@leaf
def add_carried(P, x, out):  # type: ignore[no-untyped-def]
    """out += Ad(P) x."""
    f, h = _carried(P, read_vector(x, 0), read_vector(x, 3))
    write_vector(out, 0, add(1.0, read_vector(out, 0), 1.0, f))
    write_vector(out, 3, add(1.0, read_vector(out, 3), 1.0, h))


@inner
def _columns(n, m):  # type: ignore[no-untyped-def]
    """The (n, m) array with ones on the diagonal: a pose at the origin, a unit twist block."""
    out = np.zeros((n, m))
    for i in range(3):
        out[i, i] = 1.0
    return out


@kernel
def sweep(z, steps, q, total):  # type: ignore[no-untyped-def]
    """Take all steps of the grid, `steps` in each segment.

    total (N, K, 6, 3): sum of theta from the start of the segment up to and including each step.
    """
    increment = np.empty((3, 4))
    D = np.empty((6, 3))
    w = np.empty(6)
    origin = _columns(3, 4)
    for i in range(len(z.length)):
        _take_step(z, i, q, q.shape[2], z.pose[i - 1] if i > 0 else origin, increment, D, w)
        for k in range(total.shape[1]):
            for r in range(6):
                for c in range(3):
                    total[i, k, r, c] = z.theta[i, k, r, c]
                    if i % steps != 0:
                        total[i, k, r, c] += total[i - 1, k, r, c]


@inner
def _write_columns(P, S, extra, J, col, rows):  # type: ignore[no-untyped-def]
    """J[:, col : col + rows] = Ad(P)^-1 (S + extra) for twist blocks (6, 3)."""
    for j in range(3):
        f0, f1, f2 = S[0, j] + extra[0, j], S[1, j] + extra[1, j], S[2, j] + extra[2, j]
        h0 = S[3, j] + extra[3, j] - (P[1, 3] * f2 - P[2, 3] * f1)
        h1 = S[4, j] + extra[4, j] - (P[2, 3] * f0 - P[0, 3] * f2)
        h2 = S[5, j] + extra[5, j] - (P[0, 3] * f1 - P[1, 3] * f0)
        for i in range(3):
            v = P[0, i] * f0 + P[1, i] * f1 + P[2, i] * f2
            J[i, col + j] = v
            J[3 + i, col + j] = P[0, i] * h0 + P[1, i] * h1 + P[2, i] * h2
            if rows == 6:
                J[i, col + 3 + j] = 0.0
                J[3 + i, col + 3 + j] = v


@kernel
def evaluate_frames(z, steps, total, x, step, q, base, g, J):  # type: ignore[no-untyped-def]
    """World poses g (S, 4, 4) and Jacobians J (S, 6, m) of stations x in grid steps `step` (S,).

    Columns of segments beyond a station are zero and left alone.
    """
    modes, rows = q.shape[1], q.shape[2]
    increment = np.empty((3, 4))
    D = np.empty((6, 3))
    w = np.empty(6)
    zero = np.zeros((6, 3))
    unit = _columns(6, 3)
    origin = _columns(3, 4)
    for s in range(len(step)):
        n = step[s]
        seg = x.segment[s]
        _take_step(x, s, q, rows, z.pose[n - 1] if n > 0 else origin, increment, D, w)
        P = x.pose[s]
        compose(base, P, g[s])
        _write_columns(P, unit, zero, J[s], 0, 6)
        for b in range(seg * modes):
            done = total[steps * (b // modes) + steps - 1, b % modes]
            _write_columns(P, done, zero, J[s], 6 + b * rows, rows)
        for k in range(modes):
            col = 6 + (seg * modes + k) * rows
            before = total[n - 1, k] if n % steps != 0 else zero
            _write_columns(P, before, x.theta[s, k], J[s], col, rows)


@kernel
def evaluate_strains(segment, phi, natural, q, e):  # type: ignore[no-untyped-def]
    """e (S, 6) = natural (S, 6) + sum_k phi (S, K) q (segments, K, rows)."""
    for s in range(len(segment)):
        for r in range(6):
            e[s, r] = natural[s, r]
        for k in range(q.shape[1]):
            for r in range(q.shape[2]):
                e[s, r] += phi[s, k] * q[segment[s], k, r]
