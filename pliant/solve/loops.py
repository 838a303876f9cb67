"""Loops over programs: Newton's method, a step from its guesses, many steps one after another.

Statics and every integrator hand over a row of programs, one for each name below. They share arrays
with the loops: `numbers` and `counts`, which have names below, and the record of sizes `history`.
Compiled where all programs are, else in plain Python (`engine.modes`). A program in plain Python that
fails leaves an infinite SIZE.
"""

from __future__ import annotations

import math

from pliant import _numba  # noqa: F401 - the kernels of this file are kept with those it depends on
from pliant.engine import modes

kernel, execute = modes.tools(__name__)

PROGRAMS = 14
(BEGIN, FIRST_GUESS, SECOND_GUESS, LAST_GUESS, RESIDUAL, TANGENT, SLOPE, WEIGH, FACTORISE, SOLVE,
 REPAIR, INSPECT, MOVE, ACCEPT) = range(PROGRAMS)  # fmt: skip
"""Programs of a step.

BEGIN prepares a step, guesses set its first iterate. RESIDUAL and TANGENT (residual as well) write the
SIZE of the residual, SLOPE fills the tangent where the residual has just been found, WEIGH writes the
SCALE of all that is in play. FACTORISE and SOLVE set flags, REPAIR
solves with row exchanges where rounding spoiled the solution. INSPECT looks at a correction, MOVE makes
it, ACCEPT takes the iterate.
"""

NUMBERS = 14
(SIZE, SCALE, GAP, TOLERANCE, FLOOR, GAP_LIMIT, REACH, FIRST, CONTRACTION, NEAR, STALLED, PROGRESS,
 LOST_AT, FORGET) = range(NUMBERS)  # fmt: skip
"""Residual and scale; largest gap of constraints; tolerances of both; part of the residual that a new
tangent left; residual at which the last solve began; what `newton.Policy` says, and FORGET, the part of
REACH that is kept from step to step.
"""

COUNTS = 9
ITERATIONS, LIMIT, KEEP, PATIENCE, THERE, AGE, AT_ROUNDING, SIZES, KNOWS_LAST = range(COUNTS)
"""Corrections so far, most in a solve, steps that a factor serves at most (-1: no limit), whether there
is a factor and how many steps it has served; whether the last solve stopped at rounding error, how
many sizes its history has, and whether there is a second guess (-1: one guess only).
"""

FLAGS = 3
NEGATIVE, LOST, ROUGH = range(FLAGS)
"""Of the last factor: negative pivots (-1: singular), lost ones; whether a solution is too rough."""

CONVERGED, INFINITE, SINGULAR, RAN_AWAY, SLOW, NEEDS_PIVOTING = range(6)
"""How a solve ended."""

UNBALANCED = 0.3
"""A step that begins with more than this part of all forces in play out of balance is a rough one."""


