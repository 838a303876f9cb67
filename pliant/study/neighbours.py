"""Results of robots that differ little from a solved one, for sensitivities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import DescriptionError, PliantError
from pliant.results.equilibrium import Equilibrium
from pliant.results.motion import Motion
from pliant.solve.clock import make_clock
from pliant.solve.compiled import Compiler
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.load_steps import StaticOptions, StaticSolver
from pliant.solve.problem import Problem, Start
from pliant.solve.schedule import Schedule, check_values
from pliant.solve.sensitivities import Run, follow
from pliant.solve.statics import StaticSolution

if TYPE_CHECKING:
    from pliant.study.experiments import MotionRun

TOLERANCE = 1e-12


def neighbouring_equilibrium(
    still: object, compiler: Compiler, values: Mapping[str, Any]
) -> Equilibrium | None:
    """Return the equilibrium of a robot that differs little from that of `still`.

    Newton's method starts from the known equilibrium: its first correction is -K^-1 dr/dp, and few
    more are needed. Returns None if `still` has no coordinates, or if Newton's method fails.
    """
    if not isinstance(still, Equilibrium) or not isinstance(still._compiled, CoordinateProblem):
        return None
    problem = compiler.compiled(still._compiled.formulations)
    assert isinstance(problem, CoordinateProblem)
    if problem.tree.nq != still._compiled.tree.nq or _depends_on_way(problem):
        return None
    given = check_values(problem.description, values)
    solution = _corrected(problem, still._solution, given)
    return None if solution is None else Equilibrium(problem, solution, [(1.0, given)], 0.0)


def _corrected(
    problem: CoordinateProblem, near: Any, values: Mapping[str, Any]
) -> StaticSolution | None:
    """Return the equilibrium next to a known one of a system that differs little."""
    effects = problem.effects
    inputs = effects.at(values)
    start = StaticSolution(near.q, near.z, inputs, negative=near.negative)
    try:
        return StaticSolver(effects, StaticOptions(tolerance=TOLERANCE)).solve(inputs, start)
    except PliantError:
        return None


def neighbouring_motions(
    compilers: list[Compiler], formulation: Any, task: MotionRun
) -> list[Motion] | None:
    """Return the motion of the first robot and of others that differ little from it.

    Returns None if the formulation, the integrator or the start does not support it.
    """
    compiled = [compiler.compiled(formulation) for compiler in compilers]
    problems = [item for item in compiled if isinstance(item, CoordinateProblem)]
    if len(problems) < len(compiled) or len({problem.tree.nq for problem in problems}) > 1:
        return None
    refuse_impacts(problems[0])
    if _depends_on_way(problems[0]):
        return None
    method = problems[0].integrator(task.integrator)
    if method.chooses_steps:
        return None
    clock = make_clock(task.duration, task.h, None, task.outputs)
    runs: list[Run] = []
    for problem in problems:
        schedule = Schedule(problem.effects, task.schedule)
        initial = _initial_state(problem, schedule, task, runs[0].start if runs else None)
        if initial is None:
            return None
        begin = problem.begin(schedule, Start(initial.q, None, task.measurement.velocity))
        runs.append(Run(*begin, initial))
    paths = follow(method, runs, clock, task.rates)
    pairs = zip(problems, paths, strict=True)
    return [Motion(problem, path, repr(method)) for problem, path in pairs]


def _depends_on_way(problem: CoordinateProblem) -> bool:
    """Whether neighbours have to be solved from the start: where joints stick and slide."""
    return any(term.depends_on_way for term in problem.effects.terms)


def refuse_impacts(problem: Problem) -> None:
    """Refuse to fit the motion of a robot with one-sided constraints: impacts have no derivative."""
    for term in getattr(getattr(problem, "effects", None), "one_sided", ()):
        raise DescriptionError(
            term.label,
            "unilateral",
            True,
            "left out of a motion that is fitted, for impacts have no derivative",
            "fit equilibria, give the constraint a compliance, or fit the motion before it is met",
        )


def _initial_state(
    problem: CoordinateProblem, schedule: Schedule, task: MotionRun, first: Any
) -> StaticSolution | None:
    """Return the initial state: undeformed, or an equilibrium, next to the first if given."""
    effects, given = problem.effects, task.measurement.start
    values = schedule.values_at(0.0)
    if given == "rest":
        return StaticSolution(problem.rest, np.zeros(problem.tree.total), effects.at(values))
    if isinstance(given, Mapping):
        values = {**values, **given}
    values = check_values(problem.description, values)
    if first is not None:
        return _corrected(problem, first, values)
    options = StaticOptions(tolerance=TOLERANCE)
    return StaticSolver(effects, options).solve(effects.at(values))
