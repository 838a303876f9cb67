"""
Damping and gain of a loaded arm
================================

A soft arm carries a hand on a hinge. `Robot.linearise` makes a linear system of its small motions about
the equilibrium: damped modes on the left, and how its tip answers a force and a shaken base on the
right. The circles are simulations with small sinusoidal forces: they lie on the curve.
"""

# sphinx_gallery_group = "dynamics"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import legend_beside, style

EXPECTED = {
    "first frequency / Hz": (1.202, 0.002),
    "first damping ratio": (0.0689, 0.0005),
    "largest deviation of a simulation": (0.0, 0.015),
}
SHAKEN = (0.6, 2.0, 4.0)
"""Frequencies of the simulations, Hz."""


def arm() -> pl.Robot:
    robot = pl.Robot()
    silicone = pl.Material(E=1e6, nu=0.45, rho=1000.0, viscosity=3e4)
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), silicone, pose=pl.along("x"))
    joint = pl.Revolute("y", stiffness=0.05, damping=5e-4)
    robot.add_body("hand", 0.01, (1e-5,) * 3, on=rod.tip, centre=(0, 0, 0.02), joint=joint)
    robot.add_load("force", rod.tip, force=(0, 0, 1))
    robot.add_base_motion("base", rod, translation=(0, 0, 1))
    return robot


def simulated_gain(robot: pl.Robot, still: pl.Equilibrium, frequency: float) -> float:
    """Amplitude of the tip over that of a small force, after the start has died out."""
    size, periods = 1e-4, 3
    end = (np.ceil(10.0 * frequency) + periods) / frequency
    inputs = {"force": pl.Sine(amplitude=size, frequency=frequency), "base": 0.0}
    motion = robot.simulate(end, 0.01, inputs, start=still)
    late = motion.t > end - periods / frequency
    z = motion.position("arm.tip")[late, 2]
    phases = 2.0 * np.pi * frequency * motion.t[late]
    waves = np.column_stack([np.sin(phases), np.cos(phases), np.ones(len(phases))])
    return float(np.linalg.norm(np.linalg.lstsq(waves, z, rcond=None)[0][:2]) / size)


def draw(small: pl.Linearisation, points: dict[float, float]) -> None:
    with style():
        _, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8), layout="constrained")
    slow = small.frequencies < 60.0
    left.semilogx(small.frequencies[slow], small.damping[slow], "o", markersize=5)
    left.set(xlabel="frequency / Hz", ylabel="damping ratio", title="damped modes")
    left.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    left.set_xticks([], minor=True)
    f = np.geomspace(0.2, 30.0, 500)
    gains = np.abs(small.response(f))[:, 0]
    right.loglog(f, gains[:, 0], label="tip over force, m/N")
    right.loglog(f, gains[:, 1], label="tip over base, m/m")
    right.loglog(list(points), list(points.values()), "ko", mfc="none", label="simulated")
    right.set(xlabel="frequency / Hz", ylabel="gain / (m/N, 1)", title="gains at the tip")
    legend_beside(right)


def main() -> dict[str, float]:
    robot = arm()
    still = robot.statics({"force": 0.0, "base": 0.0})
    small = robot.linearise(still, ["force", "base"], [("arm.tip", "z")])
    points = {f: simulated_gain(robot, still, f) for f in SHAKEN}
    draw(small, points)
    exact = np.abs(small.response(SHAKEN))[:, 0, 0]
    off = np.abs(np.array(list(points.values())) / exact - 1.0)
    return {
        "first frequency / Hz": small.frequencies[0],
        "first damping ratio": small.damping[0],
        "largest deviation of a simulation": float(off.max()),
    }


if __name__ == "__main__":
    main()
    plt.show()
