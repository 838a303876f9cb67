"""
Many rods in one call
=====================

How certain is a prediction if the parameters are known only to a few percent? Forty rods, with
stiffness, mass and drag drawn from the uncertainty of a calibration, are released from the same weight.
`pliant.simulate_many` simulates them in parallel on all cores. The band contains nine tenths of them:
phases drift apart with time, while amplitudes stay close.
"""

# sphinx_gallery_group = "dynamics"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import legend_beside, style

COUNT, DURATION, DT = 40, 1.0, 4e-3
DIAMETER = 1.42e-3
AREA, MOMENT = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
FORM = pl.Shooting(steps=30)
EXPECTED = {
    "motions": (40, 0),
    "width of the band in the first swing / mm": (15.0, 5.0),
    "width of the band in the last swing / mm": (110.0, 30.0),
}


def rod(bending: float, density: float, drag: float) -> pl.Robot:
    spin = density * MOMENT
    section = pl.Stiffness(
        bending=bending,
        twist=0.03,
        shear=1.2e5,
        axial=3e5,
        mass=density * AREA,
        inertia=(spin, spin, 2 * spin),
    )
    robot = pl.Robot(gravity=(0, -9.81, 0))
    part = robot.add_rod("rod", 0.408, section, pose=pl.along("x"), drag=drag, theory="kirchhoff")
    robot.add_load("weight", part.tip, force=(0, -0.02 * 9.81, 0))
    return robot


def main() -> dict[str, float]:
    drawn = np.random.default_rng(0).normal(1.0, (0.02, 0.02, 0.1), (COUNT, 3))
    robots = [rod(0.03803 * a, 7621.0 * b, 0.003556 * c) for a, b, c in drawn]
    held = pl.statics_many(robots, formulation=FORM)
    motions = pl.simulate_many(
        robots,
        DURATION,
        DT,
        {"weight": 0.0},
        held,
        integrator=pl.BDFAlpha(-0.48),
        output_every=2 * DT,
    )
    t = motions[0].t
    height = np.array([motion.tip("rod")[:, 1, 3] for motion in motions])
    low, middle, high = np.quantile(height, (0.05, 0.5, 0.95), axis=0)
    with style():
        _, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    ax.plot(t, height.T, color="0.6", lw=0.4)
    ax.fill_between(t, low, high, alpha=0.35, label="nine of ten")
    ax.plot(t, middle, label="median")
    ax.set(xlabel="time / s", ylabel="height of the tip / m")
    legend_beside(ax)
    width = 1e3 * (high - low)
    return {
        "motions": len(motions),
        "width of the band in the first swing / mm": width[t < 0.17].max(),
        "width of the band in the last swing / mm": width[t > 0.83].max(),
    }


if __name__ == "__main__":
    main()
    plt.show()
