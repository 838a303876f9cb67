"""The result of `Robot.reach`: an equilibrium whose inputs bring frames to their targets."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model import (
    Array,
    ConvergenceError,
    Description,
    DescriptionError,
    as_array,
    instance,
    refuse,
)
from pliant.results.equilibrium import Equilibrium
from pliant.results.export import plain_data
from pliant.results.responses import coordinates_of, frame_of, input_names
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.mesh_slopes import brought
from pliant.solve.problem import Problem, Still
from pliant.solve.reach import Inverse, Point
from pliant.solve.statics import StaticSolution
from pliant.solve.targets import Target, read_target

_LARGEST, _ZERO = 1e12, 1e-9
"""Sizes of an input between which a bound of its owner is looked for."""
_WITHIN = 1e-4
"""Distance from the bounds of an insertion, in lengths of the robot."""


class ReachWarning(UserWarning):
    """Targets that the inputs of a robot cannot reach, or only by an unstable equilibrium."""


@dataclass(frozen=True)
class Miss:
    """How far a frame is from its target.

    distance : m.  angle : rad.  reached : whether both are within the tolerance.
    """

    distance: float
    angle: float
    reached: bool

    def __str__(self) -> str:
        return f"{self.distance:.3g} m and {self.angle:.3g} rad off"


class Reach(Equilibrium):
    """An equilibrium that brings frames to their targets, or as close to them as its inputs can.

    inputs : the value of every input, by name, those that were sought among them.
    found : the inputs that were sought, by name.
    misses : by place, how far it is from its target (distance in m, angle in rad, reached).
    effort : the root of the sum of squares of the inputs, each over its size.
    at_bounds : names of the inputs that are at a bound.
    solves : equilibria that were computed on the way.

    Made by `Robot.reach` from compiled, still, seconds and details.
    """

    def __init__(
        self, compiled: Problem, still: Still, seconds: float, details: Mapping[str, Any]
    ) -> None:
        super().__init__(compiled, still.solution, still.applied, seconds)
        self.found: dict[str, Any] = details["found"]
        self.misses: dict[str, Miss] = details["misses"]
        self.effort: float = details["effort"]
        self.at_bounds: list[str] = details["at_bounds"]
        self.solves: int = details["solves"]

    @property
    def reached(self) -> bool:
        """Whether all targets are reached; `stable` tells whether the robot stays there."""
        return all(miss.reached for miss in self.misses.values())

    def __repr__(self) -> str:
        return f"<Reach of {self._names}: {'reached' if self.reached else 'not reached'}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the inputs that were found and the misses with the equilibrium as plain data."""
        misses = {name: vars(miss) for name, miss in self.misses.items()}
        return plain_data({**super().to_dict(), "found": self.found, "misses": misses})

    def summary(self) -> str:
        """Return inputs and misses in a few lines of text, then the equilibrium."""
        inputs = ", ".join(f"{name} = {np.round(value, 6)}" for name, value in self.found.items())
        lines = [f"Reach: {inputs}"]
        for name, miss in self.misses.items():
            lines.append(f"  {name}: {'reached' if miss.reached else miss}")
        return "\n".join([*lines, super().summary()])


def reach(
    compiled: Problem,
    targets: object,
    inputs: object,
    values: Mapping[str, Any],
    bounds: object,
    sizes: object,
    start: Equilibrium | None,
    tolerance: float,
    tries: int,
) -> Reach:
    """Solve an inverse problem; arguments as for `Robot.reach`, with the values of all inputs."""
    began = time.perf_counter()
    problem = coordinates_of(compiled, "reach")
    wanted = read_targets(problem.description, targets)
    names = input_names(values, "reach", inputs)
    refuse(not names, "reach", "inputs", inputs, "at least one input", "give e.g. ['pull']")
    shapes = [np.shape(values[name]) for name in names]
    low, high = read_bounds(problem, names, shapes, bounds)
    units = read_sizes(names, shapes, sizes)
    owners = [problem.description.input_owner(name) for name in names]
    counts = [int(np.prod(shape)) for shape in shapes]
    kinds = [type(owner) for owner, n in zip(owners, counts, strict=True) for _ in range(n)]
    solution = None
    if start is not None:
        solution = problem.start(*brought(start._compiled, start._still, problem))
    with problem.solver() as solver:
        task = Inverse(problem, solver, wanted, names, values, (low, high), units, kinds, tolerance)
        point, other = _best(task, solution, tries)
    at, problem = Still(point.solution, [(1.0, task.named(point.y))]), point.problem
    still = problem.statics(task.named(point.y), (problem, at), 1e-10, None)
    details = _details(problem, task, point, still, names)
    found = Reach(problem, still, time.perf_counter() - began, details)
    if not found.reached:
        warnings.warn(_complaint(found), ReachWarning, stacklevel=4)
    if found.stable is False:
        warnings.warn(_falls(found, other), ReachWarning, stacklevel=4)
    return found


