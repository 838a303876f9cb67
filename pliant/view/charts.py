"""Charts: quantities over time, energy, convergence, patterns of matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter
from numpy.typing import ArrayLike

from pliant.model import Array, refuse
from pliant.view.mesh import finite
from pliant.view.theme import AXES, FAINT, INK, energy_unit, rod_color, scaled_ticks, style

_MOST_ENTRIES = 14
"""Entries of a legend in one column."""
_STYLES = ("-", "--", ":", "-.")


def draw_curves(
    t: ArrayLike,
    curves: Mapping[str, ArrayLike],
    ylabel: str,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw quantities over time and return the figure.

    t : (T,) seconds.  curves : by label, (T,) each in a colour of its own, or (T, 3) for the
    components of a vector: x red, y green, z blue, and a line style for each label. More vectors than
    line styles are thin lines without names.
    """
    times = finite("draw_curves", "t", t, "(T,)")
    checked = {
        label: check_curve("draw_curves", label, values, len(times))
        for label, values in curves.items()
    }
    vectors = sum(columns.shape[1] == 3 for columns in checked.values())
    with style():
        canvas = flat_axes(ax)
        for index, (label, columns) in enumerate(checked.items()):
            if columns.shape[1] == 1:
                canvas.plot(times, columns[:, 0], color=rod_color(index), label=label)
                continue
            named = vectors <= len(_STYLES)
            dashes = _STYLES[index % len(_STYLES)] if named else "-"
            for axis, column, color in zip("xyz", columns.T, AXES, strict=True):
                name = f"{label} {axis}" if named else f"{axis}, {vectors} curves"
                width = None if named else 0.8
                canvas.plot(times, column, dashes, color=color, label=name, linewidth=width)
        finish(canvas, "time / s", ylabel, title, count=len(curves))
    return figure_of(canvas)


