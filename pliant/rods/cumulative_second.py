"""Second derivatives of the cumulative curve on SE(3) in the variables of a span (see `cumulative`).

With a . N(d) b = d . [a, b] the Lie bracket paired with a wrench d, and M the second form of
`lie.blocks.add_tangent_second`; derivation in `docs/theory/cumulative_splines.md`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie.blocks import (
    add_map_second,
    add_tangent_second,
    bracket_pair,
    subtract_bracket,
    tangent_rate,
)


@leaf
def _pull_back(T, f, out):  # type: ignore[no-untyped-def]
    """out = Ad((R,p))^-T f for T = [R | p]: a wrench at the station moved to stage i."""
    for i in range(3):
        out[3 + i] = T[i, 0] * f[3] + T[i, 1] * f[4] + T[i, 2] * f[5]
    for i in range(3):
        out[i] = T[i, 0] * f[0] + T[i, 1] * f[1] + T[i, 2] * f[2]
    out[0] += T[1, 3] * out[5] - T[2, 3] * out[4]
    out[1] += T[2, 3] * out[3] - T[0, 3] * out[5]
    out[2] += T[0, 3] * out[4] - T[1, 3] * out[3]


@kernel
def add_frame_second(kind, first, element, b, psi, J, suffix, f, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of sum_s f_s . log(g_s^-1 g_s(y)) to K (E, m, m).

    Cross blocks of stages j < i: -1/2 P_i^T N(f) P_j; diagonal blocks: b_i^2 M(b_i Psi_i, f_i).
    """
    S, k = b.shape
    m = K.shape[1]
    z = np.empty(6)
    u = np.empty(6)
    H = np.zeros((m, m))
    for s in range(S):
        inc = first[element[s]]
        for i in range(1, k + 1):
            c = 6 * i
            F = J[s, 0:3, c : c + 3]
            G = J[s, 3:6, c : c + 3]
            for j in range(i):
                d = 6 * j
                bracket_pair(F, G, f[s], J[s, 0:3, d : d + 3], J[s, 3:6, d : d + 3], 0.5, H, c, d)
            bi = b[s, i - 1]
            for r in range(6):
                z[r] = bi * psi[inc + i - 1, r]
            _pull_back(suffix[s, i - 1], f[s], u)
            add_tangent_second(kind, z, u, 0.5 * bi * bi, H, c)
        if s == S - 1 or element[s + 1] != element[s]:
            _add_symmetrised(H, K[element[s]])


