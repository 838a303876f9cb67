"""Where a simulation begins: velocities of sections as coordinate rates, constraints that hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.model import Constraint, DescriptionError, Frame, Rod, did_you_mean
from pliant.model.checks import as_array
from pliant.physics import collect
from pliant.rods.contract import Array
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.integrators.contract import mass_solve, momentum
from pliant.solve.problem import Problem
from pliant.system import constraints
from pliant.system.assembly import assemble_vector
from pliant.system.block import Block
from pliant.system.driving import base_twists, put_bases
from pliant.system.loading import Loading
from pliant.system.system import System

# metres or radians: more than Newton leaves, far less than anyone draws
_GAP = 1e-7


def coordinate_rates(
    compiled: CoordinateProblem, q: Array, velocity: Mapping[str, Any], loading: Loading
) -> Array:
    """Return the rates (n,) whose motion has the momentum of the given section velocities.

    velocity : by rod name, body twists (w, v) in rad/s and m/s: a function of s (metres), one
    twist (6,) for all sections, or (N, 6) at evenly spaced sections from base to tip. Rods not
    named are at rest; driven bases move as `loading` says. What the coordinates or constraints
    cannot follow is left out, in the sense of least kinetic energy of the difference.
    """
    system = compiled.system
    check_rod_names(compiled.description.rods, velocity)
    twists = [_blocksection_twists(block, velocity.get(block.rod.name)) for block in system.blocks]
    system.place(q, mass=True)
    levels = [block.level for block in system.blocks]

    def fill(i: int) -> None:
        block, plan = system.blocks[i], levels[i].inertial
        collect.add_vector(plan.element, plan.J, block.M * twists[i], block.ry)

    wished = np.zeros(system.n)
    assemble_vector(system, levels, fill, wished)
    system.place(q, mass=True)
    return mass_solve(system, wished, driven=base_twists(system, loading)[0])


def begin(system: System, q: Array, v: Array, loading: Loading) -> tuple[Array, Array]:
    """Configuration and rates (n,) with which a motion that comes with q and v begins.

    Bases are where `loading` has them and move as it says. They take up their velocity at once:
    what is free keeps its momentum.
    """
    if not system.driven_blocks:
        return q, v
    q = put_bases(system, q, loading)
    system.place(q, mass=True)
    levels = [block.level for block in system.blocks]
    carried = momentum(system, levels, v)
    return q, mass_solve(system, carried, driven=base_twists(system, loading)[0])


def _blocksection_twists(block: Block, given: object) -> Array:
    """Wished body twists (Q, 6) of a rod's sections and of its bodies."""
    points = np.array(block.point_s)[block.body_station]
    twists = section_twists(block.rod, given, np.concatenate([block.mass_s, points]))
    count = len(block.mass_s)
    twists[count:] = np.einsum("bij,bj->bi", block.body_A, twists[count:])
    return twists


def check_rod_names(rods: Mapping[str, Rod], velocity: object) -> None:
    """Refuse velocities that are not filed under names of rods."""
    if not isinstance(velocity, Mapping):
        raise DescriptionError(
            "simulate", "velocity", velocity, "a dict by rod name", "give e.g. {'arm': twist}"
        )
    for name in velocity:
        if name not in rods:
            raise DescriptionError(
                "simulate",
                f"velocity[{name!r}]",
                velocity[name],
                "filed under the name of a rod of this robot",
                did_you_mean(name, rods),
            )


def section_twists(rod: Rod, given: object, s: Array) -> Array:
    """Return the wished body twists (S, 6) of a rod's sections."""
    if given is None:
        return np.zeros((len(s), 6))
    if callable(given):
        return np.array([_twist_at(rod, given, float(point)) for point in s])
    found = as_array(given)
    good = found is not None and found.ndim in (1, 2) and found.shape[-1] == 6 and found.size
    if found is None or not good or not np.isfinite(found).all() or found.shape[0] < 2:
        raise DescriptionError(
            "simulate",
            f"velocity[{rod.name!r}]",
            given,
            "six finite numbers (w, v), rows of six at evenly spaced sections, or a function of s",
            "give e.g. (0, 0, 0, 0, 0.1, 0)",
        )
    if found.ndim == 1:
        return np.tile(found, (len(s), 1))
    at = np.linspace(0.0, rod.length, len(found))
    return np.stack([np.interp(s, at, column) for column in found.T], axis=-1)


def _twist_at(rod: Rod, function: Callable[[float], Any], s: float) -> Array:
    given = function(s)
    found = as_array(given)
    if found is None or found.shape != (6,) or not np.isfinite(found).all():
        raise DescriptionError(
            "simulate",
            f"velocity[{rod.name!r}]",
            given,
            "six finite numbers (w, v) at every s",
            f"correct what it gives at s = {s:g} m",
        )
    return found


def require_closed(compiled: CoordinateProblem, q: Array) -> None:
    """Refuse to begin at a configuration that does not keep the constraints."""
    for constraint in compiled.description.constraints.values():
        held, to = held_poses(compiled, q, constraint)
        gap = constraints.residual(to, held)[list(constraint.rows)]
        if np.abs(gap).max() > _GAP:
            raise DescriptionError(
                constraint.label,
                "gap at the start",
                float(np.abs(gap).max()),
                "zero (metres, radians): the undeformed robot does not reach it",
                "start from the equilibrium with start='statics'",
            )


def held_poses(compiled: Problem, q: Array, constraint: Constraint) -> tuple[Array, Array]:
    """Return the world poses (4, 4) of the frame a constraint holds and of what it is held to."""
    held = frame_pose(compiled, q, constraint.on)
    if constraint.to is None:
        return held, frame_pose(compiled, compiled.rest, constraint.on)
    if isinstance(constraint.to, Frame):
        return held, frame_pose(compiled, q, constraint.to)
    return held, np.asarray(constraint.to)


def frame_pose(compiled: Problem, q: Any, frame: Frame) -> Array:
    """Return the world pose (4, 4) of a frame, offset included."""
    section = compiled.sampler.poses(q, frame.part, np.array([frame.s]))[0]
    return np.asarray(section @ frame.pose_offset())
