"""
How many elements, and which step?
==================================

More elements and shorter steps take more time, and beyond some number they no longer help: the
difference from a measurement is limited by its noise. Above: the pneumatic actuator at 1.6 Hz with 1 to
7 elements and steps of 10, 1 and 0.1 ms, compared with a measurement from 15 elements, a step of 0.1 ms
and a noise of 0.2 mm (seed 6). `pliant.resolve` finds a suitable choice without a measurement, by
halving intervals and steps until the differences show an order of convergence. Below: the solutions it
computed, and its choice for an error of a thousandth of the length.

After Y. Rong and G. Gu (2024), figure 6, who chose 4 elements and 1 ms by hand from such a picture.
"""

# sphinx_gallery_group = "methods"

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

import pliant as pl
from pliant.view import style

LENGTH, MASS, NOISE, SEED = 0.175, 0.12038370137467044, 2e-4, 6
INPUTS = {"chamber1": pl.Sine(8e4, 1.6, phase=-np.pi / 2, offset=8e4)}
TIMES = np.linspace(0.0, 0.8, 81)
ELEMENTS, STEPS = (1, 2, 3, 4, 5, 6, 7), (1e-2, 1e-3, 1e-4)
EXPECTED = {
    "error that was asked for": (1e-3, 0.0),
    "error of the choice": (4e-4, 1e-4),
    "chosen elements": (3, 1),
    "chosen step / ms": (2.5, 0.0),
    "order in elements": (3.5, 0.2),
    "order in the step": (2.1, 0.2),
    "error of 7 elements over noise": (1.0, 0.1),
    "error of 1 element over noise": (3.3, 0.5),
}


def make_robot() -> pl.Robot:
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=2.4
    )
    robot.add_actuator("finger", finger, pl.along("-z"))
    return robot


def tip(robot: pl.Robot, elements: int, dt: float) -> tuple[np.ndarray, float]:
    """Where the tip goes, (T, 2), and how long that took to compute."""
    move = robot.simulate(
        0.8, dt, INPUTS, start="statics", formulation=pl.ANCF(elements), integrator=pl.Newmark(),
        output_times=TIMES,
    )  # fmt: skip
    return move.tip("finger")[:, [0, 2], 3], move.seconds


def main() -> dict[str, float]:
    robot = make_robot()
    measured, _ = tip(robot, 15, 1e-4)
    measured += np.random.default_rng(SEED).normal(0.0, NOISE, measured.shape)
    errors = np.empty((len(STEPS), len(ELEMENTS)))
    seconds = np.empty_like(errors)
    for i, dt in enumerate(STEPS):
        for j, n in enumerate(ELEMENTS):
            computed, seconds[i, j] = tip(robot, n, dt)
            errors[i, j] = np.sqrt(np.mean(np.sum((computed - measured) ** 2, axis=1)))
    with style():
        figure, ax = plt.subplots(figsize=(6.0, 4.5), layout="constrained")
        beside = ax.twinx()
        for i, (dt, size) in enumerate(zip(STEPS, (4, 8, 4), strict=True)):
            label = f"dt = {1e3 * dt:g} ms"
            (line,) = ax.plot(ELEMENTS, 1e3 * errors[i], "o-", markersize=size, label=label)
            beside.plot(ELEMENTS, seconds[i], "s--", color=line.get_color(), ms=3, alpha=0.7)
        ax.axhline(1e3 * np.sqrt(2.0) * NOISE, color="#1f2430", linestyle=":", label="noise")
        ax.set(xlabel="elements", ylabel="rms error of the tip / mm", yscale="log")
        ax.set_title("Against a noisy measurement (time dashed)")
        beside.set(ylabel="computing time / s", yscale="log", ylim=(1e-3, 1e1))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_ylim(1e-1, 2.0)
        figure.legend(loc="outside lower center", ncols=4)
    choice = pl.resolve(
        robot, 1e-3, pl.ANCF(), INPUTS, duration=0.8, dt=0.02, integrator=pl.Newmark(),
        start="statics",
    )  # fmt: skip
    print(choice)
    choice.plot()
    return {
        "error that was asked for": choice.accuracy,
        "error of the choice": choice.error,
        "chosen elements": choice.formulation.elements,
        "chosen step / ms": 1e3 * choice.dt,
        "order in elements": choice.orders["intervals"],
        "order in the step": choice.orders["dt"],
        "error of 7 elements over noise": errors[-1, -1] / (np.sqrt(2.0) * NOISE),
        "error of 1 element over noise": errors[-1, 0] / (np.sqrt(2.0) * NOISE),
    }


if __name__ == "__main__":
    main()
    plt.show()
