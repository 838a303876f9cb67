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

from pliant._numba import inner, kernel, leaf
from pliant.bvp.chain import JOINT
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import (
    FORCE_WORLD,
    MOMENT_WORLD,
    body_load,
    quaternion_rate,
    quaternion_rotation,
    rotation,
)
from pliant.lie.quaternion_leaves import quaternion_from_matrix, quaternion_multiply
from pliant.lie.tuples import (
    Array,
    add,
    apply as turned,
    cross,
    read_vector,
    transpose,
    write_vector,
)


class Shape(NamedTuple):
    """What is known at the G grid points, one row for each component; world frame unless said.

    h : (4, G) quaternions.  R : (9, G) rotations by rows.  p, W, V : (3, G) position, angular and
    linear velocity.  strain : (6, G) body.  guess : (3, G) force as the unknowns say.  slope, u_rate,
    v_rate : (3, G) R v, R u_t, R v_t.  force, moment : (3, G) of `body_load`, per length.
    N, M : (3, G) integrated force and moment.  sections : (J, 24) states, without a wrench, before each
    jump; tip : (24,) that beyond the tip.  reaction : (6,) moment and force that the base gives.
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
    force: Array
    moment: Array
    N: Array
    M: Array
    sections: Array
    tip: Array
    reaction: Array

    def states(self) -> Array:
        """States (G, 24) at the grid points, without their wrenches."""
        velocity = in_body(self, self.W, self.V)
        return np.concatenate([np.zeros_like(velocity), velocity, self.p.T, self.R.T], axis=1)


def new_shape(G: int, jumps: int) -> Shape:
    """Workspace of a shape; the quaternions start as no rotation."""
    rows = (4, 9, 3, 3, 3, 6, 3, 3, 3, 3, 3, 3, 3, 3)
    fields = [np.zeros((count, G)) for count in rows]
    fields[0][0] = 1.0
    return Shape._make([*fields, np.zeros((jumps, 24)), np.zeros(24), np.zeros(6)])


def in_body(shape: Shape, angular: Array, linear: Array) -> Array:
    """World fields (3, G) as one field (G, 6) in the body frame."""
    R = shape.R.reshape(3, 3, -1)
    return np.concatenate([np.einsum("jig,jg->gi", R, f) for f in (angular, linear)], axis=1)


@leaf
def at(f, g):  # type: ignore[no-untyped-def]
    """Column g of a field (3, G)."""
    return f[0, g], f[1, g], f[2, g]


@leaf
def _quaternion_at(h, g):  # type: ignore[no-untyped-def]
    """Column g of a field (4, G)."""
    return h[0, g], h[1, g], h[2, g], h[3, g]


@leaf
def _rotation_at(R, g):  # type: ignore[no-untyped-def]
    """Column g of a field (9, G)."""
    return R[0, g], R[1, g], R[2, g], R[3, g], R[4, g], R[5, g], R[6, g], R[7, g], R[8, g]


@leaf
def _put(f, g, v):  # type: ignore[no-untyped-def]
    """Write column g of a field."""
    for c in range(len(v)):
        f[c, g] = v[c]


@leaf
def _piece(layout, k):  # type: ignore[no-untyped-def]
    """First grid point of piece k, the end of it, and its integration matrix."""
    a, b, at = layout.first[k], layout.first[k + 1], layout.at[0, k]
    return a, b, layout.Q[at : at + (b - a) ** 2].reshape(b - a, b - a)


@kernel
def integrate(Q, f, a, start, out):  # type: ignore[no-untyped-def]
    """out = start + Q f for rows of f from grid point a on."""
    b = a + len(Q)
    out[:, a:b] = np.dot(f[:, a:b].copy(), Q.T) + start.reshape(-1, 1)


@inner
def integrate_back(Q, f, a, end, out):  # type: ignore[no-untyped-def]
    """out = end + integral of f from each point to the end of the piece."""
    b = a + len(Q)
    integrate(Q, f, a, np.zeros(len(f)), out)
    out[:, a:b] = out[:, b - 1 : b].copy() + end.reshape(-1, 1) - out[:, a:b]


@inner
def solve_rotation(Q, u, a, start, h):  # type: ignore[no-untyped-def]
    """Solve h = start + Q (h (0, u) / 2) for the quaternions h (4, G) of one piece, from a guess.

    Defect correction: for the defect r, the linear equation for the correction y' = (r + y) u / 2
    is solved with h as fundamental solution, y = int (r u / 2) h* h. Where that does not converge
    the equations are solved as they are.
    """
    K, zero, last = Q.shape[0], np.zeros(4), np.inf
    z, r, d = np.empty((4, K)), np.empty((4, K)), np.empty((4, K))
    for _ in range(30):
        for k in range(K):
            _put(z, k, quaternion_rate(_quaternion_at(h, a + k), at(u, a + k)))
        integrate(Q, z, 0, start, r)
        r -= h[:, a : a + K]
        size = np.abs(r).sum() / K  # a sum, unlike a maximum, keeps NaN
        if size < 1e-14 or (size < 1e-12 and size > 0.5 * last):
            return
        if not size < 1e3:
            break
        last = size
        for k in range(K):
            rate, q = quaternion_rate(_quaternion_at(r, k), at(u, a + k)), _quaternion_at(h, a + k)
            _put(z, k, quaternion_multiply(rate, (q[0], -q[1], -q[2], -q[3])))
        integrate(Q, z, 0, zero, d)
        for k in range(K):
            _put(z, k, quaternion_multiply(_quaternion_at(d, k), _quaternion_at(h, a + k)))
        h[:, a : a + K] += r + z
    _solve_rotation_densely(Q, u, a, start, h)


@inner
def _solve_rotation_densely(Q, u, a, start, h):  # type: ignore[no-untyped-def]
    K, units = Q.shape[0], np.eye(4)
    matrix, rest = np.eye(4 * K), np.empty(4 * K)
    for k in range(K):
        rest[4 * k : 4 * k + 4] = start
        for c in range(4):
            product = quaternion_rate(_quaternion_at(units, c), at(u, a + k))
            for i in range(K):
                for b in range(4):
                    matrix[4 * i + b, 4 * k + c] -= Q[i, k] * product[b]
    h[:, a : a + K] = np.linalg.solve(matrix, rest).reshape(K, 4).T


@kernel
def _spread(matrix, x, first, a, out):  # type: ignore[no-untyped-def]
    """out[:, a:] = values at the grid of the polynomial with node values x[first + 3 j + c]."""
    K, n = matrix.shape
    out[:, a : a + K] = np.dot(matrix, x[first : first + 3 * n].reshape(n, 3)).T


@inner
def _pass_jumps(jumps, first, last, c0, y, sections):  # type: ignore[no-untyped-def]
    """Note the state y (24,) at each jump and go over joints to the next rod's base."""
    for e in range(first, last):
        sections[e] = y
        if jumps.kind[e] == JOINT:
            apply_jumps(jumps, e, e + 1, c0, y, np.empty((18, 0)))


