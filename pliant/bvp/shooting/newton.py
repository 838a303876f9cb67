"""Newton's method of shooting, compiled: for any supports, over one segment or many.

Over one segment (simple shooting) the six numbers at the base are unknown. With several, the states at
the cuts are unknown too and what arrives there must agree with them: errors grow over one segment only.
Positions at the cuts are no unknowns where nothing depends on them.

Integrations and boundary conditions are programs (`pliant.engine`), each compiled by itself: Newton's
method knows neither supports nor schemes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, inner, kernel
from pliant.bvp.boundary_conditions import Supports, start_kernel, tip_kernel
from pliant.bvp.rod_equations import rotation
from pliant.bvp.shooting.elimination import condense, resolve
from pliant.bvp.shooting.integration import (
    Intervals,
    integrate_general,
    integrate_state,
    integrate_variations,
    is_quick,
)
from pliant.engine.calls import execute
from pliant.engine.program import Program, record, run
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
PROGRAMS = 8
START, INTEGRATE, TIP, VARY_FIRST, VARY, TIP_FIRST, TIP_LAST, NEWTON = range(PROGRAMS)
"""Programs of `Segments`: from unknowns x to state and variations at the base, over one segment from y,
conditions at the tip; variations over the first segment and over another, and those of the conditions;
Newton's method.
"""
LIMITS = 5
TOLERANCE, ROUNDING, LARGEST, FLOOR, STRICT = range(LIMITS)
"""When a solution is accepted: tolerance of the residual relative to the wrench in the chain, residual
below which it may stay if it no longer falls, wrench in the chain that is plausible, least one that
residuals are compared with, and whether to give up where a full step does not reduce the residual: the
solution is then the one nearby."""
ITERATIONS, RESIDUAL, BY_MODIFIED, BY_MULTIPLE, MOST_SEGMENTS, CODE = range(6)
"""Entries of a report."""


class Setting(NamedTuple):
    """What stays the same from solve to solve, and the time rule.

    kind, scheme : of rotation and integration.  length : of the chain, m.  scale : (6,) typical wrench.
    units : (2, 6) of the unknowns and of the conditions at the tip.  unknowns : at a cut, 15, or 18
    where positions matter.  rule : (4,) c0, c1, c2, d1; all zero at rest.
    """

    kind: int
    scheme: int
    length: float
    scale: Array
    units: Array
    unknowns: int
    rule: Array


class Segments(NamedTuple):
    """A chain cut into segments, coarsely and finely, the derivative that is kept, and workspace.

    counts : (levels,) segments at each level.  cuts : (levels, most + 1) the first interval of each,
    and the end.  level : (2,) the one in use, and the one that the derivative belongs to, -1 if none.
    goal : (6,) wrench wanted at an end that is not the tip.  x : (6,) unknowns at the base, states :
    (most, 24) assumed at the starts, end : (24,) that arrives last.  gaps, step : (most, n) in units
    (n,).  A, inverse, S, chosen : see `elimination`, in units.
    Programs read and write span : (2,) first and last interval, y : (24,), base : (18, 6) and inner :
    (18, n) variations, and conditions at the tip r : (6,) with variations (6, 6) and (6, n).
    """

    counts: Ints
    cuts: Ints
    level: Ints
    goal: Array
    x: Array
    states: Array
    end: Array
    gaps: Array
    step: Array
    unit: Array
    A: Array
    inverse: Array
    S: Array
    chosen: Ints
    span: Ints
    y: Array
    base: Array
    inner: Array
    r: Array
    base_conditions: Array
    inner_conditions: Array
    programs: Ints


def new_segments(cuts: list[Ints], unknowns: int) -> Segments:
    """Segments for given cuts (segments + 1,) at each level."""
    counts = np.array([len(places) - 1 for places in cuts], dtype=np.int64)
    most, n = int(counts.max()), unknowns
    table = np.zeros((len(cuts), most + 1), dtype=np.int64)
    for row, places in zip(table, cuts, strict=True):
        row[: len(places)] = places
    whole = {"level": 2, "chosen": (most, 6), "span": 2, "programs": PROGRAMS}
    shapes = {
        "goal": 6, "x": 6, "states": (most, 24), "end": 24, "gaps": (most, n), "step": (most, n),
        "unit": n, "A": (most, n, n), "inverse": (most, 6, 6), "S": (most, 6, n), "y": 24,
        "base": (18, 6), "inner": (18, n), "r": 6, "base_conditions": (6, 6),
        "inner_conditions": (6, n),
    }  # fmt: skip
    made = {name: np.zeros(shape) for name, shape in shapes.items()}
    made |= {name: np.zeros(shape, dtype=np.int64) for name, shape in whole.items()}
    made["level"][1] = -1
    return Segments(counts, table, **made)


def record_programs(
    setting: Setting,
    intervals: Intervals,
    supports: Supports,
    quick: tuple[Ints, Ints] | None,
    segments: Segments,
    nodes: Array,
    stages: Array,
    written: tuple[Array, ...],
) -> list[Program]:
    """Set the programs of segments; keep what is returned for as long as they are used.

    written : limits, sizes and report of `newton`.  quick : runs and most of `integrate_variations`, if
    variations follow states that are known; None to integrate both anew.
    """
    kind, scheme, rule = setting.kind, setting.scheme, setting.rule
    start, tip, s = start_kernel(supports), tip_kernel(supports), segments
    here, leave = (intervals, rule, s.span), (nodes, stages)
    none, nothing = np.zeros((18, 0)), np.zeros((6, 0))

    def vary(Z: Array) -> None:
        if quick is None:
            run(integrate_general, kind, scheme, *here, s.y, Z, *leave)
        else:
            run(integrate_variations, intervals, *quick, rule, s.span, nodes, Z)

    def integrate() -> None:
        if is_quick(kind, intervals):
            run(integrate_state, scheme, *here, s.y, *leave)
        else:
            run(integrate_general, kind, scheme, *here, s.y, none, *leave)

    programs = [
        record(run, start, supports, rule, s.x, s.y, s.base),
        record(integrate),
        record(run, tip, supports, s.y, none, s.r, nothing),
        record(vary, s.base),
        record(vary, s.inner),
        record(run, tip, supports, s.end, s.base, s.r, s.base_conditions),
        record(run, tip, supports, s.end, s.inner, s.r, s.inner_conditions),
        record(run, newton, setting, s, nodes, *written),
    ]
    s.programs[:] = [program.address for program in programs]
    return programs


@inner
def _write_units(setting, unit):  # type: ignore[no-untyped-def]
    """Write typical sizes (n,) of wrench, velocity, rotation and position."""
    rate = setting.rule[0] if setting.rule[0] > 0.0 else 1.0
    for i in range(len(unit)):
        if i < 6:
            unit[i] = setting.scale[i]
        else:
            unit[i] = (rate if i < 12 else 1.0) * (1.0 if i % 6 < 3 else setting.length)


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
def arrive(setting, segments, nodes):  # type: ignore[no-untyped-def]
    """Integrate over all segments; returns the size of the gaps and the largest wrench on the way."""
    s, y, level, distance, load = segments, segments.y, segments.level[0], 0.0, 0.0
    count, programs = s.counts[level], s.programs
    execute(programs[START])
    for k in range(count):
        state, gap = s.states[k], s.gaps[k]
        if k == 0:
            state[:] = y
        elif setting.unknowns == 15:
            state[12:15] = y[12:15]
        y[:] = state
        s.span[0], s.span[1] = s.cuts[level, k], s.cuts[level, k + 1]
        execute(programs[INTEGRATE])
        if k + 1 < count:
            _gap(y, s.states[k + 1], s.unit, gap)
        else:
            at_tip = s.span[1] == len(nodes)
            execute(programs[TIP] if at_tip else 0)
            gap[:] = 0.0
            for i in range(6):
                inner = (y[i] - s.goal[i]) / setting.scale[i]
                gap[i] = s.r[i] / setting.units[1, i] if at_tip else inner
        distance += np.dot(gap, gap)
    s.end[:] = y
    for i in range(s.span[1]):
        for j in range(6):
            largest = max(abs(nodes[i, 0, j]), abs(nodes[i, 1, j]))
            load = max(load, largest / setting.scale[j])
    return np.sqrt(distance), load


@inner
def renew(setting, segments, end):  # type: ignore[no-untyped-def]
    """Find the derivatives of all segments along the last integration and condense them.

    end : number of intervals of the chain.
    """
    s, level, programs = segments, segments.level[0], segments.programs
    count, n = s.counts[level], setting.unknowns
    execute(programs[START])
    for k in range(count):
        A, Z, conditions = s.A[k], s.inner, s.inner_conditions
        if k == 0:
            Z, conditions = s.base, s.base_conditions
            Z *= setting.units[0]
        else:
            for i in range(18):
                for j in range(n):
                    Z[i, j] = s.unit[j] if i == j else 0.0
        s.y[:] = s.states[k]
        s.span[0], s.span[1] = s.cuts[level, k], s.cuts[level, k + 1]
        execute(programs[VARY_FIRST if k == 0 else VARY])
        at_tip = s.span[1] == end
        if k + 1 == count and at_tip:
            execute(programs[TIP_FIRST if k == 0 else TIP_LAST])
        for i in range(n if k + 1 < count else 6):
            for j in range(Z.shape[1]):
                value = Z[i, j] / s.unit[i]
                if k + 1 == count and at_tip:
                    value = conditions[i, j] / setting.units[1, i]
                A[i, j] = value
    return condense(s.A[:count], s.inverse, s.S, s.chosen)


@kernel
def move(state, part, step, unit):  # type: ignore[no-untyped-def]
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


@inner
def _improve(inverse, change, step):  # type: ignore[no-untyped-def]
    """Broyden's update of the inverse derivative (6, 6): `step` (6,) changed the residual by `change`.

    All in typical units; unlike `_correct` it lasts over time steps.
    """
    miss, row = step.copy(), np.zeros(6)
    for i in range(6):
        for j in range(6):
            miss[i] -= inverse[i, j] * change[j]
            row[j] += step[i] * inverse[i, j]
    bottom = np.dot(row, change)
    if abs(bottom) > 1e-3 * np.dot(step, step):
        for i in range(6):
            for j in range(6):
                inverse[i, j] += miss[i] * row[j] / bottom


@driver
def _iterate(setting, segments, nodes, limits, sizes):  # type: ignore[no-untyped-def]
    """`newton`; returns what its report gets, and the iterations."""
    level, c0, x, known = segments.level[0], setting.rule[0], segments.x, segments.level[1:]
    count, n, unit = segments.counts[level], setting.unknowns, segments.unit
    gaps, step, states = segments.gaps[:count], segments.step[:count], segments.states[:count]
    kept, back, old = states.copy(), x.copy(), gaps[0].copy()
    _write_units(setting, unit)
    steps, taken = np.empty((MOST_ITERATIONS + 1, n * count)), 0
    before, part, fresh, accepted = np.inf, 1.0, False, -1
    poor = _POOR if count == 1 else 0.5 * _POOR
    sizes[:] = np.nan
    for iteration in range(MOST_ITERATIONS):
        distance, load = arrive(setting, segments, nodes)
        size = distance / max(load, limits[FLOOR])
        closer = distance <= (1.0 - 0.1 * part) * before
        good = np.isfinite(distance + load) and (closer or (size < 1e-6 and part == 1.0))
        if good:
            accepted += 1
            sizes[accepted] = size
            stalled = fresh and size < limits[ROUNDING] and distance > 0.3 * before
            done = size <= limits[TOLERANCE] or stalled
            if done or load > 1e3 * limits[LARGEST]:
                return (size if load <= limits[LARGEST] else IMPLAUSIBLE), iteration
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
                arrive(setting, segments, nodes)
            elif part < _SMALLEST or (limits[STRICT] != 0.0 and accepted > 0):
                return WORSE, iteration
        if stale:
            known[0] = level if renew(setting, segments, len(nodes)) else -1
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
        x += part * step[0, :6] * setting.units[0]
        for k in range(1, count):
            move(states[k], part, step[k], unit)
    return MANY, MOST_ITERATIONS


@kernel
def newton(setting, segments, nodes, limits, sizes, report):  # type: ignore[no-untyped-def]
    """Newton's method from segments.x and segments.states, which become the solution, as do nodes.

    In motions the derivative is kept, over iterations and time steps, for as long as it serves; a step
    with a new one that leads away is shortened. limits (5,) see `TOLERANCE`. report (6,) gets the
    relative residual as CODE, or a negative number that says why there is none, and the iterations;
    sizes (MOST_ITERATIONS + 1,) get the residuals, then NaN.
    """
    size, used = _iterate(setting, segments, nodes, limits, sizes)
    report[ITERATIONS] += used
    report[CODE] = size
