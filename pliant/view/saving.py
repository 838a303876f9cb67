"""Figures in files and windows."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from pliant.model import check_suffix, whole_file
from pliant.view.theme import style


def save_figure(fig: Figure, path: str | os.PathLike[str]) -> Path:
    """Write the figure as .png, .pdf, .svg or .jpg and return the path.

    The file appears complete or not at all; an old one is replaced only at the end.
    """
    target = check_suffix("save_figure", path, (".png", ".pdf", ".svg", ".jpg", ".jpeg"))
    with whole_file(target) as partial, style():
        fig.savefig(partial)
    return target


def saved(fig: Figure, path: str | os.PathLike[str] | None) -> Figure:
    """Return the figure, after writing it if a path is given."""
    if path is not None:
        save_figure(fig, path)
    return fig


def show() -> None:
    """Open a window with the figures drawn so far and wait until you close it."""
    plt.show()
