"""A soft rod that falls from straight for 2 s: explicit steps against implicit ones, at equal error.

The rod is 1 m long, with r = 1 cm and E = 1 MPa, undamped unless said otherwise. Errors are the largest
distance of the tip from a motion on a finer mesh, relative to the length. CPU time of the whole call,
from the description to the positions of the tip, kernels warm; the best of three calls.

    python benchmarks/explicit.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import Report, Timing, pl

from pliant.engine import loops

TIMES, INSIDE = np.linspace(0.0, 2.0, 41), np.linspace(0.0, 2.0, 42)
CASES: list[tuple[Any, Any, float]] = [
    *((pl.Explicit(), pl.Spectral(3, n), 0.05) for n in (12, 16, 24, 26, 32)),
    *((pl.Midpoint(), pl.Spectral(3, 24), dt) for dt in (1e-3, 5e-4)),
    *((pl.Midpoint(), pl.BSpline(3, 40), dt) for dt in (2e-3, 1e-3)),
]


def rod(E: float = 1e6, retardation: float = 0.0, sideways: float = 0.0) -> pl.Robot:
    robot = pl.Robot(gravity=(0.0, sideways, -9.81))
    soft = pl.Material(E=E, nu=0.5, rho=1000.0, viscosity=E * retardation)
    robot.add_rod("rod", 1.0, pl.Circle(0.01), soft, pl.along("x"))
    return robot


def tips(
    integrator: Any, mesh: Any, dt: float, times: Any = TIMES, retardation: float = 0.0
) -> Any:
    motion = rod(retardation=retardation).simulate(
        2.0, dt, formulation=mesh, integrator=integrator, output_times=times
    )
    return motion.tip("rod")[:, :3, 3]


def timed(call: Callable[[], Any]) -> tuple[Timing, Any]:
    """CPU seconds of three calls after a first one, and what the last returned."""
    call()
    seconds = []
    for _ in range(3):
        began = time.process_time()
        answer = call()
        seconds.append(time.process_time() - began)
    return Timing(tuple(seconds)), answer


def compare(report: Report) -> None:
    """Explicit against implicit steps."""
    truth = tips(pl.Explicit(), pl.Spectral(3, 48), 0.05)
    found = []
    for integrator, mesh, dt in CASES:
        timing, tip = timed(lambda case=(integrator, mesh, dt): tips(*case))  # type: ignore[misc]
        error = np.linalg.norm(tip - truth, axis=1).max()
        found.append((error, timing.least, integrator))
        name = type(integrator).__name__
        step = "" if name == "Explicit" else f", {1e3 * dt:g} ms"
        report.add(f"{name}, {type(mesh).__name__} {mesh.intervals}{step}", timing)
        report.add("  error of the tip, %", ratio=100.0 * error)
    slow = min((x for x in found if not isinstance(x[2], pl.Explicit)), key=lambda x: x[0])
    fast = [x[1] for x in found if isinstance(x[2], pl.Explicit) and x[0] <= slow[0]]
    best = f"explicit over implicit, at {100 * slow[0]:.2g} % or better"
    report.add(best, ratio=slow[1] / min(fast))


def look_inside(report: Report) -> None:
    """Outputs inside steps, and the share of the time that is not spent in compiled steps."""
    mesh = pl.Spectral(3, 24)
    timing, _ = timed(lambda: tips(pl.Explicit(), mesh, 0.05, INSIDE))
    report.add("Explicit, Spectral 24, all outputs inside steps", timing)
    spent, take = [0.0], loops.take_steps

    def watched(*arguments: Any) -> Any:
        began = time.process_time()
        answer = take(*arguments)
        spent[0] += time.process_time() - began
        return answer

    loops.take_steps = watched
    try:
        began = time.process_time()
        tips(pl.Explicit(), mesh, 0.05)
        whole = time.process_time() - began
    finally:
        loops.take_steps = take
    report.add("  outside compiled steps, part of the call", ratio=1.0 - spent[0] / whole)


def leave_the_plane(report: Report) -> None:
    """The same with a sideways part of gravity, which makes the motion one in space."""
    for elements in (16, 24, 26):
        given = {"formulation": pl.Spectral(3, elements), "integrator": pl.Explicit()}

        def call(given: dict[str, Any] = given) -> Any:
            motion = rod(sideways=0.1).simulate(2.0, 0.05, output_times=TIMES, **given)
            return motion.tip("rod")

        report.add(f"Explicit, Spectral {elements}, in space", timed(call)[0])


def damp(report: Report) -> None:
    """Viscous rods, by the scheme that is chosen."""
    for retardation in (1e-4, 1e-3, 1e-2):
        args = (pl.Explicit(), pl.Spectral(3, 24), 0.05, TIMES, retardation)
        timing, _ = timed(lambda args=args: tips(*args))  # type: ignore[misc]
        report.add(f"Explicit, Spectral 24, retardation {1e3 * retardation:g} ms", timing)


def follow_long(report: Report) -> None:
    """50 s of the undamped rod, and many rods."""
    robot, given = rod(), {"formulation": pl.Spectral(3, 24), "integrator": pl.Explicit()}
    robot.simulate(0.2, 0.1, output_every=0.1, **given)
    seconds = {}
    for duration in (2.0, 50.0):
        began = time.process_time()
        motion = robot.simulate(duration, 0.1, output_every=0.1, **given)
        seconds[duration] = time.process_time() - began
    report.add("50 s undamped, Spectral 24", Timing((seconds[50.0],)))
    gap = np.abs(motion.energy["balance"]).max() / motion.energy["kinetic"].max()
    report.add("  largest energy gap, % of the largest kinetic energy", ratio=100.0 * gap)
    report.add("  time over that of 2 s", ratio=seconds[50.0] / seconds[2.0])
    moduli = 1e6 * np.geomspace(0.8, 1.25, 64)
    wall, cpu = time.perf_counter(), time.process_time()
    pl.simulate_many([rod(E) for E in moduli], 2.0, 0.05, output_times=TIMES, **given)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    report.add("64 rods by simulate_many, CPU", Timing((cpu,)))
    report.add("64 rods by simulate_many, wall time", Timing((wall,)))


def main() -> None:
    warnings.simplefilter("ignore")
    report = Report("falling soft rod, 2 s: CPU time, error of the tip in %")
    for study in (compare, look_inside, leave_the_plane, damp, follow_long):
        study(report)
    report.print()


if __name__ == "__main__":
    main()
