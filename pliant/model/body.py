"""A rigid body fixed to a place on a rod: a payload, a camera, a tip plate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array, as_array
from pliant.model.errors import DescriptionError
from pliant.model.fields import holds, quantity
from pliant.model.frame import Frame
from pliant.model.kinds import NUMBER, Kind, Schema, Vector
from pliant.model.places import OnFrame
from pliant.model.registry import Part

# moments of a real body obey I1 + I2 >= I3; rounding in published numbers is forgiven
_SLACK = 1e-6


@dataclass(frozen=True)
class Moments(Kind):
    """Moments of inertia: three, six, or a matrix; `Body` checks them."""

    def schema(self, defs: Schema) -> Schema:
        row = {"type": "array", "items": NUMBER, "minItems": 3, "maxItems": 3}
        rows = {"type": "array", "items": row, "minItems": 3, "maxItems": 3}
        return {"anyOf": [Vector(sizes=(3, 6)).schema(defs), rows]}


@dataclass(frozen=True, eq=False)
class Body(Part):
    """A rigid body that moves with a frame of a rod. Its weight and its inertia act there.

    name : unique in the robot.
    mass : kg, zero or more.
    inertia : about the centre of mass, along the axes of the frame, kg m^2: the three principal
        moments (Ixx, Iyy, Izz); six numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) with the products as
        they stand in the matrix; or the symmetric 3x3 matrix.
    on : the Frame that carries it.
    centre : (3,) position of the centre of mass in that frame, metres.
    """

    mass: float = quantity("kg", sign="zero", example="0.02")
    inertia: ArrayLike = holds(
        Moments("about its centre of mass: 3 principal moments, 6 numbers or 3 rows", "kg m^2"),
        (0.0, 0.0, 0.0),
    )
    on: Frame | None = holds(OnFrame(), None)
    centre: tuple[float, ...] = quantity(
        "metres", "of its mass, in the frame", shape=3, default=(0.0, 0.0, 0.0)
    )

    heading: ClassVar[str] = "bodies"

    def check(self) -> None:
        """Refuse an inertia that no body has, and a body without a place."""
        self._set("inertia", self._matrix())
        if self.on is None:
            raise DescriptionError(self.label, "on", None, "a Frame", "give e.g. arm.tip")

    def _matrix(self) -> Array:
        """The inertia (3, 3) about the centre of mass, checked to belong to a real body."""
        found = as_array(self.inertia)
        shapes = ((3,), (6,), (3, 3))
        if found is None or found.shape not in shapes or not np.isfinite(found).all():
            raise self._wrong("3 or 6 finite numbers in kg m^2, or a 3x3 matrix")
        if found.shape == (3,):
            matrix = np.diag(found)
        elif found.shape == (6,):
            xx, yy, zz, xy, xz, yz = found
            matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            matrix = found
            if np.abs(matrix - matrix.T).max() > _SLACK * np.abs(matrix).max():
                raise self._wrong("a symmetric 3x3 matrix")
            matrix = 0.5 * (matrix + matrix.T)
        low, middle, high = np.linalg.eigvalsh(matrix)
        if low < -_SLACK * max(high, 0.0) or high < 0:
            raise self._wrong("moments of inertia of zero or more")
        if high > (low + middle) + _SLACK * high:
            raise self._wrong("moments of which no one exceeds the sum of the other two")
        matrix.flags.writeable = False
        return matrix

    def _wrong(self, expected: str) -> DescriptionError:
        remedy = "give the moments about the centre of mass, e.g. (2e-6, 2e-6, 2e-6)"
        return DescriptionError(self.label, "inertia", self.inertia, expected, remedy)

    @property
    def part(self) -> str:
        """The name of the rod that carries it."""
        return self.frame.part

    @property
    def frame(self) -> Frame:
        """The frame that carries it."""
        assert isinstance(self.on, Frame)
        return self.on

    def arm(self) -> Array:
        """Return the centre of mass in the section frame (offset of the place included), (3,) m."""
        return np.array(self.frame.offset) + np.array(self.centre)

    def spatial_inertia(self) -> Array:
        """Return the inertia (6, 6) about the origin of the section frame, in its axes.

        With c = `arm()` and I the inertia about the centre of mass, the kinetic energy is
        1/2 eta . M eta for the section's body twist eta = (w, q), and M is
        [[I + m (c.c 1 - c c^T), m c^], [-m c^, m 1]], c^ the matrix of the cross product.
        """
        x, y, z = c = self.arm()
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        found = np.zeros((6, 6))
        found[:3, :3] = np.asarray(self.inertia) + self.mass * (c @ c * np.eye(3) - np.outer(c, c))
        found[:3, 3:] = self.mass * cross
        found[3:, :3] = -self.mass * cross
        found[3:, 3:] = self.mass * np.eye(3)
        return found
