"""
A pneumatic bending actuator
============================

Two chambers of 6 mm radius lie 9 mm on either side of an inextensible layer; the actuator is 17.5 cm
long. Its bending stiffness follows from a measurement: held horizontally, with 30 g at its tip, the tip
drops by 34.37 mm. The curve shows the predicted drop over the stiffness. Without gravity, pressure
bends the actuator into an arc of angle M L / EI, which 8 elements reproduce to a millionth. The error
decreases with the fourth power of their number, as theory predicts (theta^5 / 240 n^4). Then one
chamber is inflated, directly and through a line that delays the pressure, and the tip swings.

After Y. Rong and G. Gu (2024), figures 1 and 4. The paper does not give the mass per length; the value
here follows from the drop and the stiffness of the paper.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import pliant as pl
from pliant.view import style

LENGTH, MASS, DROP = 0.175, 0.12038370137467044, 0.03437
EXPECTED = {
    "bending stiffness / N m^2": (0.0186, 1e-7),
    "tip angle by M L / EI, 8 elements": (1.0, 1e-5),
    "order in the number of elements": (4.0, 0.05),
    "distance from the spline / length": (0.0, 1e-5),
    "overshoot of the tip after a step of pressure": (0.89, 0.02),
}


def make_robot(bending=0.0186, gravity=0.0, along="-z", weight=0.0, line=None) -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, -gravity))
    finger = pl.BendingActuator(
        LENGTH, bending, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=2.4
    )
    rod = robot.add_actuator("finger", finger, pl.along(along), line=line)
    robot.add_body("weight", weight, on=rod.tip)
    return robot


def drop(bending: float) -> float:
    robot = make_robot(bending, 9.81, "x", 0.03)
    return -robot.statics(formulation=pl.ANCF(15)).tip("finger")[2, 3]


def angle_errors(pressure: float, counts) -> tuple[float, np.ndarray]:
    """The exact tip angle, and by how much each number of elements misses it."""
    theta = np.pi * 0.006**2 * 0.009 * pressure * LENGTH / 0.0186
    robot, angles = make_robot(), []
    for n in counts:
        tip = robot.statics({"chamber1": pressure}, pl.ANCF(n), tolerance=1e-13).tip("finger")
        angles.append(np.arctan2(tip[0, 2], -tip[2, 2]))
    return theta, theta - np.array(angles)


def bend(ax) -> float:
    """Shapes with 30 g at the tip, by ANCF and by a spline; the largest distance between them."""
    robot = make_robot(0.0186, 9.81, "x", 0.03)
    s = np.linspace(0.0, LENGTH, 61)
    worst = 0.0
    for pressure in (-1.5e5, -0.8e5, 0.0, 0.8e5, 1.5e5):
        inputs = {"chamber1": max(pressure, 0.0), "chamber2": max(-pressure, 0.0)}
        mine = robot.statics(inputs, pl.ANCF(8)).position("finger", s)
        spline = robot.statics(inputs, pl.BSpline(3, 15)).position("finger", s)
        worst = max(worst, np.linalg.norm(mine - spline, axis=1).max() / LENGTH)
        ax.plot(1e3 * mine[:, 0], 1e3 * mine[:, 2], color="#3a7ca5")
        ax.plot(1e3 * spline[::10, 0], 1e3 * spline[::10, 2], "o", color="#b8202c", markersize=3)
        label, end = f"{pressure / 1e3:+.0f} kPa", 1e3 * mine[-1, [0, 2]]
        ax.annotate(label, end, (6, -3), textcoords="offset points", fontsize=7)
    ax.set(xlabel="x / mm", ylabel="z / mm", title="30 g at the tip: ANCF, spline (dots)")
    ax.set_aspect("equal", "datalim")
    return worst


def swing(ax) -> float:
    """50 kPa at once and through a lag of 0.2 s; overshoot of the first."""
    tips = {}
    for name, line in (("at once", None), ("behind a lag of 0.2 s", pl.Lag(0.2))):
        robot = make_robot(gravity=9.81, weight=0.02, line=line)
        hanging = robot.statics({"chamber1": 0.0}, pl.ANCF(4))
        # what comes at once is there from the start; behind the line it begins at zero
        pressure = 5e4 if line is None else lambda t: 5e4 * (t > 0.0)
        motion = robot.simulate(3.0, 1e-3, {"chamber1": pressure}, start=hanging, output_every=0.01)
        tips[name] = 1e3 * motion.tip("finger")[:, 0, 3]
        ax.plot(motion.t, tips[name], label=name)
    still = 1e3 * robot.statics({"chamber1": 5e4}, pl.ANCF(4)).tip("finger")[0, 3]
    ax.axhline(still, color="#8a8f98", linewidth=0.8)
    ax.set(xlabel="time / s", ylabel="tip / mm", title="50 kPa in one chamber, 20 g at the tip")
    ax.legend()
    return tips["at once"].max() / still - 1.0


def main() -> dict[str, float]:
    stiffness = np.linspace(0.008, 0.04, 17)
    identified = brentq(lambda EI: drop(EI) - DROP, 0.01, 0.04, xtol=1e-12)
    counts = np.array([2, 4, 8, 16, 32])
    theta, errors = angle_errors(1e5, counts)
    with style():
        _, axes = plt.subplots(2, 2, figsize=(9.0, 7.0), layout="constrained")
        first, second, third, fourth = axes.ravel()
        first.plot(stiffness, [1e3 * drop(EI) for EI in stiffness])
        first.plot([identified], [1e3 * DROP], "o", color="#b8202c")
        first.annotate(
            f"{identified:.4f} N m²", (identified, 1e3 * DROP), (8, 8), textcoords="offset points"
        )
        first.set(xlabel="bending stiffness / N m²", ylabel="drop / mm", title="Horizontal, 30 g")
        second.loglog(counts, errors / theta, "o-", label="measured")
        second.loglog(counts, theta**4 / (240.0 * counts**4), "--", label="theory")
        second.set(
            xlabel="elements", ylabel="relative error of the angle", title="100 kPa, no gravity"
        )
        second.set_xticks(counts, [str(n) for n in counts])
        second.minorticks_off()
        second.legend()
        distance, overshoot = bend(third), swing(fourth)
    return {
        "bending stiffness / N m^2": identified,
        "tip angle by M L / EI, 8 elements": 1.0 - errors[2] / theta,
        "order in the number of elements": float(np.log2(errors[2] / errors[3])),
        "distance from the spline / length": distance,
        "overshoot of the tip after a step of pressure": overshoot,
    }


if __name__ == "__main__":
    main()
    plt.show()
