"""Natural shapes of rods as curves: B-splines through space or through poses, by their control points.

A shape gives the strain at rest at any arclength of its curve. Control points are data: they have
paths, such as ``finger.natural.points[2][0]``, for `fit` and for optimisers.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.breaks import Breaks
from pliant.model.checks import Array, DescriptionError, as_array, finite_array, pose_matrix, refuse
from pliant.model.fields import NUMBER, Flag, Kind, Place, Reader, Schema, Whole, Writer, holds
from pliant.model.places import Pose
from pliant.model.profile import Rows
from pliant.model.registry import Described, OneOf

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

_CELLS = 64
"""Cells in each span of a spline in which lengths and frames are tabulated."""
_GAUSS = np.polynomial.legendre.leggauss(5)
_TINY = 1e-12
"""Part of the largest strain below which a strain is zero."""
_LENGTH = 1e-3
"""Part of its length by which a rod may differ from its curve."""


@dataclass(frozen=True)
class Points(Kind):
    """Points (x, y, z)."""

    unit: str = "metres"
    example: str = "[[0, 0, 0], [0, 0, 0.01], [0.005, 0, 0.02]]"
    json: ClassVar[Schema] = {"type": "array", "items": {"type": "array", "items": NUMBER}}

    def check(self, part: str, field: str, value: Any) -> tuple[tuple[float, ...], ...]:
        expected, remedy = "a list of at least two points (x, y, z) in metres", self.remedy
        good = finite_array(
            part, field, value, expected, remedy, lambda x: x.ndim == 2 and x.shape[1] == 3
        )
        refuse(len(good) < 2, part, field, value, expected, remedy)
        return tuple(tuple(row) for row in good.tolist())


@dataclass(frozen=True)
class Poses(Kind):
    """Poses (4x4)."""

    example: str = "[{along: z}, {along: z, origin: [0, 0, 0.01]}]"

    def check(self, part: str, field: str, value: Any) -> tuple[Array, ...]:
        several = isinstance(value, (list, tuple, np.ndarray)) and len(value) > 1
        expected, remedy = (
            "a list of at least two 4x4 poses",
            "give e.g. [pose(), pose((0, 0, 0.1))]",
        )
        refuse(not several, part, field, value, expected, remedy)
        return tuple(pose_matrix(part, f"{field}[{k}]", item) for k, item in enumerate(value))

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        refuse(not isinstance(given, list), "", "", given, "a list of poses", self.remedy)
        return self.check("", "", [Pose().read(reader, (*path, k), x) for k, x in enumerate(given)])

    def write(self, writer: Writer, value: Any) -> Any:
        return [Pose().write(writer, item) for item in value]

    def schema(self, defs: Schema) -> Schema:
        return {"type": "array", "items": Pose().schema(defs)}


class NaturalShape(Described):
    """A curve whose strain is that of a rod at rest.

    degree : of its B-spline, with equal spans.  scale : True if the curve is scaled to the rod.
    """

    degree: int
    scale: bool

    def check(self) -> None:
        """Refuse a degree that the points do not allow, and a curve that stands still."""
        most = min(5, self.count - 1)
        self.refuse(
            not 1 < self.degree <= most,
            "degree",
            f"a whole number from 2 to {most}, for there are {self.count} control points",
            "give more points, or another degree",
        )
        slow = np.min(self._speed(np.linspace(0.0, 1.0, 201))) <= 1e-6 * self.length
        part = next(name for name in ("points", "poses") if hasattr(self, name))
        remedy = "move the control points apart"
        self.refuse(slow, part, "a curve that goes on everywhere", remedy)

    @property
    @abstractmethod
    def count(self) -> int:
        """How many control points it has."""

    @property
    @abstractmethod
    def base(self) -> Array:
        """The pose (4, 4) of its base in the axes of the control points: what `pose` of a rod is to be
        if it is to lie as they do.
        """

    @property
    @abstractmethod
    def tip(self) -> Array:
        """The pose (4, 4) of its tip in the axes of the control points."""

    @abstractmethod
    def _rates(self, x: Array) -> Array:
        """Strains (S, 6) per unit of the parameter x (S,) in [0, 1]."""

    def _basis(self, x: Array, order: int = 0) -> Array:
        """Basis functions (S, N), or derivatives of them, at parameters x (S,)."""
        from scipy.interpolate import splev

        if not len(x):
            return np.zeros((0, self.count))
        k = self.degree
        knots = np.concatenate([[0.0] * k, self.knots, [1.0] * k])
        return np.stack(splev(x, (knots, list(np.eye(self.count)), k), der=order), axis=-1)

    def _speed(self, x: Array) -> Array:
        return np.asarray(np.linalg.norm(self._rates(x)[:, 3:], axis=1))

    @property
    def knots(self) -> Array:
        """Borders of the spans of its parameter."""
        return np.linspace(0.0, 1.0, self.count - self.degree + 1)

    @cached_property
    def _cells(self) -> tuple[Array, Array]:
        """Borders of the cells, and the arclength at each."""
        x = np.linspace(0.0, 1.0, _CELLS * (len(self.knots) - 1) + 1)
        return x, np.concatenate([[0.0], np.cumsum(self._between(x[:-1], x[1:]))])

    def _between(self, a: Array, b: Array) -> Array:
        """Arclengths (S,) between parameters a and b (S,)."""
        half = 0.5 * (b - a)
        x = (a + half)[:, None] + half[:, None] * _GAUSS[0]
        return half * (self._speed(x.ravel()).reshape(x.shape) @ _GAUSS[1])

    @property
    def length(self) -> float:
        """Arclength of the curve, metres."""
        return float(self._cells[1][-1])

    def _parameters(self, s: Array) -> Array:
        """Parameters (S,) at arclengths s (S,) of the curve."""
        x, lengths = self._cells
        cell = np.clip(np.searchsorted(lengths, s, side="right") - 1, 0, len(x) - 2)
        found = x[cell] + (s - lengths[cell]) / (lengths[cell + 1] - lengths[cell]) * (x[1] - x[0])
        for _ in range(3):
            gap = s - lengths[cell] - self._between(x[cell], found)
            found = np.clip(found + gap / self._speed(found), 0.0, 1.0)
        return np.asarray(found)

    def strain(self, s: ArrayLike, length: float) -> Array:
        """Return the strain at rest (S, 6) at arclengths s (S,) of a rod of some length, metres."""
        ratio = self.length / length
        where = np.asarray(s, dtype=float)
        rates = self._rates(self._parameters(ratio * where.ravel()))
        rates /= np.linalg.norm(rates[:, 3:], axis=1)[:, None]
        rates[:, :3] *= ratio
        rates[np.abs(rates) < _TINY * np.array([max(ratio / self.length, 1.0)] * 3 + [1.0] * 3)] = (
            0.0
        )
        return rates.reshape(*where.shape, 6)

    def breaks(self, length: float) -> Breaks:
        """Return where strains jump on a rod of some length, or bend, metres."""
        inner = self.knots[1:-1]
        x, lengths = self._cells
        places = tuple((np.interp(inner, x, lengths) * length / self.length).tolist())
        return Breaks(places) if self.degree == 2 else Breaks((), places)

    def check_length(self, part: str, field: str, length: float) -> None:
        """Refuse a rod whose length is not that of the curve, metres."""
        own = self.length
        refuse(
            not self.scale and abs(own - length) > _LENGTH * length,
            part,
            field,
            f"a curve {own:.6g} m long",
            f"as long as the rod, {length:.6g} m",
            f"give length={own:.6g}, move the control points, or give scale=True to scale the curve",
        )


@dataclass(frozen=True, eq=False)
class Curve(NaturalShape):
    """A B-spline in space as the natural shape of a rod.

    points : (N, 3) control points in metres; the curve begins at the first and ends at the last.
    degree : 2 to 5.
    through : True if the curve is to pass through all points, instead of being drawn by them.
    scale : True scales the curve to the length of the rod; else both must be the same.

    Only its shape counts: the rod begins at its base along its local z axis, which the smallest
    rotation takes to the first tangent. Sections do not twist about the tangent: frames of minimal
    twist.
    """

    points: tuple[tuple[float, ...], ...] = holds(Points("control points"))
    degree: int = holds(Whole("of the spline", example="3", least=2), 3)
    through: bool = holds(Flag("true: it passes through all points"), False)
    scale: bool = holds(Flag("true: scaled to the length of the rod"), False)

    @property
    def count(self) -> int:
        """How many control points it has."""
        return len(self.points)

    @cached_property
    def _control_points(self) -> Array:
        """Control points (N, 3), also of a curve through points."""
        points, k = np.asarray(self.points), self.degree
        if not self.through:
            return points
        knots = np.concatenate([[0.0] * k, self.knots, [1.0] * k])
        # each point where the weight of its control point is centred
        at = np.array([knots[i + 1 : i + k + 1].mean() for i in range(len(points))])
        return np.asarray(np.linalg.solve(self._basis(at), points))

    def _derivative(self, x: Array, order: int) -> Array:
        """Derivatives (S, 3) of the curve in its parameter x (S,)."""
        return np.asarray(self._basis(x, order) @ self._control_points)

    @property
    def base(self) -> Array:
        """The pose (4, 4) of its base in the axes of the points: z along the first tangent."""
        return _pose(self._frames[0], self._control_points[0])

    @property
    def tip(self) -> Array:
        """The pose (4, 4) of its tip in the axes of the points."""
        return _pose(self._frames[-1], self._control_points[-1])

    def place(self, s: ArrayLike) -> Array:
        """Return points (S, 3) of the curve at arclengths s (S,) of it, metres."""
        return self._derivative(self._parameters(np.asarray(s, dtype=float)), 0)

    def _speed(self, x: Array) -> Array:
        return np.asarray(np.linalg.norm(self._derivative(x, 1), axis=1))

    def _turning(self, x: Array) -> tuple[Array, Array]:
        """Unit tangents (S, 3) and rotation per parameter (S, 3), in the axes of the points."""
        first, second = self._derivative(x, 1), self._derivative(x, 2)
        square = np.sum(first**2, axis=1)[:, None]
        return first / np.sqrt(square), np.cross(first, second) / square

    @cached_property
    def _frames(self) -> Array:
        """Frames (cells + 1, 3, 3) of minimal twist at the borders of the cells."""
        from scipy.spatial.transform import Rotation

        x = self._cells[0]
        tangent = self._turning(x[:1])[0][0]
        axis = np.cross([0.0, 0.0, 1.0], tangent)
        sine, cosine = float(np.linalg.norm(axis)), float(tangent[2])
        axis = axis / sine if sine > 0.0 else np.array([1.0, 0.0, 0.0])
        frames = [Rotation.from_rotvec(np.arctan2(sine, cosine) * axis).as_matrix()]
        for turn in self._turns(x[:-1], x[1:]).as_matrix():
            frames.append(turn @ frames[-1])
        return np.array(frames)

    def _turns(self, a: Array, b: Array) -> Rotation:
        """Rotations of the frames between parameters a and b (S,): Magnus' series to fourth order."""
        from scipy.spatial.transform import Rotation

        h, middle = b - a, 0.5 * (a + b)
        first, second = (
            self._turning(middle + side * h / np.sqrt(12.0))[1] for side in (-1.0, 1.0)
        )
        commuted = np.sqrt(3.0) / 12.0 * (h**2)[:, None] * np.cross(second, first)
        return Rotation.from_rotvec(0.5 * h[:, None] * (first + second) + commuted)

    def _rates(self, x: Array) -> Array:
        borders = self._cells[0]
        cell = np.clip(np.searchsorted(borders, x, side="right") - 1, 0, len(borders) - 2)
        frames = self._turns(borders[cell], x).as_matrix() @ self._frames[cell]
        rates = np.zeros((len(x), 6))
        rates[:, :3] = np.einsum("sji,sj->si", frames, self._turning(x)[1])
        rates[:, 2] = 0.0
        rates[:, 5] = self._speed(x)
        return rates


