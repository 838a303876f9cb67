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

SINE = tuple(1.0 / (2 ** (2 * i + 1) * factorial(2 * i + 1)) for i in range(6))
COSINE = tuple(1.0 / (2 ** (2 * i) * factorial(2 * i)) for i in range(7))
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
def half_angles(t):  # type: ignore[no-untyped-def]
    """cos and sinc of half the angles with squares t, halved as often as the last result says."""
    most, halved, part = largest(t), 0, 1.0
    while most > _SMALL and halved < _HALVINGS:
        most, halved, part = 0.25 * most, halved + 1, 0.5 * part
    t = (part * part) * t
    s = SINE[4] - SINE[5] * t
    c = COSINE[5] - COSINE[6] * t
    for i in range(3, -1, -1):
        s = SINE[i] - t * s
    for i in range(4, -1, -1):
        c = COSINE[i] - t * c
    return c, part * s, halved


@leaf
def _turn(x):  # type: ignore[no-untyped-def]
    """Unit quaternions of rotation vectors x; those of large ones are found by halving."""
    c, s, halved = half_angles(dot(x, x))
    q = (c, s * x[0], s * x[1], s * x[2])
    for _ in range(halved):
        q = quaternion_multiply(q, q)
    return q


@leaf
def _move(apart, c, centre, shift, turn, from_X, from_Q, X, Q):  # type: ignore[no-untyped-def]
    """Shift the centres of mass of nodes by `shift`, world frame, and turn the nodes by quaternions.

    apart : whether any centre is apart from its node. From from_X, from_Q to X, Q, or in place.
    """
    before = _quaternion_at(from_Q, c)
    q = quaternion_multiply(before, turn)
    unit = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    q = (unit * q[0], unit * q[1], unit * q[2], unit * q[3])
    for a in range(4):
        store(Q, a, c, q[a])
    if apart:
        at = vector_at(centre, c)
        old, new = apply(quaternion_matrix(before), at), apply(quaternion_matrix(q), at)
        shift = (shift[0] + old[0] - new[0], shift[1] + old[1] - new[1], shift[2] + old[2] - new[2])
    for a in range(3):
        store(X, a, c, load(from_X, a, c) + shift[a])


@leaf
def _free_turn(h, J, l0):  # type: ignore[no-untyped-def]
    """Turn in h seconds of nodes with angular momenta l0 and inverse inertia J, as quaternions.

    The Magnus expansion to fourth order of the spin w of Euler's equations, L' = L x w.
    """
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
    return _turn(x)


@kernel
def drift(factor, unit, apart, blocks, centre, inverse, X, Q, V, L):  # type: ignore[no-untyped-def]
    """Free motion of the nodes for h = factor unit_0 seconds; momenta in the world stay the same."""
    h = factor * unit[0]
    for c in blocks:
        p, v = vector_at(L, c), vector_at(V, c)
        turn = _free_turn(h, matrix_at(inverse, c), p)
        store_vector(L, c, apply(transpose(quaternion_matrix(turn)), p))
        _move(apart, c, centre, (h * v[0], h * v[1], h * v[2]), turn, X, Q, X, Q)


@kernel
def kick_and_drift(part, gradient, factor, unit, body, pulls, ahead, kept, nodes, V, L):  # type: ignore[no-untyped-def]
    """Kick nodes for unit_0 seconds by the force gradient, and let them drift for factor times that.

    Pulls A and T (2, 3, C) are those at the nodes, ahead (2, 3, C) those where they were shifted by the
    part `part` of s = gradient_0 times accelerations. The kick is

        A + (ahead - A) / part,  T + (ahead - T) / part + s w x T,  w = I^-1 T.

    With the last term torques and their derivative along accelerations are those of a potential also
    where turns do not commute. kept : positions and quaternions of the nodes before they were shifted;
    nodes : where they are written.
    """
    s, more, h = gradient[0], 1.0 / part, unit[0]
    less, d = 1.0 - more, factor * h
    (apart, blocks, moving, centre, inverse), (A, T) = body, (pulls[0], pulls[1])
    (from_X, from_Q), (X, Q) = kept, nodes
    for c in blocks:
        J, t, free = matrix_at(inverse, c), vector_at(T, c), load(moving, 0, c)
        kicked = add(less, t, more, vector_at(ahead[1], c))
        kicked = add(1.0, kicked, s, cross(apply(J, t), t))
        pushed = add(less, vector_at(A, c), more, vector_at(ahead[0], c))
        p = add(1.0, vector_at(L, c), h, (free * kicked[0], free * kicked[1], free * kicked[2]))
        v = add(1.0, vector_at(V, c), h, (free * pushed[0], free * pushed[1], free * pushed[2]))
        turn = _free_turn(d, J, p)
        store_vector(V, c, v)
        store_vector(L, c, apply(transpose(quaternion_matrix(turn)), p))
        _move(apart, c, centre, (d * v[0], d * v[1], d * v[2]), turn, from_X, from_Q, X, Q)


