"""Pictures of fits: measured and computed outputs with their residuals."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from pliant.model import Array, DescriptionError
from pliant.view.shapes import finite
from pliant.view.theme import FAINT, INK, RODS, style

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
    if not columns:
        raise DescriptionError("draw_fits", "columns", {}, "one or more", "give a column")
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
            below.set(xlabel=xlabel, ylabel="residual")
        for ax in axes[-2:, len(shown) - across * (down - 1) :].ravel():
            ax.set_axis_off()
        axes[0, 0].legend(loc="best")
        if len(columns) > MOST:
            figure.suptitle(f"the first {MOST} of {len(columns)} outputs", fontsize=9)
    return figure


def gaps(x: Array, missing: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return the ends of each run of missing rows, half way to the neighbouring rows.

    x : (N,) increasing.  missing : (N,) True for missing rows.
    """
    ends = np.concatenate([x[:1], 0.5 * (x[1:] + x[:-1]), x[-1:]])
    edges = np.diff(np.concatenate([[0], missing.astype(int), [0]]))
    firsts, lasts = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(float(ends[i]), float(ends[j])) for i, j in zip(firsts, lasts, strict=True)]