@dataclass(frozen=True, eq=False)
class PoseSpline(NaturalShape):
    """A cumulative B-spline of poses as the natural shape of a rod (Xun et al. 2025, section 3.4).

    poses : control poses (4x4); the curve begins at the first and ends at the last.
    degree : 2 to 5.
    scale : True scales the curve to the length of the rod; else both must be the same.

    Only its shape counts: the first pose is that of the base. Sections stand as the poses have them, so
    that the rod may be twisted, or sheared where its centreline does not run along their z axes.
    """

    poses: tuple[Array, ...] = holds(Poses("control poses"))
    degree: int = holds(Whole("of the spline", example="3", least=2), 3)
    scale: bool = holds(Flag("true: scaled to the length of the rod"), False)

    @property
    def count(self) -> int:
        """How many control poses it has."""
        return len(self.poses)

    @property
    def base(self) -> Array:
        """The first pose (4, 4)."""
        return self.poses[0].copy()

    @property
    def tip(self) -> Array:
        """The last pose (4, 4)."""
        return self.poses[-1].copy()

    @cached_property
    def _increments(self) -> Array:
        """Twists (N - 1, 6) from each control pose to the next."""
        pairs = zip(self.poses[:-1], self.poses[1:], strict=True)
        return np.array([_log(np.asarray(np.linalg.solve(a, b), dtype=float)) for a, b in pairs])

    def _rates(self, x: Array) -> Array:
        tails, slopes = (
            np.cumsum(self._basis(x, order)[:, ::-1], axis=1)[:, ::-1] for order in (0, 1)
        )
        rates = np.zeros((len(x), 6))
        for i, psi in enumerate(self._increments, start=1):
            R, p = _exp(tails[:, i, None] * psi)
            turn, shift = rates[:, :3].copy(), rates[:, 3:] + np.cross(rates[:, :3], p)
            rates[:, :3] = np.einsum("sji,sj->si", R, turn)
            rates[:, 3:] = np.einsum("sji,sj->si", R, shift)
            rates += slopes[:, i, None] * psi
        return rates


