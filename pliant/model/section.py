"""What a rod is made of: cross-sections with a material, or stiffness and mass given directly.

Local x and y span the section, local z is the tangent. Ix is the integral of y^2 and resists
bending about local x; Iy is the integral of x^2; J is the Saint-Venant torsion constant.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array, DescriptionError, refuse
from pliant.model.fields import Number, Vector, holds, quantity
from pliant.model.profile import Along, Directions as PerDirection, Profile, ProfileLike, evaluate
from pliant.model.registry import Described

ZETA_5 = 1.0369277551433699263


class SectionGeometry(NamedTuple):
    """Area (m^2) and moments Ix, Iy, J (m^4) of a section, arrays over arclength (S,)."""

    area: Array
    Ix: Array
    Iy: Array
    J: Array


def _length(meaning: str = "", example: str = "0.01") -> Any:
    return quantity("metres", meaning, sign="positive", along=True, example=example)


def _moment(meaning: str) -> Any:
    return quantity("m^4", meaning, sign="positive", along=True, example="8e-9")


def _factor() -> Any:
    return holds(
        Number("on the shear stiffness", example="0.83 for a rectangle", sign="positive"), 1.0
    )


class Shape(Described, ABC):
    """A cross-section with a geometry; with a Material it gives stiffness and mass."""

    shear_factor: float

    @abstractmethod
    def geometry(self, s: ArrayLike, length: float) -> SectionGeometry:
        """Return area and moments at arclengths ``s`` (S,) in metres, of a rod of ``length``."""

    def stiffness(self, s: ArrayLike, length: float, material: Material | None) -> Array:
        """Return diag(EIx, EIy, GJ, kGA, kGA, EA) at arclengths ``s`` (S,), shape (S, 6)."""
        assert material is not None
        shape, E, G = self.geometry(s, length), material.E, material.shear_modulus
        shear = self.shear_factor * G * shape.area
        rows = (E * shape.Ix, E * shape.Iy, G * shape.J, shear, shear, E * shape.area)
        return np.stack(rows, axis=-1)

    def inertia_per_length(self, s: ArrayLike, length: float, material: Material | None) -> Array:
        """Return (rho Ix, rho Iy, rho (Ix + Iy)) and rho A three times at ``s`` (S,), shape (S, 6)."""
        assert material is not None
        shape, rho = self.geometry(s, length), material.rho
        mass = rho * shape.area
        rotary = (rho * shape.Ix, rho * shape.Iy, rho * (shape.Ix + shape.Iy))
        return np.stack((*rotary, mass, mass, mass), axis=-1)

    @abstractmethod
    def outline(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return half the width along local x and along local y (metres, (S,)), for drawing."""

    def formula(self, math: Any, value: Callable[[str], Any]) -> SectionGeometry:
        """The geometry at one place with symbols; value : gives a field of the section there.

        math : computes with symbols. A shape without this method has no symbols in its section.
        """
        raise DescriptionError(
            type(self).__name__,
            "formula",
            None,
            "a method that writes its geometry with symbols",
            "give the class formula(self, math, value), or leave its section out of the parameters",
        )

    def _value(self, field: str, s: ArrayLike, length: float) -> Array:
        return evaluate(type(self).__name__, field, getattr(self, field), s, length)


