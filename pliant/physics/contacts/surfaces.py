"""Balls against planes, spheres and cylinders: gap, slopes and second derivatives.

A ball of radius r has its centre x at a station, an obstacle is fixed in the world or to a station
(R_o, p_o). With y = R_o^T (x - p_o) and the signed distance d(y) of the obstacle, n = grad d,

    phi = r - d(y),   y' = Q v - v_o - w_o x y,   Q = R_o^T R,

for body twists (w, v) of the ball and (w_o, v_o) of the obstacle. Second derivatives are those along
the charts g exp(x) of both, H = grad grad d:

    phi'' = -y'.H y' + 2 n.(w_o x Q v) - n.Q (w x v) - n.(w_o x (v_o + w_o x y)).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie.leaves import add_hat
from pliant.rods.contract import Array, Ints

PLANE, SPHERE, CYLINDER = range(3)


class Balls(NamedTuple):
    """M balls, each against one obstacle.

    ball, obstacle (M,) : stations of the pool, -1 for an obstacle in the world.  radius (M,) : of the
    ball.  kind (M,) : of the obstacle; origin, axis (M, 3) : in its frame, a point of it and its normal
    or axis, of length one; size (M,) : its radius.  side (M,) : -1 for balls inside of it, else 1.
    """

    ball: Ints
    obstacle: Ints
    radius: Array
    kind: Ints
    origin: Array
    axis: Array
    size: Array
    side: Array


@inner
def _place(balls, i, G, y, n):  # type: ignore[no-untyped-def]
    """Write y (3,) and n (3,) of row i in the frame of the obstacle; returns d and the distance from
    the centre or axis, zero for planes.
    """
    b, o = balls.ball[i], balls.obstacle[i]
    for j in range(3):
        y[j] = G[b, j, 3]
    if o >= 0:
        x0, x1, x2 = y[0] - G[o, 0, 3], y[1] - G[o, 1, 3], y[2] - G[o, 2, 3]
        for j in range(3):
            y[j] = G[o, 0, j] * x0 + G[o, 1, j] * x1 + G[o, 2, j] * x2
    a, c, side = balls.axis[i], balls.origin[i], balls.side[i]
    along = 0.0
    for j in range(3):
        n[j] = y[j] - c[j]
        along += a[j] * n[j]
    if balls.kind[i] == PLANE:
        for j in range(3):
            n[j] = a[j]
        return along, 0.0
    if balls.kind[i] == CYLINDER:
        for j in range(3):
            n[j] -= along * a[j]
    far = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    for j in range(3):
        n[j] = side * n[j] / far if far > 0.0 else 0.0
    return side * (far - balls.size[i]), far


@kernel
def find_balls(balls, G, found):  # type: ignore[no-untyped-def]
    """Fill the rows of balls at frames G (P, 4, 4)."""
    y, n = np.empty(3), np.empty(3)
    for i in range(balls.ball.shape[0]):
        b, o = balls.ball[i], balls.obstacle[i]
        d, _ = _place(balls, i, G, y, n)
        found.gap[i] = balls.radius[i] - d
        found.at[i, 0], found.at[i, 1] = b, o
        found.weight[i, 0], found.weight[i, 1] = 1.0, -1.0
        for j in range(3):
            v = n[j]
            if o >= 0:
                v = G[o, j, 0] * n[0] + G[o, j, 1] * n[1] + G[o, j, 2] * n[2]
            found.normal[i, j] = v
            # in the middle of the overlap
            found.point[i, j] = G[b, j, 3] - 0.5 * (balls.radius[i] + d) * v
        m, slopes = found.normal[i], found.slopes[i]
        for j in range(3):
            slopes[0, 3 + j] = -(G[b, 0, j] * m[0] + G[b, 1, j] * m[1] + G[b, 2, j] * m[2])
            slopes[1, 3 + j] = n[j]
        slopes[1, 0] = y[1] * n[2] - y[2] * n[1]
        slopes[1, 1] = y[2] * n[0] - y[0] * n[2]
        slopes[1, 2] = y[0] * n[1] - y[1] * n[0]


@kernel
def bend_balls(balls, G, force, out):  # type: ignore[no-untyped-def]
    """out (M, 24, 24) = force (M,) times the second derivatives of phi, where there is a force."""
    y, n, H = np.empty(3), np.empty(3), np.empty((3, 3))
    L, Q, HL, m = np.zeros((3, 12)), np.empty((3, 3)), np.empty((3, 12)), np.empty(3)
    for i in range(balls.ball.shape[0]):
        if force[i] == 0.0:
            continue
        _, far = _place(balls, i, G, y, n)
        b, o, a = balls.ball[i], balls.obstacle[i], balls.axis[i]
        for j in range(3):
            for k in range(3):
                Q[j, k] = G[b, j, k]
                if o >= 0:
                    Q[j, k] = G[o, 0, j] * G[b, 0, k] + G[o, 1, j] * G[b, 1, k]
                    Q[j, k] += G[o, 2, j] * G[b, 2, k]
                L[j, 3 + k] = Q[j, k]
                L[j, 6 + k] = 0.0
                L[j, 9 + k] = -1.0 if j == k else 0.0
                H[j, k] = 0.0
                if far > 0.0:
                    flat = a[j] * a[k] if balls.kind[i] == CYLINDER else 0.0
                    unit = 1.0 if j == k else 0.0
                    H[j, k] = balls.side[i] * (unit - n[j] * n[k] - flat) / far
        add_hat(L, 0, 6, y[0], y[1], y[2], 1.0)
        B = out[i]
        for j in range(3):
            for c in range(12):
                HL[j, c] = H[j, 0] * L[0, c] + H[j, 1] * L[1, c] + H[j, 2] * L[2, c]
        for r in range(12):
            for c in range(12):
                B[r, c] = -(L[0, r] * HL[0, c] + L[1, r] * HL[1, c] + L[2, r] * HL[2, c])
        dot = n[0] * y[0] + n[1] * y[1] + n[2] * y[2]
        for j in range(3):
            m[j] = Q[0, j] * n[0] + Q[1, j] * n[1] + Q[2, j] * n[2]
        for row, x in ((0, m), (6, n)):
            add_hat(B, row, row + 3, x[0], x[1], x[2], 0.5)
            add_hat(B, row + 3, row, x[0], x[1], x[2], -0.5)
        for j in range(3):
            B[6 + j, 6 + j] += dot
            for k in range(3):
                B[6 + j, 6 + k] -= 0.5 * (n[j] * y[k] + y[j] * n[k])
        for k in range(3):
            for j in range(3):
                j1, j2 = (j + 1) % 3, (j + 2) % 3
                v = n[j2] * Q[j1, k] - n[j1] * Q[j2, k]
                B[6 + j, 3 + k] += v
                B[3 + k, 6 + j] += v
        for r in range(12):
            for c in range(12):
                B[r, c] *= force[i]
