"""
How Newton's method converges
=============================

Newton iterations from the straight rod to its equilibrium. Near the solution each iteration doubles the
number of correct digits, because the tangent is exact. A correction that bends the rod by more than a
radian is shortened to a radian, so that loads need not be applied in steps; checks make sure that the
solution is the equilibrium connected to the unloaded rod, although others exist. End moments of any
size need two iterations, because the bending moment is then constant along the rod.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

CASES = {
    "0.25 N": {"force": 0.25, "moment": 0.0},
    "1 N": {"force": 1.0, "moment": 0.0},
    "5 N": {"force": 5.0, "moment": 0.0},
    "0.2 N m": {"force": 0.0, "moment": 0.2},
}
EXPECTED = {
    "iterations 0.25 N": (5, 1),
    "iterations 1 N": (5, 1),
    "iterations 5 N": (6, 1),
    "iterations 0.2 N m": (2, 1),
    "largest residual": (0.0, 1e-10),
    "order at 0.25 N": (2.0, 0.4),
}


def tapered_rod() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    material = pl.Material(E=2e5, nu=0.45)
    arm = robot.add_rod("arm", 1.0, pl.Circle((0.03, 0.015)), material, pose=pl.along("x"))
    robot.add_load("force", arm.tip, force=(0, 0, 1))
    robot.add_load("moment", arm.tip, moment=(0, -1, 0))
    return robot


def main() -> dict[str, float]:
    robot = tapered_rod()
    with style():
        _, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8), layout="constrained")
        left.set(xlabel="iteration of the last load step", ylabel="relative residual")
        left.axhline(1e-10, color="#9aa1ab", linestyle="--", linewidth=1.2)
        left.text(0.0, 2e-10, "tolerance", color="#6b727c", fontsize=9)
        right.set(xlabel="iterations so far", ylabel="fraction of the load")
        equilibria = {}
        for (label, inputs), marker in zip(CASES.items(), "osD^", strict=True):
            steps = [(0.0, 0)]
            note = lambda level, count, residual, s=steps: s.append((level, count))  # noqa: E731
            equilibria[label] = robot.statics(inputs, pl.BSpline(3, 15), progress=note)
            left.semilogy(equilibria[label].history, marker=marker, markersize=5, label=label)
            right.plot(*np.array(steps).T[::-1], marker=marker, markersize=5, label=label)
        left.set_ylim(1e-17, 30)
        left.legend(loc="lower left")
    before, last = np.log(equilibria["0.25 N"].history[-2:])
    return {
        **{f"iterations {label}": still.iterations for label, still in equilibria.items()},
        "largest residual": max(still.residual for still in equilibria.values()),
        "order at 0.25 N": last / before,
    }


if __name__ == "__main__":
    main()
    plt.show()
