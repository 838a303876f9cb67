"""The rod equations in arclength at one instant: their right-hand sides, pointwise.

Time derivatives are replaced by y_t = c0 y + H with H from earlier instants (c0 = H = 0 at rest), so
that the internal wrench (m, n), the velocity (w, q) and the pose obey ordinary equations in s, all in
the body frame (`docs/theory/strong-form.md`):

    (u, v) = (u, v)_0 + S (m, n)                     law with damping, S the compliance
    m' = J w_t + w x J w - l - u x m - v x n         n' = A (q_t + w x q) - f - u x n
    w' = u_t - u x w                                 q' = v_t - u x q + w x v
    p' = R v                                         R' = R u^

A state y (24,) is (m, n, w, q, p, orientation); a variation of it (18,) is (dm, dn, dw, dq, theta, d)
where dR = R theta^ and dp = R d. A station is a place where the right-hand side is evaluated; its row
P has the columns below.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.pointwise_effects import BY_POSE, BY_TWIST, COMPLIANCE as OWN_COMPLIANCE
from pliant.lie.so3 import exp_matrix
from pliant.lie.tuples import add, apply, cross, multiply, read_vector, transpose, write_block

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
def skew(f, a):  # type: ignore[no-untyped-def]
    """Matrix (9 numbers) of the cross product f a x."""
    return 0.0, -f * a[2], f * a[1], f * a[2], 0.0, -f * a[0], -f * a[1], f * a[0], 0.0


@leaf
def plus(A, f, B):  # type: ignore[no-untyped-def]
    """A + f B for matrices of 9 numbers."""
    return (
        A[0] + f * B[0], A[1] + f * B[1], A[2] + f * B[2],
        A[3] + f * B[3], A[4] + f * B[4], A[5] + f * B[5],
        A[6] + f * B[6], A[7] + f * B[7], A[8] + f * B[8],
    )  # fmt: skip


@leaf
def diagonal(a, b, c):  # type: ignore[no-untyped-def]
    """Diagonal matrix (9 numbers)."""
    return a, 0.0, 0.0, 0.0, b, 0.0, 0.0, 0.0, c


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


@leaf
def _write_scaled(A, i, j, M, S):  # type: ignore[no-untyped-def]
    """Write M (9 numbers) to A[i : i + 3, j : j + 3], its columns times S[j : j + 3]."""
    a, b, c = S[j], S[j + 1], S[j + 2]
    columns = (
        a * M[0], b * M[1], c * M[2], a * M[3], b * M[4], c * M[5], a * M[6], b * M[7], c * M[8],
    )  # fmt: skip
    write_block(A, i, j, columns)


@leaf
def _write_strain_response(y, c0, S, A):  # type: ignore[no-untyped-def]
    """Write the derivative (18, 6) of the rates of a variation in the strains (u, v), times S (6,)."""
    m, n, w, q = read_vector(y, 0), read_vector(y, 3), read_vector(y, 6), read_vector(y, 9)
    one, turning = diagonal(1.0, 1.0, 1.0), plus(diagonal(c0, c0, c0), 1.0, skew(1.0, w))
    _write_scaled(A, 0, 0, skew(1.0, m), S)
    _write_scaled(A, 0, 3, skew(1.0, n), S)
    _write_scaled(A, 3, 0, skew(1.0, n), S)
    _write_scaled(A, 6, 0, turning, S)
    _write_scaled(A, 9, 0, skew(1.0, q), S)
    _write_scaled(A, 9, 3, turning, S)
    _write_scaled(A, 12, 0, one, S)
    _write_scaled(A, 15, 3, one, S)


@leaf
def _subtract_skew(A, i, j, a):  # type: ignore[no-untyped-def]
    """Subtract the matrix of a x from A[i : i + 3, j : j + 3]."""
    A[i, j + 1] += a[2]
    A[i, j + 2] -= a[1]
    A[i + 1, j] -= a[2]
    A[i + 1, j + 2] += a[0]
    A[i + 2, j] += a[1]
    A[i + 2, j + 1] -= a[0]


@kernel
def linearise(y, R, P, c0, own, A):  # type: ignore[no-untyped-def]
    """Write the matrix A (18, 18) of the rod equations about a state y: variations obey Z' = A Z.

    R : its rotation (9 numbers).  own : (126,) what effects in plain Python return there, see
    `pointwise_effects`, or (0,).
    """
    w, q, (u, v) = read_vector(y, 6), read_vector(y, 9), strains(y, P)
    J, mass, c = read_vector(P, ROTARY), P[MASS], c0 + P[MASS_DAMPING]
    inertia, spin = diagonal(J[0], J[1], J[2]), (J[0] * w[0], J[1] * w[1], J[2] * w[2])
    moment, force = world_load(P, R)
    for i in range(18):
        for j in range(18):
            A[i, j] = 0.0
    if len(own) == 0:
        _write_strain_response(y, c0, P, A)
    else:
        _write_strain_response(y, c0, np.ones(6), A)
        response = A[:, :6].copy()
        for j in range(6):
            for i in range(18):
                A[i, j] = 0.0
                for k in range(6):
                    A[i, j] += response[i, k] * own[OWN_COMPLIANCE + 6 * k + j]
            for i in range(6):
                A[i, 6 + j] = -own[BY_TWIST + 6 * i + j]
                A[i, 12 + j] = -own[BY_POSE + 6 * i + j]
    for i in range(0, 18, 3):
        _subtract_skew(A, i, i, u)
    for i, j in ((0, 3), (9, 6), (15, 12)):
        _subtract_skew(A, i, j, v)
    # world loads seen from the body turn by (R^T f) x theta
    _subtract_skew(A, 0, 12, moment)
    _subtract_skew(A, 3, 12, force)
    _subtract_skew(A, 3, 6, add(mass, q, 0.0, q))
    _subtract_skew(A, 3, 9, add(-mass, w, 0.0, w))
    turning = plus(plus(multiply(skew(1.0, w), inertia), c, inertia), -1.0, skew(1.0, spin))
    for i in range(3):
        A[3 + i, 9 + i] += mass * c + 2.0 * P[DRAG + i] * abs(q[i])
        for j in range(3):
            A[i, 6 + j] += turning[3 * i + j]
