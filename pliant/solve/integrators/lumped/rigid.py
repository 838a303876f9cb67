"""Kernels that move rigid nodes: free motion, kicks by forces, and what a force does to a force.

A node has mass m, centre of mass c and inertia I about it, in its own axes; V is the velocity of its
centre in the world frame, L = I w its angular momentum in its axes. Nodes are columns of arrays as in
`rods.lumped_nodes`, moved eight at a time; the inverses of m and I are zero for nodes that are held.
Times are given as a factor of what stands in an array of one entry, so that programs need not be
written down again where steps change.
"""

from __future__ import annotations

from math import factorial, sqrt

import numpy as np

from pliant._numba import kernel, leaf
from pliant.engine.lanes import largest, load, store
from pliant.lie.quaternion_leaves import quaternion_matrix, quaternion_multiply
from pliant.lie.tuples import add, apply, cross, dot, transpose

_S = tuple(1.0 / (2 ** (2 * i + 1) * factorial(2 * i + 1)) for i in range(6))
_C = tuple(1.0 / (2 ** (2 * i) * factorial(2 * i)) for i in range(7))
"""Coefficients of sin(x / 2) / x and cos(x / 2) in powers of -x^2."""
_SMALL, _HALVINGS = 0.5, 30
"""Square of the angle, rad^2, below which a series gives the quaternion of a turn; how often a larger
turn is halved at most."""


@leaf
def vector_at(rows, c):  # type: ignore[no-untyped-def]
    """Vectors from the columns of rows (3, C)."""
    return load(rows, 0, c), load(rows, 1, c), load(rows, 2, c)


@leaf
def _quaternion_at(rows, c):  # type: ignore[no-untyped-def]
    return load(rows, 0, c), load(rows, 1, c), load(rows, 2, c), load(rows, 3, c)


@leaf
def matrix_at(rows, c):  # type: ignore[no-untyped-def]
    """Matrices from the columns of rows (9, C)."""
    return (
        load(rows, 0, c), load(rows, 1, c), load(rows, 2, c),
        load(rows, 3, c), load(rows, 4, c), load(rows, 5, c),
        load(rows, 6, c), load(rows, 7, c), load(rows, 8, c),
    )  # fmt: skip


@leaf
def store_vector(rows, c, x):  # type: ignore[no-untyped-def]
    """Write vectors to the columns of rows (3, C)."""
    store(rows, 0, c, x[0])
    store(rows, 1, c, x[1])
    store(rows, 2, c, x[2])


@leaf
def _turn(x):  # type: ignore[no-untyped-def]
    """Unit quaternions of rotation vectors x; those of large ones are found by halving."""
    t = dot(x, x)
    most, halved, part = largest(t), 0, 1.0
    while most > _SMALL and halved < _HALVINGS:
        most, halved, part = 0.25 * most, halved + 1, 0.5 * part
    t = (part * part) * t
    s = _S[4] - _S[5] * t
    c = _C[5] - _C[6] * t
    for i in range(3, -1, -1):
        s = _S[i] - t * s
    for i in range(4, -1, -1):
        c = _C[i] - t * c
    s = part * s
    q = (c, s * x[0], s * x[1], s * x[2])
    for _ in range(halved):
        q = quaternion_multiply(q, q)
    return q


@leaf
def _move(X, Q, c, centre, shift, turn):  # type: ignore[no-untyped-def]
    """Shift the centres of mass of nodes by `shift`, world frame, and turn the nodes by quaternions."""
    at, before = vector_at(centre, c), _quaternion_at(Q, c)
    q = quaternion_multiply(before, turn)
    unit = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    q = (unit * q[0], unit * q[1], unit * q[2], unit * q[3])
    old, new = apply(quaternion_matrix(before), at), apply(quaternion_matrix(q), at)
    for a in range(4):
        store(Q, a, c, q[a])
    for a in range(3):
        store(X, a, c, load(X, a, c) + (old[a] - new[a] + shift[a]))


