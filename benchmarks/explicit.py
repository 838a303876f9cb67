"""A soft rod that falls from straight for 2 s: explicit steps against implicit ones, at equal error.

The rod is 1 m long, with r = 1 cm and E = 1 MPa, undamped. Errors are the largest distance of the tip
from a motion on a finer mesh, relative to the length. CPU time of the whole call, kernels warm.

    python benchmarks/explicit.py
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from _common import Report, Timing, pl

TIMES = np.linspace(0.0, 2.0, 41)
CASES: list[tuple[Any, Any, float]] = [
    *((pl.Explicit(), pl.Spectral(3, n), 0.05) for n in (12, 16, 24, 32)),
    *((pl.Midpoint(), pl.Spectral(3, 24), dt) for dt in (1e-3, 5e-4)),
    *((pl.Midpoint(), pl.BSpline(3, 40), dt) for dt in (2e-3, 1e-3)),
]


def rod() -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0)
    robot.add_rod("rod", 1.0, pl.Circle(0.01), soft, pl.along("x"))
    return robot


def tips(robot: pl.Robot, integrator: Any, mesh: Any, dt: float) -> Any:
    motion = robot.simulate(2.0, dt, formulation=mesh, integrator=integrator, output_times=TIMES)
    return motion.tip("rod")[:, :3, 3]


def main() -> None:
    warnings.simplefilter("ignore")
    robot = rod()
    truth = tips(robot, pl.Explicit(), pl.Spectral(3, 48), 0.05)
    found = []
    for integrator, mesh, dt in CASES:
        tips(robot, integrator, mesh, dt)
        began = time.process_time()
        tip = tips(robot, integrator, mesh, dt)
        seconds = time.process_time() - began
        found.append((np.linalg.norm(tip - truth, axis=1).max(), seconds, integrator, mesh, dt))
    report = Report("falling soft rod, 2 s: CPU time, error of the tip in %")
    for error, seconds, integrator, mesh, dt in found:
        name = type(integrator).__name__
        step = "" if name == "Explicit" else f", {1e3 * dt:g} ms"
        report.add(f"{name}, {type(mesh).__name__} {mesh.intervals}{step}", Timing((seconds,)))
        report.add("  error of the tip, %", ratio=100.0 * error)
    slow = min((x for x in found if not isinstance(x[2], pl.Explicit)), key=lambda x: x[0])
    fast = [x for x in found if isinstance(x[2], pl.Explicit) and x[0] <= slow[0]]
    ratio = slow[1] / min(x[1] for x in fast)
    report.add(f"explicit over implicit, at {100 * slow[0]:.2g} % or better", ratio=ratio)
    report.print()


if __name__ == "__main__":
    main()
