"""
A weight cut from a steel rod
=============================

Twenty grams hang at the tip of a thin steel rod until the string is cut. The rod swings up and back
through the air. Drag grows with the square of the speed: it takes much energy from the large first
swings and hardly any from the small late ones.

The motion is computed by shooting with an implicit rule in time, with Euler's method on 400 intervals
along the rod and with RK4 on 100, each with the stiffness, density and drag that Till and Rucker
identified for it. The two differ by at most 2.5 mm in swings of 200 mm. The dotted envelope is the
effect of drag on the first mode of a beam; dots are an independent solution of the same rod.
"""

# sphinx_gallery_group = "dynamics"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import RodShape, draw_robot, style

LENGTH, DIAMETER = 0.408, 1.42e-3
SETS = {  # bending stiffness N m^2, density kg/m^3, drag kg/m^2
    "RK4, N = 100": (pl.Shooting(steps=100), 0.03803, 7621.0, 0.003556),
    "Euler, N = 400": (pl.Shooting(steps=400, scheme="euler"), 0.03823, 7640.0, 0.003507),
}
KNOWN = ((0.25, 0.085620), (0.5, -0.097249))  # time, height of the tip
EXPECTED = {
    "tip height under the weight": (-0.116945, 1e-6),
    "tip height after 0.25 s": (0.0837, 2e-4),
    "frequency / Hz": (5.970, 0.01),
    "rate of 1 / amplitude over that of the beam": (1.0, 0.02),
    "largest gap between the two / mm": (2.51, 0.2),
}


def steel_rod(bending: float, density: float, drag: float) -> pl.Robot:
    """The rod, along x with y up; it neither stretches nor shears."""
    area, moment = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
    E, spin = bending / moment, density * moment
    section = pl.Stiffness(
        bending=bending,
        twist=bending / 1.3,
        shear=E * area / 2.6,
        axial=E * area,
        mass=density * area,
        inertia=(spin, spin, 2 * spin),
    )
    robot = pl.Robot(gravity=(0, -9.81, 0))
    rod = robot.add_rod("rod", LENGTH, section, pose=pl.along("x"), drag=drag, theory="kirchhoff")
    robot.add_load("weight", rod.tip, force=(0, -0.02 * 9.81, 0))
    return robot


def beam(bending: float, density: float, drag: float) -> float:
    """The rate of 1 / amplitude of the first mode, 1/(m s)."""
    b, x, line = 1.8751, np.linspace(0.0, 1.0, 1001), density * np.pi * DIAMETER**2 / 4
    c = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    phi = np.cosh(b * x) - np.cos(b * x) - c * (np.sinh(b * x) - np.sin(b * x))
    phi /= phi[-1]
    w = (b / LENGTH) ** 2 * np.sqrt(bending / line)
    return 4 / (3 * np.pi) * drag / line * w * np.mean(phi**3) / np.mean(phi**2)


def draw(curves: dict[str, tuple[np.ndarray, np.ndarray]], rest: float, rate: float) -> None:
    with style():
        figure, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    for (label, (t, y)), line in zip(curves.items(), ("-", "--"), strict=True):
        ax.plot(t, y, line, label=label)
    (t, y) = next(iter(curves.values()))
    size = 1 / (1 / np.abs(y[:60] - rest).max() + rate * t)
    for side in (1, -1):
        ax.plot(t, rest + side * size, ":", color="0.5", label="beam" if side == 1 else None)
    ax.plot(*zip(*KNOWN, strict=True), "o", label="independent solution")
    ax.set(xlabel="time / s", ylabel="height of the tip / m")
    figure.legend(loc="outside upper center", frameon=False, ncols=4)


def main() -> dict[str, float]:
    curves, rests = {}, []
    for label, (form, *known) in SETS.items():
        robot = steel_rod(*known)
        held = robot.statics(formulation=form)
        motion = robot.simulate(1.5, 2e-3, {"weight": 0.0}, held, integrator=pl.BDFAlpha(-0.48))
        curves[label] = (motion.t, motion.tip("rod")[:, 1, 3])
        rests.append(robot.statics({"weight": 0.0}, form).tip("rod")[1, 3])
        if len(curves) == 1:
            poses = motion.pose("rod", np.linspace(0.0, LENGTH, 41))[motion.t <= 0.08][::4]
            draw_robot([RodShape("rod", poses, 1e-3)], title="the first 0.08 s", view=(90, -90))
    rate = beam(*SETS["RK4, N = 100"][1:])
    draw(curves, rests[0], rate)
    t, y = curves["RK4, N = 100"]
    swing = y - rests[0]
    up = np.flatnonzero((swing[:-1] < 0) & (swing[1:] >= 0))
    times = t[up] - swing[up] * (t[up + 1] - t[up]) / (swing[up + 1] - swing[up])
    size = np.abs(swing)
    peaks = [k for k in range(2, len(t) - 2) if size[k] == size[k - 2 : k + 3].max() > 0.02]
    return {
        "tip height under the weight": y[0],
        "tip height after 0.25 s": y[125],
        "frequency / Hz": (len(times) - 1) / (times[-1] - times[0]),
        "rate of 1 / amplitude over that of the beam": np.polyfit(t[peaks], 1 / size[peaks], 1)[0]
        / rate,
        "largest gap between the two / mm": 1e3
        * np.abs(np.subtract(y, curves["Euler, N = 400"][1]))[:251].max(),
    }


if __name__ == "__main__":
    main()
    plt.show()
