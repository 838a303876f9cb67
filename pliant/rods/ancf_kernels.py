"""Kernels of the ANCF rod: frames and strains at stations, with first and second derivatives.

H, dH and ddH (S, 4) are the shape functions of an element and their derivatives; `ancf_section` has
the section on the curve. Element variables are y = (base twist, node a: position and slope, node b:
position and slope), `axes` (d,) the components of vectors that move, `turn` the kind of rod.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.rods.ancf_section import orientation, rests, slopes


@kernel
def _curve(nodes, e, values, d, axes, out):  # type: ignore[no-untyped-def]
    """out (3,) = sum_k values_k X_k of element e, nodes (N + 1, 2 d)."""
    for i in range(3):
        out[i] = 0.0
    for i in range(d):
        a = nodes[e, i] * values[0] + nodes[e, d + i] * values[1]
        out[axes[i]] = a + nodes[e + 1, i] * values[2] + nodes[e + 1, d + i] * values[3]


@kernel
def evaluate(  # type: ignore[no-untyped-def]
    turn, axes, element, H, dH, ddH, nodes, base, frames, strains, g, J, e, B
):
    """Write g (S, 4, 4) and J (S, 6, m) if `frames`, e (S, 6) and B (S, 6, m) if `strains`."""
    d = axes.shape[0]
    p = np.empty(3)
    w = np.empty(3)
    z = np.empty(3)
    R = np.empty((3, 3))
    W = np.empty((3, 3))
    gw = np.empty(3)
    Hww = np.empty((3, 3))
    Hwz = np.empty((3, 3))
    unit = np.eye(3)
    for s in range(element.shape[0]):
        _curve(nodes, element[s], dH[s], d, axes, w)
        length = orientation(turn, w, R, W)
        if frames:
            _curve(nodes, element[s], H[s], d, axes, p)
            _write_frame(axes, H[s], dH[s], base, p, R, W, g[s], J[s])
        if strains:
            _curve(nodes, element[s], ddH[s], d, axes, z)
            for r in range(3):
                e[s, r] = W[r, 0] * z[0] + W[r, 1] * z[1] + W[r, 2] * z[2]
                e[s, 3 + r] = 0.0
                if rests(turn, r):
                    continue
                slopes(turn, w, z, unit[r, 0], unit[r, 1], unit[r, 2], 0.0, gw, Hww, Hwz)
                for k in range(4):
                    for i in range(d):
                        at = 6 + k * d + i
                        B[s, r, at] = gw[axes[i]] * dH[s, k] + W[r, axes[i]] * ddH[s, k]
            e[s, 5] = length
            for k in range(4):
                for i in range(d):
                    B[s, 5, 6 + k * d + i] = w[axes[i]] / length * dH[s, k]


@kernel
def _write_frame(axes, H, dH, base, p, R, W, g, J):  # type: ignore[no-untyped-def]
    """World pose g (4, 4) of the section (R, p) of the base frame, and its derivative J (6, m)."""
    d = axes.shape[0]
    for i in range(3):
        g[i, 3] = base[i, 3] + base[i, 0] * p[0] + base[i, 1] * p[1] + base[i, 2] * p[2]
        for j in range(3):
            v = 0.0
            for a in range(3):
                v += base[i, a] * R[a, j]
            g[i, j] = v
    for a in range(3):
        for b in range(3):
            J[a, b] = R[b, a]
            J[3 + a, 3 + b] = R[b, a]
            J[a, 3 + b] = 0.0
        # row a of -R^T p^
        J[3 + a, 0] = R[2, a] * p[1] - R[1, a] * p[2]
        J[3 + a, 1] = R[0, a] * p[2] - R[2, a] * p[0]
        J[3 + a, 2] = R[1, a] * p[0] - R[0, a] * p[1]
        for k in range(4):
            for i in range(d):
                J[a, 6 + k * d + i] = W[a, axes[i]] * dH[k]
                J[3 + a, 6 + k * d + i] = R[axes[i], a] * H[k]


@kernel
def add_strain_second(turn, axes, element, dH, ddH, nodes, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum_s sigma_s.e_s, sigma (S, 6)."""
    d = axes.shape[0]
    w = np.empty(3)
    z = np.empty(3)
    gw = np.empty(3)
    Hww = np.empty((3, 3))
    Hwz = np.empty((3, 3))
    for s in range(element.shape[0]):
        el = element[s]
        _curve(nodes, el, dH[s], d, axes, w)
        _curve(nodes, el, ddH[s], d, axes, z)
        t = sigma[s]
        slopes(turn, w, z, t[0], t[1], t[2], t[5], gw, Hww, Hwz)
        for k in range(4):
            for n in range(4):
                for i in range(d):
                    for j in range(d):
                        a, b = axes[i], axes[j]
                        v = dH[s, k] * (dH[s, n] * Hww[a, b] + ddH[s, n] * Hwz[a, b])
                        v += ddH[s, k] * dH[s, n] * Hwz[b, a]
                        K[el, 6 + k * d + i, 6 + n * d + j] += v


