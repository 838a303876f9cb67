"""Frame and curvature of a section of an ANCF rod from slope and second derivative of its curve.

In the base frame, with shape functions H_k of an element and nodal vectors X_k (position and slope of
its two ends), p = sum H_k X_k, w = p' = sum H_k' X_k and z = p'' = sum H_k'' X_k. The tangent is
t = w / l, l = |w|. The section turns with the tangent and nothing else: body rotations of the section
are omega = W(w) w., hence curvatures u = W(w) z, and the stretch is l.

    in a plane  omega = (c dw_t - s dw_c) / l about the normal of the plane, (s, c) = w / l
    in space    the shortest turn of the base tangent e3 to t: with D = l (l + w_3),
                G = w.z / l + z_3,
                u_1 = -z_2 / l + w_2 G / D,  u_2 = z_1 / l - w_1 G / D,  u_3 = (w_2 z_1 - w_1 z_2) / D.

Second derivatives are those of S(w, z) = sigma.(u, l), which is linear in z but for l. A motion
w + tau w. has d(omega)/d(tau) = sum_ij d2S/(dw_i dz_j) w._i w._j, which gives the second derivative of
frames from the same expression.
`turn` is SPACE, XZ (bends about y) or YZ (bends about x).
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf

SPACE, XZ, YZ = 0, 1, 2


@leaf
def rests(turn, row):  # type: ignore[no-untyped-def]
    """True if a rod in a plane does not turn about this axis."""
    return (turn == XZ and row != 1) or (turn == YZ and row != 0)


@kernel
def orientation(turn, w, R, W):  # type: ignore[no-untyped-def]
    """Rotation R (3, 3) of a section with slope w (3,), and W (3, 3): omega = W w.; returns |w|."""
    length = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    for i in range(3):
        for j in range(3):
            R[i, j] = 0.0
            W[i, j] = 0.0
    if turn != SPACE:
        a = 0 if turn == XZ else 1
        row = 1 - a
        sign = 1.0 if turn == XZ else -1.0
        s, c = w[a] / length, w[2] / length
        R[row, row] = 1.0
        R[a, a] = c
        R[a, 2] = s
        R[2, a] = -s
        R[2, 2] = c
        W[row, a] = sign * c / length
        W[row, 2] = -sign * s / length
        return length
    a, b, c = w[0] / length, w[1] / length, w[2] / length
    n = max(1.0 + c, 1e-14)
    x, y = a / n, b / n
    R[0, 0] = 1.0 - a * x
    R[1, 0] = -b * x
    R[2, 0] = -a
    R[0, 1] = -a * y
    R[1, 1] = 1.0 - b * y
    R[2, 1] = -b
    R[0, 2] = a
    R[1, 2] = b
    R[2, 2] = c
    for j in range(3):
        W[0, j] = -R[j, 1] / length
        W[1, j] = R[j, 0] / length
    W[2, 0] = y / length
    W[2, 1] = -x / length
    return length


@kernel
def slopes(turn, w, z, s0, s1, s2, s5, gw, Hww, Hwz):  # type: ignore[no-untyped-def]
    """Derivatives of S = s0 u_1 + s1 u_2 + s2 u_3 + s5 l: gw (3,) in w, Hww and Hwz (3, 3)."""
    length = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    if turn != SPACE:
        _plane_slopes(turn, w, z, s1 if turn == XZ else -s0, length, gw, Hww, Hwz)
    else:
        _space_slopes(w, z, s0, s1, s2, length, gw, Hww, Hwz)
    k = s5 / length
    for i in range(3):
        gw[i] += k * w[i]
        Hww[i, i] += k
        for j in range(3):
            Hww[i, j] -= k * w[i] * w[j] / (length * length)


@inner
def _plane_slopes(turn, w, z, s, length, gw, Hww, Hwz):  # type: ignore[no-untyped-def]
    """`slopes` of s c / l^2 with c = w_3 z_a - w_a z_3."""
    a = 0 if turn == XZ else 1
    for i in range(3):
        gw[i] = 0.0
        for j in range(3):
            Hww[i, j] = 0.0
            Hwz[i, j] = 0.0
    q = length * length
    wa, wc, za, zc = w[a], w[2], z[a], z[2]
    c = wc * za - wa * zc
    k = s / (q * q)
    gw[a] = k * (-zc * q - 2.0 * c * wa)
    gw[2] = k * (za * q - 2.0 * c * wc)
    Hww[a, a] = k * (8.0 * c * wa * wa / q + 4.0 * wa * zc - 2.0 * c)
    Hww[2, 2] = k * (8.0 * c * wc * wc / q - 4.0 * wc * za - 2.0 * c)
    Hww[a, 2] = k * (8.0 * c * wa * wc / q - 2.0 * (wa * za - wc * zc))
    Hww[2, a] = Hww[a, 2]
    Hwz[a, a] = -2.0 * k * wa * wc
    Hwz[a, 2] = k * (2.0 * wa * wa - q)
    Hwz[2, a] = k * (q - 2.0 * wc * wc)
    Hwz[2, 2] = 2.0 * k * wc * wa


@inner
def _space_slopes(w, z, s0, s1, s2, length, gw, Hww, Hwz):  # type: ignore[no-untyped-def]
    """`slopes` of (a.z) / l + phi / D, a = (s1, -s0, 0), phi = s2 (w_2 z_1 - w_1 z_2) - (a.w) G."""
    l2 = length * length
    l3 = l2 * length
    r = w[2]
    D = max(length * (length + r), 1e-14 * l2)
    wz = w[0] * z[0] + w[1] * z[1] + w[2] * z[2]
    G = wz / length + z[2]
    a = (s1, -s0, 0.0)
    beta = s1 * w[0] - s0 * w[1]
    alpha = s1 * z[0] - s0 * z[1]
    phi = s2 * (w[1] * z[0] - w[0] * z[1]) - beta * G
    p, k, b = 2.0 + r / length, wz / l3, beta / length
    dD = (p * w[0], p * w[1], p * w[2] + length)
    dG = (z[0] / length - k * w[0], z[1] / length - k * w[1], z[2] / length - k * w[2])
    phiz = (s2 * w[1] - b * w[0], -s2 * w[0] - b * w[1], -beta - b * w[2])
    dphi = (-s2 * z[1] - G * s1 - beta * dG[0], s2 * z[0] + G * s0 - beta * dG[1], -beta * dG[2])
    for i in range(3):
        gw[i] = -alpha * w[i] / l3 + dphi[i] / D - phi * dD[i] / (D * D)
        for j in range(3):
            ww = w[i] * w[j]
            one = 1.0 if i == j else 0.0
            hD = 2.0 * one + r * (one / length - ww / l3)
            if i == 2:
                hD += w[j] / length
            if j == 2:
                hD += w[i] / length
            hG = -(z[i] * w[j] + w[i] * z[j]) / l3 - wz * (one / l3 - 3.0 * ww / (l3 * l2))
            v = alpha * (3.0 * ww / (l3 * l2) - one / l3)
            v += phi * (2.0 * dD[i] * dD[j] / D - hD) / (D * D)
            v -= (dphi[i] * dD[j] + dD[i] * dphi[j]) / (D * D)
            v -= (a[i] * dG[j] + dG[i] * a[j] + beta * hG) / D
            Hww[i, j] = v
            m = -w[i] * a[j] / l3 - dD[i] * phiz[j] / (D * D)
            m -= (a[i] * w[j] / length + beta * (one / length - ww / l3)) / D
            if j == 2:
                m -= a[i] / D
            Hwz[i, j] = m
    Hwz[1, 0] += s2 / D
    Hwz[0, 1] -= s2 / D
