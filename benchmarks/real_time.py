"""Simulated time over computing time against the step, for the steel rod of Till and Rucker.

Both motions of the paper's Figure 6: the release of a weight and a blow near the base, by shooting with
Euler's method and 400 intervals and with RK4 and 100. The picture goes to real_time.png, or to the
file named as argument. A run that stops early, or that warns of energy gained, is left out. The gallery
draws the same from shorter motions (examples/plot_real_time.py).
"""

from __future__ import annotations

import sys

import numpy as np
from _common import ROOT
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(ROOT / "examples"))

from plot_real_time import LABELS, draw, measure

STEPS = tuple(np.geomspace(1e-3, 2e-2, 9))
DURATION = 0.5


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "real_time.png"
    curves = measure(STEPS, DURATION)
    table = Table(title="Simulated time over computing time", title_justify="left")
    table.add_column("step / ms", justify="right")
    for name, scheme in curves:
        table.add_column(f"{name}\n{LABELS[scheme]}", justify="right")
    for k, dt in enumerate(STEPS):
        cells = [f"{c[k]:.2f}" if np.isfinite(c[k]) else "left out" for c in curves.values()]
        table.add_row(f"{1e3 * dt:.2f}", *cells)
    Console(width=None if sys.stdout.isatty() else 110).print(table)
    draw(STEPS, curves).savefig(path, dpi=150)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main()
