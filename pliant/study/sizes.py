"""Formulations of every fineness: the one setting of each that makes it finer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pliant.model import DescriptionError
from pliant.results.text import settings_text
from pliant.rods.contract import RodModel

_TRIED = 64
"""Largest smallest size that is looked for."""


@dataclass(frozen=True)
class Sizes:
    """The formulations of all rods, to be had with any number of intervals.

    formulations : by rod name.  least : by rod name, the smallest size that each accepts: one
    interval. One more of it is one interval more, in a spline of any degree too.
    """

    formulations: Mapping[str, RodModel]
    least: Mapping[str, int]

    @classmethod
    def of(cls, formulations: Mapping[str, RodModel]) -> Sizes:
        """Find the smallest sizes; refuse formulations that cannot be made finer."""
        return cls(formulations, {rod: _least(rod, item) for rod, item in formulations.items()})

    def at(self, intervals: int) -> Any:
        """The formulation with so many intervals, for all rods if they share one, else by rod."""
        found = {
            rod: _sized(item, self.least[rod] + intervals - 1)
            for rod, item in self.formulations.items()
        }
        first = next(iter(found.values()))
        return first if all(item == first for item in found.values()) else found

    def text(self, intervals: int) -> str:
        """What `at` gives, as it would be written in Python."""
        found = self.at(intervals)
        if not isinstance(found, Mapping):
            return _shown(found)
        return ", ".join(f"{rod}: {_shown(item)}" for rod, item in found.items())


def _sized(item: RodModel, size: int) -> RodModel:
    assert item.size is not None
    return replace(item, **{item.size: size})  # type: ignore[type-var]


def _shown(item: RodModel) -> str:
    """The size first, at its default too, then what else is not at its default."""
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
    for size in range(1, _TRIED):
        try:
            _sized(item, size)
            _sized(item, size + 1)
        except DescriptionError as error:
            refusal = error
        else:
            return size
    raise DescriptionError(
        f"rod {rod!r}", "formulation", item, f"one whose {item.size} can be changed",
        f"leave out what ties them ({refusal})",
    )  # fmt: skip
