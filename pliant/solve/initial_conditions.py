"""Where a simulation begins: velocities of sections as coordinate rates, constraints that hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.model import DescriptionError, Rod, did_you_mean
from pliant.model.checks import as_array
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.mass import Mass
from pliant.tree.part import Part
from pliant.tree.state import State

# metres or radians: more than Newton leaves, far less than anyone draws
_GAP = 1e-7


def coordinate_rates(
    effects: Effects, q: Array, velocity: Mapping[str, Any], inputs: Inputs
) -> Array:
    """Return the rates (total,) whose motion has the momentum of the given section velocities.

    velocity : by rod name, body twists (w, v) in rad/s and m/s: a function of s (metres), one
    twist (6,) for all sections, or (N, 6) at evenly spaced sections from base to tip. Parts not
    named are at rest; prescribed joints move as `inputs` say. What the coordinates or constraints
    cannot follow is left out, in the sense of least kinetic energy of the difference.
    """
    tree = effects.tree
    check_rod_names(tree.description.rods, velocity)
    mass, state = Mass(effects), State(tree).place(q).frames()
    twists = [_station_twists(part, velocity.get(part.name)) for part in tree.parts]
    known = effects.prescribed.rates(inputs.drive)[0]
    return mass.solve(state, mass.momentum_of(state, twists), known=known)


def begin(effects: Effects, q: Array, v: Array, inputs: Inputs) -> tuple[Array, Array]:
    """Configuration and rates (total,) with which a motion that comes with q and v begins.

    Prescribed joints are where `inputs` have them and move as they say. They take up their velocity at
    once: what is free keeps its momentum.
    """
    if not effects.prescribed.names:
        return q, v
    q = effects.prescribed.put(q, inputs.drive)
    mass, state = Mass(effects), State(effects.tree).place(q).frames()
    known = effects.prescribed.rates(inputs.drive)[0]
    return q, mass.solve(state, mass.momentum(state, v), known=known)


def _station_twists(part: Part, given: object) -> Array:
    """Wished body twists (F, 6) of the frame stations of a part."""
    if part.rod is None:
        return np.zeros((len(part.frames_s), 6))
    twists = section_twists(part.rod, given, part.frames_s)
    count = len(part.mass_s)
    twists[count:] = np.einsum("sij,sj->si", part.point_A, twists[count:])
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


def require_closed(effects: Effects, q: Array) -> None:
    """Refuse to begin at a configuration that does not keep the constraints."""
    state = State(effects.tree).place(q)
    for term in effects.hard:
        if term.rows[0] < effects.tree.n:
            continue
        gap = float(np.abs(term.violations(state)).max())
        if gap > _GAP:
            raise DescriptionError(
                term.label,
                "gap at the start",
                gap,
                "zero (metres, radians): the undeformed robot does not reach it",
                "start from the equilibrium with start='statics'",
            )
