"""Pictures of studies: several solutions with their errors, a choice of resolution, a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from pliant.model import Array, choice, refuse
from pliant.view.charts import (
    check_curve,
    figure_of,
    finish,
    flat_axes,
    plain_ticks,
    whole_decades,
)
from pliant.view.mesh import RodShape, check_shapes, finite
from pliant.view.theme import FAINT, INK, RODS, length_unit, rod_color, scaled_ticks, style

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
    return [to_hex(color) for color in mpl.colormaps["viridis"](np.linspace(0.05, 0.85, count))]


def _plane_points(name: str, given: ArrayLike, pick: list[int]) -> Array:
    points = finite("draw_comparison", f"references[{name!r}]", given, "(N, 3) or (N, 2)")
    refuse(
        points.ndim != 2 or points.shape[1] not in (2, 3),
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
    ax.margins(0.1)
    for axis in (ax.xaxis, ax.yaxis) if panel.logarithmic else (ax.yaxis,):
        whole_decades(axis)
    ax.grid(which="minor", linewidth=0.3)


def _widest_plane(points: Array) -> tuple[list[int], str]:
    """The two world axes of the largest extent: their numbers and their names."""
    size = np.ptp(points, axis=0)
    pick = sorted(int(k) for k in np.argsort(-size, kind="stable")[:2])
    return pick, "".join("xyz"[k] for k in pick)


_ZERO = 1e-15
"""The error of the reference, which is compared with itself; it is not drawn."""


def draw_resolution(
    rows: ArrayLike, accuracy: float, chosen: int, moving: bool, title: str | None = None
) -> Figure:
    """Draw error (solid) and computing time (dashed) over intervals and, for motions, over the step.

    rows : (N, 4): intervals, step in s (ignored for equilibria), error, seconds.
    accuracy : drawn as a line.  chosen : number of the row to mark.  moving : True for motions.
    title : above the first panel.
    """
    values = np.asarray(rows, dtype=float)
    values[:, 2] = np.maximum(values[:, 2], _ZERO)
    if not moving:
        values[:, 1] = 0.0
    with style():
        count = 2 if moving else 1
        figure, axes = plt.subplots(
            1, count, figsize=(5.6 * count + 0.4, 4.6), layout="constrained", squeeze=False
        )
        labels = [lambda dt: f"dt = {dt:.4g} s" if moving else "", lambda n: f"{n:.0f} intervals"]
        names = ["intervals of each rod", "step / s"]
        for k, ax in enumerate(axes[0]):
            _panel(ax, values, k, labels[k], accuracy)
            ax.plot(*values[chosen, [k, 2]], "o", mfc="none", ms=13, color=INK, zorder=6)
            ax.set(xlabel=names[k], ylabel="error / length")
            plain_ticks(ax, np.unique(values[:, k]))
        axes[0, 0].set_title(title or "")
    return figure


def _panel(ax: Axes, values: Array, along: int, label: object, accuracy: float) -> None:
    """Draw curves over one column, one for each value of the other with two points or more."""
    ax.set(xscale="log", yscale="log")
    time_axis = ax.twinx()
    time_axis.set_yscale("log")
    time_axis.set_ylabel("computing time / s (dashed)")
    other = 1 - along
    levels = [v for v in np.unique(values[:, other]) if np.sum(values[:, other] == v) > 1]
    reference = values[:, 2] <= _ZERO
    for number, level in enumerate(levels):
        mine = values[values[:, other] == level]
        mine = mine[np.argsort(mine[:, along])]
        seen = mine[mine[:, 2] > _ZERO]
        color = rod_color(number)
        text = label(level) if callable(label) else ""
        ax.plot(seen[:, along], seen[:, 2], "o-", color=color, label=text or None)
        time_axis.plot(
            mine[:, along], mine[:, 3], "s--", color=color, ms=3, linewidth=1.0, alpha=0.7
        )
    lonely = ~np.isin(values[:, other], levels) & ~reference
    if lonely.any():
        ax.plot(values[lonely, along], values[lonely, 2], "o", color=FAINT, label="others")
    ax.axhline(accuracy, color=INK, linewidth=0.9, linestyle=":", label="requested")
    low, high = time_axis.get_ylim()
    time_axis.set_ylim(min(low, 0.1 * high), high)
    whole_decades(time_axis.yaxis)
    whole_decades(ax.yaxis)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)


MOST = 8
"""Largest number of columns in one picture."""


def draw_fits(
    columns: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike, str, str]],
    across: int = 4,
) -> Figure:
    """Draw measured (circles) and computed (lines) columns with their residuals below.

    columns : by title, x (N,), measured (N,), computed (N,), label of x, label of y. Gaps, NaN in the
    measured values, are shaded. The first eight columns are drawn.  across : panels per row.
    """
    refuse(not columns, "draw_fits", "columns", {}, "one or more", "give a column")
    shown = dict(list(columns.items())[:MOST])
    across = min(len(shown), across)
    down = -(-len(shown) // across)
    with style():
        figure, axes = plt.subplots(
            2 * down,
            across,
            figsize=(3.6 * across + 0.6, 3.9 * down),
            height_ratios=[2, 1] * down,
            layout="constrained",
            squeeze=False,
        )
        for k, (title, (x, measured, computed, xlabel, ylabel)) in enumerate(shown.items()):
            above, below = axes[2 * (k // across) :, k % across][:2]
            along = finite("draw_fits", f"x of {title!r}", x, "(N,)")
            data = np.asarray(measured, dtype=float)
            there = np.isfinite(data)
            finite("draw_fits", f"measured {title!r}", data[~np.isnan(data)], "(N,)")
            line = finite("draw_fits", f"computed {title!r}", computed, "(N,)")
            order = np.argsort(along, kind="stable")
            size = 4 if len(along) <= 60 else 2
            for first, last in gaps(along[order], ~there[order]):
                for axis in (above, below):
                    axis.axvspan(first, last, color=FAINT, alpha=0.2, linewidth=0)
            above.plot(along, data, "o", mfc="none", markersize=size, color=FAINT, label="measured")
            above.plot(along[order], line[order], color=RODS[0], label="computed")
            above.set_title(title, fontsize=9)
            above.set_ylabel(ylabel)
            below.axhline(0.0, color=INK, linewidth=0.8)
            below.plot(along, line - data, ".", markersize=size, color=RODS[1])
            unit, factor = _residual_unit(ylabel, float(np.nanmax(np.abs(line - data), initial=0)))
            below.yaxis.set_major_formatter(scaled_ticks(factor))
            below.set(xlabel=xlabel, ylabel=f"residual / {unit}")
        for ax in axes[-2:, len(shown) - across * (down - 1) :].ravel():
            ax.set_axis_off()
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        if len(columns) > MOST:
            figure.suptitle(f"the first {MOST} of {len(columns)} outputs", fontsize=9)
    return figure


def _residual_unit(label: str, size: float) -> tuple[str, float]:
    """Return the unit of a residual of this size, and the number per unit of the axis label."""
    unit = label.rpartition(" / ")[2]
    return length_unit(size) if unit == "m" else (unit, 1.0)


def gaps(x: Array, missing: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return the ends of each run of missing rows, half way to the neighbouring rows.

    x : (N,) increasing.  missing : (N,) True for missing rows.
    """
    ends = np.concatenate([x[:1], 0.5 * (x[1:] + x[:-1]), x[-1:]])
    edges = np.diff(np.concatenate([[0], missing.astype(int), [0]]))
    firsts, lasts = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(float(ends[i]), float(ends[j])) for i, j in zip(firsts, lasts, strict=True)]
