"""Small-array functions on poses and on the 3x3 blocks of SE(3) operators, for use inside kernels.

A pose T is (3, 4) or more rows, [R | p]. A 6x6 operator of the family Ad, ad, dtau has the form
[[F, 0], [G, F]]: only F and G are formed, as arrays of their own or as three columns [F; G] of an array
with six rows. All functions write into arrays given by the caller and allocate nothing.
"""

from __future__ import annotations

from pliant._numba import inner, leaf
from pliant.lie import operators as op
from pliant.lie.tuples import add, combine, cross, dot, read_vector, write_block, write_vector


@leaf
def tau_pose(kind, z, T, V, Q):  # type: ignore[no-untyped-def]
    """Pose T = tau(z) and blocks V, Q of dtau_z, z = (k, e); kind : EXP or CAYLEY.

    The position is V^T e (dual-number extension of the map on SO(3)).
    """
    k, e = read_vector(z, 0), read_vector(z, 3)
    of_map, of_tangent = op.map_coefficients(kind, dot(k, k))
    i, s, q, i1, s1, q1 = of_tangent
    write_block(T, 0, 0, op.operator(of_map[0], of_map[1], of_map[2], k))
    write_block(V, 0, 0, op.operator(i, s, q, k))
    write_block(Q, 0, 0, op.operator_derivative(s, q, i1, s1, q1, k, e))
    T[0, 3], T[1, 3], T[2, 3] = op.apply_transposed(i, s, q, k, e)


@leaf
def compose(a, T, out):  # type: ignore[no-untyped-def]
    """Rows 0 to 2 of the pose out = a T."""
    for i in range(3):
        a0, a1, a2 = a[i, 0], a[i, 1], a[i, 2]
        for j in range(4):
            out[i, j] = a0 * T[0, j] + a1 * T[1, j] + a2 * T[2, j]
        out[i, 3] += a[i, 3]


@leaf
def write_adjoint_inverse(T, scale, out, col):  # type: ignore[no-untyped-def]
    """out[:, col:col+6] = scale Ad(T)^-1 = scale [[R^T, 0], [-R^T p^, R^T]]."""
    p0, p1, p2 = T[0, 3], T[1, 3], T[2, 3]
    for i in range(3):
        r0, r1, r2 = scale * T[0, i], scale * T[1, i], scale * T[2, i]
        out[i, col] = out[3 + i, col + 3] = r0
        out[i, col + 1] = out[3 + i, col + 4] = r1
        out[i, col + 2] = out[3 + i, col + 5] = r2
        out[3 + i, col] = r2 * p1 - r1 * p2
        out[3 + i, col + 1] = r0 * p2 - r2 * p0
        out[3 + i, col + 2] = r1 * p0 - r0 * p1
        for j in range(3, 6):
            out[i, col + j] = 0.0


@leaf
def carry_wrench(T, f, out):  # type: ignore[no-untyped-def]
    """out = Ad(T)^-T f: a wrench at the pose T, seen in the frame T is written in."""
    for i in range(3):
        out[i] = T[i, 0] * f[0] + T[i, 1] * f[1] + T[i, 2] * f[2]
        out[3 + i] = T[i, 0] * f[3] + T[i, 1] * f[4] + T[i, 2] * f[5]
    out[0] += T[1, 3] * out[5] - T[2, 3] * out[4]
    out[1] += T[2, 3] * out[3] - T[0, 3] * out[5]
    out[2] += T[0, 3] * out[4] - T[1, 3] * out[3]


@leaf
def wrench_to_body(T, f, out):  # type: ignore[no-untyped-def]
    """out = Ad(T)^T f: a wrench in the frame T is written in, seen at the pose T."""
    m0 = f[0] - (T[1, 3] * f[5] - T[2, 3] * f[4])
    m1 = f[1] - (T[2, 3] * f[3] - T[0, 3] * f[5])
    m2 = f[2] - (T[0, 3] * f[4] - T[1, 3] * f[3])
    for i in range(3):
        out[i] = T[0, i] * m0 + T[1, i] * m1 + T[2, i] * m2
        out[3 + i] = T[0, i] * f[3] + T[1, i] * f[4] + T[2, i] * f[5]


