"""A clamped Cosserat rod and its loads, as plain callables and arrays; SI units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Field = Callable[[float], ArrayLike]


@dataclass(frozen=True)
class PointLoad:
    """Force (N) and moment (N m) on the section at arclength s (m), world (dead) or body frame."""

    s: float
    force: ArrayLike = (0.0, 0.0, 0.0)
    moment: ArrayLike = (0.0, 0.0, 0.0)
    frame: str = "world"


def straight(s: float) -> ArrayLike:
    """Natural strain of a straight rod, shape (..., 6)."""
    return np.broadcast_to([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (*np.shape(s), 6))


def circular_stiffness(young: float, poisson: float, radius: Callable[[float], float]) -> Field:
    """Stiffness s -> (..., 6) of a solid circle with radius(s) in m; shear factor 1."""
    shear = young / (2.0 * (1.0 + poisson))

    def stiffness(s: float) -> Array:
        r = np.asarray(radius(s), dtype=float)
        area, second = np.pi * r**2, np.pi * r**4 / 4.0
        return np.stack([young * second, young * second, 2.0 * shear * second,
                         shear * area, shear * area, young * area], axis=-1)  # fmt: skip

    return stiffness


def base_pose(tangent: ArrayLike, normal: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Pose 4x4 whose local z lies along `tangent` and local x along `normal` (orthonormal)."""
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 2], pose[:3, 3] = normal, tangent, origin
    pose[:3, 1] = np.cross(pose[:3, 2], pose[:3, 0])
    return pose


@dataclass(frozen=True)
class RodProblem:
    """A clamped rod with its loads.

    stiffness: s -> (6,) diagonal (EIx, EIy, GJ, GAx, GAy, EA), N m^2 and N; np.inf removes a
    strain (Kirchhoff). natural: s -> (6,) stress-free strain. base: pose 4x4 of the clamp.
    distributed: s -> (3,) world force per arclength, N/m. tip_force, tip_moment: dead, world frame.
    follower_force, follower_moment: at the tip, body frame. breaks: arclengths of kinks in the
    callables, which the integration then does not step across.
    """

    length: float
    stiffness: Field
    natural: Field = straight
    base: ArrayLike = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    distributed: Field | None = None
    tip_force: ArrayLike = (0.0, 0.0, 0.0)
    tip_moment: ArrayLike = (0.0, 0.0, 0.0)
    follower_force: ArrayLike = (0.0, 0.0, 0.0)
    follower_moment: ArrayLike = (0.0, 0.0, 0.0)
    point_loads: tuple[PointLoad, ...] = ()
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for load in self.point_loads:
            if not 0.0 < load.s <= self.length or load.frame not in ("world", "body"):
                raise ValueError(f"{load} must have 0 < s <= {self.length} and frame world or body")
        if any(not 0.0 < s < self.length for s in self.breaks):
            raise ValueError(f"breaks {self.breaks} must lie strictly between 0 and {self.length}")

    def loads(self) -> list[PointLoad]:
        """All point loads, those at the tip included."""
        return [
            *self.point_loads,
            PointLoad(self.length, self.tip_force, self.tip_moment, "world"),
            PointLoad(self.length, self.follower_force, self.follower_moment, "body"),
        ]

    def cuts(self) -> list[float]:
        """Ends of the smooth pieces, from 0 to the length."""
        return sorted({0.0, self.length, *self.breaks, *(load.s for load in self.point_loads)})

    def scale(self) -> Array:
        """Units (6,) of the base wrench: EI / L for moments, EI / L^2 for forces."""
        s = np.linspace(0.0, self.length, 5)
        bending = float(np.mean([np.asarray(self.stiffness(x))[:2] for x in s]))
        return bending / self.length * np.repeat([1.0, 1.0 / self.length], 3)
