"""Kernels of spectral rods whose nodes move freely: strains, their rates, and forces on the nodes.

The same strains as in `spectral_kernels`, without derivatives in the coordinates, for eight elements at
once; nodes are columns as in `lumped_nodes`. With Q and Q' the interpolated quaternion and its slope,
P = (0, p'), and a stress (m, n) as quaternions with real part 0,

    dU/dQ' = 2 Q m / |Q|^2,      dU/dp' = Im(Q n Q*) / |Q|^2,
    dU/dQ  = -(2 Q' m + 2 P Q n + 2 (m.u + n.v) Q) / |Q|^2     for  U = m.u + n.v.

A node whose quaternion Q_i meets the derivative G_i feels the torque Im(Q_i* G_i) / 2 in its own axes.

Stations are the Gauss points g of elements of width W: column g W + c of arrays (R, k W) for the
element in column c. Of R copies there are `count` elements. Weights L (k, k+1) and slopes D (k, k+1)
of the nodes are those of an element of length 2; `steep` (1, W) is the inverse of half the length of
each element.
"""

from __future__ import annotations

from pliant._numba import kernel, leaf
from pliant.engine.lanes import load, store


@leaf
def join(k, R, count, W, values):  # type: ignore[no-untyped-def]
    """Let the last nodes of elements be the first ones of the next elements, in values (rows, C)."""
    for r in range(values.shape[0]):
        row, last = values[r], values[r][k * W :]
        for c in range(count - R):
            last[c] = row[c + R]


@leaf
def take_apart(k, R, count, W, values):  # type: ignore[no-untyped-def]
    """Add what last nodes of elements got to the first ones of the next elements, values (rows, C)."""
    for r in range(values.shape[0]):
        row, last = values[r], values[r][k * W :]
        for c in range(count - R):
            row[c + R] += last[c]
            last[c] = 0.0


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


@leaf
def _strain(t, a, b, p):  # type: ignore[no-untyped-def]
    """Strains (u, v) of stations with quaternions a, their slopes b, slopes p, and t = 2 / |a|^2."""
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    x, y, z = p
    c0, c1, c2 = a2 * z - a3 * y, a3 * x - a1 * z, a1 * y - a2 * x
    return (
        t * (a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2),
        t * (a0 * b2 + a1 * b3 - a2 * b0 - a3 * b1),
        t * (a0 * b3 - a1 * b2 + a2 * b1 - a3 * b0),
        x - t * (a0 * c0 - (a2 * c2 - a3 * c1)),
        y - t * (a0 * c1 - (a3 * c0 - a1 * c2)),
        z - t * (a0 * c2 - (a1 * c1 - a2 * c0)),
    )


@leaf
def _set_node(first, pull, force, row, at, of_pull, of_force):  # type: ignore[no-untyped-def]
    """Set, or else add to, one row of pull (4, C) and force (3, C)."""
    if first:
        store(pull, row, at, of_pull)
        if row > 0:
            store(force, row - 1, at, of_force)
    else:
        store(pull, row, at, load(pull, row, at) + of_pull)
        if row > 0:
            store(force, row - 1, at, load(force, row - 1, at) + of_force)


@leaf
def _spread(g, b, W, L, D, s, t, station, e, sigma, pull, force):  # type: ignore[no-untyped-def]
    """Add what stresses sigma at Gauss point g do to the nodes of the elements from b on.

    pull (4, C) and force (3, C) : derivatives in quaternions and positions; begun anew at g = 0.
    """
    (a0, a1, a2, a3), (b0, b1, b2, b3), (x, y, z) = station
    m0, m1, m2 = t * sigma[0], t * sigma[1], t * sigma[2]
    n0, n1, n2 = t * sigma[3], t * sigma[4], t * sigma[5]
    w = m0 * e[0] + m1 * e[1] + m2 * e[2] + n0 * e[3] + n1 * e[4] + n2 * e[5]
    h0 = -(a1 * n0 + a2 * n1 + a3 * n2)
    h1 = a0 * n0 + a2 * n2 - a3 * n1
    h2 = a0 * n1 + a3 * n0 - a1 * n2
    h3 = a0 * n2 + a1 * n1 - a2 * n0
    c0 = b1 * m0 + b2 * m1 + b3 * m2 + x * h1 + y * h2 + z * h3 - w * a0
    c1 = -(b0 * m0 + b2 * m2 - b3 * m1 + x * h0 + y * h3 - z * h2) - w * a1
    c2 = -(b0 * m1 + b3 * m0 - b1 * m2 + y * h0 + z * h1 - x * h3) - w * a2
    c3 = -(b0 * m2 + b1 * m1 - b2 * m0 + z * h0 + x * h2 - y * h1) - w * a3
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
        _set_node(g == 0, pull, force, 0, at, u * c0 + d * d0, d0)
        _set_node(g == 0, pull, force, 1, at, u * c1 + d * d1, d * f0)
        _set_node(g == 0, pull, force, 2, at, u * c2 + d * d2, d * f1)
        _set_node(g == 0, pull, force, 3, at, u * c3 + d * d3, d * f2)


