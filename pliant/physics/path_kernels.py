"""Kernels of paths through via-points, straight in between: lengths, wrenches and their derivatives.

A path has K points x_i = p + R r on frames (R, p) or in the world, and K - 1 spans d_i = x_{i+1} - x_i
of length l_i. In a step from a to b a span has the direction

    n_i = (d_ia + d_ib) / (l_ia + l_ib),     n_i . (d_ib - d_ia) = l_ib - l_ia,

so that a tension T does exactly the work -T (change of length), and forces along the mean span at the
mean points keep linear and angular momentum. At one configuration, a = b, it is the unit vector. The
gradient of the potential at point i is f_i = T_{i-1} n_{i-1} - T_i n_i, in the twist of its frame
E_i^T f_i with E_i = R_i [-r^ | 1].
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel

_TINY = 1e-24
"""Square of a length, m^2, far below any; a span of no length has no direction."""


@kernel
def set_points(g, stations, rows, offsets, x, R):  # type: ignore[no-untyped-def]
    """Write points x (K, 3) and rotations R (K, 3, 3) of rows that lie on stations of g (F, 4, 4)."""
    for n in range(rows.shape[0]):
        k, at = rows[n], g[stations[n]]
        for i in range(3):
            x[k, i] = at[i, 3]
            for j in range(3):
                x[k, i] += at[i, j] * offsets[k, j]
                R[k, i, j] = at[i, j]


@kernel
def set_velocities(eta, stations, rows, offsets, R, v):  # type: ignore[no-untyped-def]
    """Write velocities v (K, 3) of points from the body twists eta (F, 6) of their stations, m/s."""
    for n in range(rows.shape[0]):
        k, twist = rows[n], eta[stations[n]]
        a, b, c = offsets[k, 0], offsets[k, 1], offsets[k, 2]
        v0 = twist[3] + twist[1] * c - twist[2] * b
        v1 = twist[4] + twist[2] * a - twist[0] * c
        v2 = twist[5] + twist[0] * b - twist[1] * a
        for i in range(3):
            v[k, i] = R[k, i, 0] * v0 + R[k, i, 1] * v1 + R[k, i, 2] * v2


@kernel
def set_spans(xa, xb, between, n, nb, lengths):  # type: ignore[no-untyped-def]
    """Write directions n (K - 1, 3) of the step and nb (K - 1, 3) at b, and lengths (3, K - 1): at a,
    at b, and their sum.

    between : False for the directions at a.
    """
    la, lb, both = lengths[0], lengths[1], lengths[2]
    for k in range(n.shape[0]):
        a2, b2 = _TINY, _TINY
        for i in range(3):
            a2 += (xa[k + 1, i] - xa[k, i]) ** 2
            b2 += (xb[k + 1, i] - xb[k, i]) ** 2
        la[k], lb[k] = math.sqrt(a2), math.sqrt(b2)
        both[k] = la[k] + lb[k]
        for i in range(3):
            a, b = xa[k + 1, i] - xa[k, i], xb[k + 1, i] - xb[k, i]
            n[k, i] = (a + b) / both[k] if between else a / la[k]
            nb[k, i] = b / lb[k]


@kernel
def set_rates(n, v, rates):  # type: ignore[no-untyped-def]
    """rates (K - 1,) of the spans from the velocities v (K, 3) of the points, m/s."""
    for k in range(n.shape[0]):
        rates[k] = 0.0
        for i in range(3):
            rates[k] += n[k, i] * (v[k + 1, i] - v[k, i])


@kernel
def spread_slope(nb, slope, dT):  # type: ignore[no-untyped-def]
    """dT (K - 1, K, 3): derivative in the points of one tension that grows by slope_0 per metre."""
    spans = nb.shape[0]
    for j in range(spans + 1):
        for i in range(3):
            c = 0.0
            if j > 0:
                c += nb[j - 1, i]
            if j < spans:
                c -= nb[j, i]
            for k in range(spans):
                dT[k, j, i] = slope[0] * c


@inner
def _forces(n, tension, i, f):  # type: ignore[no-untyped-def]
    """f (3,): gradient at point i."""
    for a in range(3):
        f[a] = 0.0
        if i > 0:
            f[a] += tension[i - 1] * n[i - 1, a]
        if i < n.shape[0]:
            f[a] -= tension[i] * n[i, a]


@inner
def _pull_back(R, r, f, scale, p):  # type: ignore[no-untyped-def]
    """p (6,) += scale (r x R^T f, R^T f)."""
    b0 = scale * (R[0, 0] * f[0] + R[1, 0] * f[1] + R[2, 0] * f[2])
    b1 = scale * (R[0, 1] * f[0] + R[1, 1] * f[1] + R[2, 1] * f[2])
    b2 = scale * (R[0, 2] * f[0] + R[1, 2] * f[1] + R[2, 2] * f[2])
    p[0] += r[1] * b2 - r[2] * b1
    p[1] += r[2] * b0 - r[0] * b2
    p[2] += r[0] * b1 - r[1] * b0
    p[3] += b0
    p[4] += b1
    p[5] += b2


@kernel
def add_wrenches(n, tension, scale, stations, rows, offsets, R, p):  # type: ignore[no-untyped-def]
    """p (F, 6) += scale E_i^T f_i at the stations of some rows."""
    f = np.empty(3)
    for m in range(rows.shape[0]):
        k = rows[m]
        _forces(n, tension, k, f)
        _pull_back(R[k], offsets[k], f, scale, p[stations[m]])


@inner
def _point_slope(n, nb, both, tension, dT, bend, i, j, H):  # type: ignore[no-untyped-def]
    """H (3, 3): derivative of the gradient at point i in point j at the end b.

    bend : 1 in a step, 2 at one configuration, 0 without the change of directions. both (K - 1,) : sum
    of the lengths at both ends. dT (K - 1, K, 3) : that of the tensions, empty if they are given.
    """
    spans = n.shape[0]
    for a in range(3):
        for b in range(3):
            H[a, b] = 0.0
    for k in (i - 1, i):
        if k < 0 or k >= spans:
            continue
        sign = 1.0 if k == i - 1 else -1.0
        if j == k or j == k + 1:
            w = bend * tension[k] / both[k] * sign * (1.0 if j == k + 1 else -1.0)
            for a in range(3):
                H[a, a] += w
                for b in range(3):
                    H[a, b] -= w * n[k, a] * nb[k, b]
        if dT.shape[0]:
            for a in range(3):
                for b in range(3):
                    H[a, b] += sign * n[k, a] * dT[k, j, b]


@inner
def _to_twists(Rl, rl, H, Rr, rr, scale, out):  # type: ignore[no-untyped-def]
    """out (6, 6) = scale El^T H Er."""
    B = np.empty((3, 6))
    for a in range(3):
        for b in range(3):
            B[a, 3 + b] = H[a, 0] * Rr[0, b] + H[a, 1] * Rr[1, b] + H[a, 2] * Rr[2, b]
        # -h r^ = (r x h)
        h0, h1, h2 = B[a, 3], B[a, 4], B[a, 5]
        B[a, 0] = rr[1] * h2 - rr[2] * h1
        B[a, 1] = rr[2] * h0 - rr[0] * h2
        B[a, 2] = rr[0] * h1 - rr[1] * h0
    for b in range(6):
        f0 = scale * (Rl[0, 0] * B[0, b] + Rl[1, 0] * B[1, b] + Rl[2, 0] * B[2, b])
        f1 = scale * (Rl[0, 1] * B[0, b] + Rl[1, 1] * B[1, b] + Rl[2, 1] * B[2, b])
        f2 = scale * (Rl[0, 2] * B[0, b] + Rl[1, 2] * B[1, b] + Rl[2, 2] * B[2, b])
        out[0, b] = rl[1] * f2 - rl[2] * f1
        out[1, b] = rl[2] * f0 - rl[0] * f2
        out[2, b] = rl[0] * f1 - rl[1] * f0
        out[3, b] = f0
        out[4, b] = f1
        out[5, b] = f2


@kernel
def add_slopes(  # type: ignore[no-untyped-def]
    n, nb, both, tension, dT, bend, turn, scale, stations, rows, offsets, Ra, Rb, k
):
    """k (F, 6, 6) += scale times the derivative of E_i^T f_i in the twist of the same point.

    turn : 1 to add that of E_i, at one configuration: with f = R^T f_i, of f.(w x (w x r) + w x v) / 2.
    """
    H, out, f = np.empty((3, 3)), np.empty((6, 6)), np.empty(3)
    for m in range(rows.shape[0]):
        i, to = rows[m], k[stations[m]]
        r = offsets[i]
        _point_slope(n, nb, both, tension, dT, bend, i, i, H)
        _to_twists(Ra[i], r, H, Rb[i], r, scale, out)
        for a in range(6):
            for b in range(6):
                to[a, b] += out[a, b]
        if turn == 0.0:
            continue
        _forces(n, tension, i, f)
        R, s = Ra[i], scale * turn
        f0 = s * (R[0, 0] * f[0] + R[1, 0] * f[1] + R[2, 0] * f[2])
        f1 = s * (R[0, 1] * f[0] + R[1, 1] * f[1] + R[2, 1] * f[2])
        f2 = s * (R[0, 2] * f[0] + R[1, 2] * f[1] + R[2, 2] * f[2])
        along = f0 * r[0] + f1 * r[1] + f2 * r[2]
        f[0], f[1], f[2] = f0, f1, f2
        for a in range(3):
            to[a, a] -= along
            for b in range(3):
                to[a, b] += 0.5 * (f[a] * r[b] + r[a] * f[b])
        # w.(v x f) / 2 twice: -1/2 f^ above the diagonal, its transpose below
        for a, b, x in ((0, 1, -f2), (0, 2, f1), (1, 2, -f0)):
            to[a, 3 + b] -= 0.5 * x
            to[b, 3 + a] += 0.5 * x
            to[3 + b, a] -= 0.5 * x
            to[3 + a, b] += 0.5 * x


@kernel
def add_cross(  # type: ignore[no-untyped-def]
    n, nb, both, tension, dT, bend, scale, pairs, offsets, Ra, Rb, cross
):
    """cross (N, 2, 6, 6) += scale times derivatives between points of different stations.

    pairs (P, 4) : points i and j, the number of their coupling, and 1 if j comes first in it.
    """
    H, out = np.empty((3, 3)), np.empty((6, 6))
    for m in range(pairs.shape[0]):
        for side in range(2):
            i, j = pairs[m, side], pairs[m, 1 - side]
            _point_slope(n, nb, both, tension, dT, bend, i, j, H)
            _to_twists(Ra[i], offsets[i], H, Rb[j], offsets[j], scale, out)
            to = cross[pairs[m, 2], side ^ pairs[m, 3]]
            for a in range(6):
                for b in range(6):
                    to[a, b] += out[a, b]


@kernel
def add_same(  # type: ignore[no-untyped-def]
    n, nb, both, tension, dT, bend, scale, pairs, offsets, Ra, Rb, k
):
    """k (F, 6, 6) += scale times derivatives between two points of one station.

    pairs (P, 3) : points i and j, and their station.
    """
    H, out = np.empty((3, 3)), np.empty((6, 6))
    for m in range(pairs.shape[0]):
        for side in range(2):
            i, j = pairs[m, side], pairs[m, 1 - side]
            _point_slope(n, nb, both, tension, dT, bend, i, j, H)
            _to_twists(Ra[i], offsets[i], H, Rb[j], offsets[j], scale, out)
            to = k[pairs[m, 2]]
            for a in range(6):
                for b in range(6):
                    to[a, b] += out[a, b]
