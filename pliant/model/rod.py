"""A slender part: a rod with its section, material, place and natural shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.breaks import Breaks, Places
from pliant.model.checks import Array, DescriptionError, as_float, told_within, vector
from pliant.model.fields import Choice, Flag, PerAxis, Setting, holds, quantity
from pliant.model.places import Base, Frame, Pose, rotation_vector
from pliant.model.plausible import rod_doubts
from pliant.model.profile import Table, evaluate_rows, field_breaks
from pliant.model.registry import Group, Joint, JointKind, OneOf, Part
from pliant.model.section import Damping, Material, Shape, Stiffness
from pliant.model.shapes import NaturalKind, NaturalShape

if TYPE_CHECKING:
    from pliant.model.description import Description

THEORIES = ("cosserat", "kirchhoff")
STRAIGHT = (0.0, 0.0, 1.0)
_SOFT = "Material(E=1e6, nu=0.5, rho=1000)"

# Where a new rod evaluates its profiles, as fractions of the length, to find bad values early.
_PROBES = np.linspace(0.0, 1.0, 33)

Natural = tuple[float, ...] | Callable[[float], ArrayLike] | Table | NaturalShape


@dataclass(frozen=True, eq=False)
class Rod(Part):
    """A rod that runs along its local z axis from s = 0 (base) to s = length (tip).

    name : unique in the robot.
    length : metres, undeformed.
    section : Circle, Annulus, Rectangle, Section, or Stiffness (then without material).
    material : Material.
    pose : 4x4 pose of the base, in the world, or relative to the frame given as ``base``.
    base : "world" (clamped to the world), a Frame of another part (clamped to it), None (free).
    natural : strain at rest. (ux, uy, uz) curvature and twist in rad/m, body frame, or all six
        strains (ux, uy, uz, vx, vy, vz) with v = (0, 0, 1) for a rod without shear or stretch;
        fixed, a function of s in metres, or a Table of such rows. Or a shape: a Curve of control
        points, or a PoseSpline of control poses; a list of points (N, 3) or of poses (N, 4, 4) stands
        for such a spline of degree 3.
    formulation : a formulation for this rod, or None for the robot's default.
    theory : "cosserat" or "kirchhoff" (no shear, no stretch).
    drag : kg/m^2, square-law drag C of the fluid around the rod, one number or three along the
        body axes: force per length -C_i q_i |q_i| with q the body-frame velocity of the centreline.
    mass_damping : 1/s, Rayleigh's first coefficient c: wrench per length -c * inertia * velocity
        in the body frame. (Its second is the retardation of the material.)
    strain_damping : Damping, one value per strain, besides the viscosity of the material or the
        retardation of the Stiffness: wrench damping * strain rate.
    rotary : False leaves out the rotary inertia of the sections.
    joint : how the base hangs on ``base``: a Joint such as Revolute("x"), or None for a clamp (and for
        a free rod where ``base`` is None).
    breaks : arclengths in metres, increasing, where section, natural strain or damping jump as
        functions of s, and the borders of narrow peaks. Most are found without; see `breaks_along`.
    """

    length: float = quantity("metres", sign="positive", example="0.3")
    section: Shape | Stiffness = holds(
        OneOf("", "", "{circle: {radius: 0.01}}", (Shape, Stiffness), "Circle(0.01)")
    )
    material: Material | None = holds(
        Group("", "", "{E: 1.0e6, nu: 0.5, rho: 1000}", Material, _SOFT), None
    )
    pose: Array = holds(Pose(), lambda: np.eye(4))
    base: str | Frame | None = holds(Base(), "world")
    natural: Natural = holds(NaturalKind("strain at rest", "rad/m", sizes=(3, 6)), (0.0, 0.0, 0.0))
    formulation: object = holds(Setting(family="formulation"), None)
    theory: str = holds(Choice(names=THEORIES), "cosserat")
    drag: float | tuple[float, ...] = holds(
        PerAxis("square law, one or three body axes", "kg/m^2", "0.1"), 0.0
    )
    mass_damping: float = quantity(
        "1/s", "Rayleigh's first", default=0.0, sign="zero", example="0.1"
    )
    rotary: bool = holds(Flag("false: no rotary inertia of sections"), True)
    strain_damping: Damping | None = holds(
        Group("one value per strain", cls=Damping, python="Damping(bending=1e-4, axial=0.1)"), None
    )
    joint: Joint | None = holds(JointKind(), None)
    breaks: tuple[float, ...] = holds(Places(), ())

    heading: ClassVar[str] = "rods"
    least_gap: ClassVar[float] = 1e-5
    refilled: ClassVar[tuple[str, ...] | None] = ("section", "material")
    place: ClassVar[int] = 1
    points: ClassVar[tuple[float, ...]] = ()
    """Arclengths strictly inside the rod, increasing, at which other parts and effects act, m; set by
    `Description.with_breaks`."""
    carried: ClassVar[tuple[float, ...]] = ()
    """Those of them at which other parts hang."""

    def check(self) -> None:
        """Refuse a material that does not go with the section, and profiles that are bad somewhere."""
        self.refuse(
            self.joint is not None and self.base is None,
            "joint",
            "left out where base is None, for such a part is free",
            "give base='world' or a frame that carries it",
        )
        direct = isinstance(self.section, Stiffness)
        self.refuse(
            direct and self.material is not None,
            "material",
            "left out when the section is a Stiffness",
            "put mass and retardation into Stiffness",
        )
        missing = self.material is None and not direct
        self.refuse(missing, "material", "a Material", f"give e.g. {_SOFT}")
        probes = _PROBES * self.length
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            stiffness = self.stiffness(probes)
            inertia = self.inertia(probes)
            self.damping(probes)
        good = np.isfinite(stiffness).all() and (stiffness > 0).all() and np.isfinite(inertia).all()
        self.refuse(
            not good,
            "section",
            "a section whose stiffness and mass are representable numbers above zero",
            "check the units: lengths in metres, moduli in Pa",
        )
        self.natural_strain(probes)

    def field_breaks(self, length: float) -> Iterator[tuple[str, Breaks]]:
        """Yield fields of rod, section and damping that vary along s, and where they jump or peak."""
        held = {"": self, "section.": self.section, "strain_damping.": self.strain_damping}
        for prefix, holder in held.items():
            if holder is None:
                continue
            whole = (0.0, self.length)
            found = field_breaks(self.label, holder, self.length, whole, self.breaks)
            yield from ((f"{prefix}{name}", breaks) for name, breaks in found)
        if isinstance(self.natural, NaturalShape):
            yield "natural", self.natural.breaks(self.length)

    def carries_at(self, points: tuple[float, ...], parts: tuple[float, ...]) -> None:
        """Note the arclengths at which other parts and effects act, and at which parts hang."""
        self._set("points", points)
        self._set("carried", parts)

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its size, its material and its weight."""
        yield from rod_doubts(self, float(np.linalg.norm(description.gravity)))

    @property
    def tip(self) -> Frame:
        """The frame at s = length."""
        return Frame(self.name, self.length)

    @property
    def base_frame(self) -> Frame:
        """The frame at s = 0."""
        return Frame(self.name, 0.0)

    @property
    def carrier(self) -> Frame | None:
        """The frame that carries the base, None for the world."""
        return self.base if isinstance(self.base, Frame) else None

    def at(
        self, s: float, offset: ArrayLike = (0.0, 0.0), rotation: ArrayLike | None = None
    ) -> Frame:
        """Return the frame at arclength ``s`` (metres), shifted by ``offset`` and turned.

        offset : (x, y) or (x, y, z) in the section frame, metres.
        rotation : rotation vector (3,) in radians or matrix (3, 3) in the section frame.
        """
        place = check_arclength(self.label, "s", s, self.length)
        shift = vector(self.label, "offset", offset, (2, 3), "metres")
        return Frame(self.name, place, shift, rotation_vector(self.label, rotation))

    def outline(self, s: ArrayLike) -> Array:
        """Return half the width (S, 2) along local x and along local y at ``s`` (S,), metres."""
        return np.stack(self.section.outline(s, self.length), axis=-1)

    def stiffness(self, s: ArrayLike) -> Array:
        """Return diag(EIx, EIy, GJ, kGA, kGA, EA) at arclengths ``s`` (S,), shape (S, 6)."""
        with told_within(self.label, "section"):
            return self.section.stiffness(s, self.length, self.material)  # type: ignore[arg-type]

    def damping(self, s: ArrayLike) -> Array:
        """Return the diagonal Kelvin-Voigt damping at ``s``, shape (S, 6): stiffness * seconds.

        The stiffness times the retardation of the material, and `strain_damping`.
        """
        holder: Any = self.material or self.section
        lossless = not np.any(holder.retardation)
        damping = (
            np.zeros((*np.shape(s), 6)) if lossless else self.stiffness(s) * holder.retardation
        )
        if self.strain_damping is None:
            return damping
        with told_within(self.label, "strain_damping"):
            return damping + self.strain_damping.damping(s, self.length)

    def inertia(self, s: ArrayLike) -> Array:
        """Return the diagonal inertia per length at ``s``, shape (S, 6), body frame.

        (rho Ix, rho Iy, rho (Ix + Iy)) in kg m, then rho A three times in kg/m. The first three
        are zero where ``rotary`` is False.
        """
        with told_within(self.label, "section"):
            found = self.section.inertia_per_length(s, self.length, self.material)  # type: ignore[arg-type]
        if not self.rotary:
            found[..., :3] = 0.0
        return found

    def drag_coefficients(self) -> Array:
        """Return the square-law drag along the three body axes, kg/m^2, shape (3,)."""
        return np.array(np.broadcast_to(self.drag, 3), dtype=np.float64)

    def mass_per_length(self, s: ArrayLike) -> Array:
        """Return the mass per length at arclengths ``s`` (S,), kg/m, shape (S,)."""
        return self.inertia(s)[..., 3]

    def natural_strain(self, s: ArrayLike) -> Array:
        """Return the strain at rest (u, v) at arclengths ``s`` (S,), shape (S, 6)."""
        where = np.asarray(s, dtype=np.float64)
        if isinstance(self.natural, NaturalShape):
            self.natural.check_length(self.label, "natural", self.length)
            return self._stretched(self.natural.strain(where, self.length))
        if isinstance(self.natural, Table):
            with told_within(self.label, "natural"):
                self.natural.check_cover(self.length)
        rows = evaluate_rows(self.label, "natural", self.natural, where.ravel(), (3, 6))
        whole = [row if len(row) == 6 else (*row, *STRAIGHT) for row in rows]
        return self._stretched(np.array(whole, dtype=np.float64).reshape(*where.shape, 6))

    def _stretched(self, strains: Array) -> Array:
        """Return strains (..., 6), refused where the rod would turn back on itself."""
        if (strains[..., 5] <= 0).any():
            raise DescriptionError(
                self.label,
                "natural",
                strains[strains[..., 5] <= 0][0],
                "a strain with positive stretch vz",
                "the six numbers are the whole strain: give vz = 1 for no stretch",
            )
        return strains


def check_arclength(part: str, name: str, s: object, length: float) -> float:
    """Return ``s`` as a float in [0, length]; a rounding error beyond the ends is forgiven."""
    place = as_float(s)
    slack = 1e-9 * length
    if place is None or not -slack <= place <= length + slack:
        raise DescriptionError(
            part,
            name,
            s,
            f"an arclength from 0 to the length {length:g} in metres",
            f"give e.g. {length / 2:g}",
        )
    return min(max(place, 0.0), length)