@kernel
def add_strain_second(kind, first, element, b, db, psi, J, B, xim, suffix, sigma, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of sum_s sigma_s . xi_s(y) to K (E, m, m).

    Cross blocks: -P_i^T N(sigma) B_j; diagonal: sym(-P_i^T N(sigma) ad(xi_i^-) P_i)
    + b_i^2 M(b_i Psi_i, u_i) with u_i the pull-back of -N(sigma) xi_i^-, and, for the Cayley map,
    b_i b_i' times the second derivative of dtau_z z.
    """
    S, k = b.shape
    m = K.shape[1]
    z = np.empty(6)
    u = np.empty(6)
    w = np.empty(6)
    X = np.empty((3, 3))
    Y = np.empty((3, 3))
    H = np.zeros((m, m))
    for s in range(S):
        inc = first[element[s]]
        sg = sigma[s]
        for i in range(1, k + 1):
            c = 6 * i
            F = J[s, 0:3, c : c + 3]
            G = J[s, 3:6, c : c + 3]
            for j in range(1, i):
                d = 6 * j
                bracket_pair(F, G, sg, B[s, 0:3, d : d + 3], B[s, 3:6, d : d + 3], 1.0, H, c, d)
            bi = b[s, i - 1]
            for r in range(6):
                z[r] = bi * psi[inc + i - 1, r]
            x = xim[s, i - 1]
            if i > 1:
                _bracket_columns(x, F, G, X, Y)
                bracket_pair(F, G, sg, X, Y, 0.5, H, c, c)
                # -N(sigma) xi: (sm x xu + sn x xv, sn x xu)
                w[3] = sg[4] * x[2] - sg[5] * x[1]
                w[4] = sg[5] * x[0] - sg[3] * x[2]
                w[5] = sg[3] * x[1] - sg[4] * x[0]
                w[0] = sg[1] * x[2] - sg[2] * x[1] + sg[4] * x[5] - sg[5] * x[4]
                w[1] = sg[2] * x[0] - sg[0] * x[2] + sg[5] * x[3] - sg[3] * x[5]
                w[2] = sg[0] * x[1] - sg[1] * x[0] + sg[3] * x[4] - sg[4] * x[3]
                _pull_back(suffix[s, i - 1], w, u)
                add_tangent_second(kind, z, u, 0.5 * bi * bi, H, c)
            if kind != 0:
                _pull_back(suffix[s, i - 1], sg, u)
                add_map_second(kind, z, u, 0.5 * bi * db[s, i - 1], H, c)
        if s == S - 1 or element[s + 1] != element[s]:
            _add_symmetrised(H, K[element[s]])


@leaf
def _bracket_columns(x, F, G, X, Y):  # type: ignore[no-untyped-def]
    """Blocks of ad(x) [[F, 0], [G, F]]."""
    for j in range(3):
        f0, f1, f2 = F[0, j], F[1, j], F[2, j]
        q0, q1, q2 = G[0, j], G[1, j], G[2, j]
        X[0, j] = x[1] * f2 - x[2] * f1
        X[1, j] = x[2] * f0 - x[0] * f2
        X[2, j] = x[0] * f1 - x[1] * f0
        Y[0, j] = x[4] * f2 - x[5] * f1 + x[1] * q2 - x[2] * q1
        Y[1, j] = x[5] * f0 - x[3] * f2 + x[2] * q0 - x[0] * q2
        Y[2, j] = x[3] * f1 - x[4] * f0 + x[0] * q1 - x[1] * q0


@inner
def _add_symmetrised(H, K):  # type: ignore[no-untyped-def]
    """K += H + H^T, where H holds lower blocks in full and diagonal blocks by half; H is cleared."""
    for c in range(0, H.shape[0], 6):
        for i in range(c, c + 6):
            for j in range(c):
                v = H[i, j]
                K[i, j] += v
                K[j, i] += v
                H[i, j] = 0.0
            for j in range(c, i + 1):
                v = H[i, j] + H[j, i]
                K[i, j] += v
                if j < i:
                    K[j, i] += v
        H[c : c + 6, c : c + 6] = 0.0


@kernel
def frame_bias(kind, first, element, b, psi, J, suffix, ydot, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6): acceleration of the station when y moves at constant rate ydot (E, m).

    Stage by stage, eta_i = eta_{i-1} + P_i y_i'; the rate of change adds -[P_i y_i', eta_{i-1}] and
    b_i^2 Ad(S_i)^-1 D(dtau)[Psi'] Psi'. Xun et al. (31)-(32).
    """
    S, k = b.shape
    eta = np.empty(6)
    th = np.empty(6)
    z = np.empty(6)
    acc = np.empty(6)
    for s in range(S):
        el = element[s]
        yd = ydot[el]
        for i in range(6):
            bias[s, i] = 0.0
            eta[i] = 0.0
            for j in range(6):
                eta[i] += J[s, i, j] * yd[j]
        for a in range(k):
            c = 6 * (a + 1)
            for i in range(6):
                th[i] = 0.0
                z[i] = b[s, a] * psi[first[el] + a, i]
                for j in range(6):
                    th[i] += J[s, i, c + j] * yd[c + j]
            subtract_bracket(th, eta, bias[s])
            tangent_rate(kind, z, yd[c : c + 6], acc)
            T = suffix[s, a]
            w = b[s, a] * b[s, a]
            d0 = acc[3] - (T[1, 3] * acc[2] - T[2, 3] * acc[1])
            d1 = acc[4] - (T[2, 3] * acc[0] - T[0, 3] * acc[2])
            d2 = acc[5] - (T[0, 3] * acc[1] - T[1, 3] * acc[0])
            for i in range(3):
                bias[s, i] += w * (T[0, i] * acc[0] + T[1, i] * acc[1] + T[2, i] * acc[2])
                bias[s, 3 + i] += w * (T[0, i] * d0 + T[1, i] * d1 + T[2, i] * d2)
            for i in range(6):
                eta[i] += th[i]
