"""Kernels of spectral rods whose nodes move freely: strains, their rates, and forces on the nodes.

The same strains as in `spectral_kernels`, without derivatives in the coordinates. With Q and Q' the
interpolated quaternion and its slope, P = (0, p'), and a stress (m, n) as quaternions with real part 0,

    dU/dQ' = 2 Q m / |Q|^2,      dU/dp' = Im(Q n Q*) / |Q|^2,
    dU/dQ  = -(2 Q' m + 2 P Q n + 2 (m.u + n.v) Q) / |Q|^2     for  U = m.u + n.v.

A node whose quaternion Q_i meets the derivative G_i feels the torque Im(Q_i* G_i) / 2 in its own axes.
"""

from __future__ import annotations

from pliant._numba import kernel, leaf
from pliant.lie.quaternion_leaves import quaternion_from_matrix
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


@leaf
def _at_station(at, L, dL, poses, quaternions):  # type: ignore[no-untyped-def]
    """Quaternion Q, its slope Q' and the slope p' of a station from the nodes from number `at` on."""
    a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
    b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
    x, y, z = 0.0, 0.0, 0.0
    for i in range(L.shape[0]):
        w, d = L[i], dL[i]
        Q, P = quaternions[at + i], poses[at + i]
        a0 += w * Q[0]
        a1 += w * Q[1]
        a2 += w * Q[2]
        a3 += w * Q[3]
        b0 += d * Q[0]
        b1 += d * Q[1]
        b2 += d * Q[2]
        b3 += d * Q[3]
        x += d * P[0, 3]
        y += d * P[1, 3]
        z += d * P[2, 3]
    return (a0, a1, a2, a3), (b0, b1, b2, b3), (x, y, z)


@kernel
def set_strain(first, element, L, dL, poses, quaternions, e):  # type: ignore[no-untyped-def]
    """e (S, 6) of stations with weights L and slopes dL (S, k+1) of the nodes."""
    for s in range(element.shape[0]):
        at = first[element[s]]
        (a0, a1, a2, a3), (b0, b1, b2, b3), (x, y, z) = _at_station(
            at, L[s], dL[s], poses, quaternions
        )
        t = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
        e[s, 0] = t * (a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2)
        e[s, 1] = t * (a0 * b2 + a1 * b3 - a2 * b0 - a3 * b1)
        e[s, 2] = t * (a0 * b3 - a1 * b2 + a2 * b1 - a3 * b0)
        c0, c1, c2 = a2 * z - a3 * y, a3 * x - a1 * z, a1 * y - a2 * x
        e[s, 3] = x - t * (a0 * c0 - (a2 * c2 - a3 * c1))
        e[s, 4] = y - t * (a0 * c1 - (a3 * c0 - a1 * c2))
        e[s, 5] = z - t * (a0 * c2 - (a1 * c1 - a2 * c0))


@kernel
def add_forces(first, element, L, dL, poses, quaternions, e, sigma, pull, force):  # type: ignore[no-untyped-def]
    """Add the derivatives of sum sigma . e in quaternions, pull (N, 4), and positions, force (N, 3)."""
    for s in range(element.shape[0]):
        at = first[element[s]]
        (a0, a1, a2, a3), (b0, b1, b2, b3), (x, y, z) = _at_station(
            at, L[s], dL[s], poses, quaternions
        )
        r = 1.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
        t = 2.0 * r
        m0, m1, m2 = t * sigma[s, 0], t * sigma[s, 1], t * sigma[s, 2]
        n0, n1, n2 = t * sigma[s, 3], t * sigma[s, 4], t * sigma[s, 5]
        w = m0 * e[s, 0] + m1 * e[s, 1] + m2 * e[s, 2]
        w += n0 * e[s, 3] + n1 * e[s, 4] + n2 * e[s, 5]
        d0 = -(a1 * m0 + a2 * m1 + a3 * m2)
        d1 = a0 * m0 + a2 * m2 - a3 * m1
        d2 = a0 * m1 + a3 * m0 - a1 * m2
        d3 = a0 * m2 + a1 * m1 - a2 * m0
        h0 = -(a1 * n0 + a2 * n1 + a3 * n2)
        h1 = a0 * n0 + a2 * n2 - a3 * n1
        h2 = a0 * n1 + a3 * n0 - a1 * n2
        h3 = a0 * n2 + a1 * n1 - a2 * n0
        c0 = b1 * m0 + b2 * m1 + b3 * m2 + x * h1 + y * h2 + z * h3 - w * a0
        c1 = -(b0 * m0 + b2 * m2 - b3 * m1 + x * h0 + y * h3 - z * h2) - w * a1
        c2 = -(b0 * m1 + b3 * m0 - b1 * m2 + y * h0 + z * h1 - x * h3) - w * a2
        c3 = -(b0 * m2 + b1 * m1 - b2 * m0 + z * h0 + x * h2 - y * h1) - w * a3
        f0 = 0.5 * (h1 * a0 - h0 * a1 - h2 * a3 + h3 * a2)
        f1 = 0.5 * (h2 * a0 - h0 * a2 - h3 * a1 + h1 * a3)
        f2 = 0.5 * (h3 * a0 - h0 * a3 - h1 * a2 + h2 * a1)
        for i in range(L.shape[1]):
            w, d = L[s, i], dL[s, i]
            G, F = pull[at + i], force[at + i]
            G[0] += w * c0 + d * d0
            G[1] += w * c1 + d * d1
            G[2] += w * c2 + d * d2
            G[3] += w * c3 + d * d3
            F[0] += d * f0
            F[1] += d * f1
            F[2] += d * f2


