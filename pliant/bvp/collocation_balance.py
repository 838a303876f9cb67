"""Balance of forces and moments on Chebyshev grids, integrated from the tip to the base."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.arrays import BODY, LOAD
from pliant.bvp.collocation_kernels import at, back, forward, integrate_back, put, rotation
from pliant.lie.tuples import apply as turned
from pliant.lie.tuples import cross


@leaf
def point_force(load, R):  # type: ignore[no-untyped-def]
    """World force, follower force and arm of a load at a section with rotation R, all world."""
    follower = turned(R, (load[12], load[13], load[14]))
    force = (load[6] + follower[0], load[7] + follower[1], load[8] + follower[2])
    return force, follower, turned(R, (load[0], load[1], load[2]))


@leaf
def read_section(section):  # type: ignore[no-untyped-def]
    """Rotation, angular and linear velocity of a section (18,)."""
    R = (
        section[0], section[1], section[2], section[3], section[4], section[5],
        section[6], section[7], section[8],
    )  # fmt: skip
    return R, (section[12], section[13], section[14]), (section[15], section[16], section[17])


@kernel
def body_wrench(M, history, c0, w, q, out):  # type: ignore[no-untyped-def]
    """out (6,) = M eta_t - ad_eta^T M eta for eta = (w, q), eta_t = c0 eta + history, body frame."""
    eta = (w[0], w[1], w[2], q[0], q[1], q[2])
    mu = np.zeros(6)
    for i in range(6):
        out[i] = 0.0
        for j in range(6):
            mu[i] += M[i, j] * eta[j]
            out[i] += M[i, j] * (c0 * eta[j] + history[j])
    a = cross(w, (mu[0], mu[1], mu[2]))
    b = cross(q, (mu[3], mu[4], mu[5]))
    c = cross(w, (mu[3], mu[4], mu[5]))
    for i in range(3):
        out[i] += a[i] + b[i]
        out[3 + i] += c[i]


@kernel
def meet_backward(events, first, last, c0, sections, N, M):  # type: ignore[no-untyped-def]
    """Take the world wrench N, M (3,) over events last - 1 to first, towards the base."""
    b = np.empty(6)
    for e in range(last - 1, first - 1, -1):
        R, W, V = read_section(sections[e])
        row = events.row[e]
        if events.kind[e] == LOAD:
            load = events.loads[row]
            force, _, arm = point_force(load, R)
            turn = turned(R, (load[9], load[10], load[11]))
            moment = cross(arm, force)
            for i in range(3):
                N[i] += force[i]
                M[i] += load[3 + i] + turn[i] + moment[i]
        elif events.kind[e] == BODY:
            body_wrench(events.mass[row], events.history[row], c0, back(R, W), back(R, V), b)
            spin, push = turned(R, (b[0], b[1], b[2])), turned(R, (b[3], b[4], b[5]))
            weight = events.weight[row]
            g = (
                weight[0] * events.gravity[0],
                weight[0] * events.gravity[1],
                weight[0] * events.gravity[2],
            )
            moment = cross(turned(R, (weight[1], weight[2], weight[3])), g)
            for i in range(3):
                N[i] += g[i] - push[i]
                M[i] += moment[i] - spin[i]
        else:
            joint = events.joints[row]
            moment = cross(turned(R, (joint[9], joint[10], joint[11])), (N[0], N[1], N[2]))
            for i in range(3):
                M[i] += moment[i]


@leaf
def densities(fields, c0, g, R, w, q):  # type: ignore[no-untyped-def]
    """Body-frame force and moment per length at grid point g, those of motion and drag included."""
    A, c1 = fields.A[g], fields.mass_damping[g]
    J = at(fields.J, g)
    x = cross(w, q)
    force = (
        fields.body_force[0, g] - A * (c0 * q[0] + fields.velocity[3, g] + x[0])
        - (fields.drag[0, g] * abs(q[0]) + c1 * A) * q[0],
        fields.body_force[1, g] - A * (c0 * q[1] + fields.velocity[4, g] + x[1])
        - (fields.drag[1, g] * abs(q[1]) + c1 * A) * q[1],
        fields.body_force[2, g] - A * (c0 * q[2] + fields.velocity[5, g] + x[2])
        - (fields.drag[2, g] * abs(q[2]) + c1 * A) * q[2],
    )  # fmt: skip
    l = (J[0] * w[0], J[1] * w[1], J[2] * w[2])  # noqa: E741
    y = cross(w, l)
    moment = (
        fields.body_moment[0, g] - J[0] * (c0 * w[0] + fields.velocity[0, g]) - y[0] - c1 * l[0],
        fields.body_moment[1, g] - J[1] * (c0 * w[1] + fields.velocity[1, g]) - y[1] - c1 * l[1],
        fields.body_moment[2, g] - J[2] * (c0 * w[2] + fields.velocity[2, g]) - y[2] - c1 * l[2],
    )
    return force, moment


@kernel
def backward(layout, fields, events, c0, tip, shape):  # type: ignore[no-untyped-def]
    """Integrate force and moment from the wrench `tip` (6,), world, that holds the tip, to the base.

    Fills N, M and the reaction of `shape`, whose motion is known.
    """
    P, G = len(layout.moment), shape.h.shape[1]
    N, M = tip[3:].copy(), tip[:3].copy()
    work, spin = np.empty((3, G)), np.empty((3, G))
    meet_backward(events, events.first[P], events.first[P + 1], c0, shape.sections, N, M)
    for k in range(P - 1, -1, -1):
        a, b = layout.first[k], layout.first[k + 1]
        K = b - a
        Q = layout.Q[layout.at[0, k] : layout.at[0, k] + K * K].reshape(K, K)
        for g in range(a, b):
            R = rotation(shape.R, g)
            w, q = back(R, at(shape.W, g)), back(R, at(shape.V, g))
            force, moment = densities(fields, c0, g, R, w, q)
            force, moment = turned(R, force), turned(R, moment)
            for c in range(3):
                work[c, g] = fields.force[c, g] + force[c]
                spin[c, g] = fields.moment[c, g] + moment[c]
        integrate_back(Q, work, a, N, shape.N)
        for g in range(a, b):
            y = cross(at(shape.slope, g), at(shape.N, g))
            put(work, g, (y[0] + spin[0, g], y[1] + spin[1, g], y[2] + spin[2, g]))
        integrate_back(Q, work, a, M, shape.M)
        for c in range(3):
            N[c], M[c] = shape.N[c, a], shape.M[c, a]
        meet_backward(events, events.first[k], events.first[k + 1], c0, shape.sections, N, M)
    for c in range(3):
        shape.reaction[c], shape.reaction[3 + c] = M[c], N[c]


@kernel
def mismatch(layout, x, shape, out):  # type: ignore[no-untyped-def]
    """out = unknown moment and force at the nodes less the integrated ones."""
    G = shape.h.shape[1]
    m = np.empty((3, G))
    for g in range(G):
        put(m, g, back(rotation(shape.R, g), at(shape.M, g)))
    for k in range(len(layout.moment)):
        a, K = layout.first[k], layout.first[k + 1] - layout.first[k]
        n, first, o = layout.moment[k], layout.moment_at[k], layout.at[1, k]
        collect(layout.to_moment[o : o + n * K].reshape(n, K), m, a, first, x, out)
        n, first, o = layout.force[k], layout.force_at[k], layout.at[3, k]
        collect(layout.to_force[o : o + n * K].reshape(n, K), shape.N, a, first, x, out)


@kernel
def collect(matrix, f, a, first, x, out):  # type: ignore[no-untyped-def]
    """out[first + 3 j + c] = x there less the value of f at node j."""
    for j in range(matrix.shape[0]):
        for c in range(3):
            total = 0.0
            for k in range(matrix.shape[1]):
                total += matrix[j, k] * f[c, a + k]
            out[first + 3 * j + c] = x[first + 3 * j + c] - total


@kernel
def respond(layout, fields, events, c0, moving, base, x, shape, r):  # type: ignore[no-untyped-def]
    """`forward`, `backward` and `mismatch` in one go, for a tip that nothing holds."""
    forward(layout, fields, events, c0, moving, base, x, shape)
    backward(layout, fields, events, c0, np.zeros(6), shape)
    mismatch(layout, x, shape, r)
