"""Kernels that tie a chain of control poses to the increments between them.

Control poses satisfy g_i = g_{i-1} tau(Psi_i). With body twists x_i of the poses,

    Psi_i' = D+_i x_i + D-_i x_{i-1},   D+ = dtau(Psi)^-1,   D- = -D+ Ad(tau(Psi))^-1,

and along constant twists, for a covector d = (D+)^T c,

    c . Psi_i'' = -Psi_i' . M(Psi_i, d) Psi_i' + d . [x_i, Ad(tau(Psi_i))^-1 x_{i-1}],

with M of `lie.blocks.add_tangent_second`. An element holds the k + 1 poses from `first` on, and its
variables are y = (x_first, Psi_{first+1}, ..., Psi_{first+k}).
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.lie.blocks import (
    add_tangent_second,
    bracket_pair,
    invert_tangent,
    tangent_rate,
    tau_pose,
)


@kernel
def propagate(kind, base, psi, controls, plus, minus):  # type: ignore[no-untyped-def]
    """Control poses (n+1, 4, 4) from increments psi (n, 6), with D+ and D- (n, 6, 6)."""
    n = psi.shape[0]
    R = np.empty((3, 3))
    p = np.empty(3)
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    W = np.empty((3, 3))
    X = np.empty((3, 3))
    controls[0] = base
    for i in range(n):
        tau_pose(kind, psi[i], R, p, V, Q)
        invert_tangent(V, Q, W, X)
        for a in range(3):
            controls[i + 1, a, 3] = controls[i, a, 3]
            controls[i + 1, 3, a] = 0.0
            for b in range(3):
                controls[i + 1, a, 3] += controls[i, a, b] * p[b]
                controls[i + 1, a, b] = 0.0
                for c in range(3):
                    controls[i + 1, a, b] += controls[i, a, c] * R[c, b]
                plus[i, a, b] = W[a, b]
                plus[i, a + 3, b + 3] = W[a, b]
                plus[i, a + 3, b] = X[a, b]
                plus[i, a, b + 3] = 0.0
        controls[i + 1, 3, 3] = 1.0
        _times_adjoint_inverse(plus[i], R, p, minus[i])


@kernel
def _times_adjoint_inverse(D, R, p, out):  # type: ignore[no-untyped-def]
    """out = -D Ad((R,p))^-1 for D = [[W, 0], [X, W]]; Ad^-1 = [[R^T, 0], [-R^T p^, R^T]]."""
    for a in range(3):
        for b in range(3):
            f = D[a, 0] * R[b, 0] + D[a, 1] * R[b, 1] + D[a, 2] * R[b, 2]
            out[a, b] = -f
            out[a + 3, b + 3] = -f
            out[a, b + 3] = 0.0
    for a in range(3):
        # rows of W R^T are -out[a, :3]; subtract W R^T p^
        w0, w1, w2 = -out[a, 0], -out[a, 1], -out[a, 2]
        c0 = w1 * p[2] - w2 * p[1]
        c1 = w2 * p[0] - w0 * p[2]
        c2 = w0 * p[1] - w1 * p[0]
        x0 = D[a + 3, 0] * R[0, 0] + D[a + 3, 1] * R[0, 1] + D[a + 3, 2] * R[0, 2]
        x1 = D[a + 3, 0] * R[1, 0] + D[a + 3, 1] * R[1, 1] + D[a + 3, 2] * R[1, 2]
        x2 = D[a + 3, 0] * R[2, 0] + D[a + 3, 1] * R[2, 1] + D[a + 3, 2] * R[2, 2]
        out[a + 3, 0] = -(x0 - c0)
        out[a + 3, 1] = -(x1 - c1)
        out[a + 3, 2] = -(x2 - c2)


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


@kernel
def lift_vector(first, plus, minus, ry, r):  # type: ignore[no-untyped-def]
    """r (E, m) = T^T ry: covectors on y carried to the twists of the control poses."""
    E, m = ry.shape
    for e in range(E):
        for i in range(6):
            r[e, i] = ry[e, i]
        for a in range(m // 6 - 1):
            c = 6 * a
            P = plus[first[e] + a]
            N = minus[first[e] + a]
            for j in range(6):
                u = 0.0
                v = 0.0
                for i in range(6):
                    u += N[i, j] * ry[e, c + 6 + i]
                    v += P[i, j] * ry[e, c + 6 + i]
                r[e, c + j] += u
                r[e, c + 6 + j] = v


@kernel
def _lift_rows(first, plus, minus, A, out):  # type: ignore[no-untyped-def]
    """out = T^T A for A (m, p) of the element whose first increment is `first`.

    T is block bidiagonal with blocks [[W, 0], [X, W]], so rows are combined, six at a time.
    """
    m, p = A.shape
    for i in range(6):
        for q in range(p):
            out[i, q] = A[i, q]
    for a in range(m // 6 - 1):
        c = 6 * a
        P = plus[first + a]
        N = minus[first + a]
        R = A[c + 6 : c + 12]
        for j in range(3):
            n0, n1, n2, n3, n4, n5 = N[0, j], N[1, j], N[2, j], N[3, j], N[4, j], N[5, j]
            p0, p1, p2, p3, p4, p5 = P[0, j], P[1, j], P[2, j], P[3, j], P[4, j], P[5, j]
            low = out[c + j]
            up = out[c + 6 + j]
            for q in range(p):
                a0, a1, a2, a3, a4, a5 = R[0, q], R[1, q], R[2, q], R[3, q], R[4, q], R[5, q]
                low[q] += n0 * a0 + n1 * a1 + n2 * a2 + n3 * a3 + n4 * a4 + n5 * a5
                up[q] = p0 * a0 + p1 * a1 + p2 * a2 + p3 * a3 + p4 * a4 + p5 * a5
        for j in range(3, 6):
            n3, n4, n5 = N[3, j], N[4, j], N[5, j]
            p3, p4, p5 = P[3, j], P[4, j], P[5, j]
            low = out[c + j]
            up = out[c + 6 + j]
            for q in range(p):
                a3, a4, a5 = R[3, q], R[4, q], R[5, q]
                low[q] += n3 * a3 + n4 * a4 + n5 * a5
                up[q] = p3 * a3 + p4 * a4 + p5 * a5


@kernel
def lift_rows(first, plus, minus, Cy, C):  # type: ignore[no-untyped-def]
    """C (E, p, m) = Cy T: several covectors of each element, as rows."""
    E, p, m = Cy.shape
    A = np.empty((m, p))
    B = np.empty((m, p))
    for e in range(E):
        for i in range(m):
            for q in range(p):
                A[i, q] = Cy[e, q, i]
        _lift_rows(first[e], plus, minus, A, B)
        for i in range(m):
            for q in range(p):
                C[e, q, i] = B[i, q]


@kernel
def lift_matrix(first, plus_l, minus_l, plus_r, minus_r, Ky, K):  # type: ignore[no-untyped-def]
    """K (E, m, m) = T_l^T Ky T_r: rows of the transpose, then rows."""
    E, m, _ = Ky.shape
    A = np.empty((m, m))
    B = np.empty((m, m))
    for e in range(E):
        for i in range(m):
            for j in range(m):
                A[i, j] = Ky[e, j, i]
        _lift_rows(first[e], plus_r, minus_r, A, B)
        for i in range(m):
            for j in range(m):
                A[i, j] = B[j, i]
        _lift_rows(first[e], plus_l, minus_l, A, K[e])


@kernel
def gather_increments(first, ry, count, c):  # type: ignore[no-untyped-def]
    """c (n, 6): sum over elements of the covectors on each increment."""
    for i in range(count):
        for j in range(6):
            c[i, j] = 0.0
    E, m = ry.shape
    for e in range(E):
        for a in range(m // 6 - 1):
            for j in range(6):
                c[first[e] + a, j] += ry[e, 6 * (a + 1) + j]


@kernel
def covectors(plus, c, d):  # type: ignore[no-untyped-def]
    """d_i = (D+_i)^T c_i."""
    for i in range(c.shape[0]):
        for j in range(6):
            v = 0.0
            for a in range(6):
                v += plus[i, a, j] * c[i, a]
            d[i, j] = v


@kernel
def accumulate_balance(kind, psi, r, mu):  # type: ignore[no-untyped-def]
    """mu_i = r_i + Ad(tau(Psi_{i+1}))^-T mu_{i+1}: out-of-balance wrench beyond pose i, r (n+1, 6)."""
    n = psi.shape[0]
    R = np.empty((3, 3))
    p = np.empty(3)
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    for j in range(6):
        mu[n, j] = r[n, j]
    for i in range(n - 1, -1, -1):
        tau_pose(kind, psi[i], R, p, V, Q)
        h = mu[i + 1]
        f0 = R[0, 0] * h[3] + R[0, 1] * h[4] + R[0, 2] * h[5]
        f1 = R[1, 0] * h[3] + R[1, 1] * h[4] + R[1, 2] * h[5]
        f2 = R[2, 0] * h[3] + R[2, 1] * h[4] + R[2, 2] * h[5]
        mu[i, 0] = (
            r[i, 0] + R[0, 0] * h[0] + R[0, 1] * h[1] + R[0, 2] * h[2] + p[1] * f2 - p[2] * f1
        )
        mu[i, 1] = (
            r[i, 1] + R[1, 0] * h[0] + R[1, 1] * h[1] + R[1, 2] * h[2] + p[2] * f0 - p[0] * f2
        )
        mu[i, 2] = (
            r[i, 2] + R[2, 0] * h[0] + R[2, 1] * h[1] + R[2, 2] * h[2] + p[0] * f1 - p[1] * f0
        )
        mu[i, 3] = r[i, 3] + f0
        mu[i, 4] = r[i, 4] + f1
        mu[i, 5] = r[i, 5] + f2


@kernel
def add_increment_second(kind, first, owner, psi, plus, minus, d, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of sum_i c_i . Psi_i(x) with d_i = (D+)^T c_i to K (E, m, m).

    owner (n,): the element that takes the block of increment i.
    """
    n = psi.shape[0]
    M = np.empty((6, 6))
    W = np.empty((6, 12))
    T = np.empty((6, 12))
    A = np.empty((6, 6))
    eye = np.eye(3)
    zero = np.zeros((3, 3))
    R = np.empty((3, 3))
    p = np.empty(3)
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    H = np.zeros((12, 12))
    for i in range(n):
        M[:, :] = 0.0
        add_tangent_second(kind, psi[i], d[i], -1.0, M, 0)
        for a in range(6):
            for b in range(6):
                T[a, b] = minus[i, a, b]
                T[a, b + 6] = plus[i, a, b]
        for a in range(6):
            for b in range(12):
                v = 0.0
                for c in range(6):
                    v += M[a, c] * T[c, b]
                W[a, b] = v
        for a in range(12):
            for b in range(12):
                v = 0.0
                for c in range(6):
                    v += T[c, a] * W[c, b]
                H[a, b] = v
        tau_pose(kind, psi[i], R, p, V, Q)
        _adjoint_inverse(R, p, A)
        # d.[x_i, A x_{i-1}] = x_i . N(d) A x_{i-1}: minus the pair written by bracket_pair
        bracket_pair(eye, zero, d[i], A[0:3, 0:3], A[3:6, 0:3], -0.5, H, 6, 0)
        for a in range(6):
            for b in range(6):
                H[a, 6 + b] = H[6 + b, a]
        e = owner[i]
        at = 6 * (i - first[e])
        for a in range(12):
            for b in range(12):
                K[e, at + a, at + b] += H[a, b]


