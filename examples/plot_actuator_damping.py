"""
Damping of a pneumatic actuator from its motion
===============================================

A sinusoidal pressure of 1.6 Hz in one chamber drives a hanging actuator, and a camera follows its tip
with a noise of half a millimetre (seed 1). The measurement comes from a finer model, with 12 elements
and half the step; the fitted model has 4 elements. `pliant.fit` identifies the coefficient of
mass-proportional damping. The true value lies within its standard error. The curve shows the error of
the model over the damping, which a manual search would follow.

After Y. Rong and G. Gu (2024), figure 5.
"""

# sphinx_gallery_group = "identification"

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline

import pliant as pl
from pliant.view import style

LENGTH, MASS, DAMPING, NOISE, SEED = 0.175, 0.12038370137467044, 2.4, 5e-4, 1
PRESSURE = pl.Sine(6e4, 1.6, phase=-np.pi / 2, offset=6e4)
DURATION, TIMES = 1.5, np.linspace(0.0, 1.5, 151)
METHOD = {"formulation": pl.ANCF(4), "integrator": pl.GeneralizedAlpha(0.9)}
EXPECTED = {
    "damping / s^-1": (2.4, 0.4),
    "deviation in standard errors": (0.0, 2.0),
    "standard error / s^-1": (0.17, 0.03),
    "noise found / mm": (0.5, 0.05),
    "lowest point of the curve / s^-1": (2.4, 0.4),
}


def make_robot(damping: float) -> pl.Robot:
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=damping
    )
    robot.add_actuator("finger", finger, pl.along("-z"))
    return robot


def filmed() -> pl.Measurement:
    move = make_robot(DAMPING).simulate(
        DURATION, 2.5e-3, {"chamber1": PRESSURE}, start="statics", formulation=pl.ANCF(12),
        integrator=pl.GeneralizedAlpha(0.9), output_times=TIMES,
    )  # fmt: skip
    tip = move.tip("finger")[:, [0, 2], 3]
    tip = tip + np.random.default_rng(SEED).normal(0.0, NOISE, tip.shape)
    columns = {"t": TIMES, "finger.tip.x": tip[:, 0], "finger.tip.z": tip[:, 1]}
    return pl.Measurement(columns, "t", inputs={"chamber1": PRESSURE}, start="statics")


def misfit(damping: float, data: pl.Measurement) -> float:
    """Root mean square distance between tip and measurement, mm."""
    move = make_robot(damping).simulate(
        DURATION, 5e-3, {"chamber1": PRESSURE}, start="statics", output_times=TIMES, **METHOD
    )
    measured = np.stack([data.column("finger.tip.x"), data.column("finger.tip.z")], axis=1)
    gap = move.tip("finger")[:, [0, 2], 3] - measured
    return 1e3 * float(np.sqrt(np.mean(np.sum(gap**2, axis=1))))


def main() -> dict[str, float]:
    data = filmed()
    result = pl.fit(
        make_robot(1.5), data, ["finger.mass_damping"], [pl.Output("finger.tip.x", std=NOISE),
        pl.Output("finger.tip.z", std=NOISE)], dt=5e-3, tolerance=1e-5, **METHOD,
    )  # fmt: skip
    print(result)
    estimate = result["finger.mass_damping"]
    scan = np.linspace(0.0, 4.8, 13)
    errors = np.array([misfit(value, data) for value in scan])
    curve = CubicSpline(scan, errors**2)
    lowest = min(np.linspace(1.0, 4.0, 301), key=curve)
    with style():
        _, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
        run = result.data[0]
        left.plot(run.t, 1e3 * run.measured[:, 0], ".", color="#8a8f98", label="measured")
        left.plot(run.t, 1e3 * run.predicted[:, 0], color="#b8202c", label="model")
        left.set(xlabel="time / s", ylabel="tip / mm", title="120 kPa at 1.6 Hz")
        left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
        fine = np.linspace(0.0, 4.8, 100)
        right.plot(fine, np.sqrt(curve(fine)), color="#3a7ca5")
        right.plot(scan, errors, "o", color="#3a7ca5")
        right.axvspan(*estimate.interval(), alpha=0.2, color="#b8202c", label="estimate, 95 %")
        right.axvline(DAMPING, color="#1f2430", linewidth=0.9, linestyle="--", label="true")
        right.set(xlabel="damping / s⁻¹", ylabel="rms distance / mm", title="Error of the model")
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    noise = np.sqrt(np.mean(run.residuals**2))
    return {
        "damping / s^-1": estimate.value,
        "deviation in standard errors": (estimate.value - DAMPING) / estimate.error,
        "standard error / s^-1": estimate.error,
        "noise found / mm": 1e3 * float(noise),
        "lowest point of the curve / s^-1": float(lowest),
    }


if __name__ == "__main__":
    main()
    plt.show()
