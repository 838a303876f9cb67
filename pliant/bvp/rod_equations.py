"""The rod equations in arclength at one instant: their right-hand sides, pointwise.

Time derivatives are replaced by y_t = c0 y + H with H from earlier instants (c0 = H = 0 at rest), so
that the internal wrench (m, n), the velocity (w, q) and the pose obey ordinary equations in s, all in
the body frame (`docs/theory/strong-form.md`):

    (u, v) = (u, v)_0 + S (m, n)                     law with damping, S the compliance
    m' = J w_t + w x J w - l - u x m - v x n         n' = A (q_t + w x q) - f - u x n
    w' = u_t - u x w                                 q' = v_t - u x q + w x v
    p' = R v                                         R' = R u^

A state y (24,) is (m, n, w, q, p, orientation); a variation of it (18,) is (dm, dn, dw, dq, d, theta)
where dp = R d and dR = R theta^. A station is a place where the right-hand side is evaluated; its row
P has the columns below.
"""

from __future__ import annotations

from pliant._numba import kernel, leaf
from pliant.lie.so3 import exp_matrix
from pliant.lie.tuples import apply, cross, multiply, transpose

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

QUATERNION, MATRIX, MAGNUS = 0, 1, 2
ROTATIONS = {"quaternion": QUATERNION, "matrix": MATRIX, "magnus": MAGNUS}
"""How orientations are integrated: a quaternion of any length, a matrix, or a rotation vector from
the last grid point, which becomes a rotation at the end of each step (Munthe-Kaas)."""


@kernel
def write_law(c0, C, D, natural, rigid, active, table):  # type: ignore[no-untyped-def]
    """Write the law of an instant, whose strain history stands in the table.

    From (m, n) = C (xi - xi*) + D (c0 xi + H) + active: xi = S ((m, n) - active + C xi* - D H) with
    S = 1 / (C + c0 D). The force of a rod that neither shears nor stretches has no law: there S = 0
    and v = v*.
    """
    for i in range(len(table)):
        P = table[i]
        for r in range(6):
            if rigid[i] and r >= 3:
                P[r], P[6 + r] = 0.0, natural[i, r]
            else:
                S = 1.0 / (C[i, r] + c0 * D[i, r])
                P[r] = S
                P[6 + r] = S * (C[i, r] * natural[i, r] - D[i, r] * P[12 + r] - active[i, r])


@leaf
def rotation(y):  # type: ignore[no-untyped-def]
    """The last nine numbers of a state (24,): its rotation by rows, or what is integrated for it."""
    return y[15], y[16], y[17], y[18], y[19], y[20], y[21], y[22], y[23]


@leaf
def wrench_and_velocity(y):  # type: ignore[no-untyped-def]
    """The first twelve numbers of a state."""
    return y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11]


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
def quaternion_rate(q, u):  # type: ignore[no-untyped-def]
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
    """Rotation (9 numbers, by rows) of nine numbers o, of which a quaternion uses four and a rotation
    vector three; R (9 numbers) is the rotation at the last grid point.
    """
    if kind == QUATERNION:
        return quaternion_rotation((o[0], o[1], o[2], o[3]))
    if kind == MATRIX:
        return o
    return multiply(R, exp_matrix(o[0], o[1], o[2]))


