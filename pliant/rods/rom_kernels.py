"""Kernels of rods whose position and quaternion are polynomials (Sadati et al., equations 10 to 13).

Seen from the base, with position p and a quaternion Q whose length N = |Q|^2 does not matter,

    u = 2 Im(Q* Q') / N,   v = R^T p',   w = 2 Im(Q* dQ) / N   (turn of the section).

p is linear in its coefficients. Q is either (sqrt(1 - |r|^2), r) with a polynomial r (`unit`), or a
polynomial through unit quaternions of nodes, each turned by its own rotation vector (`free`).
Coordinates are those of Q, three for each polynomial or node, and then those of p.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie.blocks import compose, write_adjoint_inverse
from pliant.lie.quaternion_leaves import quaternion_matrix
from pliant.lie.tuples import (
    Array,
    add,
    apply,
    cross,
    dot,
    read_block,
    read_vector,
    transpose,
    write_block,
)


class Stations(NamedTuple):
    """Stations of a polynomial rod.

    turn, dturn (S, k) : polynomials of the rotation and their slopes, of which the first one belongs to
    the base in a `free` rod. shift, dshift (S, n + 1) : those of the position. s (S,) arclengths, m.
    State: Q, dQ (S, 4) quaternion and slope, X, dX (S, 4, 3n) their derivatives, W (S, 3, 3n) turn of
    the section for the coordinates, pose (S, 3, 4) seen from the base.
    """

    s: Array
    turn: Array
    dturn: Array
    shift: Array
    dshift: Array
    Q: Array
    dQ: Array
    X: Array
    dX: Array
    W: Array
    pose: Array


@leaf
def _imaginary(a, b):  # type: ignore[no-untyped-def]
    """Im(a* b) of quaternions."""
    x, y = (a[1], a[2], a[3]), (b[1], b[2], b[3])
    return add(1.0, add(a[0], y, -b[0], x), -1.0, cross(x, y))


@leaf
def _paired(m, a):  # type: ignore[no-untyped-def]
    """The quaternion G with G.b = m . Im(a* b) for every b: a (0, m)."""
    x = (a[1], a[2], a[3])
    v = add(a[0], m, 1.0, cross(x, m))
    return -dot(m, x), v[0], v[1], v[2]


@leaf
def _row(A, s):  # type: ignore[no-untyped-def]
    return A[s, 0], A[s, 1], A[s, 2], A[s, 3]


@inner
def _place_unit(z, s, c):  # type: ignore[no-untyped-def]
    """Quaternion and derivatives for the vector part r = sum turn_k c_k, c (n, 3)."""
    r, d = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(c.shape[0]):
        r = add(1.0, r, z.turn[s, k], read_vector(c[k], 0))
        d = add(1.0, d, z.dturn[s, k], read_vector(c[k], 0))
    q = sqrt(1.0 - dot(r, r))
    slope = -dot(r, d) / q
    z.Q[s, 0], z.dQ[s, 0] = q, slope
    for a in range(3):
        z.Q[s, 1 + a], z.dQ[s, 1 + a] = r[a], d[a]
    for k in range(c.shape[0]):
        f, g = z.turn[s, k], z.dturn[s, k]
        for a in range(3):
            j = 3 * k + a
            z.X[s, 0, j] = -r[a] * f / q
            z.dX[s, 0, j] = -(d[a] * f + r[a] * g) / q + r[a] * f * slope / (q * q)
            for b in range(3):
                z.X[s, 1 + b, j] = f if a == b else 0.0
                z.dX[s, 1 + b, j] = g if a == b else 0.0


@inner
def _place_free(z, s, c):  # type: ignore[no-untyped-def]
    """Quaternion and derivatives from unit quaternions c (n, 4) of nodes after the base."""
    for a in range(4):
        z.Q[s, a] = z.turn[s, 0] if a == 0 else 0.0
        z.dQ[s, a] = z.dturn[s, 0] if a == 0 else 0.0
    for k in range(c.shape[0]):
        f, g = z.turn[s, k + 1], z.dturn[s, k + 1]
        P = (c[k, 0], c[k, 1], c[k, 2], c[k, 3])
        for a in range(4):
            z.Q[s, a] += f * P[a]
            z.dQ[s, a] += g * P[a]
        for a in range(3):
            j = 3 * k + a
            unit = (0.5 * (a == 0), 0.5 * (a == 1), 0.5 * (a == 2))
            turned = _paired(unit, P)
            for b in range(4):
                z.X[s, b, j], z.dX[s, b, j] = f * turned[b], g * turned[b]


@kernel
def place(free, z, c, d):  # type: ignore[no-untyped-def]
    """Quaternions, poses and turns of stations z; c (n, 3 or 4) and d (n + 1, 3) the coordinates."""
    for s in range(z.s.shape[0]):
        if free:
            _place_free(z, s, c)
        else:
            _place_unit(z, s, c)
        Q = _row(z.Q, s)
        N = Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]
        h = 1.0 / sqrt(N)
        P = z.pose[s]
        write_block(P, 0, 0, quaternion_matrix((h * Q[0], h * Q[1], h * Q[2], h * Q[3])))
        p = (0.0, 0.0, z.s[s])
        for k in range(d.shape[0]):
            p = add(1.0, p, z.shift[s, k], read_vector(d[k], 0))
        for a in range(3):
            P[a, 3] = p[a]
        for j in range(z.W.shape[2]):
            w = _imaginary(Q, (z.X[s, 0, j], z.X[s, 1, j], z.X[s, 2, j], z.X[s, 3, j]))
            for a in range(3):
                z.W[s, a, j] = 2.0 * w[a] / N


@kernel
def set_frames(z, base, g, J):  # type: ignore[no-untyped-def]
    """World poses g (S, 4, 4) and J (S, 6, m) of stations that are placed."""
    n = z.W.shape[2]
    for s in range(z.s.shape[0]):
        P = z.pose[s]
        compose(base, P, g[s])
        write_adjoint_inverse(P, 1.0, J[s], 0)
        for a in range(3):
            for j in range(n):
                J[s, a, 6 + j] = z.W[s, a, j]
            for k in range(z.shift.shape[1]):
                for b in range(3):
                    J[s, 3 + a, 6 + n + 3 * k + b] = P[b, a] * z.shift[s, k]


@kernel
def set_strains(z, d, e, B):  # type: ignore[no-untyped-def]
    """Strains e (S, 6) and B (S, 6, m) of stations that are placed; d (n + 1, 3) as in `place`.

    du = 2 Im(dQ* Q' + Q* dQ') / N - 2 u (Q.dQ) / N,   dv = R^T dp' + v x w.
    """
    n = z.W.shape[2]
    for s in range(z.s.shape[0]):
        Q, P = _row(z.Q, s), _row(z.dQ, s)
        N = Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]
        u = _imaginary(Q, P)
        slope = (0.0, 0.0, 1.0)
        for k in range(d.shape[0]):
            slope = add(1.0, slope, z.dshift[s, k], read_vector(d[k], 0))
        v = apply(transpose(read_block(z.pose[s])), slope)
        for a in range(3):
            e[s, a], e[s, 3 + a] = 2.0 * u[a] / N, v[a]
        for j in range(n):
            x = (z.X[s, 0, j], z.X[s, 1, j], z.X[s, 2, j], z.X[s, 3, j])
            y = (z.dX[s, 0, j], z.dX[s, 1, j], z.dX[s, 2, j], z.dX[s, 3, j])
            one, two = _imaginary(x, P), _imaginary(Q, y)
            grow = Q[0] * x[0] + Q[1] * x[1] + Q[2] * x[2] + Q[3] * x[3]
            bent = cross(v, (z.W[s, 0, j], z.W[s, 1, j], z.W[s, 2, j]))
            for a in range(3):
                B[s, a, 6 + j] = 2.0 * (one[a] + two[a] - e[s, a] * grow) / N
                B[s, 3 + a, 6 + j] = bent[a]
        for k in range(d.shape[0]):
            for a in range(3):
                for b in range(3):
                    B[s, 3 + a, 6 + n + 3 * k + b] = z.pose[s, b, a] * z.dshift[s, k]


# -- second derivatives ---------------------------------------------------------------------------


@inner
def _add_pair(scale, x, y, K):  # type: ignore[no-untyped-def]
    """K[6:, 6:] += scale (x y^T + y x^T) for rows x, y (3n,)."""
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            K[6 + i, 6 + j] += scale * (x[i] * y[j] + y[i] * x[j])


@inner
def _add_unit_second(z, s, G, H, K):  # type: ignore[no-untyped-def]
    """Add G . Q'' + H . dQ'' of second order in the coefficients; only the real part has any:

    Q0'' = -|dr|^2 / Q0 - (r.dr)^2 / Q0^3, and its slope along the rod.
    """
    q, slope = z.Q[s, 0], z.dQ[s, 0]
    r, d = (z.Q[s, 1], z.Q[s, 2], z.Q[s, 3]), (z.dQ[s, 1], z.dQ[s, 2], z.dQ[s, 3])
    i, i3 = 1.0 / q, 1.0 / (q * q * q)
    for k in range(z.turn.shape[1]):
        for j in range(z.turn.shape[1]):
            own = z.turn[s, k] * z.turn[s, j]
            mixed = z.turn[s, k] * z.dturn[s, j] + z.dturn[s, k] * z.turn[s, j]
            flat = own * G[0] + mixed * H[0]
            for a in range(3):
                for b in range(3):
                    one = 1.0 if a == b else 0.0
                    rr = r[a] * r[b]
                    steep = slope * i * (one * i + 3.0 * rr * i3) - (r[a] * d[b] + d[a] * r[b]) * i3
                    x = own * H[0] * steep - flat * (one * i + rr * i3)
                    K[6 + 3 * k + a, 6 + 3 * j + b] += x


@inner
def _add_free_second(z, s, c, G, H, K):  # type: ignore[no-untyped-def]
    """Add G . Q'' + H . dQ'': a node that turns by w has -|w|^2 / 4 times its quaternion."""
    for k in range(c.shape[0]):
        one = G[0] * c[k, 0] + G[1] * c[k, 1] + G[2] * c[k, 2] + G[3] * c[k, 3]
        two = H[0] * c[k, 0] + H[1] * c[k, 1] + H[2] * c[k, 2] + H[3] * c[k, 3]
        x = -0.25 * (z.turn[s, k + 1] * one + z.dturn[s, k + 1] * two)
        for a in range(3):
            K[6 + 3 * k + a, 6 + 3 * k + a] += x


@inner
def _add_turn(m, z, s, rows, K):  # type: ignore[no-untyped-def]
    """Add -2 (Q.dQ) (m.w) / N, and return G with m . w'' = G . Q'' + ...; rows (2, 3n) workspace."""
    Q = _row(z.Q, s)
    N = Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]
    for j in range(z.W.shape[2]):
        rows[0, j] = (
            Q[0] * z.X[s, 0, j] + Q[1] * z.X[s, 1, j] + Q[2] * z.X[s, 2, j] + Q[3] * z.X[s, 3, j]
        )
        rows[1, j] = m[0] * z.W[s, 0, j] + m[1] * z.W[s, 1, j] + m[2] * z.W[s, 2, j]
    _add_pair(-1.0 / N, rows[0], rows[1], K)
    G = _paired(m, Q)
    return 2.0 * G[0] / N, 2.0 * G[1] / N, 2.0 * G[2] / N, 2.0 * G[3] / N


@inner
def _add_swing(scale, n, z, s, shapes, K):  # type: ignore[no-untyped-def]
    """Add scale times w . (n x R^T dy) between turns and shifts, y = sum shapes_k d_k, both ways."""
    size, P = z.W.shape[2], z.pose[s]
    for k in range(shapes.shape[1]):
        for b in range(3):
            side = cross(n, (P[b, 0], P[b, 1], P[b, 2]))
            f, at = scale * shapes[s, k], 6 + size + 3 * k + b
            for j in range(size):
                x = side[0] * z.W[s, 0, j] + side[1] * z.W[s, 1, j] + side[2] * z.W[s, 2, j]
                K[6 + j, at] += f * x
                K[at, 6 + j] += f * x


@inner
def _add_base(f, J, K):  # type: ignore[no-untyped-def]
    """Add half of f . [J_base, J_own] between the base and the coordinates."""
    m, n = read_vector(f, 0), read_vector(f, 3)
    for j in range(6, J.shape[1]):
        w, v = (J[0, j], J[1, j], J[2, j]), (J[3, j], J[4, j], J[5, j])
        upper, lower = add(1.0, cross(w, m), 1.0, cross(v, n)), cross(w, n)
        for i in range(6):
            x = J[0, i] * upper[0] + J[1, i] * upper[1] + J[2, i] * upper[2]
            x += J[3, i] * lower[0] + J[4, i] * lower[1] + J[5, i] * lower[2]
            K[i, j] += 0.5 * x
            K[j, i] += 0.5 * x


@kernel
def add_frame_second(free, z, c, J, f, K):  # type: ignore[no-untyped-def]
    """Add to K (m, m) the second derivative of sum f . log(g^-1 g(x)), f (S, 6)."""
    rows = np.empty((2, z.W.shape[2]))
    zero = (0.0, 0.0, 0.0, 0.0)
    for s in range(z.s.shape[0]):
        m, n = read_vector(f[s], 0), read_vector(f[s], 3)
        G = _add_turn(m, z, s, rows, K)
        if free:
            _add_free_second(z, s, c, G, zero, K)
        else:
            _add_unit_second(z, s, G, zero, K)
        _add_swing(0.5, n, z, s, z.shift, K)
        _add_base(f[s], J[s], K)


@inner
def _add_curvature(m, u, z, s, rows, K):  # type: ignore[no-untyped-def]
    """Add the products of first derivatives in m . u'', return G, H with m.u'' = G.Q'' + H.dQ'' + ...

    u'' = A'' / N - 2 A' N' / N^2 - u N'' / N + 2 u N'^2 / N^2 for A = 2 Im(Q* Q'); rows (6, 3n).
    """
    Q, P = _row(z.Q, s), _row(z.dQ, s)
    N = Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]
    along = dot(m, u)
    size = z.W.shape[2]
    for j in range(size):
        x = (z.X[s, 0, j], z.X[s, 1, j], z.X[s, 2, j], z.X[s, 3, j])
        y = (z.dX[s, 0, j], z.dX[s, 1, j], z.dX[s, 2, j], z.dX[s, 3, j])
        rows[0, j] = Q[0] * x[0] + Q[1] * x[1] + Q[2] * x[2] + Q[3] * x[3]
        rows[1, j] = 2.0 * (dot(m, _imaginary(x, P)) + dot(m, _imaginary(Q, y)))
        # m . Im(x* y) = x . E y
        yv = (y[1], y[2], y[3])
        side = add(-y[0], m, -1.0, cross(yv, m))
        rows[2, j] = dot(m, yv)
        rows[3, j], rows[4, j], rows[5, j] = side[0], side[1], side[2]
    _add_pair(-2.0 / (N * N), rows[0], rows[1], K)
    _add_pair(4.0 * along / (N * N), rows[0], rows[0], K)
    for a in range(4):
        _add_pair(2.0 / N, z.X[s, a], rows[2 + a], K)
        _add_pair(-along / N, z.X[s, a], z.X[s, a], K)
    G, H = _paired(m, P), _paired(m, Q)
    f = 2.0 / N
    return (
        (
            -f * (G[0] + along * Q[0]),
            -f * (G[1] + along * Q[1]),
            -f * (G[2] + along * Q[2]),
            -f * (G[3] + along * Q[3]),
        ),
        (f * H[0], f * H[1], f * H[2], f * H[3]),
    )


@kernel
def add_strain_second(free, z, c, e, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (m, m) the second derivative of sum sigma . e(x), sigma = (m, n) (S, 6).

    v'' = -2 w x R^T dp' - w' x v + w x (w x v).
    """
    size = z.W.shape[2]
    rows = np.empty((6, size))
    for s in range(z.s.shape[0]):
        m, n = read_vector(sigma[s], 0), read_vector(sigma[s], 3)
        u, v = read_vector(e[s], 0), read_vector(e[s], 3)
        G, H = _add_curvature(m, u, z, s, rows, K)
        F = _add_turn(cross(n, v), z, s, rows, K)
        total = (G[0] + F[0], G[1] + F[1], G[2] + F[2], G[3] + F[3])
        if free:
            _add_free_second(z, s, c, total, H, K)
        else:
            _add_unit_second(z, s, total, H, K)
        _add_swing(1.0, n, z, s, z.dshift, K)
        for j in range(size):
            w = (z.W[s, 0, j], z.W[s, 1, j], z.W[s, 2, j])
            rows[0, j], rows[1, j] = dot(n, w), dot(v, w)
        _add_pair(0.5, rows[0], rows[1], K)
        for a in range(3):
            _add_pair(-0.5 * dot(n, v), z.W[s, a], z.W[s, a], K)


