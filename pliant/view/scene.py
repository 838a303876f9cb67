"""Axes of a three-dimensional picture: limits, camera, labels and light."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.proj3d import proj_transform  # type: ignore[import-untyped]

from pliant.model import Array, refuse
from pliant.view.shapes import Arrow, RodShape
from pliant.view.theme import GRID, PANE, length_unit, scaled_ticks

View = tuple[float, float] | str | None

# (elevation, azimuth) in degrees
_VIEWS = {"iso": (24.0, -58.0), "front": (0.0, -90.0), "side": (0.0, 0.0), "top": (90.0, -90.0)}


@dataclass(frozen=True)
class Box:
    """Axis-aligned box in the world, metres."""

    low: Array
    high: Array

    @property
    def size(self) -> float:
        """Longest side, metres; never zero."""
        return max(float((self.high - self.low).max()), 1e-9)

    @property
    def corners(self) -> Array:
        """The eight corners, (8, 3)."""
        pick = np.array(list(np.ndindex(2, 2, 2)))
        corners: Array = np.where(pick == 0, self.low, self.high)
        return corners

    @classmethod
    def around(cls, points: Array) -> Box:
        """Return the box of the points (..., 3)."""
        flat = points.reshape(-1, 3)
        return cls(flat.min(axis=0), flat.max(axis=0))

    def holding(self, points: Array) -> Box:
        """Return this box, enlarged to contain the points (..., 3)."""
        other = Box.around(points)
        return Box(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def with_margin(self) -> Box:
        """Return this box with a margin and without very short sides."""
        sides = np.maximum(self.high - self.low, 0.32 * self.size) + 0.06 * self.size
        middle = 0.5 * (self.low + self.high)
        return Box(middle - 0.5 * sides, middle + 0.5 * sides)


def box_of(shapes: Iterable[RodShape]) -> Box:
    """Return the box that contains the shapes at all times, with the width of their sections."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in shapes:
        points, width = shape.points.reshape(-1, 3), float(shape.half_widths.max())
        low = np.minimum(low, points.min(axis=0) - width)
        high = np.maximum(high, points.max(axis=0) + width)
    return Box(low, high)


def choose_view(view: View, shapes: Iterable[RodShape], arrows: Iterable[Arrow] = ()) -> Array:
    """Return (elevation, azimuth) in degrees.

    view : such a pair, or "iso", "front" (x to the right, z up), "side" (y to the right, z up),
    "top" (x to the right, y up), or None: a planar robot is then seen nearly at a right angle to its
    plane.
    """
    if isinstance(view, str) and view in _VIEWS:
        return np.array(_VIEWS[view])
    if view is not None:
        pair = np.asarray(view) if not isinstance(view, str) else np.zeros(0)
        refuse(
            pair.shape != (2,) or pair.dtype.kind not in "iuf" or not np.isfinite(pair).all(),
            "picture",
            "view",
            view,
            "(elevation, azimuth) in degrees, or one of 'iso', 'front', 'side', 'top'",
            "give e.g. (20, -60), or None for an automatic choice",
        )
        return pair.astype(float)
    normal = _plane_normal(shapes, arrows)
    return np.array(_VIEWS["iso"]) if normal is None else _view_along(normal)


