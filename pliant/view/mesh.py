"""Rods and arrows as plain arrays in world coordinates, and their meshes of quadrilaterals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.colors import is_color_like, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
from numpy.typing import ArrayLike

from pliant.model import Array, choice, finite_array, refuse
from pliant.view.theme import AXES, FORCE, MOMENT, lighten, rod_color


@dataclass(eq=False)
class RodShape:
    """The shape of one rod at one time, or over time.

    name : shown in the legend.
    poses : (S, 4, 4) world poses of the sections from base to tip, or (T, S, 4, 4) over time;
        positions in metres.
    half_widths : (S, 2) half widths of the sections along their local x and y, metres; (2,) or a
        number for a uniform rod.
    color : any matplotlib colour, or None for the next one of the palette.
    axes : True draws the axes of the sections at both ends, named in the legend.
    inside : True draws it over what hides it.
    faces : (N, 4, 3) quadrilaterals of a solid in the frame of its first section, metres, instead of
        the tube around the sections.
    """

    name: str
    poses: Array
    half_widths: Array
    color: str | None = None
    axes: bool = False
    inside: bool = False
    faces: Array | None = None

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
        refuse(
            widths.shape not in ((), (2,), (count, 2)) or (widths < 0).any(),
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

    def solid(self, index: int) -> Array:
        """Faces (N, 4, 3) of a solid in the world at this index in time."""
        assert self.faces is not None
        g = self.frames[index, 0]
        return np.asarray(self.faces @ g[:3, :3].T + g[:3, 3])

    @property
    def extent(self) -> Array:
        """Points (N, 3) between which it lies, up to its widths, world, metres."""
        if self.faces is None:
            return self.points.reshape(-1, 3)
        ends = {0, len(self.frames) // 2, len(self.frames) - 1}
        return np.concatenate([self.solid(k).reshape(-1, 3) for k in sorted(ends)])

    @property
    def points(self) -> Array:
        """Centre line over time, (T, S, 3), world, metres."""
        return np.asarray(self.frames[..., :3, 3])


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


class Mesh:
    """Coloured quadrilaterals of several surfaces.

    Everything drawn together is one mesh, because matplotlib sorts by depth only within one
    collection.
    """

    def __init__(self) -> None:
        self._quads: list[Array] = []
        self._colors: list[Array] = []

    def add(self, quads: Array, color: str) -> None:
        """Add quadrilaterals (N, 4, 3), outward side counter-clockwise, in one colour."""
        self._quads.append(quads)
        self._colors.append(np.broadcast_to(to_rgb(color), (len(quads), 3)))

    @property
    def quads(self) -> Array:
        """Corners, (N, 4, 3), metres."""
        return np.concatenate(self._quads) if self._quads else np.zeros((0, 4, 3))

    def shaded(self, light: Array) -> Array:
        """Return the colours (N, 3) under light that comes from direction ``light`` (3,)."""
        if not self._quads:
            return np.zeros((0, 3))
        quads = self.quads
        normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = normals / np.where(length > 0, length, 1.0)
        towards = normals @ light
        diffuse = 0.78 + 0.26 * np.clip(towards, -0.5, 1.0)
        shine = 0.22 * np.clip(towards, 0.0, 1.0) ** 14
        matt: Array = np.concatenate(self._colors) * diffuse[:, None]
        return np.clip(matt + (1.0 - matt) * shine[:, None], 0.0, 1.0)


def sweep(poses: Array, half_widths: Array, around: int = 24) -> Array:
    """Return the closed tube (N, 4, 3) of ellipses (S, 2) swept along poses (S, 4, 4)."""
    angle = np.linspace(0.0, 2 * np.pi, around + 1)
    outline = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    local = half_widths[:, None, :] * outline
    rings = poses[:, None, :3, 3] + np.einsum("sij,saj->sai", poses[:, :3, :2], local)
    side = np.stack([rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1]], axis=2)
    return np.concatenate(
        [side.reshape(-1, 4, 3), _cap(rings[0][::-1]), _cap(rings[-1])],
    )


def _cap(ring: Array) -> Array:
    """Return a fan over a closed ring (around + 1, 3); each quadrilateral is a triangle.

    The centre is the doubled corner, split so that the diagonals still give the normal.
    """
    centre = np.broadcast_to(ring[:-1].mean(axis=0), ring[:-1].shape)
    return np.stack([centre, ring[:-1], ring[1:], centre], axis=1)


def thin(poses: Array, half_widths: Array, most: int) -> tuple[Array, Array]:
    """Return at most ``most`` of the sections, including the first and the last."""
    count = len(poses)
    if count <= most:
        return poses, half_widths
    keep = np.unique(np.linspace(0, count - 1, most).round().astype(int))
    return poses[keep], half_widths[keep]


def turns(poses: Array) -> float:
    """Return how many full turns the tangent makes along poses (S, 4, 4)."""
    tangents = poses[:, :3, 2]
    cosines = np.einsum("si,si->s", tangents[1:], tangents[:-1])
    return float(np.arccos(np.clip(cosines, -1.0, 1.0)).sum()) / (2 * np.pi)


def force_arrow(origin: Array, vector: Array, length: float, thickness: float) -> Array:
    """Return a straight arrow that starts at ``origin`` and points along ``vector``."""
    head = min(0.45 * length, 5.5 * thickness)
    along = np.array([0.0, length - head, length - head, length])
    frame = frame_along(vector)
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, :3, :3] = frame
    poses[:, :3, 3] = origin + along[:, None] * frame[:, 2]
    return sweep(poses, _profile(thickness, 4), around=14)


def moment_arrow(origin: Array, vector: Array, radius: float, thickness: float) -> Array:
    """Return an arrow that turns three quarters of a circle about ``vector``, right-handed."""
    frame = frame_along(vector)
    head = min(0.9, 6.0 * thickness / radius)
    shaft = np.linspace(0.0, 1.5 * np.pi - head, 22)
    # the head is straight along the tangent where the shaft ends: it looks crooked otherwise
    angle = np.concatenate([shaft, shaft[-1:], shaft[-1:]])
    ahead = np.zeros(len(angle))
    ahead[-1] = head * radius
    outward = np.cos(angle)[:, None] * frame[:, 0] + np.sin(angle)[:, None] * frame[:, 1]
    tangent = -np.sin(angle)[:, None] * frame[:, 0] + np.cos(angle)[:, None] * frame[:, 1]
    poses = np.tile(np.eye(4), (len(angle), 1, 1))
    poses[:, :3, 0] = outward
    poses[:, :3, 1] = np.cross(tangent, outward)
    poses[:, :3, 2] = tangent
    poses[:, :3, 3] = origin + radius * outward + ahead[:, None] * tangent
    return sweep(poses, _profile(thickness, len(angle)), around=12)


def _profile(thickness: float, count: int) -> Array:
    """Return half widths (count, 2): a shaft, then a cone on the last two stations."""
    radii = np.full(count, thickness)
    radii[-2:] = 2.4 * thickness, 0.0
    return np.stack([radii, radii], axis=1)


def frame_along(vector: Array) -> Array:
    """Return a rotation (3, 3) whose third column points along ``vector`` (3,), not zero."""
    third = vector / np.linalg.norm(vector)
    first = np.cross(np.eye(3)[np.argmin(np.abs(third))], third)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(third, first), third], axis=1)


# fractions of the size of the robot
_LEAST_WIDTH = 0.004
_PER_TURN = 32
"""Fewest sections drawn along a full turn of a coil."""
_FRAME_LENGTH = 0.075
# by kind: the mesh of an arrow, its length or radius and its thickness as fractions, its colour
_ARROWS = {
    "force": (force_arrow, 0.26, 0.0065, FORCE),
    "moment": (moment_arrow, 0.10, 0.0055, MOMENT),
}
# an arrow is never shorter than this fraction of the longest one of its kind
_LEAST_ARROW = 0.35


@dataclass(frozen=True)
class Detail:
    """Resolution of tubes: largest number of sections along a rod, and corners around it."""

    along: int = 80
    around: int = 24


def check_shapes(shapes: Sequence[RodShape], what: str) -> None:
    """Raise an error unless there is a rod to draw."""
    refuse(
        not shapes,
        what,
        "shapes",
        [],
        "a list with one rod or more",
        "give RodShape(name, poses, widths)",
    )


def colors_of(shapes: Sequence[RodShape]) -> list[str]:
    """Return the colour of each shape: its own, or one of the palette for each name."""
    names = list(dict.fromkeys(shape.name for shape in shapes))
    return [shape.color or rod_color(names.index(shape.name)) for shape in shapes]


def tube(shape: RodShape, index: int, size: float, detail: Detail) -> Array:
    """Return the surface (N, 4, 3) of a rod at this index in time.

    The half width is at least 0.4 % of ``size`` (metres), so that very slender rods are visible.
    """
    if shape.faces is not None:
        return shape.solid(index)
    along = max(detail.along, round(_PER_TURN * turns(shape.frames[index])))
    poses, widths = thin(shape.frames[index], shape.half_widths, along)
    return sweep(poses, np.maximum(widths, _LEAST_WIDTH * size), detail.around)


def add_rods(
    mesh: Mesh,
    shapes: Sequence[RodShape],
    index: int,
    size: float,
    detail: Detail,
    inside: bool = False,
) -> None:
    """Add all rods at this index in time, with the frames at their base and tip.

    inside : True for the shapes inside of others, which are drawn over them; False for the rest.
    """
    for shape, color in zip(shapes, colors_of(shapes), strict=True):
        if shape.inside is not inside:
            continue
        mesh.add(tube(shape, index, size, detail), color)
        if not shape.axes:
            continue
        poses = shape.frames[index]
        # z at the base lies inside the rod
        for end, axes in ((0, (0, 1)), (-1, (0, 1, 2))):
            for axis in axes:
                # x and y start inside the rod
                within = 0.0 if axis == 2 else float(shape.half_widths[end].max())
                origin, direction = poses[end][:3, 3], poses[end][:3, axis]
                length = _FRAME_LENGTH * size + within
                mesh.add(force_arrow(origin, direction, length, 0.003 * size), AXES[axis])


def strobe(shapes: Sequence[RodShape], size: float, count: int = 5) -> list[Mesh]:
    """Return earlier shapes of a motion, one mesh each, the earliest the lightest."""
    last = max(len(shape.frames) for shape in shapes) - 1
    count = min(count, last)
    meshes = []
    for part in range(count):
        mesh = Mesh()
        for shape, color in zip(shapes, colors_of(shapes), strict=True):
            index = round((len(shape.frames) - 1) * part / count)
            light = lighten(color, 0.80 - 0.30 * part / count)
            mesh.add(tube(shape, index, size, Detail(60, 16)), light)
        meshes.append(mesh)
    return meshes


def ghost_mesh(ghosts: Sequence[RodShape], shapes: Sequence[RodShape], size: float) -> Mesh:
    """Return lighter shapes, in the colour of the rod with the same name if there is one."""
    mesh = Mesh()
    known = dict(zip((shape.name for shape in shapes), colors_of(shapes), strict=True))
    for index, ghost in enumerate(ghosts):
        color = ghost.color or known.get(ghost.name) or rod_color(index)
        mesh.add(tube(ghost, -1, size, Detail(60, 20)), lighten(color, 0.72))
    return mesh


def add_arrows(mesh: Mesh, arrows: Sequence[Arrow], index: int, size: float) -> None:
    """Add arrows at this index in time; the longest of each kind is a fixed fraction of ``size``."""
    for arrow in arrows:
        largest = max(other.size for other in arrows if other.kind == arrow.kind)
        origin, vector = arrow.at(index)
        strength = float(np.linalg.norm(vector))
        # a load that is zero up to rounding has no arrow
        if strength <= 1e-9 * largest or largest == 0.0:
            continue
        scale = max(strength / largest, _LEAST_ARROW)
        make, length, thickness, color = _ARROWS[arrow.kind]
        mesh.add(make(origin, vector, length * size * scale, thickness * size), color)


def collection(mesh: Mesh, light: Array, zorder: float) -> Poly3DCollection:
    """Return the mesh, shaded, as one matplotlib artist sorted by depth."""
    artist = Poly3DCollection(mesh.quads, zorder=zorder, linewidths=0.25, clip_on=False)
    paint(artist, mesh, light)
    return artist


def paint(artist: Poly3DCollection, mesh: Mesh, light: Array) -> None:
    """Colour the faces; edges have the colour of their face, to close the seams between them."""
    colors = mesh.shaded(light)
    artist.set_facecolor(colors)
    artist.set_edgecolor(colors)


def legend_handles(
    shapes: Sequence[RodShape], arrows: Sequence[Arrow], ghosts: Sequence[RodShape]
) -> list[Patch | Line2D]:
    """Return legend entries: rods, the undeformed shape, arrows with their largest value, axes.

    A single entry needs no legend: the list is empty then.
    """
    named = {shape.name: color for shape, color in zip(shapes, colors_of(shapes), strict=True)}
    handles: list[Patch | Line2D] = [
        Patch(color=color, label=name) for name, color in named.items()
    ]
    if ghosts:
        light = lighten(colors_of(ghosts)[0], 0.72)
        handles.append(Patch(color=light, label="undeformed"))
    names = [arrow.name for arrow in arrows]
    for place, arrow in enumerate(arrows):
        if arrow.size == 0.0 or arrow.name in names[:place]:
            continue
        size = max(other.size for other in arrows if other.name == arrow.name)
        value = f"{size:.3g} {arrow.unit}"
        if names.count(arrow.name) > 1 or len(arrow.vector.shape) == 2:
            value = f"up to {value}"
        label, color = f"{arrow.name or arrow.kind}: {value}", _ARROWS[arrow.kind][-1]
        handles.append(Line2D([], [], color=color, marker=">", label=label, linewidth=1.5))
    if any(shape.axes for shape in shapes):
        for name, color in zip("xyz", AXES, strict=True):
            handles.append(Line2D([], [], color=color, marker=">", label=f"{name} of the section"))
    return handles if len(handles) > 1 else []
