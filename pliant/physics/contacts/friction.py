"""Coulomb friction at contact points, regularised by a creep velocity.

The surfaces meet at a point x that moves with station k as v_k = R_k (v + w x rho), where rho is
R_k^T (x - p_k). With the relative velocity v = sum of weight_k v_k, its tangential part v_t and the
normal force lambda, the force on the first surface is

    F = -mu lambda tau,   tau = v_t / sqrt(v_t . v_t + c^2),

c the creep velocity: surfaces that would stick creep at a speed of the order of c, and F never exceeds
mu lambda. Its power mu lambda tau . v_t >= 0 is dissipated.
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel
from pliant.physics.contacts.found import SIDES

_SIDES = SIDES
_NEAR = 0.3
"""Change of a slip, relative to it, between iterates that are near each other."""


@inner
def arm(G, p, point, rho):  # type: ignore[no-untyped-def]
    """rho (3,) = R^T (x - p) of station p."""
    for j in range(3):
        rho[j] = 0.0
        for a in range(3):
            rho[j] += G[p, a, j] * (point[a] - G[p, a, 3])


@inner
def _slip(found, i, G, eta, speed, rho, v):  # type: ignore[no-untyped-def]
    """Write the tangential relative velocity v (3,) at row i, twists eta (P, 6) times speed."""
    for j in range(3):
        v[j] = 0.0
    for k in range(_SIDES):
        p = found.at[i, k]
        if p >= 0:
            arm(G, p, found.point[i], rho)
            e = eta[p]
            b0 = e[3] + e[1] * rho[2] - e[2] * rho[1]
            b1 = e[4] + e[2] * rho[0] - e[0] * rho[2]
            b2 = e[5] + e[0] * rho[1] - e[1] * rho[0]
            w = speed * found.weight[i, k]
            for j in range(3):
                v[j] += w * (G[p, j, 0] * b0 + G[p, j, 1] * b1 + G[p, j, 2] * b2)
    n = found.normal[i]
    along = n[0] * v[0] + n[1] * v[1] + n[2] * v[2]
    for j in range(3):
        v[j] -= along * n[j]


@kernel
def set_slip(found, G, eta, speed, creep, active, slip, tau):  # type: ignore[no-untyped-def]
    """slip and tau (M, 3) of active rows at frames G (P, 4, 4) with twists eta (P, 6) times speed."""
    rho = np.empty(3)
    for i in range(found.gap.shape[0]):
        if active[i] != 0.0:
            _slip(found, i, G, eta, speed, rho, slip[i])
    set_directions(slip, creep, active, tau)


@kernel
def set_directions(slip, creep, active, tau):  # type: ignore[no-untyped-def]
    """tau (M, 3) of active rows that slip (M, 3)."""
    for i in range(slip.shape[0]):
        if active[i] != 0.0:
            s = slip[i]
            size = math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + creep * creep)
            for j in range(3):
                tau[i, j] = s[j] / size


@kernel
def judge_slip(slip, creep, active, notes, trust):  # type: ignore[no-untyped-def]
    """trust (M,) : 1 where the slip (M, 3) is near that of the iterate before, else 0.

    notes (2, M, 3) : the slips of this iterate and of the one before.
    """
    for i in range(slip.shape[0]):
        if active[i] == 0.0:
            continue
        new, change, size = False, 0.0, creep
        for j in range(3):
            new = new or slip[i, j] != notes[0, i, j]
            size = max(size, abs(slip[i, j]))
        for j in range(3):
            if new:
                notes[1, i, j] = notes[0, i, j]
                notes[0, i, j] = slip[i, j]
            change = max(change, abs(slip[i, j] - notes[1, i, j]))
        trust[i] = 1.0 if change < _NEAR * size else 0.0


@kernel
def set_rubbing(found, G, tau, active, out):  # type: ignore[no-untyped-def]
    """out (M, 4, 6) : weight_k (rho x R^T tau, R^T tau), minus the wrenches for mu lambda = 1."""
    rho = np.empty(3)
    for i in range(found.gap.shape[0]):
        if active[i] == 0.0:
            continue
        for k in range(_SIDES):
            p = found.at[i, k]
            if p < 0:
                continue
            arm(G, p, found.point[i], rho)
            w, t = found.weight[i, k], tau[i]
            f0 = w * (G[p, 0, 0] * t[0] + G[p, 1, 0] * t[1] + G[p, 2, 0] * t[2])
            f1 = w * (G[p, 0, 1] * t[0] + G[p, 1, 1] * t[1] + G[p, 2, 1] * t[2])
            f2 = w * (G[p, 0, 2] * t[0] + G[p, 1, 2] * t[1] + G[p, 2, 2] * t[2])
            row = out[i, k]
            row[0] = rho[1] * f2 - rho[2] * f1
            row[1] = rho[2] * f0 - rho[0] * f2
            row[2] = rho[0] * f1 - rho[1] * f0
            row[3], row[4], row[5] = f0, f1, f2


@kernel
def bend_rubbing(found, G, slip, creep, trust, factor, out):  # type: ignore[no-untyped-def]
    """out (M, 24, 24) += factor_i times the derivative of `set_rubbing` in the twists.

    Without trust (M,) that of v_t at constant size: Newton's method would jump from one sliding
    direction to the other and back where a contact begins to stick.
    """
    rho, V, T = np.empty(3), np.zeros((3, 24)), np.empty((3, 3))
    for i in range(found.gap.shape[0]):
        if factor[i] == 0.0:
            continue
        n, s = found.normal[i], slip[i]
        size = math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + creep * creep)
        for a in range(3):
            for b in range(3):
                unit = 1.0 if a == b else 0.0
                T[a, b] = factor[i] * (unit - n[a] * n[b] - trust[i] * s[a] * s[b] / size**2) / size
        for k in range(_SIDES):
            p = found.at[i, k]
            for a in range(3):
                for c in range(6):
                    V[a, 6 * k + c] = 0.0
            if p < 0:
                continue
            arm(G, p, found.point[i], rho)
            w = found.weight[i, k]
            for a in range(3):
                r0, r1, r2 = w * G[p, a, 0], w * G[p, a, 1], w * G[p, a, 2]
                # R (w x rho) = -R rho^ w
                V[a, 6 * k] = r2 * rho[1] - r1 * rho[2]
                V[a, 6 * k + 1] = r0 * rho[2] - r2 * rho[0]
                V[a, 6 * k + 2] = r1 * rho[0] - r0 * rho[1]
                V[a, 6 * k + 3], V[a, 6 * k + 4], V[a, 6 * k + 5] = r0, r1, r2
        for c in range(24):
            t0 = T[0, 0] * V[0, c] + T[0, 1] * V[1, c] + T[0, 2] * V[2, c]
            t1 = T[1, 0] * V[0, c] + T[1, 1] * V[1, c] + T[1, 2] * V[2, c]
            t2 = T[2, 0] * V[0, c] + T[2, 1] * V[1, c] + T[2, 2] * V[2, c]
            for r in range(24):
                out[i, r, c] += V[0, r] * t0 + V[1, r] * t1 + V[2, r] * t2


@kernel
def add_rubbing_loss(slip, tau, force, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale sum of force_i tau_i . slip_i."""
    for i in range(force.shape[0]):
        if force[i] != 0.0:
            v = tau[i, 0] * slip[i, 0] + tau[i, 1] * slip[i, 1] + tau[i, 2] * slip[i, 2]
            out[0] += scale * force[i] * v
