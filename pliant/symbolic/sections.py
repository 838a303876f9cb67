"""Stiffness, damping and inertia of the sections of a rod, with symbols for parameters.

Written down from the definitions: E Ix, E Iy, G J, k G A twice and E A with G = E / 2 (1 + nu); damping
in the ratio viscosity / E; and rho times area and moments.
"""

from __future__ import annotations

from typing import Any

from pliant.model import Rod, Stiffness
from pliant.model.section import SectionGeometry
from pliant.symbolic.numbers import Numbers

_STRAINS = (("bending", 2), ("twist", 1), ("shear", 2), ("axial", 1))


def stiffness(math: Any, numbers: Numbers, rod: Rod, s: float) -> Any:
    """Stiffness (6, 1) at arclength s, N m^2 and N."""
    if isinstance(rod.section, Stiffness):
        return _diagonal(math, numbers, rod, "section", s)
    E = numbers.number(rod, "material.E")
    assert rod.material is not None
    if rod.material.G is not None:
        G = numbers.number(rod, "material.G")
    else:
        G = E / (2.0 * (1.0 + numbers.number(rod, "material.nu")))
    shape = _geometry(math, numbers, rod, s)
    shear = numbers.number(rod, "section.shear_factor") * G * shape.area
    return math.vertcat(E * shape.Ix, E * shape.Iy, G * shape.J, shear, shear, E * shape.area)


def damping(math: Any, numbers: Numbers, rod: Rod, s: float) -> Any:
    """Kelvin-Voigt damping (6, 1) at arclength s, N m^2 s and N s."""
    if isinstance(rod.section, Stiffness):
        time = numbers.number(rod, "section.retardation")
    else:
        time = numbers.number(rod, "material.viscosity") / numbers.number(rod, "material.E")
    found = time * stiffness(math, numbers, rod, s)
    if rod.strain_damping is None:
        return found
    return found + _diagonal(math, numbers, rod, "strain_damping", s)


def mass(math: Any, numbers: Numbers, rod: Rod, s: float) -> tuple[Any, Any]:
    """Mass per length, kg/m, and rotary inertia per length (3, 1), kg m."""
    if isinstance(rod.section, Stiffness):
        line = numbers.along(rod, "section.mass", s, rod.length)
        rotary = numbers.number(rod, "section.inertia")
    else:
        rho, shape = numbers.number(rod, "material.rho"), _geometry(math, numbers, rod, s)
        line = rho * shape.area
        rotary = rho * math.vertcat(shape.Ix, shape.Iy, shape.Ix + shape.Iy)
    return line, rotary if rod.rotary else math.SX.zeros(3)


def _geometry(math: Any, numbers: Numbers, rod: Rod, s: float) -> SectionGeometry:
    assert not isinstance(rod.section, Stiffness)
    if not numbers.varies(f"{rod.name}.section"):
        return rod.section.geometry(s, rod.length)

    def value(field: str) -> Any:
        return numbers.along(rod, f"section.{field}", s, rod.length)

    return rod.section.formula(math, value)


def _diagonal(math: Any, numbers: Numbers, rod: Rod, holder: str, s: float) -> Any:
    """Values (6, 1) of all strains from one or two numbers for each kind of strain."""
    rows = []
    for field, count in _STRAINS:
        path, value = f"{rod.name}.{holder}.{field}", getattr(getattr(rod, holder), field)
        if isinstance(value, tuple):
            factor = numbers.profile(path, 1.0, s, rod.length)
            each = enumerate(value)
            rows += [factor * numbers.profile(f"{path}[{k}]", x, s, rod.length) for k, x in each]
        else:
            rows += [numbers.profile(path, value, s, rod.length)] * count
    return math.vertcat(*rows)
