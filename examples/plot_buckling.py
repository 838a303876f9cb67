"""
Buckling and the stability flag
===============================

A perfect column under a growing load stays straight even beyond its buckling load; only `stable` shows
that it would buckle. Bisection on this flag finds the buckling load of a Cosserat column, which is
lower than Euler's because of shear, to a few parts in a hundred thousand. With a small lateral force,
the column follows the bent branch.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_comparison, style

EULER = 24.223653656  # N, pi^2 EI / (2 L)^2
COSSERAT = 24.153090316  # N, shear and shortening included
POINTS = pl.BSpline(3, 12)
EXPECTED = {
    "buckling load": (COSSERAT, 1e-3 * COSSERAT),
    "tip aside at 1.3 times the load": (0.7237, 0.002),
}


def column() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod("column", 1.0, pl.Circle(0.05), pl.Material(E=2e6, nu=0.45))
    robot.add_load("press", rod.tip, force=(0, 0, -1))
    robot.add_load("aside", rod.tip, force=(1, 0, 0))
    return robot


def buckling_load(robot: pl.Robot) -> float:
    low, high = 20.0, 30.0
    while high - low > 1e-5:
        middle = 0.5 * (low + high)
        stable = robot.statics({"press": middle, "aside": 0.0}, POINTS).stable
        low, high = (middle, high) if stable else (low, middle)
    return 0.5 * (low + high)


def main() -> dict[str, float]:
    robot = column()
    critical = buckling_load(robot)
    with style():
        _, (left, right) = plt.subplots(
            1, 2, figsize=(9.0, 4.2), layout="constrained", width_ratios=(3, 2)
        )
    loads, s, shapes = np.linspace(0.02, 1.3, 33), np.linspace(0.0, 1.0, 61), {}
    for push in (0.5, 0.05):
        still, aside = None, []
        for load in loads:
            inputs = {"press": load * critical, "aside": push}
            still = robot.statics(inputs, POINTS, start=still)
            aside.append(still.tip("column")[0, 3])
            if push == 0.05 and load in loads[[18, 26, 28, 32]]:
                label = f"{load:.2f}"
                shapes[label] = RodShape(label, still.pose("column", s), 0.05)
        with style():
            left.plot(aside, loads, label=f"pushed aside by {push:g} N")
    with style():
        left.plot([0, 0], [0, 1], color="#2b2f36", label="perfect, stable")
        left.plot([0, 0], [1, 1.3], color="#b8202c", linestyle=":", label="perfect, unstable")
        left.axhline(EULER / critical, color="#9aa1ab", linestyle="--", linewidth=1.2)
        left.text(0.6, EULER / critical - 0.05, "Euler's load", color="#6b727c", fontsize=9)
        left.set(xlabel="tip aside / m", ylabel="load / buckling load")
        left.legend(loc="lower right")
    draw_comparison(shapes, title="load / buckling load", ax=right)
    return {"buckling load": critical, "tip aside at 1.3 times the load": aside[-1]}


if __name__ == "__main__":
    main()
    plt.show()
