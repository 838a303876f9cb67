"""One instant by shooting with whatever help it needs, and many time steps in one compiled call.

Simple shooting that does not converge is helped by modified shooting, then by multiple shooting with
more and more segments, which stays for a while where it was needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, kernel
from pliant.bvp.energy_balance import accumulate, with_own_loads
from pliant.bvp.history import append_instant, move_base, write_histories
from pliant.bvp.prediction import (
    HOLD,
    LINE,
    Past,
    append,
    predict,
    predict_state,
    replace_last,
)
from pliant.bvp.shooting.integration import at_stations, grouping
from pliant.bvp.shooting.newton import Criteria, newton
from pliant.bvp.shooting.plausibility import (
    FLOOR,
    applied_wrench,
    plausible_wrench,
    rounding_wrench,
    sudden_wrench,
    unexpected_curvature,
)
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

TOLERANCE = 1e-10
"""Of time steps, relative to the wrench in the chain."""
UNEXPECTED = -6.0
"""Result of simple shooting that is bent otherwise than the last instants predict."""
_LARGEST_BEND = 0.5
"""Rad by which a chain may be bent otherwise than the last two instants predict for simple shooting to
be believed: it also finds solutions that no motion leads to."""
_ROUGH = 5e-3
"""Residual, relative, to which a guess is corrected half way: what should arrive there is not known
better."""
_GROWING = 8
"""Lengths through which modified shooting grows from base to tip."""
_OFTEN = 3
"""Time steps that modified shooting may save before several segments are used instead."""
RETRY = 4
"""Time steps with more segments than asked for after which fewer are tried again; each time twice as
many, up to 64."""
LEVEL, HELPED, MODIFIED, PATIENCE = 0, 1, 2, 3
"""Entries of `Motion.mode`: level in use, steps for which it helped, steps that modified shooting saved
in a row, and steps until less is tried again."""
ITERATIONS, RESIDUAL, BY_MODIFIED, BY_MULTIPLE, MOST_SEGMENTS, CODE = 0, 1, 2, 3, 4, 5
"""Entries of a report."""


class Motion(NamedTuple):
    """What is kept from solve to solve.

    past : for predictions.  mode : (4,) see `LEVEL`.  nodes : (N, 2, 24) and stages : (N, 4, 12) of the
    last integration.  kept : (N, 2, 24) of the last solution; law : (2 N, 18) law and strain history at
    these ends.  sizes : residuals of the last Newton.
    """

    past: Past
    mode: Ints
    nodes: Array
    stages: Array
    kept: Array
    law: Array
    sizes: Array


@driver
def _attempt(data, motion, segments, level, c0, criteria, report, x):  # type: ignore[no-untyped-def]
    """Newton's method, entered in the report."""
    setting, intervals, supports = data
    problem = setting, intervals, supports, segments, level, c0
    size, used = newton(problem, criteria, x, motion.nodes, motion.stages, motion.sizes)
    report[ITERATIONS] += used
    report[CODE] = size
    return size


@driver
def _expected(data, motion, history, c0, report):  # type: ignore[no-untyped-def]
    """Whether a solution is bent about as the last two instants predict; at rest all is."""
    setting, intervals, _ = data
    good = True
    if c0 > 0.0:
        bend = unexpected_curvature(intervals, motion.nodes, history.strain, history.strain_before)
        good = bend * setting.length < _LARGEST_BEND
        report[CODE] = report[CODE] if good else UNEXPECTED
    return good


@driver
def _correct_half_way(data, motion, middle, c0, criteria, report, row, x):  # type: ignore[no-untyped-def]
    """Correct a guess x so that it passes where it should half way.

    What is wrong at the base grows along the chain, and where it has grown too much Newton's method
    does not converge. Half way it has not yet, and the wrench there follows from the last steps.
    """
    y, rough = x.copy(), np.empty(24)
    predict_state(motion.past, row, 24 * (middle.cuts[0, 1] - 1), rough)
    middle.goal[:] = rough[:6]
    coarse = Criteria(_ROUGH, criteria.rounding, criteria.largest, criteria.floor, False)
    if _attempt(data, motion, middle, 0, c0, coarse, report, y) >= 0.0:
        x[:] = y


