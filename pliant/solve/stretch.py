"""Results that no rod can have: stretched or compressed beyond what any material bears."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from pliant.model import ConvergenceError, PlausibilityWarning
from pliant.solve.problem import Problem

MUCH, IMPOSSIBLE = 5.0, 100.0
"""Length of a piece of a rod over its length at rest that is told, and that is refused."""
LITTLE, NOTHING = 0.2, 0.01
"""The same for a piece that is compressed."""


def judge_stretch(problem: Problem, configurations: Sequence[Any], last: object) -> None:
    """Warn of a rod that is stretched a lot at some configurations; refuse what is impossible.

    last : the result, for the error. Doubts about the units of the robot are told along.
    """
    found = [item for q in configurations for item in problem.stretches(q).items()]
    if not found:
        return
    longest = max(found, key=lambda item: item[1][1])
    shortest = min(found, key=lambda item: item[1][0])
    (name, (_, most)), (other, (least, _)) = longest, shortest
    if most <= MUCH and least >= LITTLE:
        return
    doubts = problem.description.doubts()
    why = ". ".join(doubts) or "check the units of loads, pressures and stiffness (N, Pa, metres)"
    text = f"rod {name!r} is stretched to {most:.3g} times its length: {why}"
    if most <= MUCH:
        text = f"rod {other!r} is compressed to {least:.2g} times its length: {why}"
    if most > IMPOSSIBLE or least < NOTHING:
        limits = next(filter(None, (problem.trouble(q) for q in configurations)), "")
        raise ConvergenceError(f"the result is impossible: {text}. {limits}".rstrip(" ."), last)
    warnings.warn(text, PlausibilityWarning, stacklevel=4)
