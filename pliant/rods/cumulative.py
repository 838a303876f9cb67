"""Kernels of the cumulative curve on SE(3), shared by B-spline and Hermite rods.

On one span the curve is g(s) = g_a tau(b_1 Psi_1) ... tau(b_k Psi_k) with cumulative basis values
b_i(s). The variables of a span are y = (x_a, Psi_1, ..., Psi_k): the body twist of its first control
pose and its increments. Everything here is expressed in y and in the frame of the station; how y
depends on a formulation's coordinates (`lift`) is the formulation's own business.

With S_i = tau(b_{i+1} Psi_{i+1}) ... tau(b_k Psi_k) the pose of the station seen from stage i,

    P_0 = Ad(S_0)^-1,      P_i = Ad(S_i)^-1 b_i dtau(b_i Psi_i)              (eta = sum P_i y_i')
    xi  = sum b_i' Ad(S_i)^-1 dtau(b_i Psi_i) Psi_i                          (strain)
    B_i = ad(xi_i^-) P_i + b_i' Ad(S_i)^-1 D[dtau(b_i Psi_i) Psi_i]          (its derivative)

where xi_i^- is the part of xi from the stages before i. For the exponential map dtau_x x = x, which
gives the recursion of Xun et al. (27)-(36); derivation in `docs/theory/cumulative_splines.md`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.lie.blocks import (
    add_map_second,
    add_tangent_second,
    bracket_pair,
    dot3,
    subtract_bracket,
    tangent_rate,
    tau_pose,
)
from pliant.lie.retraction import second_coefficients, tangent_coefficients


@kernel
def _dual_transport(R, p, F, G, scale, out, row, col):  # type: ignore[no-untyped-def]
    """out[row:row+6, col:col+6] = scale * Ad((R,p))^-1 [[F, 0], [G, F]]."""
    for j in range(3):
        f0, f1, f2 = F[0, j], F[1, j], F[2, j]
        h0 = G[0, j] - (p[1] * f2 - p[2] * f1)
        h1 = G[1, j] - (p[2] * f0 - p[0] * f2)
        h2 = G[2, j] - (p[0] * f1 - p[1] * f0)
        for i in range(3):
            v = scale * (R[0, i] * f0 + R[1, i] * f1 + R[2, i] * f2)
            out[row + i, col + j] = v
            out[row + 3 + i, col + 3 + j] = v
            out[row + 3 + i, col + j] = scale * (R[0, i] * h0 + R[1, i] * h1 + R[2, i] * h2)
            out[row + i, col + 3 + j] = 0.0


@kernel
def _map_tangent(kind, z, F, G):  # type: ignore[no-untyped-def]
    """Blocks of D(dtau_z z): the identity for the exponential map."""
    k = z[:3]
    e = z[3:]
    t2 = dot3(k, k)
    al, _be, _ga, al1, _be1, _ga1 = tangent_coefficients(kind, t2)
    al2, _be2, _ga2, _al3 = second_coefficients(kind, t2)
    ke = dot3(k, e)
    for i in range(3):
        for j in range(3):
            F[i, j] = al1 * k[i] * k[j]
            G[i, j] = al2 * ke * k[i] * k[j] + al1 * (e[i] * k[j] + k[i] * e[j])
        F[i, i] += al
        G[i, i] += al1 * ke


@kernel
def evaluate_curve(kind, first, element, b, db, psi, controls, frames, g, J, e, B, xim, suffix):  # type: ignore[no-untyped-def]
    """Frames, strains and their derivatives in y at all stations.

    first (E,): index of the first increment of each element in psi (n, 6); controls (n+1, 4, 4):
    control poses; element (S,), b and db (S, k): stations. Writes J (S, 6, 6(k+1)) always (P blocks); g
    (S, 4, 4) and block 0 of J if `frames`, else e (S, 6), B (S, 6, 6(k+1)) and xim (S, k, 6);
    suffix (S, k, 3, 4) are the poses S_i, i = 1..k.
    """
    S, k = b.shape
    R = np.empty((3, 3))
    p = np.empty(3)
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    z = np.empty(6)
    Rs = np.empty((3, 3))
    ps = np.empty(3)
    Rn = np.empty((3, 3))
    pn = np.empty(3)
    h = np.empty((k, 6))
    eye = np.eye(3)
    zero = np.zeros((3, 3))
    Fh = np.empty((3, 3))
    Gh = np.empty((3, 3))
    for s in range(S):
        el = element[s]
        inc = first[el]
        for i in range(3):
            ps[i] = 0.0
            for j in range(3):
                Rs[i, j] = 1.0 if i == j else 0.0
        for a in range(k - 1, -1, -1):
            for i in range(6):
                z[i] = b[s, a] * psi[inc + a, i]
            tau_pose(kind, z, R, p, V, Q)
            for i in range(3):
                suffix[s, a, i, 3] = ps[i]
                for j in range(3):
                    suffix[s, a, i, j] = Rs[i, j]
            _dual_transport(Rs, ps, V, Q, b[s, a], J[s], 0, 6 * (a + 1))
            if not frames:
                col = 6 * (a + 1)
                if kind == 0:
                    _dual_transport(Rs, ps, eye, zero, db[s, a], B[s], 0, col)
                    for i in range(6):
                        h[a, i] = psi[inc + a, i]
                else:
                    _map_tangent(kind, z, Fh, Gh)
                    _dual_transport(Rs, ps, Fh, Gh, db[s, a], B[s], 0, col)
                    for i in range(3):
                        h[a, i] = 0.0
                        h[a, 3 + i] = 0.0
                        for j in range(3):
                            h[a, i] += V[i, j] * psi[inc + a, j]
                            h[a, 3 + i] += Q[i, j] * psi[inc + a, j] + V[i, j] * psi[inc + a, 3 + j]
            for i in range(3):
                pn[i] = p[i] + R[i, 0] * ps[0] + R[i, 1] * ps[1] + R[i, 2] * ps[2]
                for j in range(3):
                    Rn[i, j] = R[i, 0] * Rs[0, j] + R[i, 1] * Rs[1, j] + R[i, 2] * Rs[2, j]
            for i in range(3):
                ps[i] = pn[i]
                for j in range(3):
                    Rs[i, j] = Rn[i, j]
        if frames:
            _dual_transport(Rs, ps, eye, zero, 1.0, J[s], 0, 0)
            for i in range(3):
                g[s, i, 3] = controls[inc, i, 3]
                for j in range(3):
                    g[s, i, 3] += controls[inc, i, j] * ps[j]
                    g[s, i, j] = (
                        controls[inc, i, 0] * Rs[0, j]
                        + controls[inc, i, 1] * Rs[1, j]
                        + controls[inc, i, 2] * Rs[2, j]
                    )
                g[s, 3, i] = 0.0
            g[s, 3, 3] = 1.0
        else:
            _accumulate_strain(s, k, db, h, suffix, J, e, B, xim)


@kernel
def _accumulate_strain(s, k, db, h, suffix, J, e, B, xim):  # type: ignore[no-untyped-def]
    """Sum xi stage by stage and add ad(xi_i^-) P_i to B (see the module docstring)."""
    for i in range(6):
        e[s, i] = 0.0
        for j in range(6):
            B[s, i, j] = 0.0
    for a in range(k):
        u0, u1, u2 = e[s, 0], e[s, 1], e[s, 2]
        v0, v1, v2 = e[s, 3], e[s, 4], e[s, 5]
        for i in range(6):
            xim[s, a, i] = e[s, i]
        col = 6 * (a + 1)
        for j in range(3):
            c = col + j
            f0, f1, f2 = J[s, 0, c], J[s, 1, c], J[s, 2, c]
            q0, q1, q2 = J[s, 3, c], J[s, 4, c], J[s, 5, c]
            a0 = u1 * f2 - u2 * f1
            a1 = u2 * f0 - u0 * f2
            a2 = u0 * f1 - u1 * f0
            B[s, 0, c] += a0
            B[s, 1, c] += a1
            B[s, 2, c] += a2
            B[s, 3, c + 3] += a0
            B[s, 4, c + 3] += a1
            B[s, 5, c + 3] += a2
            B[s, 3, c] += v1 * f2 - v2 * f1 + u1 * q2 - u2 * q1
            B[s, 4, c] += v2 * f0 - v0 * f2 + u2 * q0 - u0 * q2
            B[s, 5, c] += v0 * f1 - v1 * f0 + u0 * q1 - u1 * q0
        Rs = suffix[s, a]
        d0 = h[a, 3] - (Rs[1, 3] * h[a, 2] - Rs[2, 3] * h[a, 1])
        d1 = h[a, 4] - (Rs[2, 3] * h[a, 0] - Rs[0, 3] * h[a, 2])
        d2 = h[a, 5] - (Rs[0, 3] * h[a, 1] - Rs[1, 3] * h[a, 0])
        w = db[s, a]
        for i in range(3):
            e[s, i] += w * (Rs[0, i] * h[a, 0] + Rs[1, i] * h[a, 1] + Rs[2, i] * h[a, 2])
            e[s, 3 + i] += w * (Rs[0, i] * d0 + Rs[1, i] * d1 + Rs[2, i] * d2)


@kernel
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


@kernel
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


@kernel
def _add_symmetrised(H, K):  # type: ignore[no-untyped-def]
    """K += H + H^T, where H holds lower blocks in full and diagonal blocks by half; H is cleared."""
    m = H.shape[0]
    for i in range(m):
        for j in range(m):
            K[i, j] += H[i, j] + H[j, i]
    for i in range(m):
        for j in range(m):
            H[i, j] = 0.0


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
