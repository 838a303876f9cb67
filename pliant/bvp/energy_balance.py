"""Work done on a chain and energy lost in it over the steps of a motion.

Weight does no work here: it has a potential. Forces and rates of the last instant are kept, because the
work of a step is that of mean forces at mean rates (`TimeRule.shares`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.bvp import rod_equations as eq
from pliant.bvp.effect_callback import RESULT, WRENCH, evaluate
from pliant.bvp.sections import Sections
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints


class Balance(NamedTuple):
    """Totals so far, and what pushed and moved at the last instant.

    totals : (2,) work and loss, J.  strain_rate, velocity, active : (S, 6) at the stations.
    push, move : (1 + P + Q, 12) of the base, of each point load and, if there are loads along rods, at
    Q places: wrench and twist in the world, then those in the body.
    weights : (S,) of an integral over the stations, m.  sites : (P,) places of the point loads.
    line : (Q, 2) station and place of what is summed along the rods, line_weights : (Q,), m.
    D, M, active_now : (S, 6) of the sections.  own_stress : (S, 6) of effects in plain Python, now.
    """

    totals: Array
    strain_rate: Array
    velocity: Array
    active: Array
    push: Array
    move: Array
    weights: Array
    sites: Ints
    line: Ints
    line_weights: Array
    D: Array
    M: Array
    active_now: Array
    own_stress: Array


def new_balance(
    sections: Sections, totals: Array, weights: Array, sites: Ints, line: Ints, line_weights: Array
) -> Balance:
    """A balance that starts from rest; totals : (2,) go on being added to."""
    loads = sections.chain.description.loads.values()
    along = sections.own is not None or any(load.distributed for load in loads)
    line = line if along else line[:0]
    rows = 1 + len(sites) + len(line)
    at_stations = [np.zeros_like(sections.C) for _ in range(3)]
    at_places = [np.zeros((rows, 12)) for _ in range(2)]
    constants = (sections.D, sections.M, sections.active, np.zeros_like(sections.C))
    places = (weights, sites, line, line_weights)
    return Balance._make([totals, *at_stations, *at_places, *places, *constants])


def transfer_powers(old: Balance, new: Balance, transfer: Callable[[Array], Array]) -> None:
    """Let a balance on other stations know what pushed and moved at the last instant.

    transfer : takes values (S, c) to the other stations, which are also the places of loads along rods.
    """
    for name in ("strain_rate", "velocity", "active"):
        getattr(new, name)[:] = transfer(getattr(old, name))
    points = 1 + len(old.sites)
    new.push[:points], new.move[:points] = old.push[:points], old.move[:points]
    if len(old.line):
        density = old.push[points:] / old.line_weights[:, None]
        new.push[points:] = transfer(density) * new.line_weights[:, None]
        new.move[points:] = transfer(old.move[points:])


@kernel
def with_own_loads(own, c0, balance, places, table):  # type: ignore[no-untyped-def]
    """The table with wrenches of effects in plain Python, by their address `own`, as follower loads."""
    if own == 0:
        return table
    E, rows = np.empty(RESULT), table.copy()
    for k in range(len(balance.line)):
        station = balance.line[k, 0]
        evaluate(own, station, c0, places[balance.line[k, 1]].copy(), E)
        rows[station, eq.MOMENT_BODY : eq.DRAG] += E[WRENCH : WRENCH + 6]
    return rows


@kernel
def _twists(y, offset, move):  # type: ignore[no-untyped-def]
    """Write the twist of a section state y (24,) at an offset (3,): world (6,), then body (6,)."""
    wx, wy, wz = y[6], y[7], y[8]
    move[6], move[7], move[8] = wx, wy, wz
    move[9] = y[9] + wy * offset[2] - wz * offset[1]
    move[10] = y[10] + wz * offset[0] - wx * offset[2]
    move[11] = y[11] + wx * offset[1] - wy * offset[0]
    for part in (0, 3):
        for i in range(3):
            total = 0.0
            for j in range(3):
                total += y[15 + 3 * i + j] * move[6 + part + j]
            move[part + i] = total


@kernel
def _work(push, move, push_before, move_before, shares):  # type: ignore[no-untyped-def]
    """Work of one row (12,) in a step, J; the row before becomes that of now."""
    found = 0.0
    for r in range(12):
        f0, f1, v0, v1 = push_before[r], push[r], move_before[r], move[r]
        found += shares[0] * f0 * v0 + shares[1] * f1 * v1
        found += shares[2] * 0.25 * (f0 + f1) * (v0 + v1)
        push_before[r], move_before[r] = f1, v1
    return found


@kernel
def _loads_work(balance, shares, table, jumps, places, wrench):  # type: ignore[no-untyped-def]
    """Work of the base, of point loads and of loads along the rods, weight left out, J."""
    b, push, move, none = balance, np.zeros(12), np.zeros(12), np.zeros(3)
    for r in range(6):
        push[6 + r], move[6 + r] = -wrench[r], places[0, 6 + r]
    found = _work(push, move, b.push[0], b.move[0], shares)
    for p in range(len(b.sites)):
        load = jumps.loads[p]
        push[:] = load[3:15]
        _twists(places[b.sites[p]], load[:3], move)
        found += _work(push, move, b.push[1 + p], b.move[1 + p], shares)
    for k in range(len(b.line)):
        P, part, row = table[b.line[k, 0]], b.line_weights[k], 1 + len(b.sites) + k
        for r in range(3):
            push[r] = part * P[eq.MOMENT_WORLD + r]
            push[3 + r] = part * (P[eq.FORCE_WORLD + r] - P[eq.MASS] * jumps.gravity[r])
            push[6 + r], push[9 + r] = part * P[eq.MOMENT_BODY + r], part * P[eq.FORCE_BODY + r]
        _twists(places[b.line[k, 1]], none, move)
        found += _work(push, move, b.push[row], b.move[row], shares)
    return found


@kernel
def _lost(P, D, M, rate, e, r):  # type: ignore[no-untyped-def]
    """Power lost per length by one of six components: damping, mass damping, drag, W/m."""
    found = D * rate * rate + P[eq.MASS_DAMPING] * M * e * e
    if r > 2:
        found += P[eq.DRAG - 3 + r] * abs(e) ** 3
    return found


@kernel
def accumulate(balance, shares, table, jumps, places, wrench, history):  # type: ignore[no-untyped-def]
    """Add work and loss of the step that led to the present instant.

    shares (3,) see `TimeRule.shares`; all zero only keeps the instant. table (S, 44) and jumps of the
    sections, places (K, 24) states where loads sit, wrench (6,) that the chain takes from the base.
    """
    b, h = balance, history
    work, lost = _loads_work(b, shares, table, jumps, places, wrench), 0.0
    start, end, mean = shares[0], shares[1], shares[2]
    for i in range(len(table)):
        P, part = table[i], b.weights[i]
        for r in range(6):
            d, m, f0 = b.D[i, r], b.M[i, r], b.active[i, r]
            f1 = b.active_now[i, r] + b.own_stress[i, r]
            r0, r1 = b.strain_rate[i, r], h.strain_rate[i, r]
            e0, e1 = b.velocity[i, r], h.velocity[i, r]
            rate, e = 0.5 * (r0 + r1), 0.5 * (e0 + e1)
            work -= part * (start * f0 * r0 + end * f1 * r1 + mean * 0.5 * (f0 + f1) * rate)
            if start != 0.0:
                lost += start * part * _lost(P, d, m, r0, e0, r)
            lost += end * part * _lost(P, d, m, r1, e1, r) + mean * part * _lost(
                P, d, m, rate, e, r
            )
            b.active[i, r], b.strain_rate[i, r], b.velocity[i, r] = f1, r1, e1
    b.totals[0] += work
    b.totals[1] += lost
