"""
A static and a dynamic model of a driven actuator
=================================================

A hanging pneumatic actuator follows a sinusoidal pressure of 0.4, 0.7 and 1.0 Hz. A static model uses
only the current command; a dynamic model includes inertia, damping and the line that delays the
pressure by 35 ms. Both have 4 elements. The measurement comes from a finer model (8 elements, half the
step) with a noise of 2 mm in each direction (seed 7), which is the error of the dynamic model in the
paper. The static model gets worse as the motion gets faster; the dynamic one does not. Its error is
smaller by 28, 47 and 62 %; the paper reports 38, 46 and 55 %.

After Y. Rong and G. Gu (2024), figure 7 and equation 32. The delay of the line is chosen so that the
static model has the error of the paper at 0.7 Hz; the other two follow.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, MASS, LAG, NOISE, SEED = 0.175, 0.12038370137467044, 0.035, 2e-3, 7
DURATION, TIMES = 2.5, np.linspace(0.0, 2.5, 126)
FREQUENCIES = (0.4, 0.7, 1.0)
REPORTED = (0.3791, 0.4631, 0.5536)
EXPECTED = {
    "error of the static model at 0.7 Hz / mm": (5.0, 0.5),
    "reduction at 0.4 Hz": (0.28, 0.03),
    "reduction at 0.7 Hz": (0.47, 0.03),
    "reduction at 1.0 Hz": (0.62, 0.03),
    "mean reduction": (0.4653, 0.04),
    "error of the dynamic model over noise": (1.0, 0.01),
    "energy balance / work": (0.0, 1e-4),
}


def make_robot() -> pl.Robot:
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=2.4
    )
    robot.add_actuator("finger", finger, pl.along("-z"), line=pl.Lag(LAG))
    return robot


def rms(gap: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(gap**2, axis=1))))


def moving(robot: pl.Robot, pressure: pl.Signal, elements: int, dt: float) -> pl.Motion:
    return robot.simulate(
        DURATION, dt, {"chamber1": pressure}, start="statics", formulation=pl.ANCF(elements),
        integrator=pl.GeneralizedAlpha(0.9), output_times=TIMES,
    )  # fmt: skip


def equilibria(robot: pl.Robot, pressure: pl.Signal) -> np.ndarray:
    """Where the tip would be at rest under the pressure of each instant, (T, 2)."""
    tips, still = [], None
    for t in TIMES:
        still = robot.statics({"chamber1": pressure(t)}, pl.ANCF(4), start=still)
        tips.append(still.tip("finger")[[0, 2], 3])
    return np.array(tips)


def main() -> dict[str, float]:
    robot, noise = make_robot(), np.random.default_rng(SEED)
    static, dynamic, noisy, balance = [], [], [], []
    with style():
        _, axes = plt.subplots(1, 3, figsize=(11.0, 3.6), sharey=True, layout="constrained")
        for ax, frequency in zip(axes, FREQUENCIES, strict=True):
            pressure = pl.Sine(5e4, frequency, phase=-np.pi / 2, offset=5e4)
            measured = moving(robot, pressure, 8, 5e-3).tip("finger")[:, [0, 2], 3]
            drawn = noise.normal(0.0, NOISE, measured.shape)
            measured = measured + drawn
            model = moving(robot, pressure, 4, 1e-2)
            tip, still = model.tip("finger")[:, [0, 2], 3], equilibria(robot, pressure)
            static.append(1e3 * rms(still - measured))
            dynamic.append(1e3 * rms(tip - measured))
            noisy.append(1e3 * rms(drawn))
            energy = model.energy
            balance.append(np.abs(energy["balance"]).max() / np.abs(energy["work"]).max())
            ax.plot(TIMES, 1e3 * measured[:, 0], ".", color="#8a8f98", label="measured")
            ax.plot(TIMES, 1e3 * still[:, 0], color="#3a7ca5", label="static")
            ax.plot(TIMES, 1e3 * tip[:, 0], color="#b8202c", label="dynamic")
            less = 1 - dynamic[-1] / static[-1]
            ax.set(xlabel="time / s", title=f"{frequency} Hz: error smaller by {100 * less:.0f} %")
        axes[0].set_ylabel("tip / mm")
        axes[0].legend(loc="upper right", fontsize=8)
        axes[0].set_ylim(top=95.0)
    reduction = 1 - np.array(dynamic) / np.array(static)
    for row in zip(FREQUENCIES, static, dynamic, reduction, REPORTED, strict=True):
        print(
            "{:.1f} Hz: static {:.2f} mm, dynamic {:.2f} mm, less by {:.3f} ({:.3f})".format(*row)
        )
    return {
        "error of the static model at 0.7 Hz / mm": static[1],
        "reduction at 0.4 Hz": reduction[0],
        "reduction at 0.7 Hz": reduction[1],
        "reduction at 1.0 Hz": reduction[2],
        "mean reduction": float(np.mean(reduction)),
        "error of the dynamic model over noise": np.mean(dynamic) / np.mean(noisy),
        "energy balance / work": max(balance),
    }


if __name__ == "__main__":
    main()
    plt.show()
