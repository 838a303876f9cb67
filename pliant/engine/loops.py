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

PROGRAMS = 16
(BEGIN, FIRST_GUESS, SECOND_GUESS, LAST_GUESS, RESIDUAL, TANGENT, SLOPE, WEIGH, FACTORISE, SOLVE,
 REPAIR, INSPECT, MOVE, PLACE, ACCEPT, SNAPSHOT) = range(PROGRAMS)  # fmt: skip
"""Programs of a step.

BEGIN prepares a step, guesses set its first iterate. RESIDUAL and TANGENT (residual as well) write the
SIZE of the residual, SLOPE fills the tangent where the residual has just been found, WEIGH writes the
SCALE of all that is in play. FACTORISE and SOLVE set flags, REPAIR
solves with row exchanges where rounding spoiled the solution. INSPECT looks at a correction, MOVE makes
it: where corrections may be shortened, the PART of it, from the iterate for which it was found. PLACE
sets all that ACCEPT needs of an iterate. ACCEPT takes the iterate, SNAPSHOT keeps the state that was
reached.
"""

FOLLOWER = 5
AIM, COMPARE, CORRECT, TAKE, KEEP_STATE = range(FOLLOWER)
"""Programs of a step beside that of a leader: AIM begins it where the leader's ends, COMPARE finds the
difference of the two residuals, CORRECT solves with the leader's factor and moves the iterate, TAKE
accepts it, KEEP_STATE keeps a snapshot.
"""

NUMBERS = 16
(SIZE, SCALE, GAP, TOLERANCE, FLOOR, GAP_LIMIT, REACH, FIRST, CONTRACTION, NEAR, STALLED, PROGRESS,
 LOST_AT, FORGET, SHORTEST, PART) = range(NUMBERS)  # fmt: skip
"""Residual and scale; largest gap of constraints; tolerances of both; part of the residual that a new
tangent left; residual at which the last solve began; what `newton.Policy` says, where FORGET is the
part of REACH that is kept from step to step; part of a correction to be made.
"""

COUNTS = 17
(ITERATIONS, LIMIT, LEAST, KEEP, PATIENCE, THERE, AGE, AT_ROUNDING, SIZES, KNOWS_LAST, FORESEES, KEPT,
 STEP, PREFERS_LAST, ROUGH_STEPS, END, PAUSED) = range(COUNTS)  # fmt: skip
"""Corrections so far, most and fewest in a solve, steps that a factor serves at most (-1: no limit),
whether there is a factor and how many steps it has served; whether the last solve stopped at rounding
error, how many sizes its history has, and whether there is a second guess (-1: one guess only); whether
a last correction may go without another residual; snapshots kept, and the step in hand, since the call
began; whether the second guess was the better one when both were last compared, and rough steps since
then; how `note_steps` or `note_newton` ended; whether the step that was accepted needs a look at it,
see `PAUSE`.
"""

PACE = 12
(TIME, NEXT, GOAL, UNTIL, LONGEST, BRIEFEST, GROWTH, MOST, TRIED, REJECTED, FAILED, ENDED) = range(
    PACE
)
"""Steps that choose their length, s: time reached, and length of the step that is tried next; time up
to which steps are taken, and at which the last one has to end; longest and shortest step. How much
longer than the one before the next may be; most trials; trials so far, those of them with too large an
error and those in which Newton's method failed; steps since the call began.
"""

FLAGS = 3
NEGATIVE, LOST, ROUGH = range(FLAGS)
"""Of the last factor: negative pivots (-1: singular), lost ones; whether a solution is too rough."""

CONVERGED, INFINITE, SINGULAR, RAN_AWAY, SLOW, NEEDS_PIVOTING, PAUSE, WORSE = range(8)
"""How a solve ended. PAUSE: the step was accepted, and something rare is to be done after it."""

NOTHING = 1e-9
"""Forces smaller than this part of those that gaps ask for are none."""

SURE = 4.0
"""How many times larger than expected the residual after a last correction may be."""

COMPARED = 4
"""Rough steps after which the guesses are compared anew."""

UNBALANCED = 0.3
"""A step that begins with more than this part of all forces in play out of balance is a rough one."""


