"""The rod equations in arclength at one instant: their right-hand sides and their linearisation.

Time derivatives are replaced by y_t = c0 y + H with H from earlier instants (c0 = H = 0 at rest), so
that the internal wrench (m, n), the velocity (w, q) and the pose obey ordinary equations in s, all in
the body frame (`docs/theory/strong-form.md`):

    (u, v) = (u, v)_0 + S (m, n)                     law with damping, S the compliance
    m' = J w_t + w x J w - l - u x m - v x n         n' = A (q_t + w x q) - f - u x n
    w' = u_t - u x w                                 q' = v_t - u x q + w x v
    p' = R v                                         R' = R u^

A state y is (m, n, w, q, p, orientation); a variation of it is (dm, dn, dw, dq, d, theta) where
dp = R d and dR = R theta^. Stage data, one row of numbers for each point where the right-hand side
is evaluated, has the columns below.
"""

from __future__ import annotations

from pliant._numba import leaf
from pliant.lie.so3 import exp_matrix
from pliant.lie.tuples import multiply

COMPLIANCE = 0
STRAIN = 6
STRAIN_HISTORY = 12
VELOCITY_HISTORY = 18
ROTARY = 24
MASS = 27
FORCE_WORLD = 28
MOMENT_WORLD = 31
MOMENT_BODY = 34
FORCE_BODY = 37
DRAG = 40
MASS_DAMPING = 43
COLUMNS = 44

WRENCH, VELOCITY, POSITION, ORIENTATION = 0, 6, 12, 15
STATE = 24
"""Numbers in a state: wrench 6, velocity 6, position 3, and up to 9 for the orientation."""
VARIATION = 18
"""Numbers in the variation of a state."""

QUATERNION, MATRIX, MAGNUS = 0, 1, 2
ROTATIONS = {"quaternion": QUATERNION, "matrix": MATRIX, "magnus": MAGNUS}
"""How orientations are carried: a quaternion of any length, a matrix, or a rotation vector from the
last grid point, which is turned into a rotation at the end of each step (Munthe-Kaas)."""


@leaf
def orientation(kind, y, R):  # type: ignore[no-untyped-def]
    """Rotation (9 numbers, by rows) of a state; R (9,) is the rotation at the last grid point."""
    if kind == QUATERNION:
        a, b, c, d = y[15], y[16], y[17], y[18]
        f = 2.0 / (a * a + b * b + c * c + d * d)
        return (
            1.0 - f * (c * c + d * d),
            f * (b * c - d * a),
            f * (b * d + c * a),
            f * (b * c + d * a),
            1.0 - f * (b * b + d * d),
            f * (c * d - b * a),
            f * (b * d - c * a),
            f * (c * d + b * a),
            1.0 - f * (b * b + c * c),
        )
    if kind == MATRIX:
        return y[15], y[16], y[17], y[18], y[19], y[20], y[21], y[22], y[23]
    last = (R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8])
    return multiply(last, exp_matrix(y[15], y[16], y[17]))


@leaf
def turning(kind, y, ux, uy, uz, out):  # type: ignore[no-untyped-def]
    """Write the derivative of the orientation numbers for curvature u into `out`."""
    if kind == QUATERNION:
        a, b, c, d = y[15], y[16], y[17], y[18]
        out[15] = 0.5 * (-ux * b - uy * c - uz * d)
        out[16] = 0.5 * (ux * a + uz * c - uy * d)
        out[17] = 0.5 * (uy * a - uz * b + ux * d)
        out[18] = 0.5 * (uz * a + uy * b - ux * c)
    elif kind == MATRIX:
        for r in range(3):
            a, b, c = y[15 + 3 * r], y[16 + 3 * r], y[17 + 3 * r]
            out[15 + 3 * r] = b * uz - c * uy
            out[16 + 3 * r] = c * ux - a * uz
            out[17 + 3 * r] = a * uy - b * ux
    else:
        # u + 1/2 k x u + 1/12 k x (k x u): enough terms for fourth order
        kx, ky, kz = y[15], y[16], y[17]
        ax, ay, az = ky * uz - kz * uy, kz * ux - kx * uz, kx * uy - ky * ux
        out[15] = ux + 0.5 * ax + (ky * az - kz * ay) / 12.0
        out[16] = uy + 0.5 * ay + (kz * ax - kx * az) / 12.0
        out[17] = uz + 0.5 * az + (kx * ay - ky * ax) / 12.0


