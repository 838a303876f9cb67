"""Results as places to start from: which robot they fit, and the state they hand over."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model import Array, DescriptionError
from pliant.results.equilibrium import Equilibrium
from pliant.results.motion import Motion
from pliant.solve.beginning import begin, require_closed
from pliant.solve.compiled import Compiled, Compiler
from pliant.solve.statics import StaticSolution
from pliant.system.loading import Loading, make_loading


def compiled_for(compiler: Compiler, choice: Any, start: object, field: str) -> Compiled:
    """Compile with the chosen formulations, or those of the result to start from.

    field : the argument that holds the result, for the message if it does not fit.
    """
    if start is None:
        return compiler.compiled(choice)
    if not isinstance(start, (Equilibrium, Motion)):
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


def branch_origin(
    compiled: Compiled, start: Equilibrium | None
) -> tuple[StaticSolution | None, list[tuple[float, Any]]]:
    """Return the solution to follow the branch from, and the loads that act there."""
    if start is None:
        return None, []
    if not isinstance(start, Equilibrium) or not compiled.same_unknowns(start._compiled):
        raise DescriptionError(
            "statics",
            "start",
            start,
            "an Equilibrium of the robot with the same constraints",
            "leave start out to begin at the unloaded robot",
        )
    # loads added since did not act there
    absent = dict.fromkeys(compiled.description.inputs(), 0.0)
    applied = [
        (share, {**absent, **{k: v for k, v in old.items() if k in absent}})
        for share, old in start._applied
    ]
    solution = start._solution
    if start._compiled is compiled:
        return solution, applied
    loading = make_loading(compiled.system, absent).scaled(0.0)
    for share, old in applied:
        part = make_loading(compiled.system, old).scaled(share)
        loading = loading.scaled(2.0).mix(part.scaled(2.0), 0.5)
    return StaticSolution(solution.q, solution.mult, loading, negative=solution.negative), applied


def first_state(compiled: Compiled, start: object, loading: Loading) -> tuple[Array, Array]:
    """Return configuration and rates at t = 0: of a result, or of the undeformed robot.

    Bases that are driven are put where `loading` has them.
    """
    rates = np.zeros(compiled.system.n)
    if isinstance(start, Equilibrium):
        q = start._solution.q
    elif isinstance(start, Motion):
        _, q, rates = start._trajectory.final
    else:
        q = compiled.system.q_rest
    q, rates = begin(compiled.system, q, rates, loading)
    require_closed(compiled, q)
    return q, rates