@kernel
def add_torques(quaternions, pull, torque):  # type: ignore[no-untyped-def]
    """torque (N, 3) += Im(Q* G) / 2 for the derivatives G = pull (N, 4) in the quaternions."""
    for i in range(torque.shape[0]):
        Q, G, T = quaternions[i], pull[i], torque[i]
        T[0] += 0.5 * (Q[0] * G[1] - Q[1] * G[0] - Q[2] * G[3] + Q[3] * G[2])
        T[1] += 0.5 * (Q[0] * G[2] + Q[1] * G[3] - Q[2] * G[0] - Q[3] * G[1])
        T[2] += 0.5 * (Q[0] * G[3] - Q[1] * G[2] + Q[2] * G[1] - Q[3] * G[0])


@kernel
def set_strain_rate(first, element, L, dL, poses, quaternions, velocity, spin, e, rate):  # type: ignore[no-untyped-def]
    """rate (S, 6) of the strains e (S, 6) for velocities and body spins (N, 3) of the nodes.

    With Q and its rate q: u' = 2 Im(q* Q' + Q* q') / |Q|^2 - 2 u Q.q / |Q|^2, and v' = R^T p'' + v x t
    with the spin t = 2 Im(Q* q) / |Q|^2 of the station.
    """
    for s in range(element.shape[0]):
        a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
        b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
        p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
        r0, r1, r2, r3 = 0.0, 0.0, 0.0, 0.0
        x, y, z = 0.0, 0.0, 0.0
        for i in range(L.shape[1]):
            w, d = L[s, i], 0.5 * dL[s, i]
            n = first[element[s]] + i
            Q, W, V = quaternions[n], spin[n], velocity[n]
            k0 = -(Q[1] * W[0] + Q[2] * W[1] + Q[3] * W[2])
            k1 = Q[0] * W[0] + Q[2] * W[2] - Q[3] * W[1]
            k2 = Q[0] * W[1] + Q[3] * W[0] - Q[1] * W[2]
            k3 = Q[0] * W[2] + Q[1] * W[1] - Q[2] * W[0]
            a0 += w * Q[0]
            a1 += w * Q[1]
            a2 += w * Q[2]
            a3 += w * Q[3]
            b0 += 2.0 * d * Q[0]
            b1 += 2.0 * d * Q[1]
            b2 += 2.0 * d * Q[2]
            b3 += 2.0 * d * Q[3]
            p0 += 0.5 * w * k0
            p1 += 0.5 * w * k1
            p2 += 0.5 * w * k2
            p3 += 0.5 * w * k3
            r0 += d * k0
            r1 += d * k1
            r2 += d * k2
            r3 += d * k3
            x += 2.0 * d * V[0]
            y += 2.0 * d * V[1]
            z += 2.0 * d * V[2]
        t = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
        grow = t * (a0 * p0 + a1 * p1 + a2 * p2 + a3 * p3)
        t0 = t * (a0 * p1 - a1 * p0 - a2 * p3 + a3 * p2)
        t1 = t * (a0 * p2 + a1 * p3 - a2 * p0 - a3 * p1)
        t2 = t * (a0 * p3 - a1 * p2 + a2 * p1 - a3 * p0)
        u0 = t * (a0 * r1 - a1 * r0 - a2 * r3 + a3 * r2 + p0 * b1 - p1 * b0 - p2 * b3 + p3 * b2)
        u1 = t * (a0 * r2 + a1 * r3 - a2 * r0 - a3 * r1 + p0 * b2 + p1 * b3 - p2 * b0 - p3 * b1)
        u2 = t * (a0 * r3 - a1 * r2 + a2 * r1 - a3 * r0 + p0 * b3 - p1 * b2 + p2 * b1 - p3 * b0)
        rate[s, 0] = u0 - grow * e[s, 0]
        rate[s, 1] = u1 - grow * e[s, 1]
        rate[s, 2] = u2 - grow * e[s, 2]
        c0, c1, c2 = a2 * z - a3 * y, a3 * x - a1 * z, a1 * y - a2 * x
        rate[s, 3] = x - t * (a0 * c0 - (a2 * c2 - a3 * c1)) + e[s, 4] * t2 - e[s, 5] * t1
        rate[s, 4] = y - t * (a0 * c1 - (a3 * c0 - a1 * c2)) + e[s, 5] * t0 - e[s, 3] * t2
        rate[s, 5] = z - t * (a0 * c2 - (a1 * c1 - a2 * c0)) + e[s, 3] * t1 - e[s, 4] * t0
