"""Laws of contact along rows: unilateral ones with multipliers, and springs; frames within a step."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.lie.se3_kernels import (
    dexp_array,
    dexp_inverse_array,
    exp_pose_array,
    multiply_array,
)
from pliant.physics.frame_rows import mark_holding as mark_holding, release_rows as release_rows

_NEXT_TO_NOTHING = 1e-300
"""Overlap of surfaces that touch, m: it marks them as active."""


@kernel
def multiply(c, x, y, out):  # type: ignore[no-untyped-def]
    """out = c x y, all (M,)."""
    for i in range(out.shape[0]):
        out[i] = c * x[i] * y[i]


# -- unilateral rows -------------------------------------------------------------------------------


@kernel
def meet_rows(rows, z, keep, stiffness, soft, share, k, gap, residual, held, force, active):  # type: ignore[no-untyped-def]
    """Add the equations of rows (M,) to the residual (total,); write which hold, and their forces.

    psi = gap - soft lambda - keep. A row holds where lambda + stiffness psi > 0: it adds share psi and
    has the force lambda + k psi. One that is idle adds -lambda / stiffness. active (M,) = held.
    """
    for i in range(rows.shape[0]):
        at = rows[i]
        psi = gap[i] - soft[i] * z[at] - keep[at]
        holds = z[at] + stiffness[i] * psi > 0.0
        held[i] = active[i] = 1.0 if holds else 0.0
        residual[at] += share[i] * psi if holds else -z[at] / stiffness[i]
        force[i] = z[at] + k[i] * psi if holds else 0.0


@kernel
def own_slopes(held, stiffness, soft, share, out):  # type: ignore[no-untyped-def]
    """out (M,) = derivative of what `meet_rows` adds to the residual in lambda."""
    for i in range(held.shape[0]):
        out[i] = (held[i] - 1.0) / stiffness[i] - held[i] * share[i] * soft[i]


@kernel
def touch_rows(gap, rates, v, part, near, stiffness, rows, z):  # type: ignore[no-untyped-def]
    """Set multipliers z > 0 of rows with gaps above -near that do not part.

    Rows part if their gaps fall faster than the part `part` of the largest of the rates v (total,), and
    than `near` in a second.
    """
    fastest = 0.0
    for i in range(v.shape[0]):
        fastest = max(fastest, abs(v[i]))
    for i in range(rows.shape[0]):
        touches = gap[i] > -near and not rates[i] < -max(part * fastest, near)
        z[rows[i]] = 2.0 * near * stiffness[i] if touches else 0.0


@kernel
def add_row_rates(rates, held, scale, rows, out):  # type: ignore[no-untyped-def]
    """out[rows] += scale held rates."""
    for i in range(rows.shape[0]):
        out[rows[i]] += scale * held[i] * rates[i]


@kernel
def take_pushes(rows, z, out):  # type: ignore[no-untyped-def]
    """out (M,) = max(z[rows], 0)."""
    for i in range(rows.shape[0]):
        out[i] = max(z[rows[i]], 0.0)


# -- springs ---------------------------------------------------------------------------------------


@kernel
def spring(k, d, gap, rates, near, force, slope, rate_slope):  # type: ignore[no-untyped-def]
    """force = k gap (1 + d rate) where that pushes, and its derivatives in gap and rate, all (M,).

    Surfaces less than `near` apart have the slope of those that touch, and next to no force.
    """
    for i in range(gap.shape[0]):
        x = max(gap[i], _NEXT_TO_NOTHING if gap[i] > -near else 0.0)
        f = k[i] * x * (1.0 + d * rates[i])
        force[i], slope[i], rate_slope[i] = 0.0, 0.0, 0.0
        if f > 0.0:
            force[i], slope[i], rate_slope[i] = f, k[i] * (1.0 + d * rates[i]), k[i] * x * d


@kernel
def secant(k, d, h, implicit, start, middle, end, force, slope, own_slope):  # type: ignore[no-untyped-def]
    """Forces (M,) of springs in a step of h seconds, from the gaps (M,) at its start, middle and end.

    (V(b) - V(a)) / (b - a) of V = k gap^2 / 2, gap > 0, and k d gap (b - a) / h with the gap in the
    middle; that of the start alone in an explicit step. slope, own_slope : derivatives in the gap at
    the end and in the middle.
    """
    for i in range(start.shape[0]):
        a, b, m = start[i], end[i], middle[i]
        f, s, own, rate = 0.0, 0.0, 0.0, (b - a) / h
        if not implicit:
            m = a
            f = k[i] * max(a, 0.0)
        elif a > 0.0 and b > 0.0:
            f, s = 0.5 * k[i] * (a + b), 0.5 * k[i]
        elif a > 0.0:
            share = a / (a - b)
            f, s = 0.5 * k[i] * a * share, 0.5 * k[i] * share * share
        elif b > 0.0:
            share = b / (b - a)
            f, s = 0.5 * k[i] * b * share, k[i] * share * (1.0 - 0.5 * share)
        if m > 0.0:
            f += k[i] * m * d * rate
            s += k[i] * m * d / h
            own = k[i] * d * rate if implicit else 0.0
        pushes = f > 0.0
        force[i], slope[i], own_slope[i] = (f, s, own) if pushes else (0.0, 0.0, 0.0)


@kernel
def add_damping_loss(k, gap, rates, force, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale sum of (force - k gap) rate where gap > 0."""
    for i in range(gap.shape[0]):
        if gap[i] > 0.0:
            out[0] += scale * (force[i] - k[i] * gap[i]) * rates[i]


