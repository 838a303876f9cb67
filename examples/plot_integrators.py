"""
Order of the time integrators
=============================

The same smooth motion, a soft damped rod moved by a force at its tip, with decreasing steps and every
integrator of Pliant. Errors of the implicit midpoint rule, Newmark and generalised-alpha decrease with
the square of the step; those of implicit Euler and of the explicit variational integrator with the
step. The explicit integrator needs steps short enough for the fastest wave in the rod, so its curve
starts where the others end, with a small error.
"""

# sphinx_gallery_group = "methods"

import warnings

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import draw_convergence

DURATION = 0.3
FORMULATION = pl.BSpline(degree=3, points=6)
METHODS = {
    "Midpoint": (pl.Midpoint(), (20, 40, 80, 160)),
    "Newmark": (pl.Newmark(), (20, 40, 80, 160)),
    "GeneralizedAlpha": (pl.GeneralizedAlpha(), (20, 40, 80, 160)),
    "ImplicitEuler": (pl.ImplicitEuler(), (20, 40, 80, 160)),
    "Variational": (pl.Variational(tolerance=1e-7), (160, 320, 640, 1280)),
}
EXPECTED = {
    "order of Midpoint": (2.0, 0.2),
    "order of Newmark": (2.0, 0.2),
    "order of GeneralizedAlpha": (2.0, 0.2),
    "order of ImplicitEuler": (1.0, 0.2),
    "order of Variational": (1.0, 0.2),
}


def swaying_rod() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    rod = robot.add_rod(
        "rod",
        length=1.0,
        section=pl.Circle((0.05, 0.03)),
        material=pl.Material(E=2e6, nu=0.45, rho=1000.0, viscosity=2e4),
        pose=pl.along("x"),
    )
    robot.add_load("sway", rod.tip, force=(0, 4.0, 8.0))
    return robot


def tip_after(robot: pl.Robot, integrator: pl.Integrator, steps: int) -> np.ndarray:
    # from equilibrium under the cosine's first value: a jerk would wake waves too fast for the steps
    sway = pl.Sine(amplitude=1.0, frequency=2.0, phase=np.pi / 2)
    motion = robot.simulate(
        DURATION,
        DURATION / steps,
        inputs={"sway": sway},
        start="statics",
        formulation=FORMULATION,
        integrator=integrator,
        output_times=[DURATION],
    )
    return motion.tip("rod")[-1, :3, 3]


def main() -> dict[str, float]:
    robot = swaying_rod()
    fine, finer = (tip_after(robot, pl.Newmark(), n) for n in (320, 640))
    exact = finer + (finer - fine) / 3  # what is left is of order four
    steps, errors, orders = {}, {}, {}
    for name, (integrator, counts) in METHODS.items():
        steps[name] = DURATION / np.array(counts)
        with warnings.catch_warnings():  # implicit Euler damps, and says so
            warnings.simplefilter("ignore", pl.NumericalDamping)
            off = [np.linalg.norm(tip_after(robot, integrator, n) - exact) for n in counts]
        errors[name] = np.array(off)
        orders[f"order of {name}"] = float(np.log2(off[-2] / off[-1]))
    draw_convergence(
        steps,
        errors,
        {"Midpoint": 2, "ImplicitEuler": 1},
        ylabel="error of the tip / m",
        title=f"the tip after {DURATION:g} s",
    )
    return orders


if __name__ == "__main__":
    main()
    plt.show()
