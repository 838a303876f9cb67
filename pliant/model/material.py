"""Linear elastic material with viscosity."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.model.errors import DescriptionError
from pliant.model.fields import quantity
from pliant.model.registry import Described


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
        if (self.nu is None) == (self.G is None):
            raise DescriptionError(
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
