"""Kernels between the columns of nodes, see `lumped_nodes`, and nodes one by one."""

from __future__ import annotations

from pliant._numba import kernel
from pliant.lie.quaternion_leaves import quaternion_from_matrix, quaternion_matrix
from pliant.lie.tuples import read_block


@kernel
def set_quaternions(poses, quaternions):  # type: ignore[no-untyped-def]
    """Unit quaternions (N, 4) of poses (N, 4, 4), each on the side of the one before."""
    for i in range(poses.shape[0]):
        q = quaternion_from_matrix(read_block(poses[i]))
        side = 1.0
        if i > 0:
            h = quaternions[i - 1]
            if q[0] * h[0] + q[1] * h[1] + q[2] * h[2] + q[3] * h[3] < 0.0:
                side = -1.0
        for a in range(4):
            quaternions[i, a] = side * q[a]


@kernel
def read_nodes(columns, poses, quaternions, X, Q):  # type: ignore[no-untyped-def]
    """Columns (N,) of X (3, C) and Q (4, C) from nodes one by one."""
    for i in range(columns.shape[0]):
        for a in range(3):
            X[a, columns[i]] = poses[i, a, 3]
        for a in range(4):
            Q[a, columns[i]] = quaternions[i, a]


@kernel
def write_nodes(columns, X, Q, poses, quaternions):  # type: ignore[no-untyped-def]
    """Poses (N, 4, 4) and quaternions (N, 4) of nodes from their columns (N,)."""
    for i in range(columns.shape[0]):
        c = columns[i]
        q = (Q[0, c], Q[1, c], Q[2, c], Q[3, c])
        R = quaternion_matrix(q)
        for a in range(4):
            quaternions[i, a] = q[a]
        for a in range(3):
            poses[i, a, 3] = X[a, c]
            for b in range(3):
                poses[i, a, b] = R[3 * a + b]


@kernel
def add_to_columns(columns, torque, force, T, F):  # type: ignore[no-untyped-def]
    """Add torques and forces (N, 3) of nodes to the columns (N,) of T and F (3, C)."""
    for i in range(columns.shape[0]):
        for a in range(3):
            T[a, columns[i]] += torque[i, a]
            F[a, columns[i]] += force[i, a]


@kernel
def take_columns(columns, rows, out):  # type: ignore[no-untyped-def]
    """out (N, 3) : columns (N,) of rows (3, C)."""
    for i in range(columns.shape[0]):
        for a in range(3):
            out[i, a] = rows[a, columns[i]]


@kernel
def clear_forces(torque, force):  # type: ignore[no-untyped-def]
    """torque and force (3, C) = 0."""
    for a in range(3):
        for c in range(force.shape[1]):
            torque[a, c] = 0.0
            force[a, c] = 0.0
