"""Dampers along a rod that resist its rates of strain by a power law."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import Array
from pliant.model.drawing import Placed, Primitive, rod_mark
from pliant.model.fields import holds, quantity
from pliant.model.places import OnRod
from pliant.model.pointwise import RodStress
from pliant.model.registry import Effect, Group
from pliant.model.section import Damping

if TYPE_CHECKING:
    from pliant.model.description import Description
    from pliant.model.rod import Rod

SLOW = 1e-3
"""Rate below which a damper of a power below one is smoothed: rad/s, m/s or 1/s."""


@dataclass(frozen=True, eq=False)
class StrainDamper(Effect):
    """Damping along a rod by a power of the rates of its strains, besides its viscosity.

    Each strain e of the six has the stress D |e'|^(power - 1) e', with D from ``damping``. Below power
    one it is smoothed at rates below 1e-3 rad/(m s) of bending and twist and 1e-3 1/s of shear and
    stretch.

    name : unique in the robot.
    on : the rod, or its name.
    damping : Damping, one value per strain, in N m^2 s^power of bending and twist and in N s^power of
        shear and stretch, where rates are in rad/(m s) and 1/s.
    power : of the rates.
    """

    on: str | Rod = holds(OnRod())
    damping: Damping = holds(
        Group("one value per strain", cls=Damping, python="Damping(bending=1e-4, axial=0.1)")
    )
    power: float = quantity("", "of the rates of strain", sign="positive", example="0.5")

    heading: ClassVar[str] = "strain_dampers"
    place: ClassVar[int] = 11

    @property
    def part(self) -> str:
        """The name of the rod."""
        return str(self.on)

    def drawing(self, at: Placed) -> Sequence[Primitive]:
        """Return a mark in the middle of the rod."""
        return rod_mark(self.name, self.part, at)

    def pointwise_forms(self, description: Description) -> Sequence[Any]:
        """Return what it adds to the stress at single sections of its rod."""
        return (DampingStress(self.part, self.along(description.rods[self.part]), self.power),)

    def along(self, rod: Rod) -> Callable[[Any], Array]:
        """Return the damping (..., 6) at arclengths of its rod."""
        return lambda s: self.damping.damping(s, rod.length)


class DampingStress(RodStress):
    """The stress of a damper at one section, for strong forms.

    damping : (6,) at an arclength.  power : of the rates.
    """

    def __init__(self, rod: str, damping: Callable[[float], Array], power: float) -> None:
        super().__init__(rod)
        self._damping, self._power = damping, power

    @np.errstate(all="ignore")  # a solve that diverges asks at any rate
    def stress(
        self, s: float, strain: Array, strain_rate: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Return the stress (6,) and its derivatives (6, 6) in strain and rate."""
        size = np.hypot(strain_rate, SLOW if self._power < 1.0 else 0.0)
        safe = np.maximum(size, math.sqrt(np.finfo(float).tiny))
        resistance = self._damping(s) * safe ** (self._power - 1.0)
        share = 1.0 + (self._power - 1.0) * (strain_rate / safe) ** 2
        return resistance * strain_rate, np.zeros((6, 6)), np.diag(resistance * share)
