"""Kernels of spectral rods whose nodes move freely: strains, their rates, and forces on the nodes.

The same strains as in `spectral_kernels`, without derivatives in the coordinates, for eight elements at
once; nodes are columns as in `lumped_nodes`. With Q and Q' the interpolated quaternion and its slope,
P = (0, p'), and a stress (m, n) as quaternions with real part 0,

    dU/dQ' = 2 Q m / |Q|^2,      dU/dp' = Im(Q n Q*) / |Q|^2,
    dU/dQ  = -(2 Q' m + 2 P Q n + 2 (m.u + n.v) Q) / |Q|^2     for  U = m.u + n.v.

A node whose quaternion Q_i meets the derivative G_i feels the torque Im(Q_i* G_i) / 2 in its own axes.

Stations are the Gauss points g of elements of width W: column g W + e of arrays (R, k W). Weights
L (k, k+1) and slopes D (k, k+1) of the nodes are those of an element of length 2; `steep` (1, W) is the
inverse of half the length of each element.
"""

from __future__ import annotations

from pliant._numba import kernel, leaf
from pliant.engine.lanes import load, store
from pliant.lie.quaternion_leaves import quaternion_from_matrix, quaternion_matrix
from pliant.lie.tuples import read_block


@kernel
def set_quaternions(poses, quaternions):  # type: ignore[no-untyped-def]
    """Unit quaternions (N, 4) of poses (N, 4, 4), each on the side of the one before."""
    for i in range(poses.shape[0]):
        q = quaternion_from_matrix(read_block(poses[i]))
        side = 1.0
        if i > 0:
            h = quaternions[i - 1]
            if q[0] * h[0] + q[1] * h[1] + q[2] * h[2] + q[3] * h[3] < 0.0:
                side = -1.0
        for a in range(4):
            quaternions[i, a] = side * q[a]


@kernel
def read_nodes(columns, poses, quaternions, X, Q):  # type: ignore[no-untyped-def]
    """Columns (N,) of X (3, C) and Q (4, C) from nodes one by one."""
    for i in range(columns.shape[0]):
        for a in range(3):
            X[a, columns[i]] = poses[i, a, 3]
        for a in range(4):
            Q[a, columns[i]] = quaternions[i, a]


@kernel
def write_nodes(columns, X, Q, poses, quaternions):  # type: ignore[no-untyped-def]
    """Poses (N, 4, 4) and quaternions (N, 4) of nodes from their columns (N,)."""
    for i in range(columns.shape[0]):
        c = columns[i]
        q = (Q[0, c], Q[1, c], Q[2, c], Q[3, c])
        R = quaternion_matrix(q)
        for a in range(4):
            quaternions[i, a] = q[a]
        for a in range(3):
            poses[i, a, 3] = X[a, c]
            for b in range(3):
                poses[i, a, b] = R[3 * a + b]


@kernel
def add_to_columns(columns, torque, force, T, F):  # type: ignore[no-untyped-def]
    """Add torques and forces (N, 3) of nodes to the columns (N,) of T and F (3, C)."""
    for i in range(columns.shape[0]):
        for a in range(3):
            T[a, columns[i]] += torque[i, a]
            F[a, columns[i]] += force[i, a]


@kernel
def take_columns(columns, rows, out):  # type: ignore[no-untyped-def]
    """out (N, 3) : columns (N,) of rows (3, C)."""
    for i in range(columns.shape[0]):
        for a in range(3):
            out[i, a] = rows[a, columns[i]]


@kernel
def join(k, count, W, values):  # type: ignore[no-untyped-def]
    """Let the last nodes of elements be the first ones of the next elements, in values (R, C)."""
    for r in range(values.shape[0]):
        row = values[r]
        for e in range(count - 1):
            row[k * W + e] = row[e + 1]


@kernel
def take_apart(k, count, W, values):  # type: ignore[no-untyped-def]
    """Add what last nodes of elements got to the first ones of the next elements, values (R, C)."""
    for r in range(values.shape[0]):
        row = values[r]
        for e in range(count - 1):
            row[e + 1] += row[k * W + e]
            row[k * W + e] = 0.0


@leaf
def _at_station(g, b, W, L, D, steep, X, Q):  # type: ignore[no-untyped-def]
    """Quaternions Q, their slopes Q' and slopes p' at Gauss point g of the elements from b on."""
    w, d = L[g, 0], D[g, 0]
    q0, q1, q2, q3 = load(Q, 0, b), load(Q, 1, b), load(Q, 2, b), load(Q, 3, b)
    a0, a1, a2, a3 = w * q0, w * q1, w * q2, w * q3
    b0, b1, b2, b3 = d * q0, d * q1, d * q2, d * q3
    x, y, z = d * load(X, 0, b), d * load(X, 1, b), d * load(X, 2, b)
    for i in range(1, L.shape[1]):
        w, d, c = L[g, i], D[g, i], i * W + b
        q0, q1, q2, q3 = load(Q, 0, c), load(Q, 1, c), load(Q, 2, c), load(Q, 3, c)
        a0 = a0 + w * q0
        a1 = a1 + w * q1
        a2 = a2 + w * q2
        a3 = a3 + w * q3
        b0 = b0 + d * q0
        b1 = b1 + d * q1
        b2 = b2 + d * q2
        b3 = b3 + d * q3
        x = x + d * load(X, 0, c)
        y = y + d * load(X, 1, c)
        z = z + d * load(X, 2, c)
    s = load(steep, 0, b)
    return (a0, a1, a2, a3), (s * b0, s * b1, s * b2, s * b3), (s * x, s * y, s * z)


