"""Constraints in acceleration form: their second derivatives, and strains held with their rates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.rods.contract import Array
from pliant.solve.integrators.contract import strain_gap_rates
from pliant.solve.integrators.kinematics import Rates
from pliant.system.balance import link_gaps, link_rates
from pliant.system.block import Level
from pliant.system.system import System


def hold_rates(system: System, rates: Rates, h: float) -> None:
    """Hold e + h/2 e' instead of e where strains are held by constraint, in steps of h.

    Without numerical damping the rates of a constraint on e alone alternate and grow. With this
    one, a gap and its rate are both gone one step later: e1 + h/2 e1' = 0 with
    e1 - e0 = h/2 (e0' + e1').
    """
    for block, lag in zip(system.blocks, rates.lag, strict=True):
        if block.rigid:
            lag[:, block.mode_rows] = 0.5 * h


def strain_gaps(system: System) -> Array:
    """Strains held by constraint, integrated against their modes, at their places in (n,)."""
    out = np.zeros(system.n)
    for block in system.blocks:
        if block.rigid:
            out[block.mode_index] = block.mode_strains(block.level.strain.e - block.e0)
    return out


def gap_accelerations(system: System, levels: list[Level], q: Array, v: Array, acc: Array) -> Array:
    """Second time derivatives (n + m,) of held strains and constraints, for rates and accelerations.

    v, acc (n,); the system and `levels` are placed at q, and the system is left there.
    """
    known = np.concatenate([strain_gap_rates(system, acc), link_rates(system, acc)])
    return known + _bent(
        system, levels, q, v, lambda: np.concatenate([strain_gaps(system), link_gaps(system)])
    )


def _bent(
    system: System, levels: list[Level], q: Array, v: Array, gaps: Callable[[], Array]
) -> Array:
    """Second time derivative of `gaps` at constant rates v (n,), by differences of fourth order.

    The system and `levels` are placed at q, and the system is left there.
    """
    speed = float(np.max(np.abs(v), initial=0.0))
    if speed == 0.0 or not (system.links or any(block.rigid for block in system.blocks)):
        return np.zeros_like(gaps())
    step = 1e-3 / speed
    total = -30.0 * gaps()
    for at, weight in ((2.0, -1.0), (1.0, 16.0), (-1.0, 16.0), (-2.0, -1.0)):
        with system.using(levels):
            moved = system.moved(q, at * step * v, newton=False)
        system.place(moved, mass=True)
        total += weight * gaps()
    system.place(q, mass=True)
    return np.asarray(total / (12.0 * step**2))
