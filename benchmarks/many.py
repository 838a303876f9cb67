"""Sixty-four falling soft rods with different moduli, 2 s each: side by side against one by one.

The rods are those of `explicit.py`. CPU time of the whole call, from the descriptions to the positions
of all tips, kernels warm, the best of three calls; wall time on all cores is told beside it, which on a
machine that does other things says little. The error is the largest distance of a tip from a motion on
a finer mesh, relative to the length, over all rods.

    python benchmarks/many.py [elements]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import Report, Timing, pl
from explicit import TIMES, rod

MODULI = 1e6 * np.geomspace(0.8, 1.25, 64)


def given(elements: int) -> dict[str, Any]:
    mesh, method = pl.Spectral(3, elements), pl.Explicit()
    return {"formulation": mesh, "integrator": method, "output_times": TIMES}


def tips(motions: list[pl.Motion]) -> Any:
    return np.array([motion.tip("rod")[:, :3, 3] for motion in motions])


def together(elements: int) -> Any:
    return tips(pl.simulate_many([rod(E) for E in MODULI], 2.0, 0.05, **given(elements)))


def one_by_one(elements: int) -> Any:
    return tips([rod(E).simulate(2.0, 0.05, **given(elements)) for E in MODULI])


def timed(call: Callable[[int], Any], elements: int, calls: int) -> tuple[Timing, Timing, Any]:
    """CPU and wall seconds of some calls after a first one, and what the last returned."""
    call(elements)
    cpu, wall = [], []
    for _ in range(calls):
        began = time.process_time(), time.perf_counter()
        answer = call(elements)
        cpu.append(time.process_time() - began[0])
        wall.append(time.perf_counter() - began[1])
    return Timing(tuple(cpu)), Timing(tuple(wall)), answer


def main() -> None:
    warnings.simplefilter("ignore")
    elements = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    report = Report(f"64 soft rods of {elements} elements, 2 s")
    cpu, wall, found = timed(together, elements, 3)
    single, _, alone = timed(one_by_one, elements, 1)
    truth = together(3 * elements)
    report.add("simulate_many, CPU", cpu)
    report.add("simulate_many, wall time", wall)
    report.add("one after another, CPU", single)
    report.add("  CPU over that of simulate_many", ratio=single.least / cpu.least)
    report.add("CPU of a robot by simulate_many, ms", ratio=1e3 * cpu.least / len(MODULI))
    error, gap = (np.linalg.norm(x - found, axis=2).max() for x in (truth, alone))
    report.add("  error of the tips, %", ratio=100.0 * error)
    report.add("  difference from one by one, %", ratio=100.0 * gap)
    report.print()


if __name__ == "__main__":
    main()
