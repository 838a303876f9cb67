"""A robot and its equilibrium on a finer grid, from which the errors of a coarser one are estimated."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model import PliantError
from pliant.model.telling import silenced
from pliant.rods.contract import Formulation
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.problem import Problem, Still
from pliant.solve.shape_error import ShapeError
from pliant.solve.statics import StaticSolution

SAME_BRANCH = 0.02
"""Distance of two equilibria over the length within which they are one; or some estimated errors."""
_SECTIONS = 21
_MORE, _ENOUGH = (1, 2, 4), 0.75
"""Factors by which more intervals are asked for, and the part of the wanted ones that is enough."""


def compared_error(problem: CoordinateProblem, still: Still) -> ShapeError | None:
    """The error of an equilibrium from one with twice as many intervals, None if there is none."""
    with silenced():
        try:
            finer = finer_problem(problem, 2)
            found = same_equilibrium(finer, problem, still)
        except PliantError:
            return None
    if found is None:
        return None
    return shape_error(finer, found.q, problem, still.solution.q)


def shape_error(finer: Problem, fine: Any, problem: Problem, q: Any) -> ShapeError:
    """The distance of a configuration from that on a finer grid as its error."""
    size = _distance(finer, fine, problem, q)
    longest = max(rod.length for rod in problem.description.rods.values())
    return ShapeError(size, size / longest)


def finer_problem(problem: CoordinateProblem, factor: int) -> CoordinateProblem:
    """The same robot with `factor` times as many intervals; raises DescriptionError if it has none.

    Where data jump or tubes end, a rod has more intervals than it was asked for, and more are asked
    for then.
    """
    before = _intervals(problem)
    asked = max(item.intervals or 1 for item in problem.formulations.values())
    for more in _MORE if max(before) > asked else _MORE[:1]:
        found: dict[str, Formulation] = {}
        for name, item in problem.formulations.items():
            least = item.least_size(name)
            intervals = getattr(item, str(item.size)) - least + 1
            assert isinstance(item, Formulation)
            found[name] = item.with_size(least + more * factor * intervals - 1)
        finer = CoordinateProblem(problem.description, found)
        if all(
            fine >= _ENOUGH * factor * n for fine, n in zip(_intervals(finer), before, strict=True)
        ):
            break
    return finer


def _intervals(problem: CoordinateProblem) -> list[int]:
    """Intervals of each rod."""
    return [len(part.map.breaks) - 1 for part in problem.tree.parts if part.rod is not None]


def same_equilibrium(
    finer: CoordinateProblem, problem: CoordinateProblem, still: Still
) -> StaticSolution | None:
    """The same equilibrium on the finer grid: from no load, or else from the one that was found."""
    solution: StaticSolution = still.solution
    share, values = still.applied[-1]
    if len(still.applied) == 1 and share == 1.0:
        try:
            first: StaticSolution = finer.statics(values, None, 1e-10, None).solution
        except PliantError:
            pass
        else:
            if _same(finer, first, problem, solution):
                return first
    inputs = finer.acting(still.applied)
    q = finer.adopt(problem, solution.q)
    begin = StaticSolution(q, np.zeros(finer.tree.total), inputs, negative=solution.negative)
    with finer.solver() as solver:
        other = solver.solve(inputs, begin)
    return other if _same(finer, other, problem, solution) else None


def _same(
    finer: CoordinateProblem,
    found: StaticSolution,
    problem: CoordinateProblem,
    solution: StaticSolution,
) -> bool:
    """Whether two equilibria are one, as far as their grids can tell."""
    known = 0.0 if solution.error is None else 3.0 * solution.error.relative
    apart = _distance(finer, found.q, problem, solution.q)
    return apart <= max(SAME_BRANCH, known) * problem.length


def _distance(finer: Problem, fine: Any, problem: Problem, q: Any) -> float:
    """Largest distance between two shapes, m."""
    apart = [0.0]
    for name, s in problem.description.stations(_SECTIONS).items():
        one, other = (
            x.sampler.poses(at, name, s)[:, :3, 3] for x, at in ((finer, fine), (problem, q))
        )
        apart.append(float(np.linalg.norm(one - other, axis=1).max()))
    return max(apart)
