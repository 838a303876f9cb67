"""Whether an equilibrium is stable, and a sentence on how that was found."""

from __future__ import annotations

from pliant.model import DescriptionError, PliantError
from pliant.physics.effects import Effects
from pliant.solve.compiled import require_mass
from pliant.solve.statics import StaticSolution

_LOWEST = 12
"""Modes looked at when loads without potential make the tangent unsymmetric."""
_UNKNOWN = "dead moments, follower loads and simplified chamber moments have no energy to judge by"


def judge(effects: Effects, solution: StaticSolution) -> tuple[bool | None, str]:
    """Return True, False or None (cannot be told), with the reason."""
    if solution.negative is not None:
        count = solution.negative
        if count == 0:
            return True, "the energy rises in every direction that the constraints leave free"
        return False, f"the energy falls in {directions(count)}"
    try:
        require_mass(effects.tree.description)
    except DescriptionError:
        return None, (
            f"{_UNKNOWN}, and without a density the motion about the equilibrium cannot be judged "
            "either; give the rods mass"
        )
    from pliant.solve.modes import modal_analysis

    try:
        where = (solution.q, solution.z, solution.inputs, _LOWEST, solution.memory)
        found = modal_analysis(effects, *where)
    except PliantError as error:
        return None, f"{_UNKNOWN}: {error}"
    if not found.growth.any():
        return True, f"none of the {len(found.growth)} slowest small motions grows (no damping)"
    fast = float(found.growth.max())
    return False, f"a small motion grows as exp({fast:.3g} t), damping left out"


def directions(count: int) -> str:
    """Return how many directions there are, in words."""
    return "one direction" if count == 1 else f"{count} directions"
