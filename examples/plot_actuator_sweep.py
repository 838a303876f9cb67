"""
An actuator under a sweep of frequencies
========================================

The pressure in one chamber of a hanging actuator oscillates with a frequency that rises from 0.01 to
1.6 Hz within 8 s, and a camera films five markers. The measurement comes from a finer model (8
elements, a step of 5 ms) with a noise of 1 mm (seed 8). The model has 4 elements, a step of 10 ms and
the same pressure line. Tip and shapes agree at all frequencies to within the noise, 0.9 % of the
length, even where the actuator lags behind its pressure. Length and energy are conserved.

After Y. Rong and G. Gu (2024), figure 8 (a, b).
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, MASS, NOISE, SEED = 0.175, 0.12038370137467044, 1e-3, 8
MARKERS = LENGTH * np.arange(1, 6) / 5
TIMES = np.linspace(0.0, 8.0, 401)
EXPECTED = {
    "rms error of the tip / length": (8.1e-3, 4e-4),
    "rms error of all markers over noise": (1.0, 0.03),
    "largest angle / deg": (64.0, 3.0),
    "length error": (0.0, 1e-6),
    "energy balance / work": (0.0, 1e-4),
}


def make_robot() -> pl.Robot:
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=2.4
    )
    robot.add_actuator("finger", finger, pl.along("-z"), line=pl.Lag(0.035))
    return robot


def pressure(t: float) -> float:
    """60 kPa (1 - cos phase), the frequency rising linearly from 0.01 to 1.6 Hz in 8 s."""
    phase = 2 * np.pi * (0.01 + 0.5 * (1.6 - 0.01) / 8.0 * t) * t
    return 6e4 * (1.0 - np.cos(phase))


def moving(robot: pl.Robot, elements: int, dt: float) -> pl.Motion:
    return robot.simulate(
        8.0, dt, {"chamber1": pressure}, start="statics", formulation=pl.ANCF(elements),
        integrator=pl.GeneralizedAlpha(0.9), output_times=TIMES,
    )  # fmt: skip


def arclength(motion: pl.Motion, elements: int) -> np.ndarray:
    """Length of the centre line at all times, by Gauss quadrature of its slope."""
    x, w = np.polynomial.legendre.leggauss(6)
    s = LENGTH * (np.arange(elements)[:, None] + 0.5 + 0.5 * x).ravel() / elements
    slope = motion.position("finger", s + 1e-6) - motion.position("finger", s - 1e-6)
    return np.linalg.norm(slope / 2e-6, axis=2) @ np.tile(0.5 * LENGTH * w / elements, elements)


def main() -> dict[str, float]:
    robot = make_robot()
    measured = moving(robot, 8, 5e-3).position("finger", MARKERS)[..., [0, 2]]
    measured = measured + np.random.default_rng(SEED).normal(0.0, NOISE, measured.shape)
    model = moving(robot, 4, 1e-2)
    predicted = model.position("finger", MARKERS)[..., [0, 2]]
    gap, energy = predicted - measured, model.energy
    tips = model.tip("finger")
    with style():
        _, (left, right) = plt.subplots(
            1, 2, figsize=(11.0, 3.8), width_ratios=(2, 1), layout="constrained"
        )
        left.plot(TIMES, 1e3 * measured[:, -1, 0], ".", color="#8a8f98", label="measured")
        left.plot(TIMES, 1e3 * predicted[:, -1, 0], color="#b8202c", label="model")
        left.set(xlabel="time / s", ylabel="tip / mm", title="0.01 to 1.6 Hz in 8 s")
        left.legend(loc="upper left")
        s = np.linspace(0.0, LENGTH, 41)
        shapes = model.position("finger", s)
        for k in (0, 100, 150, 205, 260, 300):
            (line,) = right.plot(*(1e3 * shapes[k][:, [0, 2]].T), label=f"{TIMES[k]:.1f} s")
            right.plot(*(1e3 * measured[k].T), "o", color=line.get_color(), markersize=4)
        right.set(xlabel="x / mm", ylabel="z / mm", title="shapes, and markers as filmed")
        right.set_aspect("equal", "datalim")
        right.legend(fontsize=7)
    return {
        "rms error of the tip / length": np.sqrt(np.mean(np.sum(gap[:, -1] ** 2, axis=1))) / LENGTH,
        "rms error of all markers over noise": np.sqrt(np.mean(gap**2)) / NOISE,
        "largest angle / deg": float(np.degrees(np.arctan2(tips[:, 0, 2], -tips[:, 2, 2])).max()),
        "length error": np.abs(arclength(model, 4) / LENGTH - 1.0).max(),
        "energy balance / work": np.abs(energy["balance"]).max() / np.abs(energy["work"]).max(),
    }


if __name__ == "__main__":
    main()
    plt.show()
