"""Forward passes in motion: twists, accelerations and strain rates of all stations."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import combine, take
from pliant.engine.program import ask, run
from pliant.rods.contract import Array
from pliant.tree import collect, joint_kernels
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork, Work

_STILL = np.zeros(6)


def set_rates(
    tree: Tree,
    state: State,
    work: Work,
    v: Array,
    acc: Array | None = None,
    strains: bool = True,
) -> None:
    """Write eta and, if wanted, strain rates for rates v (total,) and accelerations acc (total,).

    The twist of a base is A x + S q' with x that of the carrying frame, A = Ad((X j)^-1); its rate is
    A x' - [S q', A x] + S q'' + (S q')' at constant velocities of the joint.
    """
    for i, part in enumerate(tree.parts):
        at, w = state.parts[i], work.parts[i]
        rate, second = w.rate_x, w.second_x
        take(v, part.x_index, rate[6:])
        if acc is not None:
            take(acc, part.x_index, second[6:])
        _base_motion(tree, i, state, work, v, acc)
        _element_rates(part, at, w, acc is not None)
        _station_rates(part, at, w, acc is not None, strains)


def _base_motion(tree: Tree, i: int, state: State, work: Work, v: Array, acc: Array | None) -> None:
    """Set twist and twist rate of the base of part i, first in its x; its carrier is done."""
    part, at, w = tree.parts[i], state.parts[i], work.parts[i]
    if part.grounded:
        return
    carried, eta = _STILL, _STILL
    if part.parent >= 0:
        carrier = work.parts[part.parent]
        carried, eta = carrier.acceleration[part.mount], carrier.eta[part.mount]
    run(joint_kernels.base_twist, at.inward, eta, at.S, v, part.joint_index, w.rate_x[:6])
    if acc is None:
        return
    bias = np.zeros(6)
    if part.joint.nv:
        ask(part.joint.set_bias, at.joint_q, v, part.joint_index, bias)
    joint = (at.S, v, acc, bias, part.joint_index)
    run(joint_kernels.base_acceleration, at.inward, carried, eta, *joint, w.second_x[:6])


def _element_rates(part: Part, at: PartState, w: PartWork, wanted: bool) -> None:
    """First and, if wanted, second time derivatives of the element variables y (E, m)."""
    elements = part.map.elements
    run(collect.entries_of, elements, w.rate_x, w.entries)
    ask(part.map.lift_velocity, at.c, w.entries, w.y)
    if wanted:
        ask(part.map.lift_bias, at.c, w.entries, w.bias)
        run(collect.entries_of, elements, w.second_x, w.entries)
        ask(part.map.lift_velocity, at.c, w.entries, w.ydd)
        combine(1.0, w.ydd, 1.0, w.bias, w.ydd)


def _station_rates(part: Part, at: PartState, w: PartWork, wanted: bool, strains: bool) -> None:
    count = len(part.mass_s)
    first = part.first_variable
    begin = 0
    if part.straight:
        begin = count
        ask(part.map.set_centre_values, at.mass, w.y, w.eta[:count])
        if wanted:
            ask(part.map.set_centre_values, at.mass, w.ydd, w.acceleration[:count])
    where = (first, at.element[begin:], at.J[begin:])
    if begin < len(w.eta):
        run(collect.station_values, *where, w.y, w.eta[begin:])
    if strains and len(w.rate):
        run(collect.station_values, first, at.strain.element, at.strain.B, w.y, w.rate)
    if not wanted:
        return
    if begin < len(w.eta):
        run(collect.station_values, *where, w.ydd, w.acceleration[begin:])
    if count and not part.straight:
        ask(part.map.frame_bias, at.mass, at.c, w.y, w.frame_bias[:count])
        combine(1.0, w.acceleration[:count], 1.0, w.frame_bias[:count], w.acceleration[:count])
    if len(part.stations):
        ask(part.map.frame_bias, at.points, at.c, w.y, w.frame_bias[count:])
        run(collect.add_moved_values, part.point_A, w.frame_bias[count:], w.acceleration[count:])


def kinetic_energy(tree: Tree, state: State, work: Work, v: Array) -> float:
    """Kinetic energy of all sections and bodies at rates v (total,), J."""
    set_rates(tree, state, work, v)
    return energy_of_rates(tree, work)


def energy_of_rates(tree: Tree, work: Work) -> float:
    """Kinetic energy at the twists that `set_rates` wrote, J."""
    parts = zip(tree.parts, work.parts, strict=True)
    return sum(0.5 * float(np.sum(part.M * w.eta[: part.inertial] ** 2)) for part, w in parts)
