"""Second derivatives of the cumulative curve on SE(3) in the variables of a span (see `cumulative`).

With a . N(d) b = d . [a, b] the Lie bracket paired with a wrench d, and M the second form of
`lie.blocks.add_second`; derivation in `docs/theory/cumulative_splines.md`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie.blocks import (
    add_second,
    add_to_body,
    bracket_pair,
    carry_wrench,
    subtract_bracket,
    tangent_rate,
)
from pliant.lie.operators import DTWIST, EXP
from pliant.lie.tuples import add, cross, read_vector, write_vector


@kernel
def add_frame_second(kind, first, element, b, psi, J, suffix, f, k, K):  # type: ignore[no-untyped-def]
    """K (E, m, m) += the second derivative of sum_s f_s . log(g_s^-1 g_s(y)), and sum_s J_s^T k_s J_s.

    Cross blocks of stages j < i: -1/2 P_i^T N(f) P_j; diagonal blocks: b_i^2 M(b_i Psi_i, f_i).
    k (S, 6, 6), empty for none. For dead forces f = (0, n) with their k =
    1/2 [[0, -n^], [n^, 0]] both parts are n . (w_j x v_i), the angular and linear parts of P_j and P_i.
    """
    S, degree = b.shape
    m = K.shape[1]
    z = np.empty(6)
    u = np.empty(6)
    row = np.empty(m)
    H = np.zeros((m, m))
    for s in range(S):
        inc = first[element[s]]
        acts = k.shape[0] > 0
        dead = acts and _is_dead(f[s], k[s])
        if acts and not dead:
            _add_form(J[s], k[s], row, K[element[s]])
        for c in range(0, m, 6):
            for d in range(0, c, 6):
                if dead:
                    _turn_force(J[s], f[s], 1.0, H, c, d)
                else:
                    bracket_pair(J[s], f[s], J[s], 0.5, H, c, d)
            if dead:
                _turn_force(J[s], f[s], 0.5, H, c, c)
        for i in range(degree):
            for r in range(6):
                z[r] = b[s, i] * psi[inc + i, r]
            carry_wrench(suffix[s, i], f[s], u)
            add_second(kind, z, u, 0.5 * b[s, i] * b[s, i], H, 6 * (i + 1))
        if s == S - 1 or element[s + 1] != element[s]:
            _add_symmetrised(H, K[element[s]])


@inner
def _is_dead(f, k):  # type: ignore[no-untyped-def]
    """Whether f (6,) is a force (0, n) and k (6, 6) its derivative 1/2 [[0, -n^], [n^, 0]]."""
    if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
        return False
    near = 1e-14 * (abs(f[3]) + abs(f[4]) + abs(f[5]))
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            hat = f[3 + i2] if j == i1 else -f[3 + i1] if j == i2 else 0.0
            if k[i, j] != 0.0 or k[3 + i, 3 + j] != 0.0:
                return False
            if abs(k[i, 3 + j] - 0.5 * hat) > near or abs(k[3 + i, j] + 0.5 * hat) > near:
                return False
    return True


@inner
def _add_form(J, k, row, K):  # type: ignore[no-untyped-def]
    """K (m, m) += J^T k J; row (m,) is workspace."""
    m = np.uint64(K.shape[0])
    for i in range(6):
        alive = False
        for a in range(m):
            row[a] = 0.0
        for j in range(6):
            v, line = k[i, j], J[j]
            if v != 0.0:
                alive = True
                for a in range(m):
                    row[a] += v * line[a]
        if alive:
            for a in range(m):
                v, out = J[i, a], K[a]
                if v != 0.0:
                    for c in range(m):
                        out[c] += v * row[c]


@leaf
def _turn_force(J, f, scale, out, row, col):  # type: ignore[no-untyped-def]
    """out[row:row+6, col:col+3] += scale v^T (n x w): f = (., n), w and v rows of J."""
    for j in range(col, col + 3):
        a = cross(read_vector(f, 3), (J[0, j], J[1, j], J[2, j]))
        for i in range(row, row + 6):
            out[i, j] += scale * (J[3, i] * a[0] + J[4, i] * a[1] + J[5, i] * a[2])


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
    X = np.empty((6, m))
    H = np.zeros((m, m))
    for s in range(S):
        inc = first[element[s]]
        for i in range(k):
            c = 6 * (i + 1)
            for d in range(6, c, 6):
                bracket_pair(J[s], sigma[s], B[s], 1.0, H, c, d)
            for r in range(6):
                z[r] = b[s, i] * psi[inc + i, r]
            if i > 0:
                _bracket_columns(xim[s, i], J[s], X, c)
                bracket_pair(J[s], sigma[s], X, 0.5, H, c, c)
                _bracket_wrench(sigma[s], xim[s, i], w)
                carry_wrench(suffix[s, i], w, u)
                add_second(kind, z, u, 0.5 * b[s, i] * b[s, i], H, c)
            if kind != EXP:
                carry_wrench(suffix[s, i], sigma[s], u)
                add_second(DTWIST, z, u, 0.5 * b[s, i] * db[s, i], H, c)
        if s == S - 1 or element[s + 1] != element[s]:
            _add_symmetrised(H, K[element[s]])


@leaf
def _bracket_columns(x, P, X, col):  # type: ignore[no-untyped-def]
    """X[:, col:col+3] = ad(x) P, for the operator whose blocks are P[:, col:col+3]."""
    u, v = read_vector(x, 0), read_vector(x, 3)
    for j in range(col, col + 3):
        f, g = (P[0, j], P[1, j], P[2, j]), (P[3, j], P[4, j], P[5, j])
        X[0, j], X[1, j], X[2, j] = cross(u, f)
        X[3, j], X[4, j], X[5, j] = add(1.0, cross(v, f), 1.0, cross(u, g))


@leaf
def _bracket_wrench(d, x, out):  # type: ignore[no-untyped-def]
    """out = -N(d) x, so that a . out = d . [x, a]."""
    m, n = read_vector(d, 0), read_vector(d, 3)
    u, v = read_vector(x, 0), read_vector(x, 3)
    write_vector(out, 0, add(1.0, cross(m, u), 1.0, cross(n, v)))
    write_vector(out, 3, cross(n, u))


@inner
def _add_symmetrised(H, K):  # type: ignore[no-untyped-def]
    """K += H + H^T, where H holds lower blocks in full and diagonal blocks by half; H is cleared."""
    for i in range(H.shape[0]):
        begin = i - i % 6
        for j in range(i):
            v = H[i, j] if j < begin else H[i, j] + H[j, i]
            K[i, j] += v
            K[j, i] += v
        K[i, i] += 2.0 * H[i, i]
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
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
            add_to_body(suffix[s, a], b[s, a] * b[s, a], acc, bias[s])
            for i in range(6):
                eta[i] += th[i]
