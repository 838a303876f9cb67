"""What is said where no equilibrium was found: why, how far the load went, and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.model import ConvergenceError
from pliant.physics.effects import Effects
from pliant.solve.closure import left_open
from pliant.solve.limits import with_limits

if TYPE_CHECKING:
    from pliant.solve.statics import StaticSolution


def no_equilibrium(
    effects: Effects, level: float, reason: str, good: StaticSolution, fold: float | None
) -> ConvergenceError:
    """The error to raise, with the last equilibrium `good` at a load level as its `last`.

    fold : load level at which the branch turns back, if it is known to do so.
    """
    from pliant.solve.singular import why_stuck

    why = ""
    if level == 0.0:
        why = why_stuck(effects, good.q, good.z, good.inputs, "singular" in reason)
    still_open = "" if why else left_open(effects, good.q)
    parts = _names(effects)
    if why:
        text = f"no equilibrium was found for {parts}: {why}"
    elif still_open:
        text = (
            f"no equilibrium was found beyond {_percent(level)} of the load for {parts}: "
            f"{reason}. {still_open}"
        )
    elif fold is not None:
        text = (
            f"the branch from the start ends at {_percent(fold)} of the load for {parts}: "
            "it turns back there (a fold), and a real robot snaps to another equilibrium, which "
            "simulate() finds. Try a smaller load, or follow() an input through the fold."
        )
    else:
        text = (
            f"no equilibrium was found beyond {_percent(level)} of the load for {parts}: "
            f"{reason}. The robot may snap or buckle there, or no equilibrium carries the load. "
            "Try a smaller load, a finer mesh, or simulate() from the last good state."
        )
    error = ConvergenceError(with_limits(text, effects, good.q))
    good.levels = [level]
    good.fold = None if why or still_open else fold
    error.last = good
    return error


def _names(effects: Effects) -> str:
    """The parts of a robot in words."""
    own = [part for part in effects.tree.parts if not part.auxiliary]
    kind = "rods" if all(part.rod is not None for part in own) else "parts"
    return f"{kind} {', '.join(f'{part.name!r}' for part in own)}"


def _percent(level: float) -> str:
    """A load level below the full load in words."""
    return f"{100 * level:.1f} %" if level < 0.9995 else f"{100 * level:.9g} %"
