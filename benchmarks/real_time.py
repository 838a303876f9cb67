"""Simulated time over computing time against the step, for the steel rod of Till and Rucker.

Both motions of the paper's Figure 6: the release of a weight and a blow near the base, by shooting with
Euler's method and 400 intervals and with RK4 and 100. The picture goes to real_time.png, or to the
file named as argument. A run that does not arrive is left out and named.
"""

from __future__ import annotations

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from _common import pl
from _steel import ALPHA, SCENARIOS, scenario
from rich.console import Console
from rich.table import Table

from pliant.view import style

STEPS = np.geomspace(1e-3, 2e-2, 9)
DURATION, LABELS = 0.5, {"euler": "Euler, N = 400", "rk4": "RK4, N = 100"}


def ratio(name: str, scheme: str, dt: float) -> float:
    """Return the better of two runs, or not a number if they stop early or gain energy."""
    robot, held, inputs = scenario(name, scheme)
    found = []
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            try:
                motion = robot.simulate(
                    DURATION, dt, inputs, held, integrator=ALPHA, output_every=DURATION
                )
            except (pl.ConvergenceError, UserWarning):
                return float("nan")
        found.append(DURATION / motion.seconds)
    return max(found)


def draw(curves: dict[tuple[str, str], np.ndarray], path: str) -> None:
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), sharey=True, layout="constrained")
    for ax, name in zip(axes, SCENARIOS, strict=True):
        for scheme, label in LABELS.items():
            ax.loglog(1e3 * STEPS, curves[name, scheme], "o-", label=label)
        ax.axhline(1.0, color="0.4", lw=0.8)
        ax.axhspan(1.0, ax.get_ylim()[1], color="#f2c14e", alpha=0.2)
        ax.set(title=name, xlabel="step / ms")
    axes[0].set_ylabel("simulated time / computing time")
    axes[0].legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "real_time.png"
    for name in SCENARIOS:
        for scheme in LABELS:
            ratio(name, scheme, 1e-2)  # compiles
    curves = {
        (name, scheme): np.array([ratio(name, scheme, dt) for dt in STEPS])
        for name in SCENARIOS
        for scheme in LABELS
    }
    table = Table(title="Simulated time over computing time", title_justify="left")
    table.add_column("step / ms", justify="right")
    for name, scheme in curves:
        table.add_column(f"{name}\n{LABELS[scheme]}", justify="right")
    for k, dt in enumerate(STEPS):
        cells = [f"{c[k]:.2f}" if np.isfinite(c[k]) else "stops" for c in curves.values()]
        table.add_row(f"{1e3 * dt:.2f}", *cells)
    Console(width=None if sys.stdout.isatty() else 110).print(table)
    draw(curves, path)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main()
