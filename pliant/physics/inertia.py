"""Inertia of sections: diagonal M = (rho Ix, rho Iy, rho Ip, rho A, rho A, rho A) times weights."""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie import operators as op
from pliant.lie.leaves import add_hat
from pliant.lie.plane import half_turn, increment_slopes, log, relative
from pliant.lie.se3_kernels import dexp_inverse_array, log_relative_array
from pliant.lie.tuples import add, apply, dot, read_vector, transpose, write_vector


@kernel
def kinetic_energy(M, eta):  # type: ignore[no-untyped-def]
    """1/2 sum_s eta . M eta for weighted M (S, 6) and body twists eta (S, 6), J."""
    T = 0.0
    for s in range(eta.shape[0]):
        for i in range(6):
            T += 0.5 * M[s, i] * eta[s, i] * eta[s, i]
    return T


@kernel
def add_inertia(M, eta, acc, speed, grow, tangent, p, k):  # type: ignore[no-untyped-def]
    """p += M acc - ad(eta)^T M eta and, if `tangent`, its derivative to k: grow M + speed d/d eta.

    With momentum h = M eta = (l, b): ad(eta)^T h = (l x w + b x v, b x w), eta = (w, v). speed (1/s)
    and grow (1/s^2) are the derivatives of rates and accelerations in the coordinates.
    """
    for s in range(M.shape[0]):
        w0, w1, w2 = eta[s, 0], eta[s, 1], eta[s, 2]
        v0, v1, v2 = eta[s, 3], eta[s, 4], eta[s, 5]
        l0, l1, l2 = M[s, 0] * w0, M[s, 1] * w1, M[s, 2] * w2
        b0, b1, b2 = M[s, 3] * v0, M[s, 4] * v1, M[s, 5] * v2
        for i in range(6):
            p[s, i] += M[s, i] * acc[s, i]
        p[s, 0] -= l1 * w2 - l2 * w1 + b1 * v2 - b2 * v1
        p[s, 1] -= l2 * w0 - l0 * w2 + b2 * v0 - b0 * v2
        p[s, 2] -= l0 * w1 - l1 * w0 + b0 * v1 - b1 * v0
        p[s, 3] -= b1 * w2 - b2 * w1
        p[s, 4] -= b2 * w0 - b0 * w2
        p[s, 5] -= b0 * w1 - b1 * w0
        if not tangent:
            continue
        for i in range(6):
            k[s, i, i] += grow * M[s, i]
        _add_cross(k[s], 0, 0, speed, l0, l1, l2, w0, w1, w2, M[s, 0], M[s, 1], M[s, 2])
        _add_cross(k[s], 0, 3, speed, b0, b1, b2, v0, v1, v2, M[s, 3], M[s, 4], M[s, 5])
        # b x w: derivative in w is b^, in v is -w^ M
        add_hat(k[s], 3, 0, b0, b1, b2, -speed)
        k[s, 3, 4] -= speed * w2 * M[s, 4]
        k[s, 3, 5] += speed * w1 * M[s, 5]
        k[s, 4, 3] += speed * w2 * M[s, 3]
        k[s, 4, 5] -= speed * w0 * M[s, 5]
        k[s, 5, 3] -= speed * w1 * M[s, 3]
        k[s, 5, 4] += speed * w0 * M[s, 4]


@inner
def _add_cross(k, row, col, f, h0, h1, h2, x0, x1, x2, m0, m1, m2):  # type: ignore[no-untyped-def]
    """k -= f times the derivative of h x x in x with h = m * x: h^ - x^ diag(m)."""
    k[row, col + 1] -= f * (-h2 + x2 * m1)
    k[row, col + 2] -= f * (h1 - x1 * m2)
    k[row + 1, col] -= f * (h2 - x2 * m0)
    k[row + 1, col + 2] -= f * (-h0 + x0 * m2)
    k[row + 2, col] -= f * (-h1 + x1 * m0)
    k[row + 2, col + 1] -= f * (h0 - x0 * m1)


@kernel
def step_momentum(M, ga, gb, h, tangent, eta, pa, pb, k):  # type: ignore[no-untyped-def]
    """Discrete momenta of a step of length h, eta = log(ga^-1 gb) / h, M weighted (S, 6).

    pa = dexp(-h eta)^-T M eta and pb = dexp(h eta)^-T M eta are the momenta at the two ends of the
    step in their body frames; k (S, 6, 6), written if `tangent`, is the derivative of pa in the body
    twist of gb.
    """
    x = np.empty(6)
    N, A, D = np.zeros((6, 6)), np.empty((6, 6)), np.empty((6, 6))
    for s in range(M.shape[0]):
        log_relative_array(ga[s], gb[s], x)
        for i in range(6):
            eta[s, i] = x[i] / h
        # blocks of dexp(x)^-1 = [[F, 0], [G, F]]; those of dexp(-x)^-1 are their transposes
        angle, move = read_vector(x, 0), read_vector(x, 3)
        i0, s0, q0, i1, s1, q1 = op.coefficients(op.DEXP_INVERSE, dot(angle, angle))
        F = op.operator(i0, s0, q0, angle)
        G = op.operator_derivative(s0, q0, i1, s1, q1, angle, move)
        m = M[s, 0] * eta[s, 0], M[s, 1] * eta[s, 1], M[s, 2] * eta[s, 2]
        n = M[s, 3] * eta[s, 3], M[s, 4] * eta[s, 4], M[s, 5] * eta[s, 5]
        write_vector(pa[s], 0, add(1.0, apply(F, m), 1.0, apply(G, n)))
        write_vector(pa[s], 3, apply(F, n))
        F, G = transpose(F), transpose(G)
        write_vector(pb[s], 0, add(1.0, apply(F, m), 1.0, apply(G, n)))
        write_vector(pb[s], 3, apply(F, n))
        if tangent:
            _momentum_tangent(M[s], eta[s], h, x, N, A, D, k[s])


