"""Kernels that tie a chain of control poses to the increments between them.

Control poses satisfy g_i = g_{i-1} tau(Psi_i). With body twists x_i of the poses,

    Psi_i' = D+_i x_i + D-_i x_{i-1},   D+ = dtau(Psi)^-1,   D- = -D+ Ad(tau(Psi))^-1.

An element holds the k + 1 poses from `first` on, and its
variables are y = (x_first, Psi_{first+1}, ..., Psi_{first+k}).
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie.blocks import compose, invert_tangent, tau_pose
from pliant.lie.se3_kernels import exp_pose_array, multiply_array, relative_array


@kernel
def propagate(kind, base, psi, controls, plus, minus):  # type: ignore[no-untyped-def]
    """Control poses (n+1, 4, 4) from increments psi (n, 6), with D+ and D- (n, 6, 6).

    As Ad(tau(z)) dtau(z) = dtau(-z), D- is -dtau(-Psi)^-1, whose blocks are those of D+ transposed.
    """
    T = np.empty((3, 4))
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    W = np.empty((3, 3))
    X = np.empty((3, 3))
    for a in range(3):
        for b in range(4):
            controls[0, a, b] = base[a, b]
    for i in range(psi.shape[0]):
        tau_pose(kind, psi[i], T, V, Q)
        compose(controls[i], T, controls[i + 1])
        invert_tangent(V, Q, W, X)
        for a in range(3):
            for b in range(3):
                plus[i, a, b] = plus[i, a + 3, b + 3] = W[a, b]
                plus[i, a + 3, b] = X[a, b]
                minus[i, b, a] = minus[i, b + 3, a + 3] = -W[a, b]
                minus[i, b + 3, a] = -X[a, b]


@kernel
def lift_velocity(first, plus, minus, x, y):  # type: ignore[no-untyped-def]
    """y (E, m) from the twists x (E, m) of each element's control poses."""
    E, m = x.shape
    for e in range(E):
        for i in range(6):
            y[e, i] = x[e, i]
        for a in range(m // 6 - 1):
            c = 6 * a
            P = plus[first[e] + a]
            N = minus[first[e] + a]
            for i in range(6):
                v = 0.0
                for j in range(6):
                    v += N[i, j] * x[e, c + j] + P[i, j] * x[e, c + 6 + j]
                y[e, c + 6 + i] = v


@inner
def _add_product(D, rows, out):  # type: ignore[no-untyped-def]
    """out += D^T rows for D = [[W, 0], [X, W]] (6, 6), rows and out (6, p).

    One output a loop: with two the compiler spends more on telling them apart than on the sums.
    """
    p = rows.shape[1]
    r0, r1, r2, r3, r4, r5 = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    for j in range(3):
        a, b, c, d, e, f = D[0, j], D[1, j], D[2, j], D[3, j], D[4, j], D[5, j]
        upper = out[j]
        for q in range(p):
            upper[q] += a * r0[q] + b * r1[q] + c * r2[q] + d * r3[q] + e * r4[q] + f * r5[q]
    for j in range(3, 6):
        d, e, f = D[3, j], D[4, j], D[5, j]
        lower = out[j]
        for q in range(p):
            lower[q] += d * r3[q] + e * r4[q] + f * r5[q]


@inner
def _lift_columns(first, plus, minus, A, out):  # type: ignore[no-untyped-def]
    """out = T^T A for A (m, p) of the element whose first increment is `first`."""
    m, p = A.shape
    for i in range(m):
        for q in range(p):
            out[i, q] = A[i, q] if i < 6 else 0.0
    for a in range(m // 6 - 1):
        c = 6 * a
        rows = A[c + 6 : c + 12]
        _add_product(minus[first + a], rows, out[c : c + 6])
        _add_product(plus[first + a], rows, out[c + 6 : c + 12])


@inner
def transpose(A, out):  # type: ignore[no-untyped-def]
    """out = A^T."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[j, i] = A[i, j]


@kernel
def lift_rows(first, plus, minus, Cy, C):  # type: ignore[no-untyped-def]
    """C (E, p, m) = Cy T: several covectors of each element, as rows."""
    E, p, m = Cy.shape
    for e in range(E):
        for q in range(p):
            row, out = Cy[e, q], C[e, q]
            for j in range(6):
                out[j] = row[j]
            for a in range(first[e], first[e] + m // 6 - 1):
                _lift_row(row, minus[a], plus[a], out, 6 * (a - first[e]))


@leaf
def _lift_row(row, N, P, out, at):  # type: ignore[no-untyped-def]
    """What an increment gives to the two poses at its ends: out[at:at+6] += u N, the next six = u P.

    u are the entries of `row` that belong to the increment.
    """
    a, b, c = row[at + 6], row[at + 7], row[at + 8]
    d, e, f = row[at + 9], row[at + 10], row[at + 11]
    for j in range(6):
        v = a * N[0, j] + b * N[1, j] + c * N[2, j] + d * N[3, j] + e * N[4, j] + f * N[5, j]
        out[at + j] += v
    for j in range(6):
        v = a * P[0, j] + b * P[1, j] + c * P[2, j] + d * P[3, j] + e * P[4, j] + f * P[5, j]
        out[at + 6 + j] = v


@kernel
def lift_matrix(first, plus_l, minus_l, plus_r, minus_r, Ky, K):  # type: ignore[no-untyped-def]
    """K (E, m, m) = T_l^T Ky T_r."""
    E, m, _ = Ky.shape
    A = np.empty((m, m))
    B = np.empty((m, m))
    for e in range(E):
        _lift_columns(first[e], plus_l, minus_l, Ky[e], A)
        transpose(A, B)
        _lift_columns(first[e], plus_r, minus_r, B, A)
        transpose(A, K[e])


@kernel
def retract_increments(kind, controls, base, x, out):  # type: ignore[no-untyped-def]
    """out_i = tau^-1(h_{i-1}^-1 h_i) with h_i = g_i exp(x_i), h_0 = base; x (n+1, 6)."""
    step = np.empty((4, 4))
    moved = np.empty((2, 4, 4))
    for i in range(out.shape[0]):
        exp_pose_array(x[i + 1], step)
        multiply_array(controls[i + 1], step, moved[i % 2])
        relative_array(kind, moved[(i + 1) % 2] if i > 0 else base, moved[i % 2], out[i])


@kernel
def advance_increments(psi, plus, minus, x, out):  # type: ignore[no-untyped-def]
    """out_i = Psi_i + D+_i x_i + D-_i x_{i-1}, x (n+1, 6) twists of the control poses."""
    for i in range(psi.shape[0]):
        for a in range(6):
            v = psi[i, a]
            for b in range(6):
                v += plus[i, a, b] * x[i + 1, b] + minus[i, a, b] * x[i, b]
            out[i, a] = v
