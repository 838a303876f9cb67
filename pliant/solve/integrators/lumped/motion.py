"""The nodes of one part in motion: their inertia, momenta and what acts on them."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import copy
from pliant.engine.program import run
from pliant.model import DescriptionError
from pliant.rods.contract import Array
from pliant.solve.integrators.lumped import interpolation, rigid
from pliant.tree.nodes import PartNodes


class NodeMotion:
    """The moving nodes of one part: constants and momenta, see `rigid`, and workspaces."""

    def __init__(self, own: PartNodes, inertia: Array) -> None:
        self.own, self.nodes = own, own.nodes
        self.blocks, C = own.nodes.blocks, own.nodes.count
        mass = inertia[:, 5, 5]
        first = inertia[:, :3, 3:] / np.maximum(mass, 1e-300)[:, None, None]
        centre = np.stack([first[:, 2, 1], first[:, 0, 2], first[:, 1, 0]], axis=1)
        about = inertia[:, :3, :3] - np.einsum("nij,nkj->nik", first, inertia[:, :3, 3:])
        moving = own.moving > 0
        inverse, light = np.zeros_like(about), np.zeros_like(mass)
        if moving.any():
            if not (mass[moving].min() > 0.0 and np.linalg.eigvalsh(about[moving]).min() > 0.0):
                raise _massless(own)
            inverse[moving], light[moving] = np.linalg.inv(about[moving]), 1.0 / mass[moving]
        spread = own.nodes.spread
        self.moving, self.light = spread(own.moving[:, None].astype(float)), spread(light[:, None])
        self.centre, self.inverse = spread(centre), spread(inverse.reshape(-1, 9))
        self.about = spread(about.reshape(-1, 9))
        """(9, C): inertia about the centres, in the axes of the nodes."""
        self.rates, self.kept_rates = np.zeros((2, 3, C)), np.zeros((2, 3, C))
        """Velocities V of the centres and angular momenta L."""
        self.pulls, self.ahead, self.behind = (np.zeros((2, 3, C)) for _ in range(3))
        """Accelerations A of the centres and torques T about them."""
        self._kept = own.nodes.X.copy(), own.nodes.Q.copy()
        self.ends = np.zeros((2, interpolation.ROWS, C))
        """The motion at both ends of a short step, see `interpolation`."""

    @property
    def where(self) -> tuple[Array, Array]:
        """Positions and quaternions of the nodes."""
        return self.nodes.X, self.nodes.Q

    def set_momenta(self, v: Array) -> None:
        """Set the momenta of nodes with rates v (total,)."""
        own, columns = self.own, self.nodes.columns
        moving = own.moving > 0
        twists = np.where(moving[:, None], v[own.numbers], 0.0)
        spin, at = twists[:, :3], self.centre[:, columns].T
        velocity = np.einsum("nij,nj->ni", own.poses[:, :3, :3], twists[:, 3:] + np.cross(spin, at))
        about = self.about[:, columns].T.reshape(-1, 3, 3)
        self.rates[:, :, columns] = velocity.T, np.einsum("nij,nj->in", about, spin)

    def drift(self, factor: float, unit: Array) -> None:
        """Free motion for factor times unit (1,) seconds."""
        body = (self.blocks, self.centre, self.inverse)
        run(rigid.drift, factor, unit, *body, *self.where, *self.rates)

    def kick(self, factor: float, unit: Array, pulls: Array) -> None:
        """Change momenta by accelerations and torques (2, 3, C) for factor times unit (1,) seconds."""
        run(rigid.kick, factor, unit, self.blocks, self.moving, *pulls, *self.rates)

    def shift(self, factor: float, unit: Array, pulls: Array) -> None:
        """Move the nodes by factor times unit (1,), in s^2, times accelerations."""
        body = (self.blocks, self.moving, self.centre, self.inverse)
        run(rigid.shift, factor, unit, *body, *pulls, *self.where)

    def process(self, sign: float, unit: Array, step: Array) -> None:
        """Process momenta, then nodes, see `rigid.process`."""
        given = (self.blocks, self.moving, self.inverse, *self.pulls, self.ahead, self.behind)
        run(rigid.process, sign, unit, step, *given, *self.rates)
        self.shift(sign, unit, self.pulls)

    def keep_nodes(self) -> None:
        """Keep the nodes where they are."""
        for now, kept in zip(self.where, self._kept, strict=True):
            copy(now, kept)

    def restore_nodes(self) -> None:
        """Put the nodes where they were kept."""
        for now, kept in zip(self.where, self._kept, strict=True):
            copy(kept, now)

    def set_rates(self) -> None:
        """Set spins and velocities of the nodes."""
        body = (self.blocks, self.centre, self.inverse, self.nodes.Q)
        run(rigid.set_rates, *body, *self.rates, self.own.spin, self.own.velocity)

    def set_pulls(self, field: Array) -> None:
        """Set accelerations and torques from what acts on the nodes and a field (3,), m/s^2."""
        body = (self.blocks, field, self.light, self.centre, self.nodes.Q)
        run(rigid.set_kick, *body, self.nodes.torque, self.nodes.force, *self.pulls)

    def write_rates(self, v: Array) -> None:
        """Write the rates v (total,) of the nodes that move."""
        own = self.own
        given = (own.columns, own.numbers, self.nodes.Q, own.spin, own.velocity)
        run(rigid.write_rates, own.moving, *given, v)


def _massless(own: PartNodes) -> DescriptionError:
    label = f"rod {own.part.name!r}" if own.part.rod else f"body {own.part.name!r}"
    return DescriptionError(
        label,
        "mass, inertia",
        0.0,
        "mass and rotary inertia at every node, for an explicit integrator",
        "give rho and rotary=True, or mass and inertia, or use Midpoint()",
    )
