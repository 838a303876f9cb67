"""The rod equations as integrals on Chebyshev grids: from internal loads to shape, motion and back.

`forward` goes from base to tip. The internal moment m, a polynomial in the body frame, gives the
curvature u by the law; the unit quaternion obeys h' = h (0, u) / 2, a linear equation; the internal
force N, a polynomial in the world frame, gives v; everything else are integrals in the world frame:

    p' = R v        W' = R u_t        V' = R v_t + W x R v

with W = R w and V = R q. `backward` goes from tip to base and integrates what these motions need:

    N = N_tip + int_s (f - momentum rate),      M = M_tip + int_s (R v x N + l - spin rate)

with jumps at loads, bodies and joints. The equations are solved when m = R^T M and the unknown N is
the integrated one, at the nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.chain import JOINT
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import rotation
from pliant.lie.quaternion_leaves import quaternion_from_matrix
from pliant.lie.tuples import Array, cross
from pliant.lie.tuples import apply as turned


class Shape(NamedTuple):
    """What is known at the G grid points, one row for each component; world frame unless said.

    h : (4, G) quaternions.  R : (9, G) rotations by rows.  p, W, V : (3, G) position, angular and
    linear velocity.  strain : (6, G) body.  guess : (3, G) force as the
    unknowns say.  slope, u_rate, v_rate : (3, G) R v, R u_t, R v_t.  N, M : (3, G) integrated force
    and moment.  sections : (J, 24) states, without a wrench, before each jump; tip : (24,) that beyond
    the tip.  reaction : (6,) moment and force that the base gives.
    """

    h: Array
    R: Array
    p: Array
    W: Array
    V: Array
    strain: Array
    guess: Array
    slope: Array
    u_rate: Array
    v_rate: Array
    N: Array
    M: Array
    sections: Array
    tip: Array
    reaction: Array


def new_shape(G: int, jumps: int) -> Shape:
    """Workspace of a shape; the quaternions start as no rotation."""
    h = np.zeros((4, G))
    h[0] = 1.0
    rows = (9, 3, 3, 3, 6, 3, 3, 3, 3, 3, 3)
    fields = [np.zeros((count, G)) for count in rows]
    return Shape._make([h, *fields, np.zeros((jumps, 24)), np.zeros(24), np.zeros(6)])


def in_body(shape: Shape, angular: Array, linear: Array) -> Array:
    """World fields (3, G) as one field (G, 6) in the body frame."""
    R = shape.R.reshape(3, 3, -1)
    return np.concatenate([np.einsum("jig,jg->gi", R, f) for f in (angular, linear)], axis=1)


@leaf
def back(R, b):  # type: ignore[no-untyped-def]
    """R^T b."""
    return (
        R[0] * b[0] + R[3] * b[1] + R[6] * b[2],
        R[1] * b[0] + R[4] * b[1] + R[7] * b[2],
        R[2] * b[0] + R[5] * b[1] + R[8] * b[2],
    )


@leaf
def at(f, g):  # type: ignore[no-untyped-def]
    """Column g of a field (3, G)."""
    return f[0, g], f[1, g], f[2, g]


@leaf
def rotation_at(R, g):  # type: ignore[no-untyped-def]
    """Column g of a field (9, G)."""
    return R[0, g], R[1, g], R[2, g], R[3, g], R[4, g], R[5, g], R[6, g], R[7, g], R[8, g]


@leaf
def put(f, g, v):  # type: ignore[no-untyped-def]
    """Write column g of a field (3, G)."""
    f[0, g], f[1, g], f[2, g] = v[0], v[1], v[2]


@kernel
def integrate(Q, f, a, start, out):  # type: ignore[no-untyped-def]
    """out = start + Q f for rows of f from grid point a on."""
    K = Q.shape[0]
    for c in range(f.shape[0]):
        for i in range(K):
            total = 0.0
            for k in range(K):
                total += Q[i, k] * f[c, a + k]
            out[c, a + i] = start[c] + total


@kernel
def integrate_back(Q, f, a, end, out):  # type: ignore[no-untyped-def]
    """out = end + integral of f from each point to the end of the piece."""
    K = Q.shape[0]
    integrate(Q, f, a, np.zeros(f.shape[0]), out)
    for c in range(f.shape[0]):
        whole = out[c, a + K - 1] + end[c]
        for i in range(K):
            out[c, a + i] = whole - out[c, a + i]


@leaf
def _half_product(p, q, i, u, k, out, j):  # type: ignore[no-untyped-def]
    """out[:, j] = 1/2 p (0, u) for a quaternion p = q[:, i] and u[:, k]."""
    s, x, y, z = q[0, i], q[1, i], q[2, i], q[3, i]
    a, b, c = p * u[0, k], p * u[1, k], p * u[2, k]
    out[0, j] = -x * a - y * b - z * c
    out[1, j] = s * a + y * c - z * b
    out[2, j] = s * b + z * a - x * c
    out[3, j] = s * c + x * b - y * a


@kernel
def solve_rotation(Q, u, a, start, h):  # type: ignore[no-untyped-def]
    """Solve h = start + Q (h (0, u) / 2) for the quaternions h (4, G) of one piece, from a guess.

    Defect correction: for the defect r, the linear equation for the correction y' = (r + y) u / 2
    is solved with h as fundamental solution, y = int (r u / 2) h* h. Where that does not converge
    the equations are solved as they are.
    """
    K = Q.shape[0]
    z, r, d = np.empty((4, K)), np.empty((4, K)), np.empty((4, K))
    zero = np.zeros(4)
    last = np.inf
    for _ in range(30):
        for k in range(K):
            _half_product(0.5, h, a + k, u, a + k, z, k)
        integrate(Q, z, 0, start, r)
        size = 0.0
        for k in range(K):
            for c in range(4):
                r[c, k] -= h[c, a + k]
                size += abs(r[c, k])  # a sum, unlike a maximum, keeps NaN
        size /= K
        if size < 1e-14 or (size < 1e-12 and size > 0.5 * last):
            return
        if not size < 1e3:
            break
        last = size
        for k in range(K):
            _half_product(0.5, r, k, u, a + k, d, k)
            # times the conjugate of h
            s, x, y, t = d[0, k], d[1, k], d[2, k], d[3, k]
            b, e, f, g = h[0, a + k], -h[1, a + k], -h[2, a + k], -h[3, a + k]
            z[0, k] = s * b - x * e - y * f - t * g
            z[1, k] = s * e + x * b + y * g - t * f
            z[2, k] = s * f + y * b + t * e - x * g
            z[3, k] = s * g + t * b + x * f - y * e
        integrate(Q, z, 0, zero, d)
        for k in range(K):
            s, x, y, t = d[0, k], d[1, k], d[2, k], d[3, k]
            b, e, f, g = h[0, a + k], h[1, a + k], h[2, a + k], h[3, a + k]
            h[0, a + k] += r[0, k] + s * b - x * e - y * f - t * g
            h[1, a + k] += r[1, k] + s * e + x * b + y * g - t * f
            h[2, a + k] += r[2, k] + s * f + y * b + t * e - x * g
            h[3, a + k] += r[3, k] + s * g + t * b + x * f - y * e
    _solve_rotation_densely(Q, u, a, start, h)


@kernel
def _solve_rotation_densely(Q, u, a, start, h):  # type: ignore[no-untyped-def]
    K = Q.shape[0]
    matrix = np.zeros((4 * K, 4 * K))
    rest = np.empty(4 * K)
    one, product = np.zeros((4, 1)), np.zeros((4, 1))
    for k in range(K):
        for c in range(4):
            one[:, 0] = 0.0
            one[c, 0] = 1.0
            _half_product(0.5, one, 0, u, a + k, product, 0)
            for i in range(K):
                for b in range(4):
                    matrix[4 * i + b, 4 * k + c] = -Q[i, k] * product[b, 0]
            matrix[4 * k + c, 4 * k + c] += 1.0
            rest[4 * k + c] = start[c]
    found = np.linalg.solve(matrix, rest)
    for k in range(K):
        for c in range(4):
            h[c, a + k] = found[4 * k + c]


@kernel
def _write_rotations(h, a, b, R):  # type: ignore[no-untyped-def]
    """Rotations of quaternions of any length."""
    for g in range(a, b):
        s, x, y, z = h[0, g], h[1, g], h[2, g], h[3, g]
        f = 2.0 / (s * s + x * x + y * y + z * z)
        R[0, g] = 1.0 - f * (y * y + z * z)
        R[1, g] = f * (x * y - z * s)
        R[2, g] = f * (x * z + y * s)
        R[3, g] = f * (x * y + z * s)
        R[4, g] = 1.0 - f * (x * x + z * z)
        R[5, g] = f * (y * z - x * s)
        R[6, g] = f * (x * z - y * s)
        R[7, g] = f * (y * z + x * s)
        R[8, g] = 1.0 - f * (x * x + y * y)


@kernel
def spread(matrix, x, first, a, out):  # type: ignore[no-untyped-def]
    """out[:, a:] = values at the grid of the polynomial with node values x[first + 3 j + c]."""
    for k in range(matrix.shape[0]):
        for c in range(3):
            total = 0.0
            for j in range(matrix.shape[1]):
                total += matrix[k, j] * x[first + 3 * j + c]
            out[c, a + k] = total


@kernel
def _pass_jumps(jumps, first, last, c0, y, sections):  # type: ignore[no-untyped-def]
    """Note the state y (24,) at each jump and go over joints to the next rod's base."""
    for e in range(first, last):
        sections[e] = y
        if jumps.kind[e] == JOINT:
            apply_jumps(jumps, e, e + 1, c0, y, np.empty((18, 0)))


