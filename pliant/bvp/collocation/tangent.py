"""Variations of shape, motion and balance on Chebyshev grids: the exact tangent of collocation.

A variation of the pose is dR = theta^ R, dp, both world. With dS = R S R^T for the compliance of
shear and stretch, the integrals of `kinematics` vary by

    theta' = R du                          d(R v) = theta x R v + dS (dN - theta x N)
    dW' = theta x R u_t + c0 R du          dV' = theta x R v_t + c0 R dv + dW x R v + W x d(R v)

and the balance by the same kind of terms. Each is a 3x3 matrix at a grid point times variations with
respect to all U unknowns, followed by a product with the integration matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.chain import JOINT
from pliant.bvp.collocation.balance import jump_wrench
from pliant.bvp.collocation.kinematics import at, back, rotation_at
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import DRAG, MASS, MASS_DAMPING, ROTARY, body_load, rotation
from pliant.lie.tuples import Array, transpose
from pliant.lie.tuples import apply as turned
from pliant.lie.tuples import multiply as times


class Variation(NamedTuple):
    """Variations with respect to U unknowns.

    theta, dW, dV, slope, dN, dM : (G, 3, U) at the grid.  sections : (J, 18, U) of the states before
    each jump, body frame.  tip : (12, U) of theta, dp, dW, dV at the tip.  reaction : (6, U).
    """

    theta: Array
    dW: Array
    dV: Array
    slope: Array
    dN: Array
    dM: Array
    sections: Array
    tip: Array
    reaction: Array


def new_variation(G: int, jumps: int, U: int) -> Variation:
    """Workspace of the variations."""
    fields = [np.zeros((G, 3, U)) for _ in range(6)]
    ends = [np.zeros((jumps, 18, U)), np.zeros((12, U)), np.zeros((6, U))]
    return Variation._make([*fields, *ends])


@leaf
def skew(a):  # type: ignore[no-untyped-def]
    """Matrix of the cross product a x."""
    return 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0


@leaf
def plus(A, f, B):  # type: ignore[no-untyped-def]
    """A + f B."""
    return (
        A[0] + f * B[0], A[1] + f * B[1], A[2] + f * B[2],
        A[3] + f * B[3], A[4] + f * B[4], A[5] + f * B[5],
        A[6] + f * B[6], A[7] + f * B[7], A[8] + f * B[8],
    )  # fmt: skip


@leaf
def diagonal(a, b, c):  # type: ignore[no-untyped-def]
    """Diagonal matrix."""
    return a, 0.0, 0.0, 0.0, b, 0.0, 0.0, 0.0, c


@leaf
def conjugated(R, a, b, c):  # type: ignore[no-untyped-def]
    """R diag(a, b, c) R^T."""
    return times(times(R, diagonal(a, b, c)), transpose(R))


@kernel
def add_product(A, x, out):  # type: ignore[no-untyped-def]
    """out (3, U) += A x."""
    for j in range(x.shape[1]):
        a, b, c = x[0, j], x[1, j], x[2, j]
        out[0, j] += A[0] * a + A[1] * b + A[2] * c
        out[1, j] += A[3] * a + A[4] * b + A[5] * c
        out[2, j] += A[6] * a + A[7] * b + A[8] * c


@kernel
def set_product(A, x, out):  # type: ignore[no-untyped-def]
    """out (3, U) = A x."""
    for j in range(x.shape[1]):
        a, b, c = x[0, j], x[1, j], x[2, j]
        out[0, j] = A[0] * a + A[1] * b + A[2] * c
        out[1, j] = A[3] * a + A[4] * b + A[5] * c
        out[2, j] = A[6] * a + A[7] * b + A[8] * c


@kernel
def _turn_to_body(y, now, Z):  # type: ignore[no-untyped-def]
    """Write variations `now` (12, U) of theta, p, W, V, world, at a state y (24,) as Z (18, U)."""
    R = transpose(rotation(y))
    set_product(R, now[:3], Z[15:18])
    set_product(R, now[3:6], Z[12:15])
    for part in (6, 9):
        set_product(R, now[part : part + 3], Z[part : part + 3])
        add_product(skew((y[part], y[part + 1], y[part + 2])), Z[15:18], Z[part : part + 3])


@kernel
def _turn_to_world(y, Z, now):  # type: ignore[no-untyped-def]
    """The inverse of `_turn_to_body`."""
    R = rotation(y)
    set_product(R, Z[15:18], now[:3])
    set_product(R, Z[12:15], now[3:6])
    for part in (6, 9):
        set_product(R, Z[part : part + 3], now[part : part + 3])
        W = turned(R, (y[part], y[part + 1], y[part + 2]))
        add_product(skew((-W[0], -W[1], -W[2])), now[:3], now[part : part + 3])


@kernel
def _vary_jumps_forward(jumps, first, last, c0, states, now, sections):  # type: ignore[no-untyped-def]
    """Take the variations `now` (12, U) of theta, p, W, V over jumps."""
    for e in range(first, last):
        y, Z = states[e].copy(), sections[e]
        Z[:6] = 0.0
        _turn_to_body(y, now, Z)
        if jumps.kind[e] == JOINT:
            after = Z.copy()
            apply_jumps(jumps, e, e + 1, c0, y, after)
            _turn_to_world(y, after, now)


@kernel
def _vary_jumps_back(jumps, first, last, c0, states, force, sections, dN, dM):  # type: ignore[no-untyped-def]
    """Take the variations dN, dM (3, U) over jumps; `force` (3,) is the one beyond them."""
    N = (force[0], force[1], force[2])
    theta = np.empty((3, dN.shape[1]))
    for e in range(last - 1, first - 1, -1):
        R, Z = rotation(states[e]), sections[e]
        set_product(R, Z[15:18], theta)
        if jumps.kind[e] == JOINT:
            t = jumps.joints[jumps.row[e], 9:]
            arm = skew(turned(R, (t[0], t[1], t[2])))
            add_product(times(skew(N), arm), theta, dM)
            add_product(arm, dN, dM)
        else:
            d = jump_wrench(jumps, e, c0, states[e], Z)
            moment, push = turned(R, (d[0], d[1], d[2])), turned(R, (d[3], d[4], d[5]))
            less = plus(diagonal(0.0, 0.0, 0.0), -1.0, R)
            add_product(less, Z[:3], dM)
            add_product(less, Z[3:6], dN)
            add_product(skew((-moment[0], -moment[1], -moment[2])), theta, dM)
            add_product(skew((-push[0], -push[1], -push[2])), theta, dN)
            N = (N[0] + push[0], N[1] + push[1], N[2] + push[2])


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
def vary_forward(layout, table, jumps, c0, moving, base, shape, var):  # type: ignore[no-untyped-def]
    """Fill the variations from base to tip; `base` (12, U) are those of the base section."""
    P, U = len(layout.moment), base.shape[1]
    now = base.copy()
    for k in range(P):
        _vary_jumps_forward(
            jumps, jumps.first[k], jumps.first[k + 1], c0, shape.sections, now, var.sections
        )
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
                    f = table[a + i, c] * of_m[i, j]
                    for r in range(3):
                        bend[i, r, layout.moment_at[k] + 3 * j + c] = shape.R[3 * r + c, a + i] * f
        _integrated(Q, bend, now[:3], theta)
        for i in range(K):
            g = a + i
            R = rotation_at(shape.R, g)
            D = conjugated(R, table[g, 3], table[g, 4], table[g, 5])
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
    _vary_jumps_forward(
        jumps, jumps.first[P], jumps.first[P + 1], c0, shape.sections, now, var.sections
    )
    var.tip[:] = now


@kernel
def _vary_body_load(P, c0, R, W, V, theta, dW, dV, force, moment):  # type: ignore[no-untyped-def]
    """Variations (3, U) of the world force and moment per length of `body_load` at a station P."""
    w, q = back(R, W), back(R, V)
    m, f = body_load(P, c0, w, q)
    A, c = P[MASS], c0 + P[MASS_DAMPING]
    J = conjugated(R, P[ROTARY], P[ROTARY + 1], P[ROTARY + 2])
    X = conjugated(
        R,
        -A * c - 2.0 * P[DRAG] * abs(q[0]),
        -A * c - 2.0 * P[DRAG + 1] * abs(q[1]),
        -A * c - 2.0 * P[DRAG + 2] * abs(q[2]),
    )
    X = plus(X, -A, skew(W))
    Y = times(diagonal(A, A, A), skew(V))
    T = plus(times(X, skew(V)), 1.0, times(Y, skew(W)))
    set_product(plus(T, -1.0, skew(turned(R, f))), theta, force)
    add_product(X, dV, force)
    add_product(Y, dW, force)
    Z = plus(plus(skew(turned(J, W)), -c, J), -1.0, times(skew(W), J))
    set_product(plus(times(Z, skew(W)), -1.0, skew(turned(R, m))), theta, moment)
    add_product(Z, dW, moment)


@kernel
def vary_backward(layout, table, jumps, c0, turning, tip, force, own, shape, var):  # type: ignore[no-untyped-def]
    """Fill the variations of the balance; `tip` (6, U) those of the wrench at the tip, world.

    turning : False if the forces along the rods do not change with the shape.
    force : (3,) the force that holds the tip.  own : (G, 6, U) of further wrenches per length, or none.
    """
    P, U = len(layout.moment), tip.shape[1]
    dN, dM = tip[3:].copy(), tip[:3].copy()
    _vary_jumps_back(
        jumps, jumps.first[P], jumps.first[P + 1], c0, shape.sections, force, var.sections, dN, dM
    )
    for k in range(P - 1, -1, -1):
        a, b = layout.first[k], layout.first[k + 1]
        K = b - a
        Q = layout.Q[layout.at[0, k] : layout.at[0, k] + K * K].reshape(K, K)
        push, spin = np.zeros((K, 3, U)), np.zeros((K, 3, U))
        if turning:
            for i in range(K):
                g = a + i
                R, W, V = rotation_at(shape.R, g), at(shape.W, g), at(shape.V, g)
                _vary_body_load(
                    table[g], c0, R, W, V, var.theta[g], var.dW[g], var.dV[g], push[i], spin[i]
                )
        if len(own) > 0:
            spin += own[a:b, :3]
            push += own[a:b, 3:]
        _integrated_back(Q, push, dN, var.dN[a:b])
        for i in range(K):
            N, v = at(shape.N, a + i), at(shape.slope, a + i)
            add_product(skew((-N[0], -N[1], -N[2])), var.slope[a + i], spin[i])
            add_product(skew(v), var.dN[a + i], spin[i])
        _integrated_back(Q, spin, dM, var.dM[a:b])
        dN[:] = var.dN[a]
        dM[:] = var.dM[a]
        _vary_jumps_back(
            jumps, jumps.first[k], jumps.first[k + 1], c0, shape.sections, shape.N[:, a],
            var.sections, dN, dM,
        )  # fmt: skip
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
            R = rotation_at(shape.R, a + i)
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