def draw_energy(
    t: ArrayLike,
    energies: Mapping[str, ArrayLike],
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw energies over time, with their total, and return the figure.

    t : (T,) seconds.  energies : by name, (T,) joules each. The total is the entry "total" if
    there is one, else the sum of all entries.
    """
    times = finite("draw_energy", "t", t, "(T,)")
    parts = {
        name: check_curve("draw_energy", name, values, len(times))[:, 0]
        for name, values in energies.items()
    }
    total = parts.pop("total", None)
    if total is None:
        total = np.sum(list(parts.values()), axis=0) if parts else np.zeros(len(times))
    with style():
        canvas = flat_axes(ax)
        for name, values in parts.items():
            canvas.plot(times, values, label=name)
            canvas.fill_between(times, values, alpha=0.10, linewidth=0)
        canvas.plot(times, total, color=INK, linewidth=2.4, label="total")
        canvas.axhline(0.0, color=FAINT, linewidth=0.8, zorder=1)
        unit, factor = energy_unit(float(np.abs([*parts.values(), total]).max()))
        canvas.yaxis.set_major_formatter(scaled_ticks(factor))
        finish(canvas, "time / s", f"energy / {unit}", title, count=2)
    return figure_of(canvas)


def draw_convergence(
    x: ArrayLike | Mapping[str, ArrayLike],
    errors: Mapping[str, ArrayLike],
    slopes: Mapping[str, float] | None = None,
    xlabel: str = "step / s",
    ylabel: str = "relative error",
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw errors over a resolution on logarithmic axes, with reference slopes.

    x : (N,) positive, a step or a number of points; or one such array for each label.
    errors : by label, (N,); zeros are not drawn.
    slopes : by label, the order to compare with. A label of ``errors`` puts the line next to that
        curve, any other label next to the first curve. The sign follows the data: errors that fall
        as x grows get a falling line.
    """
    with style():
        canvas = flat_axes(ax, height=4.2)
        canvas.set(xscale="log", yscale="log")
        curves: dict[str, tuple[Array, Array]] = {}
        for index, (label, values) in enumerate(errors.items()):
            given = x[label] if isinstance(x, Mapping) else x
            along = finite("draw_convergence", "x", given, "(N,)")
            error = check_curve("draw_convergence", label, values, len(along))[:, 0]
            seen = (error > 0) & (along > 0)
            curves[label] = along[seen], error[seen]
            marker = "osD^vP"[index % 6]
            canvas.plot(*curves[label], marker=marker, markersize=5, label=label)
        for label, order in (slopes or {}).items():
            _reference_slope(canvas, curves, label, order)
        finish(canvas, xlabel, ylabel, title, count=2)
        places = np.unique(np.concatenate([np.zeros(0), *(along for along, _ in curves.values())]))
        if len(places) and places[-1] < 50.0 * places[0]:
            plain_ticks(canvas, places)
        whole_decades(canvas.yaxis)
        canvas.grid(which="minor", linewidth=0.3)
    return figure_of(canvas)


def _reference_slope(
    ax: Axes, curves: Mapping[str, tuple[Array, Array]], label: str, order: float
) -> None:
    """Draw a dashed line of this order just below the curve it belongs to."""
    if not curves:
        return
    own = label in curves
    along, error = curves[label] if own else next(iter(curves.values()))
    if len(along) < 2:
        return
    shift = np.log(along) - np.log(along).mean()
    sign = 1.0 if float(shift @ np.log(error)) >= 0 else -1.0
    line = along ** (sign * abs(order))
    line *= 0.6 * float((error / line).min())
    name = f"order {abs(order):g}" if own else label
    ax.plot(along, line, color=FAINT, linestyle="--", linewidth=1.2, label=name)


def flat_axes(ax: Axes | None, height: float = 3.6) -> Axes:
    """Return the axes given, or those of a new pyplot figure of this height in inches."""
    return ax or plt.subplots(figsize=(6.4, height), layout="constrained")[1]


def figure_of(ax: Axes) -> Figure:
    """Return the figure that holds the axes."""
    figure = ax.figure.figure  # of a subfigure, the whole figure
    assert isinstance(figure, Figure)
    return figure


def finish(ax: Axes, xlabel: str, ylabel: str, title: str | None, count: int) -> None:
    """Label the axes; add a legend if there is more than one entry, beside the axes."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if title:
        ax.set_title(title)
    handles, labels = ax.get_legend_handles_labels()
    unique: dict[str, object] = dict(zip(labels, handles, strict=True))
    if count > 1 or len(unique) > 1:
        legend_beside(ax, unique)


def whole_decades(axis: XAxis | YAxis) -> None:
    """Label powers of ten only, and widen the limits of a logarithmic axis until two are seen."""
    limits = np.sort(axis.get_view_interval())
    low, high = np.log10(limits)
    if np.floor(high) - np.ceil(low) < 1:
        low, high = np.floor(low), max(np.ceil(high), np.floor(low) + 1)
        axis.axes.set(**{f"{axis.axis_name}lim": (10.0**low, 10.0**high)})
    axis.set_minor_formatter(NullFormatter())


def plain_ticks(ax: Axes, places: Array) -> None:
    """Put the ticks of a logarithmic x axis at these values, fewer where they would overlap."""
    apart = np.diff(np.log(places), prepend=-np.inf) > 0.08 * np.log(places[-1] / places[0])
    shown = places[apart]
    ax.set_xticks(shown, [f"{value:.4g}" for value in shown])
    ax.set_xticks([], minor=True)


def legend_beside(ax: Axes, entries: Mapping[str, object] | None = None) -> None:
    """Add a legend to the right of the axes, where it hides no curve.

    entries : artists by label; None for those of the axes. A figure of charts in one column grows by
        the widest legend. In a figure without a layout engine, which would not make room, the legend
        lies inside.
    """
    if entries is None:
        handles, labels = ax.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True))
    figure = figure_of(ax)
    handles, labels = list(cast(Sequence, entries.values())), list(entries)
    with style():
        if figure.get_layout_engine() is None:
            ax.legend(handles, labels, loc="best")
            return
        columns = -(-len(labels) // _MOST_ENTRIES)
        anchor = (1.0, 1.02)
        legend = ax.legend(handles, labels, loc="upper left", bbox_to_anchor=anchor, ncols=columns)
    others = [other.get_legend() for other in figure.axes if other is not ax]
    wide, room = (
        max([item.get_window_extent().width / figure.dpi for item in legends if item], default=0.0)
        for legends in ([legend], others)
    )
    place = ax.get_subplotspec()
    column = place is not None and place.get_gridspec().ncols == 1
    if column and wide > max(0.25 * figure.get_figwidth(), room):
        figure.set_figwidth(figure.get_figwidth() + wide - room)


def check_curve(part: str, label: str, values: ArrayLike, count: int) -> Array:
    """Return values (count,) or (count, 3) as columns (count, 1 or 3)."""
    curve = finite(part, label, values, f"({count},)")
    refuse(
        curve.shape not in ((count,), (count, 1), (count, 3)),
        part,
        label,
        f"array of shape {curve.shape}",
        f"of shape ({count},) or ({count}, 3), one row for each point of the horizontal axis",
        "give as many values as points",
    )
    return curve.reshape(count, -1)


def draw_band(
    patterns: ArrayLike | Sequence[ArrayLike],
    titles: Sequence[str] = (),
    xlabel: str = "coordinate",
    ylabel: str = "row",
) -> Figure:
    """Draw the nonzero entries of matrices side by side and return the figure.

    patterns : one matrix (rows, columns) or several, of numbers or booleans.
    titles : one for each matrix. The number of entries is written below each matrix.
    """
    matrices = _matrices(patterns)
    refuse(
        titles and len(titles) != len(matrices),
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
            _draw_pattern(ax, matrix, rod_color(index))
            entries = f"{matrix.sum()} of {matrix.size} entries ({matrix.mean():.0%})"
            ax.set_xlabel(f"{xlabel}\n{entries}")
            ax.set_ylabel(ylabel if index == 0 else "")
            if titles:
                ax.set_title(titles[index])
    return figure


def _draw_pattern(ax: Axes, matrix: Array, color: str) -> None:
    """Draw one pattern; cells of small matrices have thin gaps between them."""
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
    square = max(rows, columns) <= 4 * min(rows, columns)
    ax.set(xlim=(0.5, columns + 0.5), ylim=(rows + 0.5, 0.5), aspect="equal" if square else "auto")
    ax.grid(visible=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(FAINT)


def _matrices(patterns: ArrayLike | Sequence[ArrayLike]) -> list[Array]:
    """Return the patterns as a list of boolean matrices."""
    single = isinstance(patterns, np.ndarray) and patterns.ndim == 2
    matrices = [np.asarray(one) for one in ([patterns] if single else patterns)]  # type: ignore
    for one in matrices:
        refuse(
            one.ndim != 2 or one.size == 0 or one.dtype.kind not in "biuf",
            "draw_band",
            "patterns",
            f"array of shape {one.shape} and type {one.dtype}",
            "a matrix of numbers or booleans, or a list of them",
            "give arrays of shape (rows, columns)",
        )
    refuse(not matrices, "draw_band", "patterns", [], "one matrix or more", "give an array")
    return [one != 0 for one in matrices]
