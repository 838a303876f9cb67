"""A fabric sleeve on a driven pendulum, 3 × 5 to 12 × 20 nodes: CPU time per simulated second.

The sleeve of examples/plot_fabric.py, each node a free body and each edge a link, in steps of 10 ms
with outputs each 50 ms. The time of steps is that of a long motion less that of a short one, over the
time between them; that of the whole call has the preparation of the robot and the judgement of the
motion as well. Kernels are warm.

    python benchmarks/fabric.py [--seconds 10]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
from _common import ROOT, Report, Timing, pl

sys.path.insert(0, str(ROOT / "examples"))

import plot_fabric

SIZES = ((3, 5), (6, 10), (12, 20))
SHORT = 1.0
"""Duration of the short motion, s."""


def sleeve(across: int, down: int) -> pl.Robot:
    """The pendulum with a sleeve of as many nodes; the damping of folds goes with their width."""
    return plot_fabric.sleeve_on_pendulum(plot_fabric.drawing(across, down), across, down)


def simulate(across: int, down: int, duration: float) -> tuple[float, pl.Motion]:
    """CPU seconds from the description to the result, and the result."""
    began = time.process_time()
    inputs = {"swing": plot_fabric.swing}
    motion = sleeve(across, down).simulate(duration, 0.01, inputs=inputs, output_every=0.05)
    return time.process_time() - began, motion


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    duration = parser.parse_args().seconds
    warnings.simplefilter("ignore")
    report = Report("A fabric on a driven pendulum, steps of 10 ms, CPU per simulated second")
    simulate(*SIZES[0], SHORT)
    nodes, steps = [], []
    for size in SIZES:
        short = min(simulate(*size, SHORT)[0] for _ in range(2))
        whole, motion = simulate(*size, duration)
        nodes.append(size[0] * size[1])
        steps.append((whole - short) / (duration - SHORT))
        goal = ">=1" if size == SIZES[-1] else ""
        name = f"{size[0]} × {size[1]} nodes"
        report.add(f"{name}, steps", Timing((steps[-1],)))
        report.add("  faster than real time, steps", ratio=1.0 / steps[-1], goal=goal)
        report.add("  faster than real time, whole call", ratio=duration / whole)
        report.add("  corrections in a step", ratio=motion.iterations / motion.steps)
        gap = motion.energy_gap
        report.add(
            "  energy by the integrator, %", ratio=100 * max(gap.share_added, gap.share_taken)
        )
    power = np.polyfit(np.log(nodes), np.log(steps), 1)[0]
    report.add("power of the nodes", ratio=float(power))
    report.print()


if __name__ == "__main__":
    main()