# -- frames within a step --------------------------------------------------------------------------


@kernel
def set_middle(Ga, eta, time, out):  # type: ignore[no-untyped-def]
    """out (P, 4, 4) = Ga exp(time eta)."""
    x, step = np.empty(6), np.empty((4, 4))
    for p in range(Ga.shape[0]):
        for j in range(6):
            x[j] = time * eta[p, j]
        exp_pose_array(x, step)
        multiply_array(Ga[p], step, out[p])


@kernel
def shift_frames(eta, time, G):  # type: ignore[no-untyped-def]
    """G (P, 4, 4) = G exp(time eta)."""
    x, step, moved = np.empty(6), np.empty((4, 4)), np.empty((4, 4))
    for p in range(G.shape[0]):
        for j in range(6):
            x[j] = time * eta[p, j]
        exp_pose_array(x, step)
        multiply_array(G[p], step, moved)
        for i in range(4):
            for j in range(4):
                G[p, i, j] = moved[i, j]


@kernel
def set_shares(eta, h, implicit, Aa, Ab):  # type: ignore[no-untyped-def]
    """How twists of both ends move the middle of a step, see `physics.between`; (P, 6, 6) each.

    In an explicit step all acts at its start.
    """
    x, half = np.empty(6), np.empty(6)
    D, inverse = np.empty((6, 6)), np.empty((6, 6))
    for p in range(eta.shape[0]):
        for end in range(2):
            A = Aa[p] if end == 0 else Ab[p]
            sign = -1.0 if end == 0 else 1.0
            for j in range(6):
                x[j] = sign * h * eta[p, j]
                half[j] = 0.5 * x[j]
            dexp_array(half, D)
            dexp_inverse_array(x, inverse)
            for i in range(6):
                for j in range(6):
                    v = 0.0
                    for k in range(6):
                        v += D[i, k] * inverse[k, j]
                    A[i, j] = 0.5 * v
                    if not implicit:
                        A[i, j] = 1.0 if i == j and end == 0 else 0.0


@kernel
def share_wrenches(pulled, A, scale, out):  # type: ignore[no-untyped-def]
    """out (P, 6) = scale A^T pulled."""
    for p in range(pulled.shape[0]):
        for j in range(6):
            v = 0.0
            for i in range(6):
                v += A[p, i, j] * pulled[p, i]
            out[p, j] = scale * v


@kernel
def share_jacobians(A, J, out):  # type: ignore[no-untyped-def]
    """out (P, 6, c) = A J."""
    for p in range(J.shape[0]):
        for i in range(6):
            for c in range(J.shape[2]):
                v = 0.0
                for k in range(6):
                    v += A[p, i, k] * J[p, k, c]
                out[p, i, c] = v


@kernel
def scale_blocks(active, scale, blocks):  # type: ignore[no-untyped-def]
    """Multiply blocks (M, 24, 24) of active rows."""
    for i in range(active.shape[0]):
        if active[i] != 0.0:
            for a in range(blocks.shape[1]):
                for b in range(blocks.shape[2]):
                    blocks[i, a, b] *= scale