@kernel
def newton(programs, numbers, counts, flags, history):  # type: ignore[no-untyped-def]
    """Newton's method from the present iterate; returns how it ended.

    A tangent is made anew in every iteration if CONTRACTION is zero, unless the residual is NEAR; else
    when an iteration leaves more than that part of the residual, unless new ones do no better, or when
    its factor has served KEEP steps.
    """
    fresh = False
    previous = math.inf
    always = numbers[CONTRACTION] == 0.0
    for k in range(counts[LIMIT] + 1):
        eager = always and not previous < numbers[NEAR]
        execute(programs[TANGENT] if eager else programs[RESIDUAL])
        if k == 0 and math.isfinite(numbers[SIZE]):
            execute(programs[WEIGH])
            numbers[FIRST] = numbers[SIZE]
        size, scale = numbers[SIZE], numbers[SCALE]
        if not math.isfinite(size):
            return INFINITE
        history[k] = size
        counts[SIZES] = k + 1
        if size > numbers[LOST_AT] * max(history[0], scale):
            return RAN_AWAY
        stuck = fresh and k >= counts[PATIENCE] and size > numbers[PROGRESS] * previous
        at_rounding = stuck and size <= numbers[STALLED] * scale
        counts[AT_ROUNDING] = at_rounding
        small = size <= numbers[TOLERANCE] * scale + numbers[FLOOR] or at_rounding
        if small and numbers[GAP] <= numbers[GAP_LIMIT]:
            return CONVERGED
        if k == counts[LIMIT]:
            break
        if fresh:
            numbers[REACH] = size / previous
        fresh = _wants_tangent(numbers, counts, size, previous)
        if fresh:
            if not eager:
                execute(programs[SLOPE])
                if not math.isfinite(numbers[SIZE]):
                    return INFINITE
            counts[THERE] = 0
            execute(programs[FACTORISE])
            if flags[NEGATIVE] < 0:
                return SINGULAR
            counts[THERE], counts[AGE] = 1, 1
        execute(programs[SOLVE])
        if flags[ROUGH] != 0:
            execute(programs[REPAIR])
            if flags[ROUGH] != 0:
                return NEEDS_PIVOTING
        counts[ITERATIONS] += 1
        execute(programs[INSPECT])
        if not math.isfinite(numbers[SIZE]):
            return INFINITE
        execute(programs[MOVE])
        if not math.isfinite(numbers[SIZE]):
            return INFINITE
        previous = size
    return SLOW


@kernel
def _wants_tangent(numbers, counts, size, previous):  # type: ignore[no-untyped-def]
    """Whether the tangent is to be renewed."""
    contraction = numbers[CONTRACTION]
    if counts[THERE] == 0 or contraction == 0.0:
        return True
    if counts[KEEP] >= 0:
        return counts[AGE] > counts[KEEP] or size > contraction * previous
    return size > min(0.5, max(contraction, 4.0 * numbers[REACH])) * previous


@kernel
def solve_step(programs, numbers, counts, flags, history):  # type: ignore[no-untyped-def]
    """Find the end of a step from the first of its guesses that leads there; returns how it ended.

    After a rough step the second guess may be the better one: the residuals decide.
    """
    scale, iterations = numbers[SCALE], counts[ITERATIONS]
    execute(programs[BEGIN])
    numbers[REACH] *= numbers[FORGET]
    counts[AGE] += 1
    first, second = FIRST_GUESS, SECOND_GUESS
    if counts[KNOWS_LAST] > 0 and numbers[FIRST] > UNBALANCED * scale:
        execute(programs[FIRST_GUESS])
        execute(programs[RESIDUAL])
        size = numbers[SIZE]
        execute(programs[SECOND_GUESS])
        execute(programs[RESIDUAL])
        if numbers[SIZE] < size:
            first, second = second, first
    end = CONVERGED
    for guess in (first, second, LAST_GUESS):
        if guess == SECOND_GUESS and counts[KNOWS_LAST] <= 0:
            continue
        if guess == LAST_GUESS and counts[KNOWS_LAST] < 0:
            continue
        numbers[SIZE] = 0.0
        execute(programs[guess])
        end = INFINITE
        if math.isfinite(numbers[SIZE]):
            end = newton(programs, numbers, counts, flags, history)
        if end in (CONVERGED, NEEDS_PIVOTING):
            return end
        counts[THERE], counts[ITERATIONS], numbers[SCALE] = 0, iterations, scale
    return end


@kernel
def take_steps(sides, side, numbers, counts, flags, history, table, after):  # type: ignore[no-untyped-def]
    """Take a step for each row of `table` (count, W), the inputs at its end; returns how many, and how
    the last one ended.

    sides (2, PROGRAMS) : programs of steps from the first state to the second one and back; `side`
    (1,) tells which one is next. after (W,) takes the inputs.
    """
    for k in range(table.shape[0]):
        programs = sides[side[0]]
        for j in range(after.shape[0]):
            after[j] = table[k, j]
        end = solve_step(programs, numbers, counts, flags, history)
        if end != CONVERGED:
            return k, end
        execute(programs[ACCEPT])
        side[0] = 1 - side[0]
    return table.shape[0], CONVERGED
