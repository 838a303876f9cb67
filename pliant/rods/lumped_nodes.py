"""The nodes of a part with lumped inertia as columns of arrays, side by side for SIMD lanes.

Several robots of one kind share the arrays of a part: of R such copies, node i of element e of copy r,
of order k, is the column i W + e R + r; W is the number of all their elements, rounded up to whole
registers. The first nodes of elements appear a second time as last nodes of the elements before, in
columns k W + e R + r, so that an element finds its nodes at the same places of all rows. Only the last
nodes of the rods are there for themselves. Columns between the elements and W stand for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.engine.lanes import LANES
from pliant.engine.program import run
from pliant.rods import lumped_kernels
from pliant.rods.contract import Array

if TYPE_CHECKING:
    from pliant.rods.flat_elements import FlatElements


class LumpedNodes:
    """Nodes of a part of one robot, in arrays that it may share with its copies.

    poses (N, 4, 4), quaternions (N, 4) : one by one, as frames need them, see `write` and `read`.
    columns (N,) : where nodes stand.  blocks (B,) : first columns of the registers that hold nodes.
    X (3, C) : positions, Q (4, C) : unit quaternions.
    velocity, spin (3, C) : of the nodes, in the world frame and in their axes.
    force, torque (3, C) : gradients of all energies, in the world frame and in the axes of the nodes.
    """

    alone: bool = False
    """Whether its nodes cannot share arrays with copies."""

    def __init__(self, poses: Array, quaternions: Array, order: int, elements: int) -> None:
        self.poses, self.quaternions = poses, quaternions
        self.order, self.elements = order, elements
        self.allocate(1)

    def allocate(self, copies: int) -> None:
        """Make the arrays for some copies, and be the first of them."""
        self.copies = copies
        self.width = W = -(-self.elements * copies // LANES) * LANES
        n, order = np.arange(len(self.poses)), self.order
        first = n % max(order, 1) * W + n // max(order, 1) * copies
        last = order * W + (self.elements - 1) * copies
        self.columns = np.where(n < order * self.elements, first, last)
        self.count = C = (order + 1) * W
        every = self.columns[:, None] + np.arange(copies)
        self.blocks = np.unique(every // LANES) * LANES
        self.X, self.Q = np.zeros((3, C)), np.zeros((4, C))
        self.Q[0] = 1.0
        self.velocity, self.spin = np.zeros((3, C)), np.zeros((3, C))
        self.force, self.torque = np.zeros((3, C)), np.zeros((3, C))

    def share(self, leader: LumpedNodes, copy: int) -> None:
        """Be one of the copies of a leader, with its arrays."""
        own = ("poses", "quaternions")
        vars(self).update({name: x for name, x in vars(leader).items() if name not in own})
        self.columns = leader.columns + copy

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

    # -- strains and what they do to the nodes; nothing for a rigid body -----------------------------

    def set_law(self, stiffness: Array, rest: Array, lag: Array) -> None:
        """Let stresses be stiffness (e + lag e' - rest), all (S, 6), of this copy."""

    def set_strain(self) -> None:
        """Set the strains of all copies."""

    def set_strain_rate(self) -> None:
        """Set the rates of the strains of all copies, after `set_strain`."""

    def tell_strain(self, e: Array) -> None:
        """Write the strains e (S, 6) of this copy."""

    def tell_strain_rate(self, rate: Array) -> None:
        """Write the rates (S, 6) of the strains of this copy."""

    def set_stress(self, moving: bool) -> None:
        """Set the stresses of all copies by their laws; moving : with the rates of the strains."""

    def add_stress(self, sigma: Array) -> None:
        """Add stresses sigma (S, 6) to those of this copy."""

    def set_forces(self) -> None:
        """Set torques and forces of the nodes of all copies from the stresses, after `set_strain`."""
        run(lumped_kernels.clear_forces, self.torque, self.force)

    def set_elastic_forces(self) -> None:
        """Set strains, stresses without rates, and torques and forces of the nodes at once."""
        self.set_forces()

    def add_elastic_energy(self, out: Array) -> None:
        """Add the energy by the laws to out (R,) of each copy, after `set_strain`, J."""

    def flat(self) -> FlatElements | None:
        """The same nodes while they stay in a plane; None if they have no simpler form there."""
        return None
