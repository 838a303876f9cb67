"""Where a simulation begins: joints, velocities as coordinate rates, constraints that hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from pliant.lie import se3
from pliant.model import (
    DescriptionError,
    PlausibilityWarning,
    ResolutionWarning,
    Rod,
    did_you_mean,
)
from pliant.model.checks import as_array
from pliant.model.plausible import angle_doubts
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.closure import CLOSED, cannot_close, close_by_joints
from pliant.solve.mass import Mass
from pliant.tree.forward import set_rates
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_LOST = 0.1
"""Share of the kinetic energy of given velocities that may be left out without a warning."""


def coordinate_rates(
    effects: Effects, q: Array, velocity: Mapping[str, Any], inputs: Inputs
) -> Array:
    """Return the rates (total,) whose motion has the momentum of the given section velocities.

    velocity : by part name. Of a rod, body twists (w, v) in rad/s and m/s: a function of s (metres),
    one twist (6,) for all sections, or (N, 6) at evenly spaced sections from base to tip; of a body,
    its twist (6,). Or velocities (nv,) of the joint by which the part hangs: what hangs on it moves
    along. Parts not named are at rest otherwise; prescribed joints move as `inputs` say. What the
    coordinates or constraints cannot follow is left out, in the sense of least kinetic energy of the
    difference; a warning tells if that is much.
    """
    tree = effects.tree
    own = [part.name for part in tree.parts if not part.auxiliary]
    check_names(own, velocity, "velocity", "part")
    mass, state = Mass(effects), State(tree).place(q)
    twists = _wished_twists(tree, state, velocity)
    known = effects.prescribed.rates(inputs.drive)[0]
    v = mass.solve(state, mass.momentum_of(state, twists), known=known)
    _warn_of_lost_velocity(tree, state, twists, v, velocity)
    return v


def _warn_of_lost_velocity(
    tree: Tree, state: State, wished: list[Array], v: Array, velocity: Mapping[str, Any]
) -> None:
    """Tell which part does not take up the twists that were asked for."""
    work = Work(tree)
    set_rates(tree, state, work, v, strains=False)
    for part, twists, w in zip(tree.parts, wished, work.parts, strict=True):
        given = velocity.get(part.name)
        if given is None or _joint_velocity(part, given) is not None:
            continue
        count = part.inertial
        asked = float(np.sum(part.M * twists[:count] ** 2))
        lost = float(np.sum(part.M * (w.eta[:count] - twists[:count]) ** 2))
        if lost > _LOST * asked or (asked == 0.0 and twists.any()):
            share = 100.0 * min(lost / asked, 1.0) if asked else 100.0
            warnings.warn(
                f"{part.source.label}: {share:.3g} % of its velocity, by kinetic energy, is left out: "
                "its base, its constraints or its formulation do not let it move that way. Give a "
                "velocity that they allow, or choose a formulation such as BSpline()",
                ResolutionWarning,
                stacklevel=6,
            )


def begin(effects: Effects, q: Array, v: Array, inputs: Inputs) -> tuple[Array, Array]:
    """Configuration and rates (total,) with which a motion that comes with q and v begins.

    Prescribed joints are where `inputs` have them and move as they say. They take up their velocity at
    once: what is free keeps its momentum. Joints close the loops that are open.
    """
    if not effects.prescribed.names:
        return close_by_joints(effects, q), v
    q = close_by_joints(effects, effects.prescribed.put(q, inputs.drive))
    mass, state = Mass(effects), State(effects.tree).place(q)
    known = effects.prescribed.rates(inputs.drive)[0]
    return q, mass.solve(state, mass.momentum(state, v), known=known)


def _wished_twists(tree: Tree, state: State, velocity: Mapping[str, Any]) -> list[Array]:
    """Wished body twists (F, 6) of the frame stations of each part."""
    carried: list[Array] = []
    wished: list[Array] = []
    for i, part in enumerate(tree.parts):
        at, given = state.parts[i], velocity.get(part.name)
        base = np.zeros(6)
        if part.parent >= 0:
            base = at.inward @ carried[part.parent][part.mount]
        rates = _joint_velocity(part, given)
        if rates is not None:
            base, given = base + at.S @ rates, None
        carried.append(np.einsum("sij,j->si", se3.Ad(se3.inverse(at.g) @ at.c.base), base))
        wished.append(carried[i] if given is None else _station_twists(part, at, given))
    return wished


def _joint_velocity(part: Part, given: object) -> Array | None:
    """Velocities (nv,) of the joint of a part, None if its twist is given; six are always a twist."""
    found, nv = as_array(given), part.joint.nv
    if found is None or not (0 < nv < 6) or found.size != nv or not np.isfinite(found).all():
        return None
    return found.reshape(nv)


def _station_twists(part: Part, at: PartState, given: object) -> Array:
    """Given body twists (F, 6) of the frame stations of a part."""
    if part.rod is None:
        twists = np.tile(_body_twist(part, given), (len(part.frames_s), 1))
    else:
        twists = section_twists(part.rod, given, part.frames_s)
    count = len(part.mass_s)
    twists[count:] = np.einsum("sij,sj->si", part.point_A, twists[count:])
    if part.centred:
        sections = part.map.frames(part.mass_s)
        part.map.frame(sections, at.c)
        turned = se3.Ad(se3.inverse(at.g[:count]) @ sections.g)
        twists[:count] = np.einsum("sij,sj->si", turned, twists[:count])
    return twists


def _body_twist(part: Part, given: object) -> Array:
    found = as_array(given)
    if found is None or found.shape != (6,) or not np.isfinite(found).all():
        nv = part.joint.nv
        raise DescriptionError(
            "simulate",
            f"velocity[{part.name!r}]",
            given,
            f"six finite numbers (w, v){f' or {nv} for its joint' if nv < 6 else ''}",
            "give e.g. (0, 0, 0, 0, 0.1, 0)",
        )
    return found


def with_joints(tree: Tree, q: Array, values: Mapping[str, Any]) -> Array:
    """A configuration (nq,) with joints, by part name, at given coordinates.

    The angle of a hinge in radians; of a free part, its pose (4, 4).
    """
    moving = [part.name for part in tree.parts if part.joint.nq]
    check_names(moving, values, "joints", "part with a joint")
    q = q.copy()
    for name, given in values.items():
        part = tree.part(name)
        field = f"joints[{name!r}]"
        driver = tree.drivers.get(tree.number_of(name))
        if driver is not None and len(driver.velocities) == part.joint.nv:
            expected = "left out, for an input prescribes this joint"
            raise DescriptionError("simulate", field, given, expected, "give it in inputs")
        q[part.joint_slice] = found = part.joint.coordinates("simulate", field, given)
        if part.joint.additive:
            for angle in found[[unit == "rad" for unit in part.joint.units]].tolist():
                for text in angle_doubts("simulate", field, angle):
                    warnings.warn(text, PlausibilityWarning, stacklevel=7)
    return q


def check_names(
    names: Collection[str], given: object, field: str = "velocity", of: str = "rod"
) -> None:
    """Refuse what is not filed under one of some names."""
    if not isinstance(given, Mapping):
        raise DescriptionError(
            "simulate", field, given, f"a dict by {of} name", "give e.g. {'arm': ...}"
        )
    for name in given:
        if name not in names:
            raise DescriptionError(
                "simulate",
                f"{field}[{name!r}]",
                given[name],
                f"filed under the name of a {of} of this robot",
                did_you_mean(name, names),
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
    if not effects.hard:
        return
    state = State(effects.tree).place(q)
    for term in effects.hard:
        if term.rows[0] < effects.tree.n:
            continue
        term.check_start(state)
        gap = float(np.abs(term.violations(state)).max())
        rigid = all(part.rod is None for part in effects.tree.parts)
        if gap > CLOSED and rigid and not term.one_sided:
            raise cannot_close(effects, q)
        if gap > CLOSED:
            why = "is on the wrong side of it" if term.one_sided else "does not reach it"
            raise DescriptionError(
                term.label,
                "gap at the start",
                gap,
                f"zero (metres, radians): the undeformed robot {why}",
                "start from the equilibrium with start='statics'",
            )
