"""The nodes of one part in motion: their inertia, momenta and what acts on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.engine.arrays import copy
from pliant.engine.program import run
from pliant.model import DescriptionError
from pliant.rods.contract import Array, Ints
from pliant.solve.integrators.lumped import interpolation, rigid
from pliant.tree.nodes import PartNodes


class NodeMotion:
    """The moving nodes of a part of all copies: constants and momenta, see `rigid`, and workspaces.

    parts : nodes of the part, copy by copy.  inertia : of each copy (N, 6, 6).
    """

    def __init__(self, parts: Sequence[PartNodes], inertia: Sequence[Array]) -> None:
        self.parts, self.nodes = parts, parts[0].nodes
        self.blocks, C = self.nodes.blocks, self.nodes.count
        self.moving, self.light = np.zeros((1, C)), np.zeros((1, C))
        self.centre, self.inverse, self.about = (np.zeros((n, C)) for n in (3, 9, 9))
        """Centres of mass, and inverse inertia and inertia about them, in the axes of the nodes."""
        self.of = np.full(C, -1)
        """(C,): the copy to which a column belongs, -1 for none."""
        for copy_, own in enumerate(parts):
            self.of[own.columns] = copy_
        self.field, self.known = np.zeros((3, C)), np.full((len(parts), 3), np.nan)
        """Accelerations that are common to all masses of a copy, by column and by copy."""
        self.take_inertia(inertia)
        self.apart = bool(self.centre.any())
        """Whether any centre is apart from its node."""
        self.rates, self.kept_rates = np.zeros((2, 3, C)), np.zeros((2, 3, C))
        """Velocities V of the centres and angular momenta L."""
        self.pulls, self.ahead, self.behind = (np.zeros((2, 3, C)) for _ in range(3))
        """Accelerations A of the centres and torques T about them."""
        self._kept = self.nodes.X.copy(), self.nodes.Q.copy()
        self.ends = np.zeros((2, interpolation.ROWS, C))
        """The motion at both ends of a short step, see `interpolation`."""

    def take_inertia(self, inertia: Sequence[Array]) -> None:
        """Set the constants of all copies from inertia (N, 6, 6) of each."""
        for own, M in zip(self.parts, inertia, strict=True):
            self._set_inertia(own, M)

    def _set_inertia(self, own: PartNodes, inertia: Array) -> None:
        """Set the constants of one copy."""
        at, mass = own.columns, inertia[:, 5, 5]
        first = inertia[:, :3, 3:] / np.maximum(mass, 1e-300)[:, None, None]
        about = inertia[:, :3, :3] - np.einsum("nij,nkj->nik", first, inertia[:, :3, 3:])
        moving = own.moving > 0
        inverse, light = np.zeros_like(about), np.zeros_like(mass)
        if moving.any():
            if not (mass[moving].min() > 0.0 and np.linalg.eigvalsh(about[moving]).min() > 0.0):
                raise _massless(own)
            inverse[moving], light[moving] = np.linalg.inv(about[moving]), 1.0 / mass[moving]
        self.moving[0, at], self.light[0, at] = own.moving, light
        self.centre[:, at] = first[:, 2, 1], first[:, 0, 2], first[:, 1, 0]
        self.inverse[:, at], self.about[:, at] = (
            inverse.reshape(-1, 9).T,
            about.reshape(-1, 9).T,
        )

    @property
    def where(self) -> tuple[Array, Array]:
        """Positions and quaternions of the nodes."""
        return self.nodes.X, self.nodes.Q

    def set_momenta(self, v: Sequence[Array]) -> None:
        """Set the momenta of nodes with rates v (total,) of each copy."""
        for own, rates in zip(self.parts, v, strict=True):
            columns, moving = own.columns, own.moving > 0
            twists = np.where(moving[:, None], rates[own.numbers], 0.0)
            spin, at = twists[:, :3], self.centre[:, columns].T
            straight = twists[:, 3:] + np.cross(spin, at)
            velocity = np.einsum("nij,nj->ni", own.poses[:, :3, :3], straight)
            about = self.about[:, columns].T.reshape(-1, 3, 3)
            self.rates[:, :, columns] = velocity.T, np.einsum("nij,nj->in", about, spin)

    @property
    def _body(self) -> tuple[Any, ...]:
        return self.apart, self.blocks, self.centre, self.inverse

    @property
    def _moving_body(self) -> tuple[Any, ...]:
        return self.apart, self.blocks, self.moving, self.centre, self.inverse

    def drift(self, factor: float, unit: Array) -> None:
        """Free motion for factor times unit (1,) seconds."""
        run(rigid.drift, factor, unit, *self._body, *self.where, *self.rates)

    def kick(self, factor: float, unit: Array, pulls: Array) -> None:
        """Change momenta by accelerations and torques (2, 3, C) for factor times unit (1,) seconds."""
        run(rigid.kick, factor, unit, self.blocks, self.moving, *pulls, *self.rates)

    def shift(self, factor: float, unit: Array, pulls: Array) -> None:
        """Move the nodes by factor times unit (1,), in s^2, times accelerations."""
        run(rigid.shift, factor, unit, *self._moving_body, *pulls, *self.where)

    def shift_ahead(self, part: float, unit: Array) -> None:
        """Keep nodes and pulls, then move the nodes by part times unit (1,), in s^2, times pulls."""
        given = (self._moving_body, self.pulls, self.where, self._kept, self.behind)
        run(rigid.shift_ahead, part, unit, *given)

    def kick_and_drift(self, part: float, gradient: Array, factor: float, unit: Array) -> None:
        """After `shift_ahead` and new pulls: kick for unit (1,) seconds, drift factor times that."""
        given = (self._moving_body, self.behind, self.pulls, self._kept, self.where)
        run(rigid.kick_and_drift, part, gradient, factor, unit, *given, *self.rates)

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
        nodes, body = self.nodes, (self.blocks, self.centre, self.inverse)
        run(rigid.set_rates, *body, nodes.Q, *self.rates, nodes.spin, nodes.velocity)

    def set_field(self, acting: Array, places: Ints) -> None:
        """Set the field from numbers acting[places] (R, F, 3) of each copy."""
        run(rigid.set_field, acting, places, self.known, self.of, self.field)

    def set_pulls(self) -> None:
        """Set accelerations and torques from what acts on the nodes and the field."""
        nodes, body = self.nodes, (self.apart, self.blocks, self.field, self.light, self.centre)
        run(rigid.set_kick, *body, nodes.Q, nodes.torque, nodes.force, *self.pulls)

    def write_rates(self, copy_: int, v: Array) -> None:
        """Write the rates v (total,) of the nodes of a copy that move."""
        own, nodes = self.parts[copy_], self.nodes
        given = (own.columns, own.numbers, nodes.Q, nodes.spin, nodes.velocity)
        run(rigid.write_rates, own.moving, *given, v)

    def add_energy(self, out: Array) -> None:
        """Add kinetic energy and that in the field to out (2, R) of each copy, J."""
        given = (self.of, self.moving, self.light, self.centre, self.inverse, self.field)
        run(rigid.add_energy, *given, *self.where, *self.rates, out)

    def sample(self, side: int) -> None:
        """Keep the motion at one end of a short step, for `interpolate`."""
        given = (self.of, self.centre, self.inverse, *self.where, *self.rates, *self.pulls)
        run(interpolation.sample, *given, self.ends[side])

    def interpolate(self, part: Array, step: Array) -> None:
        """Set nodes and momenta at the part (1,) of a short step of step (1,) seconds."""
        given = (self.of, self.moving, self.centre, self.about, self.ends)
        run(interpolation.interpolate, part, step, *given, *self.where, *self.rates)


def _massless(own: PartNodes) -> DescriptionError:
    label = f"rod {own.part.name!r}" if own.part.rod else f"body {own.part.name!r}"
    return DescriptionError(
        label,
        "mass, inertia",
        0.0,
        "mass and rotary inertia at every node, for an explicit integrator",
        "give rho and rotary=True, or mass and inertia, or use Midpoint()",
    )