@leaf
def orientation_rate(kind, o, u):  # type: ignore[no-untyped-def]
    """Derivative of the nine numbers o for curvature u."""
    if kind == QUATERNION:
        e = quaternion_rate((o[0], o[1], o[2], o[3]), u)
        return e[0], e[1], e[2], e[3], 0.0, 0.0, 0.0, 0.0, 0.0
    a = cross((o[0], o[1], o[2]), u)
    if kind == MATRIX:
        b, c = cross((o[3], o[4], o[5]), u), cross((o[6], o[7], o[8]), u)
        return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]
    # u + 1/2 k x u + 1/12 k x (k x u): enough terms for fourth order
    b = cross((o[0], o[1], o[2]), a)
    return (
        u[0] + 0.5 * a[0] + b[0] / 12.0,
        u[1] + 0.5 * a[1] + b[1] / 12.0,
        u[2] + 0.5 * a[2] + b[2] / 12.0,
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
def world_load(P, R):  # type: ignore[no-untyped-def]
    """Moment and force per length of the loads with world directions, body frame."""
    back = transpose(R)
    moment = apply(back, (P[MOMENT_WORLD], P[MOMENT_WORLD + 1], P[MOMENT_WORLD + 2]))
    return moment, apply(back, (P[FORCE_WORLD], P[FORCE_WORLD + 1], P[FORCE_WORLD + 2]))


@leaf
def body_load(P, c0, w, q):  # type: ignore[no-untyped-def]
    """Moment and force per length of follower loads, drag and mass damping, less the momentum rates
    J w_t + w x J w and A (q_t + w x q); body frame.
    """
    Jx, Jy, Jz, A, c = P[ROTARY], P[ROTARY + 1], P[ROTARY + 2], P[MASS], c0 + P[MASS_DAMPING]
    spin = cross(w, (Jx * w[0], Jy * w[1], Jz * w[2]))
    x = cross(w, q)
    moment = (
        P[MOMENT_BODY] - Jx * (c * w[0] + P[VELOCITY_HISTORY]) - spin[0],
        P[MOMENT_BODY + 1] - Jy * (c * w[1] + P[VELOCITY_HISTORY + 1]) - spin[1],
        P[MOMENT_BODY + 2] - Jz * (c * w[2] + P[VELOCITY_HISTORY + 2]) - spin[2],
    )
    return moment, (
        P[FORCE_BODY] - A * (c * q[0] + P[VELOCITY_HISTORY + 3] + x[0]) - P[DRAG] * abs(q[0]) * q[0],
        P[FORCE_BODY + 1] - A * (c * q[1] + P[VELOCITY_HISTORY + 4] + x[1])
        - P[DRAG + 1] * abs(q[1]) * q[1],
        P[FORCE_BODY + 2] - A * (c * q[2] + P[VELOCITY_HISTORY + 5] + x[2])
        - P[DRAG + 2] * abs(q[2]) * q[2],
    )  # fmt: skip


@leaf
def balance(y, r, u, v, P, c0):  # type: ignore[no-untyped-def]
    """Derivative in s (12 numbers) of wrench and velocity y (12) at orientation r and strains u, v."""
    m, n, w, q = (y[0], y[1], y[2]), (y[3], y[4], y[5]), (y[6], y[7], y[8]), (y[9], y[10], y[11])
    (kx, ky, kz), (fx, fy, fz) = world_load(P, r)
    (lx, ly, lz), (bx, by, bz) = body_load(P, c0, w, q)
    um, vn, un = cross(u, m), cross(v, n), cross(u, n)
    uw, uq, wv = cross(u, w), cross(u, q), cross(w, v)
    return (
        -kx - lx - um[0] - vn[0],
        -ky - ly - um[1] - vn[1],
        -kz - lz - um[2] - vn[2],
        -fx - bx - un[0],
        -fy - by - un[1],
        -fz - bz - un[2],
        c0 * u[0] + P[12] - uw[0],
        c0 * u[1] + P[13] - uw[1],
        c0 * u[2] + P[14] - uw[2],
        c0 * v[0] + P[15] - uq[0] + wv[0],
        c0 * v[1] + P[16] - uq[1] + wv[1],
        c0 * v[2] + P[17] - uq[2] + wv[2],
    )


@leaf
def rates(kind, y, o, R, P, c0):  # type: ignore[no-untyped-def]
    """Derivatives in s of wrench and velocity y (12 numbers), position, and orientation o (9 numbers).

    P is the row of the station, R (9 numbers) the rotation at the last grid point.
    """
    u, v = strains(y, P)
    r = orientation(kind, o, R)
    return balance(y, r, u, v, P, c0), apply(r, v), orientation_rate(kind, o, u)
