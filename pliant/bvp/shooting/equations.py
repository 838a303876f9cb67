"""The equations of shooting, over one segment or many, and the programs by which they are solved.

Over one segment (simple shooting) the six numbers at the base are unknown. With several, the states at
the cuts are unknown too and what arrives there must agree with them: errors grow over one segment only.
Positions at the cuts are no unknowns where nothing depends on them.

Integrations and boundary conditions are programs (`pliant.engine`), each compiled by itself: the
equations know neither supports nor schemes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel
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
from pliant.engine import loops
from pliant.engine.calls import execute
from pliant.engine.loops import NEGATIVE, PART, SCALE, SIZE, SIZES, note_newton
from pliant.engine.newton import Newton, Policy
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

EQUILIBRIUM = Policy(
    iterations=40, near=np.inf, shortest=1.0 / 64.0, stalled=1e-7, progress=0.3, patience=1
)
STEP = replace(EQUILIBRIUM, contraction=0.5, stalled=1e-9)
"""How Newton's method works at rest, where each correction has a tangent of its own, and in motion."""
_FIRST = float(STEP.shortest)
SEVERAL = 0.25
"""Contraction with several segments: there Broyden's improvements do not last from step to step."""
_REMEMBERED = 12
"""Corrections with one derivative that the next ones are improved by."""
PROGRAMS = 8
START, INTEGRATE, TIP, VARY_FIRST, VARY, TIP_FIRST, TIP_LAST, NEWTON = range(PROGRAMS)
"""Programs of `Segments`: from unknowns x to state and variations at the base, over one segment from y,
conditions at the tip; variations over the first segment and over another, and those of the conditions;
Newton's method.
"""
LIMITS = 4
TOLERANCE, LARGEST, FLOOR, SHORTEST = range(LIMITS)
"""What a solution is accepted by: tolerance of the residual relative to the wrench in the chain, wrench
that is plausible, least one that residuals are compared with, and shortest part of a correction.
"""


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

    numbers, counts, flags, history : of a `Newton`.  divisions : (levels,) segments at each level.
    cuts : (levels, most + 1) the first interval of each, and the end.  level : (1,) the one in use.
    goal : (6,) wrench wanted at an end that is not the tip.  x : (6,) unknowns at the base, states :
    (most, 24) assumed at the starts, end : (24,) that arrives last.  gaps, step : (most, n) in units
    (n,).  A, inverse, S, chosen : see `elimination`, in units.  load : (1,) largest wrench there is.
    shortest : (1,) part of corrections after the first, which starts from a guess, see `Policy`.
    kept, kept_x, kept_gap : where the last correction begins, and the gap (n,) of the first segment
    there.  steps : (12, n most) the last corrections, taken : (1,) how many with this derivative.
    Programs read and write span : (2,) first and last interval, y : (24,), base : (18, 6) and inner :
    (18, n) variations, and conditions at the tip r : (6,) with variations (6, 6) and (6, n).
    """

    numbers: Array
    counts: Ints
    flags: Ints
    history: Array
    divisions: Ints
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
    load: Array
    shortest: Array
    kept: Array
    kept_x: Array
    kept_gap: Array
    steps: Array
    taken: Ints
    span: Ints
    y: Array
    base: Array
    inner: Array
    r: Array
    base_conditions: Array
    inner_conditions: Array
    programs: Ints


def new_segments(cuts: list[Ints], unknowns: int, newton: Newton) -> Segments:
    """Segments for given cuts (segments + 1,) at each level."""
    divisions = np.array([len(places) - 1 for places in cuts], dtype=np.int64)
    most, n = int(divisions.max()), unknowns
    table = np.zeros((len(cuts), most + 1), dtype=np.int64)
    for row, places in zip(table, cuts, strict=True):
        row[: len(places)] = places
    whole = {"level": 1, "chosen": (most, 6), "taken": 1, "span": 2, "programs": PROGRAMS}
    shapes = {
        "goal": 6, "x": 6, "states": (most, 24), "end": 24, "gaps": (most, n), "step": (most, n),
        "unit": n, "A": (most, n, n), "inverse": (most, 6, 6), "S": (most, 6, n), "load": 1,
        "shortest": 1, "kept": (most, 24), "kept_x": 6, "kept_gap": n, "y": 24,
        "steps": (_REMEMBERED, n * most),
        "base": (18, 6), "inner": (18, n), "r": 6, "base_conditions": (6, 6),
        "inner_conditions": (6, n),
    }  # fmt: skip
    made = {name: np.zeros(shape) for name, shape in shapes.items()}
    made |= {name: np.zeros(shape, dtype=np.int64) for name, shape in whole.items()}
    made |= dict(zip(("numbers", "counts", "flags", "history"), newton.control, strict=True))
    return Segments(divisions=divisions, cuts=table, **made)


def record_programs(
    setting: Setting,
    intervals: Intervals,
    supports: Supports,
    quick: tuple[Ints, Ints] | None,
    segments: Segments,
    nodes: Array,
    stages: Array,
    limits: Array,
) -> list[Program]:
    """Set the programs of segments; keep what is returned for as long as they are used.

    limits : (4,) see `LIMITS`.  quick : runs and most of `integrate_variations`, if
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

    row = newton_programs(setting, segments, nodes, limits)
    control = s.numbers, s.counts, s.flags, s.history
    addresses = np.array([0 if program is None else program.address for program in row])

    def newton() -> None:
        run(begin, setting, s)
        run(note_newton, addresses, *control)

    programs = [
        record(run, start, supports, rule, s.x, s.y, s.base),
        record(integrate),
        record(run, tip, supports, s.y, none, s.r, nothing),
        record(vary, s.base),
        record(vary, s.inner),
        record(run, tip, supports, s.end, s.base, s.r, s.base_conditions),
        record(run, tip, supports, s.end, s.inner, s.r, s.inner_conditions),
        record(newton),
    ]
    s.programs[:] = [program.address for program in programs]
    return [*programs, *(program for program in row if program is not None)]


