"""Cost of tendons inside an arm: four embedded tendons beside none, by tension and by length.

Run: .venv/bin/python benchmarks/embedded_tendons.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

import pliant as pl

SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=1e3)
OFFSETS = ((0.007, 0.0), (0.0, 0.007), (-0.007, 0.0), (0.0, -0.007))


def arm(**tendons: object) -> pl.Robot:
    robot = pl.Robot()
    rod = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pose=pl.along("x"))
    for k, offset in enumerate(OFFSETS if tendons else ()):
        robot.add_tendon(f"t{k}", along=rod, offset=offset, **tendons)  # type: ignore[arg-type]
    return robot


def best(call: Callable[[], object], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.min(times))


def measured(robot: pl.Robot, inputs: dict[str, float]) -> tuple[float, float]:
    """Seconds of an equilibrium from the last one, and of a second of motion in steps of 10 ms."""
    method = pl.BSpline(3, 10)
    still = robot.statics(inputs, method)
    other = {key: 1.1 * x for key, x in inputs.items()}

    def solve() -> None:
        robot.statics(other, method, start=still)

    def move() -> None:
        robot.simulate(1.0, 0.01, inputs, formulation=method, start=still)

    solve()
    move()
    return best(solve), best(move, 3)


def main() -> None:
    warnings.simplefilter("ignore")
    pulled = {"t0": 0.006, "t1": 0.002}
    cases: dict[str, tuple[pl.Robot, dict[str, float]]] = {
        "no tendons": (arm(), {}),
        "tension": (arm(drive="tension"), {"t0": 3.0, "t1": 1.0}),
        "length, EA = 1 kN": (arm(drive="length", stiffness=1e3), pulled),
        "length, inextensible": (arm(drive="length"), pulled),
    }
    found = {name: measured(*case) for name, case in cases.items()}
    first = found["no tendons"]
    print(f"{'':22} static from last     100 steps of 10 ms    real time")
    for name, (solve, move) in found.items():
        ratios = f"{solve / first[0]:5.2f} x {1e3 * solve:6.2f} ms   {move / first[1]:5.2f} x"
        print(f"{name:22} {ratios} {1e3 * move:7.1f} ms   {1.0 / move:6.0f} x")


if __name__ == "__main__":
    main()
