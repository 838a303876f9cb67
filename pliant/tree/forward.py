"""Forward passes in motion: twists, accelerations and strain rates of all stations."""

from __future__ import annotations

import numpy as np

from pliant.lie import se3
from pliant.rods.contract import Array
from pliant.tree.part import Part
from pliant.tree.state import PartState, State
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork, Work


def set_rates(tree: Tree, state: State, work: Work, v: Array, acc: Array | None = None) -> None:
    """Write eta and strain rates for rates v (total,) and, if given, accelerations acc (total,).

    The twist of a base is A x + S q' with x that of the carrying frame, A = Ad((X j)^-1); its rate is
    A x' - [S q', A x] + S q'' + (S q')' at constant velocities of the joint.
    """
    state.frames()
    lifted: list[Array] = []
    seconds: list[Array] = []
    for i, part in enumerate(tree.parts):
        at, w = state.parts[i], work.parts[i]
        rate, second = np.zeros(6 + part.map.nv), np.zeros(6 + part.map.nv)
        rate[6:] = v[part.x_index]
        if acc is not None:
            second[6:] = acc[part.x_index]
        rate[:6], second[:6] = _base_motion(tree, i, state, work, v, acc)
        y, ydd = _element_rates(part, at, rate, second, acc is not None)
        lifted.append(y)
        seconds.append(ydd)
        _station_rates(part, at, w, y, ydd, acc is not None)


def _base_motion(
    tree: Tree, i: int, state: State, work: Work, v: Array, acc: Array | None
) -> tuple[Array, Array]:
    """Twist and twist rate (6,) of the base of part i; its carrier is done."""
    part, at = tree.parts[i], state.parts[i]
    twist, rate = np.zeros(6), np.zeros(6)
    if part.parent >= 0:
        carrier = work.parts[part.parent]
        twist = at.inward @ carrier.eta[part.mount]
        if acc is not None:
            rate = at.inward @ carrier.acceleration[part.mount]
    if part.joint.nv:
        own = v[part.joint_index]
        turn = at.S @ own
        if acc is not None:
            rate = rate - se3.ad(turn) @ twist + at.S @ acc[part.joint_index]
            rate = rate + part.joint.bias(state.q[part.joint_slice], own)
        twist = twist + turn
    return twist, rate


def _element_rates(
    part: Part, at: PartState, rate: Array, second: Array, wanted: bool
) -> tuple[Array, Array]:
    """First and, if wanted, second time derivatives of the element variables y (E, m)."""
    elements = part.map.elements
    shape = (len(elements), part.map.m)
    y, ydd = np.zeros(shape), np.zeros(shape)
    local = np.where(elements >= 0, rate[np.maximum(elements, 0)], 0.0)
    part.map.lift_velocity(at.c, local, y)
    if wanted:
        bias = np.zeros(shape)
        part.map.lift_bias(at.c, local, bias)
        local = np.where(elements >= 0, second[np.maximum(elements, 0)], 0.0)
        part.map.lift_velocity(at.c, local, ydd)
        ydd += bias
    return y, ydd


def _station_rates(
    part: Part, at: PartState, w: PartWork, y: Array, ydd: Array, wanted: bool
) -> None:
    count = len(part.mass_s)
    np.einsum("sia,sa->si", at.J, y[at.element], out=w.eta)
    if len(w.rate):
        np.einsum("sia,sa->si", at.strain.B, y[at.strain.element], out=w.rate)
    if not wanted:
        return
    np.einsum("sia,sa->si", at.J, ydd[at.element], out=w.acceleration)
    if count:
        bias = np.empty((count, 6))
        part.map.frame_bias(at.mass, at.c, y, bias)
        w.acceleration[:count] += bias
    if len(part.stations):
        bias = np.empty((len(part.stations), 6))
        part.map.frame_bias(at.points, at.c, y, bias)
        w.acceleration[count:] += np.einsum("sij,sj->si", part.point_A, bias)


def kinetic_energy(tree: Tree, state: State, work: Work, v: Array) -> float:
    """Kinetic energy of all sections and bodies at rates v (total,), J."""
    set_rates(tree, state, work, v)
    parts = zip(tree.parts, work.parts, strict=True)
    return sum(0.5 * float(np.sum(part.M * w.eta[: part.inertial] ** 2)) for part, w in parts)