@leaf
def _set_torques(Q, pull, torque):  # type: ignore[no-untyped-def]
    """torque (3, C) = Im(Q* G) / 2 for the derivatives G = pull (4, C) in the quaternions."""
    for c in range(0, Q.shape[1], 8):
        a, x, y, z = load(Q, 0, c), load(Q, 1, c), load(Q, 2, c), load(Q, 3, c)
        g, p, q, r = load(pull, 0, c), load(pull, 1, c), load(pull, 2, c), load(pull, 3, c)
        store(torque, 0, c, 0.5 * (a * p - x * g - y * r + z * q))
        store(torque, 1, c, 0.5 * (a * q + x * r - y * g - z * p))
        store(torque, 2, c, 0.5 * (a * r - x * q + y * p - z * g))


@leaf
def _row_at(rows, c):  # type: ignore[no-untyped-def]
    """Columns from c on of all rows (6, k W)."""
    return (
        load(rows, 0, c), load(rows, 1, c), load(rows, 2, c),
        load(rows, 3, c), load(rows, 4, c), load(rows, 5, c),
    )  # fmt: skip


@kernel
def set_strain(R, count, W, L, D, steep, X, Q, strain):  # type: ignore[no-untyped-def]
    """Join the nodes, and set the strains (6, k W)."""
    k = L.shape[0]
    join(k, R, count, W, X)
    join(k, R, count, W, Q)
    for b in range(0, W, 8):
        for g in range(k):
            a, b_, p = _at_station(g, b, W, L, D, steep, X, Q)
            t = 2.0 / (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
            e = _strain(t, a, b_, p)
            for r in range(6):
                store(strain, r, g * W + b, e[r])


@kernel
def set_elastic_forces(R, count, W, L, D, steep, X, Q, stiffness, rest, pull, force, torque):  # type: ignore[no-untyped-def]
    """Set torques (3, C) and forces (3, C) of the nodes for stresses stiffness (e - rest).

    stiffness, rest (6, k W); pull (4, C) is workspace. Last nodes are joined, and then taken apart.
    """
    k = L.shape[0]
    join(k, R, count, W, X)
    join(k, R, count, W, Q)
    for b in range(0, W, 8):
        s = load(steep, 0, b)
        for g in range(k):
            c, station = g * W + b, _at_station(g, b, W, L, D, steep, X, Q)
            a, slope, p = station
            t = 2.0 / (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
            e = _strain(t, a, slope, p)
            C, e0 = _row_at(stiffness, c), _row_at(rest, c)
            sigma = (
                C[0] * (e[0] - e0[0]), C[1] * (e[1] - e0[1]), C[2] * (e[2] - e0[2]),
                C[3] * (e[3] - e0[3]), C[4] * (e[4] - e0[4]), C[5] * (e[5] - e0[5]),
            )  # fmt: skip
            _spread(g, b, W, L, D, s, t, station, e, sigma, pull, force)
    _set_torques(Q, pull, torque)
    take_apart(k, R, count, W, torque)
    take_apart(k, R, count, W, force)


@kernel
def set_forces(R, count, W, L, D, steep, X, Q, strain, stress, pull, force, torque):  # type: ignore[no-untyped-def]
    """Set torques (3, C) and forces (3, C) of the nodes for stresses (6, k W) at strains (6, k W).

    pull (4, C) is workspace. Last nodes, which are joined, are taken apart.
    """
    k = L.shape[0]
    for b in range(0, W, 8):
        s = load(steep, 0, b)
        for g in range(k):
            c, station = g * W + b, _at_station(g, b, W, L, D, steep, X, Q)
            a = station[0]
            t = 2.0 / (a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
            e, sigma = _row_at(strain, c), _row_at(stress, c)
            _spread(g, b, W, L, D, s, t, station, e, sigma, pull, force)
    _set_torques(Q, pull, torque)
    take_apart(k, R, count, W, torque)
    take_apart(k, R, count, W, force)


@kernel
def set_stress(moving, stiffness, rest, lag, strain, rate, stress):  # type: ignore[no-untyped-def]
    """stress = stiffness (strain - rest), and with `moving` of strain + lag rate; all (6, k W)."""
    for r in range(6):
        for c in range(0, strain.shape[1], 8):
            e = load(strain, r, c) - load(rest, r, c)
            if moving:
                e = e + load(lag, r, c) * load(rate, r, c)
            store(stress, r, c, load(stiffness, r, c) * e)


@kernel
def set_strain_rate(R, count, W, L, D, steep, X, Q, velocity, spin, turning, strain, rate):  # type: ignore[no-untyped-def]
    """rate (6, k W) of the strains (6, k W) for velocities and body spins (3, C) of the nodes.

    With Q and its rate q: u' = 2 Im(q* Q' + Q* q') / |Q|^2 - 2 u Q.q / |Q|^2, and v' = R^T p'' + v x t
    with the spin t = 2 Im(Q* q) / |Q|^2 of the station. turning (4, C) : rates Q w / 2 of the nodes.
    """
    k = L.shape[0]
    for c in range(0, Q.shape[1], 8):
        a, x, y, z = load(Q, 0, c), load(Q, 1, c), load(Q, 2, c), load(Q, 3, c)
        u, v, w = 0.5 * load(spin, 0, c), 0.5 * load(spin, 1, c), 0.5 * load(spin, 2, c)
        store(turning, 0, c, -(x * u + y * v + z * w))
        store(turning, 1, c, a * u + y * w - z * v)
        store(turning, 2, c, a * v + z * u - x * w)
        store(turning, 3, c, a * w + x * v - y * u)
    join(k, R, count, W, velocity)
    join(k, R, count, W, turning)
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
            e = _row_at(strain, c)
            store(rate, 0, c, t * u0 - grow * e[0])
            store(rate, 1, c, t * u1 - grow * e[1])
            store(rate, 2, c, t * u2 - grow * e[2])
            c0, c1, c2 = a2 * z - a3 * y, a3 * x - a1 * z, a1 * y - a2 * x
            store(rate, 3, c, x - t * (a0 * c0 - (a2 * c2 - a3 * c1)) + e[4] * t2 - e[5] * t1)
            store(rate, 4, c, y - t * (a0 * c1 - (a3 * c0 - a1 * c2)) + e[5] * t0 - e[3] * t2)
            store(rate, 5, c, z - t * (a0 * c2 - (a1 * c1 - a2 * c0)) + e[3] * t1 - e[4] * t0)


@kernel
def take_stations(columns, rows, out):  # type: ignore[no-untyped-def]
    """out (S, 6) : columns (S,) of rows (6, k W)."""
    for s in range(columns.shape[0]):
        for r in range(6):
            out[s, r] = rows[r, columns[s]]


@kernel
def add_stations(columns, values, rows):  # type: ignore[no-untyped-def]
    """Add values (S, 6) to the columns (S,) of rows (6, k W)."""
    for s in range(columns.shape[0]):
        for r in range(6):
            rows[r, columns[s]] += values[s, r]


@kernel
def put_stations(columns, values, rows):  # type: ignore[no-untyped-def]
    """The columns (S,) of rows (6, k W) = values (S, 6)."""
    for s in range(columns.shape[0]):
        for r in range(6):
            rows[r, columns[s]] = values[s, r]


@kernel
def add_energy(R, W, stiffness, rest, strain, out):  # type: ignore[no-untyped-def]
    """Add stiffness (strain - rest)^2 / 2, all (6, k W), to out (R,) of each copy."""
    for r in range(6):
        for c in range(strain.shape[1]):
            e = strain[r, c] - rest[r, c]
            out[c % W % R] += 0.5 * stiffness[r, c] * e * e
