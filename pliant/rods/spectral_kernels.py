"""Kernels of spectral rods: interpolated positions and quaternions, their derivatives.

At a station, nodes i of an element have weights L_i and slopes L_i' (1/m). With unit quaternions Q_i,
positions p_i and rotations R_i of the nodes,

    p = sum L_i p_i,  Q = sum L_i Q_i,  R = R(Q / |Q|),
    u = 2 Im(Q* Q') / |Q|^2,  v = R^T p'.

Everything else is written in C_i = Q* Q_i / |Q|^2 = (a_i, b_i), nodes as the station sees them, for
which sum L_i C_i = 1. To second order, a node that turns by a rotation vector w_i multiplies C_i by
(1 - |w_i|^2 / 8, w_i / 2) from the right. `docs/theory/spectral.md` has the derivation.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie.quaternion_leaves import quaternion_matrix
from pliant.lie.tuples import add, apply, cross, dot, read_block, read_vector, transpose


@leaf
def _relative(q, Q, at):  # type: ignore[no-untyped-def]
    """q* Q[at]: the quaternion of a node as seen from q."""
    w, x, y, z = Q[at, 0], Q[at, 1], Q[at, 2], Q[at, 3]
    return (
        q[0] * w + q[1] * x + q[2] * y + q[3] * z,
        q[0] * x - q[1] * w - q[2] * z + q[3] * y,
        q[0] * y + q[1] * z - q[2] * w - q[3] * x,
        q[0] * z - q[1] * y + q[2] * x - q[3] * w,
    )


@leaf
def _turned(C):  # type: ignore[no-untyped-def]
    """R^T R_i of a node from C (4,), whose length does not matter."""
    s = 1.0 / sqrt(C[0] * C[0] + C[1] * C[1] + C[2] * C[2] + C[3] * C[3])
    return quaternion_matrix((s * C[0], s * C[1], s * C[2], s * C[3]))


@leaf
def _write_turn(scale, C, out, row, col):  # type: ignore[no-untyped-def]
    """out[row:row+3, col:col+3] = scale (a I + b^) of C = (a, b)."""
    a, x, y, z = scale * C[0], scale * C[1], scale * C[2], scale * C[3]
    out[row, col] = out[row + 1, col + 1] = out[row + 2, col + 2] = a
    out[row, col + 1], out[row, col + 2] = -z, y
    out[row + 1, col], out[row + 1, col + 2] = z, -x
    out[row + 2, col], out[row + 2, col + 1] = -y, x


@inner
def _see_nodes(first, L, poses, quaternions, C, g):  # type: ignore[no-untyped-def]
    """C (k+1, 4) of all nodes and the pose g (4, 4) of a station."""
    q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0
    p0, p1, p2 = 0.0, 0.0, 0.0
    for i in range(L.shape[0]):
        w = L[i]
        Q, P = quaternions[first + i], poses[first + i]
        q0 += w * Q[0]
        q1 += w * Q[1]
        q2 += w * Q[2]
        q3 += w * Q[3]
        p0 += w * P[0, 3]
        p1 += w * P[1, 3]
        p2 += w * P[2, 3]
    square = q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3
    s = 1.0 / sqrt(square)
    R = quaternion_matrix((s * q0, s * q1, s * q2, s * q3))
    for a in range(3):
        for b in range(3):
            g[a, b] = R[3 * a + b]
    g[0, 3], g[1, 3], g[2, 3] = p0, p1, p2
    for i in range(L.shape[0]):
        c = _relative((q0, q1, q2, q3), quaternions, first + i)
        for a in range(4):
            C[i, a] = c[a] / square


@inner
def _write_frame(L, C, J):  # type: ignore[no-untyped-def]
    """J (6, m): turn sum L_i (a_i w_i + b_i x w_i), shift sum L_i R^T R_i v_i."""
    for i in range(L.shape[0]):
        _write_turn(L[i], C[i], J, 0, 6 * i)
        T = _turned(C[i])
        for a in range(3):
            for b in range(3):
                J[a, 6 * i + 3 + b] = J[3 + a, 6 * i + b] = 0.0
                J[3 + a, 6 * i + 3 + b] = L[i] * T[3 * a + b]


@inner
def _write_strain(first, L, dL, poses, C, g, e, B):  # type: ignore[no-untyped-def]
    """Strain e (6,) and B (6, m), for the turn t of the station and d0 = u / 2, c0 = sum L_i' a_i:

    du = sum (L_i' - c0 L_i) (a_i w_i + b_i x w_i) + d0 x t + d0 sum L_i b_i . w_i,
    dv = sum L_i' R^T R_i v_i + v x t.
    """
    x, y, z, c0 = 0.0, 0.0, 0.0, 0.0
    d0, d1, d2 = 0.0, 0.0, 0.0
    for i in range(L.shape[0]):
        P = poses[first + i]
        x += dL[i] * P[0, 3]
        y += dL[i] * P[1, 3]
        z += dL[i] * P[2, 3]
        c0 += dL[i] * C[i, 0]
        d0 += dL[i] * C[i, 1]
        d1 += dL[i] * C[i, 2]
        d2 += dL[i] * C[i, 3]
    v = apply(transpose(read_block(g)), (x, y, z))
    d = (d0, d1, d2)
    for a in range(3):
        e[a], e[3 + a] = 2.0 * d[a], v[a]
    for i in range(L.shape[0]):
        at = 6 * i
        _write_turn(1.0, C[i], B, 3, at)
        b = (C[i, 1], C[i, 2], C[i, 3])
        T = _turned(C[i])
        for j in range(3):
            turn = (B[3, at + j], B[4, at + j], B[5, at + j])
            of_u, of_v = cross(d, turn), cross(v, turn)
            for a in range(3):
                B[a, at + j] = (dL[i] - c0 * L[i]) * turn[a] + L[i] * (of_u[a] + d[a] * b[j])
                B[3 + a, at + j] = L[i] * of_v[a]
                B[a, at + 3 + j] = 0.0
                B[3 + a, at + 3 + j] = dL[i] * T[3 * a + j]


@kernel
def place(first, element, L, dL, poses, quaternions, frames, strains, C, g, J, e, B):  # type: ignore[no-untyped-def]
    """Frames g, J and strains e, B, as wanted, of stations with weights L and slopes dL (S, k+1).

    C (S, k+1, 4) : nodes as stations see them, for the second derivatives.
    """
    for s in range(element.shape[0]):
        at = first[element[s]]
        _see_nodes(at, L[s], poses, quaternions, C[s], g[s])
        if frames:
            _write_frame(L[s], C[s], J[s])
        if strains:
            _write_strain(at, L[s], dL[s], poses, C[s], g[s], e[s], B[s])


@inner
def _add_pair(scale, x, y, K):  # type: ignore[no-untyped-def]
    """K[turns, turns] += scale (x y^T + y x^T), x and y (3 (k+1),) in the turns of the nodes."""
    n = x.shape[0] // 3
    for i in range(n):
        for a in range(3):
            p, q = scale * x[3 * i + a], scale * y[3 * i + a]
            row = K[6 * i + a]
            for j in range(n):
                for b in range(3):
                    row[6 * j + b] += p * y[3 * j + b] + q * x[3 * j + b]


@inner
def _add_bend(n, factor, W, L, C, J, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of n . w(x), of which the shift of nodes is bent:

    w = sum W_i R^T R_i (v_i + w_i x v_i / 2), and of factor n . (w x t), t the turn of the station.
    """
    for j in range(L.shape[0]):
        T = _turned(C[j])
        own = apply(transpose(T), n)
        at = 6 * j
        half = 0.5 * W[j]
        for b in range(3):
            unit = (1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0)
            bent = cross(unit, own)
            seen = (W[j] * T[b], W[j] * T[3 + b], W[j] * T[6 + b])
            turn = cross(n, seen)
            for a in range(3):
                K[at + a, at + 3 + b] += half * bent[a]
                K[at + 3 + b, at + a] += half * bent[a]
            for i in range(L.shape[0]):
                for a in range(3):
                    c = 6 * i + a
                    x = factor * (J[0, c] * turn[0] + J[1, c] * turn[1] + J[2, c] * turn[2])
                    K[c, at + 3 + b] += x
                    K[at + 3 + b, c] += x


@inner
def _add_turn(m, L, C, J, x, y, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of m . t(x), t the turn of the station; x, y (3 (k+1),) workspace:

    t'' = sum -L_i b_i |w_i|^2 / 2 + (sum L_i b_i . w_i) t'.
    """
    for i in range(L.shape[0]):
        square = -0.5 * L[i] * (m[0] * C[i, 1] + m[1] * C[i, 2] + m[2] * C[i, 3])
        for a in range(3):
            c = 6 * i + a
            K[c, c] += square
            x[3 * i + a] = L[i] * C[i, 1 + a]
            y[3 * i + a] = m[0] * J[0, c] + m[1] * J[1, c] + m[2] * J[2, c]
    _add_pair(0.5, x, y, K)


@kernel
def add_frame_second(element, L, C, J, f, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum f . log(g^-1 g(x)), f (S, 6)."""
    k = L.shape[1]
    x, y = np.empty(3 * k), np.empty(3 * k)
    for s in range(element.shape[0]):
        at = K[element[s]]
        m, n = read_vector(f[s], 0), read_vector(f[s], 3)
        _add_turn(m, L[s], C[s], J[s], x, y, at)
        _add_bend(n, 0.5, L[s], L[s], C[s], J[s], at)


@inner
def _add_curvature(m, L, dL, C, rows, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of m . u(x); rows (12, 3 (k+1)) workspace.

    With P = sum L_i C_i = (1 + al, be) and P' = sum L_i' C_i = (c0 + ga, d0 + de) of turned nodes,
    u = 2 Im(P* P') / |P|^2, whose part of second order is

        2 (al rho + be . tau + de_2 - c0 be_2 - be_2 x d0 - al_2 d0),
        rho = -m.de + (m.d0) al + 2 (c0 m + d0 x m).be,   tau = m x de - (m.d0) be - m ga,

    all linear in the turns but for the parts with index 2, which go with -|w_i|^2 / 8.
    """
    c0 = 0.0
    d0, d1, d2 = 0.0, 0.0, 0.0
    for i in range(L.shape[0]):
        c0 += dL[i] * C[i, 0]
        d0 += dL[i] * C[i, 1]
        d1 += dL[i] * C[i, 2]
        d2 += dL[i] * C[i, 3]
    d = (d0, d1, d2)
    along = dot(m, d)
    side = add(2.0 * c0, m, 2.0, cross(d, m))
    for i in range(L.shape[0]):
        b = (C[i, 1], C[i, 2], C[i, 3])
        bent = (dL[i] - c0 * L[i]) * dot(m, b) - L[i] * (dot(m, cross(b, d)) + C[i, 0] * along)
        _write_turn(0.5, C[i], rows, 0, 3 * i)
        for a in range(3):
            c = 3 * i + a
            K[6 * i + a, 6 * i + a] -= 0.5 * bent
            half = (rows[0, c], rows[1, c], rows[2, c])
            al, ga = -0.5 * L[i] * b[a], -0.5 * dL[i] * b[a]
            turned = cross(m, half)
            rows[3, c] = al
            rows[4, c] = -dL[i] * dot(m, half) + along * al + L[i] * dot(side, half)
            for r in range(3):
                rows[r, c] = L[i] * half[r]
                rows[5 + r, c] = dL[i] * turned[r] - along * L[i] * half[r] - m[r] * ga
    _add_pair(2.0, rows[3], rows[4], K)
    for r in range(3):
        _add_pair(2.0, rows[r], rows[5 + r], K)


@kernel
def add_strain_second(element, L, dL, C, e, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum sigma . e(x), sigma = (m, n) (S, 6).

    v = exp(-t) w with w = R^T p'(x):  v'' = w'' - 2 t' x w' - t'' x v + t' x (t' x v).
    """
    k = L.shape[1]
    J, rows = np.zeros((6, 6 * k)), np.empty((8, 3 * k))
    for s in range(element.shape[0]):
        at = K[element[s]]
        m, n = read_vector(sigma[s], 0), read_vector(sigma[s], 3)
        v = read_vector(e[s], 3)
        _add_curvature(m, L[s], dL[s], C[s], rows, at)
        _write_frame(L[s], C[s], J)
        _add_turn(cross(n, v), L[s], C[s], J, rows[0], rows[1], at)
        _add_bend(n, 1.0, dL[s], L[s], C[s], J, at)
        for i in range(k):
            for a in range(3):
                c = 6 * i + a
                for r in range(3):
                    rows[r, 3 * i + a] = J[r, c]
                rows[3, 3 * i + a] = v[0] * J[0, c] + v[1] * J[1, c] + v[2] * J[2, c]
                rows[4, 3 * i + a] = n[0] * J[0, c] + n[1] * J[1, c] + n[2] * J[2, c]
        _add_pair(0.5, rows[3], rows[4], at)
        for r in range(3):
            _add_pair(-0.5 * dot(n, v), rows[r], rows[r], at)


@kernel
def frame_bias(element, L, C, J, ydot, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6): body acceleration of stations when nodes move at constant twists ydot (E, m).

    w' = -sum L_i b_i |w_i|^2 / 2 + (sum L_i b_i . w_i) w,
    q' = -w x q + sum L_i R^T R_i (w_i x v_i).
    """
    k = L.shape[1]
    for s in range(element.shape[0]):
        y = ydot[element[s]]
        w, q, turn, shift = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        along = 0.0
        for i in range(k):
            wi, vi = read_vector(y, 6 * i), read_vector(y, 6 * i + 3)
            b = (C[s, i, 1], C[s, i, 2], C[s, i, 3])
            T = _turned(C[s, i])
            along += L[s, i] * dot(b, wi)
            w = add(1.0, w, L[s, i], add(C[s, i, 0], wi, 1.0, cross(b, wi)))
            q = add(1.0, q, L[s, i], apply(T, vi))
            turn = add(1.0, turn, -0.5 * L[s, i] * dot(wi, wi), b)
            shift = add(1.0, shift, L[s, i], apply(T, cross(wi, vi)))
        turn = add(1.0, turn, along, w)
        shift = add(1.0, shift, -1.0, cross(w, q))
        for a in range(3):
            bias[s, a], bias[s, 3 + a] = turn[a], shift[a]