@kernel
def _adjoint_inverse(R, p, A):  # type: ignore[no-untyped-def]
    """A = Ad((R,p))^-1 = [[R^T, 0], [-R^T p^, R^T]]."""
    for a in range(3):
        w0, w1, w2 = R[0, a], R[1, a], R[2, a]
        for b in range(3):
            A[a, b] = R[b, a]
            A[a + 3, b + 3] = R[b, a]
            A[a, b + 3] = 0.0
        A[a + 3, 0] = -(w1 * p[2] - w2 * p[1])
        A[a + 3, 1] = -(w2 * p[0] - w0 * p[2])
        A[a + 3, 2] = -(w0 * p[1] - w1 * p[0])


@kernel
def increment_bias(kind, psi, plus, minus, first, x, ydd):  # type: ignore[no-untyped-def]
    """ydd (E, m): second time derivative of y when the control poses move at constant twists x.

    Psi'' = D+ ([x_i, A x_{i-1}] - D(dtau)[Psi'] Psi'), A = Ad(tau(Psi))^-1.
    """
    E, m = x.shape
    v = np.empty(6)
    rate = np.empty(6)
    a1 = np.empty(6)
    A = np.empty((6, 6))
    R = np.empty((3, 3))
    p = np.empty(3)
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    for e in range(E):
        for i in range(6):
            ydd[e, i] = 0.0
        for a in range(m // 6 - 1):
            c = 6 * a
            i = first[e] + a
            tau_pose(kind, psi[i], R, p, V, Q)
            _adjoint_inverse(R, p, A)
            for r in range(6):
                v[r] = 0.0
                a1[r] = 0.0
                for j in range(6):
                    v[r] += minus[i, r, j] * x[e, c + j] + plus[i, r, j] * x[e, c + 6 + j]
                    a1[r] += A[r, j] * x[e, c + j]
            tangent_rate(kind, psi[i], v, rate)
            b = x[e, c + 6 : c + 12]
            rate[0] -= b[1] * a1[2] - b[2] * a1[1]
            rate[1] -= b[2] * a1[0] - b[0] * a1[2]
            rate[2] -= b[0] * a1[1] - b[1] * a1[0]
            rate[3] -= b[1] * a1[5] - b[2] * a1[4] + b[4] * a1[2] - b[5] * a1[1]
            rate[4] -= b[2] * a1[3] - b[0] * a1[5] + b[5] * a1[0] - b[3] * a1[2]
            rate[5] -= b[0] * a1[4] - b[1] * a1[3] + b[3] * a1[1] - b[4] * a1[0]
            for r in range(6):
                u = 0.0
                for j in range(6):
                    u -= plus[i, r, j] * rate[j]
                ydd[e, c + 6 + r] = u


@kernel
def advance_increments(psi, plus, minus, x, out):  # type: ignore[no-untyped-def]
    """out_i = Psi_i + D+_i x_i + D-_i x_{i-1}, x (n+1, 6) twists of the control poses."""
    for i in range(psi.shape[0]):
        for a in range(6):
            v = psi[i, a]
            for b in range(6):
                v += plus[i, a, b] * x[i + 1, b] + minus[i, a, b] * x[i, b]
            out[i, a] = v