@inner
def _strains(layout, table, c0, k, x, shape):  # type: ignore[no-untyped-def]
    """Rotations, shear and stretch, slopes R v and rates R u_t, R v_t of piece k."""
    a, b, n, o = layout.first[k], layout.first[k + 1], layout.force[k], layout.at[4, k]
    shape.guess[:, a:b] = 0.0
    if n > 0:
        matrix = layout.from_force[o : o + (b - a) * n].reshape(b - a, n)
        _spread(matrix, x, layout.force_at[k], a, shape.guess)
    for g in range(a, b):
        R, P, xi = quaternion_rotation(_quaternion_at(shape.h, g)), table[g], shape.strain
        force = turned(transpose(R), at(shape.guess, g))
        for c in range(3):
            xi[3 + c, g] = P[9 + c] + P[3 + c] * force[c]
        u, v = at(xi, g), at(xi[3:], g)
        _put(shape.R, g, R)
        _put(shape.slope, g, turned(R, v))
        _put(shape.u_rate, g, turned(R, add(c0, u, 1.0, read_vector(P, 12))))
        _put(shape.v_rate, g, turned(R, add(c0, v, 1.0, read_vector(P, 15))))


@inner
def _write_section(shape, g, y):  # type: ignore[no-untyped-def]
    """Write pose and body velocity of grid point g into a state y (24,)."""
    R = _rotation_at(shape.R, g)
    write_vector(y, 6, turned(transpose(R), at(shape.W, g)))
    write_vector(y, 9, turned(transpose(R), at(shape.V, g)))
    write_vector(y, 12, at(shape.p, g))
    for i in range(9):
        y[15 + i] = R[i]


@kernel
def forward(layout, table, jumps, c0, base, x, shape):  # type: ignore[no-untyped-def]
    """Fill `shape` from base to tip for unknowns x; `base` (24,) is the state at the base.

    The quaternions in `shape` are the guess from which the new ones are found.
    """
    y, P, G = base.copy(), len(layout.moment), shape.h.shape[1]
    u, work, start = np.empty((3, G)), np.empty((3, G)), np.empty(4)
    for k in range(P):
        _pass_jumps(jumps, jumps.first[k], jumps.first[k + 1], c0, y, shape.sections)
        a, b, Q = _piece(layout, k)
        n, o = layout.moment[k], layout.at[2, k]
        matrix = layout.from_moment[o : o + (b - a) * n].reshape(b - a, n)
        _spread(matrix, x, layout.moment_at[k], a, u)
        for g in range(a, b):
            for c in range(3):
                shape.strain[c, g] = u[c, g] = table[g, 6 + c] + table[g, c] * u[c, g]
        R = rotation(y)
        start[:] = quaternion_from_matrix(R)
        start *= 1.0 if np.dot(start, shape.h[:, a].copy()) >= 0.0 else -1.0
        solve_rotation(Q, u, a, start, shape.h)
        _strains(layout, table, c0, k, x, shape)
        integrate(Q, shape.slope, a, y[12:15], shape.p)
        if c0 != 0.0:
            W, V = np.array(turned(R, read_vector(y, 6))), np.array(turned(R, read_vector(y, 9)))
            integrate(Q, shape.u_rate, a, W, shape.W)
            for g in range(a, b):
                carried = cross(at(shape.W, g), at(shape.slope, g))
                _put(work, g, add(1.0, at(shape.v_rate, g), 1.0, carried))
            integrate(Q, work, a, V, shape.V)
        _write_section(shape, b - 1, y)
    _pass_jumps(jumps, jumps.first[P], jumps.first[P + 1], c0, y, shape.sections)
    shape.tip[:] = y


