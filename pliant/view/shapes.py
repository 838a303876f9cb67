"""Rods and arrows to draw, as plain arrays in world coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import is_color_like
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError, choice, finite_array, refuse


@dataclass(eq=False)
class RodShape:
    """The shape of one rod at one time, or over time.

    name : shown in the legend.
    poses : (S, 4, 4) world poses of the sections from base to tip, or (T, S, 4, 4) over time;
        positions in metres.
    half_widths : (S, 2) half widths of the sections along their local x and y, metres; (2,) or a
        number for a uniform rod.
    color : any matplotlib colour, or None for the next one of the palette.
    axes : whether to draw the section frames at both ends.
    """

    name: str
    poses: Array
    half_widths: Array
    color: str | None = None
    axes: bool = True

    def __post_init__(self) -> None:
        part = f"rod shape {self.name!r}"
        self.poses = finite(part, "poses", self.poses, "(S, 4, 4) or (T, S, 4, 4)")
        shape = self.poses.shape
        refuse(
            len(shape) not in (3, 4) or shape[-2:] != (4, 4) or shape[-3] < 2 or 0 in shape,
            part,
            "poses",
            f"array of shape {shape}",
            "of shape (S, 4, 4) or (T, S, 4, 4) with two sections or more",
            "give the poses of a result, e.g. still.pose('arm', s)",
        )
        widths = finite(part, "half_widths", self.half_widths, "(S, 2)")
        count = shape[-3]
        if widths.shape not in ((), (2,), (count, 2)) or (widths < 0).any():
            raise DescriptionError(
                part,
                "half_widths",
                f"array of shape {widths.shape}" if (widths >= 0).all() else widths,
                f"of shape ({count}, 2), metres, zero or more",
                "give the two half widths of each section",
            )
        self.half_widths = np.array(np.broadcast_to(widths, (count, 2)))
        refuse(
            self.color is not None and not is_color_like(self.color),
            part,
            "color",
            self.color,
            "a colour",
            "give e.g. '#3a7ca5', 'red', or None",
        )

    @property
    def frames(self) -> Array:
        """World poses over time, (T, S, 4, 4); T = 1 for a single time."""
        return self.poses if self.poses.ndim == 4 else self.poses[None]

    @property
    def points(self) -> Array:
        """Centre line over time, (T, S, 3), world, metres."""
        points: Array = self.frames[..., :3, 3]
        return points


@dataclass(eq=False)
class Arrow:
    """A force or a moment at a point.

    origin : (3,) world, metres, or (T, 3) over time.
    vector : (3,) world, newtons or newton metres, or (T, 3) over time.
    kind : "force" or "moment".  name : shown in the legend.
    """

    origin: Array
    vector: Array
    kind: str = "force"
    name: str = ""

    def __post_init__(self) -> None:
        part = f"arrow {self.name!r}"
        choice(part, "kind", self.kind, ("force", "moment"))
        self.origin = _triple(part, "origin", self.origin)
        self.vector = _triple(part, "vector", self.vector)

    @property
    def unit(self) -> str:
        """Unit of the vector."""
        return "N" if self.kind == "force" else "N m"

    @property
    def size(self) -> float:
        """Largest magnitude over time, N or N m."""
        return float(np.linalg.norm(self.vector, axis=-1).max())

    def at(self, index: int) -> tuple[Array, Array]:
        """Return origin (3,) and vector (3,) at this index in time; the last one is -1."""
        origin = self.origin if self.origin.ndim == 1 else self.origin[index]
        vector = self.vector if self.vector.ndim == 1 else self.vector[index]
        return origin, vector


def finite(part: str, field: str, value: ArrayLike, shape: str) -> Array:
    """Return ``value`` as a float array without NaN or infinity."""
    expected = f"an array {shape} of finite numbers"
    return finite_array(part, field, value, expected, "draw only results that converged")


def _triple(part: str, field: str, value: ArrayLike) -> Array:
    array = finite(part, field, value, "(3,) or (T, 3)")
    refuse(
        array.ndim not in (1, 2) or array.shape[-1] != 3 or array.size == 0,
        part,
        field,
        value,
        "of shape (3,) or (T, 3)",
        "give three numbers, e.g. (0, 0, -1)",
    )
    return array
