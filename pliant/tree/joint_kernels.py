"""Kernels between a part, its joint and the frame that carries it.

The base of a part is at G X j, G the carrying frame, X its constant pose there, j the pose of its
joint, and moves by x_base = A x_G + S dq with A = Ad((X j)^-1).
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie.se3_kernels import Ad_inverse_array, ad_array, multiply_array


@kernel
def place_base(carrier, X, turn, pose, base, inward):  # type: ignore[no-untyped-def]
    """pose = X turn (4, 4), base = carrier pose (4, 4) and inward = Ad(pose^-1) (6, 6)."""
    multiply_array(X, turn, pose)
    Ad_inverse_array(pose, inward)
    multiply_array(carrier, pose, base)


@kernel
def spread_frame_jacobian(rows, entries, above, out):  # type: ignore[no-untyped-def]
    """out (6, c + b) = [rows[:, entries], rows[:, :6] above], above (6, b)."""
    c = entries.shape[0]
    for i in range(6):
        for j in range(c):
            out[i, j] = rows[i, entries[j]]
        for j in range(above.shape[1]):
            v = 0.0
            for a in range(6):
                v += rows[i, a] * above[a, j]
            out[i, c + j] = v


@kernel
def write_block(block, row, column, out):  # type: ignore[no-untyped-def]
    """Write a block to its place in a matrix."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            out[row + i, column + j] = block[i, j]


@kernel
def stack_jacobian(inward, carried, S, out):  # type: ignore[no-untyped-def]
    """out (6, c + nv) = [inward carried, S]."""
    c = carried.shape[1]
    for i in range(6):
        for j in range(c):
            v = 0.0
            for a in range(6):
                v += inward[i, a] * carried[a, j]
            out[i, j] = v
        for j in range(S.shape[1]):
            out[i, c + j] = S[i, j]


@kernel
def sum_base(elements, r, base):  # type: ignore[no-untyped-def]
    """base (6,) = sum of the first six entries of r (E, n) over the elements at the base."""
    for i in range(6):
        base[i] = 0.0
    for e in elements:
        for i in range(6):
            base[i] += r[e, i]


@kernel
def add_joint_force(S, base, index, out):  # type: ignore[no-untyped-def]
    """out[index] += S^T base."""
    for j in range(index.shape[0]):
        for i in range(6):
            out[index[j]] += S[i, j] * base[i]


@kernel
def add_carried_wrench(inward, base, p):  # type: ignore[no-untyped-def]
    """p (6,) += inward^T base: what the base gets acts on the frame that carries it."""
    for j in range(6):
        for i in range(6):
            p[j] += inward[i, j] * base[i]


@kernel
def add_excess(inward, given, J, entries, extra, left):  # type: ignore[no-untyped-def]
    """What a carried part passes on beyond its wrench, `given` (6,) at its base: f = inward^T given.

    extra (6,) += f and left[entries] += (J^T f), entries (b,) of an element, -1 for none.
    """
    for j in range(6):
        f = 0.0
        for i in range(6):
            f += inward[i, j] * given[i]
        extra[j] += f
        for a in range(entries.shape[0]):
            if entries[a] >= 0:
                left[entries[a]] += J[j, a] * f


@kernel
def add_carried_block(left, base, right, k):  # type: ignore[no-untyped-def]
    """k (6, 6) += left^T base right."""
    for i in range(6):
        for j in range(6):
            v = 0.0
            for a in range(6):
                for b in range(6):
                    v += left[a, i] * base[a, b] * right[b, j]
            k[i, j] += v


