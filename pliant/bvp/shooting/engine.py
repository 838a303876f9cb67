"""One instant by shooting with whatever help it needs, and many time steps in one compiled call.

Simple shooting that does not converge is helped by modified shooting, then by multiple shooting with
more and more segments, which stays for a while where it was needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, kernel
from pliant.bvp.prediction import HOLD, LINE, Past, predict, predict_state
from pliant.bvp.shooting.newton import (
    BY_MODIFIED,
    BY_MULTIPLE,
    CODE,
    MOST_SEGMENTS,
    NEWTON,
    RESIDUAL,
    STRICT,
    TOLERANCE,
)
from pliant.engine.calls import execute
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

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
BEGIN, COMPARE, ACCEPT = 0, 1, 2
"""Programs of a time step, none at rest: set up the next instant and its criteria, write how far its
solution is bent from what was expected, take it as the present."""


class Motion(NamedTuple):
    """What is kept from solve to solve.

    past : for predictions.  mode : (4,) see `LEVEL`.  nodes : (N, 2, 24) and stages : (N, 4, 12) of the
    last integration.  kept : (N, 2, 24) of the last solution; law : (2 N, 18) law and strain history at
    these ends.  sizes : residuals of the last Newton.  limits : (5,) and report : (6,) of `newton`.
    bend : (1,) rad, see `COMPARE`.  programs : (3,) see `BEGIN`.
    """

    past: Past
    mode: Ints
    nodes: Array
    stages: Array
    kept: Array
    law: Array
    sizes: Array
    limits: Array
    report: Array
    bend: Array
    programs: Ints


@kernel
def _attempt(motion, segments, tolerance, strict):  # type: ignore[no-untyped-def]
    """Newton's method at the level of the segments; returns what it reports."""
    motion.limits[TOLERANCE], motion.limits[STRICT] = tolerance, strict
    execute(segments.programs[NEWTON])
    return motion.report[CODE]


@driver
def _expected(motion):  # type: ignore[no-untyped-def]
    """Whether a solution is bent about as the last two instants predict; at rest all is."""
    execute(motion.programs[COMPARE])
    good = motion.bend[0] < _LARGEST_BEND
    if not good:
        motion.report[CODE] = UNEXPECTED
    return good


@kernel
def _simple(motion, middle, segments, tolerance, strict):  # type: ignore[no-untyped-def]
    """Simple shooting; returns the relative residual, negative if it did not converge.

    A guess is corrected so that it passes where it should half way: what is wrong at the base grows
    along the chain, and where it has grown too much Newton's method does not converge. Half way it has
    not yet, and the wrench there follows from the last steps.
    """
    past, size, state = motion.past, -1.0, np.empty(24)
    segments.level[0] = 0
    # a guess can be too far off: predictors that stay closer are tried then
    for attempt in range(3 if past.counts[0] > 1 else 1):
        row = past.counts[2] if attempt == 0 else (LINE if attempt == 1 else HOLD)
        predict(past, row, segments.x)
        if past.counts[0] > 2:
            predict_state(past, row, 24 * (middle.cuts[0, 1] - 1), state)
            middle.goal[:], middle.x[:] = state[:6], segments.x
            if _attempt(motion, middle, _ROUGH, 0.0) >= 0.0:
                segments.x[:] = middle.x
        size = _attempt(motion, segments, tolerance, strict)
        if size >= 0.0 and _expected(motion):
            return size
        segments.level[1] = -1
    return min(size, -1.0)


@kernel
def _modified(motion, middle, segments, tolerance):  # type: ignore[no-untyped-def]
    """Modified simple shooting (Holsapple, Venkataraman and Doman 2003): over a part of the chain that
    grows to the whole, towards the wrenches of the last instant.
    """
    N, y, half, size = len(motion.nodes), np.empty(24), middle.cuts[0, 1], 0.0
    hold = np.int64(HOLD)
    predict(motion.past, hold, middle.x)
    for k in range(1, _GROWING):
        middle.cuts[0, 1] = max(1, k * N // _GROWING)
        predict_state(motion.past, hold, 24 * (middle.cuts[0, 1] - 1), y)
        middle.goal[:], middle.level[1] = y[:6], -1
        size = _attempt(motion, middle, 1e-6, 0.0)
        if size < 0.0:
            break
    middle.cuts[0, 1], middle.level[1] = half, -1
    if size >= 0.0:
        segments.x[:], segments.level[0] = middle.x, 0
        size = _attempt(motion, segments, tolerance, 0.0)
        if size >= 0.0 and not _expected(motion):
            size = UNEXPECTED
    if size < 0.0:
        segments.level[1] = -1
    return size


@kernel
def _multiple(motion, segments, level, tolerance, strict):  # type: ignore[no-untyped-def]
    """Multiple shooting at one level, from the prediction, then from the last instant."""
    past, report, size = motion.past, motion.report, -1.0
    segments.level[0] = level
    for attempt in range(2 if past.counts[0] > 1 else 1):
        row = past.counts[2] if attempt == 0 else HOLD
        predict(past, row, segments.x)
        for k in range(1, segments.counts[level]):
            predict_state(past, row, 24 * (segments.cuts[level, k] - 1), segments.states[k])
        size = _attempt(motion, segments, tolerance, strict)
        if size >= 0.0:
            report[MOST_SEGMENTS] = max(report[MOST_SEGMENTS], segments.counts[level])
            return size
        segments.level[1] = -1
    return size


@driver
def _solve(motion, middle, segments, options):  # type: ignore[no-untyped-def]
    """Solve one instant; returns the relative residual, or a negative number."""
    mode, report, size = motion.mode, motion.report, -1.0
    moving, plain, rescue = options
    tolerance, strict = motion.limits[TOLERANCE], motion.limits[STRICT]
    if mode[LEVEL] > plain:
        mode[HELPED] += 1
        if mode[HELPED] >= mode[PATIENCE]:
            mode[LEVEL], mode[HELPED] = plain, 0
            mode[PATIENCE] = min(2 * mode[PATIENCE], 64)
    # an equilibrium that a plain attempt missed nearby could be found far away
    level, plainly = mode[LEVEL], moving or not rescue
    if level == 0:
        if plainly:
            size = _simple(motion, middle, segments, tolerance, strict)
        if size < 0.0 and rescue:
            size = _modified(motion, middle, segments, tolerance)
            if size >= 0.0:
                report[BY_MODIFIED] += 1
                mode[MODIFIED] += 1
                if mode[MODIFIED] >= _OFTEN:
                    mode[LEVEL], mode[MODIFIED] = min(1, len(segments.counts) - 1), 0
    if level == 0 or not plainly:
        level += 1
    while size < 0.0 and level < len(segments.counts) and (rescue or level == mode[LEVEL]):
        size = _multiple(motion, segments, level, tolerance, strict if level == plain else 0.0)
        if size >= 0.0:
            mode[LEVEL], mode[MODIFIED] = level, 0
            report[BY_MULTIPLE] += level > plain
        level += 1
    return size


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
        size = _solve(motion, middle, segments, options)
        if size < 0.0:
            return k
        motion.report[RESIDUAL] = size
        execute(programs[ACCEPT])
    return len(bases)
