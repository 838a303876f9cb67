"""Second derivatives of the increments between control poses (see `chain`).

Along constant twists of the poses, for a covector d = (D+)^T c,

    c . Psi_i'' = -Psi_i' . M(Psi_i, d) Psi_i' + d . [x_i, Ad(tau(Psi_i))^-1 x_{i-1}],

with M of `lie.blocks.add_second`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie.blocks import (
    add_second,
    add_to_body,
    carry_wrench,
    subtract_bracket,
    tangent_rate,
    tau_pose,
    write_adjoint_inverse,
)
from pliant.lie.tuples import add, cross, read_vector
from pliant.rods.chain import lift_matrix


@inner
def _covectors(first, plus, ry, c, d):  # type: ignore[no-untyped-def]
    """d_i = (D+_i)^T c_i, with c (n, 6) the sum over elements of the covectors on each increment."""
    for i in range(c.shape[0]):
        for j in range(6):
            c[i, j] = 0.0
    E, m = ry.shape
    for e in range(E):
        for a in range(m // 6 - 1):
            for j in range(6):
                c[first[e] + a, j] += ry[e, 6 * (a + 1) + j]
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
    T = np.empty((3, 4))
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    for j in range(6):
        mu[n, j] = r[n, j]
    for i in range(n - 1, -1, -1):
        tau_pose(kind, psi[i], T, V, Q)
        carry_wrench(T, mu[i + 1], mu[i])
        for j in range(6):
            mu[i, j] += r[i, j]


@inner
def _add_brackets(kind, first, owner, psi, d, K):  # type: ignore[no-untyped-def]
    """Add the second derivative d_i . [x_i, A x_{i-1}], A = Ad(tau(Psi_i))^-1, of all i to K (E, m, m).

    With d = (m, n) and the blocks F, G of A, half of it is [[m^ F + n^ G, n^ F], [n^ F, 0]] / -2.
    """
    A = np.empty((6, 6))
    T = np.empty((3, 4))
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    for i in range(psi.shape[0]):
        tau_pose(kind, psi[i], T, V, Q)
        write_adjoint_inverse(T, -0.5, A, 0)
        m, n = read_vector(d[i], 0), read_vector(d[i], 3)
        e = owner[i]
        at = 6 * (i - first[e])
        for b in range(3):
            f = (A[0, b], A[1, b], A[2, b])
            g = (A[3, b], A[4, b], A[5, b])
            lower = cross(n, f)
            upper = add(1.0, cross(m, f), 1.0, cross(n, g))
            for a in range(3):
                K[e, at + 6 + a, at + b] += upper[a]
                K[e, at + b, at + 6 + a] += upper[a]
                K[e, at + 6 + a, at + 3 + b] += lower[a]
                K[e, at + 3 + b, at + 6 + a] += lower[a]
                K[e, at + 9 + a, at + b] += lower[a]
                K[e, at + b, at + 9 + a] += lower[a]


@kernel
def lift_tangent(kind, first, owner, psi, plus, minus, ry, r, Ky, K, base):  # type: ignore[no-untyped-def]
    """K (E, m, m) = T^T Ky T + second derivative of ry . y(x); see `BSplineMap.lift_tangent`.

    r (n+1, 6) is the residual left on the control poses, empty if the second-order chart is meant;
    base (6,) receives the wrench passed on to the base. owner (n,): the element that takes what
    increment i gives. The part quadratic in the rates of the increments is added to Ky.
    """
    n = psi.shape[0]
    d = np.empty((n, 6))
    mu = np.empty((n + 1, 6))
    _covectors(first, plus, ry, mu[:n], d)
    if r.shape[0] > 0:
        accumulate_balance(kind, psi, r, mu)
        for j in range(6):
            base[j] = mu[0, j]
            for i in range(n):
                d[i, j] -= mu[i + 1, j]
    for i in range(n):
        e = owner[i]
        add_second(kind, psi[i], d[i], -1.0, Ky[e], 6 * (i - first[e] + 1))
    lift_matrix(first, plus, minus, plus, minus, Ky, K)
    _add_brackets(kind, first, owner, psi, d, K)


@kernel
def add_chart(kind, first, psi, plus, minus, r, K, base):  # type: ignore[no-untyped-def]
    """Add the second derivative of the chart Psi_i + Psi_i', felt by r (n+1, 6), to K (E, m, m).

    For elements whose variables are the twists of their poses, which follow one another without
    overlap but for the pose that they share. base (6,) receives the wrench passed on to the base.
    """
    n, m = psi.shape[0], K.shape[1]
    mu = np.empty((n + 1, 6))
    d = np.empty((n, 6))
    owner = np.empty(n, dtype=np.int64)
    M, T, MT = np.empty((6, 6)), np.empty((6, 12)), np.empty((6, 12))
    accumulate_balance(kind, psi, r, mu)
    for j in range(6):
        base[j] = mu[0, j]
    for i in range(n):
        e = i // (m // 6 - 1)
        owner[i] = e
        at = 6 * (i - first[e])
        for a in range(6):
            d[i, a] = -mu[i + 1, a]
            for b in range(6):
                M[a, b] = 0.0
                T[a, b], T[a, 6 + b] = minus[i, a, b], plus[i, a, b]
        add_second(kind, psi[i], d[i], -1.0, M, 0)
        for a in range(6):
            for b in range(12):
                v = 0.0
                for c in range(6):
                    v += M[a, c] * T[c, b]
                MT[a, b] = v
        for a in range(12):
            for b in range(12):
                v = 0.0
                for c in range(6):
                    v += T[c, a] * MT[c, b]
                K[e, at + a, at + b] += v
    _add_brackets(kind, first, owner, psi, d, K)


@kernel
def increment_bias(kind, psi, plus, minus, first, x, ydd):  # type: ignore[no-untyped-def]
    """ydd (E, m): second time derivative of y when the control poses move at constant twists x.

    Psi'' = D+ ([x_i, A x_{i-1}] - D(dtau)[Psi'] Psi'), A = Ad(tau(Psi))^-1.
    """
    E, m = x.shape
    v = np.empty(6)
    rate = np.empty(6)
    before = np.empty(6)
    T = np.empty((3, 4))
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    for e in range(E):
        for i in range(6):
            ydd[e, i] = 0.0
        for a in range(m // 6 - 1):
            c = 6 * a
            i = first[e] + a
            for r in range(6):
                before[r] = 0.0
                v[r] = 0.0
                for j in range(6):
                    v[r] += minus[i, r, j] * x[e, c + j] + plus[i, r, j] * x[e, c + 6 + j]
            tau_pose(kind, psi[i], T, V, Q)
            add_to_body(T, 1.0, x[e, c : c + 6], before)
            tangent_rate(kind, psi[i], v, rate)
            subtract_bracket(x[e, c + 6 : c + 12], before, rate)
            for r in range(6):
                u = 0.0
                for j in range(6):
                    u -= plus[i, r, j] * rate[j]
                ydd[e, c + 6 + r] = u
