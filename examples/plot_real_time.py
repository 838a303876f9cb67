"""
Faster than real time?
======================

Ratio of simulated time to computing time for the steel rod of Till and Rucker over the time step: a
weight cut from its tip, and a blow near its base, by shooting with Euler's method on 400 intervals and
with RK4 on 100, each with its calibrated stiffness, density and drag. Above one, in the coloured band,
the simulation is faster than real time. Here short motions are timed twice each; run
``benchmarks/real_time.py`` for longer ones and a table. Runs that stop early or gain energy are not
shown.
"""

# sphinx_gallery_group = "dynamics"

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

import pliant as pl
from pliant.view import legend_beside, style

DIAMETER = 1.42e-3
CALIBRATED = {"euler": (0.03823, 7640.0, 0.003507), "rk4": (0.03803, 7621.0, 0.003556)}
"""EI (N m^2), density (kg/m^3) and drag (kg/m^2)."""
FORMS = {"euler": pl.Shooting(steps=400, scheme="euler"), "rk4": pl.Shooting(steps=100)}
LABELS = {"euler": "Euler, N = 400", "rk4": "RK4, N = 100"}
SCENARIOS = ("weight release", "impulse")
ALPHA = pl.BDFAlpha(-0.48)
STEPS = (4e-3, 6e-3, 1e-2, 2e-2)
EXPECTED = {
    "tip released, RK4 / mm": (10.778, 0.01),
    "tip hit, RK4 / mm": (-31.114, 0.01),
    "points of the curves": (14.0, 0.0),
}


def steel_rod(scheme: str, length: float) -> tuple[pl.Robot, pl.Rod]:
    """The rod along x with y up; it neither stretches nor shears."""
    bending, density, drag = CALIBRATED[scheme]
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
    return robot, robot.add_rod(
        "rod", length, section, pose=pl.along("x"), drag=drag, theory="kirchhoff"
    )


def blow(t: float) -> float:
    """The force near the base at time t, N: up to 5 N and down again within 16 ms."""
    return 5.0 * max(0.0, 1.0 - abs(2.0 * t / 0.016 - 1.0))


def scenario(name: str, scheme: str) -> tuple[pl.Robot, pl.Equilibrium, dict[str, object]]:
    """The robot, where it starts and its inputs."""
    if name == "impulse":
        robot, rod = steel_rod(scheme, 0.517)
        robot.add_load("hit", rod.at(0.05 * 0.517), force=(0, -1, 0))
        return robot, robot.statics({"hit": 0.0}, FORMS[scheme]), {"hit": blow}
    robot, rod = steel_rod(scheme, 0.408)
    robot.add_load("weight", rod.tip, force=(0, -0.02 * 9.81, 0))
    return robot, robot.statics(formulation=FORMS[scheme]), {"weight": 0.0}


def timed(name: str, scheme: str, dt: float, duration: float) -> tuple[float, pl.Motion | None]:
    """The better of two ratios and the motion; not a number if they stop early or gain energy."""
    robot, held, inputs = scenario(name, scheme)
    best, motion = float("nan"), None
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # hints at long steps, which are the point
            warnings.simplefilter("error", pl.EnergyWarning)
            try:
                motion = robot.simulate(
                    duration, dt, inputs, held, integrator=ALPHA, output_every=duration
                )
            except (pl.ConvergenceError, pl.EnergyWarning):
                return float("nan"), None
        best = np.fmax(best, duration / motion.seconds)
    return float(best), motion


def measure(steps: tuple[float, ...], duration: float) -> dict[tuple[str, str], np.ndarray]:
    """Ratios of all scenarios and schemes at each step."""
    measured = {}
    for name in SCENARIOS:
        for scheme in LABELS:
            timed(name, scheme, 1e-2, 0.05)  # compiles
            measured[name, scheme] = np.array(
                [timed(name, scheme, dt, duration)[0] for dt in steps]
            )
    return measured


def draw(steps: tuple[float, ...], curves: dict[tuple[str, str], np.ndarray]) -> plt.Figure:
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), sharey=True, layout="constrained")
    for ax, name in zip(axes, SCENARIOS, strict=True):
        for scheme, label in LABELS.items():
            ax.loglog(1e3 * np.array(steps), curves[name, scheme], "o-", label=label)
        ax.axhline(1.0, color="0.4", lw=0.8)
        ax.axhspan(1.0, max(2.0, ax.get_ylim()[1]), color="#f2c14e", alpha=0.2)
        ax.set(title=name, xlabel="step / ms")
        ax.set_xticks([1, 2, 4, 6, 10, 20], [1, 2, 4, 6, 10, 20])
        ax.set_xticks([], minor=True)
        ax.set_xlim(800 * steps[0], 1200 * steps[-1])
        ax.yaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylabel("simulated time / computing time")
    legend_beside(axes[1])
    return figure


def main() -> dict[str, float]:
    curves = measure(STEPS, 0.12)
    for (name, scheme), ratios in curves.items():
        shown = ", ".join(f"{1e3 * dt:g} ms {x:.2g}" for dt, x in zip(STEPS, ratios, strict=True))
        print(f"{name}, {LABELS[scheme]}: {shown}")
    draw(STEPS, curves)
    tips = [timed(name, "rk4", 4e-3, 0.12)[1] for name in SCENARIOS]
    return {
        "tip released, RK4 / mm": 1e3 * tips[0].tip("rod")[-1, 1, 3],
        "tip hit, RK4 / mm": 1e3 * tips[1].tip("rod")[-1, 1, 3],
        "points of the curves": float(sum(np.isfinite(x).sum() for x in curves.values())),
    }


if __name__ == "__main__":
    main()
    plt.show()
