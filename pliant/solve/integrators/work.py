"""Loads in a time step: their generalised forces and their work."""

from __future__ import annotations

import numpy as np

from pliant.lie import se3
from pliant.physics import collect, loads
from pliant.rods.contract import Array
from pliant.system.assembly import Fill
from pliant.system.block import Block, Level
from pliant.system.loading import Loading
from pliant.system.system import System


def step_work(
    system: System, a: list[Level], b: list[Level], before: Loading, after: Loading
) -> float:
    """Work of all loads except gravity between two configurations, J, by the mean wrench."""
    gravity = np.asarray(system.description.gravity)
    total = 0.0
    for i, block in enumerate(system.blocks):
        if before.point_active[i] or after.point_active[i]:
            dead = 0.5 * (before.point_dead[i] + after.point_dead[i])
            dead[:, 3:] -= block.point_mass[:, None] * gravity
            follow = 0.5 * (before.point_follower[i] + after.point_follower[i])
            if np.any(dead) or np.any(follow):
                ga, gb = _offset_poses(block, a[i]), _offset_poses(block, b[i])
                total += _wrench_work(ga, gb, dead, follow)
        if before.line_active[i] or after.line_active[i]:
            dead = 0.5 * (before.line_dead[i] + after.line_dead[i])
            dead[:, 3:] -= block.line_mass[:, None] * gravity
            follow = 0.5 * (before.line_follower[i] + after.line_follower[i])
            if np.any(dead) or np.any(follow):
                total += _wrench_work(a[i].mass.g, b[i].mass.g, dead, follow)
        if before.stress_active[i] or after.stress_active[i]:
            stress = 0.5 * (before.stress[i] + after.stress[i])
            inner = 0.5 * (before.inner[i] + after.inner[i])
            total += block.actuation_work(a[i], b[i], stress, inner)
    return total


def _offset_poses(block: Block, level: Level) -> Array:
    g = level.points.g.copy()
    g[:, :3, 3] += np.einsum("sij,sj->si", g[:, :3, :3], block.offset)
    return g


def _wrench_work(ga: Array, gb: Array, dead: Array, follow: Array) -> float:
    """Sum of dead.(turn, displacement) in the world and follow.(twist) in the body."""
    twist = se3.log(se3.inverse(ga) @ gb)
    turn = np.einsum("sij,sj->si", ga[:, :3, :3], twist[:, :3])
    move = gb[:, :3, 3] - ga[:, :3, 3]
    work = np.sum(dead[:, :3] * turn) + np.sum(dead[:, 3:] * move) + np.sum(follow * twist)
    return float(work)


def load_fill(system: System, levels: list[Level], loading: Loading) -> Fill:
    """Fill with the wrenches of `loading` at `levels`."""

    def fill(i: int) -> None:
        block, level = system.blocks[i], levels[i]
        if loading.stress_active[i]:
            block.add_actuation(level, -loading.stress[i], -loading.inner[i], False)
        if loading.line_active[i]:
            block.mass_p[...] = 0.0
            dead, follower = -loading.line_dead[i], -loading.line_follower[i]
            loads.add_loads(level.mass.g, dead, follower, block.mass_p, block.mass_k)
            collect.add_vector(level.mass.element, level.mass.J, block.mass_p, block.ry)
        if loading.point_active[i]:
            keep = block.point_p.copy()
            block.point_p[...] = 0.0
            block.add_point_loads(level, -loading.point_dead[i], -loading.point_follower[i])
            collect.add_vector(level.points.element, level.points.J, block.point_p, block.ry)
            block.point_p[...] = keep

    return fill