class Round(Shape):
    """A disc or a ring."""

    @abstractmethod
    def radii(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return the outer and the inner radius at arclengths ``s`` (S,), metres."""

    def geometry(self, s: ArrayLike, length: float) -> SectionGeometry:
        """Return pi r^2 and pi r^4 / 4, with J twice that, of the outer less the inner circle."""
        return _ring(*self.radii(s, length))

    def outline(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return the outer radius twice."""
        outer, _ = self.radii(s, length)
        return outer, outer.copy()


def _ring(outer: Any, inner: Any) -> SectionGeometry:
    moment = math.pi * (outer**4 - inner**4) / 4
    return SectionGeometry(math.pi * (outer**2 - inner**2), moment, 1.0 * moment, 2 * moment)


@dataclass(frozen=True)
class Circle(Round):
    """A solid round section.

    radius : metres; a number, a (base, tip) pair for a linear taper, a function of s or a Table.
    shear_factor : factor k on the shear stiffness k G A, dimensionless.
    """

    radius: ProfileLike = _length()
    shear_factor: float = _factor()

    def radii(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return the radius, and zero."""
        radius = self._value("radius", s, length)
        return radius, np.zeros_like(radius)

    def formula(self, math: Any, value: Callable[[str], Any]) -> SectionGeometry:
        return _ring(value("radius"), 0.0)


@dataclass(frozen=True)
class Annulus(Round):
    """A round tube.

    outer, inner : radii in metres, inner < outer, each a number, a (base, tip) pair, a function
    of s or a Table.
    shear_factor : factor k on the shear stiffness k G A, dimensionless.
    """

    outer: ProfileLike = _length("outer radius")
    inner: ProfileLike = _length("inner radius", "0.008")
    shear_factor: float = _factor()

    def check(self) -> None:
        """Refuse radii of which the inner is not the smaller; functions are checked later."""
        if not callable(self.outer) and not callable(self.inner):
            self.radii(np.array([0.0, 1.0]), 1.0)

    def radii(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return both radii; refuse an inner one that is not the smaller."""
        outer = self._value("outer", s, length)
        inner = self._value("inner", s, length)
        bad = inner >= outer
        if bad.any():
            raise DescriptionError(
                "Annulus",
                "inner",
                float(inner[bad].ravel()[0]),
                f"less than the outer radius {float(outer[bad].ravel()[0]):g}",
                "give the larger radius first, or a Circle for a solid section",
            )
        return outer, inner

    def formula(self, math: Any, value: Callable[[str], Any]) -> SectionGeometry:
        return _ring(value("outer"), value("inner"))


@dataclass(frozen=True)
class Rectangle(Shape):
    """A solid rectangle.

    width : metres along local x.  height : metres along local y.  Each a number, a (base, tip)
    pair, a function of s or a Table.
    shear_factor : factor k on the shear stiffness k G A, dimensionless.
    """

    width: ProfileLike = _length("along local x", "0.02")
    height: ProfileLike = _length("along local y")
    shear_factor: float = _factor()

    def geometry(self, s: ArrayLike, length: float) -> SectionGeometry:
        """Return w h, w h^3 / 12, h w^3 / 12 and Saint-Venant's torsion series."""
        w = self._value("width", s, length)
        h = self._value("height", s, length)
        return SectionGeometry(w * h, w * h**3 / 12, h * w**3 / 12, rectangle_torsion(w, h))

    def outline(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return half the width and half the height."""
        return self._value("width", s, length) / 2, self._value("height", s, length) / 2

    def formula(self, math: Any, value: Callable[[str], Any]) -> SectionGeometry:
        w, h = value("width"), value("height")
        a, b = math.fmax(w, h), math.fmin(w, h)
        tail = sum((1 - math.tanh(n * np.pi * a / (2 * b))) / n**5 for n in range(1, 16, 2))
        series = 1 - 192 * b / (np.pi**5 * a) * (31 / 32 * ZETA_5 - tail)
        return SectionGeometry(w * h, w * h**3 / 12, h * w**3 / 12, a * b**3 / 3 * series)


@dataclass(frozen=True)
class Section(Shape):
    """Any section, by its numbers.

    area : m^2.  Ix, Iy : second moments (integrals of y^2 and x^2), m^4.  J : torsion constant,
    m^4.  Each a number, a (base, tip) pair, a function of s or a Table.
    shear_factor : factor k on the shear stiffness k G A, dimensionless.
    """

    area: ProfileLike = quantity("square metres", sign="positive", along=True, example="3e-4")
    Ix: ProfileLike = _moment("integral of y^2")
    Iy: ProfileLike = _moment("integral of x^2")
    J: ProfileLike = _moment("torsion constant")
    shear_factor: float = _factor()

    def geometry(self, s: ArrayLike, length: float) -> SectionGeometry:
        """Return the given numbers."""
        return SectionGeometry(*(self._value(name, s, length) for name in SectionGeometry._fields))

    def outline(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return the half axes of the ellipse with the same moments per area."""
        section = self.geometry(s, length)
        return 2 * np.sqrt(section.Iy / section.area), 2 * np.sqrt(section.Ix / section.area)

    def formula(self, math: Any, value: Callable[[str], Any]) -> SectionGeometry:
        return SectionGeometry(*(value(name) for name in SectionGeometry._fields))


def rectangle_torsion(width: Array, height: Array) -> Array:
    """Return Saint-Venant's torsion constant (m^4) of rectangles with sides in metres.

    J = a b^3 / 3 (1 - 192 b / (pi^5 a) sum over odd n of tanh(n pi a / 2b) / n^5), a >= b. The
    sum is taken as its limit for a thin strip, 31/32 zeta(5), less a remainder that falls
    exponentially: full precision with a few terms.
    """
    long, short = np.maximum(width, height), np.minimum(width, height)
    n = np.arange(1, 16, 2, dtype=np.float64)
    ratio = (long / short)[..., None]
    remainder = ((1 - np.tanh(n * math.pi * ratio / 2)) / n**5).sum(axis=-1)
    series = 31 / 32 * ZETA_5 - remainder
    return np.asarray(long * short**3 / 3 * (1 - 192 * short / (math.pi**5 * long) * series))


@dataclass(frozen=True)
class Material(Described):
    """An isotropic material.

    E : Young's modulus, Pa.
    nu : Poisson's ratio in (-1, 0.5], or G : shear modulus, Pa. Give exactly one of the two;
        `shear_modulus` is the one to use in either case.
    rho : density, kg/m^3; 0 for a rod without mass.
    viscosity : Kelvin-Voigt viscosity of extension, Pa s. All six strains share the retardation
        time viscosity / E, so the damping is the stiffness times `retardation`.
    """

    E: float = quantity("Pa", "Young's modulus", sign="positive", example="1.0e6")
    nu: float | None = quantity("", "Poisson's ratio", default=None, example="0.5")
    G: float | None = quantity(
        "Pa", "shear modulus", default=None, sign="positive", example="3.3e5"
    )
    rho: float = quantity("kg/m^3", "density", default=0.0, sign="zero", example="1000")
    viscosity: float = quantity("Pa s", "Kelvin-Voigt", default=0.0, sign="zero", example="10")

    def check(self) -> None:
        """Refuse both or neither of nu and G, and a nu that no material has."""
        refuse(
            (self.nu is None) == (self.G is None),
            "Material",
            "nu, G",
            (self.nu, self.G),
            "exactly one number, the other left out",
            "give e.g. nu=0.5",
        )
        self.refuse(
            self.nu is not None and not -1 < self.nu <= 0.5,
            "nu",
            "above -1 and at most 0.5",
            "give e.g. 0.5 for rubber, 0.3 for steel",
        )

    @property
    def shear_modulus(self) -> float:
        """The shear modulus in Pa: as given, or E / (2 (1 + nu))."""
        if self.G is not None:
            return self.G
        assert self.nu is not None
        return self.E / (2 * (1 + self.nu))

    @property
    def retardation(self) -> float:
        """The Kelvin-Voigt time in seconds, viscosity / E."""
        return self.viscosity / self.E


Directions = ProfileLike | tuple[ProfileLike, ProfileLike]


def _per_length(unit: str, example: str, default: Any = MISSING) -> Any:
    """A quantity along a rod; one that may be left out may be zero."""
    return holds(Along("", unit, example, default is not MISSING, pair=False), default)


def _per_direction(unit: str, example: str, default: Any = MISSING) -> Any:
    return holds(PerDirection("", unit, example, default is not MISSING), default)


@dataclass(frozen=True)
class Stiffness(Described):
    """Stiffness and mass per length given directly, instead of a shape and a material.

    bending : N m^2, one value for both directions or a pair (about local x, about local y).
    twist : N m^2.  shear : N, one value or a pair (along local x, along local y).  axial : N.
    mass : kg/m, default 0.  inertia : rotary inertia per length (Ixx, Iyy, Izz), kg m, default 0.
    retardation : Kelvin-Voigt time in seconds; damping = stiffness * retardation.

    Each quantity is a number, a function of s or a Table. A pair here always means the two
    directions, never a taper: give a taper as a function or a Table.
    """

    bending: Directions = _per_direction("N m^2", "0.01")
    twist: ProfileLike = _per_length("N m^2", "0.01")
    shear: Directions = _per_direction("N", "100")
    axial: ProfileLike = _per_length("N", "300")
    mass: ProfileLike = _per_length("kg/m", "0.1", 0.0)
    inertia: tuple[float, ...] | None = holds(
        Vector("rotary inertia (Ixx, Iyy, Izz)", "kg m", zero=True), None
    )
    retardation: float = quantity(
        "seconds", "Kelvin-Voigt time", default=0.0, sign="zero", example="0.01"
    )

    def check(self) -> None:
        """Take no rotary inertia for none."""
        self._set("inertia", self.inertia or (0.0, 0.0, 0.0))

    def stiffness(self, s: ArrayLike, length: float, material: None = None) -> Array:
        """Return the diagonal stiffness (S, 6): two bending, twist, two shear, axial."""
        return _diagonal(self, s, length)

    def inertia_per_length(self, s: ArrayLike, length: float, material: None = None) -> Array:
        """Return rotary inertia, kg m, and mass three times, kg/m, at ``s`` (S,), shape (S, 6)."""
        mass = evaluate("Stiffness", "mass", self.mass, s, length, zero=True)
        rotary = [np.full_like(mass, x) for x in self.inertia or (0.0, 0.0, 0.0)]
        return np.stack((*rotary, mass, mass, mass), axis=-1)

    def outline(self, s: ArrayLike, length: float) -> tuple[Array, Array]:
        """Return one hundredth of the length twice: there is no shape to draw."""
        half = Profile(length / 100).at(s, length)
        return half, half.copy()


@dataclass(frozen=True)
class Damping(Described):
    """Kelvin-Voigt damping per strain: wrench = stiffness * strain + damping * strain rate.

    bending : N m^2 s, one value for both directions or a pair (about local x, about local y).
    twist : N m^2 s.  shear : N s, one value or a pair (along local x, along local y).
    axial : N s. What is left out is not damped.

    Each quantity is a number, a function of s or a Table. A pair here always means the two
    directions, never a taper: give a taper as a function or a Table.
    """

    bending: Directions = _per_direction("N m^2 s", "1e-4", 0.0)
    twist: ProfileLike = _per_length("N m^2 s", "1e-4", 0.0)
    shear: Directions = _per_direction("N s", "0.1", 0.0)
    axial: ProfileLike = _per_length("N s", "0.1", 0.0)

    def damping(self, s: ArrayLike, length: float) -> Array:
        """Return the diagonal damping (S, 6): two bending, twist, two shear, axial."""
        return _diagonal(self, s, length, zero=True)


def _diagonal(
    holder: Stiffness | Damping, s: ArrayLike, length: float, zero: bool = False
) -> Array:
    """Return the values (S, 6) of all strains: two bending, twist, two shear, axial."""
    part, columns = type(holder).__name__, []
    for field, count in (("bending", 2), ("twist", 1), ("shear", 2), ("axial", 1)):
        value = getattr(holder, field)
        for item in value if isinstance(value, tuple) else (value,) * count:
            columns.append(evaluate(part, field, item, s, length, zero))
    return np.stack(columns, axis=-1)
