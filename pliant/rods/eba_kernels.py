"""Kernels of the one-sided strain between neighbouring nodes (Sadati et al., equation 7).

Between nodes 1 and 2 at a distance h, with the relative quaternion (a, b) = Q1* Q2,

    u = 2 b / h,    v = R1^T (p2 - p1) / h :

twice the sine of half the angle, and the chord seen from the first node. Twists of the nodes are
(w, x). `set_*` serve explicit steps, in which nodes move freely; `place_strain` adds derivatives.
"""

from __future__ import annotations

from pliant._numba import inner, kernel, leaf
from pliant.lie.leaves import add_hat
from pliant.lie.tuples import (
    add,
    apply,
    cross,
    dot,
    multiply,
    read_block,
    read_vector,
    transpose,
    write_vector,
)


@leaf
def _between(quaternions, i):  # type: ignore[no-untyped-def]
    """(a, b) = Q_i* Q_{i+1}."""
    P, Q = quaternions[i], quaternions[i + 1]
    a = P[0] * Q[0] + P[1] * Q[1] + P[2] * Q[2] + P[3] * Q[3]
    b = (
        P[0] * Q[1] - P[1] * Q[0] - P[2] * Q[3] + P[3] * Q[2],
        P[0] * Q[2] + P[1] * Q[3] - P[2] * Q[0] - P[3] * Q[1],
        P[0] * Q[3] - P[1] * Q[2] + P[2] * Q[1] - P[3] * Q[0],
    )
    return a, b


@leaf
def _chord(poses, i):  # type: ignore[no-untyped-def]
    """R_i^T (p_{i+1} - p_i)."""
    P, Q = poses[i], poses[i + 1]
    step = (Q[0, 3] - P[0, 3], Q[1, 3] - P[1, 3], Q[2, 3] - P[2, 3])
    return apply(transpose(read_block(P)), step)


@kernel
def set_strain(first, element, dL, poses, quaternions, e):  # type: ignore[no-untyped-def]
    """e (S, 6) of stations; dL (S, 2) slopes of the two nodes of their element, dL[:, 1] = 1 / h."""
    for s in range(element.shape[0]):
        i, k = first[element[s]], dL[s, 1]
        _, b = _between(quaternions, i)
        v = _chord(poses, i)
        for r in range(3):
            e[s, r], e[s, 3 + r] = 2.0 * k * b[r], k * v[r]


@kernel
def set_strain_rate(first, element, dL, poses, quaternions, velocity, spin, e, rate):  # type: ignore[no-untyped-def]
    """rate (S, 6) for velocities (N, 3), world frame, and spins (N, 3), axes of the nodes.

    u' = (a (w2 - w1) + b x (w1 + w2)) / h,  v' = v x w1 + R1^T (p2' - p1') / h.
    """
    for s in range(element.shape[0]):
        i, k = first[element[s]], dL[s, 1]
        a, b = _between(quaternions, i)
        one, two = read_vector(spin[i], 0), read_vector(spin[i + 1], 0)
        step = add(k, read_vector(velocity[i + 1], 0), -k, read_vector(velocity[i], 0))
        turn = cross(b, add(1.0, one, 1.0, two))
        write_vector(rate[s], 0, add(k * a, add(1.0, two, -1.0, one), k, turn))
        seen = apply(transpose(read_block(poses[i])), step)
        write_vector(rate[s], 3, add(1.0, cross(read_vector(e[s], 3), one), 1.0, seen))


@kernel
def add_forces(first, element, dL, poses, quaternions, e, sigma, torque, force):  # type: ignore[no-untyped-def]
    """Add the derivative of sum sigma . e: torque (N, 3), axes of the nodes, force (N, 3), world."""
    for s in range(element.shape[0]):
        i, k = first[element[s]], dL[s, 1]
        a, b = _between(quaternions, i)
        m, n = read_vector(sigma[s], 0), read_vector(sigma[s], 3)
        pull = apply(read_block(poses[i]), n)
        turn, bend = cross(m, b), cross(n, read_vector(e[s], 3))
        for r in range(3):
            torque[i, r] += k * (turn[r] - a * m[r]) + bend[r]
            torque[i + 1, r] += k * (turn[r] + a * m[r])
            force[i, r] -= k * pull[r]
            force[i + 1, r] += k * pull[r]


@kernel
def place_strain(first, element, dL, poses, quaternions, e, B):  # type: ignore[no-untyped-def]
    """e (S, 6) and B (S, 6, 12), its derivative in the twists of the two nodes."""
    set_strain(first, element, dL, poses, quaternions, e)
    for s in range(element.shape[0]):
        i, k = first[element[s]], dL[s, 1]
        a, b = _between(quaternions, i)
        v = read_vector(e[s], 3)
        T = multiply(transpose(read_block(poses[i])), read_block(poses[i + 1]))
        D = B[s]
        for r in range(6):
            for c in range(12):
                D[r, c] = 0.0
        for r in range(3):
            D[r, r], D[r, 6 + r], D[3 + r, 3 + r] = -k * a, k * a, -k
            for c in range(3):
                D[3 + r, 9 + c] = k * T[3 * r + c]
        add_hat(D, 0, 0, b[0], b[1], b[2], k)
        add_hat(D, 0, 6, b[0], b[1], b[2], k)
        add_hat(D, 3, 0, v[0], v[1], v[2], 1.0)


@inner
def _add_turn(m, a, b, k, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of m . u: -(m.b) I / 2h at both nodes, and between them

    (b m^T + m b^T + a m^ - (m.b) I) / 2h.
    """
    along, half = dot(m, b), 0.5 * k
    for r in range(3):
        K[r, r] -= half * along
        K[6 + r, 6 + r] -= half * along
        for c in range(3):
            x = half * (b[r] * m[c] + m[r] * b[c])
            K[r, 6 + c] += x
            K[6 + c, r] += x
        K[r, 6 + r] -= half * along
        K[6 + r, r] -= half * along
    add_hat(K, 0, 6, m[0], m[1], m[2], half * a)
    add_hat(K, 6, 0, m[0], m[1], m[2], -half * a)


@inner
def _add_bend(n, v, T, k, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of n . v for v = exp(-w1) (v + (T (x2 + w2 x x2 / 2) - ...) / h)."""
    own, along = apply(transpose(T), n), dot(n, v)
    for r in range(3):
        K[r, r] -= along
        for c in range(3):
            K[r, c] += 0.5 * (n[r] * v[c] + v[r] * n[c])
        seen = cross(n, (T[r], T[3 + r], T[6 + r]))
        for c in range(3):
            K[c, 9 + r] += k * seen[c]
            K[9 + r, c] += k * seen[c]
    for at, f in ((0, n), (6, own)):
        add_hat(K, at, at + 3, f[0], f[1], f[2], -0.5 * k)
        add_hat(K, at + 3, at, f[0], f[1], f[2], 0.5 * k)


@kernel
def add_strain_second(first, element, dL, poses, quaternions, e, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, 12, 12) the second derivative of sum sigma . e(x), sigma = (m, n) (S, 6)."""
    for s in range(element.shape[0]):
        i, k = first[element[s]], dL[s, 1]
        a, b = _between(quaternions, i)
        T = multiply(transpose(read_block(poses[i])), read_block(poses[i + 1]))
        at = K[element[s]]
        _add_turn(read_vector(sigma[s], 0), a, b, k, at)
        _add_bend(read_vector(sigma[s], 3), read_vector(e[s], 3), T, k, at)
