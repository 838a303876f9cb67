"""A rigid body: a payload, a camera, a tip plate, a link of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array, finite_array, vector
from pliant.model.fields import Kind, Schema, Vector, Writer, holds, quantity
from pliant.model.places import Frame, OnFrame, Pose, rotation_vector
from pliant.model.plausible import meant, scale_of
from pliant.model.registry import Joint, JointKind, OneOf, Part
from pliant.model.solids import Solid

if TYPE_CHECKING:
    from pliant.model.description import Description

# moments of a real body obey I1 + I2 >= I3; rounding in published numbers is forgiven
_SLACK = 1e-6
_SHAPES = ((3,), (6,), (3, 3))
_PLACES = [[0, 3, 4], [3, 1, 5], [4, 5, 2]]
"""Where the matrix has each of (Ixx, Iyy, Izz, Ixy, Ixz, Iyz)."""


@dataclass(frozen=True)
class Moments(Kind):
    """Moments of inertia: three, six, or a matrix; `Body` checks them."""

    def write(self, writer: Writer, value: Any) -> Any:
        moments = np.diag(value)
        return writer.plain(value if (value - np.diag(moments)).any() else moments)

    def schema(self, defs: Schema) -> Schema:
        rows = {"type": "array", "items": Vector().schema(defs), "minItems": 3, "maxItems": 3}
        return {"anyOf": [Vector(sizes=(3, 6)).schema(defs), rows]}


@dataclass(frozen=True, eq=False)
class Body(Part):
    """A rigid body. Its weight and its inertia act at its centre of mass.

    name : unique in the robot.
    mass : kg, zero or more.
    inertia : about the centre of mass, along the axes of the body, kg m^2: the three principal
        moments (Ixx, Iyy, Izz); six numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) with the products as
        they stand in the matrix; or the symmetric 3x3 matrix.
    on : the Frame that carries it, or None for the world.
    centre : (3,) position of the centre of mass in the body, metres.
    pose : 4x4 pose of the body at rest, in the frame ``on``.
    joint : how it hangs there: a Joint such as Revolute("x") or Free(); None for a rigid connection.
    shape : a SolidBox, SolidCylinder, SolidSphere or SolidMesh for pictures; None for an ellipsoid.
    density : kg/m^3 of its shape, instead of mass, inertia and centre.
    """

    mass: float = quantity("kg", sign="zero", example="0.02", default=None)
    inertia: ArrayLike = holds(
        Moments("about its centre of mass: 3 principal moments, 6 numbers or 3 rows", "kg m^2"),
        (0.0, 0.0, 0.0),
    )
    on: Frame | None = holds(OnFrame("the world if left out"), None)
    centre: tuple[float, ...] = quantity(
        "metres", "of its mass, in the body", shape=3, default=(0.0, 0.0, 0.0)
    )
    pose: ArrayLike | None = holds(Pose("at rest, in the frame that carries it"), None)
    joint: Joint | None = holds(JointKind(), None)
    shape: Solid | None = holds(
        OneOf(
            "for pictures", "", "{box: {size: [0.1, 0.1, 0.02]}}", (Solid,), "SolidBox((1, 1, 1))"
        ),
        None,
    )
    density: float | None = quantity(
        "kg/m^3", "of its shape, from which its mass follows", sign="positive", default=None
    )

    heading: ClassVar[str] = "bodies"
    refilled: ClassVar[tuple[str, ...] | None] = ()
    place: ClassVar[int] = 4

    def check(self) -> None:
        """Take the inertia (3, 3) about the centre of mass; refuse one that no body has."""
        self._weigh()
        remedy = "give the moments about the centre of mass, e.g. (2e-6, 2e-6, 2e-6)"
        expected = "3 or 6 finite numbers in kg m^2, or a 3x3 matrix"
        given = finite_array(
            self.label, "inertia", self.inertia, expected, remedy, lambda x: x.shape in _SHAPES
        )
        full = given if given.ndim == 2 else np.append(given, np.zeros(3))[_PLACES]
        skew = np.abs(full - full.T).max() > _SLACK * np.abs(full).max()
        self.refuse(skew, "inertia", "a symmetric 3x3 matrix", remedy)
        matrix = 0.5 * (full + full.T)
        low, middle, high = np.linalg.eigvalsh(matrix)
        negative = low < -_SLACK * max(high, 0.0) or high < 0
        self.refuse(negative, "inertia", "moments of inertia of zero or more", remedy)
        impossible = high > (low + middle) + _SLACK * high
        expected = "moments of which no one exceeds the sum of the other two"
        self.refuse(impossible, "inertia", expected, remedy)
        matrix.flags.writeable = False
        self._set("inertia", matrix)

    def _weigh(self) -> None:
        """Take mass, centre and inertia from the density of its shape, if that is given."""
        if self.density is None:
            self.refuse(self.mass is None, "mass", "a number in kg", "give a mass, or a density")
            return
        self.refuse(self.shape is None, "density", "left out without a shape", "give a shape")
        remedy = "leave out mass, inertia and centre, or the density"
        twice = self.mass is not None or np.any(self.inertia) or any(self.centre)
        self.refuse(twice, "density", "all that is given of its mass", remedy)
        assert self.shape is not None
        mass, centre, inertia = self.shape.mass_properties(self.density)
        self._set("mass", mass)
        self._set("centre", tuple(centre.tolist()))
        self._set("inertia", inertia)
        self._set("density", None)

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its mass: a weight that tears the rod that carries it."""
        rod = description.rods.get(self.part or "")
        if rod is None:
            return
        weight = self.mass * float(np.linalg.norm(description.gravity)) / scale_of(rod).axial
        if weight > 0.5:
            told = meant(self.mass, {"g": 1e-3, "mg": 1e-6}, 0.01 * self.mass / weight, "kg")
            yield (
                f"{self.label}: mass = {self.mass:g} kg is far too heavy for {rod.label} "
                f"(weight / EA = {weight:.3g}); {told}"
            )

    @property
    def carrier(self) -> Frame | None:
        """The frame that carries it, None for the world."""
        return self.on

    @property
    def origin(self) -> Frame:
        """The frame of the body itself."""
        return Frame(self.name)

    @property
    def frame(self) -> Frame:
        """The frame of another part that carries it."""
        assert self.on is not None
        return self.on

    @property
    def part(self) -> str | None:
        """The name of the part that carries it, None for the world."""
        return None if self.on is None else self.on.part

    def at(self, point: ArrayLike, rotation: ArrayLike | None = None) -> Frame:
        """Return the frame at a point of the body.

        point : (3,) in the body, metres.
        rotation : rotation vector (3,) in radians or matrix (3, 3) in the body.
        """
        place = vector(self.label, "point", point, 3, "metres")
        return Frame(self.name, 0.0, place, rotation_vector(self.label, rotation))

    def principal(self) -> tuple[Array, Array]:
        """Return the diagonal inertia (6,) and the pose (4, 4) of the principal axes in the body.

        There, at the centre of mass, the inertia is (I1, I2, I3, m, m, m).
        """
        inertia = np.asarray(self.inertia)
        moments, axes = np.diag(inertia), np.eye(3)
        if not np.array_equal(inertia, np.diag(moments)):  # else the origin can share its station
            moments, axes = np.linalg.eigh(inertia)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1.0
        place = np.eye(4)
        place[:3, :3], place[:3, 3] = axes, self.centre
        return np.concatenate((np.maximum(moments, 0.0), np.full(3, self.mass))), place

    def placement(self) -> Array:
        """Return the pose (4, 4) of the body at rest in the section or body that carries it."""
        carried = np.eye(4) if self.on is None else self.on.pose_offset()
        return np.asarray(carried @ np.asarray(self.pose))

    def arm(self) -> Array:
        """Return the centre of mass in the section that carries a body fixed to it, (3,) m."""
        place = self.placement()
        return np.asarray(place[:3, 3] + place[:3, :3] @ np.array(self.centre))

    def spatial_inertia(self) -> Array:
        """Return the inertia (6, 6) of a body fixed to a section about its origin, in its axes.

        With c = `arm()` and I the inertia about the centre of mass, the kinetic energy is
        1/2 eta . M eta for the section's body twist eta = (w, q), and M is
        [[I + m (c.c 1 - c c^T), m c^], [-m c^, m 1]], c^ the matrix of the cross product.
        """
        x, y, z = c = self.arm()
        R = self.placement()[:3, :3]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        about_origin = R @ np.asarray(self.inertia) @ R.T
        about_origin += self.mass * (c @ c * np.eye(3) - np.outer(c, c))
        first = self.mass * cross
        return np.block([[about_origin, first], [-first, self.mass * np.eye(3)]])


@dataclass(frozen=True, eq=False)
class Auxiliary(Body):
    """A massless part that an effect brings along, see `Entry.auxiliary`; constraints hold it.

    brought_by : how messages call the effect.  shown : whether pictures and files show its joint.
    """

    mass: float = 0.0
    brought_by: str = ""
    shown: bool = False

    file_name: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """How error messages call it: as the effect that brings it."""
        return self.brought_by or super().label
