"""
A controller in the loop
========================

`Robot.stepper` moves a robot by one step per call, with inputs known only at run time: from a
controller, a game pad or hardware. Here a PI controller reads the tip angle of a pneumatic finger every
millisecond and sets the pressures of its two chambers, which follow with a lag. At 2 s the target angle
changes. At 4 s a force of 0.15 N begins to push against the tip, and the controller compensates for it.
A step that does not converge would return the state before it and a message; none does.

Each step takes a small fraction of a millisecond, as the histogram shows.
"""

# sphinx_gallery_group = "actuators"

import time

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl
from pliant.view import style

DT, STEPS = 1e-3, 6000
PROPORTIONAL, INTEGRAL = 2e4, 4e5  # Pa/rad, Pa/(rad s)
EXPECTED = {
    "steps that converged": (STEPS, 0.5),
    "angle held before the push / rad": (0.9, 2e-3),
    "angle held against the push / rad": (0.9, 2e-3),
    "pressure that the push costs / kPa": (10.3, 0.3),
}


def make_robot() -> pl.Robot:
    robot = pl.Robot()
    part = pl.BendingActuator(
        0.175, 0.0186, chamber_radius=0.006, arm=0.009, mass=0.12, retardation=0.03
    )
    finger = robot.add_actuator("finger", part, pl.along("-z"), line=pl.Lag(0.02))
    robot.add_body("gripper", 0.02, on=finger.tip)
    robot.add_load("push", finger.tip, force=(-0.15, 0.0, 0.0))
    return robot


def control(stepper: pl.Stepper) -> dict[str, np.ndarray]:
    """Hold the tip at the wanted angle; what was wanted, found and done in every step."""
    log = {
        name: np.zeros(STEPS) for name in ("wanted", "angle", "pressure", "seconds", "converged")
    }
    summed, state = 0.0, stepper.state
    for k in range(STEPS):
        tip = state.tip("finger")
        angle = np.arctan2(tip[0, 2], -tip[2, 2])
        wanted = 0.4 if state.t < 2.0 else 0.9
        summed += DT * (wanted - angle)
        pressure = PROPORTIONAL * (wanted - angle) + INTEGRAL * summed
        push = 1.0 if state.t >= 4.0 else 0.0
        inputs = {"chamber1": max(pressure, 0.0), "chamber2": max(-pressure, 0.0), "push": push}
        began = time.perf_counter()
        state = stepper.step(inputs)
        row = (wanted, angle, pressure, time.perf_counter() - began, state.converged)
        for name, value in zip(log, row, strict=True):
            log[name][k] = value
    return log


def draw(log: dict[str, np.ndarray]) -> None:
    t = DT * np.arange(STEPS)
    with style():
        _, (first, second, third) = plt.subplots(1, 3, figsize=(10.0, 3.2), layout="constrained")
        first.plot(t, log["wanted"], color="#8a8f98", label="target")
        first.plot(t, log["angle"], label="measured")
        first.set(xlabel="time / s", ylabel="tip angle / rad", title="The finger under control")
        first.legend()
        second.plot(t, 1e-3 * log["pressure"], color="#b8202c")
        second.set(xlabel="time / s", ylabel="pressure / kPa", title="Command of the controller")
        third.hist(1e6 * log["seconds"], np.geomspace(10, 3000, 60), color="#3a7ca5")
        third.axvline(1e6 * DT, color="#b8202c", linewidth=0.8)
        third.set(
            xscale="log", yscale="log", xlabel="time of a step / µs", ylabel="number of steps"
        )
        third.set_title("Each step; the line is real time")


def main() -> dict[str, float]:
    robot = make_robot()
    settings = {"formulation": pl.ANCF(4), "integrator": pl.Newmark()}
    with robot.stepper(DT, {"push": 0.0}, start="statics", **settings) as stepper:
        log = control(stepper)
    draw(log)
    before = log["pressure"][3990]
    return {
        "steps that converged": float(log["converged"].sum()),
        "angle held before the push / rad": float(log["angle"][3990]),
        "angle held against the push / rad": float(log["angle"][-1]),
        "pressure that the push costs / kPa": 1e-3 * float(log["pressure"][-1] - before),
    }


if __name__ == "__main__":
    main()
    plt.show()
