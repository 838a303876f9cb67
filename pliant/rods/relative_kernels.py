"""Kernels of chains of segments with relative coordinates: frames and their derivatives.

A segment has a turn alpha and a shift eps as coordinates. Within it, the pose seen from its start is

    R = R(nu alpha),   p = a e3 + c R(mu alpha) (d e3 + eps) + b R(nu alpha) e3

with six numbers (a, c, d, mu, b, nu) that say where along the segment, and which model of it: see
`srl` and `ebr`. R(.) is the exponential or Cayley map, or three turns about z, x and y (`ZXY`).

All segments are followed in the frame of the base. With H_i the pose at the end of segment i and D_i
the body twist of that pose for its own coordinates, segment i moves everything beyond it by
Theta_i = Ad(H_i) D_i, hence at a pose H beyond some segments

    J = Ad(H)^-1 (1, Theta_1, ..., Theta_i),     dJ_j / dq_i = [J_j, J_i] for j < i.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie import operators as op
from pliant.lie.blocks import (
    add_to_body,
    carry_wrench,
    compose,
    subtract_bracket,
    wrench_to_body,
    write_adjoint_inverse,
)
from pliant.lie.se3_kernels import log_relative_array
from pliant.lie.tuples import (
    Array,
    Ints,
    add,
    apply,
    combine,
    cross,
    dot,
    multiply,
    read_block,
    read_vector,
    transpose,
    write_block,
)

ZXY = 8
"""Turns about z, then the new x, then the new y, by the components of alpha (Sadati, Table 3)."""


class Pieces(NamedTuple):
    """Parts of segments: whole ones, or from the start of one to a station.

    shape (n, 6) : the numbers (a, c, d, mu, b, nu). segment (n,) : where they are. State: poses
    (n, 3, 4) seen from the start of the segment, `own`, and from the base, `pose`; D (n, 6, 6) body
    twist for the coordinates of the segment, and theta = Ad(pose) D.
    """

    shape: Array
    segment: Ints
    own: Array
    pose: Array
    D: Array
    theta: Array


@leaf
def _turn(kind, k):  # type: ignore[no-untyped-def]
    """Rotation R(k) and T, its tangent: R^T dR = (T dk)^."""
    if kind == ZXY:
        cx, sx, cy, sy = cos(k[0]), sin(k[0]), cos(k[1]), sin(k[1])
        cz, sz = cos(k[2]), sin(k[2])
        R = (
            cz * cy - sz * sx * sy, -sz * cx, cz * sy + sz * sx * cy,
            sz * cy + cz * sx * sy, cz * cx, sz * sy - cz * sx * cy,
            -cx * sy, sx, cx * cy,
        )  # fmt: skip
        return R, (cy, 0.0, -sy * cx, 0.0, 1.0, sx, sy, 0.0, cy * cx)
    of_map, (i, s, q, _, _, _) = op.map_coefficients(kind, dot(k, k))
    return op.operator(of_map[0], of_map[1], of_map[2], k), op.operator(i, s, q, k)


@leaf
def _turn_rate(kind, k, v):  # type: ignore[no-untyped-def]
    """DT(k)[v] v: the part of the rate of T v that comes from k moving."""
    if kind == ZXY:
        cx, sx, cy, sy = cos(k[0]), sin(k[0]), cos(k[1]), sin(k[1])
        xy, zy, zx = v[0] * v[1], v[2] * v[1], v[2] * v[0]
        return (
            -sy * xy - cy * cx * zy + sy * sx * zx,
            cx * zx,
            cy * xy - sy * cx * zy - cy * sx * zx,
        )
    p, s1, q, _, _, q1, _ = op.second_coefficients(kind, dot(k, k))
    kv = dot(k, v)
    return combine(p * kv, v, s1 * kv, cross(k, v), q * dot(v, v) + q1 * kv * kv, k)


@leaf
def _turn_second(kind, k, u):  # type: ignore[no-untyped-def]
    """Symmetric matrix M with v.M v = u . DT(k)[v] v."""
    if kind == ZXY:
        cx, sx, cy, sy = cos(k[0]), sin(k[0]), cos(k[1]), sin(k[1])
        xy = 0.5 * (cy * u[2] - sy * u[0])
        yz = -0.5 * cx * (cy * u[0] + sy * u[2])
        xz = 0.5 * (sx * (sy * u[0] - cy * u[2]) + cx * u[1])
        return 0.0, xy, xz, 0.0, yz, 0.0
    p, s1, q, _, _, q1, _ = op.second_coefficients(kind, dot(k, k))
    return op.second_form(p, s1, q, q1, k, u)


@inner
def _place_piece(kind, shape, x, own, D):  # type: ignore[no-untyped-def]
    """Pose `own` (3, 4) of a piece and D (6, 6), its body twist for dx; x = (alpha, eps) (6,)."""
    a, c, d, mu, b, nu = shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]
    k = read_vector(x, 0)
    R, T = _turn(kind, (nu * k[0], nu * k[1], nu * k[2]))
    Rm, Tm = _turn(kind, (mu * k[0], mu * k[1], mu * k[2]))
    y = (x[3], x[4], x[5] + d)
    shift = apply(Rm, y)
    seen = multiply(transpose(R), Rm)
    write_block(own, 0, 0, R)
    own[0, 3] = c * shift[0] + b * R[2]
    own[1, 3] = c * shift[1] + b * R[5]
    own[2, 3] = a + c * shift[2] + b * R[8]
    for j in range(3):
        w = (nu * T[j], nu * T[3 + j], nu * T[6 + j])
        bent = apply(seen, cross((mu * Tm[j], mu * Tm[3 + j], mu * Tm[6 + j]), y))
        swung = cross(w, (0.0, 0.0, 1.0))
        for i in range(3):
            D[i, j], D[i, 3 + j] = w[i], 0.0
            D[3 + i, j], D[3 + i, 3 + j] = c * bent[i] + b * swung[i], c * seen[3 * i + j]


@inner
def _set_theta(pose, D, theta):  # type: ignore[no-untyped-def]
    """theta = Ad(pose) D, blocks of six columns."""
    R, p = read_block(pose), (pose[0, 3], pose[1, 3], pose[2, 3])
    for j in range(6):
        w = apply(R, (D[0, j], D[1, j], D[2, j]))
        v = add(1.0, apply(R, (D[3, j], D[4, j], D[5, j])), 1.0, cross(p, w))
        for i in range(3):
            theta[i, j], theta[3 + i, j] = w[i], v[i]


@kernel
def fill(q, rest, x):  # type: ignore[no-untyped-def]
    """x (n, 6): coordinates q (n, rows), and those of the natural shape for the rows without any."""
    for i in range(q.shape[0]):
        for r in range(6):
            x[i, r] = q[i, r] if r < q.shape[1] else rest[i, r]


@kernel
def sweep(kind, z, x):  # type: ignore[no-untyped-def]
    """Place all whole segments z, one after another, at coordinates x (n, 6)."""
    for i in range(x.shape[0]):
        _place_piece(kind, z.shape[i], x[i], z.own[i], z.D[i])
        if i == 0:
            for r in range(3):
                for c in range(4):
                    z.pose[0, r, c] = z.own[0, r, c]
        else:
            compose(z.pose[i - 1], z.own[i], z.pose[i])
        _set_theta(z.pose[i], z.D[i], z.theta[i])


@inner
def _write_block(P, theta, rows, J, col):  # type: ignore[no-untyped-def]
    """J[:, col:col+rows] = Ad(P)^-1 theta."""
    for j in range(rows):
        h0 = theta[3, j] - (P[1, 3] * theta[2, j] - P[2, 3] * theta[1, j])
        h1 = theta[4, j] - (P[2, 3] * theta[0, j] - P[0, 3] * theta[2, j])
        h2 = theta[5, j] - (P[0, 3] * theta[1, j] - P[1, 3] * theta[0, j])
        for i in range(3):
            J[i, col + j] = P[0, i] * theta[0, j] + P[1, i] * theta[1, j] + P[2, i] * theta[2, j]
            J[3 + i, col + j] = P[0, i] * h0 + P[1, i] * h1 + P[2, i] * h2


@kernel
def evaluate_frames(kind, z, y, x, rows, base, g, J):  # type: ignore[no-untyped-def]
    """World poses g (S, 4, 4) and J (S, 6, 6 + n rows) of stations y after segments z.

    Columns of segments beyond a station are zero and left alone.
    """
    for s in range(y.segment.shape[0]):
        i = y.segment[s]
        _place_piece(kind, y.shape[s], x[i], y.own[s], y.D[s])
        P = y.pose[s]
        if i == 0:
            for r in range(3):
                for c in range(4):
                    P[r, c] = y.own[s, r, c]
        else:
            compose(z.pose[i - 1], y.own[s], P)
        _set_theta(P, y.D[s], y.theta[s])
        compose(base, P, g[s])
        write_adjoint_inverse(P, 1.0, J[s], 0)
        for j in range(i):
            _write_block(P, z.theta[j], rows, J[s], 6 + j * rows)
        for r in range(6):
            for c in range(rows):
                J[s, r, 6 + i * rows + c] = y.D[s, r, c]


@kernel
def evaluate_strains(segment, lengths, x, e):  # type: ignore[no-untyped-def]
    """e (S, 6) = (alpha, h e3 + eps) / h of the segments."""
    for s in range(segment.shape[0]):
        i = segment[s]
        for r in range(6):
            e[s, r] = x[i, r] / lengths[i]
        e[s, 5] += 1.0


@kernel
def evaluate_twists(segment, lengths, own, e):  # type: ignore[no-untyped-def]
    """e (S, 6) = log(own_i) / h_i of the poses own (n, 3, 4) at the ends of the segments."""
    for s in range(segment.shape[0]):
        i = segment[s]
        log_relative_array(np.eye(4), own[i], e[s])
        for r in range(6):
            e[s, r] /= lengths[i]


# -- second derivatives ---------------------------------------------------------------------------


@inner
def _add_products(scale, W, A, B, along, M):  # type: ignore[no-untyped-def]
    """M[:3, :3] += scale (sym(W^T A B^T W) - along W^T W) for a matrix W: n.(w x (w x y)), w = W da."""
    for r in range(3):
        wr = (W[r], W[3 + r], W[6 + r])
        for c in range(3):
            wc = (W[c], W[3 + c], W[6 + c])
            both = 0.5 * (dot(wr, A) * dot(wc, B) + dot(wr, B) * dot(wc, A))
            M[r, c] += scale * (both - along * dot(wr, wc))


@inner
def _add_symmetric(scale, m, M):  # type: ignore[no-untyped-def]
    """M[:3, :3] += scale m for a symmetric m in six numbers."""
    M[0, 0] += scale * m[0]
    M[1, 1] += scale * m[3]
    M[2, 2] += scale * m[5]
    for r, c, v in ((0, 1, m[1]), (0, 2, m[2]), (1, 2, m[4])):
        M[r, c] += scale * v
        M[c, r] += scale * v


@inner
def _add_own_second(kind, shape, x, D, f, M):  # type: ignore[no-untyped-def]
    """Add to M (6, 6) the second derivative of f . log(own^-1 own(x)), f (6,) = (m, n) in its frame.

    Along a rate (da, de), with w = T da of the end, w_m that of the middle, y = d e3 + eps and v the
    velocity of the end: m.w' - n.(w x v) + c n_m.(w_m x (w_m x y) + w_m' x y + 2 w_m x de)
    + b n.(w x (w x e3) + w' x e3).
    """
    c, d, mu, b, nu = shape[1], shape[2], shape[3], shape[4], shape[5]
    k, m, n = read_vector(x, 0), read_vector(f, 0), read_vector(f, 3)
    kn, km = (nu * k[0], nu * k[1], nu * k[2]), (mu * k[0], mu * k[1], mu * k[2])
    R, T = _turn(kind, kn)
    Rm, Tm = _turn(kind, km)
    y, up = (x[3], x[4], x[5] + d), (0.0, 0.0, 1.0)
    nm = apply(transpose(Rm), apply(R, n))
    turned = add(1.0, m, b, cross(up, n))
    _add_symmetric(nu * nu, _turn_second(kind, kn, turned), M)
    _add_symmetric(c * mu * mu, _turn_second(kind, km, cross(y, nm)), M)
    _add_products(c * mu * mu, Tm, nm, y, dot(nm, y), M)
    _add_products(b * nu * nu, T, n, up, n[2], M)
    for j in range(6):
        v = (D[3, j], D[4, j], D[5, j])
        side = cross(n, v)
        for r in range(3):
            half = 0.5 * nu * (T[r] * side[0] + T[3 + r] * side[1] + T[6 + r] * side[2])
            M[r, j] += half
            M[j, r] += half
    for r in range(3):
        slid = cross(nm, (Tm[r], Tm[3 + r], Tm[6 + r]))
        for j in range(3):
            M[3 + j, r] += c * mu * slid[j]
            M[r, 3 + j] += c * mu * slid[j]


@inner
def _add_paired(W, theta, Y):  # type: ignore[no-untyped-def]
    """Y (6, 6) += N theta with a.N b = W.[a, b], W (6,) a wrench."""
    m, n = read_vector(W, 0), read_vector(W, 3)
    for j in range(6):
        w, v = (theta[0, j], theta[1, j], theta[2, j]), (theta[3, j], theta[4, j], theta[5, j])
        upper, lower = add(1.0, cross(w, m), 1.0, cross(v, n)), cross(w, n)
        for i in range(3):
            Y[i, j] += upper[i]
            Y[3 + i, j] += lower[i]


@inner
def _scatter(z, H, Y, rows, i, K):  # type: ignore[no-untyped-def]
    """Add what segment i has with itself, H (6, 6), and with all before it, Y (6, 6), to K (m, m)."""
    at = 6 + i * rows
    for c in range(rows):
        for r in range(rows):
            K[at + r, at + c] += H[r, c]
        for r in range(6):
            half = 0.5 * Y[r, c]
            K[r, at + c] += half
            K[at + c, r] += half
    for j in range(i):
        theta = z.theta[j]
        for r in range(rows):
            for c in range(rows):
                v = 0.0
                for k in range(6):
                    v += theta[k, r] * Y[k, c]
                K[6 + j * rows + r, at + c] += 0.5 * v
                K[at + c, 6 + j * rows + r] += 0.5 * v


@kernel
def add_frame_second(kind, z, y, x, rows, f, K):  # type: ignore[no-untyped-def]
    """Add to K (m, m) the second derivative of sum_s f_s . log(g_s^-1 g_s(q)), f (S, 6)."""
    n = x.shape[0]
    H, Y = np.zeros((n, 6, 6)), np.zeros((n, 6, 6))
    wrench = np.zeros((n, 6))
    W, end = np.zeros(6), np.empty(6)
    for s in range(y.segment.shape[0]):
        i = y.segment[s]
        carry_wrench(y.pose[s], f[s], W)
        _add_own_second(kind, y.shape[s], x[i], y.D[s], f[s], H[i])
        _add_paired(W, y.theta[s], Y[i])
        for r in range(6):
            wrench[i, r] += W[r]
    for r in range(6):
        W[r] = 0.0
    for i in range(n - 1, -1, -1):
        wrench_to_body(z.pose[i], W, end)
        _add_own_second(kind, z.shape[i], x[i], z.D[i], end, H[i])
        _add_paired(W, z.theta[i], Y[i])
        _scatter(z, H[i], Y[i], rows, i, K)
        for r in range(6):
            W[r] += wrench[i, r]


@inner
def _move(kind, shape, x, rate, own, D, V, A, out):  # type: ignore[no-untyped-def]
    """Body twist and acceleration out (2, 6) at the end of a piece that begins with V and A (6,).

    xi = Ad^-1 V + D rate,   xi' = Ad^-1 A - [D rate, Ad^-1 V] + (w', R^T p'' - w x v).
    """
    c, d, mu, b, nu = shape[1], shape[2], shape[3], shape[4], shape[5]
    k, da, de = read_vector(x, 0), read_vector(rate, 0), read_vector(rate, 3)
    kn, km = (nu * k[0], nu * k[1], nu * k[2]), (mu * k[0], mu * k[1], mu * k[2])
    an, am = (nu * da[0], nu * da[1], nu * da[2]), (mu * da[0], mu * da[1], mu * da[2])
    R, T = _turn(kind, kn)
    Rm, Tm = _turn(kind, km)
    y, up = (x[3], x[4], x[5] + d), (0.0, 0.0, 1.0)
    w, wm = apply(T, an), apply(Tm, am)
    dw, dwm = _turn_rate(kind, kn, an), _turn_rate(kind, km, am)
    bent = combine(1.0, cross(wm, cross(wm, y)), 1.0, cross(dwm, y), 2.0, cross(wm, de))
    swung = add(1.0, cross(w, cross(w, up)), 1.0, cross(dw, up))
    shift = add(c, apply(transpose(R), apply(Rm, bent)), b, swung)
    own_rate = np.zeros(6)
    for r in range(6):
        out[0, r] = out[1, r] = 0.0
        for j in range(6):
            own_rate[r] += D[r, j] * rate[j]
    shift = add(1.0, shift, -1.0, cross(w, read_vector(own_rate, 3)))
    add_to_body(own, 1.0, V, out[0])
    add_to_body(own, 1.0, A, out[1])
    subtract_bracket(own_rate, out[0], out[1])
    for r in range(3):
        out[1, r] += dw[r]
        out[1, 3 + r] += shift[r]
    for r in range(6):
        out[0, r] += own_rate[r]


@kernel
def frame_bias(kind, z, y, x, velocity, rate, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6): body acceleration of stations y at steady rates; velocity (6,) twist of the base.

    rate (n, rows) : of the coordinates of the segments.
    """
    n, rows = rate.shape
    motion = np.zeros((n + 1, 2, 6))
    moved, whole = np.empty((2, 6)), np.zeros((n, 6))
    for r in range(6):
        motion[0, 0, r] = velocity[r]
    for i in range(n):
        for r in range(rows):
            whole[i, r] = rate[i, r]
        before = motion[i]
        _move(
            kind, z.shape[i], x[i], whole[i], z.own[i], z.D[i],
            before[0], before[1], motion[i + 1],
        )  # fmt: skip
    for s in range(y.segment.shape[0]):
        i = y.segment[s]
        before = motion[i]
        _move(kind, y.shape[s], x[i], whole[i], y.own[s], y.D[s], before[0], before[1], moved)
        for r in range(6):
            bias[s, r] = moved[1, r]