def _best(task: Inverse, start: StaticSolution | None, tries: int) -> tuple[Point, Point | None]:
    """The closest of several searches, and where that is unstable the closest stable one; a stable
    one that reaches the targets comes first.
    """
    first = task.begin(start)
    best = _closest(task, task.solve(first), tries)
    if not best.unstable:
        return best, None
    task.steady = True
    begin = first if not first.unstable else _anew(task, best.y)
    begin = begin if begin is not None else _anew(task, first.y)
    if begin is None:
        return best, None
    other = _closest(task, task.solve(begin), tries)
    return (other, None) if task.reached(other) else (best, other)


def _anew(task: Inverse, y: Array) -> Point | None:
    """The equilibrium on the branch from the unloaded robot; None if it is not known to be stable."""
    try:
        found = task.at(y)
    except ConvergenceError:
        return None
    return None if found.unstable else found


def _closest(task: Inverse, best: Point, tries: int) -> Point:
    """The closest of several searches; those after the first start at random inputs."""
    numbers = np.random.default_rng(0)
    low = np.maximum(task.low, np.minimum(best.y, task.high) - 1.0)
    high = np.minimum(task.high, np.maximum(best.y, task.low) + 1.0)
    for _ in range(tries - 1):
        if task.reached(best):
            break
        try:
            begin = task.at(numbers.uniform(low, high), best, predict=False)
            if task.steady and begin.unstable:
                continue
            other = task.solve(begin)
        except ConvergenceError:
            continue
        if np.linalg.norm(other.residual) < 0.999 * np.linalg.norm(best.residual):
            best = other
    return best


def _details(
    problem: CoordinateProblem, task: Inverse, point: Point, still: Still, names: list[str]
) -> dict[str, Any]:
    y, values = point.y, task.named(point.y)
    span = np.maximum(1.0, np.abs(y))
    stuck = (y - task.low < 1e-9 * span) | (task.high - y < 1e-9 * span)
    owners = np.repeat(names, [int(np.prod(shape)) for shape in task.shapes])
    misses = {}
    for target in task.targets:
        distance, angle = target.miss(problem.frame(still.solution.q, target.frame))
        near = distance <= task.tolerance * problem.length and angle <= task.tolerance
        misses[target.name] = Miss(distance, angle, bool(near))
    return {
        "found": {name: values[name] for name in names},
        "misses": misses,
        "effort": float(np.linalg.norm(y)),
        "at_bounds": list(dict.fromkeys(owners[stuck].tolist())),
        "solves": task.count,
    }


def _complaint(found: Reach) -> str:
    """What to say of targets that are not reached."""
    far = {name: miss for name, miss in found.misses.items() if not miss.reached}
    listed = "; ".join(f"{name!r} is {miss}" for name, miss in far.items())
    why = "no combination of these inputs was found that comes closer"
    if found.at_bounds:
        why = f"{', '.join(map(repr, found.at_bounds))} at their bounds"
    return (
        f"not all targets are reached: {listed} ({why}). The result is the closest equilibrium that "
        "was found. Widen the bounds, add inputs, ask for less (a position instead of a pose), or "
        "give start= an equilibrium nearer by."
    )


def _falls(found: Reach, other: Point | None) -> str:
    """What to say of an equilibrium that is unstable."""
    told = ""
    if other is not None:
        gap = float(np.linalg.norm(other.residual))
        told = f"; the closest stable one that was found misses by {gap:.2g} lengths or radians"
    return (
        f"the equilibrium that was found is unstable, so the robot does not stay there: "
        f"{found.stability_note}{told}. Add inputs that hold it, such as a joint or a base motion "
        "instead of a force, or give start= a stable equilibrium nearer by."
    )