@driver
def _simple(data, motion, history, middle, segments, c0, criteria, report, x):  # type: ignore[no-untyped-def]
    """Simple shooting; returns the relative residual, negative if it did not converge."""
    past, size = motion.past, -1.0
    # a guess can be too far off: predictors that stay closer are tried then
    for attempt in range(3 if past.counts[0] > 1 else 1):
        row = past.counts[2] if attempt == 0 else (LINE if attempt == 1 else HOLD)
        predict(past, row, x)
        if past.counts[0] > 2:
            _correct_half_way(data, motion, middle, c0, criteria, report, row, x)
        size = _attempt(data, motion, segments, 0, c0, criteria, report, x)
        if size >= 0.0 and _expected(data, motion, history, c0, report):
            return size
        segments.known[0] = -1
    return min(size, -1.0)


@driver
def _modified(data, motion, history, middle, segments, c0, criteria, report, x):  # type: ignore[no-untyped-def]
    """Modified simple shooting (Holsapple, Venkataraman and Doman 2003): over a part of the chain that
    grows to the whole, towards the wrenches of the last instant.
    """
    N, y, half, size = len(motion.nodes), np.empty(24), middle.cuts[0, 1], 0.0
    rough = Criteria(1e-6, criteria.rounding, criteria.largest, criteria.floor, False)
    predict(motion.past, HOLD, x)
    for k in range(1, _GROWING):
        middle.cuts[0, 1] = max(1, k * N // _GROWING)
        predict_state(motion.past, HOLD, 24 * (middle.cuts[0, 1] - 1), y)
        middle.goal[:], middle.known[0] = y[:6], -1
        size = _attempt(data, motion, middle, 0, c0, rough, report, x)
        if size < 0.0:
            break
    middle.cuts[0, 1], middle.known[0] = half, -1
    if size >= 0.0:
        size = _attempt(data, motion, segments, 0, c0, criteria, report, x)
        if size >= 0.0 and not _expected(data, motion, history, c0, report):
            size = UNEXPECTED
    if size < 0.0:
        segments.known[0] = -1
    return size


@driver
def _multiple(data, motion, segments, level, c0, criteria, report, x):  # type: ignore[no-untyped-def]
    """Multiple shooting at one level, from the prediction, then from the last instant."""
    past, size = motion.past, -1.0
    for attempt in range(2 if past.counts[0] > 1 else 1):
        row = past.counts[2] if attempt == 0 else HOLD
        predict(past, row, x)
        for k in range(1, segments.counts[level]):
            predict_state(past, row, 24 * (segments.cuts[level, k] - 1), segments.states[k])
        size = _attempt(data, motion, segments, level, c0, criteria, report, x)
        if size >= 0.0:
            report[MOST_SEGMENTS] = max(report[MOST_SEGMENTS], segments.counts[level])
            return size
        segments.known[0] = -1
    return size


@kernel
def solve_instant(data, motion, history, middle, segments, plain, rescue, c0, criteria, report, x):  # type: ignore[no-untyped-def]
    """Solve one instant, at rest if c0 = 0; returns the relative residual, or a negative number.

    data : setting, intervals, supports.  plain : level of a solve without help, 0 for simple shooting.
    rescue : whether help is allowed.  report (6,) is added to.  x (6,) gets the unknowns at the base.
    """
    mode, size, c = motion.mode, -1.0, criteria
    fine = Criteria(c.tolerance, c.rounding, c.largest, c.floor, False)
    if mode[LEVEL] > plain:
        mode[HELPED] += 1
        if mode[HELPED] >= mode[PATIENCE]:
            mode[LEVEL], mode[HELPED] = plain, 0
            mode[PATIENCE] = min(2 * mode[PATIENCE], 64)
    # an equilibrium that a plain attempt missed nearby could be found far away
    level, plainly = mode[LEVEL], c0 > 0.0 or not rescue
    if level == 0:
        if plainly:
            size = _simple(data, motion, history, middle, segments, c0, criteria, report, x)
        if size >= 0.0 or not rescue:
            return size
        size = _modified(data, motion, history, middle, segments, c0, fine, report, x)
        if size >= 0.0:
            report[BY_MODIFIED] += 1
            mode[MODIFIED] += 1
            if mode[MODIFIED] >= _OFTEN:
                mode[LEVEL], mode[MODIFIED] = min(1, len(segments.counts) - 1), 0
            return size
    if level == 0 or not plainly:
        level += 1
    while level < len(segments.counts):
        size = _multiple(
            data, motion, segments, level, c0, criteria if level == plain else fine, report, x
        )
        if size >= 0.0:
            mode[LEVEL], mode[MODIFIED] = level, 0
            report[BY_MULTIPLE] += level > plain
            return size
        if not rescue:
            return size
        level += 1
    return min(size, -1.0)


@driver
def _plausible(setting, intervals, supports, motion, history, c0):  # type: ignore[no-untyped-def]
    """Criteria of a time step."""
    scale, length = setting.scale, setting.length
    acting = applied_wrench(intervals, scale)
    twist = supports.twist if supports.held.all() else history.twist
    sudden = sudden_wrench(intervals, scale, length, c0, twist, history.strain, motion.kept)
    largest = plausible_wrench(max(acting, sudden), scale, motion.kept[0, 0])
    floor = max(FLOOR, acting, rounding_wrench(intervals, scale, length, c0))
    return Criteria(TOLERANCE, 1e-9, largest, floor, False)


@driver
def _accept(intervals, motion, history, balance, places, c0, shares, keep_before, x, wrench, scale):  # type: ignore[no-untyped-def]
    """Take the solution as the present, and add work and loss of the step."""
    nodes, N = motion.nodes, len(motion.nodes)
    ends = nodes.reshape((2 * N, 24))
    lasts = ends[1::2].copy().reshape(24 * N)
    if keep_before:
        replace_last(motion.past, x, lasts)
    else:
        append(motion.past, scale, x, lasts)
    motion.kept[:] = nodes
    for i in range(N):
        motion.law[2 * i] = intervals.table[i, 0, :18]
        motion.law[2 * i + 1] = intervals.table[i, 3, :18]
    table = intervals.table.reshape((4 * N, intervals.table.shape[2]))
    strain, velocity, offsets = np.empty((4 * N, 6)), np.empty((4 * N, 6)), np.empty((2, 4 * N, 6))
    before = history.strain_offset, history.velocity_offset
    at_stations(
        c0,
        intervals,
        balance.D,
        motion.stages,
        nodes,
        before,
        strain,
        velocity,
        offsets,
        balance.own_stress,
    )
    body = ends[places, 6:12]
    append_instant(
        c0,
        keep_before,
        table,
        intervals.jumps.history,
        strain,
        velocity,
        body,
        nodes[0, 0],
        history,
    )
    history.strain_offset[:], history.velocity_offset[:] = offsets[0], offsets[1]
    rows = with_own_loads(intervals.own[0], c0, balance, ends, table)
    accumulate(balance, shares, rows, intervals.jumps, ends, wrench, history)


@kernel
def march(data, motion, history, balance, parts, options, rule, shares, wrenches, bases, report):  # type: ignore[no-untyped-def]
    """Take len(wrenches) steps with one time rule; returns how many converged.

    history, balance : see there.  parts : segments half way and to the tip, the law of
    `write_histories` and places (B,) of bodies.  options : plain, rescue (see `solve_instant`) and
    whether the values two steps back stay what they are.  rule (4,): c0, c1, c2, d1.  shares (3,) see
    `TimeRule.shares`.  wrenches (T, P, 15) of point loads and bases (T, 18) at the end of each step.
    report (6,) see `ITERATIONS`.
    """
    setting, intervals, supports = data
    middle, segments, law, places = parts
    plain, rescue, keep_before = options
    c0, N, x = rule[0], len(motion.nodes), np.empty(6)
    table = intervals.table.reshape((4 * N, intervals.table.shape[2]))
    for k in range(len(wrenches)):
        intervals.jumps.wrenches[:] = wrenches[k]
        write_histories(rule, history, law, table, intervals.jumps.history)
        move_base(rule, history, supports, bases[k])
        if k == 0:
            setting.most[0] = grouping(setting.scheme, intervals, c0)
        criteria = _plausible(setting, intervals, supports, motion, history, c0)
        size = solve_instant(
            data, motion, history, middle, segments, plain, rescue, c0, criteria, report, x
        )
        if size < 0.0:
            return k
        report[RESIDUAL] = size
        wrench = np.where(supports.held, x, 0.0)
        scale = supports.units[0]
        _accept(
            intervals, motion, history, balance, places, c0, shares, keep_before, x, wrench, scale
        )
    return len(wrenches)