@leaf
def rates(kind, y, R, P, c0, out):  # type: ignore[no-untyped-def]
    """Write the derivative in s of the state y (24,) with stage data P (44,) into `out` (24,)."""
    mx, my, mz, nx, ny, nz = y[0], y[1], y[2], y[3], y[4], y[5]
    wx, wy, wz, qx, qy, qz = y[6], y[7], y[8], y[9], y[10], y[11]
    ux, uy, uz = P[6] + P[0] * mx, P[7] + P[1] * my, P[8] + P[2] * mz
    vx, vy, vz = P[9] + P[3] * nx, P[10] + P[4] * ny, P[11] + P[5] * nz
    Jx, Jy, Jz, A = P[24], P[25], P[26], P[27]
    lx, ly, lz = Jx * wx, Jy * wy, Jz * wz
    r = orientation(kind, y, R)
    c1 = P[43]
    fx = r[0] * P[28] + r[3] * P[29] + r[6] * P[30] + P[37]
    fy = r[1] * P[28] + r[4] * P[29] + r[7] * P[30] + P[38]
    fz = r[2] * P[28] + r[5] * P[29] + r[8] * P[30] + P[39]
    fx -= (P[40] * abs(qx) + c1 * A) * qx
    fy -= (P[41] * abs(qy) + c1 * A) * qy
    fz -= (P[42] * abs(qz) + c1 * A) * qz
    kx = r[0] * P[31] + r[3] * P[32] + r[6] * P[33] + P[34] - c1 * lx
    ky = r[1] * P[31] + r[4] * P[32] + r[7] * P[33] + P[35] - c1 * ly
    kz = r[2] * P[31] + r[5] * P[32] + r[8] * P[33] + P[36] - c1 * lz
    out[0] = Jx * (c0 * wx + P[18]) + wy * lz - wz * ly - kx - uy * mz + uz * my - vy * nz + vz * ny
    out[1] = Jy * (c0 * wy + P[19]) + wz * lx - wx * lz - ky - uz * mx + ux * mz - vz * nx + vx * nz
    out[2] = Jz * (c0 * wz + P[20]) + wx * ly - wy * lx - kz - ux * my + uy * mx - vx * ny + vy * nx
    out[3] = A * (c0 * qx + P[21] + wy * qz - wz * qy) - fx - uy * nz + uz * ny
    out[4] = A * (c0 * qy + P[22] + wz * qx - wx * qz) - fy - uz * nx + ux * nz
    out[5] = A * (c0 * qz + P[23] + wx * qy - wy * qx) - fz - ux * ny + uy * nx
    out[6] = c0 * ux + P[12] - uy * wz + uz * wy
    out[7] = c0 * uy + P[13] - uz * wx + ux * wz
    out[8] = c0 * uz + P[14] - ux * wy + uy * wx
    out[9] = c0 * vx + P[15] - uy * qz + uz * qy + wy * vz - wz * vy
    out[10] = c0 * vy + P[16] - uz * qx + ux * qz + wz * vx - wx * vz
    out[11] = c0 * vz + P[17] - ux * qy + uy * qx + wx * vy - wy * vx
    out[12] = r[0] * vx + r[1] * vy + r[2] * vz
    out[13] = r[3] * vx + r[4] * vy + r[5] * vz
    out[14] = r[6] * vx + r[7] * vy + r[8] * vz
    turning(kind, y, ux, uy, uz, out)