@kernel
def set_rates(blocks, centre, inverse, Q, V, L, spin, velocity):  # type: ignore[no-untyped-def]
    """Spins (3, C), in the axes of the nodes, and velocities (3, C) of the nodes, world frame."""
    for c in blocks:
        w = apply(matrix_at(inverse, c), vector_at(L, c))
        v = apply(quaternion_matrix(_quaternion_at(Q, c)), cross(w, vector_at(centre, c)))
        store_vector(spin, c, w)
        store_vector(velocity, c, add(1.0, vector_at(V, c), -1.0, v))


@kernel
def set_kick(apart, blocks, field, light, centre, Q, torque, force, A, T):  # type: ignore[no-untyped-def]
    """Accelerations A (3, C) of the centres, world frame, and torques T (3, C) about them, body frame.

    From gradients torque and force (3, C) at the nodes, inverse masses light (1, C), and fields (3, C)
    that accelerate all masses. apart : whether any centre is apart from its node.
    """
    for c in blocks:
        f, m, g = vector_at(force, c), load(light, 0, c), vector_at(field, c)
        t = vector_at(torque, c)
        store_vector(A, c, (g[0] - m * f[0], g[1] - m * f[1], g[2] - m * f[2]))
        if apart:
            R = quaternion_matrix(_quaternion_at(Q, c))
            arm = cross(vector_at(centre, c), apply(transpose(R), f))
            store_vector(T, c, (arm[0] - t[0], arm[1] - t[1], arm[2] - t[2]))
        else:
            store_vector(T, c, (-t[0], -t[1], -t[2]))


@kernel
def set_field(acting, places, known, of, rows):  # type: ignore[no-untyped-def]
    """rows (3, C) : sums of the numbers acting[places] (R, F, 3) of the copy `of` (C,) each column has.

    Nothing is done if these numbers are the known ones (R, 3); -1 in `of` is no copy.
    """
    same = True
    for r in range(places.shape[0]):
        for a in range(3):
            total = 0.0
            for f in range(places.shape[1]):
                total += acting[places[r, f, a]]
            same = same and known[r, a] == total
            known[r, a] = total
    if same:
        return
    for c in range(of.shape[0]):
        if of[c] >= 0:
            for a in range(3):
                rows[a, c] = known[of[c], a]


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
def shift(factor, unit, apart, blocks, moving, centre, inverse, A, T, X, Q):  # type: ignore[no-untyped-def]
    """Move the nodes by s = factor unit_0, in s^2, times accelerations A and I^-1 T."""
    h = factor * unit[0]
    for c in blocks:
        s = h * load(moving, 0, c)
        w, a = apply(matrix_at(inverse, c), vector_at(T, c)), vector_at(A, c)
        turn = _turn((h * w[0], h * w[1], h * w[2]))
        _move(apart, c, centre, (s * a[0], s * a[1], s * a[2]), turn, X, Q, X, Q)


