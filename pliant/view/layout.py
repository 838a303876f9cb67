"""Layout of three-dimensional pictures: labels, title and legend do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.proj3d import proj_transform  # type: ignore[import-untyped]

from pliant.model import Array
from pliant.view.charts import figure_of

# inches
WIDTH = 6.4
TALLEST, LEAST = 6.0, 3.2
# left, bottom, right, top: space for the labels of the axes, before they are measured
MARGIN = np.array([0.40, 0.62, 0.72, 0.12])
BORDER = 0.08
LINE = 0.26


def axes_of(ax: Axes3D) -> tuple[Any, Any, Any]:
    """Return the x, y and z axis."""
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


def part_labels(ax: Axes3D, cell: Array) -> Array:
    """Move labels of axes away from their numbers, and return how far both reach over a cell.

    cell : (left, bottom, width, height) in inches. The reach is that over its left, bottom, right and
    top, inches, zero or more.
    """
    figure = figure_of(ax)
    hidden = [artist for artist in ax.collections if artist.get_visible()]
    for artist in hidden:
        artist.set_visible(False)
    figure.draw_without_rendering()
    for artist in hidden:
        artist.set_visible(True)
    boxes = []
    ticks = [tick.label1 for axis in axes_of(ax) for tick in _drawn_ticks(axis)]
    numbers = [text.get_window_extent() for text in ticks if text.get_text()]
    for axis in axes_of(ax):
        if axis.label.get_text():
            label = axis.label.get_window_extent()
            axis.labelpad += 6.0 * (label.count_overlaps(numbers) > 0)
            boxes.append(label)
    if not boxes + numbers:
        return np.zeros(4)
    extents = np.array([box.extents for box in boxes + numbers]) / figure.dpi
    low, high = extents.min(axis=0)[:2], extents.max(axis=0)[2:]
    return np.maximum(np.append(cell[:2] - low, high - cell[:2] - cell[2:]) + BORDER, 0.0)


def _drawn_ticks(axis: Any) -> list[Any]:
    """The ticks within the limits, where they were drawn (``get_ticklabels`` would move them)."""
    low, high = sorted(axis.get_view_interval())
    ticks = axis.majorTicks[: len(axis.get_majorticklocs())]
    return [tick for tick in ticks if low <= tick.get_loc() <= high]


def legend_below(figure: Figure, handles: Sequence[Patch | Line2D]) -> float:
    """Put a legend at the foot of the figure, in the columns that fit; return its height, inches."""
    for columns in range(min(len(handles), 4), 0, -1):
        legend = figure.legend(
            handles=list(handles), loc="lower center", ncols=columns, borderaxespad=0.3
        )
        size = np.array(legend.get_window_extent().size) / figure.dpi
        if size[0] <= WIDTH or columns == 1:
            break
        legend.remove()
    return float(size[1])


def compose(
    ax: Axes3D, corners: Array, title: str | None, handles: Sequence[Patch | Line2D] = ()
) -> None:
    """Choose the height of the figure, then place axes, title and legend.

    corners : (N, 3) world points that must be seen, metres.
    """
    figure = figure_of(ax)
    below = legend_below(figure, handles) if handles else 0.0
    above = LINE if title else 0.0
    low, high = projected_size(ax, corners)
    wide, tall = high - low
    margin = MARGIN
    for _ in range(4):  # the labels, once drawn, tell the margin they need
        border = margin[:2] + margin[2:]
        inside = np.clip((WIDTH - border[0]) * tall / wide + border[1], LEAST, TALLEST)
        height = float(inside) + above + below
        figure.set_size_inches(WIDTH, height)
        cell = np.array([0.0, below, WIDTH, inside])
        place(ax, corners, cell, margin)
        margin = margin + part_labels(ax, cell)
    place(ax, corners, cell, margin)
    if title:
        figure.text(0.5, 1.0 - 0.10 / height, title, ha="center", va="top", fontsize=11)
