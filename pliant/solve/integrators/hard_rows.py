"""Second derivatives of what hard rows hold: strains that cannot change, and constraints."""

from __future__ import annotations

import numpy as np

from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.tree.state import State

_STENCIL = ((2.0, -1.0), (1.0, 16.0), (-1.0, 16.0), (-2.0, -1.0))


def gap_accelerations(effects: Effects, state: State, v: Array, acc: Array, z: Array) -> Array:
    """Second time derivatives (total,) of all hard rows, for rates v and accelerations acc (total,).

    That at constant rates is taken by differences of fourth order along the motion. Rows that are
    idle with multipliers z (total,) have none.
    """
    tree = effects.tree
    out = np.zeros(tree.total)
    if not effects.hard:
        return out
    lifted = tree.variations(state, acc)[1]
    for term in effects.hard:
        term.add_gap_rates(state, acc, lifted, z, 1.0, out)
    speed = float(np.max(np.abs(v), initial=0.0))
    if speed > 0.0:
        step = 1e-3 / speed
        other = State(tree)
        for term in effects.hard:
            out[term.rows] -= 30.0 * term.gaps(state) / (12.0 * step**2)
        for at, weight in _STENCIL:
            other.place(tree.moved(state, at * step * v, newton=False))
            for term in effects.hard:
                out[term.rows] += weight * term.gaps(other) / (12.0 * step**2)
    for term in effects.hard:
        out[term.rows] *= term.holding(z)
    return out