def _pose(R: Array, p: Array) -> Array:
    """The pose (4, 4) of a rotation and a place."""
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = R, p
    return g


def _exp(x: Array) -> tuple[Array, Array]:
    """Rotations (S, 3, 3) and shifts (S, 3) of twists x (S, 6)."""
    from scipy.spatial.transform import Rotation

    turn, shift = x[:, :3], x[:, 3:]
    angle = np.linalg.norm(turn, axis=1)[:, None]
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    a = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    b = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    once = np.cross(turn, shift)
    return Rotation.from_rotvec(turn).as_matrix(), shift + a * once + b * np.cross(turn, once)


def _log(g: Array) -> Array:
    """Twist (6,) of a pose (4, 4)."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(g[:3, :3]).as_rotvec()
    V = np.stack([_exp(np.append(turn, axis)[None])[1][0] for axis in np.eye(3)], axis=1)
    return np.concatenate([turn, np.linalg.solve(V, g[:3, 3])])


@dataclass(frozen=True)
class NaturalKind(Rows):
    """A strain at rest: a vector, a function of s, a Table, a shape, or control points or poses."""

    def check(self, part: str, field: str, value: Any) -> Any:
        if isinstance(value, NaturalShape):
            return value
        array = None if callable(value) else as_array(value)
        if array is None or array.ndim < 2:
            return super().check(part, field, value)
        cls = Curve if array.ndim == 2 else PoseSpline
        try:
            return cls(value, degree=min(3, max(2, len(array) - 1)))
        except DescriptionError as error:
            raise error.within(part, field) from None

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        if isinstance(given, dict) and "table" not in given:
            return reader.value(
                OneOf(families=(NaturalShape,), python="Curve(points)"), path, given
            )
        if isinstance(given, list) and given and isinstance(given[0], list):
            return self.check("", "", given)
        return super().read(reader, path, given)

    def write(self, writer: Writer, value: Any) -> Any:
        if isinstance(value, NaturalShape):
            return OneOf(families=(NaturalShape,)).write(writer, value)
        return super().write(writer, value)

    def schema(self, defs: Schema) -> Schema:
        shape = OneOf(families=(NaturalShape,)).schema(defs)
        return {"anyOf": [*super().schema(defs)["anyOf"], Points().schema(defs), shape]}
