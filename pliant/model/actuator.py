"""A pneumatic bending actuator as a ready part: a rod that keeps its length and two chambers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pliant.model.chamber import Chamber, PressureLine
from pliant.model.checks import not_negative, positive
from pliant.model.errors import DescriptionError
from pliant.model.rod import Rod
from pliant.model.stiffness import Stiffness


@dataclass(frozen=True)
class BendingActuator:
    """Two round chambers on both sides of a layer that does not stretch (Rong and Gu 2024, figure 1).

    length : metres.
    bending : stiffness EI about the local y axis, N m^2, of everything together, as it is measured.
    chamber_radius : R2, metres.
    arm : t, distance of the middle of a chamber from the layer, metres.
    mass : per length, kg/m.
    sideways : bending stiffness about the local x axis, N m^2; None for that of ``bending``.
    twist : N m^2; None for that of ``bending``.
    retardation : Kelvin-Voigt time of the material, seconds.
    mass_damping : Rayleigh's first coefficient, 1/s.
    axial : stiffness of the layer against stretch, N, the penalty k of Rong (11); None holds its
        length by constraint.

    Pressure in the first chamber bends it towards its local x axis, in the second away from it:
    without other loads it is an arc of curvature moment / bending.
    """

    length: float
    bending: float
    chamber_radius: float
    arm: float
    mass: float = 0.0
    sideways: float | None = None
    twist: float | None = None
    retardation: float = 0.0
    mass_damping: float = 0.0
    axial: float | None = None

    def __post_init__(self) -> None:
        for field, unit, example in (
            ("length", "metres", "0.175"),
            ("bending", "N m^2", "0.0186"),
            ("chamber_radius", "metres", "0.006"),
            ("arm", "metres", "0.009"),
            ("sideways", "N m^2", "0.05"),
            ("twist", "N m^2", "0.02"),
            ("axial", "N", "1e4"),
        ):
            if getattr(self, field) is not None:
                self._check(field, positive, unit, example)
        for field, unit, example in (
            ("mass", "kg/m", "0.12"),
            ("retardation", "seconds", "0.01"),
            ("mass_damping", "1/s", "2.4"),
        ):
            self._check(field, not_negative, unit, example)

    def _check(self, field: str, check: Any, unit: str, example: str) -> None:
        value = check("BendingActuator", field, getattr(self, field), unit, f"give e.g. {example}")
        object.__setattr__(self, field, value)

    @property
    def area(self) -> float:
        """Cross-section of one chamber, m^2."""
        return math.pi * self.chamber_radius**2

    def moment(self, first: float, second: float = 0.0) -> float:
        """Return the bending moment about local y at gauge pressures of the two chambers, Pa, N m."""
        return self.area * self.arm * (first - second)

    def section(self) -> Stiffness:
        """Return stiffness and mass of the rod; axial and shear are not felt where `axial` is None."""
        around = self.chamber_radius**2
        stiff = self.axial or 100.0 * self.bending / (self.arm**2 + around)
        wide = self.arm**2 + 0.5 * around
        inertia = (0.5 * around, wide, wide + 0.5 * around)
        return Stiffness(
            bending=(self.sideways or self.bending, self.bending),
            twist=self.twist or self.bending,
            shear=stiff,
            axial=stiff,
            mass=self.mass,
            inertia=(self.mass * inertia[0], self.mass * inertia[1], self.mass * inertia[2]),
            retardation=self.retardation,
        )

    def rod(self, name: str, pose: Any, base: Any, formulation: object) -> Rod:
        """Return its rod, which bends but keeps its length, or nearly so. Arguments as for `Rod`."""
        return Rod(
            name,
            self.length,
            self.section(),
            pose=pose,
            base=base,
            formulation=formulation,
            theory="kirchhoff" if self.axial is None else "cosserat",
            mass_damping=self.mass_damping,
        )

    def chambers(
        self, rod: Rod, names: object, line: PressureLine | None
    ) -> tuple[Chamber, Chamber]:
        """Return its two chambers along `rod`, under two names and behind equal lines."""
        given = tuple(names) if isinstance(names, (tuple, list)) else ()
        if len(given) != 2:
            raise DescriptionError(
                rod.label, "chambers", names, "two names", "give e.g. ('chamber1', 'chamber2')"
            )
        one, two = (
            Chamber(name, rod, self.area, (side * self.arm, 0.0), thrust=False, line=line)
            for name, side in zip(given, (-1.0, 1.0), strict=True)
        )
        return one, two
