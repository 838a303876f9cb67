"""Energies and base reactions of a placed configuration."""

from __future__ import annotations

import numpy as np

from pliant.physics import chambers
from pliant.rods.contract import Array
from pliant.system.balance import balance
from pliant.system.loading import Loading
from pliant.system.sampling import Sampler
from pliant.system.system import System


def kinetic(system: System, sampler: Sampler, q: Array, v: Array) -> float:
    """Kinetic energy of all sections and bodies at configuration q with rates v (n,), J."""
    found = 0.0
    for block in system.blocks:
        s = np.concatenate([block.mass_s, np.array(block.point_s)[block.body_station]])
        twists = sampler.velocities(q, v, block.rod.name, s)
        count = len(block.mass_s)
        twists[count:] = np.einsum("bij,bj->bi", block.body_A, twists[count:])
        found += 0.5 * float(np.sum(block.M * twists**2))
    return found


def potential(system: System, q: Array, loading: Loading) -> dict[str, float]:
    """Elastic energy, gravitational energy (zero at the origin) and potential of dead forces, J."""
    system.place(q, mass=True)
    elastic = sum(block.elastic_energy(block.level) for block in system.blocks)
    gravity = np.asarray(system.description.gravity)
    heavy = 0.0
    dead = 0.0
    for i, block in enumerate(system.blocks):
        if block.map.actuation.conservative:
            dead -= chambers.work(loading.stress[i], block.level.strain.e - block.e0)
            dead -= chambers.work(loading.inner[i], block.level.inner.e - block.inner_e0)
        p = block.level.mass.g[:, :3, 3]
        heavy -= float(np.sum(block.line_mass * (p @ gravity)))
        line = loading.line_dead[i][:, 3:] - block.line_mass[:, None] * gravity
        dead -= float(np.sum(line * p))
        if len(block.point_s):
            g = block.level.points.g
            where = g[:, :3, 3] + np.einsum("sij,sj->si", g[:, :3, :3], block.offset)
            heavy -= float(np.sum(block.point_mass * (where @ gravity)))
            point = loading.point_dead[i][:, 3:] - block.point_mass[:, None] * gravity
            dead -= float(np.sum(point * where))
    return {"elastic": float(elastic), "gravity": heavy, "loads": dead}


def reactions(system: System, q: Array, mult: Array, loading: Loading) -> dict[str, Array]:
    """Wrenches (6,) = (moment, force) that hold the robot.

    For a constraint: what it exerts on the frame it holds, in the frame it is held to. For a rod
    clamped to the world: what the clamp exerts on the rod, in the frame of its base.
    """
    system.place(q)
    balance(system, mult, loading, False)
    out = {}
    for link in system.links:
        force = np.zeros(6)
        force[link.rows] = -mult[system.n :][link.at]
        out[link.name] = force
    for block in system.blocks:
        if block.rod.base == "world":
            out[block.rod.name] = block.r[block.base_elements, :6].sum(axis=0)
    return out
