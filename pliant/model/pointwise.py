"""What effects do at single sections of rods: the form in which strong forms read them.

`Effect.pointwise` returns one of these, or an object with `line_wrench` and `stress` at one section,
see `pliant.bvp.pointwise_effects.PointwiseEffect`. Wrenches are (moment, force).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model.breaks import Breaks
from pliant.model.checks import Array
from pliant.model.places import Frame


@dataclass(frozen=True)
class PointWrench:
    """A wrench at a place.

    name : of its input.  on : the place.  world : whether it keeps its directions in the world; else it
    turns with the section.  wrench : (6,) for an input value, N m and N.
    """

    name: str
    on: Frame
    world: bool
    wrench: Callable[[Any], Array]


@dataclass(frozen=True)
class LineWrench:
    """A wrench per metre along a rod.

    name, world : as of `PointWrench`.  part : the rod.  over : (s0, s1) where it acts, None for all of
    it.  density : (S, 6) at arclengths (S,) for an input value, N and N/m.  breaks : where it jumps or
    peaks on a rod of some length.
    """

    name: str
    part: str
    over: tuple[float, float] | None
    world: bool
    density: Callable[[Array, Any], Array]
    breaks: Callable[[float], Breaks]


@dataclass(frozen=True)
class LineStress:
    """An input that works on a measure of the strains: stress -input sweep along a rod.

    name, part, over : as of `LineWrench`.  sweep : (S, 6) derivative of the measure per metre in the
    strain, at arclengths (S,) of a rod of some length.  rest : (S,) the measure per metre at no strain.
    breaks : as of `LineWrench`.
    """

    name: str
    part: str
    over: tuple[float, float] | None
    sweep: Callable[[Array, float], Array]
    rest: Callable[[Array, float], Array]
    breaks: Callable[[float], Breaks]


class RodStress:
    """What an effect without an input adds to the stress at single sections of a rod, by its name; a
    subclass says what in `stress`.
    """

    name = ""

    def __init__(self, rod: str) -> None:
        self.rod = rod

    def breaks(self, length: float) -> Breaks:
        """Return nothing: the data of the rod break where they do."""
        return Breaks()

    def line_wrench(
        self, s: float, g: Array, strain: Array, twist: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Return no wrench."""
        return np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))


@dataclass(frozen=True)
class Hold:
    """A place that is held.

    name : of the effect, label : as messages call it.  on : the place.  to : a Frame, a world pose
    (4, 4), or None for where it is at rest.  rows : held directions among (rx, ry, rz, x, y, z).
    given : the field and the value that say so.
    """

    name: str
    label: str
    on: Frame
    to: Frame | Array | None
    rows: tuple[int, ...]
    given: tuple[str, Any]


@dataclass(frozen=True)
class BaseDrive:
    """A motion given to a clamped base, as `Description.motions_of` has it."""

    name: str