@leaf
def _linear_wrench(kind, y, R, P, c0, Z, out):  # type: ignore[no-untyped-def]
    """Rows of m and n of `linear_rates`."""
    mx, my, mz, nx, ny, nz = y[0], y[1], y[2], y[3], y[4], y[5]
    wx, wy, wz, qx, qy, qz = y[6], y[7], y[8], y[9], y[10], y[11]
    ux, uy, uz = P[6] + P[0] * mx, P[7] + P[1] * my, P[8] + P[2] * mz
    vx, vy, vz = P[9] + P[3] * nx, P[10] + P[4] * ny, P[11] + P[5] * nz
    Jx, Jy, Jz, A = P[24], P[25], P[26], P[27]
    lx, ly, lz = Jx * wx, Jy * wy, Jz * wz
    r = orientation(kind, y, R)
    # world loads seen from the body turn by (R^T f) x theta
    fx = r[0] * P[28] + r[3] * P[29] + r[6] * P[30]
    fy = r[1] * P[28] + r[4] * P[29] + r[7] * P[30]
    fz = r[2] * P[28] + r[5] * P[29] + r[8] * P[30]
    kx = r[0] * P[31] + r[3] * P[32] + r[6] * P[33]
    ky = r[1] * P[31] + r[4] * P[32] + r[7] * P[33]
    kz = r[2] * P[31] + r[5] * P[32] + r[8] * P[33]
    rate = c0 + P[43]
    Dx = A * rate + 2.0 * P[40] * abs(qx)
    Dy = A * rate + 2.0 * P[41] * abs(qy)
    Dz = A * rate + 2.0 * P[42] * abs(qz)
    for c in range(Z.shape[1]):
        dmx, dmy, dmz, dnx, dny, dnz = Z[0, c], Z[1, c], Z[2, c], Z[3, c], Z[4, c], Z[5, c]
        dwx, dwy, dwz, dqx, dqy, dqz = Z[6, c], Z[7, c], Z[8, c], Z[9, c], Z[10, c], Z[11, c]
        tx, ty, tz = Z[15, c], Z[16, c], Z[17, c]
        dux, duy, duz = P[0] * dmx, P[1] * dmy, P[2] * dmz
        dvx, dvy, dvz = P[3] * dnx, P[4] * dny, P[5] * dnz
        out[0, c] = (
            Jx * rate * dwx + dwy * lz - dwz * ly + wy * Jz * dwz - wz * Jy * dwy
            - (ky * tz - kz * ty) - duy * mz + duz * my - uy * dmz + uz * dmy
            - dvy * nz + dvz * ny - vy * dnz + vz * dny
        )  # fmt: skip
        out[1, c] = (
            Jy * rate * dwy + dwz * lx - dwx * lz + wz * Jx * dwx - wx * Jz * dwz
            - (kz * tx - kx * tz) - duz * mx + dux * mz - uz * dmx + ux * dmz
            - dvz * nx + dvx * nz - vz * dnx + vx * dnz
        )  # fmt: skip
        out[2, c] = (
            Jz * rate * dwz + dwx * ly - dwy * lx + wx * Jy * dwy - wy * Jx * dwx
            - (kx * ty - ky * tx) - dux * my + duy * mx - ux * dmy + uy * dmx
            - dvx * ny + dvy * nx - vx * dny + vy * dnx
        )  # fmt: skip
        out[3, c] = (
            Dx * dqx + A * (dwy * qz - dwz * qy + wy * dqz - wz * dqy)
            - (fy * tz - fz * ty) - duy * nz + duz * ny - uy * dnz + uz * dny
        )  # fmt: skip
        out[4, c] = (
            Dy * dqy + A * (dwz * qx - dwx * qz + wz * dqx - wx * dqz)
            - (fz * tx - fx * tz) - duz * nx + dux * nz - uz * dnx + ux * dnz
        )  # fmt: skip
        out[5, c] = (
            Dz * dqz + A * (dwx * qy - dwy * qx + wx * dqy - wy * dqx)
            - (fx * ty - fy * tx) - dux * ny + duy * nx - ux * dny + uy * dnx
        )  # fmt: skip


