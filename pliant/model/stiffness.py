"""Stiffness, mass and damping of a rod given directly, one value per strain."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array
from pliant.model.fields import holds, quantity
from pliant.model.kinds import Vector
from pliant.model.profile import Along, Profile, ProfileLike, evaluate
from pliant.model.profile import Directions as PerDirection
from pliant.model.registry import Described

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

    def stiffness(self, s: ArrayLike, length: float) -> Array:
        """Return the diagonal stiffness (S, 6): two bending, twist, two shear, axial."""
        return _diagonal(self, s, length)

    def mass_per_length(self, s: ArrayLike, length: float) -> Array:
        """Return the mass per length (S,), kg/m."""
        return evaluate("Stiffness", "mass", self.mass, s, length, zero=True)

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
