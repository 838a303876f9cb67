"""
Release of a bent arm
=====================

A thread pulls a tapered silicone arm sideways and up, then snaps. The picture shows the arm at rest
under the thread (lightest) and at equal intervals afterwards. The chart shows how the tip settles to
the equilibrium under the arm's own weight. ``motion.animate("arm.gif")`` writes an animation of the
same motion.
"""

# sphinx_gallery_group = "first steps"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_curves, draw_robot

EXPECTED = {
    "tip height at the start": (0.20331, 1e-4),
    "lowest tip height": (-0.287, 0.003),
    "dissipated": (0.137, 0.003),
}


def silicone_arm() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm",
        length=0.35,
        section=pl.Circle((0.016, 0.006)),
        material=pl.Material(E=5e5, nu=0.5, rho=1070.0, viscosity=4000.0),
        pose=pl.along("x"),
    )
    robot.add_load("thread", arm.tip, force=(-0.35, 0.35, 0.9))
    return robot


def stroboscope(robot: pl.Robot, motion: pl.Motion, until: float) -> None:
    rod = robot.description.rods["arm"]
    s = np.linspace(0.0, rod.length, 61)
    outline = np.stack(rod.section.outline(s, rod.length), axis=-1)
    poses = motion.pose("arm", s)[motion.t <= until]
    draw_robot([RodShape("arm", poses, outline)], title=f"the first {until:g} s", view=(18, -62))


def main() -> dict[str, float]:
    robot = silicone_arm()
    held = robot.statics()
    motion = robot.simulate(2.0, 0.005, {"thread": 0.0}, held, output_every=0.01)
    stroboscope(robot, motion, 0.2)
    tip = motion.tip("arm")[:, :3, 3]
    draw_curves(motion.t, {"tip": tip}, "position / m", title="the tip after the thread snaps")
    return {
        "tip height at the start": held.tip("arm")[2, 3],
        "lowest tip height": tip[:, 2].min(),
        "dissipated": motion.energy["dissipated"][-1],
    }


if __name__ == "__main__":
    main()
    plt.show()