@kernel
def shift_ahead(part, unit, body, pulls, nodes, kept, behind):  # type: ignore[no-untyped-def]
    """Keep nodes and pulls (2, 3, C), and move the nodes by s = part unit_0 times accelerations."""
    h = part * unit[0]
    (apart, blocks, moving, centre, inverse), (A, T) = body, (pulls[0], pulls[1])
    (X, Q), (kept_X, kept_Q) = nodes, kept
    for c in blocks:
        s, a, t = h * load(moving, 0, c), vector_at(A, c), vector_at(T, c)
        for i in range(4):
            store(kept_Q, i, c, load(Q, i, c))
        store_vector(kept_X, c, vector_at(X, c))
        store_vector(behind[0], c, a)
        store_vector(behind[1], c, t)
        w = apply(matrix_at(inverse, c), t)
        turn = _turn((h * w[0], h * w[1], h * w[2]))
        _move(apart, c, centre, (s * a[0], s * a[1], s * a[2]), turn, X, Q, X, Q)


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
def add_size(of, light, moving, inverse, A, T, sizes):  # type: ignore[no-untyped-def]
    """sizes (R,) += sum m A.A + T.I^-1 T over the nodes that move of each copy, of (C,) or -1."""
    for c in range(of.shape[0]):
        if of[c] >= 0 and moving[0, c] != 0.0:
            t, a, total = (T[0, c], T[1, c], T[2, c]), (A[0, c], A[1, c], A[2, c]), 0.0
            for i in range(3):
                J = inverse[3 * i, c] * t[0] + inverse[3 * i + 1, c] * t[1]
                total += t[i] * (J + inverse[3 * i + 2, c] * t[2])
            sizes[of[c]] += total + dot(a, a) / light[0, c]


@kernel
def add_energy(of, moving, light, centre, inverse, field, X, Q, V, L, out):  # type: ignore[no-untyped-def]
    """out (2, R) += kinetic energy and -m G.x of the nodes that move, of (C,) the copies or -1, J."""
    for c in range(of.shape[0]):
        if of[c] >= 0 and moving[0, c] != 0.0:
            m, kinetic, lifted = 1.0 / light[0, c], 0.0, 0.0
            R = quaternion_matrix((Q[0, c], Q[1, c], Q[2, c], Q[3, c]))
            at = apply(R, (centre[0, c], centre[1, c], centre[2, c]))
            for i in range(3):
                J = inverse[3 * i, c] * L[0, c] + inverse[3 * i + 1, c] * L[1, c]
                kinetic += L[i, c] * (J + inverse[3 * i + 2, c] * L[2, c])
                kinetic += m * V[i, c] * V[i, c]
                lifted += m * field[i, c] * (X[i, c] + at[i])
            out[0, of[c]] += 0.5 * kinetic
            out[1, of[c]] -= lifted


@kernel
def normalise(of, sizes, values):  # type: ignore[no-untyped-def]
    """Divide values (2, 3, C) by the root of the sizes (R,) of their copies, unless it is zero."""
    for c in range(of.shape[0]):
        if of[c] >= 0 and sizes[of[c]] > 0.0:
            scale = 1.0 / sqrt(sizes[of[c]])
            for r in range(2):
                for a in range(3):
                    values[r, a, c] *= scale


@kernel
def mix_inputs(share, passed, before, after, acting, now):  # type: ignore[no-untyped-def]
    """acting (J,) : inputs in the middle of the next step, where the part now_0 of dt is over; passed_0
    is the part that is over before, and goes on by share_0.
    """
    t = now[0] = passed[0] + 0.5 * share[0]
    passed[0] += share[0]
    for j in range(acting.shape[0]):
        acting[j] = before[j] + t * (after[j] - before[j])


@kernel
def inputs_now(passed, before, after, acting, now):  # type: ignore[no-untyped-def]
    """acting (J,) : inputs where the part passed_0 of dt is over, and now_0 that part."""
    now[0] = passed[0]
    for j in range(acting.shape[0]):
        acting[j] = before[j] + passed[0] * (after[j] - before[j])


@kernel
def apart_from(factor, share, passed, now):  # type: ignore[no-untyped-def]
    """now_0 : the part of dt that is over factor short steps after the part passed_0 of it."""
    now[0] = passed[0] + factor * share[0]


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
