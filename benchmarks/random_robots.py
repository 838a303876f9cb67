"""Random soft robots solved cold: how many shapes are off, and of how many of those you are warned.

Run ``python benchmarks/random_robots.py [--seed 0] [--count 300] [--methods SRL EBR]``; methods are
chosen by how their names begin. The truth is a fine solution of the same theory (40 control points of
degree 5, 60 elements for cables) that follows the branch from the unloaded robot in at least 40 load
steps, or 400 under loads without potential, whose branches no pivot tells apart; 2000 where these end
at an unstable equilibrium, for two branches may pass close to each other. The last columns compare the
estimated errors with the true ones, and what the estimate costs with what the rest of the solve costs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from _common import pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from pliant.results.equilibrium import Equilibrium
from pliant.solve.load_steps import StaticOptions, StaticSolver
from tests.reference.random_robots import distance, random_robot

METHODS: dict[str, Any] = {
    "default": None,
    "Hermite(8)": pl.Hermite(8),
    "Strain(2, 6)": pl.Strain(order=2, segments=6),
    "Spectral()": pl.Spectral(),
    "Shooting()": pl.Shooting(),
    "Collocation()": pl.Collocation(),
    "Shooting(12)": pl.Shooting(12),
    "Shooting(30)": pl.Shooting(30),
    "Shooting(60), Euler": pl.Shooting(60, scheme="euler"),
    "MultipleShooting(12)": pl.MultipleShooting(steps=12),
    "MultipleShooting(4, 30)": pl.MultipleShooting(4, 30),
    "Collocation(5)": pl.Collocation(5),
    "Collocation(8)": pl.Collocation(8),
    "SRL(20)": pl.SRL(20),
    "EBR(20)": pl.EBR(20),
    "EBA(20)": pl.EBA(20),
    "ROM(8)": pl.ROM(8, rotation="free"),
    "ANCF(8)": pl.ANCF(8, planar=False),
}
FINE: Any = pl.BSpline(degree=5, points=40)
CABLE: Any = pl.ANCF(60, planar=False)
LEVELS = (1e-4, 1e-3, 1e-2)
UNCERTAIN = 1e-5
"""Estimated error of a reference, over the length, above which the robot does not count."""


@dataclass
class Count:
    """What became of the robots with one method: errors over the length, true and estimated."""

    true: list[float] = field(default_factory=list)
    estimated: list[float] = field(default_factory=list)
    warned: list[bool] = field(default_factory=list)
    stable: list[bool] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    uncertain: list[float] = field(default_factory=list)
    """Estimated errors of the references."""
    failed: list[int] = field(default_factory=list)
    refused: int = 0
    """Robots that the formulation cannot describe."""


def reference(robot: pl.Robot, fine: Any = FINE) -> Equilibrium:
    """The equilibrium on the branch from the unloaded robot, on a fine grid in short load steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        still = robot.statics(formulation=fine)
    problem: Any = still._compiled
    inputs = problem.effects.at(still.inputs)
    for steps in (40,) if problem.effects.conservative(inputs.u) else (400, 2000):
        found = StaticSolver(problem.effects, StaticOptions(largest_step=1.0 / steps)).solve(inputs)
        result = Equilibrium(problem, found, [(1.0, still.inputs)], 0.0)
        if result.stable is not False:
            break
    if found.error is None or found.error.relative > UNCERTAIN:
        raise pl.ConvergenceError("the reference is not accurate enough")
    return result


def cost_of_estimate(still: Equilibrium) -> float:
    """Time of the estimate over that of the rest of the solve, with coordinates."""
    problem: Any = still._compiled
    solver = StaticSolver(problem.effects)
    inputs = problem.effects.at(still.inputs)
    for _ in range(2):
        solver.solve(inputs)
    began = time.perf_counter()
    solver.solve(inputs)
    middle = time.perf_counter()
    solver.equations.error.estimate()
    spent = time.perf_counter() - middle
    return spent / (middle - began - spent)


def study(
    seed: int, count: int, methods: dict[str, Any]
) -> tuple[dict[str, Count], dict[int, str]]:
    """Solve random robots by all methods; tells which have no reference, and why."""
    counts: dict[str, Count] = {name: Count() for name in methods}
    without: dict[int, str] = {}
    for k in track(range(seed, seed + count), "robots"):
        truths: dict[bool, Equilibrium | None] = {}
        for name, formulation in methods.items():
            robot, cable = random_robot(k), isinstance(formulation, pl.ANCF)
            if cable not in truths:
                try:
                    truths[cable] = reference(robot, CABLE if cable else FINE)
                except pl.PliantError as error:
                    truths[cable] = None
                    if not cable:
                        without[k] = " ".join(str(error).split())[:90]
            truth = truths[cable]
            if truth is not None:
                note(counts[name], robot, formulation, truth, k)
    return counts, without


