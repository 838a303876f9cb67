"""Newton's method of shooting, compiled: for any supports, over one segment or many.

Over one segment (simple shooting) the six numbers at the base are unknown. With several, the states at
the cuts are unknown too and what arrives there must agree with them: errors grow over one segment only.
Positions at the cuts are no unknowns where nothing depends on them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, kernel
from pliant.bvp.boundary_conditions import start_at_base, tip_conditions
from pliant.bvp.rod_equations import rotation
from pliant.bvp.shooting.elimination import condense, resolve
from pliant.bvp.shooting.integration import integrate, integrate_variations
from pliant.lie.so3 import exp_matrix, log_vector
from pliant.lie.tuples import (
    Array,
    add,
    apply,
    multiply,
    read_vector,
    transpose,
    write_vector,
)
from pliant.rods.contract import Ints

MOST_ITERATIONS = 40
SINGULAR, MANY, WORSE, INFINITE, IMPLAUSIBLE = -1.0, -2.0, -3.0, -4.0, -5.0
"""Results of Newton's method that are no residual."""
_SMALLEST = 1.0 / 64.0
_POOR = 0.5
"""Reduction of the residual in one iteration above which the derivative is renewed; of many segments,
whose derivative is Broyden's no longer, half of it."""


class Setting(NamedTuple):
    """What stays the same from solve to solve.

    kind, scheme : of rotation and integration.  length : of the chain, m.  scale : (6,) typical wrench.
    unknowns : at a cut, 15, or 18 where positions matter.  runs : (N,), most : (1,) see `variations`.
    """

    kind: int
    scheme: int
    length: float
    scale: Array
    unknowns: int
    runs: Ints
    most: Ints


class Criteria(NamedTuple):
    """When a solution is accepted.

    tolerance : of the residual relative to the wrench in the chain.  rounding : residual below which
    it may stay if it no longer falls.  largest : wrench in the chain that is plausible.  floor : least
    one that residuals are compared with.  strict : give up where a full step does not reduce the
    residual: the solution is then the one nearby.
    """

    tolerance: float
    rounding: float
    largest: float
    floor: float
    strict: bool


class Segments(NamedTuple):
    """A chain cut into segments, coarsely and finely, and the derivative that is kept.

    counts : (levels,) segments at each level.  cuts : (levels, most + 1) the first interval of each,
    and the end.  goal : (6,) wrench wanted at an end that is not the tip.  states : (most, 24) assumed
    at the starts, end : (24,) that arrives last.  A, inverse, S, chosen : see `elimination`, in units.
    known : (1,) the level that they belong to, -1 if none.
    """

    counts: Ints
    cuts: Ints
    goal: Array
    states: Array
    end: Array
    A: Array
    inverse: Array
    S: Array
    chosen: Ints
    known: Ints


def new_segments(cuts: list[Ints], unknowns: int) -> Segments:
    """Segments for given cuts (segments + 1,) at each level."""
    counts = np.array([len(places) - 1 for places in cuts], dtype=np.int64)
    most, n = int(counts.max()), unknowns
    table = np.zeros((len(cuts), most + 1), dtype=np.int64)
    for row, places in zip(table, cuts, strict=True):
        row[: len(places)] = places
    shapes = ((6,), (most, 24), (24,), (most, n, n), (most, 6, 6), (most, 6, n))
    chosen, known = np.zeros((most, 6), dtype=np.int64), np.full(1, -1, dtype=np.int64)
    return Segments._make([counts, table, *map(np.zeros, shapes), chosen, known])


@kernel
def _units(setting, c0):  # type: ignore[no-untyped-def]
    """Typical sizes (n,) of wrench, velocity, rotation and position."""
    rate, out = c0 if c0 > 0.0 else 1.0, np.full(setting.unknowns, setting.length)
    out[:6], out[6:9], out[9:12], out[12:15] = setting.scale, rate, rate * setting.length, 1.0
    return out