@kernel
def set_strain(count, W, L, D, steep, X, Q, strain, e):  # type: ignore[no-untyped-def]
    """Strains in strain (6, k W), and in e (S, 6) for all others; last nodes are joined."""
    k = L.shape[0]
    for b in range(0, W, 8):
        for g in range(k):
            (a0, a1, a2, a3), (b0, b1, b2, b3), (x, y, z) = _at_station(g, b, W, L, D, steep, X, Q)
            t = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
            c = g * W + b
            store(strain, 0, c, t * (a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2))
            store(strain, 1, c, t * (a0 * b2 + a1 * b3 - a2 * b0 - a3 * b1))
            store(strain, 2, c, t * (a0 * b3 - a1 * b2 + a2 * b1 - a3 * b0))
            c0, c1, c2 = a2 * z - a3 * y, a3 * x - a1 * z, a1 * y - a2 * x
            store(strain, 3, c, x - t * (a0 * c0 - (a2 * c2 - a3 * c1)))
            store(strain, 4, c, y - t * (a0 * c1 - (a3 * c0 - a1 * c2)))
            store(strain, 5, c, z - t * (a0 * c2 - (a1 * c1 - a2 * c0)))
    _write_stations(k, count, W, strain, e)


@leaf
def _write_stations(k, count, W, rows, out):  # type: ignore[no-untyped-def]
    """out (S, 6), station by station, of rows (6, k W)."""
    for i in range(count):
        for g in range(k):
            for r in range(6):
                out[i * k + g, r] = rows[r, g * W + i]


@kernel
def add_forces(count, W, L, D, steep, X, Q, strain, sigma, stress, pull, force):  # type: ignore[no-untyped-def]
    """Add the derivatives of sum sigma . e in quaternions, pull (4, C), and positions, force (3, C).

    sigma (S, 6); stress (6, k W) is workspace, strain (6, k W) from `set_strain`.
    """
    k = L.shape[0]
    for i in range(count):
        for g in range(k):
            for r in range(6):
                stress[r, g * W + i] = sigma[i * k + g, r]
    for b in range(0, W, 8):
        for g in range(k):
            (a0, a1, a2, a3), (b0, b1, b2, b3), (x, y, z) = _at_station(g, b, W, L, D, steep, X, Q)
            t, c = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3), g * W + b
            m0, m1, m2 = t * load(stress, 0, c), t * load(stress, 1, c), t * load(stress, 2, c)
            n0, n1, n2 = t * load(stress, 3, c), t * load(stress, 4, c), t * load(stress, 5, c)
            w = m0 * load(strain, 0, c) + m1 * load(strain, 1, c) + m2 * load(strain, 2, c)
            w = w + n0 * load(strain, 3, c) + n1 * load(strain, 4, c) + n2 * load(strain, 5, c)
            h0 = -(a1 * n0 + a2 * n1 + a3 * n2)
            h1 = a0 * n0 + a2 * n2 - a3 * n1
            h2 = a0 * n1 + a3 * n0 - a1 * n2
            h3 = a0 * n2 + a1 * n1 - a2 * n0
            c0 = b1 * m0 + b2 * m1 + b3 * m2 + x * h1 + y * h2 + z * h3 - w * a0
            c1 = -(b0 * m0 + b2 * m2 - b3 * m1 + x * h0 + y * h3 - z * h2) - w * a1
            c2 = -(b0 * m1 + b3 * m0 - b1 * m2 + y * h0 + z * h1 - x * h3) - w * a2
            c3 = -(b0 * m2 + b1 * m1 - b2 * m0 + z * h0 + x * h2 - y * h1) - w * a3
            s = load(steep, 0, b)
            half = 0.5 * s
            f0 = half * (h1 * a0 - h0 * a1 - h2 * a3 + h3 * a2)
            f1 = half * (h2 * a0 - h0 * a2 - h3 * a1 + h1 * a3)
            f2 = half * (h3 * a0 - h0 * a3 - h1 * a2 + h2 * a1)
            d0 = -s * (a1 * m0 + a2 * m1 + a3 * m2)
            d1 = s * (a0 * m0 + a2 * m2 - a3 * m1)
            d2 = s * (a0 * m1 + a3 * m0 - a1 * m2)
            d3 = s * (a0 * m2 + a1 * m1 - a2 * m0)
            for i in range(L.shape[1]):
                u, d, at = L[g, i], D[g, i], i * W + b
                store(pull, 0, at, load(pull, 0, at) + u * c0 + d * d0)
                store(pull, 1, at, load(pull, 1, at) + u * c1 + d * d1)
                store(pull, 2, at, load(pull, 2, at) + u * c2 + d * d2)
                store(pull, 3, at, load(pull, 3, at) + u * c3 + d * d3)
                store(force, 0, at, load(force, 0, at) + d * f0)
                store(force, 1, at, load(force, 1, at) + d * f1)
                store(force, 2, at, load(force, 2, at) + d * f2)


