"""Robots of many rods: cost of a static iteration and of a time step against the number of rods.

Rods under one plate (loops), a star and a chain of rods, from 4 to 64 of them: the cost should grow
in proportion, with an exponent of at most 1.1. Then the chiral structure of Xun et al., section
8.3, at the size of the paper (about 1172 unknowns): assembly, factorisation and solution, which the
paper's solution alone takes 2 ms for.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from _common import ROOT, Report, Timing, pl

from pliant.engine.program import record
from pliant.linalg.sparse_factor import ENOUGH

assert ROOT  # puts the examples within reach
from examples.plot_chiral_structure import structure  # noqa: E402

COUNTS = (4, 8, 16, 32, 64)
FORM = pl.BSpline(degree=3, points=8)
RUBBER = pl.Material(E=1e7, nu=0.45, rho=1000.0, viscosity=1e3)
LENGTH, RADIUS = 0.2, 0.005
GOAL = "<=1.1"


def parallel(count: int) -> pl.Robot:
    """Rods all round that carry one plate: a loop for each of them."""
    robot = pl.Robot()
    at = pl.pose((0, 0, LENGTH))
    plate = robot.add_body("plate", 0.005 * count, (1e-5,) * 3, pose=at, joint=pl.Free())
    for k in range(count):
        angle = 2.0 * np.pi * k / count
        place = 0.1 * np.array([np.cos(angle), np.sin(angle), 0.0])
        rod = robot.add_rod(f"rod{k}", LENGTH, pl.Circle(RADIUS), RUBBER, pl.pose(place))
        robot.connect(f"loop{k}", rod.tip, plate.at(place))
    robot.add_load("push", "plate", force=(0.02 * count, 0.01 * count, 0))
    return robot


def star(count: int) -> pl.Robot:
    """A body on the first rod that carries all others."""
    robot = pl.Robot()
    trunk = robot.add_rod("rod0", LENGTH, pl.Circle(4 * RADIUS), RUBBER)
    hub = robot.add_body("hub", 0.02, (1e-5,) * 3, on=trunk.tip)
    for k in range(1, count):
        turn = pl.pose((0, 0, 0), (np.cos(k), np.sin(k), 0))
        robot.add_rod(f"rod{k}", LENGTH, pl.Circle(RADIUS), RUBBER, turn, base=hub.at((0, 0, 0)))
    robot.add_load("push", "rod0.tip", force=(0.2, 0, 0))
    return robot


def chain(count: int) -> pl.Robot:
    """Rods one after the other, each on the tip of the one before, without weight."""
    robot = pl.Robot(gravity=(0, 0, 0))
    base: object = "world"
    for k in range(count):
        rod = robot.add_rod(f"rod{k}", LENGTH, pl.Circle(RADIUS), RUBBER, base=base)
        base = rod.tip
    robot.add_load("push", rod.tip, force=(2e-2 / count**2, 0, 0))
    return robot


def least(call: Callable[[], object], blocks: int = 7) -> Timing:
    """CPU seconds of a call in several blocks: other work of the machine hardly counts."""
    call()
    began = time.process_time()
    call()
    many = max(1, round(0.05 / max(time.process_time() - began, 1e-6)))
    found = []
    for _ in range(blocks):
        began = time.process_time()
        for _ in range(many):
            call()
        found.append((time.process_time() - began) / many)
    return Timing(tuple(found))


def iteration(
    robot: pl.Robot, inputs: dict[str, float] | None = None, form: pl.BSpline = FORM
) -> dict[str, Timing]:
    """CPU seconds of the parts of a Newton iteration of an equilibrium, as the solver runs them."""
    still = robot.statics(inputs, formulation=form)
    still = robot.statics(inputs, start=still)
    with still._compiled.solver() as solver:
        solver.choose_equations(still._solution.inputs, still._solution.inputs)
        equations = solver.equations
        equations.look_at(still._solution)
        solved = equations.matrix.record_solve
        programs = {
            "assembly": record(equations._place_and_balance, True),
            "factorisation": record(equations.matrix.record_factorise),
            "solution": record(solved, equations.right, equations.x, ENOUGH),
        }
        found = {name: least(program) for name, program in programs.items()}
    found["all"] = Timing(tuple(map(sum, zip(*(t.blocks for t in found.values()), strict=True))))
    return found


def step(robot: pl.Robot, dt: float = 1e-3, count: int = 10) -> Timing:
    """CPU seconds of a time step, of `count` steps more than two, so that preparations do not count."""

    def motion(many: int) -> float:
        began = time.process_time()
        robot.simulate(many * dt, dt, formulation=FORM, output_times=[many * dt])
        return time.process_time() - began

    motion(count + 4)
    return Timing(tuple((motion(count + 4) - motion(4)) / count for _ in range(5)))


def exponent(times: dict[int, Timing]) -> float:
    """Slope of the least times over the counts, both as logarithms."""
    counts = np.log(list(times))
    return float(np.polyfit(counts, np.log([t.least for t in times.values()]), 1)[0])


def main() -> None:
    warnings.simplefilter("ignore")
    report = Report("Robots of many rods: CPU time, and its exponent in the number of rods")
    for name, make in (("parallel", parallel), ("star", star), ("chain", chain)):
        rods = {n: make(n) for n in COUNTS}
        for what, found in (
            ("static iteration", {n: iteration(robot)["all"] for n, robot in rods.items()}),
            ("time step", {n: step(robot) for n, robot in rods.items()}),
        ):
            for n, timing in found.items():
                report.add(f"{name}, {what}, {n} rods", timing, timing.least / found[4].least)
            report.add(f"{name}, {what}: exponent", None, exponent(found), GOAL)
    one, many = (iteration(star(count))["all"] for count in (1, 32))
    report.add(
        "star of 32 rods over one rod, static iteration", None, many.least / one.least, "<=40"
    )
    one, many = step(star(1)), step(star(32))
    report.add("star of 32 rods over one rod, time step", None, many.least / one.least, "<=40")
    robot, inputs, form = structure(pressed=True), {"twist": 0.5, "press": -0.1}, pl.BSpline(3, 17)
    parts = iteration(robot, inputs, form)
    size = robot.statics(inputs, formulation=form).unknowns
    for name, timing in parts.items():
        report.add(f"chiral structure, {size} unknowns: {name}", timing)
    report.add("chiral structure: milliseconds in all", None, 1e3 * parts["all"].median, "<=2")
    both = parts["assembly"].median + parts["factorisation"].median
    report.add(
        "assembly and factorisation over factorisation",
        None,
        both / parts["factorisation"].median,
        "<=5",
    )
    report.print()


if __name__ == "__main__":
    main()
