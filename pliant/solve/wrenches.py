"""Internal wrenches from the balance of what lies beyond a section, for any formulation and theory.

The wrench that the part beyond s exerts on the section at s equals the sum of all that acts on that
part from outside: gravity, loads, bodies, constraints, and what rods mounted there pass on; in motion
less what accelerates it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.model import Array, Frame, Load, Rod
from pliant.physics import drag, inertia
from pliant.solve.beginning import frame_pose, held_poses
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.instants import Instant, section_motion
from pliant.solve.problem import Applied
from pliant.system import constraints

_PANELS = 48
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class Balance:
    """External wrenches on every rod at one instant, in the world frame about its origin.

    reactions : wrenches (6,) of the constraints, by name.  moving : None of an equilibrium.
    """

    def __init__(
        self,
        compiled: CoordinateProblem,
        q: Array,
        reactions: Mapping[str, Array],
        applied: Applied,
        moving: Instant | None = None,
    ) -> None:
        self.compiled = compiled
        self.moving = moving
        self.q = q
        self.applied = applied
        self.points: dict[str, list[tuple[float, Array]]] = {
            name: [] for name in compiled.description.rods
        }
        self._add_loads()
        self._add_weights()
        self._add_constraints(reactions)
        for name, bodies in ({} if moving is None else moving.bodies).items():
            self.points[name] += [(s, -wrench) for s, wrench in bodies]
        for rod in reversed(compiled.description.rods_from_root()):
            if isinstance(rod.base, Frame):
                total = self.beyond(rod, np.zeros(1))[0]
                self.points[rod.base.part].append((rod.base.s, total))

    def wrench(self, rod: Rod, s: Array) -> Array:
        """Return the internal wrench (S, 6) = (m, n) at s (S,), body frame, N m and N."""
        total = self.beyond(rod, s)
        g = self.compiled.sampler.poses(self.q, rod.name, s)
        moment = total[:, :3] - np.cross(g[:, :3, 3], total[:, 3:])
        turned = [np.einsum("sji,sj->si", g[:, :3, :3], part) for part in (moment, total[:, 3:])]
        return np.concatenate(turned, axis=1)

    def beyond(self, rod: Rod, s: Array) -> Array:
        """Return the wrench (S, 6) on the part beyond each s, world frame about its origin."""
        breaks = [np.linspace(0.0, rod.length, _PANELS + 1), s]
        breaks += [np.array(x.over) for x in self._lines(rod) if x.over is not None]
        edges = np.unique(np.concatenate(breaks))
        half = 0.5 * np.diff(edges)
        where = (0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * _NODES).ravel()
        density = self._density(rod, where) * (half[:, None] * _WEIGHTS).ravel()[:, None]
        panels = density.reshape(len(half), -1, 6).sum(axis=1)
        tails = np.concatenate([np.cumsum(panels[::-1], axis=0)[::-1], np.zeros((1, 6))])
        out = tails[np.searchsorted(edges, s)]
        for at, wrench in self.points[rod.name]:
            out[s <= at + 1e-12 * rod.length] += wrench
        return out

    def _lines(self, rod: Rod) -> list[Load]:
        loads = self.compiled.description.loads.values()
        return [load for load in loads if load.distributed and load.part == rod.name]

    def _density(self, rod: Rod, s: Array) -> Array:
        """Return gravity and distributed loads per metre (S, 6), world, about the origin."""
        g = self.compiled.sampler.poses(self.q, rod.name, s)
        weight = sum(share for share, _ in self.applied)
        found = np.zeros((len(s), 6))
        gravity = np.asarray(self.compiled.description.gravity)
        found[:, 3:] = weight * rod.mass_per_length(s)[:, None] * gravity
        for load in self._lines(rod):
            given = sum(share * load.density(s, v[load.name]) for share, v in self.applied)
            found += _to_world(g, np.asarray(given)) if load.frame == "body" else given
        if self.moving is not None:
            found -= _to_world(g, self._resistance(self.moving, rod, s))
        found[:, :3] += np.cross(g[:, :3, 3], found[:, 3:])
        return found

    def _resistance(self, moving: Instant, rod: Rod, s: Array) -> Array:
        """Minus the wrench of inertia, drag and mass damping per metre (S, 6), body frame."""
        compiled = self.compiled
        twist, rate = section_motion(compiled.system, compiled.sampler, moving, rod.name, s)
        M = compiled.system.by_name[rod.name].map.inertia(s)
        p, slope = np.zeros((len(s), 6)), np.zeros((len(s), 6, 6))
        inertia.inertia_wrench(M, twist, rate, p, slope)
        C = np.tile(rod.drag_coefficients(), (len(s), 1))
        drag.add_resistance(C, rod.mass_damping * M, twist, p, slope)
        return p

    def _add_loads(self) -> None:
        for load in self.compiled.description.loads.values():
            if isinstance(load.on, Frame):
                given = sum(share * load.wrench(v[load.name]) for share, v in self.applied)
                pose = frame_pose(self.compiled, self.q, load.on)
                world = np.asarray(given)
                if load.frame == "body":
                    world = _to_world(pose[None], world[None])[0]
                self._add(load.on, pose, world)

    def _add_weights(self) -> None:
        weight = sum(share for share, _ in self.applied)
        gravity = np.asarray(self.compiled.description.gravity)
        for body in self.compiled.description.bodies.values():
            centre = Frame(body.part, body.frame.s, tuple(body.arm()))
            pose = frame_pose(self.compiled, self.q, centre)
            force = weight * body.mass * gravity
            self._add(centre, pose, np.concatenate([np.zeros(3), force]))

    def _add_constraints(self, reactions: Mapping[str, Array]) -> None:
        for item in self.compiled.description.constraints.values():
            held, to = held_poses(self.compiled, self.q, item)
            onto, onto_held = constraints.jacobian(to, held)
            wrench = _to_world(held[None], (onto_held.T @ reactions[item.name])[None])[0]
            self._add(item.on, held, wrench)
            if isinstance(item.to, Frame):
                wrench = _to_world(to[None], (onto.T @ reactions[item.name])[None])[0]
                self._add(item.to, to, wrench)

    def _add(self, frame: Frame, pose: Array, world: Array) -> None:
        moved = world.copy()
        moved[:3] += np.cross(pose[:3, 3], world[3:])
        self.points[frame.part].append((frame.s, moved))


def _to_world(g: Array, wrench: Array) -> Array:
    """Turn wrenches (S, 6) from the axes of poses g (S, 4, 4) to world axes, same points."""
    R = g[:, :3, :3]
    return np.concatenate(
        [np.einsum("sij,sj->si", R, wrench[:, :3]), np.einsum("sij,sj->si", R, wrench[:, 3:])],
        axis=1,
    )
