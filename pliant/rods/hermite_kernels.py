"""Kernels of the cubic Hermite rod: from nodal poses and strains to the increments of an element.

An element between nodes a and b has four control poses, g_a, g_1 = g_a tau(Psi_1),
g_2 = g_b tau(-Psi_3), g_b, with Psi_1 = h xi_a / 3 and Psi_3 = h xi_b / 3. The inner two are the
*handles* of the nodes. A handle g tau(z) of a node with body twist v moves at

    v_z = Ad(tau(z))^-1 v + theta,      theta = dtau(z) z',
    v_z' = -[theta, Ad(tau(z))^-1 v] + D(dtau_z)[z'] z'            (v and z' constant),

z = Psi_1 at node a and z = -Psi_3 at node b. The middle increment then obeys

    Psi_2' = D+ v_2 + D- v_1,
    Psi_2'' = D+ ([v_2, A v_1] - D(dtau)[Psi_2'] Psi_2' + v_2' - A v_1'),  A = Ad(tau(Psi_2))^-1,

with D+ = dtau(Psi_2)^-1 and D- = -D+ A. Psi_1 and Psi_3 are linear in the coordinates.

Arrays of an element: coordinates x = (v_a, xi_a', v_b, xi_b') (24), variables
y = (v_a, Psi_1', Psi_2', Psi_3') (24). `third` (E,) is h / 3, m. `blocks` (E, 4) numbers, six by
six, the entries of x of the element among those of the rod; in q they stand one earlier.
`handle` (E, 6, 24) holds v_1 in its first twelve columns and v_2 in the others; `middle` (E, 6, 24) is
Psi_2'.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie.blocks import (
    add_second,
    add_to_body,
    bracket_pair,
    carry_wrench,
    subtract_bracket,
    tangent_rate,
    tau_pose,
    write_adjoint_inverse,
)
from pliant.lie.se3_kernels import exp_pose_array, multiply_array, pose_array, relative_array
from pliant.rods.chain import transpose
from pliant.rods.chain_second import accumulate_balance


@kernel
def node_tangents(kind, third, psi, plus, minus, handle, middle):  # type: ignore[no-untyped-def]
    """Write handle and middle (E, 6, 24) from psi (3E, 6), D+ and D- (3E, 6, 6)."""
    z = np.empty(6)
    for e in range(handle.shape[0]):
        for i in range(6):
            z[i] = -psi[3 * e + 2, i]
        _handle_tangent(kind, psi[3 * e], third[e], handle[e], 0)
        _handle_tangent(kind, z, -third[e], handle[e], 12)
        for i in range(6):
            for j in range(12):
                u = 0.0
                v = 0.0
                for a in range(6):
                    u += minus[3 * e + 1, i, a] * handle[e, a, j]
                    v += plus[3 * e + 1, i, a] * handle[e, a, 12 + j]
                middle[e, i, j] = u
                middle[e, i, 12 + j] = v


@inner
def _handle_tangent(kind, z, scale, out, at):  # type: ignore[no-untyped-def]
    """out[:, at:at+12] = [Ad(tau(z))^-1, scale dtau(z)]."""
    T = np.empty((3, 4))
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    tau_pose(kind, z, T, V, Q)
    write_adjoint_inverse(T, 1.0, out, at)
    for a in range(3):
        for b in range(3):
            out[a, at + 6 + b] = out[a + 3, at + 9 + b] = scale * V[a, b]
            out[a + 3, at + 6 + b] = scale * Q[a, b]
            out[a, at + 9 + b] = 0.0


@kernel
def lift_velocity(third, middle, x, y):  # type: ignore[no-untyped-def]
    """y (E, 24) = T x with x (E, 24)."""
    for e in range(x.shape[0]):
        for i in range(6):
            y[e, i] = x[e, i]
            y[e, 6 + i] = third[e] * x[e, 6 + i]
            y[e, 18 + i] = third[e] * x[e, 18 + i]
            v = 0.0
            for j in range(24):
                v += middle[e, i, j] * x[e, j]
            y[e, 12 + i] = v


@inner
def _lift(third, middle, A, out):  # type: ignore[no-untyped-def]
    """out = A T for rows A (p, 24) of one element."""
    for q in range(A.shape[0]):
        row, lifted = A[q], out[q]
        for j in range(6):
            lifted[j] = row[j]
            lifted[6 + j] = third * row[6 + j]
            lifted[12 + j] = 0.0
            lifted[18 + j] = third * row[18 + j]
        for i in range(6):
            u = row[12 + i]
            for a in range(24):
                lifted[a] += u * middle[i, a]


@kernel
def lift_rows(third, middle, Cy, C):  # type: ignore[no-untyped-def]
    """C (E, p, 24) = Cy T."""
    for e in range(Cy.shape[0]):
        _lift(third[e], middle[e], Cy[e], C[e])


@kernel
def lift_matrix(third, left, right, Ky, K):  # type: ignore[no-untyped-def]
    """K (E, 24, 24) = T_l^T Ky T_r; left and right (E, 6, 24) are the `middle` of T_l and T_r."""
    A = np.empty((24, 24))
    B = np.empty((24, 24))
    for e in range(Ky.shape[0]):
        _lift(third[e], right[e], Ky[e], A)
        transpose(A, B)
        _lift(third[e], left[e], B, A)
        transpose(A, K[e])


@kernel
def add_middle_second(kind, third, psi, handle, middle, d, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of sum_e c_e . Psi_2(x) to K (E, 24, 24), d (E, 6) = (D+)^T c."""
    X = np.empty((6, 12))
    H = np.empty((24, 24))
    z = np.empty(6)
    u = np.empty(6)
    A = np.empty((6, 6))
    T = np.empty((3, 4))
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    for e in range(d.shape[0]):
        h = handle[e]
        _middle_square(kind, psi[3 * e + 1], d[e], middle[e], H)
        tau_pose(kind, psi[3 * e + 1], T, V, Q)
        write_adjoint_inverse(T, 1.0, A, 0)
        carry_wrench(T, d[e], u)
        for a in range(6):
            z[a] = -psi[3 * e + 2, a]
            u[a] = -u[a]
            for b in range(12):
                X[a, b] = 0.0
                for c in range(6):
                    X[a, b] += A[a, c] * h[c, b]
        for i in range(12, 24, 6):
            for j in range(0, 12, 6):
                # d.[v_2, A v_1]: minus what bracket_pair writes, half of it on each side
                bracket_pair(h, d[e], X, -0.5, H, i, j)
        _add_handle_second(kind, psi[3 * e], u, third[e], h, H, 0)
        _add_handle_second(kind, z, d[e], third[e], h, H, 12)
        for a in range(24):
            K[e, a, a] += H[a, a]
            for b in range(a):
                K[e, a, b] += H[a, b]
                K[e, b, a] += H[a, b]


