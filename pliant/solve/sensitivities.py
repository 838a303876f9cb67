"""Motions of several robots that differ a little: one is solved, the others are followed beside it.

A step solves R(x; state, p) = 0 for its end x. Once it is solved for parameters p, the step of the
robot with p + dp from its own state, which differs by as little, needs no Newton iteration of its own:

    x + dx,   dx = -T^-1 [R(x; state + dstate, p + dp) - R(x; state, p)],   T = dR/dx

with the tangent T factorised once for all neighbours. That is direct differentiation of the
integrator, dx/dp = -T^-1 (dR/dp + dR/dstate dstate/dp), with the two partial derivatives taken
together as one difference of the residual of one step. Since the residual that the step itself left
is taken off, its tolerance does not enter. Where T is not exact the correction is repeated. It works
with the steps of every integrator.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model import ConvergenceError
from pliant.physics.effects import Inputs
from pliant.rods.contract import Array
from pliant.solve import loops
from pliant.solve.clock import Clock
from pliant.solve.dynamics import Trajectory, whole_march
from pliant.solve.integrators.contract import Integrator, Stepper
from pliant.solve.integrators.march import March
from pliant.solve.schedule import Schedule

CORRECTIONS = 6
ENOUGH = 1e-6
"""Part of the first difference of residuals that may be left."""

_CHUNK = 500
"""Steps of which a leader keeps its tangents."""

Row = tuple[Array, Array, dict[str, Any]]
"""What is kept at an output time: configuration, rates, and the inputs as they act, by name."""


@dataclass
class Run:
    """One of the robots: its inputs over time, and where it starts, q (nq,) and rates v (total,).

    start : what q came from, for whoever prepares the next run.
    """

    schedule: Schedule
    q: Array
    v: Array
    start: Any = None


@dataclass
class Led:
    """The end of a step that was solved: what was sought, force fields and multipliers, what was left
    of the residual; its stepper has the factor of the tangent there.
    """

    stepper: Stepper
    x: Array
    z: Array
    left: Array


def lead(stepper: Stepper, before: Inputs, after: Inputs) -> Led:
    """Take a step, with the factor of the tangent at its end."""
    stepper.solve(before, after)
    x, z = stepper.iterate
    led = Led(stepper, x.copy(), z.copy(), stepper.residual(True).copy())
    stepper.matrix.factorise()
    stepper.counts[loops.THERE], stepper.counts[loops.AGE] = 1, 0
    stepper.accept(before, after)
    return led


def follow_step(stepper: Stepper, led: Led, before: Inputs, after: Inputs) -> None:
    """Take the step of a neighbour beside one that was led."""
    stepper.begin(before, after)
    stepper.aim(led.x.copy(), led.z.copy(), after)
    matrix, start = led.stepper.matrix, 0.0
    for k in range(CORRECTIONS + 1):
        gap = (led.left - stepper.residual(False))[: matrix.n]
        size = float(np.linalg.norm(gap))
        start = start or size
        if k == CORRECTIONS or size <= ENOUGH * start:
            break
        stepper.move(matrix.solve(gap))
    stepper.accept(before, after)


def follow(integrator: Integrator, runs: list[Run], clock: Clock, rates: bool) -> list[Trajectory]:
    """Return the motion of the first robot and those of the others beside it.

    Output times of the clock must be steps. rates : whether coordinate rates are kept, else zeros.
    """
    with ExitStack() as stack:
        lent = [integrator.borrowed(run.schedule.effects, clock.h, False) for run in runs]
        steppers = [stack.enter_context(stepper) for stepper in lent]
        return _follow(steppers, runs, clock, rates)


def _follow(
    steppers: list[Stepper], runs: list[Run], clock: Clock, rates: bool
) -> list[Trajectory]:
    """`follow` with a stepper for each robot."""
    began = time.perf_counter()
    for run in runs:
        run.schedule.begin(run.q)
    before = [run.schedule.at(0.0) for run in runs]
    for run, stepper, inputs in zip(runs, steppers, before, strict=True):
        stepper.start(run.q, run.v, inputs)
    pairs = zip(runs, steppers, strict=True)
    found = [whole_march(stepper, run.schedule, clock) for run, stepper in pairs]
    marches = [march for march in found if march is not None]
    if len(marches) == len(runs):
        return _follow_marches(marches, runs, clock, rates, began)
    wanted = set(np.round(clock.outputs / clock.h).astype(int).tolist())
    kept: list[list[Row]] = [[] for _ in runs]
    if 0 in wanted:
        _keep(runs, steppers, 0.0, kept, rates)
    for k in range(clock.steps):
        end = clock.duration if k + 1 == clock.steps else (k + 1) * clock.h
        after = [run.schedule.at(end) for run in runs]
        led = lead(steppers[0], before[0], after[0])
        for i in range(1, len(steppers)):
            follow_step(steppers[i], led, before[i], after[i])
        if not all(np.isfinite(stepper.q).all() for stepper in steppers):
            raise ConvergenceError("the motion became infinite; try a smaller dt")
        for run, stepper in zip(runs, steppers, strict=True):
            run.schedule.passed(end, stepper.q)
        if k + 1 in wanted:
            _keep(runs, steppers, end, kept, rates)
        before = after
    motions = []
    for run, stepper, rows in zip(runs, steppers, kept, strict=True):
        values = [row[2] for row in rows]
        acted = {name: np.array([row[name] for row in values], dtype=float) for name in values[0]}
        q, v = (np.array([row[i] for row in rows]) for i in (0, 1))
        motions.append(_trajectory(clock, run.schedule, (q, v, acted), stepper.iterations, began))
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
    runs: list[Run], steppers: list[Stepper], t: float, kept: list[list[Row]], rates: bool
) -> None:
    for run, stepper, rows in zip(runs, steppers, kept, strict=True):
        v = stepper.velocity() if rates else np.zeros(stepper.tree.total)
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