@kernel
def base_blocks(elements, K, left, right, base, down, up):  # type: ignore[no-untyped-def]
    """Blocks of the elements at the base: base (6, 6) summed; down (B, b, n - 6) = left^T K[:6, 6:] and
    up (B, b, n - 6) = (K[6:, :6] right)^T of each, left and right (6, b).
    """
    b, n = left.shape[1], K.shape[2]
    for i in range(6):
        for j in range(6):
            base[i, j] = 0.0
    for k in range(elements.shape[0]):
        block = K[elements[k]]
        for i in range(6):
            for j in range(6):
                base[i, j] += block[i, j]
        for a in range(b):
            for j in range(6, n):
                u = 0.0
                v = 0.0
                for i in range(6):
                    u += left[i, a] * block[i, j]
                    v += block[j, i] * right[i, a]
                down[k, a, j - 6] = u
                up[k, a, j - 6] = v


@kernel
def joint_blocks(base, Sa, Sb, left, right, wrench, curved, down, up, own):  # type: ignore[no-untyped-def]
    """Blocks of a joint: down (nv, c) = Sa^T base right, up = left^T base Sb, own = Sa^T base Sb.

    left and right (6, c + nv), of which the first c columns count. If `curved`, the half bracket of the
    composition with the wrench (6,) on the base is added.
    """
    nv = Sa.shape[1]
    c = left.shape[1] - nv
    N, row, bent, col = np.zeros((6, 6)), np.empty(6), np.empty(6), np.empty(6)
    if curved:
        half_bracket(wrench, N)
    for a in range(nv):
        for j in range(6):
            row[j] = bent[j] = col[j] = 0.0
        for i in range(6):
            x, y = Sa[i, a], Sb[i, a]
            if x != 0.0 or y != 0.0:
                for j in range(6):
                    row[j] += x * base[i, j]
                    bent[j] += x * N[j, i]
                    col[j] += y * base[j, i]
        for b in range(nv):
            own[a, b] = _product(row, Sb, b)
        for b in range(c):
            cross = _product(bent, left, b) if curved else 0.0
            down[a, b] = _product(row, right, b) + cross
            up[b, a] = _product(col, left, b) + cross


@inner
def _product(x, y, b):  # type: ignore[no-untyped-def]
    """x (6,) times column b of y (6, .)."""
    v = 0.0
    for i in range(6):
        v += x[i] * y[i, b]
    return v


@inner
def half_bracket(r, N):  # type: ignore[no-untyped-def]
    """N (6, 6), which is zero, becomes 1/2 N with r . [a, b] = a . N b, r (6,) = (m, n) a wrench."""
    for block in range(3):
        row, col = (3 if block == 2 else 0), (3 if block == 1 else 0)
        x = r[0:3] if block == 0 else r[3:6]
        N[row, col + 1], N[row + 1, col] = 0.5 * x[2], -0.5 * x[2]
        N[row, col + 2], N[row + 2, col] = -0.5 * x[1], 0.5 * x[1]
        N[row + 1, col + 2], N[row + 2, col + 1] = 0.5 * x[0], -0.5 * x[0]


@kernel
def base_twist(inward, carried, S, v, index, twist):  # type: ignore[no-untyped-def]
    """twist (6,) = inward carried + S v[index]."""
    for i in range(6):
        twist[i] = 0.0
        for a in range(6):
            twist[i] += inward[i, a] * carried[a]
        for j in range(index.shape[0]):
            twist[i] += S[i, j] * v[index[j]]


@kernel
def base_acceleration(inward, carried, eta, S, v, acc, bias, index, rate):  # type: ignore[no-untyped-def]
    """rate (6,) = A x' - [S q', A x] + S q'' + bias with x' = carried, x = eta (6,) of the carrier."""
    turn, twist = np.zeros(6), np.zeros(6)
    ad = np.empty((6, 6))
    for i in range(6):
        rate[i] = bias[i]
        for a in range(6):
            rate[i] += inward[i, a] * carried[a]
            twist[i] += inward[i, a] * eta[a]
        for j in range(index.shape[0]):
            turn[i] += S[i, j] * v[index[j]]
            rate[i] += S[i, j] * acc[index[j]]
    ad_array(turn, ad)
    for i in range(6):
        for a in range(6):
            rate[i] -= ad[i, a] * twist[a]
