"""Pictures of several answers to one question: shapes over each other, errors beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from pliant.model import Array
from pliant.view.charts import check_curve
from pliant.view.patterns import equal_axes
from pliant.view.shapes import RodShape, finite
from pliant.view.theme import INK, rod_color, style

_MARKERS = "osD^vPX*"
_ROUNDING = 1e-13
"""Errors below it are rounding, such as those of two motions at their common start."""


@dataclass(eq=False)
class ErrorPanel:
    """One panel of errors on a logarithmic axis.

    xlabel, ylabel : texts of the axes.
    curves : by label, x (N,) and error (N,); one point is drawn as a marker, more as a line.
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
    """Draw shapes over each other and panels of their errors, one colour for each label.

    shapes : by label, the rods; drawn in the plane in which they reach furthest.
    reference : points (N, 3) of the reference, world, metres, drawn as circles.
    panels : beside the shapes, in this order.  title : over the shapes.
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
    """Centre lines in the plane in which they reach furthest, the first ones widest."""
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
    ax.set_xlabel(panel.xlabel)
    ax.set_ylabel(panel.ylabel)
    ax.grid(which="minor", linewidth=0.3)


def _widest_plane(points: Array) -> tuple[list[int], str]:
    """The two world axes along which the points reach furthest: their numbers and their names."""
    size = np.ptp(points, axis=0)
    pick = sorted(int(k) for k in np.argsort(-size, kind="stable")[:2])
    return pick, "".join("xyz"[k] for k in pick)
