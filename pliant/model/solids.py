"""Shapes of rigid bodies: what pictures show of them, and their mass where a density is given."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array, finite_array
from pliant.model.fields import FilePath, Kind, holds, quantity
from pliant.model.mesh_file import Triangles, read_mesh
from pliant.model.places import Pose
from pliant.model.registry import Described

_AROUND = 24
"""Corners of circles."""


class Solid(Described):
    """A shape in the frame of a body; its subclasses are known to robot files."""

    file_name: ClassVar[str] = ""

    @abstractmethod
    def faces(self) -> Array:
        """Quadrilaterals (N, 4, 3) of its surface in the body, metres, outward counter-clockwise."""

    @abstractmethod
    def volume_moments(self) -> tuple[float, Array, Array]:
        """Volume (m^3), centre (3,) in the body (m), and the integral of x x^T (3, 3) about it."""

    def mass_properties(self, density: float) -> tuple[float, Array, Array]:
        """Return mass (kg), centre (3,) in the body (m) and inertia (3, 3) about it for kg/m^3."""
        volume, centre, second = self.volume_moments()
        inertia = np.trace(second) * np.eye(3) - second
        return density * volume, centre, density * inertia


@dataclass(frozen=True, kw_only=True)
class _Placed(Solid):
    """A shape with a pose of its own.

    pose : 4x4 pose of its centre in the body.
    """

    file_name: ClassVar[str] = ""
    pose: ArrayLike | None = holds(Pose("of its centre, in the body"), None)

    @abstractmethod
    def own_faces(self) -> Array:
        """Faces (N, 4, 3) about its centre."""

    @abstractmethod
    def own_moments(self) -> tuple[float, Array]:
        """Volume, and the diagonal (3,) of the integral of x x^T, about its centre."""

    def faces(self) -> Array:
        g = np.asarray(self.pose)
        return np.asarray(self.own_faces() @ g[:3, :3].T + g[:3, 3])

    def volume_moments(self) -> tuple[float, Array, Array]:
        g, (volume, second) = np.asarray(self.pose), self.own_moments()
        return volume, g[:3, 3].copy(), g[:3, :3] @ np.diag(second) @ g[:3, :3].T


@dataclass(frozen=True, eq=False)
class SolidBox(_Placed):
    """A box with its sides along the axes of `pose`.

    size : (3,) lengths of its sides, metres.  pose : 4x4 pose of its centre in the body.
    """

    file_name: ClassVar[str] = "box"
    size: tuple[float, ...] = quantity("metres", "of its sides", shape=3, sign="zero")

    def own_faces(self) -> Array:
        corners = 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return np.asarray((corners * self.size)[np.array(sides)])

    def own_moments(self) -> tuple[float, Array]:
        size = np.array(self.size)
        return float(size.prod()), size.prod() * size**2 / 12.0


@dataclass(frozen=True, eq=False)
class SolidCylinder(_Placed):
    """A cylinder along the z axis of `pose`.

    radius, height : metres.  pose : 4x4 pose of its centre in the body.
    """

    file_name: ClassVar[str] = "cylinder"
    radius: float = quantity("metres", sign="positive", example="0.02")
    height: float = quantity("metres", sign="positive", example="0.05")

    def own_faces(self) -> Array:
        heights = 0.5 * self.height * np.array([-1.0, -1.0, 1.0, 1.0])
        return turned(self.radius * np.array([0.0, 1.0, 1.0, 0.0]), heights)

    def own_moments(self) -> tuple[float, Array]:
        volume = np.pi * self.radius**2 * self.height
        across, along = self.radius**2 / 4.0, self.height**2 / 12.0
        return float(volume), volume * np.array([across, across, along])


@dataclass(frozen=True, eq=False)
class SolidSphere(_Placed):
    """A ball.

    radius : metres.  pose : 4x4 pose of its centre in the body.
    """

    file_name: ClassVar[str] = "sphere"
    radius: float = quantity("metres", sign="positive", example="0.02")

    def own_faces(self) -> Array:
        angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13)
        return turned(self.radius * np.cos(angle), self.radius * np.sin(angle))

    def own_moments(self) -> tuple[float, Array]:
        volume = 4.0 / 3.0 * np.pi * self.radius**3
        return float(volume), np.full(3, volume * self.radius**2 / 5.0)


@dataclass(frozen=True, eq=False)
class SolidMesh(Solid):
    """A surface of triangles, from a file or given as arrays.

    file : path of an STL (text or binary) or OBJ file. Saved robot files hold the triangles.
    vertices : (V, 3) in the body, metres.  triangles : (F, 3) numbers of the vertices of each triangle,
    from 0, outward counter-clockwise.  scale : factor on the vertices, e.g. 0.001 for millimetres.
    """

    file_name: ClassVar[str] = "mesh"
    file: str | None = holds(FilePath("STL or OBJ", example="gripper.stl", what="mesh"), None)
    vertices: ArrayLike | None = holds(Kind("of the triangles, in the body", "metres"), None)
    triangles: ArrayLike | None = holds(Kind("numbers of the vertices of each triangle"), None)
    scale: float = quantity("", "factor on the vertices", sign="positive", default=1.0)

    def check(self) -> None:
        """Read the file, or take the arrays."""
        one = (self.file is None) == (self.vertices is not None and self.triangles is not None)
        self.refuse(not one, "file", "a file, or vertices and triangles", "give file='part.stl'")
        if self.file is not None:
            found = read_mesh(self.label, str(self.file))
        else:
            found = self._given()
        outside = found.faces.min() < 0 or found.faces.max() >= len(found.vertices)
        self.refuse(outside, "triangles", "numbers of vertices, from 0", "check the triangles")
        for name, value in (("vertices", self.scale * found.vertices), ("triangles", found.faces)):
            value.flags.writeable = False
            self._set(name, value)
        self._set("file", None)
        self._set("scale", 1.0)

    def _given(self) -> Triangles:
        remedy = "give rows of three numbers"
        arrays = []
        for field in ("vertices", "triangles"):
            value, expected = getattr(self, field), "a list of rows of three numbers"
            arrays.append(
                finite_array(self.label, field, value, expected, remedy, lambda x: _rows(x))
            )
        return Triangles(arrays[0].copy(), arrays[1].astype(np.int64))

    def faces(self) -> Array:
        """Triangles as quadrilaterals with a doubled corner."""
        corners = np.asarray(self.vertices)[np.asarray(self.triangles)]
        return np.concatenate([corners, corners[:, 2:]], axis=1)

    def volume_moments(self) -> tuple[float, Array, Array]:
        """By the divergence theorem: signed tetrahedra from the origin to each triangle."""
        a, b, c = np.asarray(self.vertices)[np.asarray(self.triangles)].transpose(1, 0, 2)
        self._refuse_open()
        part = np.einsum("fi,fi->f", a, np.cross(b, c)) / 6.0
        volume = float(part.sum())
        self.refuse(
            volume <= 0, "triangles", "outward counter-clockwise", "turn the triangles round"
        )
        total = a + b + c
        centre = part @ total / (4.0 * volume)
        outer = sum(np.einsum("f,fi,fj->ij", part, x, x) for x in (a, b, c, total)) / 20.0
        return volume, centre, outer - volume * np.outer(centre, centre)

    def _refuse_open(self) -> None:
        """Refuse a surface with a border, which has no inside."""
        _, numbers = np.unique(np.round(np.asarray(self.vertices), 12), axis=0, return_inverse=True)
        faces = numbers.reshape(-1)[np.asarray(self.triangles)]
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        there, back = ({tuple(x) for x in rows.tolist()} for rows in (edges, edges[:, ::-1]))
        expected = "a closed surface, for it has a density"
        self.refuse(there != back, "triangles", expected, "close it, or give mass and inertia")


def _rows(x: Array) -> bool:
    return x.ndim == 2 and x.shape[1] == 3 and len(x) > 0


def turned(radii: Array, heights: Array) -> Array:
    """Quadrilaterals (N, 4, 3) of an outline turned about z: radii and heights (K,), from below."""
    angle = np.linspace(0.0, 2.0 * np.pi, _AROUND + 1)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(_AROUND + 1)], axis=-1)
    rings = radii[:, None, None] * ring + heights[:, None, None] * np.array([0.0, 0.0, 1.0])
    sides = [rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1]]
    return np.stack(sides, axis=2).reshape(-1, 4, 3)