@kernel
def drift(factor, unit, blocks, centre, inverse, X, Q, V, L):  # type: ignore[no-untyped-def]
    """Free motion of the nodes for h = factor unit_0 seconds; momenta in the world stay the same.

    The turn is the Magnus expansion to fourth order of the spin w of Euler's equations, L' = L x w.
    """
    h = factor * unit[0]
    for c in blocks:
        J = matrix_at(inverse, c)
        l0 = vector_at(L, c)
        w0 = apply(J, l0)
        l1 = cross(l0, w0)
        w1 = apply(J, l1)
        l2 = add(1.0, cross(l1, w0), 1.0, cross(l0, w1))
        w2 = apply(J, l2)
        l3 = add(1.0, cross(l2, w0), 2.0, cross(l1, w1))
        w3 = apply(J, add(1.0, l3, 1.0, cross(l0, w2)))
        x = add(h, w0, h * h / 2.0, w1)
        x = add(1.0, x, h * h * h / 6.0, add(1.0, w2, 0.5, cross(w0, w1)))
        x = add(1.0, x, h * h * h * h / 24.0, add(1.0, w3, 1.0, cross(w0, w2)))
        turn, v = _turn(x), vector_at(V, c)
        store_vector(L, c, apply(transpose(quaternion_matrix(turn)), l0))
        _move(X, Q, c, centre, (h * v[0], h * v[1], h * v[2]), turn)


@kernel
def set_rates(blocks, centre, inverse, Q, V, L, spin, velocity):  # type: ignore[no-untyped-def]
    """Spins (3, C), in the axes of the nodes, and velocities (3, C) of the nodes, world frame."""
    for c in blocks:
        w = apply(matrix_at(inverse, c), vector_at(L, c))
        v = apply(quaternion_matrix(_quaternion_at(Q, c)), cross(w, vector_at(centre, c)))
        store_vector(spin, c, w)
        store_vector(velocity, c, add(1.0, vector_at(V, c), -1.0, v))


@kernel
def set_kick(blocks, field, light, centre, Q, torque, force, A, T):  # type: ignore[no-untyped-def]
    """Accelerations A (3, C) of the centres, world frame, and torques T (3, C) about them, body frame.

    From gradients torque and force (3, C) at the nodes, inverse masses light (1, C), and a field (3,)
    that accelerates all masses.
    """
    f0, f1, f2 = field[0], field[1], field[2]
    for c in blocks:
        f, m = vector_at(force, c), load(light, 0, c)
        R = quaternion_matrix(_quaternion_at(Q, c))
        arm = cross(vector_at(centre, c), apply(transpose(R), f))
        store_vector(A, c, (f0 - m * f[0], f1 - m * f[1], f2 - m * f[2]))
        store_vector(T, c, add(1.0, arm, -1.0, vector_at(torque, c)))


@kernel
def kick(factor, unit, blocks, moving, A, T, V, L):  # type: ignore[no-untyped-def]
    """V += h A, L += h T with h = factor unit_0, of nodes that move: moving (1, C) is 1, else 0."""
    h = factor * unit[0]
    for c in blocks:
        s = h * load(moving, 0, c)
        for a in range(3):
            store(V, a, c, load(V, a, c) + s * load(A, a, c))
            store(L, a, c, load(L, a, c) + s * load(T, a, c))


@kernel
def shift(factor, unit, blocks, moving, centre, inverse, A, T, X, Q):  # type: ignore[no-untyped-def]
    """Move the nodes by s = factor unit_0, in s^2, times accelerations A and I^-1 T."""
    h = factor * unit[0]
    for c in blocks:
        s = h * load(moving, 0, c)
        w, a = apply(matrix_at(inverse, c), vector_at(T, c)), vector_at(A, c)
        turn = _turn((h * w[0], h * w[1], h * w[2]))
        _move(X, Q, c, centre, (s * a[0], s * a[1], s * a[2]), turn)


@kernel
def set_gradient(part, unit, blocks, inverse, A, T, ahead, out):  # type: ignore[no-untyped-def]
    """Kick of the force gradient, out (2, 3, C), from A and T at the nodes and from those ahead
    (2, 3, C), where the nodes are shifted by the part `part` of s = unit_0 times accelerations:

        A + (ahead - A) / part,  T + (ahead - T) / part + s w x T,  w = I^-1 T.

    With the last term torques and their derivative along accelerations are those of a potential also
    where turns do not commute.
    """
    s, more = unit[0], 1.0 / part
    less = 1.0 - more
    for c in blocks:
        t = vector_at(T, c)
        bent = cross(apply(matrix_at(inverse, c), t), t)
        store_vector(out[0], c, add(less, vector_at(A, c), more, vector_at(ahead[0], c)))
        kicked = add(less, t, more, vector_at(ahead[1], c))
        store_vector(out[1], c, add(1.0, kicked, s, bent))


