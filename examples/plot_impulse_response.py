"""
A blow near the base of a steel rod
===================================

A rod of 0.517 m is hit near its base, at a twentieth of its length: the force rises to 5 N and falls to
zero within 16 ms. The blow excites many modes, and the tip responds with a slow swing and ripples.
Steps of 2 ms resolve them. The pictures show the tip, and the rod while the first wave travels along
it. Stiffness, density and drag are those identified from another motion, the release of a weight.

Where simple shooting fails, multiple shooting takes over; the motion reports how often.
"""

# sphinx_gallery_group = "dynamics"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, DIAMETER, BENDING, DENSITY, DRAG = 0.517, 1.42e-3, 0.03803, 7621.0, 0.003556
PEAK, DURATION, PLACE = 5.0, 0.016, 0.05 * 0.517
EXPECTED = {
    "tip height at rest / mm": (-27.739, 0.01),
    "tip height after 0.2 s / mm": (-20.475, 0.05),
    "work of the blow / mJ": (0.6161, 0.005),
    "out of its plane / m": (0.0, 1e-9),
}


def hit_rod() -> pl.Robot:
    area, moment = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
    E, spin = BENDING / moment, DENSITY * moment
    section = pl.Stiffness(
        bending=BENDING,
        twist=BENDING / 1.3,
        shear=E * area / 2.6,
        axial=E * area,
        mass=DENSITY * area,
        inertia=(spin, spin, 2 * spin),
    )
    robot = pl.Robot(gravity=(0, -9.81, 0))
    rod = robot.add_rod("rod", LENGTH, section, pose=pl.along("x"), drag=DRAG, theory="kirchhoff")
    robot.add_load("hit", rod.at(PLACE), force=(0, -1, 0))
    return robot


def force(t: float) -> float:
    """The blow at time t, N."""
    return PEAK * max(0.0, 1.0 - abs(2.0 * t / DURATION - 1.0))


def draw_wave(motion: pl.Motion) -> None:
    """The rod every 6 ms, less its sag."""
    s = np.linspace(0.0, LENGTH, 61)
    height = 1e3 * motion.position("rod", s)[..., 1]
    with style():
        _, ax = plt.subplots(figsize=(7.2, 3.2), layout="constrained")
    for k in range(3, 22, 3):
        ax.plot(s, height[k] - height[0], label=f"{1e3 * motion.t[k]:.0f} ms", alpha=0.9)
    ax.set(xlabel="arclength / m", ylabel="height less sag / mm")
    ax.legend(frameon=False, ncols=4)


def main() -> dict[str, float]:
    robot, form = hit_rod(), pl.Shooting(steps=100)
    still = robot.statics({"hit": 0.0}, form)
    motion = robot.simulate(0.5, 2e-3, {"hit": force}, still, integrator=pl.BDFAlpha(-0.48))
    print(motion.rescues)
    tip = motion.tip("rod")[:, :3, 3]
    with style():
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(7.2, 4.6), sharex=True, layout="constrained", height_ratios=(1, 3)
        )
    above.plot(motion.t, [force(t) for t in motion.t])
    above.set_ylabel("force / N")
    below.plot(motion.t, 1e3 * tip[:, 1])
    below.set(xlabel="time / s", ylabel="height of the tip / mm")
    figure.align_ylabels()
    draw_wave(motion)
    return {
        "tip height at rest / mm": 1e3 * tip[0, 1],
        "tip height after 0.2 s / mm": 1e3 * tip[100, 1],
        "work of the blow / mJ": 1e3 * motion.energy["work"][-1],
        "out of its plane / m": np.abs(tip[:, 2]).max(),
    }


if __name__ == "__main__":
    main()
    plt.show()
