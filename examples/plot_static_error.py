"""
Estimated and true errors of equilibria
=======================================

Every equilibrium comes with an estimate of its own error. A soft arm in the wind is solved with
more and more unknowns; the estimate follows the true error, which is the distance from a fine
solution, over five orders of magnitude. No second solution is needed for it: the strains of the
formulation are compared with those that balance asks for. You are warned above half a
thousandth of the length.
"""

# sphinx_gallery_group = "validation"

import warnings

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

FAMILIES = {
    "BSpline": [pl.BSpline(3, points) for points in (5, 7, 10, 15, 22, 32)],
    "Hermite": [pl.Hermite(elements) for elements in (1, 2, 4, 6, 10, 14)],
    "Strain": [pl.Strain(order=1, segments=segments) for segments in (1, 2, 4, 8, 16, 32)],
    "Shooting": [pl.Shooting(steps) for steps in (4, 8, 16, 32, 64)],
}
EXPECTED = {
    "smallest estimate over error": (0.78, 0.1),
    "largest estimate over error": (8.8, 0.5),  # of Shooting(4), far from convergence
    "warnings": (6, 1),
}


def arm_in_the_wind() -> pl.Robot:
    robot = pl.Robot()
    silicone = pl.Material(E=5e5, nu=0.45, rho=1100.0)
    arm = robot.add_rod("arm", 0.3, pl.Circle((0.012, 0.006)), silicone, pose=pl.along("x"))
    robot.add_load("wind", arm, force=(0, 0.4, 0))
    robot.add_load("pull", arm.tip, force=(0, 0.05, 0.02))
    return robot


def main() -> dict[str, float]:
    robot, s = arm_in_the_wind(), np.linspace(0.0, 0.3, 61)
    exact = robot.statics(formulation=pl.BSpline(5, 60)).position("arm", s)
    ratios, warned = [], 0
    with style():
        _, axes = plt.subplots(figsize=(6.4, 5.0), layout="constrained")
        for (name, family), marker in zip(FAMILIES.items(), "osD^", strict=True):
            points = []
            for formulation in family:
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    still = robot.statics(formulation=formulation)
                true = np.linalg.norm(still.position("arm", s) - exact, axis=1).max() / 0.3
                points.append((true, still.error.relative))
                warned += bool(told)
            curve = np.array(points)
            ratios += list(curve[:, 1] / curve[:, 0])
            axes.loglog(*curve.T, marker=marker, markersize=6, linewidth=1.2)
            axes.annotate(
                name,
                curve[-1],
                xytext=(9, -3),
                textcoords="offset points",
                fontsize=9,
                clip_on=False,
            )
        ends = np.array(axes.get_xlim())
        axes.loglog(ends, ends, color="#9aa1ab", linestyle="--", linewidth=1.2, zorder=0)
        axes.axhline(5e-4, color="#c9ced6", linewidth=1.0, zorder=0)
        axes.text(ends[0] * 1.3, 6e-4, "warning above", color="#6b727c", fontsize=9)
        axes.set(xlabel="true error / length", ylabel="estimated error / length")
    return {
        "smallest estimate over error": min(ratios),
        "largest estimate over error": max(ratios),
        "warnings": warned,
    }


if __name__ == "__main__":
    main()
    plt.show()