@kernel
def newton(programs, numbers, counts, flags, history):  # type: ignore[no-untyped-def]
    """Newton's method from the present iterate; returns how it ended.

    A tangent is made anew in every iteration if CONTRACTION is zero, unless the residual is NEAR; else
    when an iteration leaves more than that part of the residual, unless new ones do no better, or when
    its factor has served KEEP steps. A correction that makes the residual small enough, at the rate at
    which the last two made it smaller, is the last one and is not followed by another residual.
    """
    fresh, previous, rate = False, math.inf, 1.0
    always = numbers[CONTRACTION] == 0.0
    counts[SIZES] = 0
    for k in range(counts[LIMIT] + 1):
        eager = always and not previous < numbers[NEAR]
        execute(programs[TANGENT] if eager else programs[RESIDUAL])
        if k == 0 and math.isfinite(numbers[SIZE]):
            execute(programs[WEIGH])
            numbers[FIRST] = numbers[SIZE]
        if k > 0 and _is_worse(numbers, previous):
            if fresh:
                if not _shorten(programs, numbers, counts):
                    return WORSE
                continue
            counts[THERE], numbers[PART], eager = 0, 0.0, True
            execute(programs[MOVE])
            execute(programs[TANGENT])
        end = _judge(numbers, counts, history, previous, fresh)
        if end != SLOW or k == counts[LIMIT]:
            return end
        size = numbers[SIZE]
        if fresh:
            numbers[REACH] = size / previous
        before, rate = rate, size / previous
        fresh = _wants_tangent(numbers, counts, size, previous)
        end = _correct(programs, numbers, counts, flags, fresh, fresh and not eager)
        if end != CONVERGED:
            return end
        foreseen = counts[FORESEES] != 0 and k > 1 and not fresh
        if foreseen and _ends(numbers, size, max(rate, before)):
            execute(programs[PLACE])
            return CONVERGED
        previous = size
    return SLOW


@kernel
def note_newton(programs, numbers, counts, flags, history):  # type: ignore[no-untyped-def]
    """`newton`, what it returns in the count END: a kernel that programs can call."""
    counts[END] = newton(programs, numbers, counts, flags, history)


@kernel
def _is_worse(numbers, previous):  # type: ignore[no-untyped-def]
    """Whether part of a correction has not made a residual smaller that is no rounding error."""
    size, part = numbers[SIZE], numbers[PART]
    smaller = size <= (1.0 - 0.1 * part) * previous
    rounding = part == 1.0 and size <= numbers[STALLED] * numbers[SCALE]
    return numbers[SHORTEST] > 0.0 and not (smaller or rounding)


@kernel
def _shorten(programs, numbers, counts):  # type: ignore[no-untyped-def]
    """Make half the part of the last correction, unless that is too short."""
    numbers[PART] *= 0.5
    if numbers[PART] < numbers[SHORTEST]:
        return False
    counts[ITERATIONS] += 1
    execute(programs[MOVE])
    return True


@kernel
def _judge(numbers, counts, history, previous, fresh):  # type: ignore[no-untyped-def]
    """How the method ends at an iterate; SLOW if it does not yet.

    fresh : whether the correction to it was found with a new tangent.
    """
    size, scale, done = numbers[SIZE], numbers[SCALE], counts[SIZES]
    if not math.isfinite(size):
        return INFINITE
    history[done] = size
    counts[SIZES] = done + 1
    if size > numbers[LOST_AT] * max(history[0], scale):
        return RAN_AWAY
    stuck = fresh and done >= counts[PATIENCE] and size > numbers[PROGRESS] * previous
    at_rounding = stuck and size <= numbers[STALLED] * scale
    counts[AT_ROUNDING] = at_rounding
    small = size <= numbers[TOLERANCE] * scale + numbers[FLOOR] and done >= counts[LEAST]
    good = (small or at_rounding) and numbers[GAP] <= numbers[GAP_LIMIT]
    return CONVERGED if good else SLOW


