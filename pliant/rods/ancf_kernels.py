"""Kernels of the ANCF rod: frames and strains at stations, with first and second derivatives.

H, dH and ddH (S, 4) are the shape functions of an element and their derivatives; `ancf_section` has
the section on the curve. Element variables are y = (base twist, node a: position and slope, node b:
position and slope), `axes` (d,) the components of vectors that move, `turn` the kind of rod.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.rods.ancf_section import SPACE, XZ, orientation, rests, slopes


@kernel
def _curve(nodes, e, values, d, axes, out):  # type: ignore[no-untyped-def]
    """out (3,) = sum_k values_k X_k of element e, nodes (N + 1, 2 d)."""
    for i in range(3):
        out[i] = 0.0
    for i in range(d):
        a = nodes[e, i] * values[0] + nodes[e, d + i] * values[1]
        out[axes[i]] = a + nodes[e + 1, i] * values[2] + nodes[e + 1, d + i] * values[3]


@leaf
def _vectors(workspace):  # type: ignore[no-untyped-def]
    """Three vectors (3,) and two matrices (3, 3) in the workspace of a plan (6, 3, 3)."""
    return workspace[0, 0], workspace[0, 1], workspace[0, 2], workspace[1], workspace[2]


@kernel
def place_sections(turn, axes, element, H, dH, nodes, base, workspace, g, J):  # type: ignore[no-untyped-def]
    """World poses g (S, 4, 4) of sections and their derivatives J (S, 6, m)."""
    d = axes.shape[0]
    p, w, _, R, W = _vectors(workspace)
    for s in range(element.shape[0]):
        _curve(nodes, element[s], dH[s], d, axes, w)
        orientation(turn, w, R, W)
        _curve(nodes, element[s], H[s], d, axes, p)
        _write_frame(axes, H[s], dH[s], base, p, R, W, g[s], J[s])


@kernel
def place_centres(axes, element, H, nodes, base, grounded, workspace, g, J):  # type: ignore[no-untyped-def]
    """World poses g (S, 4, 4) of centres with the axes of the base, and their derivatives J (S, 6, m),
    those in the base twist unless the base is `grounded`.

    The twist of such a frame is (w, v + w x p + p.) for a base twist (w, v): J is constant but for p.
    """
    d = axes.shape[0]
    p = workspace[0, 0]
    for s in range(element.shape[0]):
        _curve(nodes, element[s], H[s], d, axes, p)
        for i in range(3):
            for j in range(3):
                g[s, i, j] = base[i, j]
            g[s, i, 3] = base[i, 3] + base[i, 0] * p[0] + base[i, 1] * p[1] + base[i, 2] * p[2]
        if grounded:
            continue
        J[s, 3, 1], J[s, 4, 2], J[s, 5, 0] = p[2], p[0], p[1]
        J[s, 3, 2], J[s, 4, 0], J[s, 5, 1] = -p[1], -p[2], -p[0]


@kernel
def place_plane_strains(turn, element, dH, ddH, nodes, e, B):  # type: ignore[no-untyped-def]
    """Strains e (S, 6) and derivatives B (S, 6, m) of a rod in a plane: curvature and stretch."""
    sign, row = (1.0, 1) if turn == XZ else (-1.0, 0)
    for s in range(element.shape[0]):
        a, b = nodes[element[s]], nodes[element[s] + 1]
        H0, H1, H2, H3 = dH[s, 0], dH[s, 1], dH[s, 2], dH[s, 3]
        wa = H0 * a[0] + H1 * a[2] + H2 * b[0] + H3 * b[2]
        wc = H0 * a[1] + H1 * a[3] + H2 * b[1] + H3 * b[3]
        H0, H1, H2, H3 = ddH[s, 0], ddH[s, 1], ddH[s, 2], ddH[s, 3]
        za = H0 * a[0] + H1 * a[2] + H2 * b[0] + H3 * b[2]
        zc = H0 * a[1] + H1 * a[3] + H2 * b[1] + H3 * b[3]
        square = wa * wa + wc * wc
        length = np.sqrt(square)
        c = (wc * za - wa * zc) / square
        e[s, row] = sign * c
        e[s, 5] = length
        k = sign / square
        ga, gc = k * (-zc - 2.0 * c * wa), k * (za - 2.0 * c * wc)
        ha, hc = k * wc, k * wa
        ta, tc = wa / length, wc / length
        bend, stretch = B[s, row], B[s, 5]
        for n in range(4):
            f, h = dH[s, n], ddH[s, n]
            bend[6 + 2 * n] = ga * f + ha * h
            bend[7 + 2 * n] = gc * f - hc * h
            stretch[6 + 2 * n] = ta * f
            stretch[7 + 2 * n] = tc * f


@kernel
def place_space_strains(axes, element, dH, ddH, nodes, workspace, e, B):  # type: ignore[no-untyped-def]
    """Strains e (S, 6) and derivatives B (S, 6, m) of a cable in space: curvatures and stretch."""
    w, z, gw, R, W = _vectors(workspace)
    Hww, Hwz = workspace[3], workspace[4]
    for s in range(element.shape[0]):
        _curve(nodes, element[s], dH[s], 3, axes, w)
        _curve(nodes, element[s], ddH[s], 3, axes, z)
        length = orientation(SPACE, w, R, W)
        e[s, 5] = length
        for r in range(3):
            e[s, r] = W[r, 0] * z[0] + W[r, 1] * z[1] + W[r, 2] * z[2]
            slopes(SPACE, w, z, 1.0 * (r == 0), 1.0 * (r == 1), 1.0 * (r == 2), 0.0, gw, Hww, Hwz)
            for k in range(4):
                for i in range(3):
                    B[s, r, 6 + 3 * k + i] = gw[i] * dH[s, k] + W[r, i] * ddH[s, k]
        for k in range(4):
            for i in range(3):
                B[s, 5, 6 + 3 * k + i] = w[i] / length * dH[s, k]


@inner
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
def add_plane_second(turn, element, dH, ddH, nodes, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum_s sigma_s.e_s of a rod in a plane, sigma (S, 6).

    Of sigma c / l^2 + tau l with c = w_3 z_a - w_a z_3, see `ancf_section`.
    """
    sign, bending = (1.0, 1) if turn == XZ else (-1.0, 0)
    for s in range(element.shape[0]):
        a, b, H, D = nodes[element[s]], nodes[element[s] + 1], dH[s], ddH[s]
        wa = H[0] * a[0] + H[1] * a[2] + H[2] * b[0] + H[3] * b[2]
        wc = H[0] * a[1] + H[1] * a[3] + H[2] * b[1] + H[3] * b[3]
        za = D[0] * a[0] + D[1] * a[2] + D[2] * b[0] + D[3] * b[2]
        zc = D[0] * a[1] + D[1] * a[3] + D[2] * b[1] + D[3] * b[3]
        q = wa * wa + wc * wc
        c = wc * za - wa * zc
        k = sign * sigma[s, bending] / (q * q)
        t = sigma[s, 5] / np.sqrt(q)
        aa = k * (8.0 * c * wa * wa / q + 4.0 * wa * zc - 2.0 * c) + t * (1.0 - wa * wa / q)
        cc = k * (8.0 * c * wc * wc / q - 4.0 * wc * za - 2.0 * c) + t * (1.0 - wc * wc / q)
        ac = k * (8.0 * c * wa * wc / q - 2.0 * (wa * za - wc * zc)) - t * wa * wc / q
        both, turns, back = 2.0 * k * wa * wc, k * (2.0 * wa * wa - q), k * (q - 2.0 * wc * wc)
        block = K[element[s]]
        for i in range(4):
            f, g = H[i], D[i]
            p, u = f * aa - g * both, f * ac + g * back
            v, w = f * ac + g * turns, f * cc + g * both
            p2, u2, v2, w2 = -f * both, f * turns, f * back, f * both
            first, second = block[6 + 2 * i], block[7 + 2 * i]
            for n in range(4):
                first[6 + 2 * n] += p * H[n] + p2 * D[n]
                first[7 + 2 * n] += u * H[n] + u2 * D[n]
                second[6 + 2 * n] += v * H[n] + v2 * D[n]
                second[7 + 2 * n] += w * H[n] + w2 * D[n]


