"""Choice of resolution: the number of intervals and the step that a robot needs for an accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.model import ConvergenceError, DescriptionError, as_float, count, positive, refuse
from pliant.model.progress import told
from pliant.results.studies import Resolution
from pliant.robot import Robot
from pliant.solve.compiled import choose_formulations
from pliant.study.solutions import Progress, Refinement, Solution, Solutions
from pliant.study.task import Task, check_robot

FIRST_STEPS = 50
"""Steps of the coarsest motion by default."""
FIRST_INTERVALS = 4
"""Intervals with which the step is refined."""
SHARE = 0.15
"""Largest error of the reference in intervals and in step, as a fraction of the accuracy."""
HIGHEST_ORDERS = (4.0, 2.0)
"""Highest credible orders in intervals and step. A higher observed order is chance, or the coarsest
of the three solutions is far off."""


def resolve(
    robot: Robot,
    accuracy: float = 1e-3,
    formulation: Any = None,
    inputs: Mapping[str, Any] | None = None,
    duration: float | None = None,
    dt: float | None = None,
    integrator: Any = None,
    start: str | Mapping[str, Any] = "rest",
    velocity: Mapping[str, Any] | None = None,
    sections: int = 21,
    largest: int = 128,
    shortest: float | None = None,
    tolerance: float = 1e-10,
    progress: bool | Progress | None = None,
) -> Resolution:
    """Find the number of intervals, and for a motion the step, that an accuracy needs.

    robot : a Robot.
    accuracy : the largest allowed distance from the exact solution, over all sections and times, as
        a fraction of the rod's length.
    formulation : for all rods, or by rod name, as for `Robot.statics`. Its size (points, elements,
        segments, nodes, steps) is chosen; its other settings stay.
    inputs : as for `Robot.statics`, or as for `Robot.simulate` if there is a duration.
    duration : seconds, for a motion; without it an equilibrium is resolved.
    dt : the longest step to try, s; None for a fiftieth of the duration. It is halved.
    integrator, velocity : as for `Robot.simulate`.
    start : "rest", "statics", or inputs by name, whose equilibrium the motion starts from.
    sections : number of evenly spaced sections of each rod to compare, ends included.
    largest : largest number of intervals to try.  shortest : shortest step to try, s; None for a
        thousandth of the first.  tolerance : as for `Robot.statics`.
    progress : True for a line with the time so far; or a function, called with the text of the next
        solution and its number from 0.

    Intervals and step are halved until the differences between solutions show an order of
    convergence, from which the remaining error follows (Richardson). Of all combinations that should
    be accurate enough, the fastest (for equilibria, the one with the fewest intervals) is solved and
    compared with the finest. If the accuracy cannot be reached, a ConvergenceError gives the error
    reached.
    """
    check_robot("resolve", robot)
    wanted = as_float(accuracy)
    if wanted is None or not 1e-9 <= wanted <= 0.1:
        raise DescriptionError(
            "resolve", "accuracy", accuracy, "a fraction of the length between 1e-9 and 0.1",
            "give e.g. 1e-3 for a thousandth of the length",
        )  # fmt: skip
    refinement = Refinement.of(choose_formulations(robot.description, formulation))
    exact = positive("resolve", "tolerance", tolerance)
    task = Task("resolve", robot, inputs, duration, integrator, start, velocity, exact)
    task.needs_duration(dt=dt, shortest=shortest)
    compared = count("resolve", "sections", sections, 2)
    most = count("resolve", "largest", largest, 4)
    with told(
        progress, "resolve", lambda text, k: (None, f"{k + 1} solutions, {text}"), True
    ) as report:
        steps = _first_steps(duration, dt)
        return _resolved(
            Solutions(task, refinement, steps, compared, report), wanted, most, shortest
        )


def _resolved(solutions: Solutions, wanted: float, most: int, shortest: float | None) -> Resolution:
    """Refine step and intervals, and choose."""
    first = solutions.step(0)
    if first is None:
        space = _refine(solutions, _powers(most), 0, wanted, "intervals")
        return _choose(solutions, space, None, wanted)
    time = _refine_steps(solutions, _halvings(first, shortest), most, wanted)
    good = [k for k, error in time.errors.items() if error <= 0.5 * wanted]
    space = _refine(solutions, _powers(most, min(good)), 0, wanted, "intervals")
    return _choose(solutions, space, time, wanted)


@dataclass(frozen=True)
class _Direction:
    """Errors along one direction of refinement: by intervals, or by halvings of dt.

    order : observed.  left : estimated error of the finest solution.  errors : by level, the distance
    from the finest solution plus ``left``.  other : the fixed level of the other direction.
    """

    order: float
    left: float
    errors: dict[int, float]
    other: int

    @property
    def finest(self) -> int:
        """The last level."""
        return max(self.errors)

    def between(self, level: float) -> float:
        """The error at a level between solved ones, interpolated by a power law; else infinite."""
        known = sorted(self.errors)
        tiny = np.finfo(float).tiny
        values = np.log([max(self.errors[k], tiny) for k in known])
        inside = known[0] <= level <= known[-1]
        return float(np.exp(np.interp(np.log(level), np.log(known), values))) if inside else np.inf


def _refine(
    solutions: Solutions, pairs: Iterable[tuple[int, int]], axis: int, accuracy: float, name: str
) -> _Direction:
    """Refine until the estimated error of the finest solution is well below `accuracy`.

    pairs : (intervals, halvings of dt), of which the entry `axis` varies; each interval or step is
    half as long as the one before.
    """
    series: list[Solution] = []
    order, left, goal = 0.0, np.inf, SHARE * accuracy
    for pair in pairs:
        one = solutions.get(*pair)
        if axis == 1 and series and not one.solved:
            series = []
            break  # shorter steps may need more intervals and would fail too
        series = [*series, one] if one.solved else []
        if len(series) < 3:
            continue
        before, last = (solutions.distance(a, b) for a, b in pairwise(series[-3:]))
        order, left = richardson(before, last, HIGHEST_ORDERS[axis])
        if left <= goal and (order >= 0.5 or before <= goal):
            errors = {
                (s.intervals, s.halvings)[axis]: solutions.distance(s, one) + left for s in series
            }
            return _Direction(order, left, errors, pair[1 - axis])
    raise ConvergenceError(_unreached(solutions, series, left, order, accuracy, name), series)


def _refine_steps(
    solutions: Solutions, levels: list[int], largest: int, accuracy: float
) -> _Direction:
    """Refine the step with few intervals; with more if that fails."""
    begin = min(FIRST_INTERVALS, largest)
    while True:
        try:
            return _refine(solutions, [(begin, k) for k in levels], 1, accuracy, "dt")
        except ConvergenceError:
            if solutions.all[-1].solved or 2 * begin > largest:
                raise
        begin *= 2


def richardson(before: float, last: float, highest: float) -> tuple[float, float]:
    """Return the observed order and the error left in the finest of three solutions.

    before, last : differences between the first two and the last two, each twice as fine as the one
    before. With u_h = u + C h^p they are C (2^p - 1) (2h)^p and C (2^p - 1) h^p: p is log2 of their
    ratio, and the last solution is off by last / (2^p - 1), with p clipped to 1 ... highest.
    """
    if last <= 0.0:
        return highest, 0.0
    order = float(np.log2(max(before, 1e-300) / last))
    return order, last / (2.0 ** float(np.clip(order, 1.0, highest)) - 1.0)


def _unreached(
    solutions: Solutions,
    series: list[Solution],
    left: float,
    order: float,
    accuracy: float,
    name: str,
) -> str:
    setting = "largest" if name == "intervals" else "shortest"
    if len(series) < 3:
        failed = [f" ({s.text}: {s.row.note})" for s in solutions.all if not s.solved]
        return (
            f"resolve: too few solutions converged to estimate an error{(failed or [''])[-1]}. Allow a "
            f"larger range with {setting}=..., or check the inputs with a single solution."
        )
    falls = f"falls with order {order:.1f}" if order > 0.3 else "does not fall"
    return (
        f"resolve: the error at {series[-1].text} is about {left:.1e} of the length and {falls}; an "
        f"accuracy of {accuracy:.1e} needs {SHARE * accuracy:.1e}. Ask for less accuracy, or allow a "
        f"larger range with {setting}=..."
    )


def _choose(
    solutions: Solutions, space: _Direction, time: _Direction | None, accuracy: float
) -> Resolution:
    """Solve the cheapest combination that should be accurate enough; try the next if it is not."""
    truth = solutions.get(space.finest, 0 if time is None else time.finest)
    if not truth.solved:
        raise ConvergenceError(
            f"resolve: the reference {truth.text} failed: {truth.row.note}", None
        )
    left = space.left + (0.0 if time is None else time.left)
    failed: list[tuple[int, int]] = []
    for m, k in _candidates(solutions, space, time, accuracy):
        if any(m <= m1 and k <= k1 for m1, k1 in failed):
            continue
        one = solutions.get(m, k)
        error = solutions.distance(one, truth) + left if one.solved else np.inf
        if error <= accuracy:
            break
        failed.append((m, k))
    else:
        one, error = truth, left
    orders = {"intervals": space.order, **({} if time is None else {"dt": time.order})}
    rows = [
        replace(
            s.row,
            error=solutions.distance(s, truth) if s.solved else None,
            chosen=s is one,
            is_reference=s is truth,
        )
        for s in solutions.all
    ]
    for text in one.warnings:
        warnings.warn(text, stacklevel=4)
    formulation, step = solutions.refinement.at(one.intervals), solutions.step(one.halvings)
    return Resolution(formulation, step, accuracy, error, left, orders, rows, one.result)


def _candidates(
    solutions: Solutions, space: _Direction, time: _Direction | None, accuracy: float
) -> list[tuple[int, int]]:
    """All (intervals, halvings) that should be accurate enough, the cheapest first."""
    steps = {0: 0.0} if time is None else time.errors
    along = sorted(space.errors)
    # a coarser solution never takes longer; other load on the machine may have slowed it
    spent = [solutions.get(m, space.other).row.seconds or 0.0 for m in along]
    seconds = np.minimum.accumulate(spent[::-1])[::-1]

    def cost(pair: tuple[int, int]) -> tuple[float, int]:
        m, k = pair
        rate = 0.0 if time is None else float(np.interp(m, along, seconds)) * 2.0**k
        return rate, m

    pairs = [
        (m, k)
        for m in range(1, space.finest + 1)
        for k in steps
        if space.between(m) + steps[k] <= accuracy
    ]
    return sorted(pairs, key=cost)


def _powers(largest: int, halvings: int = 0) -> list[tuple[int, int]]:
    """Powers of two from 1 to largest intervals, each with these halvings of dt."""
    return [(2**k, halvings) for k in range(largest.bit_length())]


def _first_steps(duration: float | None, dt: float | None) -> int:
    if duration is None:
        return 0
    if dt is None:
        return FIRST_STEPS
    step = positive("resolve", "dt", dt, "seconds", "give e.g. 0.01, or leave it out")
    refuse(
        step > duration, "resolve", "dt", dt, f"at most the duration {duration:g} s", "leave it out"
    )
    return max(1, int(np.ceil(duration / step - 1e-6)))


def _halvings(first: float, shortest: float | None) -> list[int]:
    """How often the first step, s, may be halved."""
    least = first / 1000.0
    if shortest is not None:
        least = positive("resolve", "shortest", shortest, "seconds", "leave it out")
        refuse(
            least > first / 4.0,
            "resolve",
            "shortest",
            shortest,
            f"at most a quarter of the longest step {first:.4g} s, as three steps are compared",
            "give a shorter one, or a longer dt",
        )
    return list(range(int(np.floor(np.log2(first / least) + 1e-9)) + 1))