@kernel
def _gap(y, state, unit, out):  # type: ignore[no-untyped-def]
    """Write by how much an arriving state y (24,) misses the assumed one, (n,) in typical units."""
    back = transpose(rotation(state))
    turn = log_vector(multiply(back, rotation(y)))
    move = apply(back, add(1.0, read_vector(y, 12), -1.0, read_vector(state, 12)))
    out[:12] = y[:12] - state[:12]
    for i in range(3):
        out[12 + i] = turn[i]
        if len(out) > 15:
            out[15 + i] = move[i]
    out /= unit


@kernel
def _arrive(problem, x, unit, nodes, stages, gaps):  # type: ignore[no-untyped-def]
    """Integrate over all segments; returns the size of the gaps and the largest wrench on the way."""
    setting, intervals, supports, segments, level, c0 = problem
    y, none, Z, J = np.empty(24), np.empty((18, 0)), np.empty((18, 6)), np.empty((6, 0))
    count, cuts, distance = segments.counts[level], segments.cuts[level], 0.0
    for k in range(count):
        state = segments.states[k]
        if k == 0:
            start_at_base(supports, c0, x, state, Z)
        elif setting.unknowns == 15:
            state[12:15] = y[12:15]
        y[:] = state
        a, b = cuts[k], cuts[k + 1]
        integrate(setting.kind, setting.scheme, intervals, c0, a, b, y, none, nodes, stages)
        if k + 1 < count:
            _gap(y, segments.states[k + 1], unit, gaps[k])
        else:
            gaps[k] = 0.0
            if b == len(intervals.h):
                tip_conditions(supports, y, none, gaps[k, :6], J)
                gaps[k, :6] /= supports.units[1]
            else:
                gaps[k, :6] = (y[:6] - segments.goal) / setting.scale
        distance += np.dot(gaps[k], gaps[k])
    segments.end[:] = y
    load = 0.0
    for i in range(cuts[count]):
        for j in range(6):
            largest = max(abs(nodes[i, 0, j]), abs(nodes[i, 1, j]))
            load = max(load, largest / setting.scale[j])
    return np.sqrt(distance), load


@driver
def _renew(problem, exact, x, unit, nodes, stages):  # type: ignore[no-untyped-def]
    """Find the derivatives of all segments along the last integration and condense them.

    exact : integrate states and variations anew; else variations along the states that are known.
    """
    setting, intervals, supports, segments, level, c0 = problem
    count, cuts, n = segments.counts[level], segments.cuts[level], setting.unknowns
    r, y, start = np.empty(6), np.empty(24), np.empty((18, 6))
    start_at_base(supports, c0, x, y, start)
    for k in range(count):
        a, b, A, Z = cuts[k], cuts[k + 1], segments.A[k], np.zeros((18, 6 if k == 0 else n))
        if k == 0:
            Z[:] = start * supports.units[0]
        else:
            np.fill_diagonal(Z, unit)
        y[:] = segments.states[k]
        if exact:
            integrate(setting.kind, setting.scheme, intervals, c0, a, b, y, Z, nodes, stages)
        else:
            integrate_variations(intervals, setting.runs, setting.most[0], c0, a, b, nodes, Z)
        columns = Z.shape[1]
        if k + 1 < count:
            A[:, :columns] = Z[:n] / unit.reshape(n, 1)
        elif b == len(intervals.h):
            J = np.empty((6, columns))
            tip_conditions(supports, segments.end, Z, r, J)
            A[:6, :columns] = J / supports.units[1].reshape(6, 1)
        else:
            A[:6, :columns] = Z[:6] / setting.scale.reshape(6, 1)
    return condense(segments.A[:count], segments.inverse, segments.S, segments.chosen)


@kernel
def _move(state, part, step, unit):  # type: ignore[no-untyped-def]
    """Move a state (24,) by a part of a step (n,) in typical units."""
    R, move = rotation(state), part * step * unit
    state[:12] += move[:12]
    if len(step) > 15:
        forward = add(1.0, read_vector(state, 12), 1.0, apply(R, read_vector(move, 15)))
        write_vector(state, 12, forward)
    turned = multiply(R, exp_matrix(move[12], move[13], move[14]))
    for i in range(9):
        state[15 + i] = turned[i]


