"""Motions of several systems that differ a little, taken step by step beside the first."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model import ConvergenceError
from pliant.rods.contract import Array
from pliant.solve.clock import Clock
from pliant.solve.dynamics import Trajectory
from pliant.solve.integrators.beside import Beside, beside
from pliant.solve.integrators.contract import Integrator
from pliant.solve.schedule import Schedule

Row = tuple[Array, Array, dict[str, Any]]
"""What is kept at an output time: configuration, rates, and the inputs as they act, by name."""


@dataclass
class Run:
    """One of the systems: its inputs over time, and where it starts, q (nq,) and rates v (n,).

    start : what q came from, for whoever prepares the next run.
    """

    schedule: Schedule
    q: Array
    v: Array
    start: Any = None


def follow(
    integrator: Integrator, runs: list[Run], clock: Clock, rates: bool
) -> list[Trajectory] | None:
    """Return the motion of the first system and those of the others beside it.

    Output times of the clock must be steps. rates : whether coordinate rates are kept, else zeros.
    Returns None if the integrator cannot be followed.
    """
    began = time.perf_counter()
    walkers: list[Beside] = []
    for run in runs:
        walker = beside(integrator.stepper(run.schedule.system, clock.h))
        if walker is None:
            return None
        walker.stepper.books = False
        walkers.append(walker)
    wanted = set(np.round(clock.outputs / clock.h).astype(int).tolist())
    for run in runs:
        run.schedule.begin(run.q)
    before = [run.schedule.at(0.0) for run in runs]
    kept: list[list[Row]] = [[] for _ in runs]
    for run, walker, loading in zip(runs, walkers, before, strict=True):
        walker.stepper.start(run.q, run.v, loading)
    if 0 in wanted:
        _keep(runs, walkers, 0.0, kept, rates)
    for k in range(clock.steps):
        end = clock.duration if k + 1 == clock.steps else (k + 1) * clock.h
        after = [run.schedule.at(end) for run in runs]
        walkers[0].lead(before[0], after[0])
        for i in range(1, len(walkers)):
            walkers[i].follow(walkers[0], before[i], after[i])
        if not all(np.isfinite(walker.stepper.q).all() for walker in walkers):
            raise ConvergenceError("the motion became infinite; try a smaller dt")
        for run, walker in zip(runs, walkers, strict=True):
            run.schedule.passed(end, walker.stepper.q)
        if k + 1 in wanted:
            _keep(runs, walkers, end, kept, rates)
        before = after
    seconds = time.perf_counter() - began
    return [
        _trajectory(clock, run.schedule, walker, rows, seconds)
        for run, walker, rows in zip(runs, walkers, kept, strict=True)
    ]


def _keep(
    runs: list[Run], walkers: list[Beside], t: float, kept: list[list[Row]], rates: bool
) -> None:
    for run, walker, rows in zip(runs, walkers, kept, strict=True):
        stepper = walker.stepper
        v = stepper.velocity() if rates else np.zeros(walker.system.n)
        rows.append((stepper.q.copy(), np.array(v), run.schedule.values_at(t)))


def _trajectory(
    clock: Clock, schedule: Schedule, walker: Beside, rows: list[Row], seconds: float
) -> Trajectory:
    count = len(clock.outputs)
    values = [row[2] for row in rows]
    q = np.array([row[0] for row in rows])
    v = np.array([row[1] for row in rows])
    return Trajectory(
        t=clock.outputs,
        q=q,
        v=v,
        work=np.zeros(count),
        dissipated=np.zeros(count),
        inputs={name: np.array([row[name] for row in values], dtype=float) for name in values[0]},
        final=(clock.duration, q[-1], v[-1]),
        h=clock.h,
        steps=clock.steps,
        iterations=walker.stepper.iterations,
        complete=True,
        seconds=seconds,
        drive_rates=schedule.drive_rates(clock.outputs),
    )
