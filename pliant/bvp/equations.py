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
from pliant.lie.tuples import apply, multiply

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
def carried(y):  # type: ignore[no-untyped-def]
    """The nine numbers of a state (24,) that may carry its orientation."""
    return y[15], y[16], y[17], y[18], y[19], y[20], y[21], y[22], y[23]


@leaf
def nine(R):  # type: ignore[no-untyped-def]
    """The entries of R (9,)."""
    return R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]


@leaf
def quaternion_rotation(q):  # type: ignore[no-untyped-def]
    """Rotation (9 numbers, by rows) of a quaternion of any length."""
    a, b, c, d = q
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


@leaf
def quaternion_turning(q, u):  # type: ignore[no-untyped-def]
    """Derivative of a quaternion for curvature u."""
    ux, uy, uz = u
    a, b, c, d = q
    return (
        0.5 * (-ux * b - uy * c - uz * d),
        0.5 * (ux * a + uz * c - uy * d),
        0.5 * (uy * a - uz * b + ux * d),
        0.5 * (uz * a + uy * b - ux * c),
    )


@leaf
def orientation(kind, o, R):  # type: ignore[no-untyped-def]
    """Rotation (9 numbers, by rows) carried by nine numbers o, of which a quaternion uses four and a
    rotation vector three; R (9 numbers) is the rotation at the last grid point.
    """
    if kind == QUATERNION:
        return quaternion_rotation((o[0], o[1], o[2], o[3]))
    if kind == MATRIX:
        return o
    return multiply(R, exp_matrix(o[0], o[1], o[2]))


@leaf
def turning(kind, o, u):  # type: ignore[no-untyped-def]
    """Derivative of the nine numbers o for curvature u."""
    ux, uy, uz = u
    a, b, c, d = o[0], o[1], o[2], o[3]
    if kind == QUATERNION:
        e = quaternion_turning((a, b, c, d), u)
        return e[0], e[1], e[2], e[3], 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == MATRIX:
        return (
            b * uz - c * uy,
            c * ux - a * uz,
            a * uy - b * ux,
            o[4] * uz - o[5] * uy,
            o[5] * ux - d * uz,
            d * uy - o[4] * ux,
            o[7] * uz - o[8] * uy,
            o[8] * ux - o[6] * uz,
            o[6] * uy - o[7] * ux,
        )
    # u + 1/2 k x u + 1/12 k x (k x u): enough terms for fourth order
    ax, ay, az = b * uz - c * uy, c * ux - a * uz, a * uy - b * ux
    return (
        ux + 0.5 * ax + (b * az - c * ay) / 12.0,
        uy + 0.5 * ay + (c * ax - a * az) / 12.0,
        uz + 0.5 * az + (a * ay - b * ax) / 12.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    )


@leaf
def strains(y, P):  # type: ignore[no-untyped-def]
    """Curvature u and strain v of a state whose first six numbers are the wrench."""
    u = (P[6] + P[0] * y[0], P[7] + P[1] * y[1], P[8] + P[2] * y[2])
    return u, (P[9] + P[3] * y[3], P[10] + P[4] * y[4], P[11] + P[5] * y[5])


@leaf
def balance(y, r, u, v, P, c0):  # type: ignore[no-untyped-def]
    """Derivative in s (12 numbers) of wrench and velocity y (12) at orientation r and strains u, v."""
    mx, my, mz, nx, ny, nz, wx, wy, wz, qx, qy, qz = y
    ux, uy, uz = u
    vx, vy, vz = v
    Jx, Jy, Jz, A = P[24], P[25], P[26], P[27]
    lx, ly, lz = Jx * wx, Jy * wy, Jz * wz
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
    return (
        Jx * (c0 * wx + P[18]) + wy * lz - wz * ly - kx - uy * mz + uz * my - vy * nz + vz * ny,
        Jy * (c0 * wy + P[19]) + wz * lx - wx * lz - ky - uz * mx + ux * mz - vz * nx + vx * nz,
        Jz * (c0 * wz + P[20]) + wx * ly - wy * lx - kz - ux * my + uy * mx - vx * ny + vy * nx,
        A * (c0 * qx + P[21] + wy * qz - wz * qy) - fx - uy * nz + uz * ny,
        A * (c0 * qy + P[22] + wz * qx - wx * qz) - fy - uz * nx + ux * nz,
        A * (c0 * qz + P[23] + wx * qy - wy * qx) - fz - ux * ny + uy * nx,
        c0 * ux + P[12] - uy * wz + uz * wy,
        c0 * uy + P[13] - uz * wx + ux * wz,
        c0 * uz + P[14] - ux * wy + uy * wx,
        c0 * vx + P[15] - uy * qz + uz * qy + wy * vz - wz * vy,
        c0 * vy + P[16] - uz * qx + ux * qz + wz * vx - wx * vz,
        c0 * vz + P[17] - ux * qy + uy * qx + wx * vy - wy * vx,
    )


@leaf
def rates(kind, y, o, R, P, c0):  # type: ignore[no-untyped-def]
    """Derivatives in s of wrench and velocity y (12 numbers), position, and orientation o (9 numbers).

    P (44,) is the stage data, R (9 numbers) the rotation at the last grid point.
    """
    u, v = strains(y, P)
    r = orientation(kind, o, R)
    return balance(y, r, u, v, P, c0), apply(r, v), turning(kind, o, u)
