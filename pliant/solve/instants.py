"""Balance at the instants of a motion: accelerations, and the wrenches that hold the robot.

At configuration q with rates v balance asks for accelerations M a = f(q, v), those of modes with
periods far below the step included. Of these a motion holds an alternating rest, which M^-1 makes
large. With

    (M + h^2/4 K) a = f(q, v)

they are the second differences of the motion that the midpoint rule makes, for which
M (q+ - 2 q + q-) / h^2 + K (q+ + 2 q + q-) / 4 = load: a mode of frequency w is divided by
1 + (w h / 2)^2, and what the step resolves keeps its order. Lengths and constraints are held with
their second derivatives.

What holds a rod at its base then follows from the motion of all that it carries, as by Newton and
Euler: no stress enters, and so neither theory nor formulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pliant.lie import se3
from pliant.model import ConvergenceError
from pliant.physics import collect, drag, inertia, loads
from pliant.rods.contract import Array
from pliant.solve.dynamics import Trajectory
from pliant.solve.integrators.contract import step_compliance
from pliant.solve.integrators.held import gap_accelerations
from pliant.solve.integrators.kinematics import Rates
from pliant.system.assembly import assemble_bilinear, assemble_vector
from pliant.system.balance import add_link_wrench, balance
from pliant.system.driving import base_twists
from pliant.system.linear import SingularError, scatter
from pliant.system.loading import Loading, make_loading
from pliant.system.sampling import Sampler
from pliant.system.system import System
from pliant.system.tangent import new_tangent

_SMALL = 1e-4
"""Displacement, relative to the coordinates, by which accelerations of sections are measured."""


@dataclass
class Instant:
    """One instant: configuration q (nq,), rates v and accelerations (n,) of the coordinates.

    reactions : wrenches (6,) by name of the constraint or clamped rod, as of an equilibrium.
    bodies : by rod name, s and minus the wrench of inertia (6,) of each rigid body, world frame
        about its origin.
    """

    q: Array
    v: Array
    acceleration: Array
    reactions: dict[str, Array]
    bodies: dict[str, list[tuple[float, Array]]]


class Instants:
    """Instants of motions of one system in steps of h seconds."""

    def __init__(self, system: System, h: float) -> None:
        self.system = system
        self._slope = 4.0 / h**2
        self._filled = new_tangent(system, False)
        self._rates = Rates(system)
        self._levels = system.levels()
        self._moves = np.zeros(system.n, dtype=bool)
        self._moves[system.coordinates] = True

    def along(self, path: Trajectory) -> Iterator[Instant]:
        """Every output time of a motion, one after the other."""
        for k in range(len(path.t)):
            loading = make_loading(self.system, {n: x[k] for n, x in path.inputs.items()})
            if path.drive_rates.size:
                drive = np.column_stack([loading.drive[:, 0], path.drive_rates[k]])
                loading = loading.moving(drive)
            yield self.at(path.q[k], path.v[k], loading)

    def at(self, q: Array, v: Array, loading: Loading) -> Instant:
        """The instant of configuration q (nq,) and rates v (n,) under `loading`."""
        acc, lam = self._balanced(q, v, loading)
        self._rates.update(v, acc)
        resisted = [self._resistance(i) for i in range(len(self.system.blocks))]
        bodies = {}
        for block, p in zip(self.system.blocks, resisted, strict=True):
            wrenches = _at_origin(block.level.body_g, p[len(block.mass_s) :])
            places = np.array(block.point_s)[block.body_station]
            bodies[block.rod.name] = list(zip(places.tolist(), wrenches, strict=True))
        return Instant(q, v, acc, self._reactions(resisted, lam, loading), bodies)

    # -- accelerations -----------------------------------------------------------------------

    def _balanced(self, q: Array, v: Array, loading: Loading) -> tuple[Array, Array]:
        """Accelerations (n,) and multipliers of the constraints (m,); the system is left at q."""
        system, slope, matrix = self.system, self._slope, self._filled.matrix
        system.place(q, self._levels, mass=True)
        system.place(q, mass=True)
        acc = np.zeros(system.n)
        acc[system.driven] = base_twists(system, loading)[1]
        r = self._residual(v, acc, loading)
        held = gap_accelerations(system, self._levels, q, v, acc)
        gaps = held[system.n :]
        right = -np.concatenate([slope * r[: system.n], gaps])
        right[system.mode_unknowns] = -held[system.mode_unknowns]
        right[system.driven] = 0.0
        try:
            matrix.factorise()
            z = matrix.solve(right)
        except SingularError:
            raise ConvergenceError(
                "the forces at one instant of the motion have no solution: something can move "
                "freely, or a rod has no mass"
            ) from None
        acc[self._moves] += z[: system.n][self._moves]
        stiffness = [np.zeros(0), *(system.link_stiffness[link.rows] for link in system.links)]
        return acc, (z[system.n :] - np.concatenate(stiffness) * gaps) / slope

    def _residual(self, v: Array, acc: Array, loading: Loading) -> Array:
        """Residual (n + m,) of balance, and in the matrix slope M + K."""
        system, rates, filled = self.system, self._rates, self._filled
        rates.update(v, acc)
        mult = np.zeros(system.n + system.m)
        for block, lagging in zip(system.blocks, rates.lagging, strict=True):
            block.level.strain.e += lagging
            if block.modes is not None and not block.rigid:
                mult[block.mode_index] = block.settled_modes(block.level.strain.e)
        r = balance(system, mult, loading, True, chart=False, filled=filled)
        for block, lagging in zip(system.blocks, rates.lagging, strict=True):
            block.level.strain.e -= lagging
        levels = [block.level for block in system.blocks]

        def collect_inertia(i: int) -> None:
            block, plan = system.blocks[i], levels[i].inertial
            collect.add_vector(plan.element, plan.J, self._resistance(i), block.ry)

        def collect_mass(i: int) -> None:
            block, plan = system.blocks[i], levels[i].inertial
            collect.add_diagonal(plan.element, plan.J, self._slope * block.M, plan.J, block.Ky)

        assemble_vector(system, levels, collect_inertia, r[: system.n])
        assemble_bilinear(system, levels, levels, collect_mass, filled)
        for block, slots in zip(system.blocks, filled.modes, strict=True):
            if block.rigid and slots is not None:
                kept = step_compliance(block, 1.0 / self._slope)
                scatter(slots[2], kept - block.compliance, filled.matrix.data)
        return r

    def _resistance(self, i: int) -> Array:
        """Minus the wrenches of inertia, drag and mass damping (Q, 6) at the inertial stations."""
        block, rates = self.system.blocks[i], self._rates
        p = np.zeros((len(block.M), 6))
        inertia.inertia_wrench(block.M, rates.eta[i], rates.acceleration[i], p, rates.gyration[i])
        if block.resisted:
            drag.add_resistance(block.drag, block.mass_damping, rates.eta[i], p, rates.gyration[i])
        return p

    # -- what holds the robot ----------------------------------------------------------------

    def _reactions(self, resisted: list[Array], lam: Array, loading: Loading) -> dict[str, Array]:
        """Wrenches (6,) that hold the robot, in the frames of `energy.reactions`."""
        system = self.system
        found: dict[str, Array] = {}
        for block in system.blocks:
            block.point_p[...] = 0.0
            block.mass_p[...] = 0.0
        for link in system.links:
            force = np.zeros(6)
            force[link.rows] = lam[link.at]
            add_link_wrench(link, force)
            found[link.name] = -force
        carried: dict[str, Array] = {}
        for i in range(len(system.blocks) - 1, -1, -1):
            block, level = system.blocks[i], system.blocks[i].level
            dead, follower = loading.line_dead[i], loading.line_follower[i]
            block.add_point_loads(level, loading.point_dead[i], loading.point_follower[i])
            loads.add_loads(level.mass.g, dead, follower, block.mass_p, block.mass_k)
            total = carried.get(block.rod.name, np.zeros(6))
            plans = (level.inertial, level.mass, level.points)
            for plan, p in zip(plans, (resisted[i], block.mass_p, block.point_p), strict=True):
                total = total + _at_origin(plan.g, p).sum(axis=0)
            if block.parent is not None:
                name = block.parent.rod.name
                carried[name] = carried.get(name, np.zeros(6)) + total
            elif block.rod.base == "world":
                found[block.rod.name] = se3.Ad(level.c.base).T @ total
        return found


def section_motion(
    system: System, sampler: Sampler, instant: Instant, rod: str, s: Array
) -> tuple[Array, Array]:
    """Body twists and their rates (S, 6) of a rod's sections at s (S,).

    The rates are taken by a central difference along q(t) = q o exp(t v + t^2/2 a).
    """
    q, v, acc = instant.q, instant.v, instant.acceleration
    size = max(np.abs(v).max(initial=0.0), np.sqrt(np.abs(acc).max(initial=0.0)))
    twist = sampler.velocities(q, v, rod, s)
    if size == 0.0:
        return twist, np.zeros_like(twist)
    t = _SMALL / float(size)
    system.place(q)
    ends = [
        sampler.velocities(
            system.moved(q, x * v + (0.5 * t * t) * acc, newton=False), v + x * acc, rod, s
        )
        for x in (t, -t)
    ]
    return twist, (ends[0] - ends[1]) / (2.0 * t)


def _at_origin(g: Array, p: Array) -> Array:
    """Body wrenches p (S, 6) at poses g (S, 4, 4) in the world frame about its origin."""
    R = g[:, :3, :3]
    moment, force = (np.einsum("sij,sj->si", R, part) for part in (p[:, :3], p[:, 3:]))
    return np.concatenate([moment + np.cross(g[:, :3, 3], force), force], axis=1)
