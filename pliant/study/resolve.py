"""Choice of resolution: how many intervals, and which step, a robot needs for an accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.model import ConvergenceError, DescriptionError
from pliant.model.checks import as_float, positive, whole_number
from pliant.results.resolution import Resolution
from pliant.robot import Robot
from pliant.solve.compiled import choose_formulations
from pliant.study.sizes import Sizes
from pliant.study.solutions import Progress, Question, Solution, Solutions

FIRST_STEPS = 50
"""Steps of the coarsest motion, where no longest step is given."""
FIRST_INTERVALS = 4
"""With which the step is looked for."""
SHARE = 0.15
"""Part of the accuracy that the reference may be off by, in intervals and in step each."""
HIGHEST_ORDERS = (4.0, 2.0)
"""Orders in intervals and step above which an observed one is not believed: it is luck, or the
coarsest of three is far off."""


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
    progress: Progress | None = None,
) -> Resolution:
    """Find how fine a robot has to be solved: number of intervals, and for a motion the step.

    robot : a Robot.
    accuracy : the largest distance from the exact solution that any section may have at any time, as
        a fraction of the length of its rod.
    formulation : for all rods, or by rod name, as for `Robot.statics`; its size (points, elements,
        segments, nodes, steps) is what is looked for, its other settings are kept.
    inputs : as for `Robot.statics`, or as for `Robot.simulate` when a duration is given.
    duration : seconds, for a motion; without it an equilibrium is resolved.
    dt : the longest step to try, s; None for a fiftieth of the duration. It is halved.
    integrator, velocity : as for `Robot.simulate`.
    start : "rest", "statics", or inputs by name, in whose equilibrium it is held until t = 0.
    sections : how many sections of each rod are compared, evenly spaced, ends included.
    largest : most intervals of a rod to try.  shortest : shortest step to try, s; None for a
        thousandth of the first.  tolerance : as for `Robot.statics`.
    progress : called with the text of the solution that comes next and its number from 0.

    Intervals and step are halved until the differences between solutions fall with a power, which
    tells the error that is left (Richardson). Of all combinations that should be accurate enough the
    one that takes least time is solved and measured against the finest; for equilibria, the one with
    the fewest intervals. If the accuracy cannot be reached, a ConvergenceError says how far it got.
    """
    if not isinstance(robot, Robot):
        raise DescriptionError("resolve", "robot", robot, "a Robot", "give what pl.Robot() made")
    wanted = as_float(accuracy)
    if wanted is None or not 1e-9 <= wanted <= 0.1:
        raise DescriptionError(
            "resolve", "accuracy", accuracy, "a fraction of the length between 1e-9 and 0.1",
            "give e.g. 1e-3 for a thousandth of the length",
        )  # fmt: skip
    sizes = Sizes.of(choose_formulations(robot.description, formulation))
    question = Question(
        robot, inputs, duration, _first_steps(duration, dt), integrator, start, velocity,
        _whole("sections", sections, 2), positive("resolve", "tolerance", tolerance),
    )  # fmt: skip
    question.check()
    most = _whole("largest", largest, 4)
    ways = Solutions(question, sizes, progress)
    if duration is None:
        for name, value in (("dt", dt), ("shortest", shortest), ("velocity", velocity)):
            if value is not None:
                raise DescriptionError(
                    "resolve", name, value, "left out where no duration is given",
                    "give duration=... to resolve a motion",
                )  # fmt: skip
        space = _refine(ways, _powers(1, most), 0, wanted, "intervals")
        return _choose(ways, space, None, wanted)
    levels = _step_levels(question, shortest)
    time = _refine_steps(ways, levels, most, wanted)
    good = [k for k, error in time.errors.items() if error <= 0.5 * wanted]
    space = _refine(ways, _powers(1, most, min(good)), 0, wanted, "intervals")
    return _choose(ways, space, time, wanted)


# -- one direction -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Direction:
    """Errors along one direction of refinement: by intervals, or by how often dt was halved.

    order : observed.  left : estimated error of the finest.  errors : by level, the distance from the
    finest plus what is left.  other : the level of the other direction, in which it stands still.
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
        """The error at a level between those that were solved, by a power law."""
        known = sorted(self.errors)
        tiny = np.finfo(float).tiny
        values = np.log([max(self.errors[k], tiny) for k in known])
        inside = known[0] <= level <= known[-1]
        return float(np.exp(np.interp(np.log(level), np.log(known), values))) if inside else np.inf


def _refine(
    ways: Solutions, pairs: Iterable[tuple[int, int]], axis: int, accuracy: float, name: str
) -> _Direction:
    """Solve ever finer ones until the finest is known to be much better than `accuracy`.

    pairs : (intervals, halvings of dt), of which the entry `axis` varies, each interval or step half
    as long as the one before.
    """
    found: list[Solution] = []
    order, left, goal = 0.0, np.inf, SHARE * accuracy
    for pair in pairs:
        one = ways.get(*pair)
        if axis == 1 and found and not one.solved:
            found = []
            break  # shorter steps may need more intervals, and would fail on
        found = [*found, one] if one.solved else []
        if len(found) < 3:
            continue
        before, last = ways.apart(found[-3], found[-2]), ways.apart(found[-2], found[-1])
        order, left = richardson(before, last, HIGHEST_ORDERS[axis])
        if left <= goal and (order >= 0.5 or before <= goal):
            errors = {
                (s.intervals, s.halvings)[axis]: ways.apart(s, found[-1]) + left for s in found
            }
            return _Direction(order, left, errors, pair[1 - axis])
    raise ConvergenceError(_unreached(ways, found, left, order, accuracy, name), found)