def newton_programs(
    setting: Setting, segments: Segments, nodes: Array, limits: Array
) -> list[Program | None]:
    """The programs of Newton's method, see `loops.PROGRAMS`."""
    row: list[Program | None] = [None] * loops.PROGRAMS
    given = setting, segments

    def tangent() -> None:
        run(find_residual, *given, nodes, limits)
        run(renew, *given, len(nodes))

    row[loops.RESIDUAL] = record(run, find_residual, *given, nodes, limits)
    row[loops.TANGENT] = record(tangent)
    row[loops.SLOPE] = record(run, renew, *given, len(nodes))
    row[loops.FACTORISE] = record(run, factorise, segments)
    row[loops.SOLVE] = record(run, find_step, *given)
    row[loops.MOVE] = record(run, move_iterate, *given)
    return row


@kernel
def begin(setting, segments):  # type: ignore[no-untyped-def]
    """Begin a solve: typical sizes (n,) of wrench, velocity, rotation and position; no steps so far."""
    unit = segments.unit
    segments.taken[0] = 0
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
    count, programs = s.divisions[level], s.programs
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


@kernel
def find_residual(setting, segments, nodes, limits):  # type: ignore[no-untyped-def]
    """Integrate over all segments: the gaps are the residual, the largest wrench its scale."""
    s = segments
    size, load = arrive(setting, s, nodes)
    s.load[0], s.numbers[SCALE] = load, max(load, limits[FLOOR])
    s.numbers[SIZE] = size if np.isfinite(size + load) else np.inf


@kernel
def renew(setting, segments, end):  # type: ignore[no-untyped-def]
    """Find the derivatives of all segments along the last integration.

    end : number of intervals of the chain.
    """
    s, level, programs = segments, segments.level[0], segments.programs
    count, n = s.divisions[level], setting.unknowns
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


@kernel
def factorise(segments):  # type: ignore[no-untyped-def]
    """Condense the derivatives, and flag them as singular if that cannot be done."""
    s = segments
    count = s.divisions[s.level[0]]
    s.flags[NEGATIVE] = 0 if condense(s.A[:count], s.inverse, s.S, s.chosen) else -1
    s.taken[0] = 0


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

    steps (.., K), K >= n: the `taken` last ones, all of full length; step (n,) is the next with the old
    derivative (Kelley 1995, Iterative Methods for Linear and Nonlinear Equations, algorithm brsol).
    """
    n = len(step)
    for j in range(taken):
        last = steps[j, :n]
        part = np.dot(last, step) / np.dot(last, last)
        if j + 1 < taken:
            step += part * steps[j + 1, :n]
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


@kernel
def find_step(setting, segments):  # type: ignore[no-untyped-def]
    """Find a correction with the derivative at hand, improved by what the last ones have done."""
    s, part, taken = segments, segments.numbers[PART], segments.taken
    count = s.divisions[s.level[0]]
    gaps, step = s.gaps[:count], s.step[:count]
    s.numbers[loops.SHORTEST] = s.shortest[0] if s.counts[SIZES] > 1 else _FIRST
    if count == 1 and taken[0] > 0:
        _improve(s.inverse[0], gaps[0, :6] - s.kept_gap[:6], part * step[0, :6])
    s.kept[:count], s.kept_x[:], s.kept_gap[:] = s.states[:count], s.x, gaps[0]
    resolve(s.A[:count], s.inverse, s.S, s.chosen, gaps, step)
    if count > 1:
        taken[0] = taken[0] if part == 1.0 and taken[0] < len(s.steps) else 0
        size = count * setting.unknowns
        _correct(s.steps, taken[0], step.reshape(size))
        s.steps[taken[0], :size] = step.reshape(size)
    taken[0] += 1


@kernel
def move_iterate(setting, segments):  # type: ignore[no-untyped-def]
    """Go the part of a correction away from where it begins."""
    s, part = segments, segments.numbers[PART]
    count = s.divisions[s.level[0]]
    s.states[:count] = s.kept[:count]
    s.x[:] = s.kept_x + part * s.step[0, :6] * setting.units[0]
    for k in range(1, count):
        move(s.states[k], part, s.step[k], s.unit)
