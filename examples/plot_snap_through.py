"""
Buckling and snapping
=====================

A strip is clamped between two walls and bowed upwards; a load presses on its middle. `Robot.follow`
goes along its equilibria through both folds, where the load has to turn back: between them the strip is
unstable, and a real one snaps. The last picture is a column: at its buckling loads other branches
leave the straight one, and `Path.branch` follows them.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import legend_beside, style

EXPECTED = {
    "first fold / N": (13.083, 0.01),
    "second fold / N": (10.758, 0.01),
    "buckling load over that of Euler": (1.0, 1e-6),
}


def arch() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    strip = pl.Stiffness(bending=(50.0, 1.0), twist=20.0, shear=1e4, axial=1e4, mass=1.0)
    start = pl.pose(rotation=(0, np.pi / 2 - 0.3, 0))
    rod = robot.add_rod("arch", 1.0, strip, pose=start, natural=(0, 0.6, 0))
    robot.add_constraint("wall", rod.tip, kind="fixed")
    robot.add_load("press", rod.at(0.5), force=(0, 0, -1))
    return robot


def column() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    strip = pl.Stiffness(bending=(1.0, 2.0), twist=1.0, shear=1e7, axial=1e7, mass=1.0)
    rod = robot.add_rod("column", 1.0, strip)
    robot.add_load("push", rod.tip, force=(0, 0, -1))
    return robot


def draw_shapes(path: pl.Path) -> None:
    """The arch at points of its path: solid where it is stable, else dashed."""
    with style():
        _, ax = plt.subplots(figsize=(6.8, 3.2), layout="constrained")
    rows = np.linspace(0, len(path) - 1, 9).astype(int)
    for k, color in zip(rows, plt.get_cmap("viridis")(np.linspace(0, 0.9, 9)), strict=True):
        x, _, z = path[k].position("arch").T * 1e3
        dashes = "-" if path.stable[k] else "--"
        ax.plot(x, z, dashes, color=color, label=f"{path.values[k]:.1f} N")
    ax.set(xlabel="x / mm", ylabel="z / mm", title="the arch along its path")
    legend_beside(ax)


def main() -> dict[str, float]:
    path = arch().follow("press", 0.0, 30.0)
    path.plot(of="arch.0.5", axis="z")
    draw_shapes(path)
    straight = column().follow("push", 0.0, 8.0)
    branches = [straight.branch(0, side) for side in (1, -1)]
    straight.plot(of="column.tip", axis="y", others=branches)
    return {
        "first fold / N": path.folds[0].value,
        "second fold / N": path.folds[1].value,
        "buckling load over that of Euler": straight.bifurcations[0].value * 4.0 / np.pi**2,
    }


if __name__ == "__main__":
    main()
    plt.show()
