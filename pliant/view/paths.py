"""Pictures of many equilibria: reachable sets, and branches with stable and unstable parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pliant.model import Array
from pliant.view.charts import figure_of, flat_axes, legend_beside
from pliant.view.mesh import RodShape
from pliant.view.robot import Box, choose_view, set_up_axes
from pliant.view.studies import equal_axes
from pliant.view.theme import FAINT, FORCE, INK, length_unit, rod_color, scaled_ticks, style

_FLAT = 1e-4
"""Part of its size by which a reachable set may leave a plane of the world and still be drawn flat."""


def draw_workspace(
    points: Array,
    values: Array,
    label: str,
    unstable: NDArray[np.bool_],
    shapes: Sequence[RodShape] = (),
    view: Any = None,
) -> Figure:
    """Draw points (N, 3), m, coloured by values (N,), with rods as lines, and return the figure.

    unstable (N,) : which points are crossed out.  A set in a plane of the world is drawn flat.
    """
    lines = [shape.points[-1] for shape in shapes]
    every = np.concatenate([points, *lines])
    extent = np.ptp(every, axis=0)
    flat = int(np.argmin(extent))
    if view is None and extent[flat] <= _FLAT * extent.max():
        return _draw_flat(points, values, label, unstable, lines, flat)
    with style():
        figure = plt.figure(figsize=(7.0, 5.2))
        ax: Any = figure.add_axes((0.02, 0.06, 0.78, 0.92), projection="3d")
        camera = choose_view("iso" if view is None else view, shapes)
        set_up_axes(ax, Box.around(every).with_margin(), camera)
        for line in lines:
            ax.plot(*line.T, color=FAINT, linewidth=3.0)
        marks = ax.scatter(*points.T, c=values, cmap="viridis", s=9, depthshade=True)
        if unstable.any():
            ax.scatter(*points[unstable].T, marker="x", color=FORCE, s=16, label="unstable")
            ax.legend(loc="upper left")
        figure.colorbar(marks, cax=figure.add_axes((0.86, 0.2, 0.025, 0.6)), label=label)
    return figure


def _draw_flat(
    points: Array,
    values: Array,
    label: str,
    unstable: NDArray[np.bool_],
    lines: list[Array],
    flat: int,
) -> Figure:
    pick = [k for k in range(3) if k != flat]
    with style():
        canvas = flat_axes(None, height=4.6)
        for line in lines:
            canvas.plot(*line[:, pick].T, color=FAINT, linewidth=3.0)
        x, y = points[:, pick].T
        marks = canvas.scatter(x, y, c=values, cmap="viridis", s=12)
        if unstable.any():
            canvas.plot(x[unstable], y[unstable], "x", color=FORCE, label="unstable")
            canvas.legend()
        every = np.concatenate([points, *lines])[:, pick]
        equal_axes(canvas, every, "".join("xyz"[k] for k in pick))
        figure = figure_of(canvas)
        figure.colorbar(marks, ax=canvas, label=label, shrink=0.85)
    return figure


def draw_branches(
    curves: Sequence[tuple[Array, Array, Sequence[bool | None]]],
    marks: Mapping[str, Array],
    xlabel: str,
    ylabel: str,
) -> Figure:
    """Draw branches of equilibria and return the figure: stable parts solid, unstable ones dashed.

    curves : for each branch x (N,), y (N,), m, and whether each point is stable; a part between two
    points is drawn as stable unless one of them is not, and dotted where neither is known.
    marks : points (K, 2) by name.
    """
    heights = np.concatenate([y for _, y, _ in curves])
    with style():
        canvas = flat_axes(None, height=4.2)
        for index, (x, y, stable) in enumerate(curves):
            for first, last, kind in _pieces(stable):
                part = slice(first, last + 1)
                canvas.plot(x[part], y[part], _LINES[kind], color=rod_color(index))
        handles: dict[str, Any] = {
            _WORDS[kind]: plt.Line2D([], [], color=INK, linestyle=_LINES[kind])
            for kind in dict.fromkeys(k for *_, stable in curves for *_, k in _pieces(stable))
        }
        for (name, points), marker in zip(marks.items(), "od", strict=False):
            if len(points):
                (mark,) = canvas.plot(*points.T, marker, color=FORCE, markersize=6, zorder=5)
                handles[name] = mark
        unit, factor = length_unit(float(np.ptp(heights)))
        canvas.yaxis.set_major_formatter(scaled_ticks(factor))
        canvas.set(xlabel=xlabel, ylabel=f"{ylabel} / {unit}")
        legend_beside(canvas, handles)
    return figure_of(canvas)


_LINES: dict[bool | None, Any] = {True: "-", False: "--", None: ":"}
_WORDS = {True: "stable", False: "unstable", None: "unknown"}


def _pieces(stable: Sequence[bool | None]) -> list[tuple[int, int, bool | None]]:
    """Stretches (first, last, kind) of points of one kind, each up to the first point of the next."""
    kinds = []
    for a, b in pairwise(stable):
        known = {a, b} - {None}
        kinds.append(None if not known else False not in known)
    found: list[tuple[int, int, bool | None]] = []
    for k, kind in enumerate(kinds):
        if found and found[-1][2] is kind:
            found[-1] = (found[-1][0], k + 1, kind)
        else:
            found.append((k, k + 1, kind))
    return found


def draw_bode(frequencies: Array, gains: Mapping[str, NDArray[np.complex128]]) -> Figure:
    """Draw gain and phase over the frequency and return the figure.

    frequencies (F,) : Hz.  gains (F,) : complex, by label.
    """
    with style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(6.8, 5.0), sharex=True, layout="constrained", height_ratios=(3, 2)
        )
        for index, (label, gain) in enumerate(gains.items()):
            color = rod_color(index)
            above.loglog(frequencies, np.abs(gain), color=color, label=label)
            phase = np.degrees(np.unwrap(np.angle(gain)))
            phase -= 360.0 * np.round(phase[0] / 360.0)
            below.semilogx(frequencies, phase, color=color)
        above.set(ylabel="gain / (output / input)")
        below.set(xlabel="frequency / Hz", ylabel="phase / °")
        legend_beside(above)
        figure.align_ylabels()
    return figure
