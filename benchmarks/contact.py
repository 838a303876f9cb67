"""Cost of contact: steps of a soft arm with and without a floor, against the number of stations.

The arm has L = 0.5 m, r = 1 cm, E = 1e6 Pa, rho = 1000 kg/m^3, viscosity 300 Pa s and 12 control
points. Steps of 2 ms by `Midpoint`, far above a floor and lying on it; ratios are to the arm without a
floor. Then two crossing arms, whose segments all may meet, against two that pass, and the search alone.
Times are of the processor.

    python benchmarks/contact.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from _common import Report, Timing

import pliant as pl
from pliant.physics.contacts.found import nothing_found
from pliant.physics.contacts.segments import Segments, find_segments

DT, STEPS, BLOCKS = 0.002, 200, 5
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=300.0)
METHOD = pl.BSpline(3, 12)


def arm(height: float | None = None, **law: float) -> pl.Robot:
    robot = pl.Robot()
    robot.add_rod("arm", 0.5, pl.Circle(0.01), SOFT, pl.along("x"), formulation=METHOD)
    if height is not None:
        robot.add_contact("floor", "arm", pl.Plane((0, 0, height)), **law)  # type: ignore[arg-type]
    return robot


def crossing(contact: bool) -> pl.Robot:
    robot = pl.Robot()
    robot.add_rod("arm", 0.5, pl.Circle(0.01), SOFT, pl.along("x"), formulation=METHOD)
    bar = pl.along("y", (0.4, -0.1, -0.05))
    robot.add_rod("bar", 0.2, pl.Circle(0.01), SOFT, bar, formulation=METHOD)
    if contact:
        robot.add_contact("cross", "arm", "bar")
    return robot


def step_time(robot: pl.Robot) -> Timing:
    """Seconds of the processor per step, lying where it comes to lie."""
    stepper = robot.stepper(DT)
    for _ in range(150):
        stepper.step()
    times = []
    for _ in range(BLOCKS):
        began = time.process_time()
        for _ in range(STEPS):
            stepper.step()
        times.append((time.process_time() - began) / STEPS)
    return Timing(tuple(times))


def search_time(count: int) -> Timing:
    """Seconds of a search of two rods of `count` segments that are far apart but at one place."""
    s = np.linspace(0.0, 1.0, count + 1)
    G = np.tile(pl.along("x"), (2 * count + 2, 1, 1))
    G[: count + 1, 0, 3], G[count + 1 :, 0, 3] = s, s
    G[count + 1 :, 2, 3] = 0.05 + 2.0 * (s - 0.5) ** 2
    places, r = np.arange(count + 1), np.full(count + 1, 0.01)
    segments = Segments(places, places + count + 1, r, r, s, s, -1.0, 2.0 / count)
    found = nothing_found(count)

    def call() -> None:
        find_segments(segments, G, 0, found)

    return timed(call)


def timed(call: Callable[[], None]) -> Timing:
    call()
    times = []
    for _ in range(BLOCKS):
        began = time.process_time()
        for _ in range(50):
            call()
        times.append((time.process_time() - began) / 50)
    return Timing(tuple(times))


def main() -> None:
    report = Report("Steps with contact; ratios to the same arms without, and to 20 segments")
    free = step_time(arm())
    report.add("no floor", free, 1.0)
    cases = {f"above a floor, {n} stations": arm(-5.0, stations=n) for n in (11, 21, 41, 81)}
    cases |= {f"on a floor, {n} stations": arm(-0.05, stations=n) for n in (11, 21, 41, 81)}
    cases["on a floor with friction, 21 stations"] = arm(-0.05, stations=21, friction=0.3)
    cases["on a floor of springs, 21 stations"] = arm(-0.05, stations=21, stiffness=1e5)
    for name, robot in cases.items():
        took = step_time(robot)
        report.add(name, took, took.least / free.least)
    two = step_time(crossing(False))
    report.add("two arms", two, 1.0)
    took = step_time(crossing(True))
    report.add("two arms that cross", took, took.least / two.least)
    first = search_time(20)
    for count in (20, 40, 80, 160):
        took = search_time(count)
        report.add(f"search of {count} segments against {count}", took, took.least / first.least)
    report.print()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
