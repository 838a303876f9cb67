"""
Rods joined end to end
======================

The base of a rod may be the tip of another rod. Each rod has its own section, material and formulation.
Here a stiff foot supports a soft arm, which supports a curled finger: a cubic spline, a Hermite rod and
strain modes in one robot. A tapered rod cut into two pieces has the same shape as the whole rod, so the
joint adds no error.
"""

# sphinx_gallery_group = "loads"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_comparison

RUBBER = pl.Material(E=1e6, nu=0.45, rho=1100.0)
EXPECTED = {
    "gap between cut and whole": (0.0, 1e-6),
    "finger tip x": (0.513, 0.003),
    "finger tip z": (-0.101, 0.003),
    "weight on the clamp": (5.586, 0.005),
}


def radius(s: float) -> float:
    return 0.02 - 0.015 * s


def whole_rod() -> pl.Equilibrium:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.6, pl.Circle(radius), RUBBER, pose=pl.along("x"))
    robot.add_load("push", arm.tip, force=(0, 0, 1.5))
    return robot.statics(formulation=pl.BSpline(3, 60))


def cut_rod() -> pl.Equilibrium:
    robot = pl.Robot()
    first = robot.add_rod("first", 0.25, pl.Circle(radius), RUBBER, pose=pl.along("x"))
    rest = pl.Circle(lambda s: radius(0.25 + s))
    second = robot.add_rod("second", 0.35, rest, RUBBER, base=first.tip)
    robot.add_load("push", second.tip, force=(0, 0, 1.5))
    return robot.statics(formulation={"first": pl.Hermite(20), "second": pl.Strain(3, 8)})


def finger_arm() -> pl.Equilibrium:
    robot = pl.Robot()
    foot = robot.add_rod(
        "foot", 0.2, pl.Rectangle(0.03, 0.03), pl.Material(E=5e7, nu=0.4, rho=1200.0),
        pose=pl.along("z"), formulation=pl.BSpline(2, 6),
    )  # fmt: skip
    arm = robot.add_rod(
        "arm", 0.4, pl.Circle((0.018, 0.012)), RUBBER, base=foot.tip,
        pose=pl.pose(rotation=(0, np.pi / 3, 0)), formulation=pl.Hermite(8),
    )  # fmt: skip
    robot.add_rod(
        "finger", 0.25, pl.Circle((0.009, 0.004)), RUBBER, base=arm.tip, natural=(0, -9.0, 0),
        formulation=pl.Strain(order=2, segments=4),
    )  # fmt: skip
    return robot.statics()


def main() -> dict[str, float]:
    still = finger_arm()
    still.plot()
    whole, cut = whole_rod(), cut_rod()
    s = np.linspace(0.0, 0.35, 36)
    pieces = [RodShape("first", cut.pose("first", s[:26]), 0.01)]
    pieces.append(RodShape("second", cut.pose("second", s), 0.01))
    marks = whole.position("arm", np.linspace(0, 0.6, 13))
    shapes = {"first piece": pieces[0], "second piece": pieces[1]}
    draw_comparison(shapes, {"the whole rod": marks}, title="a rod cut in two")
    gap = np.abs(cut.tip("second") - whole.tip("arm")).max()
    tip = still.tip("finger")[:3, 3]
    return {
        "gap between cut and whole": gap,
        "finger tip x": tip[0],
        "finger tip z": tip[2],
        "weight on the clamp": still.reactions["foot"][5],
    }


if __name__ == "__main__":
    main()
    plt.show()