@inner
def _middle_square(kind, z, d, rows, H):  # type: ignore[no-untyped-def]
    """Lower triangle of H (24, 24) = -rows^T M(z, d) rows, with v.M v = d . D(dtau_z)[v] v."""
    M = np.zeros((6, 6))
    W = np.zeros((6, 24))
    add_second(kind, z, d, -1.0, M, 0)
    for a in range(6):
        for c in range(6):
            for b in range(24):
                W[a, b] += M[a, c] * rows[c, b]
    for a in range(24):
        for b in range(a + 1):
            H[a, b] = 0.0
        for c in range(6):
            for b in range(a + 1):
                H[a, b] += rows[c, a] * W[c, b]


@inner
def _add_handle_second(kind, z, u, third, h, H, at):  # type: ignore[no-untyped-def]
    """Add to the lower triangle of H (24, 24) that of u . v_z', the handle at columns `at` of h."""
    bracket_pair(h, u, h, 0.5, H, at + 6, at)
    add_second(kind, z, u, third * third, H, at + 6)


@kernel
def middle_bias(kind, third, psi, plus, handle, middle, x, ydd):  # type: ignore[no-untyped-def]
    """ydd (E, 24): second time derivative of y when coordinates move at constant rate x (E, 24)."""
    z = np.empty(6)
    v1 = np.empty(6)
    v2 = np.empty(6)
    w1 = np.empty(6)
    rate = np.empty(6)
    rate1 = np.empty(6)
    rate2 = np.empty(6)
    T = np.empty((3, 4))
    V = np.empty((3, 3))
    Q = np.empty((3, 3))
    for e in range(x.shape[0]):
        for i in range(6):
            z[i] = -psi[3 * e + 2, i]
        _handle_rate(kind, psi[3 * e], third[e], handle[e], x[e], 0, v1, rate1)
        _handle_rate(kind, z, third[e], handle[e], x[e], 12, v2, rate2)
        for i in range(6):
            w1[i] = 0.0
            z[i] = 0.0
            for j in range(24):
                z[i] += middle[e, i, j] * x[e, j]
        tangent_rate(kind, psi[3 * e + 1], z, rate)
        tau_pose(kind, psi[3 * e + 1], T, V, Q)
        add_to_body(T, 1.0, v1, w1)
        add_to_body(T, -1.0, rate1, rate2)
        subtract_bracket(w1, v2, rate2)
        for i in range(24):
            ydd[e, i] = 0.0
        for i in range(6):
            for j in range(6):
                ydd[e, 12 + i] += plus[3 * e + 1, i, j] * (rate2[j] - rate[j])