def note(row: Count, robot: pl.Robot, formulation: Any, truth: Equilibrium, seed: int) -> None:
    """Solve one robot by one method."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            still = robot.statics(formulation=formulation)
        except pl.ConvergenceError:
            row.failed.append(seed)
            return
        except pl.DescriptionError:
            row.refused += 1
            return
    kinds = (pl.ResolutionWarning, pl.StabilityWarning)
    row.seeds.append(seed)
    row.uncertain.append(0.0 if truth.error is None else truth.error.relative)
    row.true.append(distance(still, truth))
    row.estimated.append(np.inf if still.error is None else still.error.relative)
    row.warned.append(any(issubclass(item.category, kinds) for item in told))
    row.stable.append(still.stable is truth.stable or None in (still.stable, truth.stable))
    if not isinstance(formulation, pl.Shooting | pl.Collocation):
        row.costs.append(cost_of_estimate(still))


def report(counts: dict[str, Count], without: dict[int, str], count: int, seed: int) -> None:
    """Print the table."""
    title = f"{count} random robots from seed {seed}; {len(without)} without a reference"
    table = Table(title=title)
    heads = ["solved", "failed", "refused", *(f"> {level:g} L" for level in LEVELS)]
    heads += ["> 1e-3 L unwarned", "warned, < 2e-4 L", "estimate within 5x", "< 0.1 of > 1e-3 L"]
    heads += ["stable differs", "cost of estimate"]
    for head in ["method", *heads]:
        table.add_column(head, justify="right")
    for name, row in counts.items():
        true, estimated, warned = (np.array(x) for x in (row.true, row.estimated, row.warned))
        known = true > np.maximum(1e-7, 10.0 * np.array(row.uncertain))
        ratio = estimated[known] / true[known]
        fine = true < 2e-4
        if not len(true):
            continue
        cells = [
            len(true),
            len(row.failed),
            row.refused,
            *(int(np.sum(true > level)) for level in LEVELS),
        ]
        cells += [int(np.sum((true > 1e-3) & ~warned))]
        cells += [f"{int(np.sum(fine & warned))} of {int(np.sum(fine))}"]
        cells += [f"{100 * np.mean((ratio > 0.2) & (ratio < 5.0)):.0f} %"]
        cells += [int(np.sum((true > 1e-3) & (estimated < 0.1 * true)))]
        cells += [int(np.sum(~np.array(row.stable)))]
        cells += [f"{100 * np.median(row.costs):.0f} %" if row.costs else ""]
        table.add_row(name, *(str(cell) for cell in cells))
    Console(width=190).print(table)
    for robot, why in without.items():
        print(f"robot {robot} has no reference: {why}")
    for name, row in counts.items():
        pairs = zip(row.seeds, row.true, row.warned, strict=True)
        missed = [
            f"{seed} ({true:.1e})" for seed, true, warned in pairs if true > 1e-3 and not warned
        ]
        if missed:
            print(f"{name}: unwarned robots {', '.join(missed)}")
        apart = [str(seed) for seed, same in zip(row.seeds, row.stable, strict=True) if not same]
        if apart:
            print(f"{name}: stable differs for robots {', '.join(apart)}")
        columns = zip(row.seeds, row.true, row.estimated, row.uncertain, strict=True)
        poor = [
            f"{seed} ({true:.1e}, {estimate / true:.2g} times)"
            for seed, true, estimate, rough in columns
            if true > max(1e-7, 10.0 * rough) and not 0.2 < estimate / true < 5.0
        ]
        if poor:
            print(f"{name}: estimates off by more than 5 times {', '.join(poor)}")
        if row.failed:
            print(f"{name}: no equilibrium for robots {', '.join(map(str, row.failed))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--methods", nargs="*", default=[""])
    given = parser.parse_args()
    chosen = {k: v for k, v in METHODS.items() if k.startswith(tuple(given.methods))}
    report(*study(given.seed, given.count, chosen), given.count, given.seed)


if __name__ == "__main__":
    main()
