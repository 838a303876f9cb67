"""
Release of a weight from an actuator
====================================

A weight of 100 g hangs by a string from the tip of a horizontal actuator. The string is cut, and the
actuator swings up to its equilibrium under its own weight. The measurement comes from a finer model
with a viscous material (retardation 2 ms) and a noise of 1 mm (seed 10). A model with mass-proportional
damping only, as in the paper, reproduces the first swing and then keeps swinging: its peaks and phase
drift, which the authors attribute to the missing viscosity. `pliant.fit` identifies the viscosity from
the motion, within its uncertainty. The model then agrees with the measurement up to the noise.

After Y. Rong and G. Gu (2024), figure 9.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

LENGTH, MASS, NOISE, SEED, RETARDATION = 0.175, 0.12038370137467044, 1e-3, 10, 2e-3
DURATION, TIMES = 0.6, np.linspace(0.0, 0.6, 61)
INTEGRATOR = pl.Midpoint(tolerance=1e-10)
EXPECTED = {
    "retardation / ms": (2.0, 0.1),
    "deviation in standard errors": (0.0, 2.5),
    "error with viscosity over noise": (1.0, 0.03),
    "error without viscosity over noise": (12.2, 1.0),
    "overshoot beyond the rest / mm": (59.3, 1.0),
    "energy balance / energy moved": (0.0, 1e-4),
}


def make_robot(retardation: float) -> pl.Robot:
    robot = pl.Robot()
    finger = pl.BendingActuator(
        LENGTH, 0.0186, chamber_radius=0.006, arm=0.009, mass=MASS, mass_damping=2.4,
        retardation=retardation,
    )  # fmt: skip
    rod = robot.add_actuator("finger", finger, pl.along("x"))
    robot.add_load("string", rod.tip, force=(0, 0, -9.81))  # the input is a mass in kg
    return robot


def released(retardation: float, elements: int, dt: float) -> pl.Motion:
    robot = make_robot(retardation)
    held = robot.statics({"string": 0.1}, pl.ANCF(elements))
    return robot.simulate(DURATION, dt, {"string": 0.0}, start=held, integrator=INTEGRATOR)


def filmed(motion: pl.Motion) -> np.ndarray:
    """x and z of the tip, m, at the times of the camera."""
    return motion.tip("finger")[:: round(TIMES[1] / motion.t[1]), [0, 2], 3]


def main() -> dict[str, float]:
    truth = released(RETARDATION, 8, 1e-3)
    tip = filmed(truth)
    drawn = np.random.default_rng(SEED).normal(0.0, NOISE, tip.shape)
    tip = tip + drawn
    columns = {"t": TIMES, "finger.tip.x": tip[:, 0], "finger.tip.z": tip[:, 1]}
    data = pl.Measurement(columns, "t", {"string": 0.0}, start={"string": 0.1}, name="release")
    result = pl.fit(
        make_robot(1e-3), data, ["finger.retardation"],
        [pl.Output("finger.tip.x", std=NOISE), pl.Output("finger.tip.z", std=NOISE)],
        formulation=pl.ANCF(4), integrator=INTEGRATOR, dt=2e-3, tolerance=1e-5,
    )  # fmt: skip
    print(result)
    estimate = result["finger.retardation"]
    plain, viscous = released(0.0, 4, 1e-3), released(estimate.value, 4, 2e-3)
    rest = make_robot(0.0).statics({"string": 0.0}, pl.ANCF(4)).tip("finger")[2, 3]

    def error(motion: pl.Motion) -> float:
        gap = filmed(motion) - tip
        return float(np.sqrt(np.mean(gap**2) / np.mean(drawn**2)))

    with style():
        _, ax = plt.subplots(figsize=(7.0, 4.0), layout="constrained")
        ax.plot(TIMES, 1e3 * tip[:, 1], "o", mfc="none", color="#8a8f98", label="measured")
        for motion, label in (
            (plain, "mass-proportional damping only"),
            (viscous, "with the estimated viscosity"),
        ):
            ax.plot(motion.t, 1e3 * motion.tip("finger")[:, 2, 3], label=label)
        ax.axhline(1e3 * rest, color="#8a8f98", linewidth=0.8)
        ax.set(xlabel="time / s", ylabel="height of the tip / mm", title="100 g released")
        ax.legend()
    energy = viscous.energy
    moved = np.ptp(energy["elastic"] + energy["kinetic"])
    return {
        "retardation / ms": 1e3 * estimate.value,
        "deviation in standard errors": (estimate.value - RETARDATION) / estimate.error,
        "error with viscosity over noise": error(viscous),
        "error without viscosity over noise": error(plain),
        "overshoot beyond the rest / mm": 1e3 * (truth.tip("finger")[:, 2, 3].max() - rest),
        "energy balance / energy moved": np.abs(energy["balance"]).max() / moved,
    }


if __name__ == "__main__":
    main()
    plt.show()