@kernel
def add_space_second(axes, element, dH, ddH, nodes, workspace, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum_s sigma_s.e_s of a cable, sigma (S, 6)."""
    w, z, gw, Hww, Hwz = _vectors(workspace)
    for s in range(element.shape[0]):
        el = element[s]
        _curve(nodes, el, dH[s], 3, axes, w)
        _curve(nodes, el, ddH[s], 3, axes, z)
        t = sigma[s]
        slopes(SPACE, w, z, t[0], t[1], t[2], t[5], gw, Hww, Hwz)
        for i in range(3):
            for j in range(3):
                for k in range(4):
                    f = dH[s, k] * Hww[i, j] + ddH[s, k] * Hwz[j, i]
                    h = dH[s, k] * Hwz[i, j]
                    row = K[el, 6 + 3 * k + i]
                    for n in range(4):
                        row[6 + 3 * n + j] += f * dH[s, n] + h * ddH[s, n]


@kernel
def add_centre_second(axes, element, H, f, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum_s f_s.log(g_s^-1 g_s(x)) of frames at centres.

    f (S, 6) = (m, n). It is n.(w x p.) for a base twist (w, v) and a variation p. of the centre.
    """
    d = axes.shape[0]
    for s in range(element.shape[0]):
        block = K[element[s]]
        for i in range(d):
            b, c = (axes[i] + 1) % 3, (axes[i] + 2) % 3
            for k in range(4):
                # e_i x n has the components n_b at c and -n_c at b
                at, h = 6 + k * d + i, 0.5 * H[s, k]
                block[c, at] += h * f[s, 3 + b]
                block[at, c] += h * f[s, 3 + b]
                block[b, at] -= h * f[s, 3 + c]
                block[at, b] -= h * f[s, 3 + c]


@kernel
def set_centre_values(axes, element, H, y, out):  # type: ignore[no-untyped-def]
    """out_s (S, 6) = (0, sum_k H_k y_k): twists of centres when y (E, m) moves the nodes alone."""
    d = axes.shape[0]
    for s in range(element.shape[0]):
        x, h = y[element[s]], H[s]
        for i in range(d):
            v = h[0] * x[6 + i] + h[1] * x[6 + d + i]
            out[s, 3 + axes[i]] = v + h[2] * x[6 + 2 * d + i] + h[3] * x[6 + 3 * d + i]


@kernel
def add_centre_vector(axes, element, H, p, r):  # type: ignore[no-untyped-def]
    """r_e += sum_s J_s^T p_s of frames at centres in the nodes alone, p (S, 6)."""
    d = axes.shape[0]
    for s in range(element.shape[0]):
        row, h = r[element[s]], H[s]
        for i in range(d):
            v = p[s, 3 + axes[i]]
            row[6 + i] += h[0] * v
            row[6 + d + i] += h[1] * v
            row[6 + 2 * d + i] += h[2] * v
            row[6 + 3 * d + i] += h[3] * v


@kernel
def add_centre_form(axes, element, H, k, K):  # type: ignore[no-untyped-def]
    """Add sum_s J_s^T k_s J_s of frames at centres to K (E, m, m), k (S, 6, 6), in the nodes alone."""
    d = axes.shape[0]
    for s in range(element.shape[0]):
        block, h = K[element[s]], H[s]
        for i in range(d):
            for j in range(d):
                v = k[s, 3 + axes[i], 3 + axes[j]]
                if v == 0.0:
                    continue
                for a in range(4):
                    row, f = block[6 + a * d + i], v * h[a]
                    for b in range(4):
                        row[6 + b * d + j] += f * h[b]


@kernel
def centre_bias(axes, element, H, workspace, ydot, bias):  # type: ignore[no-untyped-def]
    """Write bias (S, 6) = (0, w x p.) of frames at centres when y moves at the rate ydot (E, m)."""
    d = axes.shape[0]
    v = workspace[0, 0]
    for s in range(element.shape[0]):
        y = ydot[element[s]]
        for i in range(3):
            v[i] = 0.0
        for k in range(4):
            for i in range(d):
                v[axes[i]] += H[s, k] * y[6 + k * d + i]
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            bias[s, i] = 0.0
            bias[s, 3 + i] = y[a] * v[b] - y[b] * v[a]


@kernel
def add_frame_second(turn, axes, element, dH, nodes, workspace, J, f, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum_s f_s.log(g_s^-1 g_s(x)), f (S, 6) = (m, n).

    With omega, v the body twist of a variation of the nodes and A x the one of the base twist x:
    m.d(omega)/d(tau) + n.(v x omega) + f.[A x, (omega, v)].
    """
    d = axes.shape[0]
    size = J.shape[2]
    w, z, gw, Hww, Hwz = _vectors(workspace)
    for i in range(3):
        z[i] = 0.0
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
def frame_bias(turn, axes, element, dH, nodes, workspace, J, ydot, bias):  # type: ignore[no-untyped-def]
    """Write bias (S, 6): body acceleration of the stations when y moves at the rate ydot (E, m)."""
    d = axes.shape[0]
    size = J.shape[2]
    w, z, gw, Hww, Hwz = _vectors(workspace)
    rate, a, b = workspace[3, 0], workspace[4].reshape(-1)[:6], workspace[5].reshape(-1)[:6]
    for i in range(3):
        z[i] = 0.0
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
            slopes(turn, w, z, 1.0 * (r == 0), 1.0 * (r == 1), 1.0 * (r == 2), 0.0, gw, Hww, Hwz)
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
