"""
A camera on a shaken arm
========================

A soft arm with a camera at its tip is mounted on a robot: its base moves up and down, slowly at first
and faster with time. The camera is a rigid body; its mass and size lower the natural frequencies of the
arm. Dashed lines are the frequencies from ``robot.modes``. Because the sweep continues while the arm
builds up its swing, the largest amplitude occurs a little later.
"""

# sphinx_gallery_group = "first steps"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

SWEEP = pl.Sweep(amplitude=1.0, f0=1.0, f1=7.0, duration=20.0)
EXPECTED = {
    "first frequency without camera": (3.801, 0.01),
    "first frequency with camera": (2.535, 0.01),
    "largest swing over that of the base, with camera": (9.0, 0.3),
    "frequency of the largest swing, with camera": (2.93, 0.06),
    "gap in the energy books": (0.0, 0.01),
}


def arm_on_a_table(camera: bool) -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm",
        length=0.25,
        section=pl.Circle((0.014, 0.010)),
        material=pl.Material(E=3e6, nu=0.48, rho=1070.0, viscosity=2e4),
        pose=pl.along("x"),
        drag=0.02,
    )
    robot.add_base_motion("table", of=arm, translation=(0, 0, 0.002))
    if camera:
        moments = (4e-6, 4e-6, 6e-6)
        robot.add_body("camera", mass=0.025, inertia=moments, on=arm.tip, centre=(0, 0, 0.012))
    return robot


def swing(motion: pl.Motion) -> np.ndarray:
    """Height of the tip above its mean, over the amplitude of the base."""
    height = motion.tip("arm")[:, 2, 3]
    return np.asarray((height - height.mean()) / 0.002)


def frequency(t: np.ndarray) -> np.ndarray:
    return SWEEP.f0 + (SWEEP.f1 - SWEEP.f0) * t / SWEEP.duration


def main() -> dict[str, float]:
    robots = {"without camera": arm_on_a_table(False), "with camera": arm_on_a_table(True)}
    stills = {name: robot.statics() for name, robot in robots.items()}
    stills["with camera"].plot(view="front")
    with style():
        figure, axes = plt.subplots(2, 1, figsize=(6.4, 5.6), sharex=True, layout="constrained")
    first: dict[str, float] = {}
    gap = 0.0
    for ax, (name, robot) in zip(axes, robots.items(), strict=True):
        modes = robot.modes(2, at=stills[name])
        motion = robot.simulate(SWEEP.duration, 0.0125, {"table": SWEEP}, stills[name])
        ax.plot(frequency(motion.t), swing(motion), lw=0.8)
        for value in modes.frequencies:  # sideways and up, close to each other
            ax.axvline(value, ls="--", lw=0.8, color="0.5")
        ax.set_ylabel(f"swing of the tip / base\n{name}")
        first[f"first frequency {name}"] = float(modes.frequencies[0])
        energy = motion.energy
        gap = max(gap, np.abs(energy["balance"]).max() / energy["dissipated"][-1])
    axes[1].set_xlabel("frequency of the base / Hz")
    axes[1].set_xlim(SWEEP.f0, SWEEP.f1)
    figure.align_ylabels()
    peak = int(np.argmax(np.abs(swing(motion))))
    return {
        **first,
        "largest swing over that of the base, with camera": abs(swing(motion)[peak]),
        "frequency of the largest swing, with camera": frequency(motion.t)[peak],
        "gap in the energy books": gap,
    }


if __name__ == "__main__":
    main()
    plt.show()
