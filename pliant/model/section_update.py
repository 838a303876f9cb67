"""Section update: a rod whose section shrinks and whose material softens as it stretches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import Array
from pliant.model.drawing import Placed, Primitive, rod_mark
from pliant.model.fields import holds
from pliant.model.places import OnRod
from pliant.model.pointwise import RodStress
from pliant.model.registry import Effect

if TYPE_CHECKING:
    from pliant.model.description import Description
    from pliant.model.rod import Rod

BENDING, SHEAR = 4, 3
"""Powers of the stretch by which stiffnesses of a segment fall."""


@dataclass(frozen=True, eq=False)
class SectionUpdate(Effect):
    """Section and stiffness of a rod updated from its stretch, as an elastic law with a potential.

    At the stretch l = vz all radii become r / sqrt(l), lengths l times as long, moduli E / l and G / l,
    so that stiffnesses of a segment fall: E A / length by l^3, E I / length and G J / length by l^4.
    For strains d beyond the natural ones, with C the stiffness of the rod, the energy per metre is

        W = 1/2 sum_(bend, twist) C d^2 / l^4 + 1/2 sum_(shear) C d^2 / l^3 + 1/2 E A (1 - 1/l)^2.

    The axial force of a straight rod is E A (l - 1) / l^3; it has a peak of 0.148 E A at l = 1.5,
    beyond which no equilibrium exists under a constant pull. The areas of chambers stay as described,
    as if a braid held them. Natural stretch counts as l = 1.

    name : unique in the robot.
    on : the rod, or its name.
    """

    on: str | Rod = holds(OnRod())

    heading: ClassVar[str] = "section_updates"
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
        rod = description.rods[self.part]
        return (SectionStress(self.part, rod.stiffness, rod.natural_strain),)


class SectionStress(RodStress):
    """What the update adds to the linear law at one section, for strong forms.

    stiffness, natural : (6,) at an arclength.
    """

    def __init__(
        self, rod: str, stiffness: Callable[[float], Array], natural: Callable[[float], Array]
    ) -> None:
        super().__init__(rod)
        self._stiffness, self._natural = stiffness, natural

    @np.errstate(all="ignore")  # a solve that diverges asks at any strain
    def stress(
        self, s: float, strain: Array, strain_rate: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Return the stress (6,) beyond the linear one and its derivatives in strain and rate."""
        C, natural = np.asarray(self._stiffness(s)), np.asarray(self._natural(s))
        total, slope = updated_stress(C, natural, strain)
        return total - C * (strain - natural), slope - np.diag(C), np.zeros((6, 6))


def updated_stress(C: Array, natural: Array, e: Array) -> tuple[Array, Array]:
    """Stress (6,) = dW/de and its derivative (6, 6) at a strain e (6,)."""
    d, rest = e - natural, natural[5]
    stretch = e[5] / rest
    powers = np.array([BENDING] * 3 + [SHEAR] * 2)
    soft = C[:5] * stretch**-powers
    stored = soft * d[:5] ** 2 / stretch**2
    stress, slope = np.zeros(6), np.zeros((6, 6))
    stress[:5] = soft * d[:5]
    stress[5] = C[5] * rest * (stretch - 1.0) / stretch**3
    stress[5] -= 0.5 * (powers * stored).sum() * stretch / rest
    slope[np.arange(5), np.arange(5)] = soft
    slope[:5, 5] = slope[5, :5] = -powers * soft * d[:5] / (stretch * rest)
    slope[5, 5] = C[5] * (3.0 - 2.0 * stretch) / stretch**4
    slope[5, 5] += 0.5 * (powers * (powers + 1) * stored).sum() / rest**2
    return stress, slope
