"""What becomes of a branch where load steps fail: it goes on, or it turns back at a fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError

from pliant.linalg.matrices import SingularError
from pliant.physics.effects import Inputs
from pliant.rods.contract import Array

if TYPE_CHECKING:
    from pliant.solve.load_steps import StaticSolver
    from pliant.solve.statics import StaticSolution

_STEP, _MOST = 0.05, 300
"""Largest step in turns, parts of the length and of the load, and the number of steps."""


def go_on(
    solver: StaticSolver,
    good: StaticSolution,
    level: float,
    ways: tuple[Inputs, Inputs, Array],
) -> tuple[StaticSolution | None, float | None]:
    """Follow a branch by its arclength from the last equilibrium that load steps reached.

    level : of its load.  ways : inputs at the origin and at the target, and gaps (total,) of
    constraints at the origin.

    Returns the equilibrium under the full load, None if it is not reached before the branch turns
    back; and the level at which it does, None if it does not.
    """
    from pliant.solve.continuation import Continuation
    from pliant.solve.ways import LoadWay

    way = Continuation(solver, LoadWay(*ways), (level, 1.0))
    unstable = good.negative or good.odd
    try:
        point = way.at(good, level, 1.0)
        if point is None:
            return None, None
        way.low = min(0.0, level)
        branch = way.follow(point, _STEP, _MOST, folds=1)
    except (SingularError, LinAlgError):
        return None, None
    if branch.folds:
        return None, branch.folds[0].at.value
    last = branch.points[-1]
    if last.value < 1.0:
        return None, None
    found = last.solution
    found.inputs, found.memory = ways[1], solver.memory.copy()
    found.levels = [level, 1.0]
    if not solver.symmetric:
        for at in branch.points:
            at.solution.odd = at.pivots is not None and bool(at.pivots % 2)
    if not unstable and (found.negative or found.odd):
        lost = [at.value for at in branch.points if at.solution.negative or at.solution.odd]
        found.lost = lost[0]
    return found, None