@kernel
def process(sign, unit, step, blocks, moving, inverse, A, T, ahead, behind, V, L):  # type: ignore[no-untyped-def]
    """V -= s A', L -= s (T' + w x T - L x I^-1 T), s = sign unit_0: with a shift of the nodes by s A,
    the flow of s {kinetic, potential energy}.

    Primes are along the motion, by the values ahead and behind (2, 3, C), A and T at the nodes half a
    step of step_0 seconds away.
    """
    h = step[0]
    for c in blocks:
        s = (sign * unit[0]) * load(moving, 0, c)
        J = matrix_at(inverse, c)
        p, t = vector_at(L, c), vector_at(T, c)
        more = add(1.0, cross(apply(J, p), t), -1.0, cross(p, apply(J, t)))
        for a in range(3):
            rate = (load(ahead[0], a, c) - load(behind[0], a, c)) / h
            turn = (load(ahead[1], a, c) - load(behind[1], a, c)) / h
            store(V, a, c, load(V, a, c) - s * rate)
            store(L, a, c, load(L, a, c) - s * (turn + more[a]))


@kernel
def check_finite(rates, numbers, at):  # type: ignore[no-untyped-def]
    """numbers[at] becomes infinite if any of rates (2, 3, C) is not a number."""
    total = 0.0
    for r in range(2):
        for a in range(3):
            for c in range(rates.shape[2]):
                total += rates[r, a, c]
    if not np.isfinite(total):
        numbers[at] = np.inf


@kernel
def write_rates(moving, columns, numbers, Q, spin, V, out):  # type: ignore[no-untyped-def]
    """out[numbers] (total,) : body twists of the nodes (N,) that move, numbers (N, 6)."""
    for i in range(columns.shape[0]):
        if moving[i] != 0:
            c = columns[i]
            R = quaternion_matrix((Q[0, c], Q[1, c], Q[2, c], Q[3, c]))
            v = apply(transpose(R), (V[0, c], V[1, c], V[2, c]))
            for a in range(3):
                out[numbers[i, a]] = spin[a, c]
                out[numbers[i, 3 + a]] = v[a]


@kernel
def add_size(blocks, light, moving, inverse, A, T, sizes):  # type: ignore[no-untyped-def]
    """sizes_0 += sum m A.A + T.I^-1 T over the nodes that move."""
    for b in blocks:
        for c in range(b, b + 8):
            if moving[0, c] != 0.0:
                t, a = (T[0, c], T[1, c], T[2, c]), (A[0, c], A[1, c], A[2, c])
                for i in range(3):
                    J = inverse[3 * i, c] * t[0] + inverse[3 * i + 1, c] * t[1]
                    sizes[0] += t[i] * (J + inverse[3 * i + 2, c] * t[2])
                sizes[0] += dot(a, a) / light[0, c]


@kernel
def normalise(sizes, values):  # type: ignore[no-untyped-def]
    """Divide values (2, 3, C) by the root of sizes_0, unless it is zero."""
    scale = 1.0 / sqrt(sizes[0]) if sizes[0] > 0.0 else 1.0
    for r in range(2):
        for a in range(3):
            for c in range(values.shape[2]):
                values[r, a, c] *= scale


@kernel
def mix_inputs(share, passed, before, after, acting):  # type: ignore[no-untyped-def]
    """acting (J,) : inputs in the middle of the next step; passed_0 is the part of dt that is over, and
    goes on by share_0.
    """
    t = passed[0] + 0.5 * share[0]
    passed[0] += share[0]
    for j in range(acting.shape[0]):
        acting[j] = before[j] + t * (after[j] - before[j])


@kernel
def inputs_now(passed, before, after, acting):  # type: ignore[no-untyped-def]
    """acting (J,) : inputs where the part passed_0 of dt is over."""
    for j in range(acting.shape[0]):
        acting[j] = before[j] + passed[0] * (after[j] - before[j])


@kernel
def pass_on(share, passed):  # type: ignore[no-untyped-def]
    """passed_0 += share_0: a short step is over."""
    passed[0] += share[0]


@kernel
def one_less(count, more):  # type: ignore[no-untyped-def]
    """more_0 = count_0 - 1."""
    more[0] = count[0] - 1


@kernel
def add_loss(share, h, lost, account):  # type: ignore[no-untyped-def]
    """account_1 += share h_0 lost_0."""
    account[1] += share * h[0] * lost[0]