@kernel
def _correct(programs, numbers, counts, flags, fresh, unfilled):  # type: ignore[no-untyped-def]
    """Make a correction; returns CONVERGED, or how it failed.

    fresh : whether the tangent is factorised anew; unfilled : whether it has to be filled first.
    """
    if unfilled:
        execute(programs[SLOPE])
        if not math.isfinite(numbers[SIZE]):
            return INFINITE
    if fresh:
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
    numbers[PART] = 1.0
    for move in (INSPECT, MOVE):
        execute(programs[move])
        if not math.isfinite(numbers[SIZE]):
            return INFINITE
    return CONVERGED


@kernel
def _ends(numbers, size, rate):  # type: ignore[no-untyped-def]
    """Whether a correction that leaves the part `rate` of a residual and of gaps is the last one."""
    shrinks = SURE * rate
    enough = numbers[TOLERANCE] * numbers[SCALE] + numbers[FLOOR]
    return shrinks * size <= enough and shrinks * numbers[GAP] <= numbers[GAP_LIMIT]


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

    After a rough step the second guess may be the better one: from time to time the residuals decide,
    as long as it is.
    """
    scale, iterations = numbers[SCALE], counts[ITERATIONS]
    execute(programs[BEGIN])
    numbers[REACH] *= numbers[FORGET]
    counts[AGE] += 1
    first, second = FIRST_GUESS, SECOND_GUESS
    rough = numbers[FIRST] > UNBALANCED * scale or counts[PREFERS_LAST] != 0
    if counts[KNOWS_LAST] > 0 and rough:
        if counts[ROUGH_STEPS] % COMPARED == 0:
            execute(programs[FIRST_GUESS])
            execute(programs[RESIDUAL])
            size = numbers[SIZE]
            execute(programs[SECOND_GUESS])
            execute(programs[RESIDUAL])
            counts[PREFERS_LAST] = numbers[SIZE] < size
        counts[ROUGH_STEPS] += 1
        if counts[PREFERS_LAST] != 0:
            first, second = second, first
    else:
        counts[ROUGH_STEPS] = 0
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
def take_steps(sides, side, control, table, wanted, after):  # type: ignore[no-untyped-def]
    """Take a step for each row of `table` (count, W), the inputs at its end; returns how many, and how
    the last one ended.

    sides (2, PROGRAMS) : programs of steps from the first state to the second one and back; `side`
    (1,) tells which one is next. control : numbers, counts, flags and history. wanted (count,) : of
    which steps a snapshot is kept. after (W,) takes the inputs.
    """
    numbers, counts, flags, history = control
    for k in range(table.shape[0]):
        programs = sides[side[0]]
        for j in range(after.shape[0]):
            after[j] = table[k, j]
        end = solve_step(programs, numbers, counts, flags, history)
        if end != CONVERGED:
            return k, end
        execute(programs[ACCEPT])
        if counts[PAUSED] != 0:
            return k, PAUSE
        if wanted[k]:
            execute(programs[SNAPSHOT])
        side[0] = 1 - side[0]
    return table.shape[0], CONVERGED


SAFETY, SHRINKS, GROWS = 0.9, 0.2, 5.0
"""Part of the step that should do, and bounds of the factor from one step to the next."""

AFTER_FAILURE = 0.25
"""Length of the next trial, relative to a step in which Newton's method failed."""

HERE = 1e-9
"""Part of a step within which a time is that of its end."""


@kernel
def step_length(pace):  # type: ignore[no-untyped-def]
    """Length of the next trial, s: the last steps share what is left until they have to end."""
    left = pace[UNTIL] - pace[TIME]
    h = min(pace[NEXT], pace[LONGEST])
    if h >= left * (1.0 - HERE):
        return left
    return 0.5 * left if h > 0.5 * left else h


@kernel
def set_pace(pace, h, end, size, order):  # type: ignore[no-untyped-def]
    """Choose the next step after a trial of h seconds with an error of `size` times the tolerance."""
    pace[TRIED] += 1.0
    if end not in (CONVERGED, PAUSE):
        pace[FAILED] += 1.0
        pace[NEXT], pace[GROWTH] = AFTER_FAILURE * h, 1.0
        return
    factor = min(pace[GROWTH], max(SHRINKS, SAFETY * max(size, 1e-12) ** (-1.0 / order)))
    if end == PAUSE:
        pace[REJECTED] += 1.0
        pace[NEXT], pace[GROWTH] = h * min(factor, SAFETY), 1.0
        return
    last = h >= pace[UNTIL] - pace[TIME]
    pace[TIME] = pace[UNTIL] if last else pace[TIME] + h
    pace[NEXT], pace[GROWTH] = min(h * factor, pace[LONGEST]), GROWS