@kernel
def add_frame_second(turn, axes, element, dH, nodes, J, f, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum_s f_s.log(g_s^-1 g_s(x)), f (S, 6) = (m, n).

    With omega, v the body twist of a variation of the nodes and A x the one of the base twist x:
    m.d(omega)/d(tau) + n.(v x omega) + f.[A x, (omega, v)].
    """
    d = axes.shape[0]
    size = J.shape[2]
    w = np.empty(3)
    z = np.zeros(3)
    gw = np.empty(3)
    Hww = np.empty((3, 3))
    Hwz = np.empty((3, 3))
    for s in range(element.shape[0]):
        el = element[s]
        m0, m1, m2, n0, n1, n2 = f[s, 0], f[s, 1], f[s, 2], f[s, 3], f[s, 4], f[s, 5]
        if m0 != 0.0 or m1 != 0.0 or m2 != 0.0:
            _curve(nodes, el, dH[s], d, axes, w)
            slopes(turn, w, z, m0, m1, m2, 0.0, gw, Hww, Hwz)
            for k in range(4):
                for n in range(4):
                    for i in range(d):
                        for j in range(d):
                            v = 0.5 * (Hwz[axes[i], axes[j]] + Hwz[axes[j], axes[i]])
                            K[el, 6 + k * d + i, 6 + n * d + j] += dH[s, k] * dH[s, n] * v
        T = J[s]
        for b in range(6, size):
            o0, o1, o2 = T[0, b], T[1, b], T[2, b]
            v0, v1, v2 = T[3, b], T[4, b], T[5, b]
            # n x v, omega x m + v x n, omega x n
            c0, c1, c2 = n1 * v2 - n2 * v1, n2 * v0 - n0 * v2, n0 * v1 - n1 * v0
            a0, a1, a2 = o1 * m2 - o2 * m1 - c0, o2 * m0 - o0 * m2 - c1, o0 * m1 - o1 * m0 - c2
            b0, b1, b2 = o1 * n2 - o2 * n1, o2 * n0 - o0 * n2, o0 * n1 - o1 * n0
            for a in range(6, size):
                v = 0.5 * (T[0, a] * c0 + T[1, a] * c1 + T[2, a] * c2)
                K[el, a, b] += v
                K[el, b, a] += v
            for a in range(6):
                v = 0.5 * (T[0, a] * a0 + T[1, a] * a1 + T[2, a] * a2)
                v += 0.5 * (T[3, a] * b0 + T[4, a] * b1 + T[5, a] * b2)
                K[el, a, b] += v
                K[el, b, a] += v


@kernel
def frame_bias(turn, axes, element, dH, nodes, J, ydot, bias):  # type: ignore[no-untyped-def]
    """Write bias (S, 6): body acceleration of the stations when y moves at the rate ydot (E, m)."""
    d = axes.shape[0]
    size = J.shape[2]
    w = np.empty(3)
    z = np.zeros(3)
    gw = np.empty(3)
    Hww = np.empty((3, 3))
    Hwz = np.empty((3, 3))
    a = np.empty(6)
    b = np.empty(6)
    rate = np.empty(3)
    unit = np.eye(3)
    for s in range(element.shape[0]):
        el = element[s]
        _curve(nodes, el, dH[s], d, axes, w)
        for i in range(3):
            rate[i] = 0.0
        for k in range(4):
            for i in range(d):
                rate[axes[i]] += dH[s, k] * ydot[el, 6 + k * d + i]
        for i in range(6):
            a[i] = 0.0
            b[i] = 0.0
            for j in range(6):
                a[i] += J[s, i, j] * ydot[el, j]
            for j in range(6, size):
                b[i] += J[s, i, j] * ydot[el, j]
        for r in range(3):
            bias[s, r] = 0.0
            if rests(turn, r):
                continue
            slopes(turn, w, z, unit[r, 0], unit[r, 1], unit[r, 2], 0.0, gw, Hww, Hwz)
            v = 0.0
            for i in range(3):
                for j in range(3):
                    v += rate[i] * Hwz[i, j] * rate[j]
            bias[s, r] = v
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            bias[s, i] += a[j] * b[k] - a[k] * b[j]
            v = a[j] * b[3 + k] - a[k] * b[3 + j] + a[3 + j] * b[k] - a[3 + k] * b[j]
            bias[s, 3 + i] = v - (b[j] * b[3 + k] - b[k] * b[3 + j])
