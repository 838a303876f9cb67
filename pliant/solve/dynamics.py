"""The simulation loop: steps of an integrator, snapshots at output times, no work lost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model import ConvergenceError, DescriptionError, PliantError
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.solve.clock import Clock
from pliant.solve.integrators.contract import Integrator, StepError, Stepper
from pliant.solve.limits import with_limits
from pliant.solve.schedule import Schedule

Progress = Callable[[float, float], object]
"""Told the time reached and the duration, s, after each step."""

_HALVINGS = 6
"""How often a step that does not converge is halved before the simulation stops."""
_TOTALS = ("work", "dissipated", "iterations")
_CHUNK = 1000
"""Most steps in one compiled call, so that Ctrl-C is heard."""
_PATIENCE = 0.1
"""Seconds that a compiled call may take for the next one to be twice as long."""
_SHOWN = 10
"""As many where somebody watches the progress."""


def check_integrator(integrator: object) -> Integrator:
    """Return the integrator, or the default one for None."""
    if integrator is None:
        from pliant.solve.integrators.midpoint import Midpoint

        return Midpoint()
    if not isinstance(integrator, Integrator):
        is_class = isinstance(integrator, type) and issubclass(integrator, Integrator)
        remedy = f"write {integrator.__name__}()" if is_class else "give e.g. Midpoint()"  # type: ignore[attr-defined]
        raise DescriptionError("simulate", "integrator", integrator, "an integrator", remedy)
    return integrator


@dataclass
class Trajectory:
    """What a simulation leaves: snapshots at T output times.

    t (T,), q (T, nq), v (T, total) coordinate rates, work and dissipated (T,) J since the start,
    inputs by name (T, ...). `final` is the state (t, q, v) reached, output or not.
    """

    t: Array
    q: Array
    v: Array
    work: Array
    dissipated: Array
    inputs: dict[str, Array]
    final: tuple[float, Array, Array]
    h: float
    steps: int
    iterations: int
    complete: bool
    seconds: float
    drive_rates: Array
    """Rates and accelerations (T, K, 2) of the inputs of prescribed joints."""
    rescues: dict[str, int] = field(default_factory=dict)
    """How often something had to be done to go on, by name."""


@dataclass
class Recorder:
    """Snapshots as they come, in blocks of rows: t (T,), q (T, nq), v (T, total), account (T, 2)."""

    schedule: Schedule
    blocks: list[tuple[Array, ...]] = field(default_factory=list)
    inputs: dict[str, list[Array]] = field(default_factory=dict)

    def take(self, t: Array, q: Array, v: Array, account: Array, u: Array) -> None:
        """Snapshots at times t (T,) with the numbers u (T, J) of the inputs that acted."""
        self.blocks.append((t, q, v, account))
        for name, value in self.schedule.acted(t, u).items():
            self.inputs.setdefault(name, []).append(value)

    def trajectory(self, run: _Run, complete: bool) -> Trajectory:
        """What was taken so far."""
        shapes = ((0,), (0, run.final[1].size), (0, run.final[2].size), (0, 2))
        empty = tuple(np.zeros(shape) for shape in shapes)
        t, q, v, account = map(np.concatenate, zip(*self.blocks or [empty], strict=True))
        return Trajectory(
            t=t,
            q=q,
            v=v,
            work=account[:, 0],
            dissipated=account[:, 1],
            inputs={name: np.concatenate(rows) for name, rows in self.inputs.items()},
            final=run.final,
            h=run.clock.h,
            steps=run.done,
            iterations=run.iterations,
            complete=complete,
            seconds=time.perf_counter() - run.began,
            drive_rates=self.schedule.drive_rates(t),
            rescues={"halved steps": run.halved} if run.halved else {},
        )


class _Run:
    """One simulation under way."""

    def __init__(
        self, effects: Effects, integrator: Integrator, schedule: Schedule, clock: Clock
    ) -> None:
        self.effects = effects
        self.integrator = integrator
        self.schedule = schedule
        self.clock = clock
        self.recorder = Recorder(schedule)
        self.done = 0
        self.halved = 0
        self._most = _SHOWN
        """Steps that are taken in one compiled call; more of them if they turn out to be short."""
        self.iterations = 0
        self.next = 0
        """Number of the output that is wanted next."""
        self.began = time.perf_counter()
        self.final: tuple[float, Array, Array] = (0.0, np.zeros(0), np.zeros(0))

    def go(self, q: Array, v: Array, progress: Progress | None) -> None:
        """All steps from (q, v); snapshots are in the recorder whatever happens."""
        clock = self.clock
        self.final = (0.0, q.copy(), v.copy())
        self.next = int(np.count_nonzero((clock.step_of == 0) & ~clock.between))
        if self.next:
            start = (q, v, np.zeros(2), self.schedule.at(0.0).u)
            rows = (np.tile(x, (self.next, 1)) for x in start)
            self.recorder.take(clock.outputs[: self.next], *rows)
        with self.integrator.borrowed(self.effects, clock.h) as stepper:
            self._move(stepper, q, v, progress)

    def _move(self, stepper: Stepper, q: Array, v: Array, progress: Progress | None) -> None:
        """All steps of a stepper."""
        clock, schedule = self.clock, self.schedule
        stepper.start(q, v, schedule.at(0.0))
        ends = np.append(np.arange(clock.steps) * clock.h, clock.duration)
        while self.done < clock.steps:
            first = self.done
            self._between(stepper, float(ends[first]))
            most = 1 if progress is not None else min(self._most, stepper.capacity)
            last, wanted = self._stretch(most)
            began = time.perf_counter()
            stepper.keep_now(False)
            try:
                stepper.take(schedule.rows(ends[first + 1 : last + 1]), wanted)
                self._collect(stepper, last)
            except StepError:
                self._collect(stepper, first + stepper.done)
                if not self.integrator.halves:
                    raise
                self._halve(stepper, float(ends[self.done]), float(ends[self.done + 1]), _HALVINGS)
                stepper.keep_now(bool(wanted[self.done - first]))
                self._collect(stepper, self.done + 1)
            if time.perf_counter() - began < _PATIENCE and last - first == self._most:
                self._most = min(2 * self._most, _CHUNK)
            self.iterations = stepper.iterations
            if not math.isfinite(float(stepper.q.sum())):
                raise ConvergenceError("the motion became infinite; try a smaller dt")
            end = float(ends[self.done])
            if self.done == clock.steps:
                self.final = (end, stepper.q.copy(), stepper.velocity().copy())
            if progress is not None:
                progress(end, clock.duration)

    def _stretch(self, most: int) -> tuple[int, NDArray[np.bool_]]:
        """The step up to which all can be taken at once, and of which of them outputs are wanted.

        That is `most` steps on, or up to the next step with an output inside.
        """
        clock, due = self.clock, slice(self.next, None)
        steps, between = clock.step_of[due], clock.between[due]
        last = min(
            [clock.steps, self.done + most, *steps[between & (steps > self.done)][:1].tolist()]
        )
        wanted = np.zeros(last - self.done, dtype=np.bool_)
        wanted[steps[~between & (steps <= last)] - self.done - 1] = True
        return last, wanted

    def _collect(self, stepper: Stepper, done: int) -> None:
        """Hand what the stepper kept on its way to the step `done` to the recorder."""
        clock, self.done = self.clock, done
        q, v, account, u = stepper.snapshots()
        if not len(q):
            return
        due = np.arange(self.next, np.searchsorted(clock.step_of, done, side="right"))
        due = due[~clock.between[due]]
        # output times closer than a step can tell share one snapshot
        rows = np.unique(clock.step_of[due], return_inverse=True)[1]
        self.next += len(due)
        self.recorder.take(clock.outputs[due], q[rows], v[rows], account[rows], u[rows])
        self.final = (float(clock.outputs[due[-1]]), q[-1], v[-1])

    def _halve(self, stepper: Stepper, start: float, end: float, most: int) -> None:
        """Take a step that failed as two of half its length, and each of them again if need be.

        Raises the error of the smallest step if that does not help.
        """
        middle, schedule = 0.5 * (start + end), self.schedule
        half = self.integrator.stepper(self.effects, middle - start)
        half.books = stepper.books
        half.start(stepper.q, stepper.velocity(), schedule.at(start), stepper)
        for first, last in ((start, middle), (middle, end)):
            try:
                half.take(schedule.rows(np.array([last])))
            except StepError:
                if most == 1:
                    raise
                self._halve(half, first, last, most - 1)
        self.halved += 1
        totals = [getattr(stepper, name) + getattr(half, name) for name in _TOTALS]
        stepper.start(half.q, half.velocity(), schedule.at(end), half)
        for name, total in zip(_TOTALS, totals, strict=True):
            setattr(stepper, name, total)

    def _between(self, stepper: Stepper, start: float) -> None:
        """Outputs inside a step: a shorter step of the same integrator that leads nowhere else."""
        clock = self.clock
        inside = clock.between & (clock.step_of == self.done)
        for t in clock.outputs[inside]:
            side = self.integrator.stepper(self.effects, float(t) - start)
            side.start(stepper.q, stepper.velocity(), self.schedule.at(start), stepper)
            side.account[...] = stepper.account
            try:
                side.take(self.schedule.rows(np.array([t])), np.ones(1, dtype=np.bool_))
            except StepError:
                if not self.integrator.halves:
                    raise
                halved = self.halved
                self._halve(side, start, float(t), _HALVINGS)
                self.halved = halved  # this step leads nowhere else
                side.keep_now(True)
            self.recorder.take(np.array([t]), *side.snapshots())
            self.next += 1


def simulate(
    effects: Effects,
    integrator: Integrator,
    inputs: Mapping[str, Any] | Schedule | None,
    clock: Clock,
    q: Array,
    v: Array,
    progress: Progress | None = None,
) -> Trajectory:
    """Move in time from configuration q (nq,) with coordinate rates v (total,).

    Ctrl-C ends the simulation early: the trajectory so far is returned with complete = False. A
    step that fails raises ConvergenceError whose `last` is the trajectory so far.
    """
    schedule = inputs if isinstance(inputs, Schedule) else Schedule(effects, inputs)
    run = _Run(effects, integrator, schedule, clock)
    try:
        run.go(q, v, progress)
    except KeyboardInterrupt:
        return run.recorder.trajectory(run, False)
    except DescriptionError:
        raise
    except PliantError as error:
        reached = run.done * clock.h
        text = f"the simulation stopped at t = {reached:.6g} s of {clock.duration:g} s: {error}"
        text = with_limits(text, effects.tree, run.final[1])
        raise ConvergenceError(text, run.recorder.trajectory(run, False)) from error
    return run.recorder.trajectory(run, True)
