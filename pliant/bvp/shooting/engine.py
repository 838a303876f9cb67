"""One instant by shooting with whatever help it needs, and many time steps in one compiled call.

Simple shooting that does not converge is helped by modified shooting, then by multiple shooting with
more and more segments, which stays for a while where it was needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, kernel
from pliant.bvp.prediction import HOLD, LINE, Past, predict, predict_state
from pliant.bvp.shooting.equations import (
    LARGEST,
    NEWTON,
    SEVERAL,
    SHORTEST,
    STEP,
    TOLERANCE,
)
from pliant.engine import loops
from pliant.engine.calls import execute
from pliant.engine.loops import CONTRACTION, CONVERGED, SCALE, SIZE, THERE
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

RESIDUAL, BY_MODIFIED, BY_MULTIPLE, MOST_SEGMENTS, CODE = range(5)
"""Entries of a report: relative residual, solves that help was needed for, most segments, how the last
attempt ended: as Newton's method says, or as follows."""
UNEXPECTED, IMPLAUSIBLE = 100, 101
"""The solution is bent otherwise than the last instants predict; its wrenches are too large."""
_ALONE, _ANY = float(STEP.contraction), float(STEP.shortest)
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
BEGIN, COMPARE, ACCEPT = 0, 1, 2
"""Programs of a time step, none at rest: set up the next instant and its criteria, write how far its
solution is bent from what was expected, take it as the present."""


class Motion(NamedTuple):
    """What is kept from solve to solve.

    past : for predictions.  mode : (4,) see `LEVEL`.  nodes : (N, 2, 24) and stages : (N, 4, 12) of the
    last integration.  kept : (N, 2, 24) of the last solution; law : (2 N, 18) law and strain history at
    these ends.  limits : (4,) of solutions, see `equations`.  report : (5,) see `RESIDUAL`.
    bend : (1,) rad, see `COMPARE`.  programs : (3,) see `BEGIN`.
    """

    past: Past
    mode: Ints
    nodes: Array
    stages: Array
    kept: Array
    law: Array
    limits: Array
    report: Array
    bend: Array
    programs: Ints


@kernel
def _attempt(motion, segments, level, tolerance, shortest):  # type: ignore[no-untyped-def]
    """Newton's method at a level of the segments; tells whether it found a plausible solution.

    shortest : part of a correction.
    """
    s, numbers, counts = segments, segments.numbers, segments.counts
    if s.level[0] != level:
        s.level[0], counts[THERE] = level, 0
    if numbers[CONTRACTION] > 0.0:
        numbers[CONTRACTION] = _ALONE if s.divisions[level] == 1 else SEVERAL
    numbers[loops.TOLERANCE], numbers[loops.SHORTEST], s.shortest[0] = tolerance, _ANY, shortest
    execute(s.programs[NEWTON])
    end = counts[loops.END]
    if end == CONVERGED and s.load[0] > motion.limits[LARGEST]:
        end = IMPLAUSIBLE
    if end != CONVERGED:
        counts[THERE] = 0
    motion.report[CODE] = end
    return end == CONVERGED


@driver
def _expected(motion, segments):  # type: ignore[no-untyped-def]
    """Whether a solution is bent about as the last two instants predict; at rest all is."""
    execute(motion.programs[COMPARE])
    good = motion.bend[0] < _LARGEST_BEND
    if not good:
        motion.report[CODE] = UNEXPECTED
        segments.counts[THERE] = 0
    return good


@kernel
def _simple(motion, middle, segments, tolerance, shortest):  # type: ignore[no-untyped-def]
    """Simple shooting; tells whether it converged.

    A guess is corrected so that it passes where it should half way: what is wrong at the base grows
    along the chain, and where it has grown too much Newton's method does not converge. Half way it has
    not yet, and the wrench there follows from the last steps.
    """
    past, state = motion.past, np.empty(24)
    # a guess can be too far off: predictors that stay closer are tried then
    for attempt in range(3 if past.counts[0] > 1 else 1):
        row = past.counts[2] if attempt == 0 else (LINE if attempt == 1 else HOLD)
        predict(past, row, segments.x)
        if past.counts[0] > 2:
            predict_state(past, row, 24 * (middle.cuts[0, 1] - 1), state)
            middle.goal[:], middle.x[:] = state[:6], segments.x
            if _attempt(motion, middle, 0, _ROUGH, _ANY):
                segments.x[:] = middle.x
        if _attempt(motion, segments, 0, tolerance, shortest) and _expected(motion, segments):
            return True
    return False


