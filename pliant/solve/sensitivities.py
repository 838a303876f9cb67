"""Motions of several robots that differ a little: one is solved, the others follow it.

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
from functools import partial
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops, modes
from pliant.engine.newton import REASONS
from pliant.engine.program import record, run
from pliant.model import ConvergenceError
from pliant.rods.contract import Array
from pliant.solve.clock import Clock
from pliant.solve.dynamics import Trajectory
from pliant.solve.integrators.contract import Integrator, Stepper, table_of
from pliant.solve.schedule import Schedule
from pliant.tree.state import State

CORRECTIONS = 6
ENOUGH = 1e-8
"""Part of the first difference of residuals that may be left."""
_CHUNK = 500
"""Most steps in one call."""


@dataclass
class Run:
    """One of the robots: its inputs over time, and where it starts, q (nq,) and rates v (total,).

    start : what q came from, for whoever prepares the next run.
    """

    schedule: Schedule
    q: Array
    v: Array
    start: Any = None


class Follower:
    """Steps of one robot beside those of a leader; sizes (1,) : of the difference of residuals."""

    def __init__(self, stepper: Stepper, leader: Stepper, sizes: Array) -> None:
        self.stepper, self.leader, self.sizes = stepper, leader, sizes
        self.table = np.zeros((_CHUNK, len(stepper.after)))
        """Inputs at the ends of the next steps."""
        self.programs = [self._row(side, record, self._correct) for side in (0, 1)]

    def plain_programs(self) -> list[list[Any]]:
        """Its programs as plain calls, with row exchanges where a correction needs them."""
        return [self._row(side, partial, self._correct_repaired) for side in (0, 1)]

    def _row(self, side: int, make: Any, correct: Any) -> list[Any]:
        """The programs of a step, by what makes programs of functions."""
        a, b = self.stepper.states[side], self.stepper.states[1 - side]
        row: list[Any] = [None] * loops.FOLLOWER
        row[loops.AIM] = make(self._aim, a, b)
        row[loops.COMPARE] = make(self._compare, a, b)
        row[loops.CORRECT] = make(correct, a, b)
        row[loops.TAKE] = make(self.stepper.accept_fed_step, a, b)
        row[loops.KEEP_STATE] = make(self.stepper.keep_snapshot, b)
        return row

    def _aim(self, a: State, b: State) -> None:
        run(load_row, self.leader.counts, self.table, self.stepper.after)
        self.stepper.begin_fed_step(a, b)
        self.stepper.aim_at(self.leader, b)

    def _compare(self, a: State, b: State) -> None:
        stepper = self.stepper
        stepper.place_iterate(a, b)
        stepper.set_residual(a, b, False)
        run(compare_residuals, self.leader.left, stepper.left, stepper.right, self.sizes)

    def _correct(self, a: State, b: State) -> None:
        self.leader.matrix.record_solve(self.stepper.right, self.stepper.x)
        self.stepper.move_iterate(a, b)

    def _correct_repaired(self, a: State, b: State) -> None:
        self.stepper.x[...] = self.leader.matrix.solve(self.stepper.right)
        self.stepper.move_iterate(a, b)


def follow(integrator: Integrator, runs: list[Run], clock: Clock, rates: bool) -> list[Trajectory]:
    """Return the motion of the first robot and those of the others beside it.

    Output times of the clock must be steps. rates : whether coordinate rates are kept, else zeros.
    """
    began = time.perf_counter()
    with ExitStack() as stack:
        lent = [integrator.borrowed(one.schedule.effects, clock.h, False) for one in runs]
        steppers = [stack.enter_context(stepper) for stepper in lent]
        for stepper in steppers:
            stepper.prepare()
        sizes = np.zeros(1)
        followers = [Follower(stepper, steppers[0], sizes) for stepper in steppers[1:]]
        for compiled in (True, False):
            kept = _take_steps(steppers, followers, runs, clock, compiled)
            if kept is not None:
                break
        assert kept is not None
        pairs = zip(runs, steppers, kept, strict=True)
        return [_trajectory(clock, rates, began, *pair) for pair in pairs]


def _take_steps(
    steppers: list[Stepper],
    followers: list[Follower],
    runs: list[Run],
    clock: Clock,
    compiled: bool,
) -> list[list[Array]] | None:
    """Snapshots of each robot at its output times; None if compiled loops do not lead there."""
    leader = steppers[0]
    programs, loop = _programs(leader, followers, compiled)
    if programs is None:
        return None
    for one, stepper in zip(runs, steppers, strict=True):
        stepper.start(one.q, one.v, one.schedule.at(0.0))
    kept = [[_at_start(one)] if clock.step_of[0] == 0 else [] for one in runs]
    ends = np.append(np.arange(clock.steps) * clock.h, clock.duration)
    most = min(_CHUNK, *(stepper.capacity for stepper in steppers))
    for start in range(0, clock.steps, most):
        end = min(start + most, clock.steps)
        wanted = np.isin(np.arange(start + 1, end + 1), clock.step_of)
        inputs = [one.schedule.rows(ends[start + 1 : end + 1]) for one in runs]
        for follower, values in zip(followers, inputs[1:], strict=True):
            follower.table[: end - start] = values
        for stepper in steppers:
            stepper.counts[loops.KEPT] = 0
        todo = (leader.side, leader.control, inputs[0], wanted, leader.after)
        sizes = followers[0].sizes if followers else np.zeros(1)
        _, how = loop.follow_steps(*programs, *todo, sizes, CORRECTIONS, ENOUGH)
        if how == loops.NEEDS_PIVOTING and compiled:
            return None
        if how != loops.CONVERGED:
            raise leader.error(leader.problem or REASONS[how])
        if not all(np.isfinite(stepper.q).all() for stepper in steppers):
            raise ConvergenceError("the motion became infinite; try a smaller dt")
        for stepper, blocks in zip(steppers, kept, strict=True):
            stepper.side[0] = leader.side[0]
            blocks.append(stepper.snapshots())
    return [[np.concatenate(x) for x in zip(*blocks, strict=True)] for blocks in kept]


def _programs(leader: Stepper, followers: list[Follower], compiled: bool) -> tuple[Any, Any]:
    """Programs of leader and followers, None if not all of them are compiled, and their loop."""
    if not compiled:
        rows: Any = [follower.plain_programs() for follower in followers]
        return (leader.prepare()[1], rows), modes.uncompiled(loops.__name__)
    table = leader.prepare()[0]
    tables = [table_of(follower.programs) for follower in followers]
    if isinstance(table, list) or any(x is None for x in tables):
        return None, loops
    shape = (len(followers), 2, loops.FOLLOWER)
    return (table, np.array(tables, dtype=np.int64).reshape(shape)), loops


def _at_start(one: Run) -> tuple[Array, ...]:
    """The snapshot at t = 0."""
    return one.q[None], one.v[None], np.zeros((1, 2)), one.schedule.at(0.0).u[None]


def _trajectory(
    clock: Clock, rates: bool, began: float, one: Run, stepper: Stepper, kept: list[Array]
) -> Trajectory:
    rows = np.unique(clock.step_of, return_inverse=True)[1]
    q, v, account, u = (x[rows] for x in kept)
    return Trajectory(
        t=clock.outputs,
        q=q,
        v=v if rates else np.zeros_like(v),
        work=account[:, 0],
        dissipated=account[:, 1],
        inputs=one.schedule.acted(clock.outputs, u),
        final=(clock.duration, q[-1], v[-1]),
        h=clock.h,
        steps=clock.steps,
        iterations=stepper.iterations,
        unknowns=stepper.tree.size,
        complete=True,
        seconds=time.perf_counter() - began,
        drive_rates=one.schedule.drive_rates(clock.outputs),
    )


@kernel
def load_row(counts, table, after):  # type: ignore[no-untyped-def]
    """after (W,) = the row of table (T, W) that belongs to the step in hand."""
    for j in range(after.shape[0]):
        after[j] = table[counts[loops.STEP], j]


@kernel
def compare_residuals(led, left, right, sizes):  # type: ignore[no-untyped-def]
    """right (n,) = led - left, the first entries, and its norm in sizes (1,)."""
    total = 0.0
    for i in range(right.shape[0]):
        right[i] = led[i] - left[i]
        total += right[i] * right[i]
    sizes[0] = np.sqrt(total)
