"""Measurable quantities at a marker on a rod, computed from a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from pliant.lie import so3
from pliant.model import Array, Description, DescriptionError


@dataclass(frozen=True, eq=False)
class Marker:
    """A point of a rod: arclength s, m, infinite for the tip, and offset (3,) in the section, m."""

    rod: str
    s: float
    offset: Array

    def at(self, robot: Description) -> float:
        """The arclength, m; that of a tip is the length of the rod."""
        return robot.rods[self.rod].length if np.isinf(self.s) else self.s

    def pose(self, result: Any) -> Array:
        """World poses (..., 4, 4) of the section."""
        pose = result.tip(self.rod) if np.isinf(self.s) else result.pose(self.rod, self.s)
        return np.asarray(pose)


Vector = Callable[[Marker, Any, Description], Array]
"""Components (..., n) of a quantity at a marker of a result with this description."""


def _position(marker: Marker, result: Any, robot: Description) -> Array:
    g = marker.pose(result)
    return np.asarray(g[..., :3, 3] + g[..., :3, :3] @ marker.offset)


def _tangent(marker: Marker, result: Any, robot: Description) -> Array:
    return marker.pose(result)[..., :3, 2]


def _angles(marker: Marker, result: Any, robot: Description) -> Array:
    """Angles of the tangent in the planes xy, xz, ..., zy, from the first axis."""
    t = _tangent(marker, result, robot)
    angles = [np.arctan2(t[..., b], t[..., a]) for a, b in permutations(range(3), 2)]
    return np.stack(angles, axis=-1)


def _turn(marker: Marker, result: Any, robot: Description) -> Array:
    """Rotation vectors from the base section, in its axes."""
    base = np.asarray(result.pose(marker.rod, 0.0))
    R = np.swapaxes(base[..., :3, :3], -1, -2) @ marker.pose(result)[..., :3, :3]
    return np.asarray(so3.log(R))


def _velocity(marker: Marker, result: Any, robot: Description) -> Array:
    """World velocities of the marker."""
    if not hasattr(result, "velocity"):
        raise DescriptionError(
            "output", "path", "velocity", "an output of a motion",
            "give a column of times, or another output",
        )  # fmt: skip
    twist = np.asarray(result.velocity(marker.rod, marker.at(robot)))
    body = twist[..., 3:] + np.cross(twist[..., :3], marker.offset)
    return np.einsum("...ij,...j->...i", marker.pose(result)[..., :3, :3], body)


def _curvature(marker: Marker, result: Any, robot: Description) -> Array:
    return np.asarray(result.strain(marker.rod, marker.at(robot))[..., :3])


def _moment(marker: Marker, result: Any, robot: Description) -> Array:
    return np.asarray(result.wrench(marker.rod, marker.at(robot))[..., :3])


def _force(marker: Marker, result: Any, robot: Description) -> Array:
    return np.asarray(result.wrench(marker.rod, marker.at(robot))[..., 3:])


_TABLE: tuple[tuple[tuple[str, ...], str, Vector], ...] = (
    (("x", "y", "z"), "m", _position),
    (("tx", "ty", "tz"), "1", _tangent),
    (("rx", "ry", "rz"), "rad", _turn),
    (tuple(f"angle_{a}{b}" for a, b in permutations("xyz", 2)), "rad", _angles),
    (("ux", "uy", "uz"), "rad/m", _curvature),
    (("mx", "my", "mz"), "N m", _moment),
    (("nx", "ny", "nz"), "N", _force),
    (("vx", "vy", "vz"), "m/s", _velocity),
)
QUANTITIES = {
    name: (unit, vector, k) for names, unit, vector in _TABLE for k, name in enumerate(names)
}
"""By component: its unit, the vector it belongs to, and its number in the vector."""