# -- arguments -----------------------------------------------------------------------------------


def read_targets(description: Description, targets: object) -> list[Target]:
    """The targets that a user gave by place."""
    expected, remedy = "a dict of targets by place", "give e.g. {'arm.tip': (0.2, 0, 0.1)}"
    given = instance("reach", "targets", targets, Mapping, expected, remedy)  # type: ignore[type-abstract]
    refuse(not given, "reach", "targets", targets, expected, remedy)
    found = []
    for place, value in given.items():
        frame = frame_of(description, "reach", place)
        found.append(read_target(str(place), frame, value))
    return found


def read_bounds(
    problem: CoordinateProblem, names: Sequence[str], shapes: Sequence[Any], bounds: object
) -> tuple[Array, Array]:
    """Lowest and highest values (n,) of the inputs that are sought, all within what they take."""
    if not isinstance(bounds, Mapping):
        bounds = {} if bounds is None else dict.fromkeys(names, bounds)
    input_names(dict.fromkeys(names), "reach bounds", list(bounds))
    low: list[float] = []
    high: list[float] = []
    for name, shape in zip(names, shapes, strict=True):
        pair = bounds.get(name, (None, None))
        ends = list(pair) if isinstance(pair, Sequence | np.ndarray) and len(pair) == 2 else []
        inside = _limits(problem, name)
        ends = [limit if end is None else end for end, limit in zip(ends, inside, strict=False)]
        numbers = [as_array(end) for end in ends]
        wrong = not numbers or any(x is None or x.shape != () for x in numbers)
        wrong = wrong or not float(numbers[0]) < float(numbers[1])  # type: ignore[arg-type]
        if wrong:
            expected = "a pair (lowest, highest), None where there is no bound"
            raise DescriptionError("reach bounds", name, pair, expected, "give e.g. (0, None)")
        count = int(np.prod(shape))
        low += count * [max(float(numbers[0]), inside[0])]  # type: ignore[arg-type]
        high += count * [min(float(numbers[1]), inside[1])]  # type: ignore[arg-type]
    return np.array(low), np.array(high)


def _limits(problem: CoordinateProblem, name: str) -> tuple[float, float]:
    """The lowest and highest value that an input takes, as its owner tells by refusing others.

    Inputs that are compiled stay a little within, where they have derivatives.
    """
    description = problem.description
    compiled = name in description.settled_inputs()

    def refused(value: float) -> bool:
        try:
            if compiled:
                description.settled({name: value})
            else:
                description.input_owner(name).check_input("reach", "value", np.array(value))
        except DescriptionError:
            return True
        return False

    within = _WITHIN * problem.length if compiled else 0.0
    return within - _limit(lambda x: refused(-x)), _limit(refused) - within


def _limit(refused: Callable[[float], bool]) -> float:
    """The largest number above zero that is not refused."""
    if not refused(_LARGEST) or refused(0.0):
        return np.inf
    if refused(_ZERO):
        return 0.0
    low, high = 0.0, _LARGEST
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if refused(middle) else (middle, high)
    return low


def read_sizes(names: Sequence[str], shapes: Sequence[Any], sizes: object) -> Array:
    """What counts as a unit of effort (n,): as given by name, else nan."""
    given = sizes if sizes is not None else {}
    expected, remedy = "a dict of sizes by input", "give e.g. {'pull': 5.0}"
    chosen = instance("reach", "sizes", given, Mapping, expected, remedy)  # type: ignore[type-abstract]
    input_names(dict.fromkeys(names), "reach sizes", list(chosen))
    found = np.full(int(sum(np.prod(shape) for shape in shapes)), np.nan)
    at = 0
    for name, shape in zip(names, shapes, strict=True):
        count = int(np.prod(shape))
        if name in chosen:
            size = as_array(chosen[name])
            if size is None or size.shape != () or not 0.0 < float(size) < np.inf:
                raise DescriptionError(
                    "reach sizes", name, chosen[name], "a number above zero", "give e.g. 5.0"
                )
            found[at : at + count] = float(size)
        at += count
    return found