@kernel
def take_adaptive(sides, side, control, row, after, step, error, wanted, order, pace, ends, once):  # type: ignore[no-untyped-def]
    """Take steps of chosen lengths until the time GOAL is reached; returns how the last trial ended.

    row (W,) : inputs, the same for all trials; once : only one of them. step_0 takes the length, and
    error_0 has the error of the step, which ends with PAUSE if it is larger than wanted_0. ends (N,)
    takes the times at which steps end, as many as there is room for.
    """
    numbers, counts, flags, history = control
    pace[ENDED] = 0.0
    end = CONVERGED
    while pace[TIME] < pace[GOAL] - HERE * pace[NEXT]:
        if pace[TRIED] >= pace[MOST]:
            break
        h = step[0] = step_length(pace)
        for j in range(after.shape[0]):
            after[j] = row[j]
        programs = sides[side[0]]
        end = solve_step(programs, numbers, counts, flags, history)
        if end == NEEDS_PIVOTING:
            break
        if end == CONVERGED:
            execute(programs[ACCEPT])
            if counts[PAUSED] != 0:
                counts[PAUSED], end = 0, PAUSE
            else:
                side[0] = 1 - side[0]
        set_pace(pace, h, end, error[0] / wanted[0], order)
        if end == CONVERGED:
            ends[int(pace[ENDED])] = pace[TIME]
            pace[ENDED] += 1.0
        elif pace[NEXT] < pace[BRIEFEST]:
            break
        if once or pace[ENDED] == ends.shape[0]:
            break
    return end


@kernel
def note_steps(sides, side, control, table, wanted, after):  # type: ignore[no-untyped-def]
    """`take_steps`, what it returns in the counts STEP and END: a kernel that programs can call."""
    done, end = take_steps(sides, side, control, table, wanted, after)
    control[1][STEP] = done
    control[1][END] = end


@kernel
def follow_steps(leader, followers, side, control, table, wanted, after, sizes, most, enough):  # type: ignore[no-untyped-def]
    """Take steps of a leader, as `take_steps` does, each with those of followers that differ a little
    from it; returns how many, and how the last one ended.

    followers (F, 2, FOLLOWER) : their programs. sizes (1,) : of the difference of two residuals. A
    follower is corrected at most `most` times, until the part `enough` of the first difference is left.
    """
    numbers, counts, flags, history = control
    for k in range(table.shape[0]):
        now = side[0]
        programs = leader[now]
        counts[STEP] = k
        for j in range(after.shape[0]):
            after[j] = table[k, j]
        end = solve_step(programs, numbers, counts, flags, history)
        if end != CONVERGED:
            return k, end
        execute(programs[TANGENT])
        execute(programs[FACTORISE])
        if flags[NEGATIVE] < 0:
            return k, SINGULAR
        counts[THERE], counts[AGE] = 1, 0
        execute(programs[ACCEPT])
        if wanted[k]:
            execute(programs[SNAPSHOT])
        for f in range(len(followers)):
            end = _follow(followers[f][now], flags, sizes, most, enough, wanted[k])
            if end != CONVERGED:
                return k, end
        side[0] = 1 - now
    return table.shape[0], CONVERGED


@kernel
def _follow(programs, flags, sizes, most, enough, wanted):  # type: ignore[no-untyped-def]
    """Take the step of a follower; returns how it ended."""
    execute(programs[AIM])
    first = 0.0
    for c in range(most + 1):
        execute(programs[COMPARE])
        size = sizes[0]
        if not math.isfinite(size):
            return INFINITE
        if c == 0:
            first = size
        if c == most or size <= enough * first:
            break
        execute(programs[CORRECT])
        if flags[ROUGH] != 0:
            return NEEDS_PIVOTING
    execute(programs[TAKE])
    if wanted:
        execute(programs[KEEP_STATE])
    return CONVERGED
