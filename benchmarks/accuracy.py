"""`accuracy=1e-3` with nothing else chosen: how many random robots are off by more, and unwarned.

Run ``python benchmarks/accuracy.py [--seed 0] [--count 200]``. Half of the robots are soft, half stiff;
of each half are equilibria and motions from rest. The truth of an equilibrium is a fine solution in at
least 40 load steps, that of a motion 64 spectral elements with `Explicit` at half its steps or, for
stiff robots and where that fails, a spline of 24 intervals with `Radau` at a tolerance of 1e-7; it is
certain if a coarser one is nearer to it than a fifth of the accuracy. Robots without a certain truth
are counted apart.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from _common import pl
from random_robots import reference

from tests.reference.random_robots import (
    RandomTask,
    distance,
    motion_distance,
    random_task,
)

ACCURACY = 1e-3
CERTAIN = 0.2
"""Part of the accuracy within which two references agree."""
OUTPUTS = 21
EXPLICIT = ((pl.Spectral(3, 64), pl.Explicit(0.5)), (pl.Spectral(3, 40), pl.Explicit(0.8)))
IMPLICIT = (
    (pl.BSpline(3, 27), pl.Radau(1e-7, most=3_000)),
    (pl.BSpline(3, 17), pl.Radau(1e-6, most=3_000)),
)
"""Formulation and integrator of a reference and of the coarser one."""
STORED = 200
"""Intervals between stored states of a reference."""


@dataclass
class Row:
    """Errors over the length, true and estimated, and processor seconds."""

    task: RandomTask
    true: float
    estimate: float
    warned: bool
    seconds: float
    method: str

    def __str__(self) -> str:
        mark = " ABOVE" if self.true > ACCURACY else ""
        mark += " UNTOLD" if self.true > ACCURACY >= self.estimate else ""
        return (
            f"{self.task.text:34s} true {self.true:.1e}  estimate {self.estimate:.1e}  "
            f"{1e3 * self.seconds:7.1f} ms  {self.method}{mark}"
        )


def automatic(task: RandomTask) -> tuple[Any, bool, float]:
    """What Pliant finds, whether it warned, and processor seconds."""
    began = time.process_time()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if task.duration is None:
            found: Any = task.robot.statics(accuracy=ACCURACY)
        else:
            times = np.linspace(0.0, task.duration, OUTPUTS)
            found = task.robot.simulate(task.duration, accuracy=ACCURACY, output_times=times)
    spent = time.process_time() - began
    warned = any(
        issubclass(item.category, pl.ResolutionWarning | pl.StabilityWarning) for item in told
    )
    return found, warned, spent


def truth(task: RandomTask) -> Any:
    """A fine solution; raises ConvergenceError if it is not certain."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if task.duration is None:
            return reference(task.robot)
        for methods in (IMPLICIT, EXPLICIT) if task.stiff else (EXPLICIT, IMPLICIT):
            try:
                fine, check = (motion_by(task, *method) for method in methods)
            except pl.PliantError:
                continue
            if motion_distance(fine, check) <= CERTAIN * ACCURACY:
                return fine
    raise pl.ConvergenceError("the reference is not certain")


def motion_by(task: RandomTask, mesh: Any, method: Any) -> Any:
    """The motion of a task by a formulation and an integrator."""
    assert task.duration is not None
    times = np.linspace(0.0, task.duration, OUTPUTS)
    return task.robot.simulate(
        task.duration, task.duration / STORED, formulation=mesh, integrator=method,
        output_times=times,
    )  # fmt: skip


def measure(task: RandomTask) -> Row:
    """Solve a task both ways."""
    exact = truth(task)
    found, warned, seconds = automatic(task)
    apart = distance if task.duration is None else motion_distance
    mesh = next(iter(found._compiled.formulations.values()))
    method = f"{mesh}, {getattr(found, 'integrator', '')}"
    estimate = np.inf if found.error is None else found.error.relative
    return Row(task, apart(found, exact), estimate, warned, seconds, method)


def report(rows: list[Row], without: int, failed: int) -> None:
    """Print what matters."""
    for name, some in (
        ("all", rows),
        ("statics", [row for row in rows if row.task.duration is None]),
        ("motion, soft", [row for row in rows if row.task.duration and not row.task.stiff]),
        ("motion, stiff", [row for row in rows if row.task.duration and row.task.stiff]),
    ):
        if not some:
            continue
        true = np.array([row.true for row in some])
        above = true > ACCURACY
        untold = [row for row in some if row.true > ACCURACY >= row.estimate]
        cpu = [1e3 * row.seconds for row in some]
        print(
            f"{name}: {len(some)} robots; above {ACCURACY:g}: {above.sum()} "
            f"({100 * above.mean():.1f} %), estimated below it: {len(untold)} "
            f"({100 * len(untold) / len(some):.1f} %); largest error {true.max():.1e}; "
            f"median {np.median(cpu):.0f} ms, nine of ten below {np.quantile(cpu, 0.9):.0f} ms"
        )
    print(f"without a certain reference: {without}; without an answer: {failed}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    given = parser.parse_args()
    rows, without, failed = [], 0, 0
    for seed in range(given.seed, given.seed + given.count):
        task = random_task(seed)
        try:
            rows.append(measure(task))
        except pl.PliantError as error:
            uncertain = "reference" in str(error) or isinstance(error, pl.DescriptionError)
            without, failed = without + uncertain, failed + (not uncertain)
            print(f"{task.text:34s} {' '.join(str(error).split())[:90]}", flush=True)
        else:
            print(rows[-1], flush=True)
    report(rows, without, failed)


if __name__ == "__main__":
    main()
