"""What controllers remember: for checkpoints, and for motions that are taken again and again."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from pliant.model import DescriptionError
from pliant.solve.checkpoint import changed_by, remembering

Controller = Callable[[Any], Mapping[str, Any] | None]
"""Takes the robot at one instant and returns inputs by name, those that it changes."""
_FINEST = 10**6
"""Seconds between samples and durations are rounded to this part of a second to find common steps."""


def named_laws(laws: Iterable[Controller]) -> dict[str, Controller]:
    """Controllers by the names that messages and checkpoints give them."""
    return {f"controller {k + 1}": law for k, law in enumerate(laws)}


def memories_of(laws: Mapping[str, Controller]) -> dict[str, Any]:
    """What controllers remember now, by name, of those that tell."""
    known = remembering(laws)
    return {name: copy.deepcopy(each.state()) for name, each in known.items()}


def recall(laws: Mapping[str, Controller], memories: Mapping[str, Any]) -> None:
    """Let controllers remember what `memories_of` returned."""
    known = remembering(laws)
    for name, memory in memories.items():
        known[name].restore(copy.deepcopy(memory))


def watched(
    pairs: Sequence[tuple[Controller, float | None]],
) -> list[tuple[Controller, float | None]]:
    """Controllers that are refused if their first two answers change what they do not tell of."""
    laws = named_laws([law for law, _ in pairs])
    known = remembering(laws)
    return [
        (law if label in known else _watched(label, law), every)
        for (label, law), (_, every) in zip(laws.items(), pairs, strict=True)
    ]


def _watched(label: str, law: Controller) -> Controller:
    seen = 0

    def ask(state: Any) -> Mapping[str, Any] | None:
        nonlocal seen
        seen += 1
        if seen > 2:
            return law(state)
        found, changed = changed_by(law, state)
        if changed:
            raise DescriptionError(
                label, "memory", law,
                "told by state() and taken back by restore(state), for a simulation with "
                "checkpoints, an estimated error or an accuracy",
                "add these two methods, or leave out save, resume and error, and give dt alone",
            )  # fmt: skip
        return found

    return ask


class Repeated:
    """Controllers of motions that are taken again and again: each motion begins with what they remember
    now, and afterwards they remember what they did at the end of the one that is kept.

    pairs : controllers with the seconds between their samples, which they must have.
    """

    def __init__(self, pairs: Sequence[tuple[Controller, float | None]]) -> None:
        self._laws = named_laws([law for law, _ in pairs])
        for label, (_, every) in zip(self._laws, pairs, strict=True):
            if every is None:
                raise DescriptionError(
                    label, "seconds between samples", every,
                    "given where there is no dt, or where the motion is repeated for an accuracy",
                    "give e.g. controllers=(law, 0.01), or dt and no accuracy",
                )  # fmt: skip
        self.pairs = watched(pairs)
        self._begun = memories_of(self._laws)
        self._ended: dict[int, dict[str, Any]] = {}

    def take(self, run: Callable[[], Any]) -> Any:
        """The motion that `run` returns."""
        recall(self._laws, self._begun)
        motion = run()
        self._ended[id(motion)] = memories_of(self._laws)
        return motion

    def keep(self, motion: Any) -> None:
        """Remember what was remembered at the end of this motion."""
        recall(self._laws, self._ended[id(motion)])

    def between(self, duration: float) -> float:
        """The longest step with which all samples and the end, s, are ends of steps."""
        steps = [Fraction(duration).limit_denominator(_FINEST)]
        for _, every in self.pairs:
            steps.append(Fraction(every or duration).limit_denominator(_FINEST))
        many = math.lcm(*(step.denominator for step in steps))
        common = math.gcd(*(int(step * many) for step in steps))
        return common / many
