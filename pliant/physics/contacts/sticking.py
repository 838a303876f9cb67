"""Coulomb friction at contact points at rest: a stiff spring between the surfaces, and a slider.

Over a load step in which the surfaces move past each other by u, tangentially and per row,

    f = f_0 + k u   where that is at most mu lambda,   else mu lambda in that direction,

f_0 the friction at the start of the step, k the stiffness with which surfaces that stick give way,
lambda the normal force at its end (return mapping). The first surface gets -f at its material point
that was in contact at the start of the step, the second one f at its own:

    u = (1 - n n^T) sum_k w_k x_k,   x_k = p_k + R_k rho_k,   rho_k = R_k0^T (x_0 - p_k0),

with normal n, point x_0 and weights w_k of the start. Within a step the derivative is exact.
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel
from pliant.physics.contacts.found import SIDES
from pliant.physics.contacts.friction import arm

_SIDES = SIDES


@kernel
def set_frictions(  # type: ignore[no-untyped-def]
    start, before, G, given, limit, stiffness, near, force, way, grip
):
    """Write frictions (M, 3), their directions (M, 3) where they slide, and their slopes (M, 2).

    start : what was found at frames `before` (P, 4, 4), the start of the step, where frictions `given`
    (M, 3) acted. limit (M,) : mu lambda at frames G, negative for rows that do not rub. near : a way,
    m, that is rounding error and makes nothing slide.
    grip (M, 2) : df = grip_0 (1 - n n^T - grip_1 d d^T) du.
    """
    rho, u = np.empty(3), np.empty(3)
    for i in range(limit.shape[0]):
        grip[i, 0] = grip[i, 1] = 0.0
        for j in range(3):
            force[i, j] = way[i, j] = u[j] = 0.0
        if limit[i] < 0.0:
            continue
        n, x0 = start.normal[i], start.point[i]
        for k in range(_SIDES):
            p = start.at[i, k]
            if p < 0:
                continue
            arm(before, p, x0, rho)
            for j in range(3):
                moved = G[p, j, 3] - x0[j]
                for a in range(3):
                    moved += G[p, j, a] * rho[a]
                u[j] += start.weight[i, k] * moved
        along = u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
        size = 0.0
        for j in range(3):
            force[i, j] = given[i, j] + stiffness[i] * (u[j] - along * n[j])
            size += force[i, j] * force[i, j]
        size = math.sqrt(size)
        grip[i, 0] = stiffness[i]
        if size > limit[i] + stiffness[i] * near:
            grip[i, 0], grip[i, 1] = stiffness[i] * limit[i] / size, 1.0
            for j in range(3):
                way[i, j] = force[i, j] / size
                force[i, j] = limit[i] * way[i, j]


@kernel
def set_pulls(start, before, G, pull, out):  # type: ignore[no-untyped-def]
    """out (M, 4, 6) = w_k (rho_k x R_k^T f, R_k^T f) of pulls f (M, 3)."""
    rho = np.empty(3)
    for i in range(pull.shape[0]):
        f = pull[i]
        for k in range(_SIDES):
            row, p = out[i, k], start.at[i, k]
            if p < 0:
                for j in range(6):
                    row[j] = 0.0
                continue
            arm(before, p, start.point[i], rho)
            for j in range(3):
                row[3 + j] = 0.0
                for a in range(3):
                    row[3 + j] += start.weight[i, k] * G[p, a, j] * f[a]
            row[0] = rho[1] * row[5] - rho[2] * row[4]
            row[1] = rho[2] * row[3] - rho[0] * row[5]
            row[2] = rho[0] * row[4] - rho[1] * row[3]


@kernel
def bend_pulls(start, before, G, force, way, grip, out):  # type: ignore[no-untyped-def]
    """out (M, 24, 24) = derivative of `set_pulls` at constant normal forces, in the charts g exp(x)."""
    rho, b, V, T = np.empty(3), np.empty(3), np.zeros((3, 24)), np.empty((3, 3))
    for i in range(grip.shape[0]):
        for r in range(24):
            for c in range(24):
                out[i, r, c] = 0.0
        if grip[i, 0] == 0.0:
            continue
        n, d = start.normal[i], way[i]
        for a in range(3):
            for c in range(3):
                unit = 1.0 if a == c else 0.0
                T[a, c] = grip[i, 0] * (unit - n[a] * n[c] - grip[i, 1] * d[a] * d[c])
        for k in range(_SIDES):
            p, at = start.at[i, k], 6 * k
            for a in range(3):
                for c in range(6):
                    V[a, at + c] = 0.0
            if p < 0:
                continue
            arm(before, p, start.point[i], rho)
            w = start.weight[i, k]
            for a in range(3):
                r0, r1, r2 = w * G[p, a, 0], w * G[p, a, 1], w * G[p, a, 2]
                V[a, at] = r2 * rho[1] - r1 * rho[2]
                V[a, at + 1] = r0 * rho[2] - r2 * rho[0]
                V[a, at + 2] = r1 * rho[0] - r0 * rho[1]
                V[a, at + 3], V[a, at + 4], V[a, at + 5] = r0, r1, r2
                b[a] = 0.0
                for c in range(3):
                    b[a] += w * G[p, c, a] * force[i, c]
            _add_dead(rho, b, at, out[i])
        for c in range(24):
            t0 = T[0, 0] * V[0, c] + T[0, 1] * V[1, c] + T[0, 2] * V[2, c]
            t1 = T[1, 0] * V[0, c] + T[1, 1] * V[1, c] + T[1, 2] * V[2, c]
            t2 = T[2, 0] * V[0, c] + T[2, 1] * V[1, c] + T[2, 2] * V[2, c]
            for r in range(24):
                out[i, r, c] += V[0, r] * t0 + V[1, r] * t1 + V[2, r] * t2


@inner
def _add_dead(rho, b, at, out):  # type: ignore[no-untyped-def]
    """Add the second derivative of b . R^T (p + R rho), a dead force in body axes at rho."""
    along = rho[0] * b[0] + rho[1] * b[1] + rho[2] * b[2]
    for r in range(3):
        for c in range(3):
            out[at + r, at + c] += 0.5 * (b[r] * rho[c] + rho[r] * b[c])
        out[at + r, at + r] -= along
    for r, c, v in ((0, 1, -b[2]), (0, 2, b[1]), (1, 2, -b[0])):
        out[at + 3 + r, at + c] += 0.5 * v
        out[at + 3 + c, at + r] -= 0.5 * v
        out[at + c, at + 3 + r] += 0.5 * v
        out[at + r, at + 3 + c] -= 0.5 * v


@kernel
def set_limits(mu, force, rubs, out):  # type: ignore[no-untyped-def]
    """out (M,) = mu force where the surfaces touched at the start of the step, else -1."""
    for i in range(force.shape[0]):
        out[i] = mu * max(force[i], 0.0) if rubs[i] != 0.0 else -1.0


@kernel
def turn_frictions(normal, given):  # type: ignore[no-untyped-def]
    """Turn frictions (M, 3) into the planes with normals (M, 3); their sizes stay."""
    for i in range(given.shape[0]):
        f, n = given[i], normal[i]
        before = math.sqrt(f[0] ** 2 + f[1] ** 2 + f[2] ** 2)
        along = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
        for j in range(3):
            f[j] -= along * n[j]
        after = math.sqrt(f[0] ** 2 + f[1] ** 2 + f[2] ** 2)
        for j in range(3):
            f[j] *= before / after if after > 0.0 else 0.0
