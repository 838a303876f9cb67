"""Variations of shape, motion and balance on Chebyshev grids: the exact tangent of collocation.

A variation of the pose is dR = theta^ R, dp, both world. With dS = R S R^T for the compliance of
shear and stretch, the integrals of `collocation_kernels` vary by

    theta' = R du                          d(R v) = theta x R v + dS (dN - theta x N)
    dW' = theta x R u_t + c0 R du          dV' = theta x R v_t + c0 R dv + dW x R v + W x d(R v)

and the balance by the same kind of terms. Each is a 3x3 matrix at a grid point times variations with
respect to all U unknowns, followed by a product with the integration matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.bvp.collocation_balance import densities
from pliant.bvp.collocation_events import (
    add_product,
    conjugated,
    diagonal,
    plus,
    set_product,
    skew,
    vary_events_backward,
    vary_events_forward,
)
from pliant.bvp.collocation_kernels import at, back, rotation
from pliant.lie.tuples import Array, transpose
from pliant.lie.tuples import apply as turned
from pliant.lie.tuples import multiply as times


class Variation(NamedTuple):
    """Variations with respect to U unknowns.

    theta, dW, dV, slope, dN, dM : (G, 3, U) at the grid.  section_dV : (E, 3, U) at the events.
    tip : (12, U) of theta, dp, dW, dV at the tip.  reaction : (6, U).
    """

    theta: Array
    dW: Array
    dV: Array
    slope: Array
    dN: Array
    dM: Array
    section_dV: Array
    tip: Array
    reaction: Array


def new_variation(G: int, events: int, U: int) -> Variation:
    """Room for the variations."""
    fields = [np.zeros((G, 3, U)) for _ in range(6)]
    ends = [np.zeros((events, 3, U)), np.zeros((12, U)), np.zeros((6, U))]
    return Variation._make([*fields, *ends])


@kernel
def _integrated(Q, source, start, out):  # type: ignore[no-untyped-def]
    """out (K, 3, U) = start (3, U) + Q source."""
    K, U = source.shape[0], source.shape[2]
    np.dot(Q, source.reshape(K, 3 * U), out.reshape(K, 3 * U))
    for k in range(K):
        for c in range(3):
            for j in range(U):
                out[k, c, j] += start[c, j]


@kernel
def _integrated_back(Q, source, end, out):  # type: ignore[no-untyped-def]
    """out (K, 3, U) = end (3, U) + integral of the source from each point to the end."""
    K, U = source.shape[0], source.shape[2]
    np.dot(Q, source.reshape(K, 3 * U), out.reshape(K, 3 * U))
    whole = out[K - 1] + end
    for k in range(K):
        for c in range(3):
            for j in range(U):
                out[k, c, j] = whole[c, j] - out[k, c, j]


@kernel
def _moving_sources(shape, c0, a, theta, dW, slope, source):  # type: ignore[no-untyped-def]
    """source = dV' of one piece."""
    for k in range(theta.shape[0]):
        g = a + k
        v = skew(at(shape.slope, g))
        set_product(plus(times(diagonal(c0, c0, c0), v), -1.0, skew(at(shape.v_rate, g))),
                    theta[k], source[k])  # fmt: skip
        add_product(plus(diagonal(c0, c0, c0), 1.0, skew(at(shape.W, g))), slope[k], source[k])
        add_product(times(diagonal(-1.0, -1.0, -1.0), v), dW[k], source[k])


@kernel
def vary_forward(layout, fields, events, c0, moving, base, shape, var):  # type: ignore[no-untyped-def]
    """Fill the variations from base to tip; `base` (12, U) are those of the base section."""
    P, U = len(layout.moment), base.shape[1]
    now = base.copy()
    for k in range(P):
        vary_events_forward(events, events.first[k], events.first[k + 1], shape.sections, now,
                      var.section_dV)  # fmt: skip
        a, b = layout.first[k], layout.first[k + 1]
        K, n, m = b - a, layout.force[k], layout.moment[k]
        Q = layout.Q[layout.at[0, k] : layout.at[0, k] + K * K].reshape(K, K)
        source, bend = np.zeros((K, 3, U)), np.zeros((K, 3, U))
        theta, dW, slope = var.theta[a:b], var.dW[a:b], var.slope[a:b]
        of_m = layout.from_moment[layout.at[2, k] : layout.at[2, k] + K * m].reshape(K, m)
        of_n = layout.from_force[layout.at[4, k] : layout.at[4, k] + K * n].reshape(K, n)
        for i in range(K):
            for j in range(m):
                for c in range(3):
                    f = fields.S[c, a + i] * of_m[i, j]
                    for r in range(3):
                        bend[i, r, layout.moment_at[k] + 3 * j + c] = shape.R[3 * r + c, a + i] * f
        _integrated(Q, bend, now[:3], theta)
        for i in range(K):
            g = a + i
            R = rotation(shape.R, g)
            D = conjugated(R, fields.S[3, g], fields.S[4, g], fields.S[5, g])
            A = plus(times(D, skew(at(shape.guess, g))), -1.0, skew(at(shape.slope, g)))
            set_product(A, theta[i], slope[i])
            for j in range(n):
                for c in range(3):
                    for r in range(3):
                        slope[i, r, layout.force_at[k] + 3 * j + c] += D[3 * r + c] * of_n[i, j]
        for i in range(K):
            for r in range(3):
                for j in range(U):
                    now[3 + r, j] += Q[K - 1, i] * slope[i, r, j]
        if moving:
            for i in range(K):
                g = a + i
                set_product(diagonal(c0, c0, c0), bend[i], source[i])
                turn = at(shape.u_rate, g)
                add_product(skew((-turn[0], -turn[1], -turn[2])), theta[i], source[i])
            _integrated(Q, source, now[6:9], dW)
            _moving_sources(shape, c0, a, theta, dW, slope, source)
            _integrated(Q, source, now[9:12], var.dV[a:b])
            now[6:9] = dW[K - 1]
            now[9:12] = var.dV[b - 1]
        now[:3] = theta[K - 1]
    vary_events_forward(events, events.first[P], events.first[P + 1], shape.sections, now,
                  var.section_dV)  # fmt: skip
    var.tip[:] = now


