"""How fast the strong forms are, beside the figures of the papers that they come from.

One implicit step by shooting stands beside 0.26 ms (scalar C++ on this class of machine), steps by
collocation beside 3.18 s and 11.7 s (the paper's own code). A motion is faster than real time if its
ratio is above one. 64 rods run one after another and in one call. `real_time.py` draws the ratio over
the step.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable

from _common import Report, Timing, pl, time_blocks
from _steel import ALPHA, FORMS, cantilever, scenario

CPP_STEP = 0.26e-3
ROUNDS = 5
RODS = 64


def per_step(motion: Callable[[], pl.Motion]) -> Timing:
    """Seconds for each step of a motion, after a run that compiles."""
    motion()
    return Timing(tuple(run.seconds / run.steps for run in (motion() for _ in range(ROUNDS))))


def add_shooting(report: Report) -> None:
    robot, held, inputs = scenario("weight release")
    released = per_step(
        lambda: robot.simulate(0.5, 2e-3, inputs, held, integrator=ALPHA, output_every=0.25)
    )
    report.add("shooting, RK4 100, a step of the weight release", released)
    report.add("  times 0.26 ms", ratio=released.median / CPP_STEP, goal="<=1.5")
    rod = cantilever(-10.0)
    pushed = per_step(
        lambda: rod.simulate(
            0.5, 2e-3, formulation=FORMS["rk4"], integrator=pl.BDFAlpha(-0.5), output_every=0.25
        )
    )
    report.add("shooting, RK4 100, a step of the cantilever at -10 N", pushed)
    report.add("  times 0.26 ms", ratio=pushed.median / CPP_STEP, goal="<=1.5")


def add_collocation(report: Report) -> None:
    for nodes, force, paper in ((16, -10.0, 3.18), (32, -100.0, 11.7)):
        rod = cantilever(force)
        form = pl.Collocation(nodes=nodes)

        def motion(rod: pl.Robot = rod, form: pl.Collocation = form) -> pl.Motion:
            return rod.simulate(
                0.1, 2e-3, formulation=form, integrator=pl.BDFAlpha(-0.5), output_every=0.05
            )

        found = per_step(motion)
        report.add(f"collocation, {nodes} nodes, a step at {force:g} N", found)
        report.add(f"  {paper} s over that", ratio=paper / found.median, goal=">=500")


def add_impulse(report: Report) -> None:
    robot, held, inputs = scenario("impulse")

    def motion() -> pl.Motion:
        return robot.simulate(1.0, 2e-3, inputs, held, integrator=ALPHA, output_every=0.04)

    motion()
    runs = [motion() for _ in range(ROUNDS)]
    found = Timing(tuple(run.seconds for run in runs))
    rescued = sum(runs[0].rescues.values())
    report.add(f"impulse response, 1 s in steps of 2 ms, {rescued} rescued", found)
    report.add("  faster than real time", ratio=1.0 / found.median, goal=">=1")


def add_many(report: Report) -> None:
    robot, held, inputs = scenario("weight release")

    def many(workers: int) -> list[pl.Motion]:
        return pl.simulate_many(
            [robot] * RODS,
            0.5,
            2e-3,
            inputs,
            held,
            integrator=ALPHA,
            output_every=0.5,
            workers=workers,
        )

    cores = os.cpu_count() or 1
    times = time_blocks(
        {
            "one": lambda: many(1),
            "all": lambda: many(cores),
            "hash one": lambda: hashing(1),
            "hash all": lambda: hashing(cores),
        },
        blocks=3,
    )
    report.add(f"{RODS} rods for 0.5 s, one after another", times["one"])
    report.add(f"{RODS} rods for 0.5 s, {cores} at a time", times["all"])
    gain = times["one"].median / times["all"].median
    report.add("  throughput gained", ratio=gain, goal=">=1.7")
    ceiling = cores * times["hash one"].median / times["hash all"].median
    report.add("  what threads gain here at hashing, for comparison", ratio=ceiling)


def hashing(count: int) -> None:
    """The same work in each of `count` threads: what the machine has to give at present."""
    block = bytes(1 << 26)
    threads = [threading.Thread(target=hashlib.sha256, args=(block,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    report = Report("Strong forms, steps of 2 ms")
    add_shooting(report)
    add_collocation(report)
    add_impulse(report)
    add_many(report)
    report.print()


if __name__ == "__main__":
    main()