@leaf
def _linear_velocity(y, P, c0, Z, out):  # type: ignore[no-untyped-def]
    """Rows of w and q of `linear_rates`."""
    wx, wy, wz, qx, qy, qz = y[6], y[7], y[8], y[9], y[10], y[11]
    ux, uy, uz = P[6] + P[0] * y[0], P[7] + P[1] * y[1], P[8] + P[2] * y[2]
    vx, vy, vz = P[9] + P[3] * y[3], P[10] + P[4] * y[4], P[11] + P[5] * y[5]
    for c in range(Z.shape[1]):
        dux, duy, duz = P[0] * Z[0, c], P[1] * Z[1, c], P[2] * Z[2, c]
        dvx, dvy, dvz = P[3] * Z[3, c], P[4] * Z[4, c], P[5] * Z[5, c]
        dwx, dwy, dwz, dqx, dqy, dqz = Z[6, c], Z[7, c], Z[8, c], Z[9, c], Z[10, c], Z[11, c]
        out[6, c] = c0 * dux - duy * wz + duz * wy - uy * dwz + uz * dwy
        out[7, c] = c0 * duy - duz * wx + dux * wz - uz * dwx + ux * dwz
        out[8, c] = c0 * duz - dux * wy + duy * wx - ux * dwy + uy * dwx
        out[9, c] = (
            c0 * dvx - duy * qz + duz * qy - uy * dqz + uz * dqy
            + dwy * vz - dwz * vy + wy * dvz - wz * dvy
        )  # fmt: skip
        out[10, c] = (
            c0 * dvy - duz * qx + dux * qz - uz * dqx + ux * dqz
            + dwz * vx - dwx * vz + wz * dvx - wx * dvz
        )  # fmt: skip
        out[11, c] = (
            c0 * dvz - dux * qy + duy * qx - ux * dqy + uy * dqx
            + dwx * vy - dwy * vx + wx * dvy - wy * dvx
        )  # fmt: skip


@leaf
def _linear_pose(y, P, Z, out):  # type: ignore[no-untyped-def]
    """Rows of d and theta of `linear_rates`."""
    ux, uy, uz = P[6] + P[0] * y[0], P[7] + P[1] * y[1], P[8] + P[2] * y[2]
    vx, vy, vz = P[9] + P[3] * y[3], P[10] + P[4] * y[4], P[11] + P[5] * y[5]
    for c in range(Z.shape[1]):
        dux, duy, duz = P[0] * Z[0, c], P[1] * Z[1, c], P[2] * Z[2, c]
        dvx, dvy, dvz = P[3] * Z[3, c], P[4] * Z[4, c], P[5] * Z[5, c]
        dx, dy, dz, tx, ty, tz = Z[12, c], Z[13, c], Z[14, c], Z[15, c], Z[16, c], Z[17, c]
        out[12, c] = dvx + ty * vz - tz * vy - uy * dz + uz * dy
        out[13, c] = dvy + tz * vx - tx * vz - uz * dx + ux * dz
        out[14, c] = dvz + tx * vy - ty * vx - ux * dy + uy * dx
        out[15, c] = dux - uy * tz + uz * ty
        out[16, c] = duy - uz * tx + ux * tz
        out[17, c] = duz - ux * ty + uy * tx


@leaf
def linear_rates(kind, y, R, P, c0, Z, out):  # type: ignore[no-untyped-def]
    """Write the derivative in s of variations Z (18, c) about the state y into `out` (18, c)."""
    _linear_wrench(kind, y, R, P, c0, Z, out)
    _linear_velocity(y, P, c0, Z, out)
    _linear_pose(y, P, Z, out)