@kernel
def _jump_back(jumps, first, last, c0, sections, N, M):  # type: ignore[no-untyped-def]
    """Take the world wrench N, M (3,) over jumps last - 1 to first, towards the base."""
    for e in range(last - 1, first - 1, -1):
        y, R = sections[e].copy(), rotation(sections[e])
        if jumps.kind[e] == JOINT:
            arm = turned(R, at(jumps.joints[jumps.row[e]], 3))
            write_vector(M, 0, add(1.0, read_vector(M, 0), 1.0, cross(arm, read_vector(N, 0))))
        else:
            y[:6] = 0.0
            apply_jumps(jumps, e, e + 1, c0, y, np.empty((18, 0)))
            write_vector(M, 0, add(1.0, read_vector(M, 0), -1.0, turned(R, read_vector(y, 0))))
            write_vector(N, 0, add(1.0, read_vector(N, 0), -1.0, turned(R, read_vector(y, 3))))


@kernel
def backward(layout, table, jumps, c0, tip, shape):  # type: ignore[no-untyped-def]
    """Integrate force and moment from the wrench `tip` (6,), world, that holds the tip, to the base.

    Fills N, M and the reaction of `shape`, whose motion is known.
    """
    P, work = len(layout.moment), np.empty(shape.p.shape)
    N, M = tip[3:].copy(), tip[:3].copy()
    _jump_back(jumps, jumps.first[P], jumps.first[P + 1], c0, shape.sections, N, M)
    for k in range(P - 1, -1, -1):
        a, b, Q = _piece(layout, k)
        for g in range(a, b):
            R = _rotation_at(shape.R, g)
            w, q = turned(transpose(R), at(shape.W, g)), turned(transpose(R), at(shape.V, g))
            moment, force = body_load(table[g], c0, w, q)
            _put(shape.moment, g, turned(R, moment))
            _put(shape.force, g, turned(R, force))
            _put(work, g, add(1.0, read_vector(table[g], FORCE_WORLD), 1.0, at(shape.force, g)))
        integrate_back(Q, work, a, N, shape.N)
        for g in range(a, b):
            spin = add(1.0, read_vector(table[g], MOMENT_WORLD), 1.0, at(shape.moment, g))
            _put(work, g, add(1.0, spin, 1.0, cross(at(shape.slope, g), at(shape.N, g))))
        integrate_back(Q, work, a, M, shape.M)
        N[:], M[:] = shape.N[:, a], shape.M[:, a]
        _jump_back(jumps, jumps.first[k], jumps.first[k + 1], c0, shape.sections, N, M)
    shape.reaction[:3], shape.reaction[3:] = M, N


@kernel
def mismatch(layout, x, shape, out):  # type: ignore[no-untyped-def]
    """out = unknown moment and force at the nodes less the integrated ones."""
    m = np.empty(shape.p.shape)
    for g in range(m.shape[1]):
        _put(m, g, turned(transpose(_rotation_at(shape.R, g)), at(shape.M, g)))
    for k in range(len(layout.moment)):
        a, b = layout.first[k], layout.first[k + 1]
        n, o = layout.moment[k], layout.at[1, k]
        matrix = layout.to_moment[o : o + n * (b - a)].reshape(n, b - a)
        _collect(matrix, m[:, a:b], layout.moment_at[k], x, out)
        n, o = layout.force[k], layout.at[3, k]
        matrix = layout.to_force[o : o + n * (b - a)].reshape(n, b - a)
        _collect(matrix, shape.N[:, a:b], layout.force_at[k], x, out)


@kernel
def _collect(matrix, f, first, x, out):  # type: ignore[no-untyped-def]
    """out[first + 3 j + c] = x there less the value of f at node j."""
    last = first + 3 * len(matrix)
    out[first:last] = x[first:last] - np.dot(matrix, f.T.copy()).ravel()


@kernel
def respond(layout, table, jumps, c0, base, tip, x, shape, r):  # type: ignore[no-untyped-def]
    """`forward`, `backward` and `mismatch` in one go."""
    forward(layout, table, jumps, c0, base, x, shape)
    backward(layout, table, jumps, c0, tip, shape)
    mismatch(layout, x, shape, r)
