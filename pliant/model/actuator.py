"""A pneumatic bending actuator as a ready part: a rod that keeps its length and two chambers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.model.chamber import Chamber, PressureLine
from pliant.model.checks import Array
from pliant.model.errors import DescriptionError
from pliant.model.fields import holds, quantity
from pliant.model.frame import Frame
from pliant.model.kinds import Setting, Several, Text
from pliant.model.places import Base, Pose
from pliant.model.registry import Described, Entry, OneOf, Part
from pliant.model.rod import Rod
from pliant.model.stiffness import Stiffness


@dataclass(frozen=True)
class BendingActuator(Described):
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

    length: float = quantity("metres", sign="positive", example="0.175")
    bending: float = quantity("N m^2", "stiffness", sign="positive", example="0.0186")
    chamber_radius: float = quantity("metres", sign="positive", example="0.006")
    arm: float = quantity(
        "metres", "from the layer to the chambers", sign="positive", example="0.009"
    )
    mass: float = quantity("kg/m", "per length", default=0.0, sign="zero", example="0.12")
    sideways: float | None = quantity(
        "N m^2", "the other bending stiffness", default=None, sign="positive", example="0.05"
    )
    twist: float | None = quantity("N m^2", default=None, sign="positive", example="0.02")
    retardation: float = quantity(
        "seconds", "of the material", default=0.0, sign="zero", example="0.01"
    )
    mass_damping: float = quantity(
        "1/s", "Rayleigh's first", default=0.0, sign="zero", example="2.4"
    )
    axial: float | None = quantity(
        "N", "stiffness against stretch", default=None, sign="positive", example="1e4"
    )

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


@dataclass(frozen=True, eq=False)
class MountedActuator(BendingActuator, Part):
    """A bending actuator in a robot: a rod under its name, and two chambers, whose names are inputs.

    name : of its rod.  pose, base, formulation : as for `Rod`.  chambers : their two names.
    line : Lag or Flow, for each chamber. The other fields are those of `BendingActuator`.
    """

    pose: Array = holds(Pose(), lambda: np.eye(4))
    base: str | Frame | None = holds(Base(), "world")
    chambers: tuple[str, ...] = holds(
        Several("their names, which are inputs", "Pa", "[left, right]", Text()),
        ("chamber1", "chamber2"),
    )
    formulation: object = holds(Setting(family="formulation"), None)
    line: PressureLine | None = holds(OneOf(families=(PressureLine,), python="Lag(0.05)"), None)

    heading: ClassVar[str] = "actuators"
    word: ClassVar[str] = "actuator"
    naming: ClassVar[str] = "chambers"

    def check(self) -> None:
        """Refuse what is no pair of names."""
        if not isinstance(self.chambers, (tuple, list)) or len(self.chambers) != 2:
            expected, remedy = "two names", "give e.g. ('chamber1', 'chamber2')"
            raise DescriptionError(self.label, "chambers", self.chambers, expected, remedy)

    def pieces(self) -> Sequence[Entry]:
        """Return its rod, which bends but keeps its length or nearly so, and its chambers."""
        rod = Rod(
            self.name,
            self.length,
            self.section(),
            pose=self.pose,
            base=self.base,
            formulation=self.formulation,
            theory="kirchhoff" if self.axial is None else "cosserat",
            mass_damping=self.mass_damping,
        )
        sides = zip(self.chambers, (-self.arm, self.arm), strict=True)
        return rod, *(
            Chamber(name, rod, self.area, (x, 0.0), thrust=False, line=self.line)
            for name, x in sides
        )
