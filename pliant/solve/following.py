"""Motions of several systems that differ a little, taken step by step beside the first."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model import ConvergenceError
from pliant.rods.contract import Array
from pliant.solve.clock import Clock
from pliant.solve.dynamics import Trajectory, whole_march
from pliant.solve.integrators.beside import Beside, beside
from pliant.solve.integrators.contract import Integrator
from pliant.solve.integrators.march import March
from pliant.solve.schedule import Schedule

_CHUNK = 500
"""Steps of which a leader keeps its tangents."""

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
    for run in runs:
        run.schedule.begin(run.q)
    before = [run.schedule.at(0.0) for run in runs]
    for run, walker, loading in zip(runs, walkers, before, strict=True):
        walker.stepper.start(run.q, run.v, loading)
    pairs = zip(runs, walkers, strict=True)
    found = [whole_march(walker.stepper, run.schedule, clock) for run, walker in pairs]
    marches = [march for march in found if march is not None]
    if len(marches) == len(runs):
        return _follow_marches(marches, runs, clock, rates, began)
    wanted = set(np.round(clock.outputs / clock.h).astype(int).tolist())
    kept: list[list[Row]] = [[] for _ in runs]
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
    motions = []
    for run, walker, rows in zip(runs, walkers, kept, strict=True):
        values = [row[2] for row in rows]
        inputs = {name: np.array([row[name] for row in values], dtype=float) for name in values[0]}
        q, v = (np.array([row[i] for row in rows]) for i in (0, 1))
        count = walker.stepper.iterations
        motions.append(_trajectory(clock, run.schedule, (q, v, inputs), count, began))
    return motions


def _follow_marches(
    marches: list[March], runs: list[Run], clock: Clock, rates: bool, began: float
) -> list[Trajectory]:
    """`follow` where the steps of all systems are compiled."""
    step_of = np.round(clock.outputs / clock.h).astype(np.int64)
    ends = np.append(np.arange(clock.steps) * clock.h, clock.duration)
    records = []
    for march, run in zip(marches, runs, strict=True):
        first = march.columns(run.schedule.asked(ends[:1]), 1)
        march.begin(first[0])
        record = march.room_for(len(step_of))
        if step_of[0] == 0:
            record[0][0], record[1][0], record[3][0] = run.q, run.v, first[0]
        records.append(record)
    for start in range(0, clock.steps, _CHUNK):
        end = min(start + _CHUNK, clock.steps)
        rows = np.full(end - start, -1, dtype=np.int64)
        due = np.flatnonzero((step_of > start) & (step_of <= end))
        rows[step_of[due] - start - 1] = due
        trail = marches[0].trail(end - start)
        for march, run, record in zip(marches, runs, records, strict=True):
            asked = run.schedule.asked(ends[start + 1 : end + 1])
            march.prepare(march.columns(asked, end - start), rows, record)
            if march is not marches[0]:
                march.follow(marches[0], trail)
            elif march.lead(trail) < end - start:
                raise march.error()
            if not np.isfinite(march.state[0]).all():
                raise ConvergenceError("the motion became infinite; try a smaller dt")
    motions = []
    for march, run, (q, v, _, values) in zip(marches, runs, records, strict=True):
        kept = (q, v if rates else np.zeros_like(v), march.all_by_name(values))
        motions.append(_trajectory(clock, run.schedule, kept, int(march.counts[0]), began))
    return motions


def _keep(
    runs: list[Run], walkers: list[Beside], t: float, kept: list[list[Row]], rates: bool
) -> None:
    for run, walker, rows in zip(runs, walkers, kept, strict=True):
        stepper = walker.stepper
        v = stepper.velocity() if rates else np.zeros(walker.system.n)
        rows.append((stepper.q.copy(), np.array(v), run.schedule.values_at(t)))


def _trajectory(
    clock: Clock,
    schedule: Schedule,
    kept: tuple[Array, Array, dict[str, Array]],
    iterations: int,
    began: float,
) -> Trajectory:
    count = len(clock.outputs)
    q, v, inputs = kept
    return Trajectory(
        t=clock.outputs,
        q=q,
        v=v,
        work=np.zeros(count),
        dissipated=np.zeros(count),
        inputs=inputs,
        final=(clock.duration, q[-1], v[-1]),
        h=clock.h,
        steps=clock.steps,
        iterations=iterations,
        complete=True,
        seconds=time.perf_counter() - began,
        drive_rates=schedule.drive_rates(clock.outputs),
    )
