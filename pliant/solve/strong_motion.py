"""Motions of a chain by a strong form: the loop over time steps, and what it leaves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import State, StepError, StrongForm, StrongSolver
from pliant.bvp.energies import ChainMeasures
from pliant.bvp.states import between
from pliant.lie.tuples import Array
from pliant.model import BaseState, ConvergenceError, Moving, as_signal, base_state
from pliant.solve.clock import Clock
from pliant.solve.integrators.bdf_alpha import BDFAlpha, first_rules
from pliant.solve.schedule import Inputs
from pliant.solve.streaming import Held, HeldStream

Progress = Callable[[float, float], object]
_ON_GRID = 1e-6
_SHOWN = 10
"""Most steps in one call where somebody watches the progress."""
_CHUNK = 200
"""Most steps in one call of a solver, so that Ctrl-C is heard."""
_SHORTER = (2, 4)
"""Into how many steps one is split when it does not converge."""


class Bases:
    """Pose and velocity of a clamped base over time, from the inputs of its motions."""

    def __init__(self, chain: Chain, inputs: Inputs) -> None:
        self.pose = chain.base.pose
        self.motions = [
            (motion, as_signal(inputs.values[motion.name]))
            for motion in chain.description.motions_of(chain.rods[0].name)
        ]
        self._still = BaseState(np.array(self.pose), np.zeros(6), np.zeros(6))

    def at(self, t: float) -> BaseState:
        """The base at time t, s."""
        if not self.motions:
            return self._still
        moving = [Moving(m, x(t), x.rate(t), x.acceleration(t)) for m, x in self.motions]
        return base_state(self.pose, moving)


@dataclass
class StrongTrajectory:
    """What a simulation leaves: states at T output times, and how they were found.

    t (T,), q list of T states, work and dissipated (T,) J since the start, inputs by name (T, ...).
    `final` is the state reached.
    """

    t: Array
    q: list[State]
    work: Array
    dissipated: Array
    inputs: dict[str, Array]
    final: tuple[float, State, None]
    h: float
    steps: int
    iterations: int
    unknowns: int
    rescues: Counter[str]
    complete: bool
    seconds: float
    v: list[None] = field(default_factory=list)
    """Nothing: a state holds its velocities."""

    def __post_init__(self) -> None:
        self.v = [None] * len(self.q)


class StrongRun:
    """One simulation under way."""

    def __init__(
        self,
        chain: Chain,
        form: StrongForm,
        method: BDFAlpha,
        inputs: Mapping[str, Any],
        clock: Clock,
    ) -> None:
        self.method, self.clock = method, clock
        self.schedule = Inputs(chain.description, inputs, ChainMeasures(chain))
        self.rescue = getattr(form, "rescue", True)
        self.shorter: tuple[int, ...] = _SHORTER
        self.done = self.next = 0
        self.t: list[float] = []
        self.q: list[State] = []
        self.balances: list[Array] = []
        self.inputs: dict[str, list[Array]] = {}
        self.rescues: Counter[str] = Counter()
        self.began = time.perf_counter()
        self.solver: StrongSolver = form.solver(chain, method.rule(clock.h, clock.h).c0)
        self.unknowns = self.solver.unknowns
        self.bases = Bases(chain, self.schedule)

    def begin(self, state: State) -> None:
        """Take `state` as that at t = 0."""
        self.final = (0.0, state, None)
        self.schedule.begin(state)
        self.solver.begin(state)
        self._before = self.clock.h

    def go(self, state: State, progress: Progress | None) -> None:
        """All steps from `state`; snapshots are kept whatever happens."""
        clock = self.clock
        self.begin(state)
        if self._wanted() <= _ON_GRID * clock.h:
            self._take(0.0, state, np.zeros(2))
        while self.done < clock.steps:
            many = self._quiet_steps() if self.done > 0 else 1
            many = many if progress is None else min(many, _SHOWN)
            if many > 1:
                self._many(many)
            else:
                self._single()
            self.unknowns = max(self.unknowns, self.solver.unknowns)
            if progress is not None:
                progress(self._time(self.done), clock.duration)

    def _time(self, k: int) -> float:
        """Time after k steps, s."""
        return self.clock.duration if k == self.clock.steps else k * self.clock.h

    def _quiet_steps(self) -> int:
        """How many steps can be taken before anybody, or a pressure line, wants to see the state."""
        clock = self.clock
        if self.schedule.lines:
            return 1
        quiet = int((min(self._wanted(), clock.duration) - self._time(self.done)) / clock.h + 1e-6)
        return min(quiet, clock.steps - self.done, _CHUNK)

    def _many(self, count: int) -> None:
        """Several steps at once; the one that fails, if any, is left to `_single`."""
        h = self.clock.h
        rule = self.method.rule(h, self._before)
        times = [self._time(self.done + k + 1) for k in range(count)]
        values = [self.schedule.values_at(t) for t in times]
        reached = self.solver.advance(rule, h, values, [self.bases.at(t) for t in times])
        self.done += reached
        if reached:
            self._before = h
            self._record(self._time(self.done - 1), self._time(self.done), None)
        if reached < count:
            self._single(failed=True)

    def single(self) -> State:
        """Take one step and return the state it leads to."""
        self._single()
        return self.solver.state()

    def _single(self, failed: bool = False) -> None:
        """One step, with snapshots inside it if they are wanted."""
        start, end = self._time(self.done), self._time(self.done + 1)
        inside = self._wanted() < end - _ON_GRID * self.clock.h
        earlier = self.solver.state() if inside else None
        self._balance = np.array(self.solver.work_and_loss())
        self._step(start, end - start, self.done == 0, failed)
        if self.schedule.lines:
            self.schedule.passed(end, self.solver.state())
        self.done += 1
        self._record(start, end, earlier)

    def _record(self, start: float, end: float, earlier: State | None) -> None:
        """Take the snapshots that are due, and keep the last state of all."""
        edge = _ON_GRID * self.clock.h
        due = self._wanted() <= end + edge
        if not (due or earlier is not None or self.done == self.clock.steps):
            return
        found, now = self.solver.state(), np.array(self.solver.work_and_loss())
        if not (np.isfinite(found.pose).all() and np.isfinite(found.wrench).all()):
            raise ConvergenceError("the motion became infinite; try a smaller dt")
        while earlier is not None and self._wanted() < end - edge:
            t, h = self._wanted(), end - start
            part = (t - start) / h
            balance = (1.0 - part) * self._balance + part * now
            self._take(t, between(earlier, found, h, part), balance)
        if self._wanted() <= end + edge:
            self._take(end, found, now)
        self.final = (end, found, None)

    def _take(self, t: float, state: State, balance: Array) -> None:
        """Keep a snapshot; balance (2,) are work and loss so far."""
        self.t.append(t)
        self.q.append(state)
        self.balances.append(balance)
        for name, value in self.schedule.values_at(t).items():
            self.inputs.setdefault(name, []).append(np.asarray(value, dtype=float))
        self.next += 1

    def _wanted(self) -> float:
        outputs = self.clock.outputs
        return float(outputs[self.next]) if self.next < len(outputs) else float("inf")

    def _step(self, start: float, h: float, first: bool, failed: bool) -> None:
        """One step, if need be with alpha = 0, if need be in shorter steps."""
        reason = self.solver.failure
        if not failed or reason is None:
            try:
                self._plain(start, h, self.method, first)
                return
            except StepError as error:
                reason = error
        if self.rescue and not first:
            try:
                self._plain(start, h, BDFAlpha(0.0), False)
                self.rescues["alpha = 0"] += 1
                return
            except StepError:
                pass
        for parts in self.shorter if self.rescue else ():
            if self._shorter(start, h, parts, first):
                self.rescues["shorter steps"] += 1
                return
        raise reason

    def _shorter(self, start: float, h: float, parts: int, first: bool) -> bool:
        """The step in several; tells whether all of them converged (a failed one stays half way)."""
        try:
            for k in range(parts):
                self._plain(start + k * h / parts, h / parts, BDFAlpha(0.0), first and k == 0)
        except StepError as error:
            if k > 0:
                raise StepError(f"{error} (in steps of {h / parts:.3g} s)") from None
            return False
        return True

    def _plain(self, start: float, h: float, method: BDFAlpha, first: bool) -> None:
        if first:
            reached = 0.0
            for k, (part, rule) in enumerate(first_rules(h)):
                t = start + part * h
                values, base = self.schedule.values_at(t), self.bases.at(t)
                self.solver.step(rule, (part - reached) * h, values, base, keep_older=k == 1)
                reached = part
        else:
            end = start + h
            rule = method.rule(h, self._before)
            values, base = self.schedule.values_at(end), self.bases.at(end)
            if not self.solver.advance(rule, h, [values], [base]):
                raise self.solver.failure or StepError("a time step did not converge")
        self._before = h

    def trajectory(self, complete: bool) -> StrongTrajectory:
        """What there is so far; another motion may start from its last state."""
        self.solver.attach_discrete(self.final[1])
        return StrongTrajectory(
            t=np.array(self.t),
            q=self.q,
            work=np.array(self.balances).reshape(-1, 2)[:, 0],
            dissipated=np.array(self.balances).reshape(-1, 2)[:, 1],
            inputs={name: np.array(values) for name, values in self.inputs.items()},
            final=self.final,
            h=self.clock.h,
            steps=self.done,
            iterations=self.solver.record.iterations,
            unknowns=max(self.unknowns, self.solver.unknowns),
            rescues=self.rescues + self.solver.record.rescues,
            complete=complete,
            seconds=time.perf_counter() - self.began,
        )


def endless(h: float) -> Clock:
    """Steps of h seconds without end and without outputs."""
    many = 2**50
    return Clock(h * many, many, np.zeros(0))


class StrongStream(HeldStream):
    """Steps of a strong form; one that fails is tried with alpha = 0, but not in shorter steps,
    which take their time and may stay half way.
    """

    def __init__(self, run: StrongRun, held: dict[str, Held], state: State) -> None:
        self.run, self.held, self.h = run, held, run.clock.h
        self.schedule = run.schedule
        run.shorter = ()
        run.begin(state)
        self._state = state

    def _step(self, start: float, end: float) -> None:
        found = self.run.single()
        if not (np.isfinite(found.pose).all() and np.isfinite(found.wrench).all()):
            self.run.solver.begin(self._state)
            raise StepError("the motion became infinite; try a smaller dt")
        self._state = found
        self.work, self.dissipated = self.run.solver.work_and_loss()
        self.iterations = self.run.solver.record.iterations

    def snapshot(self) -> tuple[State, None]:
        """The state, which holds its velocities."""
        return self._state, None