@inner
def _momentum_tangent(M, eta, h, x, N, A, D, k):  # type: ignore[no-untyped-def]
    """k = derivative of A^T M x / h in the twist of gb, dx = D dz, A = dexp(-x)^-1, D = dexp(x)^-1.

    The derivative of the factor dexp(-x)^-T contracted with M eta is taken from its series
    I - ad/2 + ad^2/12 to the order that keeps Newton quadratic in practice for rotations below a
    radian in a step; the momentum itself is exact. N, A and D (6, 6) are workspace, N zero at first.
    """
    dexp_inverse_array(x, D)
    # the blocks of dexp(-x)^-1 are those of dexp(x)^-1, transposed
    for i in range(3):
        for j in range(3):
            A[i, j] = A[3 + i, 3 + j] = D[j, i]
            A[3 + i, j], A[i, 3 + j] = D[3 + j, i], 0.0
    # d/dx [(-1/2 ad(x))^T mu] = 1/2 N(mu), N(mu) = -[[m^, n^], [n^, 0]]
    for blk in range(3):
        row = 3 if blk == 2 else 0
        col = 3 if blk == 1 else 0
        o = 0 if blk == 0 else 3
        m0, m1, m2 = M[o] * eta[o], M[o + 1] * eta[o + 1], M[o + 2] * eta[o + 2]
        N[row, col + 1] = m2
        N[row, col + 2] = -m1
        N[row + 1, col] = -m2
        N[row + 1, col + 2] = m0
        N[row + 2, col] = m1
        N[row + 2, col + 1] = -m0
    for i in range(6):
        for j in range(6):
            v = 0.0
            for a in range(6):
                v += (A[a, i] * M[a] / h + 0.5 * N[i, a]) * D[a, j]
            k[i, j] = v


@kernel
def flat_momentum(axis, M, ga, gb, h, tangent, eta, pa, pb, k):  # type: ignore[no-untyped-def]
    """`step_momentum` of frames that move in a plane, normal to an axis of theirs. Only entries in the
    plane are written: a moment, two forces.
    """
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rate = 1.0 / h
    for s in range(M.shape[0]):
        co, si, p, q = relative(ga[s], gb[s], i, j)
        half = half_turn(co, si)
        w, f, g = log(half[0], half[1], p, q)
        x = 0.5 * w
        a, b = increment_slopes(x)
        eta[s, axis], eta[s, 3 + i], eta[s, 3 + j] = rate * w, rate * f, rate * g
        m0, m1, m2 = rate * M[s, axis], rate * M[s, 3 + i], rate * M[s, 3 + j]
        m, ni, nj = m0 * w, m1 * f, m2 * g
        ui, uj = -b * f - 0.5 * g, 0.5 * f - b * g
        ti, tj = 0.5 * g - b * f, -b * g - 0.5 * f
        pa[s, axis], pb[s, axis] = m + ui * ni + uj * nj, m + ti * ni + tj * nj
        pa[s, 3 + i], pa[s, 3 + j] = a * ni - x * nj, a * nj + x * ni
        pb[s, 3 + i], pb[s, 3 + j] = a * ni + x * nj, a * nj - x * ni
        if tangent:
            slopes = (a, x, ti, tj)
            _write_row(k[s, axis], axis, m0, ui * m1 + 0.5 * nj, uj * m2 - 0.5 * ni, slopes)
            _write_row(k[s, 3 + i], axis, -0.5 * nj, a * m1, -x * m2, slopes)
            _write_row(k[s, 3 + j], axis, 0.5 * ni, x * m1, a * m2, slopes)


@leaf
def _write_row(row, axis, y0, y1, y2, slopes):  # type: ignore[no-untyped-def]
    """Row of the derivative: y times that of log(ga^-1 gb) in the twist of gb."""
    a, x, ti, tj = slopes
    row[axis] = y0 + y1 * ti + y2 * tj
    row[3 + (axis + 1) % 3], row[3 + (axis + 2) % 3] = y1 * a + y2 * x, y2 * a - y1 * x