def _plane_normal(shapes: Iterable[RodShape], arrows: Iterable[Arrow]) -> Array | None:
    """Return the unit normal (3,) of the plane all centre lines and forces lie in, or None."""
    points = np.concatenate([shape.points.reshape(-1, 3) for shape in shapes])
    points = points[:: max(1, len(points) // 2000)]
    rows = [points - points.mean(axis=0)]
    reach = float(np.abs(rows[0]).max())
    for arrow in arrows:
        if arrow.kind == "force" and arrow.size > 0:
            rows.append(np.atleast_2d(arrow.vector)[::10] / arrow.size * reach)
    _, spread, axes = np.linalg.svd(np.concatenate(rows), full_matrices=False)
    first, second, third = (*spread, 0.0, 0.0)[:3]
    if second <= 1e-3 * first:
        # straight: of all planes through the rod take the vertical one
        normal = np.cross(axes[0], (0.0, 0.0, 1.0))
        length = float(np.linalg.norm(normal))
        return normal / length if length > 0.1 else None
    return np.cross(axes[0], axes[1]) if third <= 0.05 * second else None


def _view_along(normal: Array) -> Array:
    """Return a view nearly along ``normal``, turned a little to show depth."""
    front = np.array([0.35, -0.9, 0.45])
    x, y, z = normal if normal @ front > 0 else -normal
    elevation = float(np.degrees(np.arcsin(np.clip(z, -1.0, 1.0))))
    if elevation > 75.0:
        return np.array([62.0, -78.0])
    azimuth = float(np.degrees(np.arctan2(y, x)))
    return np.array([np.clip(elevation, 14.0, 60.0), azimuth + 17.0])


def light_from(view: Array) -> Array:
    """Return the direction (3,) towards the light: over the left shoulder of the camera."""
    up, turn = np.radians(view)
    back = np.array([np.cos(up) * np.cos(turn), np.cos(up) * np.sin(turn), np.sin(up)])
    right = np.array([-np.sin(turn), np.cos(turn), 0.0])
    light = 0.75 * back + 0.60 * np.cross(back, right) - 0.35 * right
    return light / np.linalg.norm(light)


def set_up_axes(ax: Axes3D, box: Box, view: Array, bare: bool = False) -> None:
    """Set limits, equal aspect, camera and the look of the axes; bare axes are invisible."""
    sides = box.high - box.low
    ax.set(**{f"{name}lim": limits for name, *limits in zip("xyz", box.low, box.high, strict=True)})
    ax.set_box_aspect(sides / sides.max())
    ax.set_proj_type("persp", focal_length=1.6)
    ax.view_init(elev=view[0], azim=view[1])
    # draw ghosts, robot and labels by zorder, not by mean depth
    ax.computed_zorder = False
    if bare:
        ax.set_axis_off()
        return
    unit, factor = length_unit(float(sides.max()))
    for axis, side in zip(_axes_of(ax), sides, strict=True):
        axis.set_major_locator(MaxNLocator(max(2, round(6 * side / sides.max())), steps=[1, 2, 5]))
        axis.set_major_formatter(scaled_ticks(factor))
        axis.set_pane_color(PANE)
        axis.line.set_color(GRID)
        axis._axinfo["grid"].update(color=GRID, linewidth=0.6)
        axis._axinfo["tick"].update(inward_factor=0.0, outward_factor=0.0)
        axis.set_tick_params(pad=0)
    hidden = _towards_camera(ax, view)
    ax.set(**{f"{name}label": "" if name == hidden else f"{name} / {unit}" for name in "xyz"})


def _towards_camera(ax: Axes3D, view: Array) -> str:
    """Return the axis that points at the camera, whose labels would overlap, or ""."""
    up, turn = np.radians(view)
    back = np.abs([np.cos(up) * np.cos(turn), np.cos(up) * np.sin(turn), np.sin(up)])
    if back.max() < 0.99:
        return ""
    index = int(back.argmax())
    _axes_of(ax)[index].set_ticklabels([])
    return "xyz"[index]


def _axes_of(ax: Axes3D) -> tuple[Any, Any, Any]:
    return ax.xaxis, ax.yaxis, ax.zaxis


def projected_size(ax: Axes3D, points: Array) -> tuple[Array, Array]:
    """Return the projected limits low and high (2,) of points (N, 3), in fractions of the axes."""
    plane = np.array(proj_transform(*points.T, ax.get_proj())[:2], dtype=float)
    start = np.array([ax.viewLim.x0, ax.viewLim.y0])
    extent = np.array([ax.viewLim.width, ax.viewLim.height])
    return (plane.min(axis=1) - start) / extent, (plane.max(axis=1) - start) / extent


def place(ax: Axes3D, points: Array, cell: Array, margin: Array) -> None:
    """Fit the points (N, 3) into a cell (left, bottom, width, height) of the figure, in inches.

    margin : (left, bottom, right, top) in inches.

    Matplotlib leaves wide borders around three-dimensional axes. Here the axes become a square,
    often larger than the figure, such that the points fit the cell up to the margin.
    """
    figure = ax.figure
    assert isinstance(figure, Figure)
    low, high = projected_size(ax, points)
    start, end = cell[:2] + margin[:2], cell[:2] + cell[2:] - margin[2:]
    side = float(((end - start) / np.maximum(high - low, 1e-9)).min())
    corner = 0.5 * (start + end) - 0.5 * (low + high) * side
    inches = figure.get_size_inches()
    ax.set_position((*(corner / inches), *(side / inches)))
