"""The nodes of one part in motion: their inertia, momenta and what acts on them."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import copy
from pliant.engine.program import run
from pliant.model import DescriptionError
from pliant.rods.contract import Array
from pliant.solve.integrators.lumped import rigid
from pliant.tree.nodes import PartNodes


class NodeMotion:
    """The moving nodes of one part: constants and momenta, see `rigid`, and workspaces."""

    def __init__(self, nodes: PartNodes, inertia: Array) -> None:
        self.nodes = nodes
        self.moving, N = nodes.moving, len(nodes.poses)
        self.mass = inertia[:, 5, 5].copy()
        first = inertia[:, :3, 3:] / np.maximum(self.mass, 1e-300)[:, None, None]
        self.centre = np.stack([first[:, 2, 1], first[:, 0, 2], first[:, 1, 0]], axis=1)
        self.about = inertia[:, :3, :3] - np.einsum("nij,nkj->nik", first, inertia[:, :3, 3:])
        """(N, 3, 3): inertia about the centres, in the axes of the nodes."""
        self.inverse = np.zeros((N, 3, 3))
        for i in np.flatnonzero(self.moving):
            if not (self.mass[i] > 0.0 and np.linalg.eigvalsh(self.about[i])[0] > 0.0):
                raise _massless(nodes)
            self.inverse[i] = np.linalg.inv(self.about[i])
        self.rates, self.kept_rates = np.zeros((2, N, 3)), np.zeros((2, N, 3))
        """Velocities V of the centres and angular momenta L."""
        self.pulls, self.ahead, self.behind = (np.zeros((2, N, 3)) for _ in range(3))
        """Accelerations A of the centres and torques T about them."""
        self.kept_poses, self.kept_quaternions = nodes.poses.copy(), nodes.quaternions.copy()

    def set_momenta(self, v: Array) -> None:
        """Set the momenta of nodes with rates v (total,)."""
        nodes, (V, L) = self.nodes, self.rates
        for i in np.flatnonzero(self.moving):
            twist = v[nodes.numbers[i]]
            L[i] = self.about[i] @ twist[:3]
            arm = np.cross(twist[:3], self.centre[i])
            V[i] = nodes.poses[i, :3, :3] @ (twist[3:] + arm)

    def drift(self, factor: float, unit: Array) -> None:
        """Free motion for factor times unit (1,) seconds."""
        body = (self.moving, self.centre, self.inverse)
        where = (self.nodes.poses, self.nodes.quaternions)
        run(rigid.drift, factor, unit, *body, *where, *self.rates)

    def kick(self, factor: float, unit: Array) -> None:
        """Change momenta by what acts for factor times unit (1,) seconds."""
        run(rigid.kick, factor, unit, self.moving, *self.pulls, *self.rates)

    def shift(self, factor: float, unit: Array, pulls: Array) -> None:
        """Move the nodes by factor times unit (1,), in s^2, times accelerations."""
        body = (self.moving, self.centre, self.inverse)
        where = (self.nodes.poses, self.nodes.quaternions)
        run(rigid.shift, factor, unit, *body, *pulls, *where)

    def process(self, sign: float, unit: Array, step: Array) -> None:
        """Process momenta, then nodes, see `rigid.process`."""
        given = (self.moving, self.inverse, *self.pulls, self.ahead, self.behind)
        run(rigid.process, sign, unit, step, *given, *self.rates)
        self.shift(sign, unit, self.pulls)

    def keep_nodes(self) -> None:
        """Keep the nodes where they are."""
        copy(self.nodes.poses, self.kept_poses)
        copy(self.nodes.quaternions, self.kept_quaternions)

    def restore_nodes(self) -> None:
        """Put the nodes where they were kept."""
        copy(self.kept_poses, self.nodes.poses)
        copy(self.kept_quaternions, self.nodes.quaternions)

    def set_rates(self) -> None:
        """Set spins and velocities of the nodes."""
        nodes, body = self.nodes, (self.moving, self.centre, self.inverse)
        given = (nodes.poses, *self.rates, nodes.spin, nodes.velocity)
        run(rigid.set_rates, *body, *given)

    def set_pulls(self) -> None:
        """Set accelerations and torques from what acts on the nodes."""
        nodes = self.nodes
        body = (self.moving, self.mass, self.centre, nodes.poses)
        run(rigid.set_kick, *body, nodes.torque, nodes.force, *self.pulls)


def _massless(nodes: PartNodes) -> DescriptionError:
    label = f"rod {nodes.part.name!r}" if nodes.part.rod else f"body {nodes.part.name!r}"
    return DescriptionError(
        label,
        "mass, inertia",
        0.0,
        "mass and rotary inertia at every node, for an explicit integrator",
        "give rho and rotary=True, or mass and inertia, or use Midpoint()",
    )
