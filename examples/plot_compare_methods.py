"""
Shooting, collocation and splines on one rod
============================================

A tapered rod with natural curvature, in a fluid, under its weight, a force and a moment at its tip and
a follower force at its middle. Shooting, multiple shooting and splines are compared with collocation
with the same time step: at rest and in motion, all agree to 1e-6 of the length. Shooting has six
unknowns, collocation 120, the spline thousands, most of them because of the jump of the shear where the
follower force acts.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl

METHODS = {
    "shooting": pl.Shooting(steps=400),
    "multiple shooting": pl.MultipleShooting(intervals=8, steps=400),
    "spline": pl.BSpline(degree=3, points=320),
}
EXPECTED = {
    "largest error at rest": (0.0, 1e-6),
    "largest error in motion": (0.0, 1e-6),
    "error of shooting at rest": (0.0, 1e-8),
    "unknowns of shooting": (6, 0),
}


def curved_rod() -> pl.Robot:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=3000.0)
    arm = robot.add_rod(
        "arm", 0.4, pl.Circle((0.012, 0.008)), rubber, pl.along("x"), natural=(1, -3, 0.5), drag=5.0
    )
    robot.add_load("pull", arm.tip, force=(0.0, 0.05, 0.1))
    robot.add_load("turn", arm.tip, moment=(0.002, 0.0, -0.004))
    robot.add_load("follow", arm.at(0.2), force=(0.1, 0.05, 0.0), frame="body")
    return robot


def growing(t: float) -> float:
    return float(1.0 + 0.5 * np.sin(20.0 * t) ** 2)


def main() -> dict[str, float]:
    robot = curved_rod()
    still = pl.compare(robot, METHODS, pl.Collocation())
    print(still)
    still.plot()
    trapezoidal = pl.BDFAlpha(-0.5)
    moving = pl.compare(
        robot,
        {
            "shooting": (METHODS["shooting"], trapezoidal),
            "multiple shooting": (METHODS["multiple shooting"], trapezoidal),
            "spline": METHODS["spline"],
        },
        (pl.Collocation(), trapezoidal),
        inputs=dict.fromkeys(("pull", "turn", "follow"), growing),
        duration=0.04,
        dt=5e-4,
        start="statics",
        repeat=1,
    )
    print(moving)
    moving.plot()
    return {
        "largest error at rest": max(still.row(name).position for name in METHODS),
        "largest error in motion": max(moving.row(name).position for name in METHODS),
        "error of shooting at rest": still.row("shooting").position,
        "unknowns of shooting": still.row("shooting").unknowns,
    }


if __name__ == "__main__":
    main()
    plt.show()
