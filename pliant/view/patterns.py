"""Flat pictures of shapes and matrices: centre lines in a plane, patterns of nonzero entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError
from pliant.model.checks import choice
from pliant.view.actors import check_shapes
from pliant.view.charts import figure_of, finish, flat_axes
from pliant.view.shapes import RodShape, finite
from pliant.view.theme import FAINT, INK, RODS, length_unit, scaled_ticks, style

_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2), "yx": (1, 0), "zx": (2, 0), "zy": (2, 1)}


def draw_comparison(
    shapes: Mapping[str, RodShape | Sequence[RodShape]],
    references: Mapping[str, ArrayLike] | None = None,
    plane: str = "xz",
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw centre lines over each other in a plane, such as one robot under several loads.

    shapes : by label (a load, a formulation), the rod or rods; a shape over time is drawn at its
        last instant.
    references : by label, points (N, 3) world or (N, 2) in the plane, metres, drawn as circles
        in the colour of the shape with the same label.
    plane : the two world axes, horizontal first: "xz", "xy", "yz", ...
    """
    choice("draw_comparison", "plane", plane, _PLANES)
    groups = {
        name: [one] if isinstance(one, RodShape) else list(one) for name, one in shapes.items()
    }
    check_shapes([shape for group in groups.values() for shape in group], "draw_comparison")
    pick = list(_PLANES[plane])
    colors = dict(zip(groups, _label_colors(len(groups)), strict=True))
    seen: list[Array] = []
    with style():
        canvas = flat_axes(ax, height=4.4)
        for name, group in groups.items():
            for shape in group:
                line = shape.points[-1][:, pick]
                seen.append(line)
                canvas.plot(*line.T, color=colors[name], linewidth=2.2, label=name)
        for name, given in (references or {}).items():
            points = _plane_points(name, given, pick)
            seen.append(points)
            label = None if name in colors else name
            color = colors.get(name, INK)
            canvas.plot(*points.T, "o", mfc="none", markersize=5, color=color, label=label)
        equal_axes(canvas, np.concatenate(seen), plane)
        finish(canvas, canvas.get_xlabel(), canvas.get_ylabel(), title, count=len(groups))
    return figure_of(canvas)


def _label_colors(count: int) -> list[str]:
    """Return colours: the palette for a few labels, a ramp from light to dark for many."""
    if count <= 4:
        return list(RODS[:count])
    ramp = mpl.colormaps["viridis"](np.linspace(0.05, 0.85, count))
    return [to_hex(color) for color in ramp]


def _plane_points(name: str, given: ArrayLike, pick: list[int]) -> Array:
    points = finite("draw_comparison", f"references[{name!r}]", given, "(N, 3) or (N, 2)")
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise DescriptionError(
            "draw_comparison",
            f"references[{name!r}]",
            f"array of shape {points.shape}",
            "of shape (N, 3), or (N, 2) in the plane",
            "give one row for each point",
        )
    return points[:, pick] if points.shape[1] == 3 else points


def equal_axes(ax: Axes, points: Array, plane: str) -> None:
    """Give both axes one scale, some room and a unit of length."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float((high - low).max()), 1e-9)
    short = np.maximum(0.0, 0.25 * size - (high - low)) / 2 + 0.06 * size
    ax.set_xlim(low[0] - short[0], high[0] + short[0])
    ax.set_ylim(low[1] - short[1], high[1] + short[1])
    ax.set_aspect("equal")
    unit, factor = length_unit(size)
    for axis, name in ((ax.xaxis, plane[0]), (ax.yaxis, plane[1])):
        axis.set_major_formatter(scaled_ticks(factor))
        axis.set_label_text(f"{name} / {unit}")


def draw_band(
    patterns: ArrayLike | Sequence[ArrayLike],
    titles: Sequence[str] = (),
    xlabel: str = "coordinate",
    ylabel: str = "row",
) -> Figure:
    """Draw where matrices have entries, side by side, and return the figure.

    patterns : one matrix (rows, columns) or several; what is not zero (or True) is drawn.
    titles : one for each matrix. Below each matrix stands how many entries it has.
    """
    matrices = _matrices(patterns)
    if titles and len(titles) != len(matrices):
        raise DescriptionError(
            "draw_band",
            "titles",
            tuple(titles),
            f"one title for each of the {len(matrices)} matrices",
            "give as many titles as matrices, or none",
        )
    tallest = max(min(matrix.shape[0] / matrix.shape[1], 2.0) for matrix in matrices)
    wide = 3.4 if len(matrices) > 1 else 4.4
    with style():
        figure = plt.figure(
            figsize=(wide * len(matrices), max(0.85 * wide * tallest, 1.0) + 1.2),
            layout="constrained",
        )
        for index, matrix in enumerate(matrices):
            ax = figure.add_subplot(1, len(matrices), index + 1)
            _draw_pattern(ax, matrix, RODS[index % len(RODS)])
            entries = f"{matrix.sum()} of {matrix.size} entries ({matrix.mean():.0%})"
            ax.set_xlabel(f"{xlabel}\n{entries}")
            ax.set_ylabel(ylabel if index == 0 else "")
            if titles:
                ax.set_title(titles[index])
    return figure


def _draw_pattern(ax: Axes, matrix: Array, color: str) -> None:
    """Draw one pattern: cells with thin gaps between them while they are large enough."""
    rows, columns = matrix.shape
    edge = 0.6 if max(rows, columns) <= 80 else 0.0
    ax.pcolormesh(
        np.arange(columns + 1) + 0.5,
        np.arange(rows + 1) + 0.5,
        np.ma.masked_equal(matrix.astype(float), 0.0),
        cmap=ListedColormap([color]),
        edgecolors="white" if edge else "none",
        linewidth=edge,
    )
    ax.set_xlim(0.5, columns + 0.5)
    ax.set_ylim(rows + 0.5, 0.5)
    ax.set_aspect("equal" if max(rows, columns) <= 4 * min(rows, columns) else "auto")
    ax.grid(visible=False)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(FAINT)


def _matrices(patterns: ArrayLike | Sequence[ArrayLike]) -> list[Array]:
    """Return the patterns as a list of boolean matrices."""
    single = isinstance(patterns, np.ndarray) and patterns.ndim == 2
    found = [np.asarray(one) for one in ([patterns] if single else patterns)]  # type: ignore
    for one in found:
        if one.ndim != 2 or one.size == 0 or one.dtype.kind not in "biuf":
            raise DescriptionError(
                "draw_band",
                "patterns",
                f"array of shape {one.shape} and type {one.dtype}",
                "a matrix of numbers or booleans, or a list of them",
                "give arrays of shape (rows, columns)",
            )
    if not found:
        raise DescriptionError("draw_band", "patterns", [], "one matrix or more", "give an array")
    return [one != 0 for one in found]
