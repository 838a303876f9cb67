"""Second derivatives of what hard rows hold: strains that cannot change, and constraints."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import ask, run
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.tree.state import State

_STENCIL = ((2.0, -1.0), (1.0, 8.0), (-1.0, -8.0), (-2.0, 1.0))
_AHEAD = 1e-3
"""Largest displacement in the stencil, rad and m, is twice that."""


def gap_accelerations(effects: Effects, state: State, v: Array, acc: Array, z: Array) -> Array:
    """Second time derivatives (total,) of all hard rows, for rates v and accelerations acc (total,).

    That at constant rates is taken by differences of fourth order of the rates of the gaps, along the
    motion. Rows that are idle with multipliers z (total,) have none.
    """
    tree = effects.tree
    out, change, ahead, speed = (np.zeros(n) for n in (tree.total, tree.total, tree.total, 1))
    if not effects.hard:
        return out
    for array in (out, change):
        clear(array)
    _add_gap_rates(effects, state, acc, z, 1.0, out)
    other = State(tree)
    for at, weight in _STENCIL:
        run(set_displacement, v, at * _AHEAD, ahead, speed)
        tree.retract(state, ahead, other)
        _add_gap_rates(effects, other, v, z, weight / (12.0 * _AHEAD), change)
    run(add_scaled, speed, change, out)
    return out


def _add_gap_rates(
    effects: Effects, state: State, v: Array, z: Array, scale: float, out: Array
) -> None:
    lifted = effects.tree.variations(state, v)[1]
    for term in effects.hard:
        ask(term.add_gap_rates, state, v, lifted, z, scale, out)


@kernel
def set_displacement(v, size, ahead, speed):  # type: ignore[no-untyped-def]
    """speed_0 = largest entry of v (total,); ahead = v size / speed_0."""
    speed[0] = 0.0
    for i in range(v.shape[0]):
        speed[0] = max(speed[0], abs(v[i]))
    for i in range(v.shape[0]):
        ahead[i] = size * v[i] / speed[0] if speed[0] > 0.0 else 0.0


@kernel
def add_scaled(scale, x, out):  # type: ignore[no-untyped-def]
    """out += scale_0 x."""
    for i in range(out.shape[0]):
        out[i] += scale[0] * x[i]