@kernel
def _vary_densities(fields, c0, g, R, W, V, theta, dW, dV, force, moment):  # type: ignore[no-untyped-def]
    """Variations (3, U) of the world force and moment per length at grid point g."""
    w, q = back(R, W), back(R, V)
    f, m = densities(fields, c0, g, R, w, q)
    A, c = fields.A[g], c0 + fields.mass_damping[g]
    J = conjugated(R, fields.J[0, g], fields.J[1, g], fields.J[2, g])
    X = conjugated(
        R,
        -A * c - 2.0 * fields.drag[0, g] * abs(q[0]),
        -A * c - 2.0 * fields.drag[1, g] * abs(q[1]),
        -A * c - 2.0 * fields.drag[2, g] * abs(q[2]),
    )
    X = plus(X, -A, skew(W))
    Y = times(diagonal(A, A, A), skew(V))
    T = plus(times(X, skew(V)), 1.0, times(Y, skew(W)))
    set_product(plus(T, -1.0, skew(turned(R, f))), theta, force)
    add_product(X, dV, force)
    add_product(Y, dW, force)
    spin = turned(J, W)
    Z = plus(plus(skew(spin), -c, J), -1.0, times(skew(W), J))
    set_product(plus(times(Z, skew(W)), -1.0, skew(turned(R, m))), theta, moment)
    add_product(Z, dW, moment)


@kernel
def vary_backward(layout, fields, events, c0, turning, tip, force, shape, var):  # type: ignore[no-untyped-def]
    """Fill the variations of the balance; `tip` (6, U) those of the wrench at the tip, world.

    turning : False if the forces along the rods do not change with the shape.
    force : (3,) the force that holds the tip.
    """
    P, U = len(layout.moment), tip.shape[1]
    dN, dM = tip[3:].copy(), tip[:3].copy()
    G = shape.h.shape[1]
    vary_events_backward(events, events.first[P], events.first[P + 1], c0, shape.sections, force,
                   var.theta[G - 1], var.dW[G - 1], var.section_dV, dN, dM)  # fmt: skip
    for k in range(P - 1, -1, -1):
        a, b = layout.first[k], layout.first[k + 1]
        K = b - a
        Q = layout.Q[layout.at[0, k] : layout.at[0, k] + K * K].reshape(K, K)
        push, spin = np.zeros((K, 3, U)), np.zeros((K, 3, U))
        if turning:
            for i in range(K):
                g = a + i
                _vary_densities(fields, c0, g, rotation(shape.R, g), at(shape.W, g), at(shape.V, g),
                                var.theta[g], var.dW[g], var.dV[g], push[i], spin[i])  # fmt: skip
        _integrated_back(Q, push, dN, var.dN[a:b])
        for i in range(K):
            N, v = at(shape.N, a + i), at(shape.slope, a + i)
            add_product(skew((-N[0], -N[1], -N[2])), var.slope[a + i], spin[i])
            add_product(skew(v), var.dN[a + i], spin[i])
        _integrated_back(Q, spin, dM, var.dM[a:b])
        dN[:] = var.dN[a]
        dM[:] = var.dM[a]
        vary_events_backward(events, events.first[k], events.first[k + 1], c0, shape.sections,
                       shape.N[:, a], var.theta[a], var.dW[a], var.section_dV, dN, dM)  # fmt: skip
    var.reaction[:3] = dM
    var.reaction[3:] = dN


@kernel
def vary_mismatch(layout, shape, var, out):  # type: ignore[no-untyped-def]
    """Fill rows of the tangent (U, U) that belong to the nodes."""
    U = out.shape[1]
    for k in range(len(layout.moment)):
        a, b = layout.first[k], layout.first[k + 1]
        K = b - a
        m = np.empty((K, 3, U))
        for i in range(K):
            R = rotation(shape.R, a + i)
            turn = transpose(R)
            set_product(turn, var.dM[a + i], m[i])
            add_product(times(turn, skew(at(shape.M, a + i))), var.theta[a + i], m[i])
        n, o, first = layout.moment[k], layout.at[1, k], layout.moment_at[k]
        rows = np.dot(layout.to_moment[o : o + n * K].reshape(n, K), m.reshape(K, 3 * U))
        out[first : first + 3 * n] = -rows.reshape(3 * n, U)
        n, o, first = layout.force[k], layout.at[3, k], layout.force_at[k]
        if n > 0:
            m[:] = var.dN[a:b]
            rows = np.dot(layout.to_force[o : o + n * K].reshape(n, K), m.reshape(K, 3 * U))
            out[first : first + 3 * n] = -rows.reshape(3 * n, U)
    start = layout.moment_at[0]
    for j in range(3 * (layout.moment.sum() + layout.force.sum())):
        out[start + j, start + j] += 1.0
