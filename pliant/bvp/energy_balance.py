"""Work done on a chain and energy lost in it over the steps of a motion.

Weight does no work here: it has a potential. Forces and rates of the last instant are kept, because the
work of a step is that of mean forces at mean rates (`TimeRule.shares`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.bvp import rod_equations as eq
from pliant.bvp.pointwise_effects import RESULT, WRENCH, evaluate
from pliant.bvp.sections import Sections
from pliant.lie.tuples import Array, add, apply, cross, read_vector, write_vector
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
    line = line if sections.own is not None or sections.chain.lines else line[:0]
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
def add_own_loads(own, rule, balance, places, table, rows):  # type: ignore[no-untyped-def]
    """Write the table into rows, with wrenches of effects in plain Python as follower loads.

    own : (1,) their address.  rule : (4,) with c0 first.
    """
    E = np.empty(RESULT)
    rows[:] = table
    for k in range(len(balance.line)):
        station = balance.line[k, 0]
        evaluate(own[0], station, rule[0], places[balance.line[k, 1]].copy(), E)
        rows[station, eq.MOMENT_BODY : eq.DRAG] += E[WRENCH : WRENCH + 6]


@kernel
def _twists(y, offset, move):  # type: ignore[no-untyped-def]
    """Write the twist of a section state y (24,) at an offset (3,): world (6,), then body (6,)."""
    R, w = eq.rotation(y), read_vector(y, 6)
    q = add(1.0, read_vector(y, 9), 1.0, cross(w, read_vector(offset, 0)))
    write_vector(move, 0, apply(R, w))
    write_vector(move, 3, apply(R, q))
    write_vector(move, 6, w)
    write_vector(move, 9, q)


@inner
def _write_pushes(balance, table, jumps, places, wrench, push, move):  # type: ignore[no-untyped-def]
    """Write what pushes and moves now: base, point loads, and loads along the rods without weight."""
    b, none = balance, np.zeros(3)
    push[0, 6:], move[0, 6:] = -wrench, places[0, 6:12]
    for p in range(len(b.sites)):
        push[1 + p] = jumps.wrenches[p, 3:15]
        _twists(places[b.sites[p]], jumps.wrenches[p, :3], move[1 + p])
    for k in range(len(b.line)):
        P, part, row = table[b.line[k, 0]], b.line_weights[k], 1 + len(b.sites) + k
        push[row, :3] = part * P[eq.MOMENT_WORLD : eq.MOMENT_WORLD + 3]
        force = P[eq.FORCE_WORLD : eq.FORCE_WORLD + 3] - P[eq.MASS] * jumps.gravity
        push[row, 3:6], push[row, 6:] = part * force, part * P[eq.MOMENT_BODY : eq.DRAG]
        _twists(places[b.line[k, 1]], none, move[row])


@leaf
def _lost(P, D, M, rate, e, r):  # type: ignore[no-untyped-def]
    """Power lost per length by one of six components: damping, mass damping, drag, W/m."""
    drag = P[eq.DRAG - 3 + r] * abs(e) ** 3 if r > 2 else 0.0
    return D * rate * rate + P[eq.MASS_DAMPING] * M * e * e + drag


@kernel
def accumulate(balance, shares, table, jumps, places, wrench, history):  # type: ignore[no-untyped-def]
    """Add work and loss of the step that led to the present instant.

    shares (3,) see `TimeRule.shares`; all zero only keeps the instant. table (S, 44) and jumps of the
    sections, places (K, 24) states where loads sit, wrench (6,) that the chain takes from the base.
    """
    b, h, (start, end, mean) = balance, history, (shares[0], shares[1], shares[2])
    push, move = np.zeros_like(b.push), np.zeros_like(b.move)
    _write_pushes(b, table, jumps, places, wrench, push, move)
    work, lost = start * np.sum(b.push * b.move) + end * np.sum(push * move), 0.0
    work += 0.25 * mean * np.sum((b.push + push) * (b.move + move))
    b.push[:], b.move[:] = push, move
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
            if end != 0.0:
                lost += end * part * _lost(P, d, m, r1, e1, r)
            lost += mean * part * _lost(P, d, m, rate, e, r)
            b.active[i, r], b.strain_rate[i, r], b.velocity[i, r] = f1, r1, e1
    b.totals[0] += work
    b.totals[1] += lost
