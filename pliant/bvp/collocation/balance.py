"""Balance of forces and moments on Chebyshev grids, integrated from the tip to the base."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.bvp.chain import JOINT
from pliant.bvp.collocation.kinematics import (
    at,
    back,
    forward,
    integrate_back,
    put,
    rotation_at,
)
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import FORCE_WORLD, MOMENT_WORLD, body_load, rotation
from pliant.lie.tuples import apply as turned
from pliant.lie.tuples import cross


@kernel
def jump_wrench(jumps, e, c0, section, Z):  # type: ignore[no-untyped-def]
    """Body wrench (6,) of a load, or of a body less its momentum rate, at a state (24,).

    Z (18, c) are variations of the state; their first six rows become those of the wrench, reversed.
    """
    y = section.copy()
    y[:6], Z[:6] = 0.0, 0.0
    apply_jumps(jumps, e, e + 1, c0, y, Z)
    return -y[:6]


@kernel
def _jump_back(jumps, first, last, c0, sections, N, M):  # type: ignore[no-untyped-def]
    """Take the world wrench N, M (3,) over jumps last - 1 to first, towards the base."""
    for e in range(last - 1, first - 1, -1):
        R = rotation(sections[e])
        if jumps.kind[e] == JOINT:
            t = jumps.joints[jumps.row[e], 9:]
            moment = cross(turned(R, (t[0], t[1], t[2])), (N[0], N[1], N[2]))
            for i in range(3):
                M[i] += moment[i]
        else:
            d = jump_wrench(jumps, e, c0, sections[e], np.empty((18, 0)))
            moment, force = turned(R, (d[0], d[1], d[2])), turned(R, (d[3], d[4], d[5]))
            for i in range(3):
                M[i] += moment[i]
                N[i] += force[i]


@kernel
def backward(layout, table, jumps, c0, tip, shape):  # type: ignore[no-untyped-def]
    """Integrate force and moment from the wrench `tip` (6,), world, that holds the tip, to the base.

    Fills N, M and the reaction of `shape`, whose motion is known.
    """
    P, G = len(layout.moment), shape.h.shape[1]
    N, M = tip[3:].copy(), tip[:3].copy()
    work, spin = np.empty((3, G)), np.empty((3, G))
    _jump_back(jumps, jumps.first[P], jumps.first[P + 1], c0, shape.sections, N, M)
    for k in range(P - 1, -1, -1):
        a, b = layout.first[k], layout.first[k + 1]
        K = b - a
        Q = layout.Q[layout.at[0, k] : layout.at[0, k] + K * K].reshape(K, K)
        for g in range(a, b):
            R = rotation_at(shape.R, g)
            w, q = back(R, at(shape.W, g)), back(R, at(shape.V, g))
            moment, force = body_load(table[g], c0, w, q)
            moment, force = turned(R, moment), turned(R, force)
            for c in range(3):
                work[c, g] = table[g, FORCE_WORLD + c] + force[c]
                spin[c, g] = table[g, MOMENT_WORLD + c] + moment[c]
        integrate_back(Q, work, a, N, shape.N)
        for g in range(a, b):
            y = cross(at(shape.slope, g), at(shape.N, g))
            put(work, g, (y[0] + spin[0, g], y[1] + spin[1, g], y[2] + spin[2, g]))
        integrate_back(Q, work, a, M, shape.M)
        for c in range(3):
            N[c], M[c] = shape.N[c, a], shape.M[c, a]
        _jump_back(jumps, jumps.first[k], jumps.first[k + 1], c0, shape.sections, N, M)
    for c in range(3):
        shape.reaction[c], shape.reaction[3 + c] = M[c], N[c]


@kernel
def mismatch(layout, x, shape, out):  # type: ignore[no-untyped-def]
    """out = unknown moment and force at the nodes less the integrated ones."""
    G = shape.h.shape[1]
    m = np.empty((3, G))
    for g in range(G):
        put(m, g, back(rotation_at(shape.R, g), at(shape.M, g)))
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
def respond(layout, table, jumps, c0, moving, base, tip, x, shape, r):  # type: ignore[no-untyped-def]
    """`forward`, `backward` and `mismatch` in one go."""
    forward(layout, table, jumps, c0, moving, base, x, shape)
    backward(layout, table, jumps, c0, tip, shape)
    mismatch(layout, x, shape, r)
