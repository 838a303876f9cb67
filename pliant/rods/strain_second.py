"""Second derivatives of Magnus frames: acceleration bias and the Hessian of pulled frames.

Notation and blocks are those of `strain_kernels`. Paired with wrenches W (in the frame of the
base), the acceleration is a quadratic form of the coordinates with three parts for each step:

    W . [V^-, Theta q']
    f . D dexp(Omega)[Omega'] Omega',    f = Ad(H)^T W
    c . 2 a [xi1', xi2'],                c = dexp(Omega)^T f

W of a grid step is the sum of the wrenches of all stations beyond it. In the first part, what comes
from the base and earlier segments is the same for all steps of a segment: it is met once, by a sum.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.lie.blocks import (
    add_second,
    add_to_body,
    carry_wrench,
    subtract_bracket,
    tangent_rate,
    wrench_to_body,
)
from pliant.lie.leaves import add_hat
from pliant.lie.operators import EXP
from pliant.rods.strain_kernels import (
    BRACKET,
    add_brackets,
    add_carried,
    point_strains,
    slope,
)


@leaf
def _add_dual(D, x, out):  # type: ignore[no-untyped-def]
    """out += [[F, 0], [G, F]] x for D = [F; G]."""
    for i in range(3):
        for j in range(3):
            out[i] += D[i, j] * x[j]
            out[3 + i] += D[3 + i, j] * x[j] + D[i, j] * x[3 + j]


@inner
def _rate_step(z, i, qd, V, A, work):  # type: ignore[no-untyped-def]
    """Add to velocity V and acceleration A (6,), in the frame of the base, what step i adds.

    work (6, 6) is scratch: the rates of the two strains, of Omega, and what follows from them.
    """
    d, rate, second, twist = work[:2], work[2], work[3], work[4]
    acc = work[5]
    h = z.length[i]
    a = BRACKET * h * h
    point_strains(z, i, qd, qd.shape[2], 0.0, d)
    for r in range(6):
        rate[r] = 0.5 * h * (d[0, r] + d[1, r])
        second[r] = 0.0
        twist[r] = 0.0
    add_brackets(a, z.xi[i], d, rate)
    add_brackets(a, d, d, second)
    tangent_rate(EXP, z.omega[i], rate, acc)
    _add_dual(z.tangent[i], second, acc)
    add_carried(z.pose[i], acc, A)
    for r in range(6):
        acc[r] = 0.0
    _add_dual(z.tangent[i], rate, acc)
    add_carried(z.pose[i], acc, twist)
    subtract_bracket(twist, V, A)
    for r in range(6):
        V[r] += twist[r]


@kernel
def frame_bias(z, x, step, velocity, qd, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6): body acceleration of stations x at a steady velocity of the coordinates.

    velocity (6,) is the body twist of the base, qd (segments, K, rows) the rate of the modes.
    """
    N = len(z.length)
    work = np.empty((6, 6))
    V = np.zeros((N + 1, 6))
    A = np.zeros((N + 1, 6))
    v = np.empty(6)
    b = np.empty(6)
    for r in range(6):
        V[0, r] = velocity[r]
    for i in range(N):
        for r in range(6):
            V[i + 1, r] = V[i, r]
            A[i + 1, r] = A[i, r]
        _rate_step(z, i, qd, V[i + 1], A[i + 1], work)
    for s in range(len(step)):
        for r in range(6):
            v[r] = V[step[s], r]
            b[r] = A[step[s], r]
        _rate_step(x, s, qd, v, b, work)
        for r in range(6):
            bias[s, r] = 0.0
        add_to_body(x.pose[s], 1.0, b, bias[s])


@inner
def _paired(W, D, out):  # type: ignore[no-untyped-def]
    """out = wrench block Y of twist block D: W.[a, b] = -a . Y b. Y = [m x F + n x G; n x F]."""
    for j in range(3):
        for i in range(3):
            k, r = (i + 1) % 3, (i + 2) % 3
            out[3 + i, j] = W[3 + k] * D[r, j] - W[3 + r] * D[k, j]
            out[i, j] = (
                W[k] * D[r, j] - W[r] * D[k, j] + W[3 + k] * D[3 + r, j] - W[3 + r] * D[3 + k, j]
            )


@inner
def _subtract_product(D, Y, out):  # type: ignore[no-untyped-def]
    """out -= D^T Y for a twist block D and a wrench block Y."""
    for i in range(3):
        for j in range(3):
            for r in range(3):
                out[i, j] -= D[r, i] * Y[r, j] + D[3 + r, i] * Y[3 + r, j]
                out[3 + i, j] -= D[r, i] * Y[3 + r, j]


@inner
def _slope_times(alpha, w, M, out):  # type: ignore[no-untyped-def]
    """out = M O for a wrench block M and O = alpha I + ad(w)."""
    for i in range(3):
        for j in range(3):
            k, r = (j + 1) % 3, (j + 2) % 3
            out[3 + i, j] = alpha * M[3 + i, j] + M[3 + i, k] * w[r] - M[3 + i, r] * w[k]
            out[i, j] = (
                alpha * M[i, j]
                + M[i, k] * w[r]
                - M[i, r] * w[k]
                + M[3 + i, k] * w[3 + r]
                - M[3 + i, r] * w[3 + k]
            )


@inner
def _add_slope_product(scale, alpha, w, Y, out):  # type: ignore[no-untyped-def]
    """out += scale O^T Y for O = alpha I + ad(w) and a wrench block Y."""
    for i in range(3):
        k, r = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            out[3 + i, j] += scale * (alpha * Y[3 + i, j] - w[k] * Y[3 + r, j] + w[r] * Y[3 + k, j])
            out[i, j] += scale * (
                alpha * Y[i, j]
                - w[k] * Y[r, j]
                + w[r] * Y[k, j]
                - w[3 + k] * Y[3 + r, j]
                + w[3 + r] * Y[3 + k, j]
            )


