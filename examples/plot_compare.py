"""
One robot, several formulations
===============================

A tapered rod with natural curvature, under its weight, a force and a moment at its tip and a follower
force at its middle, solved with splines, Hermite segments and strain modes. `pliant.compare` compares
each result with a reference, here strain modes of high order. The finer methods agree with it to 1e-6
of the length at rest, and to 2e-6 in the motion after all loads are applied at once. Coarser methods
are faster: a spline of 14 points takes a tenth of the time of 180 points and is accurate to 3e-5. The
force inside the rod makes the shear jump there; splines have a repeated knot at that place, which costs
the coarse one two control points.
"""

# sphinx_gallery_group = "first steps"

import matplotlib.pyplot as plt

import pliant as pl

COARSE = {
    "spline, 14 points": pl.BSpline(degree=3, points=14),
    "Hermite, 10 elements": pl.Hermite(elements=10),
    "strain, 2 of order 1": pl.Strain(order=1, segments=2),
}
FINE = {
    "spline, 180 points": pl.BSpline(degree=3, points=180),
    "Hermite, 90 elements": pl.Hermite(elements=90),
    "strain, 8 of order 4": pl.Strain(order=4, segments=8),
}
REFERENCE = pl.Strain(order=6, segments=8)
EXPECTED = {
    "largest error at rest of the fine ones": (0.0, 1e-6),
    "largest error in motion of the fine ones": (0.0, 2e-6),
    "error at rest of the coarse spline": (2.7e-5, 2e-6),
    "unknowns of the coarse spline": (135, 0),
}


def curved_rod() -> pl.Robot:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=3000.0)
    arm = robot.add_rod(
        "arm", 0.4, pl.Circle((0.012, 0.006)), rubber, pose=pl.along("x"), natural=(1.0, -3.0, 0.5)
    )
    robot.add_load("pull", arm.tip, force=(0.0, 0.05, 0.1))
    robot.add_load("turn", arm.tip, moment=(0.002, 0.0, -0.004))
    robot.add_load("follow", arm.at(0.2), force=(0.1, 0.05, 0.0), frame="body")
    return robot


def main() -> dict[str, float]:
    robot = curved_rod()
    still = pl.compare(robot, {**COARSE, **FINE}, REFERENCE)
    print(still)
    still.plot()
    moving = pl.compare(robot, {**COARSE, **FINE}, REFERENCE, duration=0.15, dt=0.0025)
    print(moving)
    moving.plot()
    spline = still.row("spline, 14 points")
    return {
        "largest error at rest of the fine ones": max(still.row(n).position for n in FINE),
        "largest error in motion of the fine ones": max(moving.row(n).position for n in FINE),
        "error at rest of the coarse spline": spline.position,
        "unknowns of the coarse spline": spline.unknowns,
    }


if __name__ == "__main__":
    main()
    plt.show()
