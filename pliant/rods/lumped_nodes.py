"""The nodes of a part with lumped inertia as columns of arrays, elements side by side for SIMD lanes.

Node i of element e, of order k, is the column i W + e; W is the number of elements, rounded up to whole
registers. The first nodes of elements appear a second time as last nodes of the elements before, in
columns k W + e, so that an element finds its nodes at the same places of all rows. Only the last node
of the rod is there for itself. Columns between the elements and W stand for nothing.
"""

from __future__ import annotations

import numpy as np

from pliant.engine.lanes import LANES
from pliant.engine.program import run
from pliant.rods import lumped_kernels
from pliant.rods.contract import Array


class LumpedNodes:
    """Nodes of a part.

    poses (N, 4, 4), quaternions (N, 4) : one by one, as frames need them, see `write` and `read`.
    columns (N,) : where nodes stand.  blocks (B,) : first columns of the registers that hold nodes.
    X (3, C) : positions, Q (4, C) : unit quaternions.
    force, torque (3, C) : gradients of all energies, in the world frame and in the axes of the nodes.
    """

    def __init__(self, poses: Array, quaternions: Array, order: int, elements: int) -> None:
        self.poses, self.quaternions = poses, quaternions
        self.order, self.elements = order, elements
        self.width = W = -(-elements // LANES) * LANES
        n = np.arange(len(poses))
        first = n % max(order, 1) * W + n // max(order, 1)
        self.columns = np.where(n < order * elements, first, order * W + elements - 1)
        self.count = C = (order + 1) * W
        self.blocks = np.unique(self.columns // LANES) * LANES
        self.X, self.Q = np.zeros((3, C)), np.zeros((4, C))
        self.Q[0] = 1.0
        self.force, self.torque = np.zeros((3, C)), np.zeros((3, C))

    def spread(self, values: Array) -> Array:
        """Constants (N, m) of the nodes as rows (m, C), zero where there is no node."""
        out = np.zeros((values.shape[1], self.count))
        out[:, self.columns] = values.T
        return out

    def read(self) -> None:
        """Set the columns from the nodes one by one."""
        given = (self.columns, self.poses, self.quaternions, self.X, self.Q)
        run(lumped_kernels.read_nodes, *given)

    def write(self) -> None:
        """Set the nodes one by one from the columns."""
        given = (self.columns, self.X, self.Q, self.poses, self.quaternions)
        run(lumped_kernels.write_nodes, *given)

    def one_by_one(self, rows: Array) -> Array:
        """Values (N, 3) of the nodes from their columns of rows (3, C)."""
        out = np.zeros((len(self.poses), 3))
        run(lumped_kernels.take_columns, self.columns, rows, out)
        return out

    def add(self, torque: Array, force: Array) -> None:
        """Add torques and forces (N, 3) of the nodes."""
        given = (self.columns, torque, force, self.torque, self.force)
        run(lumped_kernels.add_to_columns, *given)

    def join(self, *rows: Array) -> None:
        """Copy first nodes of elements to last ones of those before, in arrays (R, C)."""
        for array in rows:
            run(lumped_kernels.join, self.order, self.elements, self.width, array)