def _refine_steps(ways: Solutions, levels: list[int], largest: int, accuracy: float) -> _Direction:
    """Refine the step with few intervals, with more where so few fail."""
    begin = min(FIRST_INTERVALS, largest)
    while True:
        try:
            return _refine(ways, [(begin, k) for k in levels], 1, accuracy, "dt")
        except ConvergenceError:
            if ways.all[-1].solved or 2 * begin > largest:
                raise
        begin *= 2


def richardson(before: float, last: float, highest: float) -> tuple[float, float]:
    """Return the observed order and the error left in the finest of three solutions.

    before, last : differences between the first two and the last two, each twice as fine as the one
    before. With u_h = u + C h^p they are C (2^p - 1) (2h)^p and C (2^p - 1) h^p: p = log2 of their
    ratio, and the last is off by the last difference / (2^p - 1). There p is taken from 1 to highest.
    """
    if last <= 0.0:
        return highest, 0.0
    order = float(np.log2(max(before, 1e-300) / last))
    return order, last / (2.0 ** float(np.clip(order, 1.0, highest)) - 1.0)


def _unreached(
    ways: Solutions, found: list[Solution], left: float, order: float, accuracy: float, name: str
) -> str:
    setting = "largest" if name == "intervals" else "shortest"
    if len(found) < 3:
        failed = [f" ({s.text}: {s.note})" for s in ways.all if not s.solved]
        return (
            f"resolve: too few solutions converged to tell an error{(failed or [''])[-1]}. Allow a "
            f"larger range with {setting}=..., or check the inputs with a single solution."
        )
    falls = f"and falls with power {order:.1f}" if order > 0.3 else "and does not fall"
    return (
        f"resolve: the error at {found[-1].text} is about {left:.1e} of the length {falls}, "
        f"{SHARE * accuracy:.1e} is needed to judge an accuracy of {accuracy:.1e}. Ask for less, or "
        f"allow a larger range with {setting}=..."
    )


# -- the choice --------------------------------------------------------------------------------


def _choose(
    ways: Solutions, space: _Direction, time: _Direction | None, accuracy: float
) -> Resolution:
    """Solve the cheapest combination that should do, measure it, and go on if it does not."""
    truth = ways.get(space.finest, 0 if time is None else time.finest)
    if not truth.solved:
        raise ConvergenceError(f"resolve: the reference {truth.text} failed: {truth.note}", None)
    left = space.left + (0.0 if time is None else time.left)
    failed: list[tuple[int, int]] = []
    for m, k in _candidates(ways, space, time, accuracy):
        if any(m <= m1 and k <= k1 for m1, k1 in failed):
            continue
        one = ways.get(m, k)
        error = ways.apart(one, truth) + left if one.solved else np.inf
        if error <= accuracy:
            break
        failed.append((m, k))
    else:
        one, error = truth, left
    orders = {"intervals": space.order, **({} if time is None else {"dt": time.order})}
    rows = [
        replace(
            s.row,
            error=ways.apart(s, truth) if s.solved else None,
            chosen=s is one,
            is_reference=s is truth,
        )
        for s in ways.all
    ]
    for text in one.warnings:
        warnings.warn(text, stacklevel=3)
    step = None if time is None else ways.question.step(one.halvings)
    formulation = ways.sizes.at(one.intervals)
    return Resolution(formulation, step, accuracy, error, left, orders, rows, one.result)


def _candidates(
    ways: Solutions, space: _Direction, time: _Direction | None, accuracy: float
) -> list[tuple[int, int]]:
    """All (intervals, halvings) that should be accurate enough, the cheapest first."""
    steps = {0: 0.0} if time is None else time.errors
    along = sorted(space.errors)
    # a coarser one never takes longer, whatever else the machine did meanwhile
    spent = [ways.get(m, space.other).seconds for m in along]
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


# -- arguments ---------------------------------------------------------------------------------


def _powers(first: int, largest: int, halvings: int = 0) -> Iterable[tuple[int, int]]:
    count = first
    while count <= largest:
        yield count, halvings
        count *= 2


def _first_steps(duration: float | None, dt: float | None) -> int:
    if duration is None:
        return 0
    whole = positive("resolve", "duration", duration, "seconds", "give e.g. 1.0")
    if dt is None:
        return FIRST_STEPS
    step = positive("resolve", "dt", dt, "seconds", "give e.g. 0.01, or leave it out")
    if step > whole:
        raise DescriptionError(
            "resolve", "dt", dt, f"at most the duration {whole:g} s", "leave it out"
        )
    return max(1, int(np.ceil(whole / step - 1e-6)))


def _step_levels(question: Question, shortest: float | None) -> list[int]:
    first = question.step(0)
    least = first / 1000.0
    if shortest is not None:
        least = positive("resolve", "shortest", shortest, "seconds", "leave it out")
        if least > first / 4.0:
            raise DescriptionError(
                "resolve", "shortest", shortest,
                f"at most a quarter of the longest step {first:.4g} s, for three are compared",
                "give a shorter one, or a longer dt",
            )  # fmt: skip
    return list(range(int(np.floor(np.log2(first / least) + 1e-9)) + 1))


def _whole(field: str, value: object, least: int) -> int:
    found = whole_number(value)
    if found is None or found < least:
        raise DescriptionError(
            "resolve", field, value, f"a whole number of at least {least}", f"give e.g. {least}"
        )
    return found