@kernel
def add_torques(Q, pull, torque):  # type: ignore[no-untyped-def]
    """torque (3, C) += Im(Q* G) / 2 for the derivatives G = pull (4, C) in the quaternions."""
    for c in range(0, Q.shape[1], 8):
        a, x, y, z = load(Q, 0, c), load(Q, 1, c), load(Q, 2, c), load(Q, 3, c)
        g, p, q, r = load(pull, 0, c), load(pull, 1, c), load(pull, 2, c), load(pull, 3, c)
        store(torque, 0, c, load(torque, 0, c) + 0.5 * (a * p - x * g - y * r + z * q))
        store(torque, 1, c, load(torque, 1, c) + 0.5 * (a * q + x * r - y * g - z * p))
        store(torque, 2, c, load(torque, 2, c) + 0.5 * (a * r - x * q + y * p - z * g))


@kernel
def set_quaternion_rates(Q, spin, rates):  # type: ignore[no-untyped-def]
    """rates (4, C) = Q w / 2 for body spins w (3, C)."""
    for c in range(0, Q.shape[1], 8):
        a, x, y, z = load(Q, 0, c), load(Q, 1, c), load(Q, 2, c), load(Q, 3, c)
        u, v, w = 0.5 * load(spin, 0, c), 0.5 * load(spin, 1, c), 0.5 * load(spin, 2, c)
        store(rates, 0, c, -(x * u + y * v + z * w))
        store(rates, 1, c, a * u + y * w - z * v)
        store(rates, 2, c, a * v + z * u - x * w)
        store(rates, 3, c, a * w + x * v - y * u)


@kernel
def set_strain_rate(count, W, L, D, steep, X, Q, velocity, turning, strain, stress, rate):  # type: ignore[no-untyped-def]
    """rate (S, 6) of the strains (6, k W) for velocities (3, C) and quaternion rates (4, C) of nodes.

    With Q and its rate q: u' = 2 Im(q* Q' + Q* q') / |Q|^2 - 2 u Q.q / |Q|^2, and v' = R^T p'' + v x t
    with the spin t = 2 Im(Q* q) / |Q|^2 of the station. stress (6, k W) is workspace.
    """
    k = L.shape[0]
    for b in range(0, W, 8):
        for g in range(k):
            (a0, a1, a2, a3), (b0, b1, b2, b3), _ = _at_station(g, b, W, L, D, steep, X, Q)
            (p0, p1, p2, p3), (r0, r1, r2, r3), (x, y, z) = _at_station(
                g, b, W, L, D, steep, velocity, turning
            )
            t, c = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3), g * W + b
            grow = t * (a0 * p0 + a1 * p1 + a2 * p2 + a3 * p3)
            t0 = t * (a0 * p1 - a1 * p0 - a2 * p3 + a3 * p2)
            t1 = t * (a0 * p2 + a1 * p3 - a2 * p0 - a3 * p1)
            t2 = t * (a0 * p3 - a1 * p2 + a2 * p1 - a3 * p0)
            u0 = a0 * r1 - a1 * r0 - a2 * r3 + a3 * r2 + p0 * b1 - p1 * b0 - p2 * b3 + p3 * b2
            u1 = a0 * r2 + a1 * r3 - a2 * r0 - a3 * r1 + p0 * b2 + p1 * b3 - p2 * b0 - p3 * b1
            u2 = a0 * r3 - a1 * r2 + a2 * r1 - a3 * r0 + p0 * b3 - p1 * b2 + p2 * b1 - p3 * b0
            store(stress, 0, c, t * u0 - grow * load(strain, 0, c))
            store(stress, 1, c, t * u1 - grow * load(strain, 1, c))
            store(stress, 2, c, t * u2 - grow * load(strain, 2, c))
            v0, v1, v2 = load(strain, 3, c), load(strain, 4, c), load(strain, 5, c)
            c0, c1, c2 = a2 * z - a3 * y, a3 * x - a1 * z, a1 * y - a2 * x
            store(stress, 3, c, x - t * (a0 * c0 - (a2 * c2 - a3 * c1)) + v1 * t2 - v2 * t1)
            store(stress, 4, c, y - t * (a0 * c1 - (a3 * c0 - a1 * c2)) + v2 * t0 - v0 * t2)
            store(stress, 5, c, z - t * (a0 * c2 - (a1 * c1 - a2 * c0)) + v0 * t1 - v1 * t0)
    _write_stations(k, count, W, stress, rate)
