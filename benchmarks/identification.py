"""A fit of five parameters to ten seconds of a tip's motion: time, and simulations it took.

The motion of a rod that is shaken is made with known parameters and noise, then fitted from a start
that is off by a fifth, once with neighbours that are followed and once by differences of simulations.
"""

from __future__ import annotations

import time

import numpy as np

import pliant as pl

METHOD = pl.BSpline(degree=3, points=6)
TRUTH = {"E": 1.1e6, "rho": 1080.0, "viscosity": 4000.0, "drag": 1.5, "mass": 0.012}
START = {"E": 0.95e6, "rho": 1000.0, "viscosity": 3000.0, "drag": 1.0, "mass": 0.010}
PATHS = ["arm.E", "arm.rho", "arm.viscosity", "arm.drag", "camera.mass"]
DURATION, DT = 10.0, 0.01


def robot(values: dict[str, float]) -> pl.Robot:
    found = pl.Robot()
    material = pl.Material(E=values["E"], nu=0.45, rho=values["rho"], viscosity=values["viscosity"])
    arm = found.add_rod(
        "arm", 0.25, pl.Circle(0.008), material, pose=pl.along("-z"), drag=values["drag"]
    )
    found.add_body("camera", values["mass"], (1e-6, 1e-6, 1e-6), on=arm.tip)
    found.add_load("push", arm.tip, force=(0.25, 0.0, 0.0))
    return found


def measured() -> pl.Measurement:
    t = np.arange(0.0, DURATION + DT / 2, DT)
    push = np.sin(2 * np.pi * (0.3 * t + 0.08 * t**2))
    signal = pl.TimeTable(t, push)
    move = robot(TRUTH).simulate(
        DURATION, DT, inputs={"push": signal}, start="statics", formulation=METHOD, output_times=t
    )
    tip = move.tip("arm")[:, :3, 3] + np.random.default_rng(1).normal(0.0, 5e-4, (len(t), 3))
    columns = {f"arm.tip.{axis}": tip[:, k] for k, axis in enumerate("xyz")}
    return pl.Measurement({"t": t, "push": push, **columns}, "t", start="statics", name="shaken")


def main() -> None:
    data = measured()
    short = data.between(0.0, 0.1)
    pl.fit(robot(START), short, PATHS[:1], [pl.Output("arm.tip")], formulation=METHOD, dt=DT)
    print(f"{'slopes':<14}{'time / s':>10}{'iterations':>12}{'simulations':>13}{'followed':>10}")
    counts = {}
    for mode in ("auto", "differences"):
        began = time.perf_counter()
        found = pl.fit(
            robot(START),
            data,
            PATHS,
            [pl.Output("arm.tip")],
            formulation=METHOD,
            dt=DT,
            sensitivities=mode,
        )
        took = time.perf_counter() - began
        counts[mode] = found.solves / found.iterations
        print(
            f"{mode:<14}{took:>10.1f}{found.iterations:>12}{found.solves:>13}{found.followed:>10}"
        )
        if mode == "auto":
            kept = found
    print(f"simulations per iteration: {counts['differences'] / counts['auto']:.1f} times fewer")
    for item, truth in zip(kept.estimates, TRUTH.values(), strict=True):
        score = (item.value - truth) / item.error
        print(
            f"{item.name:<16}{item.value:>12.5g} +- {item.error:<10.2g} true {truth:<10g} {score:+.1f}"
        )


if __name__ == "__main__":
    main()
