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

from pliant._numba import kernel, leaf
from pliant.lie import operators as op
from pliant.lie.blocks import add_to_body, compose, tau_pose, write_adjoint_inverse
from pliant.lie.tuples import dot, read_vector, write_block


@leaf
def _write_stage(T, F, G, scale, out, col):  # type: ignore[no-untyped-def]
    """out[:, col:col+6] = scale * Ad(T)^-1 [[F, 0], [G, F]]."""
    for j in range(3):
        f0, f1, f2 = scale * F[0, j], scale * F[1, j], scale * F[2, j]
        h0 = scale * G[0, j] - (T[1, 3] * f2 - T[2, 3] * f1)
        h1 = scale * G[1, j] - (T[2, 3] * f0 - T[0, 3] * f2)
        h2 = scale * G[2, j] - (T[0, 3] * f1 - T[1, 3] * f0)
        for i in range(3):
            v = T[0, i] * f0 + T[1, i] * f1 + T[2, i] * f2
            out[i, col + j] = out[3 + i, col + 3 + j] = v
            out[3 + i, col + j] = T[0, i] * h0 + T[1, i] * h1 + T[2, i] * h2
            out[i, col + 3 + j] = 0.0


@leaf
def _strain_stage(kind, z, T, psi, rate, B, col, h, F, G):  # type: ignore[no-untyped-def]
    """One stage of the strain: h = dtau_z Psi and, in B, rate Ad(T)^-1 D[dtau_z Psi].

    For the exponential map dtau_z Psi = Psi. For the Cayley map it is al(z) Psi.
    """
    if kind == op.EXP:
        for i in range(6):
            h[i] = psi[i]
        write_adjoint_inverse(T, rate, B, col)
        return
    k, e = read_vector(z, 0), read_vector(z, 3)
    i, s, q, i1, s1, q1 = op.coefficients(op.DTWIST, dot(k, k))
    write_block(F, 0, 0, op.operator(i, s, q, k))
    write_block(G, 0, 0, op.operator_derivative(s, q, i1, s1, q1, k, e))
    _write_stage(T, F, G, rate, B, col)
    for j in range(3):
        h[j] = i * psi[j]
        h[3 + j] = i * psi[3 + j] + i1 * dot(k, e) * psi[j]


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
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    z = np.empty(6)
    step = np.empty((3, 4))
    whole = np.empty((3, 4))
    h = np.empty((k, 6))
    for s in range(S):
        inc = first[element[s]]
        for i in range(3):
            for j in range(4):
                suffix[s, k - 1, i, j] = 1.0 if i == j else 0.0
        for a in range(k - 1, -1, -1):
            for i in range(6):
                z[i] = b[s, a] * psi[inc + a, i]
            tau_pose(kind, z, step, V, Q)
            T, col = suffix[s, a], 6 * (a + 1)
            _write_stage(T, V, Q, b[s, a], J[s], col)
            if strains:
                _strain_stage(kind, z, T, psi[inc + a], db[s, a], B[s], col, h[a], V, Q)
            compose(step, T, suffix[s, a - 1] if a > 0 else whole)
        if frames:
            write_adjoint_inverse(whole, 1.0, J[s], 0)
            compose(controls[inc], whole, g[s])
        if strains:
            _accumulate_strain(db[s], h, suffix[s], J[s], e[s], B[s], xim[s])


@leaf
def _accumulate_strain(db, h, suffix, J, e, B, xim):  # type: ignore[no-untyped-def]
    """Sum xi stage by stage and add ad(xi_i^-) P_i to B (see the module docstring)."""
    for i in range(6):
        e[i] = 0.0
        for j in range(6):
            B[i, j] = 0.0
    for a in range(len(db)):
        u0, u1, u2, v0, v1, v2 = e[0], e[1], e[2], e[3], e[4], e[5]
        for i in range(6):
            xim[a, i] = e[i]
        for c in range(6 * (a + 1), 6 * (a + 1) + 3):
            f0, f1, f2 = J[0, c], J[1, c], J[2, c]
            q0, q1, q2 = J[3, c], J[4, c], J[5, c]
            a0 = u1 * f2 - u2 * f1
            a1 = u2 * f0 - u0 * f2
            a2 = u0 * f1 - u1 * f0
            B[0, c] += a0
            B[1, c] += a1
            B[2, c] += a2
            B[3, c + 3] += a0
            B[4, c + 3] += a1
            B[5, c + 3] += a2
            B[3, c] += v1 * f2 - v2 * f1 + u1 * q2 - u2 * q1
            B[4, c] += v2 * f0 - v0 * f2 + u2 * q0 - u0 * q2
            B[5, c] += v0 * f1 - v1 * f0 + u0 * q1 - u1 * q0
        add_to_body(suffix[a], db[a], h[a], e)
