"""Steps that follow a tolerance against steps of one length, at equal error.

A steel cantilever of 1 m, 1 cm square, with -10 N at its tip at once, 0.5 s; and a soft rod that falls
from straight for 2 s. Errors are the largest distance of the tip, at 101 times, from a motion with the
same mesh and a far smaller tolerance, relative to the length: the error of time alone. CPU time of the
whole call, the least of two, kernels warm.

    python benchmarks/radau.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from _common import Report, Timing, pl
from _steel import cantilever

REPEATS = 2


def soft() -> pl.Robot:
    robot = pl.Robot()
    rubber = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("rod", 1.0, pl.Circle(0.01), rubber, pl.along("x"))
    return robot


@dataclass(frozen=True)
class Case:
    """A robot whose tip moves for some seconds, tolerances and steps, s; the last one is the truth."""

    title: str
    make: Callable[[], pl.Robot]
    duration: float
    mesh: Any
    tolerances: tuple[float, ...]
    steps: tuple[float, ...]


CASES = [
    Case(
        "steel cantilever, 0.5 s", lambda: cantilever(-10.0), 0.5, pl.BSpline(3, 8),
        (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-8),
        (5e-3, 2.5e-3, 1.25e-3, 6.25e-4, 3.125e-4, 1.5625e-4),
    ),
    Case(
        "falling soft rod, 2 s", soft, 2.0, pl.Spectral(3, 12), (1e-3, 1e-4, 1e-5, 1e-6),
        (2.5e-3, 1.25e-3, 6.25e-4),
    ),
]  # fmt: skip


def moved(robot: pl.Robot, case: Case, integrator: Any, dt: float) -> pl.Motion:
    return robot.simulate(
        case.duration, dt, integrator=integrator, formulation=case.mesh,
        output_times=np.linspace(0.0, case.duration, 101),
    )  # fmt: skip


def measured(call: Callable[[], pl.Motion]) -> tuple[Any, float]:
    """Tips (T, 3) of a motion and the least CPU time of several, s."""
    seconds = []
    for _ in range(REPEATS + 1):
        began = time.process_time()
        motion = call()
        seconds.append(time.process_time() - began)
    return motion.tip("rod")[:, :3, 3], min(seconds[1:])


def interpolated(rows: list[tuple[float, float]], error: float) -> float | None:
    """CPU time at an error, on the line through (error, seconds) in logarithms; None outside."""
    pairs = sorted((float(np.log(e)), float(np.log(s))) for e, s in rows)
    errors, seconds = np.array(pairs).T
    if not errors[0] <= np.log(error) <= errors[-1]:
        return None
    return float(np.exp(np.interp(np.log(error), errors, seconds)))


def main() -> None:
    warnings.simplefilter("ignore")
    for case in CASES:
        robot = case.make()
        truth = moved(robot, case, pl.Radau(case.tolerances[-1]), 0.01).tip("rod")[:, :3, 3]
        report = Report(f"{case.title}: CPU time, error of the tip in %")
        found: dict[str, list[tuple[float, float]]] = {}
        settings: list[Any] = [("Radau", pl.Radau(x), 0.01, f"{x:g}") for x in case.tolerances[:-1]]
        for h in case.steps:
            settings += [("Midpoint", pl.Midpoint(), h, f"{1e3 * h:g} ms")]
            settings += [("Newmark", pl.Newmark(), h, f"{1e3 * h:g} ms")]
        for name, integrator, h, told in settings:
            try:
                tip, seconds = measured(partial(moved, robot, case, integrator, h))
            except pl.ConvergenceError:
                report.add(f"{name}, {told}: a step did not converge")
                continue
            error = float(np.linalg.norm(tip - truth, axis=1).max())
            found.setdefault(name, []).append((error, seconds))
            report.add(f"{name}, {told}", Timing((seconds,)))
            report.add("  error of the tip, %", ratio=100.0 * error)
        for error, own in found["Radau"]:
            for name in ("Midpoint", "Newmark"):
                other = interpolated(found[name], error)
                if other is not None:
                    report.add(f"{name} over Radau, at {100 * error:.2g} %", ratio=other / own)
        report.print()


if __name__ == "__main__":
    main()
