"""
An arm driven by signals
========================

Every load of a robot is an input, and an input may be a number, a function of time or a signal. Here a
follower moment curls an arm along a ramp, a sinusoidal force moves its tip sideways, and a table of
values pushes it in the middle. Signals are plain data, so a robot file can contain the same ones.
"""

# sphinx_gallery_group = "first steps"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_curves, draw_robot, style

SIGNALS = {
    "curl": pl.Ramp(start=0.0, end=1.0, t0=0.2, t1=1.2),
    "sway": pl.Sine(amplitude=1.0, frequency=1.25),
    "tap": pl.TimeTable(t=[0.0, 2.0, 2.05, 2.1], values=[0.0, 0.0, 1.0, 0.0]),
}
EXPECTED = {
    "highest tip": (0.109, 0.002),
    "widest sway": (0.256, 0.003),
    "work of the inputs": (0.661, 0.01),
    "gap in the energy books": (0.0024, 0.001),
}


def arm_with_inputs() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm",
        length=0.35,
        section=pl.Circle((0.016, 0.008)),
        material=pl.Material(E=5e5, nu=0.5, rho=1070.0, viscosity=8000.0),
        pose=pl.along("x"),
    )
    robot.add_load("curl", arm.tip, moment=(0, -0.05, 0), frame="body")
    robot.add_load("sway", arm.tip, force=(0, 0.15, 0))
    robot.add_load("tap", arm.at(0.175), force=(0, 0, -4.0))
    return robot


def stroboscope(robot: pl.Robot, motion: pl.Motion, until: float) -> None:
    rod = robot.description.rods["arm"]
    s = np.linspace(0.0, rod.length, 61)
    outline = np.stack(rod.section.outline(s, rod.length), axis=-1)
    poses = motion.pose("arm", s)[motion.t <= until]
    draw_robot([RodShape("arm", poses, outline)], title="the arm curls up while it sways")


def draw(motion: pl.Motion) -> None:
    with style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(6.4, 5.6), sharex=True, layout="constrained", height_ratios=(2, 3)
        )
    draw_curves(motion.t, motion.inputs, "factor of the load", ax=above)
    above.set_xlabel("")
    draw_curves(motion.t, {"tip": motion.tip("arm")[:, :3, 3]}, "position / m", ax=below)
    figure.align_ylabels()


def main() -> dict[str, float]:
    robot = arm_with_inputs()
    motion = robot.simulate(3.0, 0.005, SIGNALS, start="statics", output_every=0.01)
    stroboscope(robot, motion, until=1.2)
    draw(motion)
    tip, energy = motion.tip("arm")[:, :3, 3], motion.energy
    return {
        "highest tip": tip[:, 2].max(),
        "widest sway": np.abs(tip[:, 1]).max(),
        "work of the inputs": energy["work"][-1],
        "gap in the energy books": np.abs(energy["balance"]).max() / energy["dissipated"][-1],
    }


if __name__ == "__main__":
    main()
    plt.show()
