"""`accuracy=1e-3` with nothing else chosen: how many random robots are off by more, and unwarned.

Run ``python benchmarks/accuracy.py [--seed 0] [--count 200] [--references FOLDER]``. Half of the
robots are soft, half stiff; of each half are equilibria and motions from rest. The truth of an
equilibrium is a fine solution in at least 40 load steps. That of a motion is the first of a list, of
spectral elements with `Explicit` or of splines with `Radau`, that is nearer to a coarser one than a
fifth of the accuracy. Robots without such a truth, or whose truth takes longer than PATIENCE, are
counted apart. Truths take most of the time: a folder keeps them for the next run.
"""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from _common import pl
from random_robots import reference

from pliant.model import Array
from tests.reference.random_robots import RandomTask, random_task, shapes

ACCURACY = 1e-3
CERTAIN = 0.2
"""Part of the accuracy within which two references agree."""
OUTPUTS = 21
EXPLICIT = [
    (pl.Spectral(3, 24), pl.Explicit()),
    (pl.Spectral(3, 40), pl.Explicit(0.8)),
    (pl.Spectral(3, 64), pl.Explicit(0.5)),
]
IMPLICIT = [
    (pl.BSpline(3, 17), pl.Radau(1e-6, most=3_000)),
    (pl.BSpline(3, 27), pl.Radau(1e-7, most=3_000)),
]
"""Formulations and integrators of references, from coarse to fine."""
PATIENCE = 10
"""Seconds of CPU for the reference of a robot."""
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


def truth(task: RandomTask) -> Array:
    """Shapes of a fine solution; raises ConvergenceError if it is not certain."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if task.duration is None:
            return shapes(reference(task.robot))
        for methods in (IMPLICIT, EXPLICIT) if task.stiff else (EXPLICIT, IMPLICIT):
            try:
                for coarse, fine in pairwise(motion_by(task, *method) for method in methods):
                    if apart(coarse, fine, task) <= CERTAIN * ACCURACY:
                        return fine
            except pl.PliantError:
                continue
    raise pl.ConvergenceError("the reference is not certain")


def kept_truth(task: RandomTask, folder: Path | None) -> Array:
    """The truth of a task from a folder, which keeps it for the next run; empty if not certain."""
    path = None if folder is None else folder / f"{task.seed}.npy"
    if path is not None and path.exists():
        found = np.load(path)
    else:
        signal.signal(signal.SIGVTALRM, out_of_patience)
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        try:
            found = truth(task)
        except (pl.PliantError, TimeoutError):
            found = np.zeros(0)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, found)
    if not found.size:
        raise pl.ConvergenceError("the reference is not certain")
    return found


def out_of_patience(*_: object) -> None:
    """Ends a reference that takes too long."""
    raise TimeoutError


def apart(one: Array, other: Array, task: RandomTask) -> float:
    """Largest distance between two shapes over the length of the longest rod."""
    length = max(rod.length for rod in task.robot.description.rods.values())
    return float(np.linalg.norm(one - other, axis=-1).max()) / length


def motion_by(task: RandomTask, mesh: Any, method: Any) -> Array:
    """Shapes of the motion of a task by a formulation and an integrator."""
    assert task.duration is not None
    times = np.linspace(0.0, task.duration, OUTPUTS)
    motion = task.robot.simulate(
        task.duration, task.duration / STORED, formulation=mesh, integrator=method,
        output_times=times,
    )  # fmt: skip
    return shapes(motion)


def measure(task: RandomTask, exact: Array) -> Row:
    """Let Pliant choose, and compare with the truth."""
    found, warned, seconds = automatic(task)
    mesh = next(iter(found._compiled.formulations.values()))
    method = f"{mesh}, {getattr(found, 'integrator', '')}"
    estimate = np.inf if found.error is None else found.error.relative
    return Row(task, apart(shapes(found), exact, task), estimate, warned, seconds, method)


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
    parser.add_argument("--references", type=Path, default=None)
    given = parser.parse_args()
    rows, without, failed = [], 0, 0
    for seed in range(given.seed, given.seed + given.count):
        task = random_task(seed)
        try:
            exact = kept_truth(task, given.references)
        except pl.ConvergenceError as error:
            without += 1
            print(f"{task.text:34s} {error}", flush=True)
            continue
        try:
            rows.append(measure(task, exact))
        except pl.PliantError as error:
            failed += 1
            print(f"{task.text:34s} FAILED {' '.join(str(error).split())[:90]}", flush=True)
        else:
            print(rows[-1], flush=True)
    report(rows, without, failed)


if __name__ == "__main__":
    main()