@kernel
def frame_bias(free, z, c, J, rate, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6): body acceleration of stations at the steady rate (m,) of base and coordinates.

    (w', -w x v) - [own, base] with w' = 2 Im(Q* Q'') / N - 2 (Q.Q') w / N.
    """
    size = z.W.shape[2]
    for s in range(z.s.shape[0]):
        Q = _row(z.Q, s)
        N = Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]
        own, base = np.zeros(6), np.zeros(6)
        for a in range(6):
            for j in range(6):
                base[a] += J[s, a, j] * rate[j]
            for j in range(6, J.shape[2]):
                own[a] += J[s, a, j] * rate[j]
        grow, d0, d1, d2, d3 = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(size):
            for a in range(4):
                grow += Q[a] * z.X[s, a, j] * rate[6 + j]
        if free:
            for k in range(c.shape[0]):
                r = read_vector(rate, 6 + 3 * k)
                f = -0.25 * z.turn[s, k + 1] * dot(r, r)
                d0 += f * c[k, 0]
                d1 += f * c[k, 1]
                d2 += f * c[k, 2]
                d3 += f * c[k, 3]
        else:
            v, r = (0.0, 0.0, 0.0), (Q[1], Q[2], Q[3])
            for k in range(c.shape[0]):
                v = add(1.0, v, z.turn[s, k], read_vector(rate, 6 + 3 * k))
            d0 = -dot(v, v) / Q[0] - dot(r, v) * dot(r, v) / (Q[0] * Q[0] * Q[0])
        w, v = read_vector(own, 0), read_vector(own, 3)
        bw, bv = read_vector(base, 0), read_vector(base, 3)
        turn = add(2.0 / N, _imaginary(Q, (d0, d1, d2, d3)), -2.0 * grow / N, w)
        turn = add(1.0, turn, -1.0, cross(w, bw))
        slip = add(1.0, cross(w, bv), 1.0, cross(v, bw))
        shift = add(-1.0, cross(w, v), -1.0, slip)
        for a in range(3):
            bias[s, a], bias[s, 3 + a] = turn[a], shift[a]


@kernel
def turn_nodes(c, x, out):  # type: ignore[no-untyped-def]
    """out (n, 4): quaternions c (n, 4) turned by rotation vectors x (n, 3) in their axes."""
    for k in range(c.shape[0]):
        w = read_vector(x[k], 0)
        half = 0.5 * sqrt(dot(w, w))
        share = 0.5 * (sin(half) / half if half > 1e-8 else 1.0)
        P = (c[k, 0], c[k, 1], c[k, 2], c[k, 3])
        turned = _paired((share * w[0], share * w[1], share * w[2]), P)
        for a in range(4):
            out[k, a] = cos(half) * P[a] + turned[a]


@kernel
def follow_strains(e, B, x, target):  # type: ignore[no-untyped-def]
    """target (S, 3): shear and stretch of stations after a move x (m,), to first order."""
    for s in range(e.shape[0]):
        for a in range(3):
            target[s, a] = e[s, 3 + a]
            for j in range(x.shape[0]):
                target[s, a] += B[s, 3 + a, j] * x[j]


@kernel
def set_shift(z, inverse, target, d):  # type: ignore[no-untyped-def]
    """d (n + 1, 3): position for which stations z have the shear and stretch `target` (S, 3).

    inverse (n + 1, S) : of the slopes of the polynomials at the stations.
    """
    for k in range(d.shape[0]):
        for a in range(3):
            d[k, a] = 0.0
    for s in range(target.shape[0]):
        slope = apply(read_block(z.pose[s]), read_vector(target[s], 0))
        for k in range(d.shape[0]):
            for a in range(3):
                d[k, a] += inverse[k, s] * (slope[a] - (1.0 if a == 2 else 0.0))


@kernel
def pull_back(z, inverse, balance, sigma):  # type: ignore[no-untyped-def]
    """sigma (S, 6): minus the force that `balance` (n + 1, 3) on the position is at the stations.

    Along moves that keep shear and stretch linear, the slope of the position is bent by -R v''.
    """
    for s in range(sigma.shape[0]):
        pull = (0.0, 0.0, 0.0)
        for k in range(balance.shape[0]):
            pull = add(1.0, pull, -inverse[k, s], read_vector(balance[k], 0))
        n = apply(transpose(read_block(z.pose[s])), pull)
        for a in range(3):
            sigma[s, a], sigma[s, 3 + a] = 0.0, n[a]
