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

from pliant._numba import inner, kernel, leaf
from pliant.lie.blocks import dot3, tau_pose
from pliant.lie.retraction import second_coefficients, tangent_coefficients


@leaf
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


@leaf
def _adjoint_transport(R, p, scale, out, row, col):  # type: ignore[no-untyped-def]
    """out[row:row+6, col:col+6] = scale * Ad((R,p))^-1 = scale [[R^T, 0], [-R^T p^, R^T]]."""
    for i in range(3):
        r0, r1, r2 = scale * R[0, i], scale * R[1, i], scale * R[2, i]
        out[row + i, col] = r0
        out[row + i, col + 1] = r1
        out[row + i, col + 2] = r2
        out[row + i, col + 3] = 0.0
        out[row + i, col + 4] = 0.0
        out[row + i, col + 5] = 0.0
        out[row + 3 + i, col] = r2 * p[1] - r1 * p[2]
        out[row + 3 + i, col + 1] = r0 * p[2] - r2 * p[0]
        out[row + 3 + i, col + 2] = r1 * p[0] - r0 * p[1]
        out[row + 3 + i, col + 3] = r0
        out[row + 3 + i, col + 4] = r1
        out[row + 3 + i, col + 5] = r2


@inner
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


@leaf
def _prepend(R, p, Rs, ps):  # type: ignore[no-untyped-def]
    """(Rs, ps) <- (R, p) (Rs, ps): the pose of the station seen from one stage further back."""
    p0, p1, p2 = ps[0], ps[1], ps[2]
    for i in range(3):
        ps[i] = p[i] + R[i, 0] * p0 + R[i, 1] * p1 + R[i, 2] * p2
    for j in range(3):
        c0, c1, c2 = Rs[0, j], Rs[1, j], Rs[2, j]
        for i in range(3):
            Rs[i, j] = R[i, 0] * c0 + R[i, 1] * c1 + R[i, 2] * c2


@leaf
def _compose(a, Rs, ps, g):  # type: ignore[no-untyped-def]
    """g = a (Rs, ps) for poses a and g (4, 4)."""
    for i in range(3):
        g[i, 3] = a[i, 3] + a[i, 0] * ps[0] + a[i, 1] * ps[1] + a[i, 2] * ps[2]
        for j in range(3):
            g[i, j] = a[i, 0] * Rs[0, j] + a[i, 1] * Rs[1, j] + a[i, 2] * Rs[2, j]
        g[3, i] = 0.0
    g[3, 3] = 1.0


@leaf
def _strain_stage(kind, z, V, Q, Rs, ps, psi, rate, B, col, h, F, G):  # type: ignore[no-untyped-def]
    """One stage of the strain: h = dtau_z Psi and, in B, rate Ad(S)^-1 D[dtau_z Psi]."""
    if kind == 0:
        for i in range(6):
            h[i] = psi[i]
        _adjoint_transport(Rs, ps, rate, B, 0, col)
        return
    _map_tangent(kind, z, F, G)
    for i in range(3):
        h[i] = 0.0
        h[3 + i] = 0.0
        for j in range(3):
            h[i] += V[i, j] * psi[j]
            h[3 + i] += Q[i, j] * psi[j] + V[i, j] * psi[3 + j]
    _dual_transport(Rs, ps, F, G, rate, B, 0, col)


@kernel
def evaluate_curve(  # type: ignore[no-untyped-def]
    kind, first, element, b, db, psi, controls, frames, strains, g, J, e, B, xim, suffix
):
    """Frames, strains and their derivatives in y at all stations.

    first (E,): index of the first increment of each element in psi (n, 6); controls (n+1, 4, 4):
    control poses; element (S,), b and db (S, k): stations. Writes J (S, 6, 6(k+1)) always (P blocks); g
    (S, 4, 4) and block 0 of J if `frames`; e (S, 6), B (S, 6, 6(k+1)) and xim (S, k, 6) if `strains`;
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
    h = np.empty((k, 6))
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
            if strains:
                _strain_stage(
                    kind, z, V, Q, Rs, ps, psi[inc + a], db[s, a], B[s], 6 * (a + 1), h[a], Fh, Gh
                )
            _prepend(R, p, Rs, ps)
        if frames:
            _adjoint_transport(Rs, ps, 1.0, J[s], 0, 0)
            _compose(controls[inc], Rs, ps, g[s])
        if strains:
            _accumulate_strain(s, k, db, h, suffix, J, e, B, xim)


@leaf
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