@inner
def _local_form(z, i, W, full, f, M, c):  # type: ignore[no-untyped-def]
    """Write M (6, 3), the wrench block of f . D dexp(Omega)[v] v, and c = dexp(Omega)^T f.

    f (6,) is written too; full (6, 6) is scratch.
    """
    T = z.tangent[i]
    for r in range(6):
        for j in range(6):
            full[r, j] = 0.0
    wrench_to_body(z.pose[i], W, f)
    add_second(EXP, z.omega[i], f, 1.0, full, 0)
    for r in range(3):
        c[r] = 0.0
        c[3 + r] = 0.0
        for j in range(3):
            c[r] += T[j, r] * f[j] + T[3 + j, r] * f[3 + j]
            c[3 + r] += T[j, r] * f[3 + j]
            M[r, j] = full[r, j]
            M[3 + r, j] = full[r, 3 + j]


@inner
def _add_step(z, i, W, total, last, H, Y, full, vec, blk):  # type: ignore[no-untyped-def]
    """Add the quadratic form of step i under wrench W (6,) to H (K, K, 6, 3) and Y (K, 6, 3).

    Y collects what meets the velocity before the segment, H what stays inside it; total[last] is
    the motion inside the segment before the step, last = -1 if there is none. full (6, 6), vec
    (4, 6) and blk (3, 6, 3) are scratch.
    """
    if W[0] == W[1] == W[2] == W[3] == W[4] == W[5] == 0.0:
        return
    f, c, wk, wl = vec[0], vec[1], vec[2], vec[3]
    M, pair, right = blk[0], blk[1], blk[2]
    _local_form(z, i, W, full, f, M, c)
    a = BRACKET * z.length[i] * z.length[i]
    for j in range(H.shape[0]):
        _paired(W, z.theta[i, j], pair)
        for r in range(6):
            for s in range(3):
                Y[j, r, s] += pair[r, s]
        if last >= 0:
            for k in range(H.shape[0]):
                _subtract_product(total[last, k], pair, H[k, j])
        alpha = slope(z, i, j, wl)
        _slope_times(alpha, wl, M, right)
        # the rest is symmetric: half of it, twice
        _add_slope_product(1.0, alpha, wl, right, H[j, j])
        for k in range(j):
            alpha = slope(z, i, k, wk)
            _add_slope_product(2.0, alpha, wk, right, H[k, j])
            swap = z.phi[i, 1, k] * z.phi[i, 0, j] - z.phi[i, 0, k] * z.phi[i, 1, j]
            # wrench block of [[m^, n^], [n^, 0]], c = (m, n)
            add_hat(H[k, j], 0, 0, c[0], c[1], c[2], 2.0 * a * swap)
            add_hat(H[k, j], 3, 0, c[3], c[4], c[5], 2.0 * a * swap)


@inner
def _scatter(B, scale, row, rows, col, cols, K):  # type: ignore[no-untyped-def]
    """Add scale times a wrench block to K at (row, col), and its transpose at (col, row)."""
    for r in range(rows):
        for c in range(cols if r < 3 else 3):
            v = scale * (B[r, c] if c < 3 else B[3 + r, c - 3])
            K[row + r, col + c] += v
            K[col + c, row + r] += v


@inner
def _collect_segment(seg, steps, rows, total, H, Y, K):  # type: ignore[no-untyped-def]
    """Add the quadratic form of a segment, H and Y of `_add_step`, to K (m, m)."""
    modes = H.shape[0]
    block = np.empty((6, 3))
    for j in range(modes):
        col = 6 + (seg * modes + j) * rows
        _scatter(Y[j], -0.5, 0, 6, col, rows, K)
        for b in range(seg * modes):
            for r in range(6):
                for c in range(3):
                    block[r, c] = 0.0
            _subtract_product(total[steps * (b // modes) + steps - 1, b % modes], Y[j], block)
            _scatter(block, 0.5, 6 + b * rows, rows, col, rows, K)
        for k in range(modes):
            _scatter(H[k, j], 0.5, 6 + (seg * modes + k) * rows, rows, col, rows, K)


@kernel
def add_frame_second(z, steps, total, x, step, rows, f, K):  # type: ignore[no-untyped-def]
    """Add to K (m, m) the second derivative of sum_s f_s . log(g_s^-1 g_s(y)), f (S, 6).

    The cost grows with (steps + stations) K^2 and with m^2, not with steps times m^2.
    """
    N, modes = total.shape[0], total.shape[1]
    count = N // steps
    H = np.zeros((count, modes, modes, 6, 3))
    Y = np.zeros((count, modes, 6, 3))
    wrench = np.zeros((N, 6))
    W = np.zeros(6)
    full = np.empty((6, 6))
    vec = np.empty((4, 6))
    blk = np.empty((3, 6, 3))
    for s in range(len(step)):
        n, seg = step[s], x.segment[s]
        carry_wrench(x.pose[s], f[s], W)
        last = n - 1 if n % steps != 0 else -1
        _add_step(x, s, W, total, last, H[seg], Y[seg], full, vec, blk)
        for r in range(6):
            wrench[n, r] += W[r]
            W[r] = 0.0
    for i in range(N - 1, -1, -1):
        seg = z.segment[i]
        _add_step(z, i, W, total, i - 1 if i % steps != 0 else -1, H[seg], Y[seg], full, vec, blk)
        for r in range(6):
            W[r] += wrench[i, r]
    for seg in range(count):
        _collect_segment(seg, steps, rows, total, H[seg], Y[seg], K)