@leaf
def add_to_body(T, scale, x, out):  # type: ignore[no-untyped-def]
    """out += scale Ad(T)^-1 x: a twist seen from the pose T."""
    h0 = x[3] - (T[1, 3] * x[2] - T[2, 3] * x[1])
    h1 = x[4] - (T[2, 3] * x[0] - T[0, 3] * x[2])
    h2 = x[5] - (T[0, 3] * x[1] - T[1, 3] * x[0])
    for i in range(3):
        r0, r1, r2 = scale * T[0, i], scale * T[1, i], scale * T[2, i]
        out[i] += r0 * x[0] + r1 * x[1] + r2 * x[2]
        out[3 + i] += r0 * h0 + r1 * h1 + r2 * h2


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
def add_second(kind, z, u, scale, out, at):  # type: ignore[no-untyped-def]
    """Add scale * M to out[at:at+6, at:at+6], M the second form at z for u, both (6,).

    v.M v = u . D(dtau_z)[v] v; kind : EXP, CAYLEY or DTWIST, as in `operators.second_coefficients`. The
    lower right block is zero.
    """
    upper, mixed = op.second_blocks(
        kind, read_vector(z, 0), read_vector(z, 3), read_vector(u, 0), read_vector(u, 3)
    )
    _add_symmetric(out, at, at, scale, upper)
    _add_symmetric(out, at, at + 3, scale, mixed)
    _add_symmetric(out, at + 3, at, scale, mixed)


@leaf
def bracket_pair(P, d, X, scale, out, row, col):  # type: ignore[no-untyped-def]
    """Add scale * (-P^T N(d) X) to out[row:row+6, col:col+6].

    P and X stand for the operators whose blocks [F; G] are P[:, row:row+3] and X[:, col:col+3], and
    a.N(d) b = d.[a, b] is the Lie bracket paired with the wrench d. The lower right block is zero.
    """
    m0, m1, m2 = d[0], d[1], d[2]
    n0, n1, n2 = d[3], d[4], d[5]
    for j in range(col, col + 3):
        x0, x1, x2 = X[0, j], X[1, j], X[2, j]
        y0, y1, y2 = X[3, j], X[4, j], X[5, j]
        a0 = scale * (n1 * x2 - n2 * x1)
        a1 = scale * (n2 * x0 - n0 * x2)
        a2 = scale * (n0 * x1 - n1 * x0)
        b0 = scale * (m1 * x2 - m2 * x1 + n1 * y2 - n2 * y1)
        b1 = scale * (m2 * x0 - m0 * x2 + n2 * y0 - n0 * y2)
        b2 = scale * (m0 * x1 - m1 * x0 + n0 * y1 - n1 * y0)
        for i in range(row, row + 3):
            f0, f1, f2 = P[0, i], P[1, i], P[2, i]
            v = f0 * a0 + f1 * a1 + f2 * a2
            out[i, 3 + j] += v
            out[3 + i, j] += v
            v = f0 * b0 + f1 * b1 + f2 * b2 + P[3, i] * a0 + P[4, i] * a1 + P[5, i] * a2
            out[i, j] += v


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

    On SO(3): p (k.v) v + s1 (k.v) k x v + (q v.v + q1 (k.v)^2) k, with the coefficients of `operators`;
    the linear part is its derivative for k moving along e and v along its own linear part.
    """
    k, e = read_vector(z, 0), read_vector(z, 3)
    w, c = read_vector(v, 0), read_vector(v, 3)
    p, s1, q, p1, s2, q1, q2 = op.second_coefficients(kind, dot(k, k))
    ke, kw, ww = dot(k, e), dot(k, w), dot(w, w)
    dkw = dot(e, w) + dot(k, c)
    along = q * ww + q1 * kw * kw
    dalong = (q1 * ww + q2 * kw * kw) * ke + 2.0 * (q * dot(w, c) + q1 * kw * dkw)
    turned = cross(k, w)
    dturned = add(1.0, cross(e, w), 1.0, cross(k, c))
    write_vector(out, 0, combine(p * kw, w, s1 * kw, turned, along, k))
    linear = combine(p1 * ke * kw + p * dkw, w, s2 * ke * kw + s1 * dkw, turned, dalong, k)
    linear = combine(1.0, linear, p * kw, c, s1 * kw, dturned)
    write_vector(out, 3, add(1.0, linear, along, e))


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