@kernel
def _put_section(shape, g, y):  # type: ignore[no-untyped-def]
    """Write pose and body velocity of grid point g into a state y (24,)."""
    R = rotation_at(shape.R, g)
    w, q = back(R, at(shape.W, g)), back(R, at(shape.V, g))
    for i in range(3):
        y[6 + i], y[9 + i], y[12 + i] = w[i], q[i], shape.p[i, g]
    for i in range(9):
        y[15 + i] = R[i]


@kernel
def _strains(layout, table, c0, k, x, shape):  # type: ignore[no-untyped-def]
    """Shear and stretch, slopes R v and rates R u_t, R v_t of piece k from its rotations."""
    a, b = layout.first[k], layout.first[k + 1]
    if layout.force[k] > 0:
        K, n, o = b - a, layout.force[k], layout.at[4, k]
        matrix = layout.from_force[o : o + K * n].reshape(K, n)
        spread(matrix, x, layout.force_at[k], a, shape.guess)
    else:
        shape.guess[:, a:b] = 0.0
    for g in range(a, b):
        R, P, xi = rotation_at(shape.R, g), table[g], shape.strain
        n = back(R, at(shape.guess, g))
        for c in range(3):
            xi[3 + c, g] = P[9 + c] + P[3 + c] * n[c]
        u_t = (c0 * xi[0, g] + P[12], c0 * xi[1, g] + P[13], c0 * xi[2, g] + P[14])
        v_t = (c0 * xi[3, g] + P[15], c0 * xi[4, g] + P[16], c0 * xi[5, g] + P[17])
        put(shape.slope, g, turned(R, (xi[3, g], xi[4, g], xi[5, g])))
        put(shape.u_rate, g, turned(R, u_t))
        put(shape.v_rate, g, turned(R, v_t))


