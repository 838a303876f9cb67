"""Fits of five parameters to ten seconds of a tip's motion: time, and simulations they took.

The motions of a rod that is shaken and of a pneumatic actuator are made with known parameters and
noise, then fitted from a start that is off by up to a third, once with neighbours that are followed and
once by differences of simulations.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pliant as pl

DURATION = 10.0
ROD = {
    "arm.E": (1.1e6, 0.95e6),
    "arm.rho": (1080.0, 1000.0),
    "arm.viscosity": (4000.0, 3000.0),
    "arm.drag": (1.5, 1.0),
    "camera.mass": (0.012, 0.010),
}
"""Parameters of the rod: true, and where the search starts."""
FINGER = {
    "finger.bending[1]": (0.0186, 0.016),
    "finger.mass_damping": (2.4, 1.5),
    "weight.mass": (0.03, 0.025),
    "chamber1.area": (np.pi * 0.006**2, np.pi * 0.0058**2),
    "chamber2.area": (np.pi * 0.006**2, np.pi * 0.0058**2),
}
"""The same of the actuator."""


def rod(column: int) -> pl.Robot:
    E, rho, viscosity, drag, mass = (pair[column] for pair in ROD.values())
    robot = pl.Robot()
    material = pl.Material(E=E, nu=0.45, rho=rho, viscosity=viscosity)
    arm = robot.add_rod("arm", 0.25, pl.Circle(0.008), material, pose=pl.along("-z"), drag=drag)
    robot.add_body("camera", mass, (1e-6, 1e-6, 1e-6), on=arm.tip)
    robot.add_load("push", arm.tip, force=(0.25, 0.0, 0.0))
    return robot


def finger(column: int) -> pl.Robot:
    bending, damping, mass, area, _ = (pair[column] for pair in FINGER.values())
    robot = pl.Robot()
    part = pl.BendingActuator(
        0.175, bending, np.sqrt(area / np.pi), 0.009, mass=0.12038, mass_damping=damping,
        retardation=2e-3,
    )  # fmt: skip
    made = robot.add_actuator("finger", part, pl.along("x"))
    robot.add_body("weight", mass, on=made.tip)
    return robot


def measured(
    robot: pl.Robot, name: str, inputs: Any, noise: float, **settings: Any
) -> pl.Measurement:
    """Return the positions of a tip every 10 ms, with noise."""
    t = np.arange(0.0, DURATION + 0.005, 0.01)
    move = robot.simulate(DURATION, inputs=inputs, start="statics", output_times=t, **settings)
    tip = move.tip(name)[:, :3, 3] + np.random.default_rng(1).normal(0.0, noise, (len(t), 3))
    columns = {f"{name}.tip.{axis}": tip[:, k] for k, axis in enumerate("xyz")}
    return pl.Measurement({"t": t, **columns}, "t", inputs, start="statics", name=name)


def compare(
    title: str, make: Callable[[int], pl.Robot], known: dict[str, tuple[float, float]],
    data: pl.Measurement, **settings: Any,
) -> None:  # fmt: skip
    """Fit both ways and print what it took and what was found."""
    print(f"\n{title}")
    print(f"{'slopes':<14}{'time / s':>10}{'iterations':>12}{'simulations':>13}{'followed':>10}")
    outputs = [pl.Output(f"{data.name}.tip")]
    pl.fit(make(1), data.between(0.0, 0.1), list(known)[:1], outputs, **settings)
    fits = {}
    for mode in ("auto", "differences"):
        began = time.perf_counter()
        found = pl.fit(make(1), data, list(known), outputs, sensitivities=mode, **settings)
        took = time.perf_counter() - began
        fits[mode] = found
        print(
            f"{mode:<14}{took:>10.1f}{found.iterations:>12}{found.solves:>13}{found.followed:>10}"
        )
    counts = {mode: found.solves / found.iterations for mode, found in fits.items()}
    print(f"simulations per iteration: {counts['differences'] / counts['auto']:.1f} times fewer")
    for item, (truth, _) in zip(fits["auto"].estimates, known.values(), strict=True):
        score = (item.value - truth) / item.error
        found = f"{item.value:>12.5g} +- {item.error:<10.2g}"
        print(f"{item.name:<20}{found} true {truth:<12.5g} {score:+.1f}")


def main() -> None:
    warnings.simplefilter("ignore", pl.FitWarning)  # of parameters that go together
    times = np.arange(0.0, DURATION + 0.005, 0.01)
    push = pl.TimeTable(times, np.sin(2 * np.pi * (0.3 * times + 0.08 * times**2)))
    spline = {"formulation": pl.BSpline(degree=3, points=6), "dt": 0.01}
    compare(
        "a shaken rod, BSpline(points=6), Midpoint(), dt = 10 ms", rod, ROD,
        measured(rod(0), "arm", {"push": push}, 5e-4, **spline), **spline,
    )  # fmt: skip
    pressures = {
        "chamber1": pl.Sine(2e4, 0.7, offset=2e4),
        "chamber2": pl.Sine(1e4, 1.7, offset=1e4),
    }
    cable = {"formulation": pl.ANCF(4), "integrator": pl.Newmark(), "dt": 1e-3}
    compare(
        "the actuator of streaming.py, ANCF(4), Newmark(), dt = 1 ms", finger, FINGER,
        measured(finger(0), "finger", pressures, 3e-4, **cable), **cable,
    )  # fmt: skip


if __name__ == "__main__":
    main()
