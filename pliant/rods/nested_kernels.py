"""Kernels of nested tubes: frames turned about the axis of a centreline, and what belongs to it.

A tube is at g T(x, y) Rz(theta) Tz(w), g the frame of the centreline, (x, y) the place of its axis
there, theta the angle by which it is turned and w how far it has slid; its frames move by

    eta_tube = A eta + theta' e_z + w' e_5,   A = Ad(T(x, y) Rz(theta) Tz(w))^-1,

and to second order by A x + y e_z + 1/2 [A x, y e_z] with variations x of the frame and y of theta, and
likewise for w; turning and sliding commute.
Element variables are those of the centreline (m0), then those of the angles (p).
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel


@kernel
def set_angles(constant, offset, ids, N, dN, extra, theta, slope):  # type: ignore[no-untyped-def]
    """theta (S,) = constant + N extra[ids] and slope (S,) = offset + dN extra[ids].

    ids (S, p), -1 for none.
    """
    for s in range(theta.shape[0]):
        a, b = constant[s], offset[s]
        for i in range(ids.shape[1]):
            at = ids[s, i]
            if at >= 0:
                a += N[s, i] * extra[at]
                b += dN[s, i] * extra[at]
        theta[s], slope[s] = a, b


@kernel
def turn_frames(theta, shift, beside, N, g, J, out_g, out_J):  # type: ignore[no-untyped-def]
    """out_g = g T(beside) Rz(theta) Tz(shift) (S, 4, 4) and out_J (S, 6, m0 + p); g, J of the host."""
    S, _, m = J.shape
    for s in range(S):
        c, d, z, px, py = np.cos(theta[s]), np.sin(theta[s]), shift[s], beside[s, 0], beside[s, 1]
        for i in range(3):
            x, y = g[s, i, 0], g[s, i, 1]
            out_g[s, i, 0], out_g[s, i, 1] = c * x + d * y, c * y - d * x
            out_g[s, i, 2] = g[s, i, 2]
            out_g[s, i, 3] = g[s, i, 3] + px * x + py * y + z * g[s, i, 2]
        for a in range(m):
            w0, w1 = c * J[s, 0, a] + d * J[s, 1, a], c * J[s, 1, a] - d * J[s, 0, a]
            v0, v1 = J[s, 3, a] - py * J[s, 2, a], J[s, 4, a] + px * J[s, 2, a]
            out_J[s, 0, a], out_J[s, 1, a], out_J[s, 2, a] = w0, w1, J[s, 2, a]
            out_J[s, 3, a], out_J[s, 4, a] = c * v0 + d * v1 + z * w1, c * v1 - d * v0 - z * w0
            out_J[s, 5, a] = J[s, 5, a] + py * J[s, 0, a] - px * J[s, 1, a]
        for i in range(N.shape[1]):
            for j in range(6):
                out_J[s, j, m + i] = N[s, i] if j == 2 else 0.0


@kernel
def write_strains(tube, theta, slope, N, dN, e, B, out_e, out_B):  # type: ignore[no-untyped-def]
    """Strains of the centreline, or at stations of tubes (tube >= 0) what their law depends on.

    That is (ux, uy, uz + theta', theta, 0, vz) with u, v those of the centreline; out_B (S, 6, m0 + p).
    Of a straight part (tube < -1) it is its twist alone, in the third place.
    """
    S, _, m = B.shape
    p = N.shape[1]
    for s in range(S):
        own = tube[s] != -1
        for i in range(6):
            hidden = tube[s] < -1 or (own and (i == 3 or i == 4))
            out_e[s, i] = 0.0 if hidden else e[s, i]
            for a in range(m):
                out_B[s, i, a] = 0.0 if hidden else B[s, i, a]
            for a in range(p):
                out_B[s, i, m + a] = 0.0
        if own:
            out_e[s, 2] += slope[s]
            out_e[s, 3] = theta[s]
            for a in range(p):
                out_B[s, 2, m + a] = dN[s, a]
                out_B[s, 3, m + a] = N[s, a]


@kernel
def add_stretch(stretch, dW, e, B):  # type: ignore[no-untyped-def]
    """Add stretch (S,) of tubes that slide along the centreline to e (S, 6), and dW (S, p) to B."""
    p = dW.shape[1]
    first = B.shape[2] - p
    for s in range(e.shape[0]):
        e[s, 5] += stretch[s]
        for a in range(p):
            B[s, 5, first + a] += dW[s, a]


@kernel
def add_slide(W, J):  # type: ignore[no-untyped-def]
    """Add values W (S, p) of how far tubes slide along their axis to J (S, 6, m)."""
    p = W.shape[1]
    first = J.shape[2] - p
    for s in range(W.shape[0]):
        for a in range(p):
            J[s, 5, first + a] += W[s, a]


@kernel
def add_slide_second(element, f, J, W, K):  # type: ignore[no-untyped-def]
    """K_e += second derivative of 1/2 f . [A x, y e_5], as `add_turn_second`: n0 w1 - n1 w0."""
    S, _, m = J.shape
    p = W.shape[1]
    for s in range(S):
        f3, f4 = 0.5 * f[s, 3], 0.5 * f[s, 4]
        if f3 == 0.0 and f4 == 0.0:
            continue
        for a in range(m - p):
            v = f3 * J[s, 1, a] - f4 * J[s, 0, a]
            if v != 0.0:
                for b in range(p):
                    K[element[s], a, m - p + b] += v * W[s, b]
                    K[element[s], m - p + b, a] += v * W[s, b]


@kernel
def add_slide_bias(element, W, J, y, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6) -= [z' e_5, A eta] with z' = W y the rate at which tubes slide."""
    S, _, m = J.shape
    p = W.shape[1]
    for s in range(S):
        rates = y[element[s]]
        w = 0.0
        for a in range(p):
            w += W[s, a] * rates[m - p + a]
        for a in range(m - p):
            bias[s, 3] += w * J[s, 1, a] * rates[a]
            bias[s, 4] -= w * J[s, 0, a] * rates[a]


@kernel
def turn_back(theta, shift, beside, f, out):  # type: ignore[no-untyped-def]
    """out (S, 6) = Ad(T Rz Tz)^-T f: wrenches at frames of tubes as wrenches at the centreline."""
    for s in range(f.shape[0]):
        c, d, z, px, py = np.cos(theta[s]), np.sin(theta[s]), shift[s], beside[s, 0], beside[s, 1]
        m0, m1 = f[s, 0] - z * f[s, 4], f[s, 1] + z * f[s, 3]
        n0, n1, n2 = c * f[s, 3] - d * f[s, 4], d * f[s, 3] + c * f[s, 4], f[s, 5]
        out[s, 0], out[s, 1] = c * m0 - d * m1 + py * n2, d * m0 + c * m1 - px * n2
        out[s, 2] = f[s, 2] + px * n1 - py * n0
        out[s, 3], out[s, 4], out[s, 5] = n0, n1, n2


@kernel
def mask_stress(tube, sigma, out):  # type: ignore[no-untyped-def]
    """out (S, 6): stresses that meet strains of the centreline."""
    for s in range(sigma.shape[0]):
        for i in range(6):
            hidden = tube[s] < -1 or (tube[s] >= 0 and (i == 3 or i == 4))
            out[s, i] = 0.0 if hidden else sigma[s, i]


@kernel
def add_block(small, K):  # type: ignore[no-untyped-def]
    """K (E, m, m) += small (E, m0, m0) in its first variables."""
    for e in range(small.shape[0]):
        for a in range(small.shape[1]):
            for b in range(small.shape[2]):
                K[e, a, b] += small[e, a, b]


@kernel
def add_turn_second(element, f, J, N, K):  # type: ignore[no-untyped-def]
    """K_e += second derivative of 1/2 f . [A x, y e_z]: f, J of the tubes (S, 6, m), N (S, p).

    f . [w, e_z] = m0 w1 - m1 w0 + n0 v1 - n1 v0 with f = (m, n) and a twist (w, v).
    """
    S, _, m = J.shape
    p = N.shape[1]
    for s in range(S):
        f0, f1, f3, f4 = 0.5 * f[s, 0], 0.5 * f[s, 1], 0.5 * f[s, 3], 0.5 * f[s, 4]
        if f0 == 0.0 and f1 == 0.0 and f3 == 0.0 and f4 == 0.0:
            continue
        for a in range(m - p):
            v = f0 * J[s, 1, a] - f1 * J[s, 0, a] + f3 * J[s, 4, a] - f4 * J[s, 3, a]
            if v != 0.0:
                for b in range(p):
                    K[element[s], a, m - p + b] += v * N[s, b]
                    K[element[s], m - p + b, a] += v * N[s, b]


@kernel
def turn_bias(element, theta, shift, beside, N, J, y, bias, out):  # type: ignore[no-untyped-def]
    """out (S, 6) = A bias - [w e_z, A eta], w = N y the rate of theta, A eta = J y of the centreline.

    J (S, 6, m0 + p) of the tubes, y (E, m0 + p) rates of the element variables.
    """
    S, _, m = J.shape
    p = N.shape[1]
    eta = np.empty(6)
    for s in range(S):
        c, d, z, px, py = np.cos(theta[s]), np.sin(theta[s]), shift[s], beside[s, 0], beside[s, 1]
        rates = y[element[s]]
        w = 0.0
        for a in range(p):
            w += N[s, a] * rates[m - p + a]
        for i in range(6):
            eta[i] = 0.0
            for a in range(m - p):
                eta[i] += J[s, i, a] * rates[a]
        w0, w1 = c * bias[s, 0] + d * bias[s, 1], c * bias[s, 1] - d * bias[s, 0]
        out[s, 0], out[s, 1], out[s, 2] = w0 + w * eta[1], w1 - w * eta[0], bias[s, 2]
        v0, v1 = bias[s, 3] - py * bias[s, 2], bias[s, 4] + px * bias[s, 2]
        out[s, 3] = c * v0 + d * v1 + z * w1 + w * eta[4]
        out[s, 4] = c * v1 - d * v0 - z * w0 - w * eta[3]
        out[s, 5] = bias[s, 5] + py * bias[s, 0] - px * bias[s, 1]


@inner
def _columns(source, first, out):  # type: ignore[no-untyped-def]
    """out (E, k) = source[:, first:first + k]."""
    for e in range(out.shape[0]):
        for a in range(out.shape[1]):
            out[e, a] = source[e, first + a]


@kernel
def split(x, host, rest):  # type: ignore[no-untyped-def]
    """host (E, n0) and rest (E, p) of x (E, n0 + p)."""
    _columns(x, 0, host)
    _columns(x, host.shape[1], rest)


@kernel
def join(host, rest, x):  # type: ignore[no-untyped-def]
    """x (E, n0 + p) from host (E, n0) and rest (E, p)."""
    n = host.shape[1]
    for e in range(x.shape[0]):
        for a in range(n):
            x[e, a] = host[e, a]
        for a in range(rest.shape[1]):
            x[e, n + a] = rest[e, a]


@kernel
def split_rows(C, host):  # type: ignore[no-untyped-def]
    """host (E, q, m0) of C (E, q, m0 + p)."""
    for e in range(C.shape[0]):
        _columns(C[e], 0, host[e])


@kernel
def join_rows(host, Cy, C):  # type: ignore[no-untyped-def]
    """C (E, q, n0 + p): host (E, q, n0), then the last p of Cy (E, q, m0 + p)."""
    n, p = host.shape[2], C.shape[2] - host.shape[2]
    first = Cy.shape[2] - p
    for e in range(C.shape[0]):
        for q in range(C.shape[1]):
            for a in range(n):
                C[e, q, a] = host[e, q, a]
            for a in range(p):
                C[e, q, n + a] = Cy[e, q, first + a]


@kernel
def split_matrix(K, host, below, right):  # type: ignore[no-untyped-def]
    """Blocks host (E, m0, m0), below (E, p, m0) and, transposed, right (E, p, m0) of K."""
    m, p = host.shape[1], below.shape[1]
    for e in range(K.shape[0]):
        for a in range(m):
            for b in range(m):
                host[e, a, b] = K[e, a, b]
            for b in range(p):
                right[e, b, a] = K[e, a, m + b]
                below[e, b, a] = K[e, m + b, a]


@kernel
def join_matrix(host, below, right, Ky, K):  # type: ignore[no-untyped-def]
    """K (E, n0 + p, n0 + p) from the blocks of `split_matrix`, lifted, and the last one of Ky."""
    n, p = host.shape[1], below.shape[1]
    m = Ky.shape[1] - p
    for e in range(K.shape[0]):
        for a in range(n):
            for b in range(n):
                K[e, a, b] = host[e, a, b]
            for b in range(p):
                K[e, a, n + b] = right[e, b, a]
                K[e, n + b, a] = below[e, b, a]
        for a in range(p):
            for b in range(p):
                K[e, n + a, n + b] = Ky[e, m + a, m + b]
