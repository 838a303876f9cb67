"""Refinement of formulations: each with any number of intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pliant.model import DescriptionError
from pliant.results.summary import settings_text
from pliant.rods.contract import RodModel

_LARGEST_LEAST = 64
"""The smallest size of a formulation is sought below this."""


@dataclass(frozen=True)
class Refinement:
    """The formulations of all rods, with any number of intervals.

    formulations : by rod name.  least : by rod name, the size (number of elements, points, ...) that
    gives one interval. Each increment of the size adds one interval, also in a spline of any degree.
    """

    formulations: Mapping[str, RodModel]
    least: Mapping[str, int]

    @classmethod
    def of(cls, formulations: Mapping[str, RodModel]) -> Refinement:
        """Find the smallest sizes; refuse formulations that cannot be refined."""
        return cls(formulations, {rod: _least(rod, item) for rod, item in formulations.items()})

    def at(self, intervals: int) -> Any:
        """The formulation with this many intervals: one for all rods if they share it, else by rod."""
        sized = {
            rod: _sized(item, self.least[rod] + intervals - 1)
            for rod, item in self.formulations.items()
        }
        first = next(iter(sized.values()))
        return first if all(item == first for item in sized.values()) else sized

    def text(self, intervals: int) -> str:
        """The formulation of `at` as Python code."""
        sized = self.at(intervals)
        if not isinstance(sized, Mapping):
            return _shown(sized)
        return ", ".join(f"{rod}: {_shown(item)}" for rod, item in sized.items())


def _sized(item: RodModel, size: int) -> RodModel:
    assert item.size is not None
    return replace(item, **{item.size: size})  # type: ignore[type-var]


def _shown(item: RodModel) -> str:
    """The size first, then other settings that are not at their defaults."""
    kind = type(item).__name__
    others = re.sub(rf"\b{item.size}=\w+(, )?", "", settings_text(item)[len(kind) + 1 : -1])
    own = f"{item.size}={getattr(item, str(item.size))!r}"
    return f"{kind}({', '.join(filter(None, (own, others.removesuffix(', '))))})"


def _least(rod: str, item: RodModel) -> int:
    if item.size is None:
        raise DescriptionError(
            f"rod {rod!r}", "formulation", item, "one with a size, such as a number of elements",
            "give e.g. BSpline() or ANCF(), or give your own formulation the attribute size",
        )  # fmt: skip
    refusal: DescriptionError | None = None
    for size in range(1, _LARGEST_LEAST):
        try:
            _sized(item, size)
            _sized(item, size + 1)
        except DescriptionError as error:
            refusal = error
        else:
            return size
    raise DescriptionError(
        f"rod {rod!r}", "formulation", item, f"one whose {item.size} can be changed",
        f"leave out the settings that fix it ({refusal})",
    )  # fmt: skip
