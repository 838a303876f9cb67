"""Picture of a choice of resolution: error and computing time over intervals and step."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from pliant.model import Array
from pliant.view.theme import FAINT, INK, rod_color, style

_ROUNDING = 1e-15


def draw_resolution(
    rows: ArrayLike, accuracy: float, chosen: int, moving: bool, title: str | None = None
) -> Figure:
    """Draw error (solid) and computing time (dashed) over intervals and, for motions, over the step.

    rows : (N, 4): intervals, step in s (ignored for equilibria), error, seconds.
    accuracy : drawn as a line.  chosen : number of the row to mark.  moving : True for motions.
    title : above the first panel.
    """
    values = np.asarray(rows, dtype=float)
    values[:, 2] = np.maximum(values[:, 2], _ROUNDING)
    if not moving:
        values[:, 1] = 0.0
    with style():
        count = 2 if moving else 1
        figure, axes = plt.subplots(
            1, count, figsize=(5.6 * count + 0.4, 4.2), layout="constrained", squeeze=False
        )
        labels = [lambda dt: f"dt = {dt:.4g} s" if moving else "", lambda n: f"{n:.0f} intervals"]
        names = ["intervals of each rod", "step / s"]
        for k, ax in enumerate(axes[0]):
            _panel(ax, values, k, labels[k], accuracy)
            ax.plot(*values[chosen, [k, 2]], "o", mfc="none", ms=13, color=INK, zorder=6)
            ax.set(xlabel=names[k], ylabel="error / length")
            _plain_ticks(ax, np.unique(values[:, k]))
        axes[0, 0].set_title(title or "")
    return figure


def _plain_ticks(ax: Axes, places: Array) -> None:
    """Put ticks at the solved values only, fewer where they would overlap."""
    apart = np.diff(np.log(places), prepend=-np.inf) > 0.08 * np.log(places[-1] / places[0])
    shown = places[apart]
    ax.set_xticks(shown, [f"{value:.4g}" for value in shown])
    ax.set_xticks([], minor=True)


def _panel(ax: Axes, values: Array, along: int, label: object, accuracy: float) -> None:
    """Draw curves over one column, one for each value of the other with two points or more."""
    ax.set(xscale="log", yscale="log")
    time_axis = ax.twinx()
    time_axis.set_yscale("log")
    time_axis.set_ylabel("computing time / s (dashed)")
    other = 1 - along
    levels = [v for v in np.unique(values[:, other]) if np.sum(values[:, other] == v) > 1]
    reference = values[:, 2] <= _ROUNDING
    for number, level in enumerate(levels):
        mine = values[values[:, other] == level]
        mine = mine[np.argsort(mine[:, along])]
        seen = mine[mine[:, 2] > _ROUNDING]
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
    ax.legend(loc="best")
