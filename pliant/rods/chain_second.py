"""Second derivatives of the increments between control poses (see `chain`).

Along constant twists of the poses, for a covector d = (D+)^T c,

    c . Psi_i'' = -Psi_i' . M(Psi_i, d) Psi_i' + d . [x_i, Ad(tau(Psi_i))^-1 x_{i-1}],

with M of `lie.blocks.add_tangent_second`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie.blocks import add_tangent_second, bracket_pair, tangent_rate, tau_pose
from pliant.rods.chain import adjoint_inverse, lift_matrix


@inner
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


@inner
def covectors(plus, c, d):  # type: ignore[no-untyped-def]
    """d_i = (D+_i)^T c_i."""
    for i in range(c.shape[0]):
        for j in range(6):
            v = 0.0
            for a in range(6):
                v += plus[i, a, j] * c[i, a]
            d[i, j] = v


@inner
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


@inner
def _add_brackets(kind, first, owner, psi, d, K):  # type: ignore[no-untyped-def]
    """Add the second derivative d_i . [x_i, Ad(tau(Psi_i))^-1 x_{i-1}] of all i to K (E, m, m)."""
    A = np.empty((6, 6))
    eye = np.eye(3)
    zero = np.zeros((3, 3))
    R = np.empty((3, 3))
    p = np.empty(3)
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    H = np.empty((6, 6))
    for i in range(psi.shape[0]):
        tau_pose(kind, psi[i], R, p, V, Q)
        adjoint_inverse(R, p, A)
        # d.[x_i, A x_{i-1}] = x_i . N(d) A x_{i-1}: minus the pair written by bracket_pair
        H[:, :] = 0.0
        bracket_pair(eye, zero, d[i], A[0:3, 0:3], A[3:6, 0:3], -0.5, H, 0, 0)
        e = owner[i]
        at = 6 * (i - first[e])
        for a in range(6):
            for b in range(6):
                K[e, at + 6 + a, at + b] += H[a, b]
                K[e, at + b, at + 6 + a] += H[a, b]


@kernel
def lift_tangent(kind, first, owner, psi, plus, minus, ry, r, Ky, K, base):  # type: ignore[no-untyped-def]
    """K (E, m, m) = T^T Ky T + second derivative of ry . y(x); see `BSplineMap.lift_tangent`.

    r (n+1, 6) is the residual left on the control poses, empty if the second-order chart is meant;
    base (6,) receives the wrench passed on to the base. owner (n,): the element that takes what
    increment i gives. The part quadratic in the rates of the increments is added to Ky.
    """
    n = psi.shape[0]
    c = np.empty((n, 6))
    d = np.empty((n, 6))
    gather_increments(first, ry, n, c)
    covectors(plus, c, d)
    if r.shape[0] > 0:
        mu = np.empty((n + 1, 6))
        accumulate_balance(kind, psi, r, mu)
        for i in range(n):
            for j in range(6):
                d[i, j] -= mu[i + 1, j]
        for j in range(6):
            base[j] = mu[0, j]
    for i in range(n):
        e = owner[i]
        add_tangent_second(kind, psi[i], d[i], -1.0, Ky[e], 6 * (i - first[e] + 1))
    lift_matrix(first, plus, minus, plus, minus, Ky, K)
    _add_brackets(kind, first, owner, psi, d, K)


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
            adjoint_inverse(R, p, A)
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
