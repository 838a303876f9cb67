"""Initial states of solves: rest, or the state of an earlier result that fits the robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pliant.model import choice, instance, refuse
from pliant.results.equilibrium import Equilibrium
from pliant.results.result import ShapeResult
from pliant.solve.compiled import Compiler
from pliant.solve.problem import Problem, Start, Still


def begins_at(part: str, start: object) -> ShapeResult | None:
    """Return the result that a motion starts from; None for "rest" and "statics".

    part : the method that was called, for error messages.
    """
    if isinstance(start, ShapeResult):
        return start
    choice(part, "start", start, ("rest", "statics"))
    return None


def compiled_for(compiler: Compiler, choice: Any, start: object, field: str) -> Problem:
    """Compile with the chosen formulations, or those of the result to start from.

    field : the argument that holds the result, for error messages.
    """
    if start is None:
        return compiler.compiled(choice)
    expected = "a result of this robot"
    remedy = "give what statics returned"
    result = instance("robot", field, start, ShapeResult, expected, remedy)  # type: ignore[type-abstract]
    earlier = result._compiled
    if choice is None and set(earlier.formulations) == set(compiler.description.rods):
        choice = earlier.formulations
    problem = compiler.compiled(choice)
    refuse(
        not problem.same_rods(earlier),
        "robot",
        field,
        start,
        "a result for the same rods, formulations and moving bases",
        "solve it again with these rods and this formulation, or leave formulation out",
    )
    return problem


def origin(start: Equilibrium | None) -> tuple[Problem, Still] | None:
    """Return the problem and the equilibrium from which statics follows a branch."""
    if start is None:
        return None
    instance(
        "statics",
        "start",
        start,
        Equilibrium,
        "an Equilibrium of the robot with the same constraints",
        "leave start out to begin at the unloaded robot",
    )
    return start._compiled, start._still


def first_state(
    problem: Problem,
    start: object,
    velocity: Mapping[str, Any] | None,
    joints: Mapping[str, Any] | None,
) -> Start:
    """Return the initial conditions of a motion: a result, or the undeformed robot at rest.

    joints : by part name, coordinates that replace those of the state.
    """
    q, v = start._final() if isinstance(start, ShapeResult) else (None, None)
    if joints is not None:
        q = problem.with_joints(problem.rest if q is None else q, joints)
    return Start(q, v, velocity)
