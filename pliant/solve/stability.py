"""Whether an equilibrium is stable, and a sentence on how that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.model import DescriptionError, PliantError
from pliant.model.telling import untold
from pliant.solve.compiled import require_mass
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.limits import OTHER
from pliant.solve.problem import Still
from pliant.solve.registry import strain_modes
from pliant.solve.statics import StaticSolution

if TYPE_CHECKING:
    from pliant.solve.strong import StrongProblem

_LOWEST = 12
"""Modes looked at when loads without potential make the tangent unsymmetric."""
_UNKNOWN = "dead moments, follower loads and simplified chamber moments have no energy to judge by"
_SAME = 1e-3
"""Distance, relative to the length of all rods, below which two equilibria are one."""


def judge(compiled: CoordinateProblem, solution: StaticSolution) -> tuple[bool | None, str]:
    """Return True, False or None (cannot be told), with the reason."""
    if solution.negative is not None:
        count = solution.negative
        if count == 0:
            return True, "the energy rises in every direction that the constraints leave free"
        return False, f"the energy falls in {_directions(count)}"
    try:
        require_mass(compiled.description)
    except DescriptionError:
        return None, (
            f"{_UNKNOWN}, and without a density the motion about the equilibrium cannot be judged "
            "either; give the rods mass"
        )
    from pliant.solve.modes import modal_analysis

    try:
        where = (solution.q, solution.z, solution.inputs, _LOWEST, solution.memory)
        found = modal_analysis(compiled.effects, *where)
    except PliantError as error:
        return None, f"{_UNKNOWN}: {error}"
    if not found.growth.any():
        return True, f"none of the {len(found.growth)} slowest small motions grows (no damping)"
    fast = float(found.growth.max())
    return False, f"a small motion grows as exp({fast:.3g} t), damping left out"


def judge_chain(problem: StrongProblem, still: Still) -> tuple[bool | None, str]:
    """Return True, False or None with the reason, for an equilibrium that a strong form found.

    Conjugate points tell if the loads have a potential. If not, the robot is solved with strain modes
    and judged by its small motions, provided that these find the same equilibrium.
    """
    share, values = still.applied[-1]
    state = still.solution.q
    if problem.stability.conservative(values):
        count = problem.stability.falling(state, values, share)
        if count is None:
            return None, "the loads vary too quickly along the rods to count conjugate points"
        if count == 0:
            return True, "the energy rises in every direction: there is no conjugate point"
        return False, f"the energy falls in {_directions(count)}, by the count of conjugate points"
    unknown = "dead moments and follower loads have no energy to judge by"
    if share < 1.0:
        return None, f"{unknown}, and only a part of the load is carried"
    modes = strain_modes()
    other = CoordinateProblem(problem.description, dict.fromkeys(problem.formulations, modes))
    try:
        with untold():
            found = other.statics(values, None, 1e-9, None)
    except PliantError:
        return None, f"{unknown}, and {modes} does not find this equilibrium"
    size = problem.chain.length
    for rod in problem.chain.rods:
        s = np.linspace(0.0, rod.length, 17)
        mine = problem.sampler.poses(state, rod.name, s)[:, :3, 3]
        if np.abs(other.sampler.poses(found.solution.q, rod.name, s)[:, :3, 3] - mine).max() > (
            _SAME * size
        ):
            return None, f"{unknown}, and {modes} {OTHER}"
    verdict, note = judge(other, found.solution)
    return verdict, f"{note}, with {modes}"


def _directions(count: int) -> str:
    return "one direction" if count == 1 else f"{count} directions"
