"""Speed of the rod models of TMTDyn: a STIFF-FLOP appendage, a first step, and many nodes.

1. CPU time for one simulated second of the appendage of pliant/robots/stiff_flop.yaml in steps of
   5 ms, with 5 segments or orders, with and without section update, and by a spline. Goal: 20 times
   faster than real time.
2. From a description to the first step, SRL with 20 segments, kernels warm. Goal: below 0.2 s.
3. A time step of EBA with 50 to 1000 nodes. Goal: the cost grows with at most their power 1.1.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _common import ROOT
from rich.console import Console
from rich.table import Table

import pliant as pl

FILE = Path(ROOT) / "pliant" / "robots" / "stiff_flop.yaml"
SWELL = pl.Sine(3e4, 1.0, phase=-np.pi / 2, offset=3e4)
INPUTS = {"air 1a": SWELL, "air 1b": SWELL}
MODELS = [pl.SRL(5), pl.EBR(5), pl.EBA(5), pl.ROM(5), pl.BSpline()]
NODES = (50, 100, 200, 400, 1000)


def least(call: Callable[[], object], repeat: int = 5) -> float:
    """CPU seconds of the fastest of some calls, after one that compiles."""
    call()
    found = []
    for _ in range(repeat):
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found)


def appendage(update: bool) -> pl.Robot:
    robot = pl.Robot.from_file(FILE)
    if update:
        robot.add_section_update("softening", "arm")
    return robot


def seconds_of(formulation: pl.Formulation, update: bool) -> float:
    robot = appendage(update)
    return least(lambda: robot.simulate(1.0, 5e-3, INPUTS, formulation=formulation))


def states(formulation: pl.Formulation) -> int:
    return int(appendage(False)._compiler.compiled(formulation).effects.tree.total)


def first_step() -> float:
    """Seconds from nothing to the first step of a new robot, kernels compiled."""

    def run() -> None:
        robot = pl.Robot()
        material = pl.Material(E=1e6, nu=0.45, rho=1100.0 + np.random.default_rng().uniform())
        robot.add_rod("arm", 0.3, pl.Circle(0.01), material, pose=pl.along("x"))
        robot.simulate(5e-3, 5e-3, formulation=pl.SRL(20))

    return least(run)


def step_of(nodes: int) -> float:
    """CPU seconds of a time step of an arm under its weight."""
    robot = pl.Robot()
    material = pl.Material(E=1e6, nu=0.45, rho=1100.0, viscosity=1e3)
    robot.add_rod("arm", 0.3, pl.Circle(0.01), material, pose=pl.along("x"))
    few, many = (
        least(lambda n=n: robot.simulate(n * 1e-3, 1e-3, formulation=pl.EBA(nodes)), 3)
        for n in (20, 120)
    )
    return (many - few) / 100


def main() -> None:
    warnings.simplefilter("ignore")
    console = Console(width=None if sys.stdout.isatty() else 110)
    table = Table(title="STIFF-FLOP: one simulated second, steps of 5 ms", title_justify="left")
    for name in (
        "model",
        "unknowns",
        "ms",
        "x real time",
        "with section update, ms",
        "x real time",
    ):
        table.add_column(name, justify="right")
    for model in MODELS:
        plain, soft = seconds_of(model, False), seconds_of(model, True)
        cells = (f"{1e3 * plain:.1f}", f"{1 / plain:.0f}", f"{1e3 * soft:.1f}", f"{1 / soft:.0f}")
        table.add_row(type(model).__name__, str(states(model)), *cells)
    console.print(table)
    console.print(f"description to first step, SRL(20): {1e3 * first_step():.0f} ms of CPU")
    costs = [step_of(n) for n in NODES]
    table = Table(title="EBA: a time step", title_justify="left")
    for name in ("nodes", "us", "us a node"):
        table.add_column(name, justify="right")
    for n, cost in zip(NODES, costs, strict=True):
        table.add_row(str(n), f"{1e6 * cost:.0f}", f"{1e6 * cost / n:.2f}")
    console.print(table)
    slope = np.polyfit(np.log(NODES), np.log(costs), 1)[0]
    console.print(f"cost grows with the power {slope:.2f} of the number of nodes")


if __name__ == "__main__":
    main()
