"""Colours and matplotlib settings shared by all pictures, and pictures in files and windows."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from pliant.model import check_suffix, whole_file

RODS = ("#3a7ca5", "#e39b3b", "#5b9f6b", "#8a6fb0", "#4fb3bf", "#b07d56", "#7f8fa6", "#d27d92")
FORCE = "#b8202c"
MOMENT = "#93328e"
INK = "#2b2f36"
FAINT = "#9aa1ab"
GRID = "#d9dde3"
PANE = "#f5f7f9"
# x, y and z: components of vectors in charts, axes of sections
AXES = ("#cf5c56", "#4e9a62", "#4477bb")

_SETTINGS: dict[str, object] = {
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.prop_cycle": cycler(color=list(RODS)),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "savefig.dpi": 160,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


def style() -> AbstractContextManager[None]:
    """Use Pliant's colours and fonts inside this context; your settings return afterwards.

    Also a decorator of functions that draw. Colours such as "C1" are looked up when a figure is saved,
    which is afterwards: take `rod_color`.
    """
    return mpl.rc_context(_SETTINGS)  # type: ignore[arg-type]


def rod_color(index: int) -> str:
    """Return the colour of the rod with this index; colours repeat after eight rods."""
    return RODS[index % len(RODS)]


def lighten(color: str, amount: float) -> str:
    """Return the colour mixed with white: amount 0 keeps it, 1 is white."""
    red, green, blue = (part + (1.0 - part) * amount for part in to_rgb(color))
    return to_hex((red, green, blue))


def length_unit(size: float) -> tuple[str, float]:
    """Return the unit of length for axes of this size in metres, and the number per metre."""
    return ("mm", 1000.0) if size < 0.2 else ("m", 1.0)


def energy_unit(size: float) -> tuple[str, float]:
    """Return the unit for energies of this size in joules, and the number per joule."""
    for unit, factor in (("kJ", 1e-3), ("J", 1.0), ("mJ", 1e3), ("µJ", 1e6)):
        if size * factor >= 1.0:
            return unit, factor
    return ("nJ", 1e9) if size > 0 else ("J", 1.0)


def scaled_ticks(factor: float) -> FuncFormatter:
    """Return tick labels that show each value times ``factor``."""

    def label(value: float, _: int | None = None) -> str:
        # show rounding errors as zero; a true minus sign is as wide as a digit
        text = f"{value * factor:.6g}" if abs(value * factor) > 1e-12 else "0"
        return text.replace("-", "\N{MINUS SIGN}")

    return FuncFormatter(label)


def save_figure(fig: Figure, path: str | os.PathLike[str]) -> Path:
    """Write the figure as .png, .pdf, .svg or .jpg and return the path.

    The file appears complete or not at all; an old one is replaced only at the end.
    """
    target = check_suffix("save_figure", path, (".png", ".pdf", ".svg", ".jpg", ".jpeg"))
    with whole_file(target) as partial, style():
        fig.savefig(partial)
    return target


def saved(fig: Figure, path: str | os.PathLike[str] | None) -> Figure:
    """Return the figure, after writing and closing it if a path is given."""
    if path is not None:
        try:
            save_figure(fig, path)
        finally:
            plt.close(fig)
    return fig


def show() -> None:
    """Open a window with the figures drawn so far and wait until you close it."""
    plt.show()
