"""Tendon arm: four tendons through ten disks; motions faster than real time, equilibria below 1 ms.

The arm has L = 0.3 m, r = 1 cm, E = 1e6 Pa, rho = 1000 kg/m^3, viscosity 1e3 Pa s and hangs down;
tendons at 7 mm run through its base and ten disks 3 cm apart, with tensions up to 5 N. Errors are those
of the tip, relative to the length, against a fine grid and short steps. Times are of the processor.

    python benchmarks/tendon_arm.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from _common import Report, Timing

import pliant as pl
from pliant.study.workspace import grid

LENGTH, OFFSET = 0.3, 0.007
FORMULATION, FINE = pl.BSpline(3, 5), pl.BSpline(3, 32)
INTEGRATOR, DT = pl.Midpoint(), 0.01
BLOCKS, CALLS, STEPS = 9, 20, 200


def tendon_arm() -> pl.Robot:
    robot = pl.Robot()
    soft = pl.Material(E=1e6, nu=0.5, rho=1000.0, viscosity=1e3)
    arm = robot.add_rod("arm", LENGTH, pl.Circle(0.01), soft, pose=pl.along("-z"))
    for k, angle in enumerate(0.5 * np.pi * np.arange(4)):
        hole = (OFFSET * np.cos(angle), OFFSET * np.sin(angle))
        disks = [arm.at(s, hole) for s in np.linspace(0.0, LENGTH, 11)]
        robot.add_tendon(f"tendon {k}", disks)
    return robot


def processor_time(call: Callable[[], object], calls: int) -> Timing:
    """Seconds of the processor per call, of several blocks of calls."""
    blocks = []
    for _ in range(BLOCKS):
        began = time.process_time()
        for _ in range(calls):
            call()
        blocks.append((time.process_time() - began) / calls)
    return Timing(tuple(blocks))


def statics(robot: pl.Robot, report: Report) -> None:
    """A cold equilibrium, and new tensions from the last one."""
    last = [robot.statics({"tendon 0": 5.0, "tendon 1": 2.0}, formulation=FORMULATION)]
    turn = np.random.default_rng(0)

    def cold() -> None:
        robot.statics({"tendon 0": 5.0, "tendon 1": 2.0}, formulation=FORMULATION)

    def warm() -> None:
        pull = {"tendon 0": turn.uniform(3.0, 5.0), "tendon 1": turn.uniform(0.0, 2.0)}
        last[0] = robot.statics(pull, start=last[0])

    cold(), warm()
    times = [processor_time(call, CALLS) for call in (cold, warm)]
    fine = robot.statics(last[0].inputs, formulation=FINE).tip("arm")[:3, 3]
    error = np.linalg.norm(last[0].tip("arm")[:3, 3] - fine) / LENGTH
    report.add("equilibrium from the unloaded arm", times[0])
    report.add("  for new tensions from the last one", times[1])
    report.add("    in ms", ratio=1e3 * times[1].median, goal="<=1")
    report.add("    / from the unloaded arm", ratio=times[1].median / times[0].median)
    report.add("  error of the tip / %", ratio=100.0 * error, goal="<=1")


def many(robot: pl.Robot, report: Report) -> None:
    """A thousand equilibria on a grid of three tensions: one by one from the last one, and as a map."""
    tensions = np.linspace(0.0, 5.0, 10)
    names = ("tendon 0", "tendon 1", "tendon 2")
    table = grid([tensions] * 3)

    def singly() -> list[pl.Equilibrium]:
        found: list[pl.Equilibrium] = []
        for row in table:
            pull, last = dict(zip(names, row.tolist(), strict=True)), found[-1] if found else None
            found.append(robot.statics(pull, formulation=FORMULATION, start=last))
        return found

    def together() -> pl.Workspace:
        return pl.workspace(
            robot, dict.fromkeys(names, tensions), "arm.tip", formulation=FORMULATION
        )

    tips = np.array([still.tip("arm") for still in singly()])
    apart = np.abs(together().poses - tips).max() / LENGTH
    walls: dict[str, list[float]] = {"singly": [], "together": []}
    spent: dict[str, list[float]] = {"singly": [], "together": []}
    for _ in range(3):
        for name, call in (("singly", singly), ("together", together)):
            began = time.perf_counter(), time.process_time()
            call()
            walls[name].append((time.perf_counter() - began[0]) / len(table))
            spent[name].append((time.process_time() - began[1]) / len(table))
    report.add("equilibrium of 1000, one by one", Timing(tuple(spent["singly"])))
    report.add("  as a map", Timing(tuple(spent["together"])))
    ratios = [min(times["singly"]) / min(times["together"]) for times in (spent, walls)]
    report.add("    processor time, one by one / as a map", ratio=ratios[0])
    report.add("    throughput on all cores, as a map / one by one", ratio=ratios[1], goal=">=5")
    report.add("    largest difference of tips / length", ratio=apart, goal="<=1e-8")


def dynamics(robot: pl.Robot, report: Report) -> None:
    """Steps of 10 ms by a stepper, and a whole motion, with tensions up to 5 N."""
    pull = {
        "tendon 0": lambda t: 2.5 * (1.0 - np.cos(3.0 * t)),
        "tendon 1": lambda t: 1.0 - np.cos(5.0 * t),
    }
    stepper = robot.stepper(DT, formulation=FORMULATION, integrator=INTEGRATOR)

    def step() -> None:
        stepper.advance({name: value(stepper.t) for name, value in pull.items()})

    def motion() -> pl.Motion:
        given = {"inputs": pull, "formulation": FORMULATION, "integrator": INTEGRATOR}
        return robot.simulate(STEPS * DT, DT, output_every=10 * DT, **given)

    step(), motion()
    times = [processor_time(step, STEPS), processor_time(motion, 1)]
    fine = robot.simulate(
        STEPS * DT, 1e-3, inputs=pull, formulation=FINE, output_every=10 * DT
    ).tip("arm")
    coarse = motion().tip("arm")
    error = np.linalg.norm((coarse - fine)[:, :3, 3], axis=1).max() / LENGTH
    report.add("step of 10 ms, one per call", times[0])
    report.add("  faster than real time by", ratio=DT / times[0].median, goal=">=50")
    report.add("motion of 2 s", times[1])
    report.add("  faster than real time by", ratio=STEPS * DT / times[1].median, goal=">=50")
    report.add("  largest error of the tip / %", ratio=100.0 * error, goal="<=1")


def main() -> None:
    warnings.simplefilter("ignore")
    robot = tendon_arm()
    report = Report(f"Tendon arm, {FORMULATION}, {INTEGRATOR}, time of the processor")
    statics(robot, report)
    many(robot, report)
    dynamics(robot, report)
    report.print()


if __name__ == "__main__":
    main()
