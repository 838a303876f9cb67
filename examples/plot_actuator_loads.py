"""
Two chambers, complex pressures and tip loads
=============================================

Both chambers of a pneumatic actuator get sums of sines with different frequencies (up to 1.5 Hz) and
phases, with loads of 0 to 50 g at the tip; first clamped vertically, then horizontally. Measurements
come from a finer model (8 elements, a step of 2.5 ms) with a noise of 1 mm (seed 9). The model has 4
elements and a step of 5 ms. Its error does not grow with the load: it stays at the level of the noise.
In the paper it stays at the level of unmodelled effects (1.4 to 2.0 % of the length).

After Y. Rong and G. Gu (2024), figure 8 (c to f), tables 1 and 2.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, MASS, NOISE, SEED = 0.175, 0.12038370137467044, 1e-3, 9
DURATION, TIMES = 2.0, np.linspace(0.0, 2.0, 101)
WEIGHTS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
PRESSURES = {
    "chamber1": pl.Sine(2e4, 0.4, offset=5e4) + pl.Sine(1.5e4, 0.9, 1.0) + pl.Sine(1e4, 1.5, 2.0),
    "chamber2": pl.Sine(2e4, 0.3, 2.5, 5e4) + pl.Sine(1.5e4, 0.7) + pl.Sine(1e4, 1.3, 0.5),
}
MARKERS = np.linspace(LENGTH / 5, LENGTH, 5)
EXPECTED = {
    "largest rms error / length": (8.2e-3, 9e-4),
    "smallest rms error / length": (7.4e-3, 9e-4),
    "energy balance / energy moved": (0.0, 1e-4),
    "largest drop of the tip / mm": (91.0, 5.0),
}


def make_robot(along: str, weight: float) -> pl.Robot:
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=2.4
    )
    rod = robot.add_actuator("finger", finger, pl.along(along))
    robot.add_body("weight", weight, on=rod.tip)
    return robot


def moving(robot: pl.Robot, elements: int, dt: float) -> pl.Motion:
    return robot.simulate(
        DURATION, dt, PRESSURES, start="statics", formulation=pl.ANCF(elements),
        integrator=pl.GeneralizedAlpha(0.9), output_times=TIMES,
    )  # fmt: skip


def imbalance(motion: pl.Motion) -> float:
    """Energy that is made or lost by computing, over what was moved."""
    energy = motion.energy
    stored = np.ptp(energy["kinetic"] + energy["elastic"] + energy["gravity"])
    return np.abs(energy["balance"]).max() / max(np.abs(energy["work"]).max(), stored)


def main() -> dict[str, float]:
    noise = np.random.default_rng(SEED)
    errors, balance, drop = {}, [], 0.0
    with style():
        _, axes = plt.subplots(2, 2, figsize=(10.0, 6.4), layout="constrained")
        for name, signal in PRESSURES.items():
            axes[0, 0].plot(TIMES, [1e-3 * signal(t) for t in TIMES], label=name)
        axes[0, 0].set(xlabel="time / s", ylabel="pressure / kPa", title="commanded")
        for ax, (along, axis, title) in zip(
            (axes[0, 1], axes[1, 0]), (("-z", 0, "vertical"), ("x", 2, "horizontal")), strict=True
        ):
            for weight in WEIGHTS:
                robot = make_robot(along, weight)
                filmed = moving(robot, 8, 2.5e-3)
                measured = filmed.tip("finger")[:, [0, 2], 3]
                measured = measured + noise.normal(0.0, NOISE, measured.shape)
                model = moving(robot, 4, 5e-3)
                tip = model.tip("finger")[:, :3, 3]
                gap = tip[:, [0, 2]] - measured
                errors[title, weight] = np.sqrt(np.mean(np.sum(gap**2, axis=1))) / LENGTH
                balance.append(imbalance(model))
                label = f"{1e3 * weight:g} g"
                (line,) = ax.plot(TIMES, 1e3 * tip[:, axis], label=label)
                ax.plot(TIMES, 1e3 * measured[:, axis // 2], ".", color=line.get_color(), ms=4)
                drop = max(drop, -1e3 * tip[:, 2].min() if along == "x" else 0.0)
            ax.set(xlabel="time / s", ylabel=f"tip {'xyz'[axis]} / mm", title=title)
        s = np.linspace(0.0, LENGTH, 41)
        for k in (0, 25, 50, 75, 100):
            shape = 1e3 * model.position("finger", s)[k]
            (line,) = axes[1, 1].plot(shape[:, 0], shape[:, 2], label=f"{TIMES[k]:.1f} s")
            seen = filmed.position("finger", MARKERS)[k][:, [0, 2]]
            seen = 1e3 * (seen + noise.normal(0.0, NOISE, seen.shape))
            axes[1, 1].plot(seen[:, 0], seen[:, 1], "o", color=line.get_color(), markersize=4)
        axes[1, 1].set(xlabel="x / mm", ylabel="z / mm", title="horizontal, 50 g, and five markers")
        axes[1, 1].set_aspect("equal", "datalim")
        for ax in axes.ravel():
            ax.legend(fontsize=7)
    for (title, weight), error in errors.items():
        print(f"{title}, {1e3 * weight:g} g: {1e3 * LENGTH * error:.2f} mm, {error:.4f} of length")
    return {
        "largest rms error / length": max(errors.values()),
        "smallest rms error / length": min(errors.values()),
        "energy balance / energy moved": max(balance),
        "largest drop of the tip / mm": drop,
    }


if __name__ == "__main__":
    main()
    plt.show()
