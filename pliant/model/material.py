"""Linear elastic material with viscosity."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.model.checks import not_negative, number, positive
from pliant.model.errors import DescriptionError


@dataclass(frozen=True)
class Material:
    """An isotropic material.

    E : Young's modulus, Pa.
    nu : Poisson's ratio in (-1, 0.5], or G : shear modulus, Pa. Give exactly one of the two;
        `shear_modulus` is the one to use in either case.
    rho : density, kg/m^3; 0 for a rod without mass.
    viscosity : Kelvin-Voigt viscosity of extension, Pa s. All six strains share the retardation
        time viscosity / E, so the damping is the stiffness times `retardation`.
    """

    E: float
    nu: float | None = None
    G: float | None = None
    rho: float = 0.0
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        clean = {
            "E": positive("Material", "E", self.E, "Pa", "give e.g. 1e6 for soft silicone"),
            "rho": not_negative("Material", "rho", self.rho, "kg/m^3", "give e.g. 1000"),
            "viscosity": not_negative("Material", "viscosity", self.viscosity, "Pa s"),
        }
        if (self.nu is None) == (self.G is None):
            raise DescriptionError(
                "Material",
                "nu, G",
                (self.nu, self.G),
                "exactly one number, the other left out",
                "give e.g. nu=0.5",
            )
        if self.nu is not None:
            clean["nu"] = number("Material", "nu", self.nu, remedy="give e.g. 0.5")
            if not -1 < clean["nu"] <= 0.5:
                raise DescriptionError(
                    "Material",
                    "nu",
                    self.nu,
                    "above -1 and at most 0.5",
                    "give e.g. 0.5 for rubber, 0.3 for steel",
                )
        else:
            clean["G"] = positive("Material", "G", self.G, "Pa", "give e.g. E / 3 for rubber")
        for field, value in clean.items():
            object.__setattr__(self, field, value)

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
