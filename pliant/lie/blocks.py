"""Small-array kernels on the 3x3 blocks of SE(3) operators.

A 6x6 operator of the family Ad, ad, dtau has the form [[F, 0], [G, F]]: only F and G are formed.
All functions write into arrays given by the caller and allocate nothing.
"""

from __future__ import annotations

from pliant._numba import inner, leaf
from pliant.lie import operators as op
from pliant.lie.retraction import pose_coefficients, second_coefficients, tangent_coefficients
from pliant.lie.tuples import read_vector


@leaf
def dot3(a, b):  # type: ignore[no-untyped-def]
    """a . b for vectors of length three."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@leaf
def tau_pose(kind, z, R, p, V, Q):  # type: ignore[no-untyped-def]
    """Pose (R, p) = tau(z) and blocks V, Q of dtau_z, z = (k, e).

    V = al I - be K + ga K^2, Q = DV[e], p = V^T e (dual-number extension of the map on SO(3)).
    """
    k0, k1, k2 = z[0], z[1], z[2]
    e0, e1, e2 = z[3], z[4], z[5]
    t2 = k0 * k0 + k1 * k1 + k2 * k2
    r1, r2, al, be, ga, al1, be1, ga1 = pose_coefficients(kind, t2)
    ke = k0 * e0 + k1 * e1 + k2 * e2
    R[0, 0] = 1.0 + r2 * (k0 * k0 - t2)
    R[1, 1] = 1.0 + r2 * (k1 * k1 - t2)
    R[2, 2] = 1.0 + r2 * (k2 * k2 - t2)
    R[0, 1] = r2 * k0 * k1 - r1 * k2
    R[1, 0] = r2 * k0 * k1 + r1 * k2
    R[0, 2] = r2 * k0 * k2 + r1 * k1
    R[2, 0] = r2 * k0 * k2 - r1 * k1
    R[1, 2] = r2 * k1 * k2 - r1 * k0
    R[2, 1] = r2 * k1 * k2 + r1 * k0
    V[0, 0] = al + ga * (k0 * k0 - t2)
    V[1, 1] = al + ga * (k1 * k1 - t2)
    V[2, 2] = al + ga * (k2 * k2 - t2)
    V[0, 1] = ga * k0 * k1 + be * k2
    V[1, 0] = ga * k0 * k1 - be * k2
    V[0, 2] = ga * k0 * k2 - be * k1
    V[2, 0] = ga * k0 * k2 + be * k1
    V[1, 2] = ga * k1 * k2 + be * k0
    V[2, 1] = ga * k1 * k2 - be * k0
    g1 = ga1 * ke
    s0 = be * e0 + be1 * ke * k0
    s1 = be * e1 + be1 * ke * k1
    s2 = be * e2 + be1 * ke * k2
    d = al1 * ke - 2.0 * ga * ke
    Q[0, 0] = d + 2.0 * ga * k0 * e0 + g1 * (k0 * k0 - t2)
    Q[1, 1] = d + 2.0 * ga * k1 * e1 + g1 * (k1 * k1 - t2)
    Q[2, 2] = d + 2.0 * ga * k2 * e2 + g1 * (k2 * k2 - t2)
    m01 = ga * (k0 * e1 + k1 * e0) + g1 * k0 * k1
    m02 = ga * (k0 * e2 + k2 * e0) + g1 * k0 * k2
    m12 = ga * (k1 * e2 + k2 * e1) + g1 * k1 * k2
    Q[0, 1] = m01 + s2
    Q[1, 0] = m01 - s2
    Q[0, 2] = m02 - s1
    Q[2, 0] = m02 + s1
    Q[1, 2] = m12 + s0
    Q[2, 1] = m12 - s0
    for i in range(3):
        p[i] = V[0, i] * e0 + V[1, i] * e1 + V[2, i] * e2


@leaf
def _add_symmetric(out, row, col, scale, m):  # type: ignore[no-untyped-def]
    """out[row:row+3, col:col+3] += scale * m for a symmetric m in six numbers."""
    out[row, col] += scale * m[0]
    out[row, col + 1] += scale * m[1]
    out[row, col + 2] += scale * m[2]
    out[row + 1, col] += scale * m[1]
    out[row + 1, col + 1] += scale * m[3]
    out[row + 1, col + 2] += scale * m[4]
    out[row + 2, col] += scale * m[2]
    out[row + 2, col + 1] += scale * m[4]
    out[row + 2, col + 2] += scale * m[5]


@leaf
def add_tangent_second(kind, z, u, scale, out, at):  # type: ignore[no-untyped-def]
    """Add scale * M6 to out[at:at+6, at:at+6] with v.M6 v = u . D(dtau_z)[v] v on SE(3).

    The blocks are those of `operators`; the lower right one is zero.
    """
    upper, mixed = op.second_blocks(
        op.DEXP if kind == 0 else op.DCAYLEY,
        read_vector(z, 0),
        read_vector(z, 3),
        read_vector(u, 0),
        read_vector(u, 3),
    )
    _add_symmetric(out, at, at, scale, upper)
    _add_symmetric(out, at, at + 3, scale, mixed)
    _add_symmetric(out, at + 3, at, scale, mixed)


@leaf
def map_second_so3(kind, t2, k, u, scale, out, row, col):  # type: ignore[no-untyped-def]
    """Add scale * M to out, v.M v = u . D^2(dtau_k k)[v, v]; zero for the exponential map.

    dtau_k k = al k, hence M = al' (k u^T + u k^T + (u.k) I) + al'' (u.k) k k^T.
    """
    _al, _be, _ga, al1, _be1, _ga1 = tangent_coefficients(kind, t2)
    al2, _be2, _ga2, _al3 = second_coefficients(kind, t2)
    uk = dot3(u, k)
    for i in range(3):
        out[row + i, col + i] += scale * al1 * uk
        for j in range(3):
            out[row + i, col + j] += scale * (
                al1 * (k[i] * u[j] + u[i] * k[j]) + al2 * uk * k[i] * k[j]
            )


@leaf
def map_second_so3_directional(kind, t2, k, e, u, scale, out, row, col):  # type: ignore[no-untyped-def]
    """Add scale * D_k of `map_second_so3` in direction e."""
    _al, _be, _ga, al1, _be1, _ga1 = tangent_coefficients(kind, t2)
    al2, _be2, _ga2, al3 = second_coefficients(kind, t2)
    ke = dot3(k, e)
    uk = dot3(u, k)
    ue = dot3(u, e)
    for i in range(3):
        out[row + i, col + i] += scale * (al2 * ke * uk + al1 * ue)
        for j in range(3):
            out[row + i, col + j] += scale * (
                al2 * ke * (k[i] * u[j] + u[i] * k[j])
                + al1 * (e[i] * u[j] + u[i] * e[j])
                + (al3 * ke * uk + al2 * ue) * k[i] * k[j]
                + al2 * uk * (e[i] * k[j] + k[i] * e[j])
            )


@inner
def add_map_second(kind, z, u, scale, out, at):  # type: ignore[no-untyped-def]
    """Add scale * M6 to out[at:at+6, at:at+6], v.M6 v = u . D^2(dtau_z z)[v, v] on SE(3)."""
    k = z[:3]
    e = z[3:]
    t2 = dot3(k, k)
    map_second_so3(kind, t2, k, u[:3], scale, out, at, at)
    map_second_so3_directional(kind, t2, k, e, u[3:], scale, out, at, at)
    map_second_so3(kind, t2, k, u[3:], scale, out, at, at + 3)
    map_second_so3(kind, t2, k, u[3:], scale, out, at + 3, at)


@leaf
def bracket_pair(F, G, d, X, Y, scale, out, row, col):  # type: ignore[no-untyped-def]
    """Add scale * (-P^T N(d) P') to out[row:row+6, col:col+6].

    P = [[F, 0], [G, F]], P' = [[X, 0], [Y, X]], and a.N(d) b = d.[a, b] is the Lie bracket paired
    with the wrench d = (dm, dn). The lower right block of the product is zero.
    """
    m0, m1, m2 = d[0], d[1], d[2]
    n0, n1, n2 = d[3], d[4], d[5]
    for j in range(3):
        x0, x1, x2 = X[0, j], X[1, j], X[2, j]
        y0, y1, y2 = Y[0, j], Y[1, j], Y[2, j]
        a0 = n1 * x2 - n2 * x1
        a1 = n2 * x0 - n0 * x2
        a2 = n0 * x1 - n1 * x0
        b0 = m1 * x2 - m2 * x1 + n1 * y2 - n2 * y1
        b1 = m2 * x0 - m0 * x2 + n2 * y0 - n0 * y2
        b2 = m0 * x1 - m1 * x0 + n0 * y1 - n1 * y0
        for i in range(3):
            v = scale * (F[0, i] * a0 + F[1, i] * a1 + F[2, i] * a2)
            out[row + i, col + 3 + j] += v
            out[row + 3 + i, col + j] += v
            out[row + i, col + j] += scale * (
                F[0, i] * b0
                + F[1, i] * b1
                + F[2, i] * b2
                + G[0, i] * a0
                + G[1, i] * a1
                + G[2, i] * a2
            )


@leaf
def subtract_bracket(a, b, out):  # type: ignore[no-untyped-def]
    """out -= [a, b], the Lie bracket of two twists."""
    out[0] -= a[1] * b[2] - a[2] * b[1]
    out[1] -= a[2] * b[0] - a[0] * b[2]
    out[2] -= a[0] * b[1] - a[1] * b[0]
    out[3] -= a[1] * b[5] - a[2] * b[4] + a[4] * b[2] - a[5] * b[1]
    out[4] -= a[2] * b[3] - a[0] * b[5] + a[5] * b[0] - a[3] * b[2]
    out[5] -= a[0] * b[4] - a[1] * b[3] + a[3] * b[1] - a[4] * b[0]


@inner
def tangent_rate(kind, z, v, out):  # type: ignore[no-untyped-def]
    """out = D(dtau_z)[v] v on SE(3): the part of the rate of dtau_z v that comes from z moving.

    On SO(3): al' (k.v) v - be' (k.v) k x v + ga (k v.v - (k.v) v) + ga' (k.v) (k (k.v) - t2 v);
    the linear part is its derivative in direction e plus twice the bilinear form at (v_k, v_e).
    """
    k = z[:3]
    e = z[3:]
    vk = v[:3]
    ve = v[3:]
    t2 = dot3(k, k)
    _al, _be, ga, al1, be1, ga1 = tangent_coefficients(kind, t2)
    al2, be2, ga2, _al3 = second_coefficients(kind, t2)
    ke = dot3(k, e)
    kv = dot3(k, vk)
    vv = dot3(vk, vk)
    dkv = dot3(e, vk) + dot3(k, ve)
    dvv = 2.0 * dot3(vk, ve)
    cv = (al1 - ga - ga1 * t2) * kv
    dcv = (al2 - 3.0 * ga1 - ga2 * t2) * ke * kv + (al1 - ga - ga1 * t2) * dkv
    ck = ga * vv + ga1 * kv * kv
    dck = ga1 * ke * vv + ga * dvv + ga2 * ke * kv * kv + 2.0 * ga1 * kv * dkv
    cx = -be1 * kv
    dcx = -be2 * ke * kv - be1 * dkv
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        x = k[i1] * vk[i2] - k[i2] * vk[i1]
        dx = e[i1] * vk[i2] - e[i2] * vk[i1] + k[i1] * ve[i2] - k[i2] * ve[i1]
        out[i] = cv * vk[i] + ck * k[i] + cx * x
        out[3 + i] = dcv * vk[i] + cv * ve[i] + dck * k[i] + ck * e[i] + dcx * x + cx * dx


@inner
def invert_tangent(V, Q, W, X):  # type: ignore[no-untyped-def]
    """Blocks (W, X) of [[V, 0], [Q, V]]^-1 = [[W, 0], [X, W]], X = -W Q W."""
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            W[j, i] = V[i1, j1] * V[i2, j2] - V[i1, j2] * V[i2, j1]
    det = V[0, 0] * W[0, 0] + V[0, 1] * W[1, 0] + V[0, 2] * W[2, 0]
    for i in range(3):
        for j in range(3):
            W[i, j] /= det
    for i in range(3):
        for j in range(3):
            x = 0.0
            for a in range(3):
                for b in range(3):
                    x -= W[i, a] * Q[a, b] * W[b, j]
            X[i, j] = x
