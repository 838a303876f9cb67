"""
A weight cut from a steel rod
=============================

Twenty grams hang at the tip of a thin steel rod until the thread is cut. The rod swings up and back
through the air, whose drag grows with the square of the speed: it takes a good part of the large
first swings and hardly anything of the small late ones. The dots are an independent solution of the
same rod.
"""

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_robot, style

LENGTH, DIAMETER, BENDING, DENSITY = 0.408, 1.42e-3, 0.03803, 7621.0
DRAG = 0.003556  # kg/m^2
KNOWN = ((0.25, 0.085620), (0.5, -0.097249))  # time, height of the tip
EXPECTED = {
    "tip height under the weight": (-0.116945, 2e-6),
    "tip height after 0.25 s": (0.0856, 5e-4),
    "tip height after 0.5 s": (-0.0971, 1e-3),
    "part of the energy taken by the air in 0.5 s": (0.289, 0.002),
    "gap in the energy books": (0.0, 1e-3),
}


def steel_rod() -> pl.Robot:
    """The rod, along x with y up; shear and stretch are stiff, as in steel."""
    area, moment = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
    axial, spin = BENDING / moment * area, DENSITY * moment
    section = pl.Stiffness(
        bending=BENDING,
        twist=BENDING,
        shear=axial,
        axial=axial,
        mass=DENSITY * area,
        inertia=(spin, spin, 2 * spin),
    )
    robot = pl.Robot(gravity=(0, -9.81, 0))
    rod = robot.add_rod("rod", LENGTH, section, pose=pl.along("x"), drag=DRAG)
    robot.add_load("weight", rod.tip, force=(0, -0.02 * 9.81, 0))
    return robot


def stroboscope(motion: pl.Motion, until: float) -> None:
    s = np.linspace(0.0, LENGTH, 61)
    poses = motion.pose("rod", s)[motion.t <= until]
    draw_robot([RodShape("rod", poses, 1e-3)], title=f"the first {until:g} s", view=(90, -90))


def draw(motion: pl.Motion, rest: float) -> None:
    with style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(6.4, 5.6), sharex=True, layout="constrained"
        )
    above.plot(motion.t, motion.tip("rod")[:, 1, 3])
    above.plot(*zip(*KNOWN, strict=True), "o", label="independent solution")
    above.set_ylabel("height of the tip / m")
    above.legend(frameon=False)
    energy = motion.energy
    below.plot(motion.t, 1e3 * (energy["total"] - rest), label="energy of the rod")
    below.plot(motion.t, 1e3 * energy["dissipated"], label="taken by the air")
    below.set_ylabel("energy / mJ")
    below.set_xlabel("time / s")
    below.legend(frameon=False)
    figure.align_ylabels()


def main() -> dict[str, float]:
    robot = steel_rod()
    spline = pl.BSpline(degree=3, points=12)
    held = robot.statics(formulation=spline)
    motion = robot.simulate(1.5, 2.5e-4, {"weight": 0.0}, held, output_every=0.005)
    stroboscope(motion, 0.08)
    rest = robot.statics({"weight": 0.0}, spline).energy["total"]
    draw(motion, rest)
    tip, energy, half = motion.tip("rod")[:, 1, 3], motion.energy, np.argmin(abs(motion.t - 0.5))
    return {
        "tip height under the weight": tip[0],
        "tip height after 0.25 s": tip[np.argmin(abs(motion.t - 0.25))],
        "tip height after 0.5 s": tip[half],
        "part of the energy taken by the air in 0.5 s": energy["dissipated"][half]
        / (energy["total"][0] - rest),
        "gap in the energy books": np.abs(energy["balance"]).max() / energy["dissipated"][-1],
    }


if __name__ == "__main__":
    main()
    plt.show()
