"""Pictures of robots and of their vibration modes in three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

from pliant.model import Array, instance, refuse
from pliant.view.charts import figure_of
from pliant.view.mesh import (
    Detail,
    Mesh,
    add_arrows,
    add_rods,
    check_shapes,
    collection,
    ghost_mesh,
    legend_handles,
    strobe,
)
from pliant.view.scene import (
    Box,
    View,
    box_of,
    choose_view,
    light_from,
    place,
    projected_size,
    set_up_axes,
)
from pliant.view.shapes import Arrow, RodShape
from pliant.view.theme import style

# inches
WIDTH = 6.4
TALLEST, LEAST = 6.0, 3.2
# left, bottom, right, top: space for axis labels
MARGIN = np.array([0.40, 0.62, 0.72, 0.12])
LINE = 0.26


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

    Frames at base and tip are red (x), green (y), blue (z). Axes are in m, or mm for robots
    smaller than 0.2 m. Rods thinner than 0.4 % of the robot's size are drawn that thick.
    """
    check_shapes(shapes, "draw_robot")
    rods = box_of([*shapes, *ghosts])
    front = Mesh()
    behind = [ghost_mesh(ghosts, shapes, rods.size), *strobe(shapes, rods.size)]
    add_rods(front, shapes, -1, rods.size, Detail())
    add_arrows(front, arrows, -1, rods.size)
    box = rods.holding(front.quads).with_margin()
    camera = choose_view(view, [*shapes, *ghosts], arrows)
    handles = legend_handles(shapes, arrows, ghosts)
    with style():
        canvas = axes_in(plt.figure(figsize=(WIDTH, 4.8))) if ax is None else _check_axes(ax)
        set_up_axes(canvas, box, camera)
        fill(canvas, camera, [*behind, front])
        if ax is None:
            compose(canvas, box, title, handles if len(handles) > 1 else [])
        else:
            canvas.set_title(title or "")
            if len(handles) > 1:
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


def compose(
    ax: Axes3D, box: Box, title: str | None, handles: Sequence[Patch | Line2D] = ()
) -> None:
    """Choose the height of the figure, then place axes, title and legend."""
    figure = figure_of(ax)
    columns = min(len(handles), 4) or 1
    below = LINE * (-(-len(handles) // columns))
    above = LINE if title else 0.0
    low, high = projected_size(ax, box.corners)
    wide, tall = high - low
    border = MARGIN[:2] + MARGIN[2:]
    inside = np.clip((WIDTH - border[0]) * tall / wide + border[1], LEAST, TALLEST)
    height = float(inside) + above + below
    figure.set_size_inches(WIDTH, height)
    place(ax, box.corners, np.array([0.0, below, WIDTH, inside]), MARGIN)
    if title:
        figure.text(0.5, 1.0 - 0.10 / height, title, ha="center", va="top", fontsize=11)
    if handles:
        figure.legend(handles=list(handles), loc="lower center", ncols=columns, borderaxespad=0.3)