@kernel
def _correct(steps, taken, step):  # type: ignore[no-untyped-def]
    """Broyden's update of a step that an old derivative gives, from the steps already taken.

    steps (.., n): the `taken` last ones, all of full length; step (n,) is the next with the old
    derivative (Kelley 1995, Iterative Methods for Linear and Nonlinear Equations, algorithm brsol).
    """
    for j in range(taken):
        part = np.dot(steps[j], step) / np.dot(steps[j], steps[j])
        if j + 1 < taken:
            step += part * steps[j + 1]
        elif part < 0.9:
            step /= 1.0 - part


@kernel
def _improve(inverse, change, step):  # type: ignore[no-untyped-def]
    """Broyden's update of the inverse derivative (6, 6): `step` (6,) changed the residual by `change`.

    All in typical units; unlike `_correct` it lasts over time steps.
    """
    miss, row = step - np.dot(inverse, change), np.dot(step, inverse)
    bottom = np.dot(row, change)
    if abs(bottom) > 1e-3 * np.dot(step, step):
        inverse += np.outer(miss, row) / bottom


@kernel
def newton(problem, criteria, x, nodes, stages, sizes):  # type: ignore[no-untyped-def]
    """Newton's method from x (6,) and segments.states, which become the solution; so do nodes, stages.

    problem : setting, intervals, supports, segments, level of them, c0.
    In motions the derivative is kept, over iterations and time steps, for as long as it serves; a step
    with a new one that leads away is shortened. Returns the relative residual, or a negative number
    that says why there is none, and the iterations. sizes (MOST_ITERATIONS + 1,) get the
    residuals, then NaN.
    """
    setting, intervals, supports, segments, level, c0 = problem
    count, n = segments.counts[level], setting.unknowns
    unit, gaps, step = _units(setting, c0), np.empty((count, n)), np.zeros((count, n))
    states, back, old = segments.states[:count], x.copy(), gaps[0].copy()
    kept = states.copy()
    steps, taken = np.empty((MOST_ITERATIONS + 1, n * count)), 0
    before, part, fresh, accepted = np.inf, 1.0, False, -1
    poor, known = _POOR if count == 1 else 0.5 * _POOR, segments.known
    sizes[:] = np.nan
    for iteration in range(MOST_ITERATIONS):
        distance, load = _arrive(problem, x, unit, nodes, stages, gaps)
        size = distance / max(load, criteria.floor)
        closer = distance <= (1.0 - 0.1 * part) * before
        good = np.isfinite(distance + load) and (closer or (size < 1e-6 and part == 1.0))
        if good:
            accepted += 1
            sizes[accepted] = size
            stalled = fresh and size < criteria.rounding and distance > 0.3 * before
            done = size <= criteria.tolerance or stalled
            if done or load > 1e3 * criteria.largest:
                return (size if load <= criteria.largest else IMPLAUSIBLE), iteration
            stale = c0 == 0.0 or known[0] != level or distance > poor * before
            if count == 1 and not stale and before < np.inf:
                _improve(segments.inverse[0], gaps[0, :6] - old[:6], part * step[0, :6])
            kept[:], back[:], before, old[:] = states, x, distance, gaps[0]
        else:
            if before == np.inf:
                return INFINITE, iteration
            stale, part = not fresh, 0.5 * part
            states[:], x[:] = kept, back
            if stale:
                _arrive(problem, x, unit, nodes, stages, gaps)
            elif part < _SMALLEST or (criteria.strict and accepted > 0):
                return WORSE, iteration
        if stale:
            exact = c0 == 0.0 or intervals.own[0] != 0
            known[0] = level if _renew(problem, exact, x, unit, nodes, stages) else -1
            if known[0] < 0:
                return SINGULAR, iteration
        if stale or good:
            resolve(segments.A[:count], segments.inverse, segments.S, segments.chosen, gaps, step)
            if count > 1:
                taken = 0 if stale or part < 1.0 else taken
                _correct(steps, taken, step.reshape(n * count))
                steps[taken] = step.reshape(n * count)
                taken += 1
            fresh, part = stale, 1.0
        x += part * step[0, :6] * supports.units[0]
        for k in range(1, count):
            _move(states[k], part, step[k], unit)
    return MANY, MOST_ITERATIONS
