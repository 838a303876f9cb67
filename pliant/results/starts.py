"""Results as places to start from: which robot they fit, and the state they hand over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pliant.model import DescriptionError
from pliant.model.checks import choice
from pliant.results.equilibrium import Equilibrium
from pliant.results.motion import Motion
from pliant.results.state import StepState
from pliant.solve.compiled import Compiler
from pliant.solve.problem import Problem, Start, Still

RESULTS = (Equilibrium, Motion, StepState)
"""Results that a motion can start from."""


def begins_at(part: str, start: object) -> Equilibrium | Motion | StepState | None:
    """Return the result that a motion starts from; None for "rest" and "statics".

    part : what was asked to start there, for the message if it cannot.
    """
    if isinstance(start, RESULTS):
        return start
    choice(part, "start", start, ("rest", "statics"))
    return None


def compiled_for(compiler: Compiler, choice: Any, start: object, field: str) -> Problem:
    """Compile with the chosen formulations, or those of the result to start from.

    field : the argument that holds the result, for the message if it does not fit.
    """
    if start is None:
        return compiler.compiled(choice)
    if not isinstance(start, RESULTS):
        raise DescriptionError(
            "robot", field, start, "a result of this robot", "give what statics returned"
        )
    before = start._compiled
    if choice is None and set(before.formulations) == set(compiler.description.rods):
        choice = before.formulations
    found = compiler.compiled(choice)
    if not found.same_rods(before):
        raise DescriptionError(
            "robot",
            field,
            start,
            "a result for the same rods, formulations and moving bases",
            "solve it again with these rods and this formulation, or leave formulation out",
        )
    return found


def origin(start: Equilibrium | None) -> tuple[Problem, Still] | None:
    """Return the problem and the equilibrium to follow a branch from."""
    if start is None:
        return None
    if not isinstance(start, Equilibrium):
        raise DescriptionError(
            "statics",
            "start",
            start,
            "an Equilibrium of the robot with the same constraints",
            "leave start out to begin at the unloaded robot",
        )
    return start._compiled, start._still


def first_state(start: object, velocity: Mapping[str, Any] | None) -> Start:
    """Return where a motion begins: at a result, or at the undeformed robot."""
    if isinstance(start, Equilibrium):
        return Start(start._solution.q, None, velocity)
    if isinstance(start, Motion):
        _, q, rates = start._trajectory.final
        return Start(q, rates, velocity)
    if isinstance(start, StepState):
        return Start(start._q, start._v, velocity)
    return Start(None, None, velocity)
