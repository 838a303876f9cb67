"""Rods that can spin about their own axis without inertia.

Without rotary inertia nothing determines how fast a straight rod spins about its axis, if its joint and
all constraints let it. A rod that moves in a plane does not spin as long as nothing acts across the
plane; any other one is refused.
"""

from __future__ import annotations

import numpy as np

from pliant.model import DescriptionError
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.tree.forward import kinetic_energy
from pliant.tree.part import Part
from pliant.tree.work import Work

_AXIS = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
_ROUNDING = 1e-7
"""Velocity, relative to that of the spin, that counts as rounding."""
_REMEDY = "give its formulation rotary=True (and the rod no rotary=False), or choose BSpline()"


def free_spins(effects: Effects) -> list[tuple[Part, Array]]:
    """Rods that can spin without inertia, with the rates (joint.nv,) of their joints that spin them."""
    tree = effects.tree
    found = []
    for i, part in enumerate(tree.parts):
        light = part.rod is not None and not part.M[: len(part.mass_w), :3].any()
        if not light or i in tree.drivers or not part.joint.nv:
            continue
        S, v, gaps = tree.rest.parts[i].S, np.zeros(tree.total), np.zeros(tree.total)
        spin = v[part.joint_index] = np.linalg.lstsq(S, _AXIS, rcond=None)[0]
        lifted = tree.variations(tree.rest, v)[1]
        for term in effects.hard:
            term.add_gap_rates(tree.rest, v, lifted, None, 1.0, gaps)
        energy = kinetic_energy(tree, tree.rest, Work(tree), v)
        least = _ROUNDING**2 * float(np.sum(part.M[:, 3])) * part.length**2
        if np.allclose(S @ spin, _AXIS, atol=_ROUNDING) and energy < least and not gaps.any():
            found.append((part, spin))
    return found


def require_spin_inertia(effects: Effects) -> None:
    """Refuse rods in space that can spin about their own axis without inertia."""
    for part, _ in free_spins(effects):
        if not part.capabilities.planar:
            expected = "more than zero, for the rod can spin about its own axis"
            raise DescriptionError(part.source.label, "rotary inertia", 0.0, expected, _REMEDY)


def require_joint_inertia(effects: Effects) -> None:
    """Refuse bodies that a joint lets move without any inertia, if no constraint holds them."""
    tree = effects.tree
    if tree.m:
        return
    work = Work(tree)
    for i, part in enumerate(tree.parts):
        nv = part.joint.nv
        if part.rod is not None or part.auxiliary or not nv or i in tree.drivers:
            continue
        units = np.zeros((nv, tree.total))
        units[np.arange(nv), part.joint_index] = 1.0
        alone = np.array([kinetic_energy(tree, tree.rest, work, v) for v in units])
        both = [[kinetic_energy(tree, tree.rest, work, a + b) for b in units] for a in units]
        mass = np.array(both) - alone[:, None] - alone
        sizes, ways = np.linalg.eigh(mass)
        if sizes[0] > _ROUNDING**2 * sizes[-1]:
            continue
        free = part.joint.names[int(np.argmax(np.abs(ways[:, 0])))]
        body = part.source
        field = "inertia" if getattr(body, "mass", 0.0) else "mass"
        raise DescriptionError(
            body.label,
            field,
            0.0,
            f"more than zero, for nothing resists a motion along {free!r} of its joint",
            "give it a mass and an inertia, or prescribe the joint",
        )


def spun(effects: Effects, v: Array) -> str:
    """A sentence if a rod spins without inertia at any of the rates v (T, total), else ""."""
    for part, spin in free_spins(effects):
        own = v[:, part.joint_index]
        if np.max(np.abs(own @ spin)) > _ROUNDING * np.max(np.abs(own)):
            return (
                f"{part.source.label}: it spins about its own axis, against which it has no inertia, "
                f"and its orientation is arbitrary: {_REMEDY}."
            )
    return ""
