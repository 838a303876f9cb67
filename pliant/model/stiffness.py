"""Stiffness, mass and damping of a rod given directly, one value per strain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array, as_float
from pliant.model.errors import DescriptionError
from pliant.model.profile import Profile, ProfileLike, evaluate, profile_field

Directions = ProfileLike | tuple[ProfileLike, ProfileLike]


@dataclass(frozen=True)
class Stiffness:
    """Stiffness and mass per length given directly, instead of a shape and a material.

    bending : N m^2, one value for both directions or a pair (about local x, about local y).
    twist : N m^2.  shear : N, one value or a pair (along local x, along local y).  axial : N.
    mass : kg/m, default 0.  inertia : rotary inertia per length (Ixx, Iyy, Izz), kg m, default 0.
    retardation : Kelvin-Voigt time in seconds; damping = stiffness * retardation.

    Each quantity is a number, a function of s or a Table. A pair here always means the two
    directions, never a taper: give a taper as a function or a Table.
    """

    bending: Directions
    twist: ProfileLike
    shear: Directions
    axial: ProfileLike
    mass: ProfileLike = 0.0
    inertia: tuple[float, float, float] | None = None
    retardation: float = 0.0

    def __post_init__(self) -> None:
        _clean(self, "N m^2", "N")
        clean = profile_field("Stiffness", "mass", self.mass, "kg/m", zero=True, pair=False)
        object.__setattr__(self, "mass", clean)
        object.__setattr__(self, "inertia", _rotary(self.inertia))
        time = as_float(self.retardation)
        if time is None or not math.isfinite(time) or time < 0:
            raise DescriptionError(
                "Stiffness",
                "retardation",
                self.retardation,
                "zero or a positive number in seconds",
                "give e.g. 0.01",
            )
        object.__setattr__(self, "retardation", time)

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
class Damping:
    """Kelvin-Voigt damping per strain: wrench = stiffness * strain + damping * strain rate.

    bending : N m^2 s, one value for both directions or a pair (about local x, about local y).
    twist : N m^2 s.  shear : N s, one value or a pair (along local x, along local y).
    axial : N s. What is left out is not damped.

    Each quantity is a number, a function of s or a Table. A pair here always means the two
    directions, never a taper: give a taper as a function or a Table.
    """

    bending: Directions = 0.0
    twist: ProfileLike = 0.0
    shear: Directions = 0.0
    axial: ProfileLike = 0.0

    def __post_init__(self) -> None:
        _clean(self, "N m^2 s", "N s", zero=True)

    def damping(self, s: ArrayLike, length: float) -> Array:
        """Return the diagonal damping (S, 6): two bending, twist, two shear, axial."""
        return _diagonal(self, s, length, zero=True)


def _clean(holder: Stiffness | Damping, turning: str, stretching: str, zero: bool = False) -> None:
    """Check the entries of all strains; their units are those of moments and of forces."""
    part = type(holder).__name__
    for field, unit in (
        ("bending", turning),
        ("twist", turning),
        ("shear", stretching),
        ("axial", stretching),
    ):
        value = getattr(holder, field)
        several = isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2
        two = several and field in ("bending", "shear")
        clean = tuple(
            profile_field(part, field, item, unit, zero, pair=False)
            for item in (value if two else (value,))
        )
        object.__setattr__(holder, field, clean if two else clean[0])


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


def _rotary(value: object) -> tuple[float, float, float]:
    if value is None:
        return (0.0, 0.0, 0.0)
    items = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else ()
    numbers = [as_float(item) for item in items]
    good = [x for x in numbers if x is not None and math.isfinite(x) and x >= 0]
    if len(numbers) != 3 or len(good) != 3:
        raise DescriptionError(
            "Stiffness",
            "inertia",
            value,
            "three numbers (Ixx, Iyy, Izz) in kg m, none negative",
            "give e.g. (1e-6, 1e-6, 2e-6)",
        )
    return (good[0], good[1], good[2])
