"""Results that no rod can have: stretched or compressed beyond what any material bears."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from pliant.model import ConvergenceError, PlausibilityWarning
from pliant.solve.problem import Problem

MUCH, IMPOSSIBLE = 5.0, 100.0
"""Length of a piece of a rod over its length at rest that is told, and that is refused."""


def judge_stretch(problem: Problem, configurations: Sequence[Any], last: object) -> None:
    """Warn of a rod that is stretched a lot at some configurations; refuse what is impossible.

    last : the result, for the error. Doubts about the units of the robot are told along.
    """
    found = [item for q in configurations for item in problem.stretches(q).items()]
    name, most = max(found, key=lambda item: item[1], default=("", 0.0))
    if most <= MUCH:
        return
    doubts = problem.description.doubts()
    why = ". ".join(doubts) or "check the units of loads, pressures and stiffness (N, Pa, metres)"
    text = f"rod {name!r} is stretched to {most:.3g} times its length: {why}"
    if most > IMPOSSIBLE:
        raise ConvergenceError(f"the result is impossible: {text}", last)
    warnings.warn(text, PlausibilityWarning, stacklevel=4)
