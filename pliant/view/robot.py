"""Pictures of robots and of their vibration modes in three dimensions: shapes, axes, camera, light."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

from pliant.model import Array, finite_array, instance, refuse
from pliant.view.charts import figure_of
from pliant.view.layout import LINE, WIDTH, axes_of, compose, place
from pliant.view.mesh import (
    Arrow,
    Detail,
    Mesh,
    RodShape,
    add_arrows,
    add_rods,
    check_shapes,
    collection,
    ghost_mesh,
    legend_handles,
    strobe,
)
from pliant.view.theme import GRID, PANE, length_unit, scaled_ticks, style

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
        return np.array(list(product(*zip(self.low, self.high, strict=True))))

    @classmethod
    def around(cls, points: Array) -> Box:
        """Return the box of the points (..., 3)."""
        flat = points.reshape(-1, 3)
        return cls(flat.min(axis=0), flat.max(axis=0))

    def holding(self, points: Array) -> Box:
        """Return this box, enlarged to contain the points (..., 3)."""
        return Box.around(np.vstack([self.low, self.high, points.reshape(-1, 3)]))

    def with_margin(self) -> Box:
        """Return this box with a margin and without very short sides."""
        sides = np.maximum(self.high - self.low, 0.32 * self.size) + 0.06 * self.size
        middle = 0.5 * (self.low + self.high)
        return Box(middle - 0.5 * sides, middle + 0.5 * sides)


def box_of(shapes: Iterable[RodShape]) -> Box:
    """Return the box that contains the shapes at all times, with the width of their sections."""
    points = [
        shape.extent + sign * shape.half_widths.max() for shape in shapes for sign in (-1.0, 1.0)
    ]
    return Box.around(np.concatenate(points))


def choose_view(view: View, shapes: Iterable[RodShape], arrows: Iterable[Arrow] = ()) -> Array:
    """Return (elevation, azimuth) in degrees.

    view : such a pair, or "iso", "front" (x to the right, z up), "side" (y to the right, z up),
    "top" (x to the right, y up), or None: a planar robot is then seen nearly at a right angle to its
    plane.
    """
    if isinstance(view, str) and view in _VIEWS:
        return np.array(_VIEWS[view])
    if view is not None:
        return finite_array(
            "picture",
            "view",
            view,
            "(elevation, azimuth) in degrees, or one of 'iso', 'front', 'side', 'top'",
            "give e.g. (20, -60), or None for an automatic choice",
            lambda pair: pair.shape == (2,),
        )
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


def _towards(view: Array) -> Array:
    """Return the unit vector (3,) from the robot to the camera at (elevation, azimuth) in degrees."""
    up, turn = np.radians(view)
    return np.array([np.cos(up) * np.cos(turn), np.cos(up) * np.sin(turn), np.sin(up)])


def light_from(view: Array) -> Array:
    """Return the direction (3,) towards the light: over the left shoulder of the camera."""
    turn = np.radians(view[1])
    back = _towards(view)
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
    seen = sides * np.sqrt(1.0 - _towards(view) ** 2) / sides.max()
    for axis, length in zip(axes_of(ax), seen, strict=True):
        count = max(2, round(7 * length)) if length > 0.2 else 1
        axis.set_major_locator(MaxNLocator(count, steps=[1, 2, 5], min_n_ticks=min(count, 2)))
        axis.set_major_formatter(scaled_ticks(factor))
        axis.set_pane_color(PANE)
        axis.line.set_color(GRID)
        axis._axinfo["grid"].update(color=GRID, linewidth=0.6)
        axis._axinfo["tick"].update(inward_factor=0.0, outward_factor=0.0)
        axis.set_tick_params(pad=0)
        axis.labelpad = 7.0  # of a flat robot seen from the front, labels lie close to the numbers
    hidden = _towards_camera(ax, view)
    ax.set(**{f"{name}label": "" if name == hidden else f"{name} / {unit}" for name in "xyz"})


def _towards_camera(ax: Axes3D, view: Array) -> str:
    """Return the axis that points at the camera, whose labels would overlap, or ""."""
    back = np.abs(_towards(view))
    if back.max() < 0.99:
        return ""
    index = int(back.argmax())
    axes_of(ax)[index].set_ticklabels([])
    return "xyz"[index]


def draw_robot(
    shapes: Sequence[RodShape],
    arrows: Sequence[Arrow] = (),
    ghosts: Sequence[RodShape] = (),
    ax: Axes3D | None = None,
    title: str | None = None,
    view: View = None,
) -> Figure:
    """Draw rods as shaded tubes and return the figure.

    Parameters
    ----------
    shapes : the rods. A shape over time is drawn at its last time, with a few earlier ones
        lighter behind it.
    arrows : forces and moments. Lengths compare magnitudes within one kind.
    ghosts : shapes drawn lighter and behind all else, such as the undeformed robot.
    ax : three-dimensional axes to draw into; None makes a new figure (with pyplot, so that it
        appears in notebooks and in the gallery).
    view : (elevation, azimuth) in degrees, or "iso", "front", "side", "top"; None chooses: a
        planar robot is seen nearly at a right angle to its plane.

    Axes are in m, or mm for robots
    smaller than 0.2 m. Rods thinner than 0.4 % of the robot's size are drawn that thick.
    """
    check_shapes(shapes, "draw_robot")
    rods = box_of([*shapes, *ghosts])
    front = Mesh()
    behind = [ghost_mesh(ghosts, shapes, rods.size), *strobe(shapes, rods.size)]
    add_rods(front, shapes, -1, rods.size, Detail())
    add_arrows(front, arrows, -1, rods.size)
    over = Mesh()
    add_rods(over, shapes, -1, rods.size, Detail(), inside=True)
    box = rods.holding(front.quads).with_margin()
    camera = choose_view(view, [*shapes, *ghosts], arrows)
    handles = legend_handles(shapes, arrows, ghosts)
    with style():
        canvas = axes_in(plt.figure(figsize=(WIDTH, 4.8))) if ax is None else _check_axes(ax)
        set_up_axes(canvas, box, camera)
        fill(canvas, camera, [*behind, front, over])
        if ax is None:
            compose(canvas, box.corners, title, handles)
        else:
            canvas.set_title(title or "")
            if handles:
                canvas.legend(handles=handles, loc="upper left")
    return figure_of(canvas)


def draw_modes(
    shapes_per_mode: Sequence[Sequence[RodShape]],
    frequencies: Sequence[float] | Array,
    ghosts: Sequence[RodShape] = (),
    title: str | None = None,
    view: View = None,
) -> Figure:
    """Draw vibration modes in a grid of panels and return the figure.

    shapes_per_mode : for each mode, the rods displaced along the mode. A shape over time is drawn
        at its last time, earlier ones lighter.
    frequencies : (modes,) in Hz, written above each panel.
    ghosts : the equilibrium shape, drawn lighter in each panel.
    """
    refuse(
        len(shapes_per_mode) != len(frequencies),
        "draw_modes",
        "frequencies",
        f"{len(frequencies)} values",
        f"one value for each of the {len(shapes_per_mode)} modes",
        "give as many frequencies as modes",
    )
    everything = [shape for shapes in shapes_per_mode for shape in shapes]
    check_shapes(everything, "draw_modes")
    everything.extend(ghosts)
    points = np.concatenate([shape.points.reshape(-1, 3) for shape in everything])
    camera = choose_view(view, everything)
    columns = min(3, len(shapes_per_mode))
    rows = -(-len(shapes_per_mode) // columns)
    with style():
        figure = plt.figure(figsize=(2.5 * columns, 2.3 * rows + (LINE if title else 0.0)))
        for index, (shapes, frequency) in enumerate(zip(shapes_per_mode, frequencies, strict=True)):
            ax = axes_in(figure)
            row, column = divmod(index, columns)
            cell = np.array([2.5 * column, 2.3 * (rows - 1 - row), 2.5, 2.3 - LINE])
            _fill_panel(ax, shapes, ghosts, points, camera, cell)
            centre = cell[:2] + cell[2:] * (0.5, 1.0)
            left, top = centre / figure.get_size_inches()
            label = f"mode {index + 1}: {frequency:.3g} Hz"
            figure.text(left, top, label, ha="center", va="bottom")
        if title:
            figure.suptitle(title, y=1.0 - 0.08 / figure.get_size_inches()[1], fontsize=11)
    return figure


def _fill_panel(
    ax: Axes3D,
    shapes: Sequence[RodShape],
    ghosts: Sequence[RodShape],
    points: Array,
    camera: Array,
    cell: Array,
) -> None:
    """Draw one mode into a cell of the figure (left, bottom, width, height in inches).

    points : (..., 3) points of all panels, which share one scale.
    """
    box = Box.around(points)
    front = Mesh()
    behind = [ghost_mesh(ghosts, shapes, box.size), *strobe(shapes, box.size, count=2)]
    add_rods(front, shapes, -1, box.size, Detail(50, 16))
    set_up_axes(ax, box.with_margin(), camera, bare=True)
    fill(ax, camera, [*behind, front])
    place(ax, points, cell, np.full(4, 0.15))


def axes_in(figure: Figure) -> Axes3D:
    """Return new three-dimensional axes in the figure."""
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d")
    assert isinstance(ax, Axes3D)
    ax.patch.set_visible(False)
    return ax


def _check_axes(ax: object) -> Axes3D:
    return instance(
        "draw_robot",
        "ax",
        ax,
        Axes3D,
        "three-dimensional axes",
        "make them with figure.add_subplot(projection='3d'), or leave ax out",
    )


def fill(ax: Axes3D, camera: Array, meshes: Sequence[Mesh]) -> None:
    """Draw the meshes from back to front, lit for this camera (elevation, azimuth)."""
    light = light_from(camera)
    for order, mesh in enumerate(meshes):
        if len(mesh.quads):
            ax.add_collection3d(collection(mesh, light, 2.0 + 0.01 * order))