@inner
def _handle_rate(kind, z, third, h, x, at, v, rate):  # type: ignore[no-untyped-def]
    """Twist v (6) of the handle at columns `at` of h and its derivative `rate` (6) in time."""
    moved = np.empty(6)
    theta = np.empty(6)
    dz = np.empty(6)
    for i in range(6):
        moved[i] = 0.0
        theta[i] = 0.0
        dz[i] = third * x[at + 6 + i]
        for j in range(6):
            moved[i] += h[i, at + j] * x[at + j]
            theta[i] += h[i, at + 6 + j] * x[at + 6 + j]
        v[i] = moved[i] + theta[i]
    tangent_rate(kind, z, dz, rate)
    subtract_bracket(theta, moved, rate)


@kernel
def set_increments(third, blocks, q, psi):  # type: ignore[no-untyped-def]
    """psi (3 E, 6): a third of both nodal strains, Psi_2 between them, from q (B, 6)."""
    for e in range(blocks.shape[0]):
        for i in range(6):
            psi[3 * e, i] = third[e] * q[blocks[e, 1] - 1, i]
            psi[3 * e + 1, i] = q[blocks[e, 2] - 1, i]
            psi[3 * e + 2, i] = third[e] * q[blocks[e, 3] - 1, i]


@kernel
def retract_nodes(kind, third, blocks, controls, base, move, q, out):  # type: ignore[no-untyped-def]
    """q after nodes moved to g_i exp(x_i) and nodal strains by their variation, move (B + 1, 6)."""
    far, step = np.empty((4, 4)), np.empty((4, 4))
    handle, far_handle = np.empty((4, 4)), np.empty((4, 4))
    z = np.empty(6)
    for e in range(blocks.shape[0]):
        first, node, last = blocks[e, 1], blocks[e, 2], blocks[e, 3]
        for i in range(6):
            out[first - 1, i] = q[first - 1, i] + move[first, i]
            z[i] = third[e] * out[first - 1, i]
        pose_array(kind, z, step)
        multiply_array(far if e > 0 else base, step, handle)
        exp_pose_array(move[node], step)
        multiply_array(controls[3 * e + 3], step, far)
        for i in range(6):
            out[last - 1, i] = q[last - 1, i] + move[last, i]
            z[i] = -third[e] * out[last - 1, i]
        pose_array(kind, z, step)
        multiply_array(far, step, far_handle)
        relative_array(kind, handle, far_handle, out[node - 1])


@kernel
def advance_nodes(middle, blocks, x, q, out):  # type: ignore[no-untyped-def]
    """q (B, 6) after a step linear in q: nodal strains by x (B + 1, 6), Psi_2 by middle x."""
    for e in range(blocks.shape[0]):
        for i in range(6):
            v = q[blocks[e, 2] - 1, i]
            for k in range(4):
                for a in range(6):
                    v += middle[e, i, 6 * k + a] * x[blocks[e, k], a]
            out[blocks[e, 2] - 1, i] = v
            for k in range(1, 4, 2):
                out[blocks[e, k] - 1, i] = q[blocks[e, k] - 1, i] + x[blocks[e, k], i]


@kernel
def bend_covectors(kind, blocks, psi, plus, ry, left, mu, d, passed):  # type: ignore[no-untyped-def]
    """d (E, 6): covectors on Psi_2, less the out-of-balance wrench of the nodes beyond; passed (6,) is
    that wrench at the base. left (B + 1, 6) is empty in the second-order chart.
    """
    for e in range(d.shape[0]):
        for j in range(6):
            v = 0.0
            for i in range(6):
                v += plus[3 * e + 1, i, j] * ry[e, 12 + i]
            d[e, j] = v
    if left.shape[0] == 0:
        return
    r = np.zeros(mu.shape)
    for e in range(d.shape[0]):
        for j in range(6):
            r[3 * e, j] = left[blocks[e, 0], j]
            r[3 * e + 3, j] = left[blocks[e, 2], j]
    accumulate_balance(kind, psi, r, mu)
    for e in range(d.shape[0]):
        for j in range(6):
            d[e, j] -= mu[3 * e + 2, j]
    for j in range(6):
        passed[j] = mu[0, j]
