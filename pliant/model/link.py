"""Elastic links between two places: the beams of a net, a truss or a fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.model.checks import Array, DescriptionError
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import Choice, Flag, Vector, holds, quantity
from pliant.model.registry import Effect, Group, OneOf
from pliant.model.rod import Rod
from pliant.model.section import Damping, Material, Shape, Stiffness
from pliant.model.via_points import KINDS, OnFrameOrPoint, ViaPoint, fixed_ends, points_of

if TYPE_CHECKING:
    from pliant.model.description import Description

_UNIT = 1.0
"""Length of the rod whose section a link has, m; the sections of links do not vary."""


@dataclass(frozen=True, eq=False)
class Link(Effect):
    """A light elastic beam between two places, clamped at both.

    It resists all six relative motions of its ends, and weighs nothing. It is unloaded where its ends
    are at rest, or where they would be if it had ``rest`` times that length.

    name : unique in the robot.
    a, b : a Frame or its name such as "node.base", or a point (3,) in the world, metres.
    section : Circle, Annulus, Rectangle, Section, or Stiffness (then without material); uniform.
    material : Material. Its viscosity damps the link.
    rest : length without force over the distance at rest; below one the link is under tension.
    kind : of its stretch: "two-way"; "tension" for one that gives way when shortened, as cloth does;
        "compression" for one that gives way when lengthened. Bending, twist and shear are two-way.
    strain_damping : Damping, besides the viscosity of the material.
    beam : True for the shear stiffness of a beam with a moment that varies along it, whose end forces
        are those of Timoshenko's beam for small motions; False for the shear stiffness as it is.
    x_axis : (3,) direction in the world, at rest, to which the local x axis of the section points as
        far as it can; None for one across the link that is horizontal if it can be.
    """

    a: ViaPoint = holds(OnFrameOrPoint("one end: a place, or a point in the world (m)"))
    b: ViaPoint = holds(OnFrameOrPoint("the other end"))
    section: Shape | Stiffness = holds(
        OneOf("", "", "{circle: {radius: 0.001}}", (Shape, Stiffness), "Circle(0.001)")
    )
    material: Material | None = holds(
        Group("", "", "{E: 1.0e6, nu: 0.5}", Material, "Material(E=1e6, nu=0.5)"), None
    )
    rest: float = quantity(
        "", "length without force over the distance at rest", sign="positive", default=1.0
    )
    kind: str = holds(Choice(names=KINDS), "two-way")
    strain_damping: Damping | None = holds(
        Group("one value per strain", cls=Damping, python="Damping(bending=1e-4, axial=0.1)"), None
    )
    beam: bool = holds(Flag("false: the shear stiffness as it is"), True)
    x_axis: tuple[float, ...] | None = holds(Vector("local x at rest, in the world"), None)

    heading: ClassVar[str] = "links"
    place: ClassVar[int] = 9
    tells: ClassVar[Mapping[str, str]] = {"tension": "N", "length": "m"}

    def check(self) -> None:
        """Refuse what no rod could be made of, and two equal ends."""
        self._as_rod()
        self.refuse(self.a == self.b, "b", "another place than 'a'", "choose another place")

    def _as_rod(self) -> Rod:
        return Rod(
            self.name, _UNIT, self.section, self.material, strain_damping=self.strain_damping
        )

    def stiffness(self, length: float) -> Array:
        """Return (6,): EIx, EIy, GJ, N m^2, then shear along x and y and stretch, N.

        length : between the ends, metres. A beam with end forces only has a moment that varies
        linearly. Its energy is that of its mean curvature and of a shear angle with

            1 / shear' = 1 / shear + length^2 / (12 EI),

        which is exact for small motions. Shear along x goes with bending about y.
        """
        K = np.array(self._as_rod().stiffness([0.5 * _UNIT])[0])
        if self.beam:
            K[3] = 1.0 / (1.0 / K[3] + length**2 / (12.0 * K[1]))
            K[4] = 1.0 / (1.0 / K[4] + length**2 / (12.0 * K[0]))
        return K

    def lengthening(self, length: float) -> Array:
        """Return (6,): length times what half the square of a shift across adds to the stretch.

        6/5, times the square of the share that bending has in the shift; zero in the other rows.
        """
        found = np.zeros(6)
        if self.beam:
            K = self.stiffness(length)
            share = K[3:5] * length**2 / (12.0 * K[1::-1])
            found[3:5] = 1.2 * share**2
        return found

    def damping(self, length: float) -> Array:
        """Return (6,): what resists the rates of the six strains, N m^2 s and N s.

        The viscosity of a material resists in the ratio of stiffness, so that a beam's shear is damped
        as its bending is.
        """
        bare = Rod(self.name, _UNIT, self.section, self.material)
        retardation = bare.damping([0.5])[0] / bare.stiffness([0.5])[0]
        found = retardation * self.stiffness(length)
        if self.strain_damping is not None:
            found = found + self.strain_damping.damping([0.5], _UNIT)[0]
        return np.asarray(found)

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot: two ends that do not move."""
        yield from super().problems(description)
        yield from fixed_ends(self.label, self.a, self.b)

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return a straight line between its ends."""
        return [Line(self.name, points_of((self.a, self.b), at))]
