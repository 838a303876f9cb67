"""Pictures of matrices: the pattern of nonzero entries."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from pliant.model import Array, DescriptionError
from pliant.view.theme import FAINT, rod_color, style


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
    ax.set_xlim(0.5, columns + 0.5)
    ax.set_ylim(rows + 0.5, 0.5)
    ax.set_aspect("equal" if max(rows, columns) <= 4 * min(rows, columns) else "auto")
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
        if one.ndim != 2 or one.size == 0 or one.dtype.kind not in "biuf":
            raise DescriptionError(
                "draw_band",
                "patterns",
                f"array of shape {one.shape} and type {one.dtype}",
                "a matrix of numbers or booleans, or a list of them",
                "give arrays of shape (rows, columns)",
            )
    if not matrices:
        raise DescriptionError("draw_band", "patterns", [], "one matrix or more", "give an array")
    return [one != 0 for one in matrices]
