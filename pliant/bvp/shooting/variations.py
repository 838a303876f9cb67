"""The rod equations linearised about a state: how variations of it travel along the rod.

Variations come in blocks of eight columns, stored row after row in 144 numbers: places in memory that
are known when this is compiled let the loops over columns run on several of them at once.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.effect_callback import BY_POSE, BY_TWIST, COMPLIANCE
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import rotation, strains
from pliant.lie.tuples import Array, cross
from pliant.rods.contract import Ints

WIDTH = 8
"""Columns in a block."""
BLOCK = 18 * WIDTH
_MOST = 8
"""Intervals that variations may be taken over at once."""
_REACH = 0.6
"""Largest exponent by which a variation may grow in one step of RK4."""


@leaf
def _linear_moment(y, r, P, c0, width, Z, out):  # type: ignore[no-untyped-def]
    """Rows of m of `linear_rates`."""
    mx, my, mz, nx, ny, nz = y[0], y[1], y[2], y[3], y[4], y[5]
    wx, wy, wz = y[6], y[7], y[8]
    (ux, uy, uz), (vx, vy, vz) = strains(y, P)
    Jx, Jy, Jz = P[24], P[25], P[26]
    lx, ly, lz = Jx * wx, Jy * wy, Jz * wz
    # world loads seen from the body turn by (R^T f) x theta
    kx = r[0] * P[31] + r[3] * P[32] + r[6] * P[33]
    ky = r[1] * P[31] + r[4] * P[32] + r[7] * P[33]
    kz = r[2] * P[31] + r[5] * P[32] + r[8] * P[33]
    rate = c0 + P[43]
    S0, S1, S2, S3, S4, S5 = P[0], P[1], P[2], P[3], P[4], P[5]
    for c in range(width):
        dmx, dmy, dmz, dnx, dny, dnz = Z[c], Z[8 + c], Z[16 + c], Z[24 + c], Z[32 + c], Z[40 + c]
        dwx, dwy, dwz = Z[48 + c], Z[56 + c], Z[64 + c]
        tx, ty, tz = Z[120 + c], Z[128 + c], Z[136 + c]
        dux, duy, duz = S0 * dmx, S1 * dmy, S2 * dmz
        dvx, dvy, dvz = S3 * dnx, S4 * dny, S5 * dnz
        out[c] = (
            Jx * rate * dwx + dwy * lz - dwz * ly + wy * Jz * dwz - wz * Jy * dwy
            - (ky * tz - kz * ty) - duy * mz + duz * my - uy * dmz + uz * dmy
            - dvy * nz + dvz * ny - vy * dnz + vz * dny
        )  # fmt: skip
        out[8 + c] = (
            Jy * rate * dwy + dwz * lx - dwx * lz + wz * Jx * dwx - wx * Jz * dwz
            - (kz * tx - kx * tz) - duz * mx + dux * mz - uz * dmx + ux * dmz
            - dvz * nx + dvx * nz - vz * dnx + vx * dnz
        )  # fmt: skip
        out[16 + c] = (
            Jz * rate * dwz + dwx * ly - dwy * lx + wx * Jy * dwy - wy * Jx * dwx
            - (kx * ty - ky * tx) - dux * my + duy * mx - ux * dmy + uy * dmx
            - dvx * ny + dvy * nx - vx * dny + vy * dnx
        )  # fmt: skip


@leaf
def _linear_force(y, r, P, c0, width, Z, out):  # type: ignore[no-untyped-def]
    """Rows of n of `linear_rates`."""
    nx, ny, nz = y[3], y[4], y[5]
    wx, wy, wz, qx, qy, qz = y[6], y[7], y[8], y[9], y[10], y[11]
    (ux, uy, uz), _ = strains(y, P)
    fx = r[0] * P[28] + r[3] * P[29] + r[6] * P[30]
    fy = r[1] * P[28] + r[4] * P[29] + r[7] * P[30]
    fz = r[2] * P[28] + r[5] * P[29] + r[8] * P[30]
    A, rate = P[27], c0 + P[43]
    Dx = A * rate + 2.0 * P[40] * abs(qx)
    Dy = A * rate + 2.0 * P[41] * abs(qy)
    Dz = A * rate + 2.0 * P[42] * abs(qz)
    S0, S1, S2 = P[0], P[1], P[2]
    for c in range(width):
        dux, duy, duz = S0 * Z[c], S1 * Z[8 + c], S2 * Z[16 + c]
        dnx, dny, dnz = Z[24 + c], Z[32 + c], Z[40 + c]
        dwx, dwy, dwz = Z[48 + c], Z[56 + c], Z[64 + c]
        dqx, dqy, dqz = Z[72 + c], Z[80 + c], Z[88 + c]
        tx, ty, tz = Z[120 + c], Z[128 + c], Z[136 + c]
        out[24 + c] = (
            Dx * dqx + A * (dwy * qz - dwz * qy + wy * dqz - wz * dqy)
            - (fy * tz - fz * ty) - duy * nz + duz * ny - uy * dnz + uz * dny
        )  # fmt: skip
        out[32 + c] = (
            Dy * dqy + A * (dwz * qx - dwx * qz + wz * dqx - wx * dqz)
            - (fz * tx - fx * tz) - duz * nx + dux * nz - uz * dnx + ux * dnz
        )  # fmt: skip
        out[40 + c] = (
            Dz * dqz + A * (dwx * qy - dwy * qx + wx * dqy - wy * dqx)
            - (fx * ty - fy * tx) - dux * ny + duy * nx - ux * dny + uy * dnx
        )  # fmt: skip


@leaf
def _linear_velocity(y, P, c0, width, Z, out):  # type: ignore[no-untyped-def]
    """Rows of w and q of `linear_rates`."""
    wx, wy, wz, qx, qy, qz = y[6], y[7], y[8], y[9], y[10], y[11]
    (ux, uy, uz), (vx, vy, vz) = strains(y, P)
    S0, S1, S2, S3, S4, S5 = P[0], P[1], P[2], P[3], P[4], P[5]
    for c in range(width):
        dux, duy, duz = S0 * Z[c], S1 * Z[8 + c], S2 * Z[16 + c]
        dvx, dvy, dvz = S3 * Z[24 + c], S4 * Z[32 + c], S5 * Z[40 + c]
        dwx, dwy, dwz, dqx, dqy, dqz = (
            Z[48 + c],
            Z[56 + c],
            Z[64 + c],
            Z[72 + c],
            Z[80 + c],
            Z[88 + c],
        )
        out[48 + c] = c0 * dux - duy * wz + duz * wy - uy * dwz + uz * dwy
        out[56 + c] = c0 * duy - duz * wx + dux * wz - uz * dwx + ux * dwz
        out[64 + c] = c0 * duz - dux * wy + duy * wx - ux * dwy + uy * dwx
        out[72 + c] = (
            c0 * dvx - duy * qz + duz * qy - uy * dqz + uz * dqy
            + dwy * vz - dwz * vy + wy * dvz - wz * dvy
        )  # fmt: skip
        out[80 + c] = (
            c0 * dvy - duz * qx + dux * qz - uz * dqx + ux * dqz
            + dwz * vx - dwx * vz + wz * dvx - wx * dvz
        )  # fmt: skip
        out[88 + c] = (
            c0 * dvz - dux * qy + duy * qx - ux * dqy + uy * dqx
            + dwx * vy - dwy * vx + wx * dvy - wy * dvx
        )  # fmt: skip


@leaf
def _linear_pose(y, P, width, Z, out):  # type: ignore[no-untyped-def]
    """Rows of d and theta of `linear_rates`."""
    (ux, uy, uz), (vx, vy, vz) = strains(y, P)
    S0, S1, S2, S3, S4, S5 = P[0], P[1], P[2], P[3], P[4], P[5]
    for c in range(width):
        dux, duy, duz = S0 * Z[c], S1 * Z[8 + c], S2 * Z[16 + c]
        dvx, dvy, dvz = S3 * Z[24 + c], S4 * Z[32 + c], S5 * Z[40 + c]
        dx, dy, dz, tx, ty, tz = (
            Z[96 + c],
            Z[104 + c],
            Z[112 + c],
            Z[120 + c],
            Z[128 + c],
            Z[136 + c],
        )
        out[96 + c] = dvx + ty * vz - tz * vy - uy * dz + uz * dy
        out[104 + c] = dvy + tz * vx - tx * vz - uz * dx + ux * dz
        out[112 + c] = dvz + tx * vy - ty * vx - ux * dy + uy * dx
        out[120 + c] = dux - uy * tz + uz * ty
        out[128 + c] = duy - uz * tx + ux * tz
        out[136 + c] = duz - ux * ty + uy * tx


@kernel
def linear_rates(y, r, P, c0, width, Z, out):  # type: ignore[no-untyped-def]
    """Write the derivative in s of a block Z (144,) of variations about the state y into `out` (144,).

    r is the orientation of y (9 numbers).  width is 8, and has to come as a variable: a loop that is
    known to be short is unrolled instead of being run on several columns at once.
    """
    _linear_moment(y, r, P, c0, width, Z, out)
    _linear_force(y, r, P, c0, width, Z, out)
    _linear_velocity(y, P, c0, width, Z, out)
    _linear_pose(y, P, width, Z, out)


@kernel
def add_own_rates(E, y, c0, width, Z, out):  # type: ignore[no-untyped-def]
    """Add what effects in plain Python contribute to `linear_rates`; E (126,) of `evaluate`.

    `linear_rates` was called without a compliance: that of all strains is added here.
    """
    x = np.empty(18)
    m, n, w, q = (y[0], y[1], y[2]), (y[3], y[4], y[5]), (y[6], y[7], y[8]), (y[9], y[10], y[11])
    for c in range(width):
        for a in range(6):
            x[a] = 0.0
            for b in range(6):
                x[a] += E[COMPLIANCE + 6 * a + b] * Z[8 * b + c]
            out[8 * (12 + (a + 3) % 6) + c] += x[a]
        du, dv = (x[0], x[1], x[2]), (x[3], x[4], x[5])
        um, vn, un = cross(du, m), cross(dv, n), cross(du, n)
        uw, uq, wv = cross(du, w), cross(du, q), cross(w, dv)
        for a in range(3):
            out[8 * a + c] -= um[a] + vn[a]
            out[8 * (3 + a) + c] -= un[a]
            out[8 * (6 + a) + c] += c0 * du[a] - uw[a]
            out[8 * (9 + a) + c] += c0 * dv[a] - uq[a] + wv[a]
        for a in range(6):
            for b in range(6):
                pose = Z[8 * (15 + b if b < 3 else 9 + b) + c]
                out[8 * a + c] -= E[BY_POSE + 6 * a + b] * pose
                out[8 * a + c] -= E[BY_TWIST + 6 * a + b] * Z[8 * (6 + b) + c]


@leaf
def add(Z, h, K, out):  # type: ignore[no-untyped-def]
    """out = Z + h K."""
    for i in range(len(Z)):
        out[i] = Z[i] + h * K[i]


@kernel
def to_blocks(Z, blocks):  # type: ignore[no-untyped-def]
    """Write the columns of Z (18, c) into blocks (B, 18, 8), the rest of which is zero."""
    for b in range(len(blocks)):
        for i in range(18):
            for c in range(WIDTH):
                at = WIDTH * b + c
                blocks[b, i, c] = Z[i, at] if at < Z.shape[1] else 0.0


@kernel
def from_blocks(blocks, Z):  # type: ignore[no-untyped-def]
    """Write the columns of blocks (B, 18, 8) into Z (18, c)."""
    for i in range(18):
        for c in range(Z.shape[1]):
            Z[i, c] = blocks[c // WIDTH, i, c % WIDTH]


@kernel
def apply_jumps_to_blocks(intervals, i, c0, y, blocks):  # type: ignore[no-untyped-def]
    """Take a state and blocks (B, 18, 8) of its variations over everything before interval i."""
    a, b = intervals.jumps.first[i], intervals.jumps.first[i + 1]
    for k in range(len(blocks)):
        apply_jumps(intervals.jumps, a, b, c0, y.copy(), blocks[k])
    apply_jumps(intervals.jumps, a, b, c0, y, np.empty((18, 0)))


@kernel
def grouping(scheme, intervals, c0):  # type: ignore[no-untyped-def]
    """How many intervals `integrate_variations` may take at once and resolve the growth of variations.

    Waves grow along s as exp(k s) with k^4 = A c0^2 / EI when they bend a rod, with k = c0 / speed
    when they stretch, shear or twist it. Zero for Euler's rule, whose variations are exact.
    """
    if scheme == 0:
        return 0
    fastest = 0.0
    for i in range(len(intervals.h)):
        P, h = intervals.table[i, 1], intervals.h[i]
        heavy = P[27] * c0 * c0
        bend = np.sqrt(np.sqrt(heavy * max(P[0], P[1])))
        push = np.sqrt(max(heavy * max(P[3], P[4], P[5]), P[26] * c0 * c0 * P[2]))
        fastest = max(fastest, h * max(bend, push))
    most = _MOST
    while most > 1 and most * fastest > _REACH:
        most //= 2
    return most


@kernel
def integrate_variations(intervals, runs, most, c0, first, last, nodes, blocks):  # type: ignore[no-untyped-def]
    """Integrate variations (B, 18, 8) along states that are known: nodes (N, 2, 24) of an integration.

    They begin before the jumps at interval `first` and end after interval last - 1, at the tip after
    the jumps there. With RK4 over up to `most` intervals at once (see `grouping`), the ends of which
    give all the states that are needed. runs (N,): intervals of one length, without jumps between
    them, from each one on. This is the derivative that Newton's method needs for a fraction of the
    work of an integration with its variations.
    """
    K, L, T, middle = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(24)
    flat, jumps, table = blocks.reshape((len(blocks), BLOCK)), intervals.jumps, intervals.table
    width, i = blocks.shape[2], first
    while i < last:
        if jumps.first[i + 1] > jumps.first[i]:
            # jumps at the base only change the wrench, on which they do not depend
            before = nodes[i - 1, 1].copy() if i > 0 else nodes[0, 0].copy()
            apply_jumps_to_blocks(intervals, i, c0, before, blocks)
        taken, left = 1, min(runs[i], last - i)
        while 2 * taken <= min(left, most):
            taken *= 2
        half, end = i + taken // 2, i + taken - 1
        h, ya, yc = taken * intervals.h[i], nodes[i, 0], nodes[end, 1]
        Pa, Pc = table[i, 0], table[end, 3]
        yb, Pb = nodes[half, 0], table[half, 0]
        if taken == 1:
            for j in range(24):
                middle[j] = 0.5 * (ya[j] + yc[j])
            yb, Pb = middle, table[i, 1]
        for b in range(len(flat)):
            Z = flat[b]
            linear_rates(ya, rotation(ya), Pa, c0, width, Z, K)
            if most == 0:
                add(Z, h, K, Z)
                continue
            add(Z, 0.5 * h, K, T)
            linear_rates(yb, rotation(yb), Pb, c0, width, T, L)
            add(K, 2.0, L, K)
            add(Z, 0.5 * h, L, T)
            linear_rates(yb, rotation(yb), Pb, c0, width, T, L)
            add(K, 2.0, L, K)
            add(Z, h, L, T)
            linear_rates(yc, rotation(yc), Pc, c0, width, T, L)
            add(K, 1.0, L, K)
            add(Z, h / 6.0, K, Z)
        i += taken
    if last == len(intervals.h):
        apply_jumps_to_blocks(intervals, last, c0, nodes[last - 1, 1].copy(), blocks)


def equal_runs(h: Array, first_jump: Ints) -> Ints:
    """For each of N intervals, how many of its length follow without a jump, itself included."""
    runs = np.ones(len(h), dtype=np.int64)
    for i in range(len(h) - 2, -1, -1):
        alone = first_jump[i + 2] > first_jump[i + 1]
        if not alone and abs(h[i + 1] - h[i]) <= 1e-9 * h[i]:
            runs[i] = runs[i + 1] + 1
    return runs
