"""Kernels that move rigid nodes: free motion, kicks by forces, and what a force does to a force.

A node has mass m, centre of mass c and inertia I about it, in its own axes; V is the velocity of its
centre in the world frame, L = I w its angular momentum in its axes. Times are given as a factor of what
stands in an array of one entry, so that programs need not be written down again where steps change.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from pliant._numba import kernel, leaf
from pliant.lie.quaternion_leaves import quaternion_matrix, quaternion_multiply
from pliant.lie.tuples import add, apply, cross, dot, read_block, read_vector, transpose

_SMALL = 0.1
"""Angle below which a series gives the quaternion of a turn, rad."""


@leaf
def _turn(x):  # type: ignore[no-untyped-def]
    """Unit quaternion of the rotation vector x."""
    t = dot(x, x)
    if t < _SMALL * _SMALL:
        s = 0.5 - t * (1.0 / 48.0 - t * (1.0 / 3840.0 - t / 645120.0))
        c = 1.0 - t * (1.0 / 8.0 - t * (1.0 / 384.0 - t / 46080.0))
        return c, s * x[0], s * x[1], s * x[2]
    angle = sqrt(t)
    s = sin(0.5 * angle) / angle
    return cos(0.5 * angle), s * x[0], s * x[1], s * x[2]


@leaf
def _move(pose, quaternion, centre, shift, turn):  # type: ignore[no-untyped-def]
    """Shift the centre of mass of a node by `shift`, world frame, and turn the node by a quaternion."""
    c = read_vector(centre, 0)
    before = apply(read_block(pose), c)
    Q = (quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    q = quaternion_multiply(Q, turn)
    unit = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    q = (unit * q[0], unit * q[1], unit * q[2], unit * q[3])
    R = quaternion_matrix(q)
    after = apply(R, c)
    for a in range(4):
        quaternion[a] = q[a]
    for a in range(3):
        pose[a, 3] += before[a] - after[a] + shift[a]
        for b in range(3):
            pose[a, b] = R[3 * a + b]


@kernel
def drift(factor, unit, moving, centre, inverse, poses, quaternions, V, L):  # type: ignore[no-untyped-def]
    """Free motion of the nodes for h = factor unit_0 seconds; momenta in the world stay the same.

    The turn is the Magnus expansion to fourth order of the spin w of Euler's equations, L' = L x w.
    """
    h = factor * unit[0]
    for i in range(moving.shape[0]):
        if moving[i] == 0:
            continue
        J = read_block(inverse[i])
        l0 = read_vector(L[i], 0)
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
        turn = _turn(x)
        moved = apply(transpose(quaternion_matrix(turn)), l0)
        _move(poses[i], quaternions[i], centre[i], (h * V[i, 0], h * V[i, 1], h * V[i, 2]), turn)
        for a in range(3):
            L[i, a] = moved[a]


@kernel
def set_rates(moving, centre, inverse, poses, V, L, spin, velocity):  # type: ignore[no-untyped-def]
    """Spins (N, 3), in the axes of the nodes, and velocities (N, 3) of the nodes, world frame."""
    for i in range(moving.shape[0]):
        if moving[i] != 0:
            w = apply(read_block(inverse[i]), read_vector(L[i], 0))
            v = apply(read_block(poses[i]), cross(w, read_vector(centre[i], 0)))
            for a in range(3):
                spin[i, a], velocity[i, a] = w[a], V[i, a] - v[a]


@kernel
def set_kick(moving, mass, centre, poses, torque, force, A, T):  # type: ignore[no-untyped-def]
    """Accelerations A (N, 3) of the centres, world frame, and torques T (N, 3) about them, body frame,
    from gradients torque and force (N, 3) at the nodes.
    """
    for i in range(moving.shape[0]):
        if moving[i] == 0:
            continue
        f = read_vector(force[i], 0)
        arm = cross(read_vector(centre[i], 0), apply(transpose(read_block(poses[i])), f))
        for a in range(3):
            A[i, a] = -f[a] / mass[i]
            T[i, a] = arm[a] - torque[i, a]


@kernel
def kick(factor, unit, moving, A, T, V, L):  # type: ignore[no-untyped-def]
    """V += h A, L += h T with h = factor unit_0."""
    h = factor * unit[0]
    for i in range(moving.shape[0]):
        if moving[i] != 0:
            for a in range(3):
                V[i, a] += h * A[i, a]
                L[i, a] += h * T[i, a]


@kernel
def shift(factor, unit, moving, centre, inverse, A, T, poses, quaternions):  # type: ignore[no-untyped-def]
    """Move the nodes by s = factor unit_0, in s^2, times accelerations A and I^-1 T."""
    s = factor * unit[0]
    for i in range(moving.shape[0]):
        if moving[i] != 0:
            w = apply(read_block(inverse[i]), read_vector(T[i], 0))
            turn = _turn((s * w[0], s * w[1], s * w[2]))
            ahead = (s * A[i, 0], s * A[i, 1], s * A[i, 2])
            _move(poses[i], quaternions[i], centre[i], ahead, turn)


@kernel
def add_turned(unit, moving, inverse, before, T):  # type: ignore[no-untyped-def]
    """T += s (w x before), w = I^-1 before, s = unit_0: with it torques and their derivative along
    accelerations are those of a potential also where turns do not commute.
    """
    s = unit[0]
    for i in range(moving.shape[0]):
        if moving[i] != 0:
            t = read_vector(before[i], 0)
            more = cross(apply(read_block(inverse[i]), t), t)
            for a in range(3):
                T[i, a] += s * more[a]


@kernel
def process(sign, unit, step, moving, inverse, A, T, ahead, behind, V, L):  # type: ignore[no-untyped-def]
    """V -= s A', L -= s (T' + w x T - L x I^-1 T), s = sign unit_0: with a shift of the nodes by s A,
    the flow of s {kinetic, potential energy}.

    Primes are along the motion, by the values ahead and behind (2, N, 3), A and T at the nodes half a
    step of step_0 seconds away.
    """
    s, h = sign * unit[0], step[0]
    for i in range(moving.shape[0]):
        if moving[i] == 0:
            continue
        J = read_block(inverse[i])
        p, t = read_vector(L[i], 0), read_vector(T[i], 0)
        more = add(1.0, cross(apply(J, p), t), -1.0, cross(p, apply(J, t)))
        for a in range(3):
            V[i, a] -= s * (ahead[0, i, a] - behind[0, i, a]) / h
            L[i, a] -= s * ((ahead[1, i, a] - behind[1, i, a]) / h + more[a])


@kernel
def check_finite(V, L, numbers, at):  # type: ignore[no-untyped-def]
    """numbers[at] becomes infinite if any of V and L (N, 3) is not a number."""
    total = 0.0
    for i in range(V.shape[0]):
        for a in range(3):
            total += V[i, a] + L[i, a]
    if not np.isfinite(total):
        numbers[at] = np.inf


@kernel
def write_rates(moving, numbers, poses, spin, velocity, out):  # type: ignore[no-untyped-def]
    """out[numbers] (total,) : body twists of the nodes that move, numbers (N, 6)."""
    for i in range(moving.shape[0]):
        if moving[i] != 0:
            R, V = poses[i], velocity[i]
            for a in range(3):
                out[numbers[i, a]] = spin[i, a]
                out[numbers[i, 3 + a]] = R[0, a] * V[0] + R[1, a] * V[1] + R[2, a] * V[2]


@kernel
def add_size(moving, mass, inverse, A, T, sizes):  # type: ignore[no-untyped-def]
    """sizes_0 += sum m A.A + T.I^-1 T."""
    for i in range(moving.shape[0]):
        if moving[i] != 0:
            t = read_vector(T[i], 0)
            a = read_vector(A[i], 0)
            sizes[0] += mass[i] * dot(a, a) + dot(t, apply(read_block(inverse[i]), t))


@kernel
def normalise(sizes, A, T):  # type: ignore[no-untyped-def]
    """Divide A and T (N, 3) by the root of sizes_0, unless it is zero."""
    scale = 1.0 / sqrt(sizes[0]) if sizes[0] > 0.0 else 1.0
    for i in range(A.shape[0]):
        for a in range(3):
            A[i, a] *= scale
            T[i, a] *= scale


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
def one_less(count, more):  # type: ignore[no-untyped-def]
    """more_0 = count_0 - 1."""
    more[0] = count[0] - 1


@kernel
def add_loss(h, lost, account):  # type: ignore[no-untyped-def]
    """account_1 += h_0 lost_0."""
    account[1] += h[0] * lost[0]
