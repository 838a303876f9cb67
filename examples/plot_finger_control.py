"""
A tendon finger under PID control
=================================

A silicone finger is bent by a tendon in a channel beside its axis. A PID controller reads the position
of the fingertip fifty times a second and sets the tension, which can only pull. First it answers a step
of the target, then it follows a slow path. The gains come from the static compliance of the finger;
the integral stops at the bounds of the tension.
"""

# sphinx_gallery_group = "actuators"

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

MODEL, DT, EVERY = pl.Strain(1, 2), 5e-3, 0.02
EXPECTED = {
    "end of the step response under P / mm": (10.15, 0.1),
    "end of the step response under PID / mm": (20.0, 0.05),
    "largest error on the path / mm": (2.40, 0.1),
}


def make_robot():
    silicone = pl.Material(E=5e5, nu=0.48, rho=1070.0, viscosity=2e4)
    robot = pl.Robot()
    finger = robot.add_rod("finger", 0.1, pl.Circle(0.006), silicone, pose=pl.along("-z"))
    robot.add_tendon("flexor", along=finger, offset=(0.004, 0.0))
    return robot


def path(t):
    return 0.015 - 0.01 * np.cos(2.0 * np.pi * t / 2.0)


def tip(motion):
    return motion.position("finger.tip")[:, 0]


def run(robot, duration, target, gains):
    measured = ("flexor", "finger.tip.x", target, EVERY)
    law = pl.PID(*measured, **gains, rate="finger.tip.vx", bounds=(0.0, 3.0))
    return robot.simulate(duration, DT, controllers=law, formulation=MODEL)


def draw(steps, follow):
    with style():
        _, axes = plt.subplots(3, 1, figsize=(6.4, 7.2), layout="constrained")
        first, second, third = axes
        for name, motion in steps.items():
            first.plot(motion.t, 1e3 * tip(motion), label=name)
        first.axhline(20.0, color="0.5", linestyle=":", label="target")
        first.set(xlabel="time / s", ylabel="tip x / mm", title="Step response")
        first.set_ylim(0.0, 32.0)
        first.legend(ncols=4, loc="upper right")
        second.plot(follow.t, 1e3 * path(follow.t), color="0.5", linestyle=":", label="target")
        second.plot(follow.t, 1e3 * tip(follow), label="tip")
        second.set(xlabel="time / s", ylabel="tip x / mm", title="Path")
        second.set_ylim(0.0, 34.0)
        second.legend(ncols=2, loc="upper right")
        third.step(follow.t, follow.inputs["flexor"], where="pre")
        third.set(xlabel="time / s", ylabel="tension / N", title="Tension on the path")


def main() -> dict[str, float]:
    robot = make_robot()
    middle = robot.statics({"flexor": 0.5}, MODEL)
    unit = 1.0 / middle.jacobian("finger.tip", "flexor", frame="world")[3, 0]  # N/m
    gains = {
        "P": {"kp": unit},
        "PI": {"kp": unit, "ki": 12.0 * unit},
        "PID": {"kp": unit, "ki": 12.0 * unit, "kd": 0.02 * unit},
    }
    steps = {name: run(robot, 1.5, 0.02, given) for name, given in gains.items()}
    follow = run(robot, 4.0, path, gains["PID"])
    draw(steps, follow)
    error = np.abs(tip(follow) - path(follow.t))[follow.t > 1.0].max()
    return {
        "end of the step response under P / mm": 1e3 * float(tip(steps["P"])[-1]),
        "end of the step response under PID / mm": 1e3 * float(tip(steps["PID"])[-1]),
        "largest error on the path / mm": 1e3 * float(error),
    }


if __name__ == "__main__":
    main()
    plt.show()
