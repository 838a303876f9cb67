"""Pictures of several solutions: centre lines in a plane, and their errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError
from pliant.model.checks import choice
from pliant.view.charts import check_curve, figure_of, finish, flat_axes
from pliant.view.shapes import RodShape, finite
from pliant.view.theme import INK, RODS, length_unit, rod_color, scaled_ticks, style
from pliant.view.tubes_and_arrows import check_shapes

_PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2), "yx": (1, 0), "zx": (2, 0), "zy": (2, 1)}
_MARKERS = "osD^vPX*"
_ROUNDING = 1e-13
"""Smaller errors are rounding, such as those of two motions at their common start."""


def draw_comparison(
    shapes: Mapping[str, RodShape | Sequence[RodShape]],
    references: Mapping[str, ArrayLike] | None = None,
    plane: str = "xz",
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw centre lines in one plane, such as one robot under several loads.

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
    """Return colours: the palette for few labels, a colour map for many."""
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
    """Give both axes one scale, a margin and a unit of length."""
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


@dataclass(eq=False)
class ErrorPanel:
    """One panel of errors on a logarithmic axis.

    xlabel, ylabel : axis labels.
    curves : by label, x (N,) and error (N,); a single point is drawn as a marker, more as a line.
    logarithmic : whether the horizontal axis is logarithmic too.
    """

    xlabel: str
    ylabel: str
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]]
    logarithmic: bool = False


def draw_methods(
    shapes: Mapping[str, Sequence[RodShape]],
    reference: ArrayLike,
    panels: Sequence[ErrorPanel],
    title: str | None = None,
) -> Figure:
    """Draw shapes in one panel and their errors in others, one colour for each label.

    shapes : by label, the rods; drawn in the plane of their largest extent.
    reference : points (N, 3) of the reference, world, metres, drawn as circles.
    panels : to the right of the shapes.  title : above the shapes.
    """
    points = finite("draw_methods", "reference", reference, "(N, 3)")
    looks = {label: (rod_color(k), _MARKERS[k % len(_MARKERS)]) for k, label in enumerate(shapes)}
    rows = -(-(1 + len(shapes)) // 3)
    with style():
        figure, axes = plt.subplots(
            1,
            1 + len(panels),
            figsize=(4.2 + 3.6 * len(panels), 3.8 + 0.25 * rows),
            layout="constrained",
            squeeze=False,
        )
        _draw_lines(axes[0, 0], shapes, points, looks)
        axes[0, 0].set_title(title or "")
        for ax, panel in zip(axes[0, 1:], panels, strict=True):
            _draw_panel(ax, panel, looks)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _draw_lines(
    ax: Axes,
    shapes: Mapping[str, Sequence[RodShape]],
    reference: Array,
    looks: Mapping[str, tuple[str, str]],
) -> None:
    """Draw centre lines in the plane of their largest extent, the first ones widest."""
    pick, plane = _widest_plane(reference)
    seen = [reference[:, pick]]
    for k, (label, rods) in enumerate(shapes.items()):
        color, marker = looks[label]
        wide = 1.2 + 4.0 * (len(shapes) - 1 - k) / max(len(shapes), 1)
        for number, rod in enumerate(rods):
            line = rod.points[-1][:, pick]
            seen.append(line)
            name = label if number == len(rods) - 1 else None
            at = [len(line) - 1]
            ax.plot(*line.T, color=color, linewidth=wide, label=name, marker=marker, markevery=at)
    ax.plot(*seen[0].T, "o", mfc="none", markersize=5, color=INK, label="reference", zorder=5)
    equal_axes(ax, np.concatenate(seen), plane)


def _draw_panel(ax: Axes, panel: ErrorPanel, looks: Mapping[str, tuple[str, str]]) -> None:
    ax.set_yscale("log")
    if panel.logarithmic:
        ax.set_xscale("log")
    for label, (x, error) in panel.curves.items():
        along = finite("draw_methods", f"x of {label!r}", x, "(N,)")
        values = check_curve("draw_methods", label, error, len(along))[:, 0]
        seen = values > _ROUNDING
        color, marker = looks[label]
        look = marker if len(along) == 1 else "-"
        ax.plot(along[seen], values[seen], look, markersize=7, color=color)
    ax.set(xlabel=panel.xlabel, ylabel=panel.ylabel)
    ax.grid(which="minor", linewidth=0.3)


def _widest_plane(points: Array) -> tuple[list[int], str]:
    """The two world axes of the largest extent: their numbers and their names."""
    size = np.ptp(points, axis=0)
    pick = sorted(int(k) for k in np.argsort(-size, kind="stable")[:2])
    return pick, "".join("xyz"[k] for k in pick)