@kernel
def forward(layout, table, jumps, c0, moving, base, x, shape):  # type: ignore[no-untyped-def]
    """Fill `shape` from base to tip for unknowns x; `base` (24,) is the state at the base.

    The quaternions in `shape` are the guess from which the new ones are found.
    """
    y, P = base.copy(), len(layout.moment)
    u = np.empty((3, shape.h.shape[1]))
    work = np.empty((3, shape.h.shape[1]))
    start = np.empty(4)
    for k in range(P):
        _pass_jumps(jumps, jumps.first[k], jumps.first[k + 1], c0, y, shape.sections)
        a, b = layout.first[k], layout.first[k + 1]
        K, n = b - a, layout.moment[k]
        Q = layout.Q[layout.at[0, k] : layout.at[0, k] + K * K].reshape(K, K)
        o = layout.at[2, k]
        spread(layout.from_moment[o : o + K * n].reshape(K, n), x, layout.moment_at[k], a, u)
        for g in range(a, b):
            for c in range(3):
                shape.strain[c, g] = u[c, g] = table[g, 6 + c] + table[g, c] * u[c, g]
        R = rotation(y)
        q, side = quaternion_from_matrix(R), 0.0
        for c in range(4):
            side += q[c] * shape.h[c, a]
        for c in range(4):
            start[c] = q[c] if side >= 0.0 else -q[c]
        solve_rotation(Q, u, a, start, shape.h)
        _write_rotations(shape.h, a, b, shape.R)
        _strains(layout, table, c0, k, x, shape)
        integrate(Q, shape.slope, a, y[12:15], shape.p)
        if moving:
            W, V = turned(R, (y[6], y[7], y[8])), turned(R, (y[9], y[10], y[11]))
            integrate(Q, shape.u_rate, a, W, shape.W)
            for g in range(a, b):
                d, z = at(shape.v_rate, g), cross(at(shape.W, g), at(shape.slope, g))
                put(work, g, (d[0] + z[0], d[1] + z[1], d[2] + z[2]))
            integrate(Q, work, a, V, shape.V)
        _put_section(shape, b - 1, y)
    _pass_jumps(jumps, jumps.first[P], jumps.first[P + 1], c0, y, shape.sections)
    shape.tip[:] = y