@kernel
def _modified(motion, middle, segments, tolerance):  # type: ignore[no-untyped-def]
    """Modified simple shooting (Holsapple, Venkataraman and Doman 2003): over a part of the chain that
    grows to the whole, towards the wrenches of the last instant.
    """
    N, y, half, good = len(motion.nodes), np.empty(24), middle.cuts[0, 1], True
    hold = np.int64(HOLD)
    predict(motion.past, hold, middle.x)
    for k in range(1, _GROWING):
        middle.cuts[0, 1] = max(1, k * N // _GROWING)
        predict_state(motion.past, hold, 24 * (middle.cuts[0, 1] - 1), y)
        middle.goal[:], middle.counts[THERE] = y[:6], 0
        good = good and _attempt(motion, middle, 0, 1e-6, _ANY)
    middle.cuts[0, 1], middle.counts[THERE] = half, 0
    if not good:
        return False
    segments.x[:] = middle.x
    return _attempt(motion, segments, 0, tolerance, _ANY) and _expected(motion, segments)


@kernel
def _multiple(motion, segments, level, tolerance, shortest):  # type: ignore[no-untyped-def]
    """Multiple shooting at one level, from the prediction, then from the last instant; tells whether it
    converged.
    """
    past, report = motion.past, motion.report
    for attempt in range(2 if past.counts[0] > 1 else 1):
        row = past.counts[2] if attempt == 0 else HOLD
        predict(past, row, segments.x)
        for k in range(1, segments.divisions[level]):
            predict_state(past, row, 24 * (segments.cuts[level, k] - 1), segments.states[k])
        if _attempt(motion, segments, level, tolerance, shortest):
            report[MOST_SEGMENTS] = max(report[MOST_SEGMENTS], segments.divisions[level])
            return True
    return False


@driver
def _solve(motion, middle, segments, options):  # type: ignore[no-untyped-def]
    """Solve one instant; tells whether that was possible."""
    mode, report, good = motion.mode, motion.report, False
    moving, plain, rescue = options
    tolerance, shortest = motion.limits[TOLERANCE], motion.limits[SHORTEST]
    if mode[LEVEL] > plain:
        mode[HELPED] += 1
        if mode[HELPED] >= mode[PATIENCE]:
            mode[LEVEL], mode[HELPED] = plain, 0
            mode[PATIENCE] = min(2 * mode[PATIENCE], 64)
    # an equilibrium that a plain attempt missed nearby could be found far away
    level, plainly = mode[LEVEL], moving or not rescue
    if level == 0:
        if plainly:
            good = _simple(motion, middle, segments, tolerance, shortest)
        if not good and rescue:
            good = _modified(motion, middle, segments, tolerance)
            if good:
                report[BY_MODIFIED] += 1
                mode[MODIFIED] += 1
                if mode[MODIFIED] >= _OFTEN:
                    mode[LEVEL], mode[MODIFIED] = min(1, len(segments.divisions) - 1), 0
    if level == 0 or not plainly:
        level += 1
    while not good and level < len(segments.divisions) and (rescue or level == mode[LEVEL]):
        part = shortest if level == plain else _ANY
        good = _multiple(motion, segments, level, tolerance, part)
        if good:
            mode[LEVEL], mode[MODIFIED] = level, 0
            report[BY_MULTIPLE] += level > plain
        level += 1
    return good


@kernel
def march(motion, middle, segments, options, pushes):  # type: ignore[no-untyped-def]
    """Solve one instant after the other with one time rule; returns how many converged.

    options : whether it moves; level of a solve without help, 0 for simple shooting; whether help is
    allowed.  pushes : wrenches (T, P, 15) of point loads and bases (T, 18) at each instant, and where
    programs read them, (P, 15) and (18,).  motion.report is added to. Unknowns at the base are left in
    segments.x.
    """
    wrenches, bases, wrench, base = pushes
    programs = motion.programs
    for k in range(len(bases)):
        wrench[:], base[:] = wrenches[k], bases[k]
        execute(programs[BEGIN])
        if not _solve(motion, middle, segments, options):
            return k
        motion.report[RESIDUAL] = segments.numbers[SIZE] / segments.numbers[SCALE]
        execute(programs[ACCEPT])
    return len(bases)
