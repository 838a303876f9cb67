"""
Steps that choose themselves
============================

A steel rod of a metre, 1 cm square, meets a force of 10 N at its tip at once, and another one from the
side after 0.3 s. `Radau()` finds the steps by itself: short ones after each jolt, while quick
vibrations are in the rod, longer ones when these have died out, up to a tenth of the slowest period.
The output times, every 2 ms, have no say in it: states inside steps are interpolated as accurately as
the steps.
Steps of one length, as `Newmark()` takes them, would have to be short all the time.
"""

# sphinx_gallery_group = "methods"

import warnings

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

EXPECTED = {
    "steps": (74.0, 8.0),
    "longest over shortest step": (19.0, 6.0),
    "error of the tip, % of the length": (0.0, 0.05),
}
DURATION, JOLT = 0.6, 0.3


def cantilever() -> pl.Robot:
    robot = pl.Robot(gravity=(0, 0, 0))
    steel = pl.Material(E=210e9, nu=0.2, rho=7800.0, viscosity=4e7)
    rod = robot.add_rod("rod", 1.0, pl.Rectangle(0.01, 0.01), steel, pose=pl.along("x"))
    robot.add_load("down", rod.tip, force=(0, 0, -10.0))
    robot.add_load("side", rod.tip, force=(0, 0, 0))
    return robot


def moved(integrator: pl.Integrator, dt: float) -> pl.Motion:
    def side(t: float) -> tuple[float, float, float]:
        return (0.0, 5.0 if t > JOLT else 0.0, 0.0)

    with warnings.catch_warnings():  # quick vibrations lose their energy, which is meant here
        warnings.simplefilter("ignore", UserWarning)
        return cantilever().simulate(
            DURATION,
            dt,
            {"side": side},
            formulation=pl.BSpline(3, 8),
            integrator=integrator,
            output_times=np.linspace(0.0, DURATION, 301),
        )


def draw(motion: pl.Motion) -> None:
    with style():
        _, (above, below) = plt.subplots(
            2, 1, figsize=(6.4, 6.2), sharex=True, layout="constrained"
        )
        tip = 1e3 * motion.tip("rod")[:, :3, 3]
        above.plot(motion.t, tip[:, 2], label="down")
        above.plot(motion.t, tip[:, 1], label="sideways")
        ends = np.searchsorted(motion.t, motion.step_times[1:]).clip(max=len(motion.t) - 1)
        above.plot(motion.t[ends], tip[ends, 2], "k.", markersize=3, label="ends of steps")
        above.set(ylabel="tip / mm", ylim=(-40, 45), title="a steel rod after two jolts")
        above.legend(loc="upper center", ncols=3)
        below.stairs(1e3 * np.diff(motion.step_times), motion.step_times, baseline=None)
        below.axvline(JOLT, color="grey", linewidth=0.8)
        below.set(xlabel="time / s", ylabel="step / ms", yscale="log", title="steps of Radau()")


def main() -> dict[str, float]:
    motion, best = moved(pl.Radau(), 0.002), moved(pl.Radau(1e-6), 0.002)
    draw(motion)
    steps = np.diff(motion.step_times)
    gap = motion.tip("rod")[:, :3, 3] - best.tip("rod")[:, :3, 3]
    return {
        "steps": float(motion.steps),
        "longest over shortest step": float(steps.max() / steps.min()),
        "error of the tip, % of the length": 100.0 * float(np.linalg.norm(gap, axis=1).max()),
    }


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:36} {value:.4g}")
    plt.show()
