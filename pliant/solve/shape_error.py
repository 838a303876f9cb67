"""The estimated error of a shape, and the warning that it is large."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from pliant.model import ResolutionWarning
from pliant.model.telling import is_told
from pliant.rods.contract import RodModel

LARGE = 1e-3
"""Error over the length above which you should be warned."""
WARNED = 0.5 * LARGE
"""Estimated error of an equilibrium above which you are: estimates are good to a factor of two."""


@dataclass(frozen=True)
class ShapeError:
    """Estimated error of the whole shape of a robot.

    shape : largest error of the position of any section or body, metres.
    relative : the same over the length of the longest rod.
    """

    shape: float
    relative: float

    def __str__(self) -> str:
        return f"{1e3 * self.shape:.2g} mm ({100.0 * self.relative:.2g} % of the length)"


def warn_of_error(
    error: ShapeError | None, formulations: Mapping[str, RodModel], stacklevel: int
) -> None:
    """Warn if an estimated error is large, and say what to try."""
    if not is_told():
        return
    if error is None:
        what = "the error of the shape is unknown: no equilibrium was found near it on a finer grid"
    elif error.relative > WARNED:
        what = f"the shape is under-resolved: its estimated error is {error}"
    else:
        return
    remedy = f"Use {finer(formulations)}, or let pl.resolve(robot) choose."
    warnings.warn(f"{what}. {remedy}", ResolutionWarning, stacklevel=stacklevel + 1)


def finer(formulations: Mapping[str, RodModel]) -> str:
    """What to ask for instead of some formulations."""
    wishes = []
    for item in formulations.values():
        value = getattr(item, item.size) if item.size else None
        if isinstance(value, int):
            wishes.append(f"{type(item).__name__}({item.size}={2 * value})")
        else:
            wishes.append(f"a finer {type(item).__name__}")
    return " and ".join(dict.fromkeys(wishes)) or "another formulation"
