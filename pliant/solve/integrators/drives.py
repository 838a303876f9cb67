"""What prescribed joints, and prescribed coordinates of rods, do in a step."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import combine, copy, put_values, take
from pliant.engine.program import ask
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.tree.state import State


def set_driven(effects: Effects, a: State, joint_q: Array, out: Array) -> None:
    """Write to out (total,) the increments that lead prescribed coordinates from a to joint_q."""
    target = np.zeros(len(a.q))
    copy(a.q, target)
    put_values(joint_q, effects.prescribed.q_places, target)
    set_moved(effects, a.q, target, out)


def set_moved(effects: Effects, before: Array, after: Array, out: Array) -> None:
    """Write to out (total,) how far prescribed coordinates moved between q (nq,) before and after."""
    tree = effects.tree
    for i in tree.drivers:
        part = tree.parts[i]
        at, change = part.joint_slice, np.zeros(part.joint.nv)
        ask(part.joint.set_difference, before[at], after[at], change)
        put_values(change, part.joint_index, out)
    for places, numbers in effects.prescribed.maps:
        was, now = np.zeros(len(places)), np.zeros(len(places))
        take(before, places, was)
        take(after, places, now)
        combine(1.0, now, -1.0, was, now)
        put_values(now, numbers, out)
