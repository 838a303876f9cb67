"""
One actuator motion, four formulations
======================================

The pneumatic actuator with 20 g at its tip and both chambers driven, solved with nodal coordinates
(ANCF), splines (BSpline), strain modes (Strain) and shooting, all with the trapezoidal rule in time.
The methods share only the description of the robot, and their motions agree to a few millionths of the
length. The differences are discretisation errors: with twice as many elements and half the step they
are several times smaller. Pressures act on the chambers without delay.

After Y. Rong and G. Gu (2024), who used the first of the four.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, MASS = 0.175, 0.12038370137467044
DURATION, TIMES = 0.4, np.linspace(0.0, 0.4, 21)
PRESSURES = {
    "chamber1": pl.Sine(5e4, 1.6, phase=-np.pi / 2, offset=5e4),
    "chamber2": pl.Sine(1e4, 1.0, phase=-np.pi / 2, offset=1e4),
}
EXPECTED = {
    "coarse: largest distance / length": (2.4e-5, 5e-6),
    "fine: largest distance / length": (6e-6, 1.5e-6),
    "travel of the tip / mm": (73.8, 0.5),
}


def make_robot() -> pl.Robot:
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=2.4
    )
    rod = robot.add_actuator("finger", finger, pl.along("-z"))
    robot.add_body("weight", 0.02, on=rod.tip)
    return robot


def compare(robot: pl.Robot, fineness: int, dt: float) -> pl.Comparison:
    """All four with the same step; sections have their rotary inertia in all of them."""
    trapezoidal, along = pl.Newmark(), pl.BDFAlpha(-0.5)
    entries = {
        "ANCF": (pl.ANCF(6 * fineness, rotary=True), trapezoidal),
        "BSpline": (pl.BSpline(3, 3 + 6 * fineness), trapezoidal),
        "Shooting": (pl.Shooting(steps=20 * fineness), along),
    }
    return pl.compare(
        robot, entries, reference=(pl.Strain(2, 2 * fineness), trapezoidal), inputs=PRESSURES,
        duration=DURATION, dt=dt, start="statics", output_times=TIMES, repeat=1,
    )  # fmt: skip


def main() -> dict[str, float]:
    robot = make_robot()
    coarse, fine = compare(robot, 1, 5e-3), compare(robot, 2, 2.5e-3)
    print(coarse)
    print(fine)
    fine.plot()
    with style():
        _, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        for method, motion in fine.results.items():
            ax.plot(TIMES, 1e3 * motion.tip("finger")[:, 0, 3], label=method)
        ax.set(xlabel="time / s", ylabel="tip / mm", title="four formulations, one line")
        ax.legend()
    tip = next(iter(fine.results.values())).tip("finger")
    return {
        "coarse: largest distance / length": max(row.position for row in coarse.table[1:]),
        "fine: largest distance / length": max(row.position for row in fine.table[1:]),
        "travel of the tip / mm": 1e3 * float(np.ptp(tip[:, 0, 3])),
    }


if __name__ == "__main__":
    main()
    plt.show()
