"""The simulation loop: steps of an integrator, snapshots at output times, no work lost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model import ConvergenceError, DescriptionError, PliantError
from pliant.physics.effects import Effects, Inputs as Acting
from pliant.rods.contract import Array
from pliant.solve.clock import ON_GRID, Clock
from pliant.solve.integrators.contract import Integrator, StepError, Stepper
from pliant.solve.integrators.march import March
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
    """Snapshots as they come, in blocks of rows: t, q, v, work, dissipated."""

    schedule: Schedule
    blocks: list[tuple[Array, ...]] = field(default_factory=list)
    inputs: dict[str, list[Array]] = field(default_factory=dict)

    def take(self, t: float, q: Array, v: Array, work: float, lost: float) -> None:
        """One snapshot."""
        values = {k: np.array(x, dtype=float)[None] for k, x in self.schedule.values_at(t).items()}
        one = (np.array([t]), q.copy()[None], v.copy()[None], np.array([work]), np.array([lost]))
        self.take_many(one, values)

    def take_many(self, rows: tuple[Array, ...], values: dict[str, Array]) -> None:
        """Several snapshots with the values of the inputs (T, ...)."""
        self.blocks.append(rows)
        for name, value in values.items():
            self.inputs.setdefault(name, []).append(value)

    def trajectory(self, run: _Run, complete: bool) -> Trajectory:
        """What was taken so far."""
        shapes = ((0,), (0, run.final[1].size), (0, run.final[2].size), (0,), (0,))
        empty = tuple(np.zeros(shape) for shape in shapes)
        t, q, v, work, lost = map(np.concatenate, zip(*self.blocks or [empty], strict=True))
        return Trajectory(
            t=t,
            q=q,
            v=v,
            work=work,
            dissipated=lost,
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


def whole_march(stepper: Stepper, schedule: Schedule, clock: Clock) -> March | None:
    """All steps as compiled calls of many, for a stepper that has started; None where they are not."""
    # inside a step the gas behind a line is known to the general path only
    if schedule.lines and clock.between.any():
        return None
    return stepper.march(schedule)


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
        self.began = time.perf_counter()
        self.final: tuple[float, Array, Array] = (0.0, np.zeros(0), np.zeros(0))

    def go(self, q: Array, v: Array, progress: Progress | None) -> None:
        """All steps from (q, v); snapshots are in the recorder whatever happens."""
        clock = self.clock
        self.final = (0.0, q.copy(), v.copy())
        if clock.outputs[0] <= ON_GRID * clock.h:
            self.recorder.take(0.0, q, v, 0.0, 0.0)
            self.next = 1
        with self.integrator.borrowed(self.effects, clock.h) as stepper:
            self._move(stepper, q, v, progress)

    def _move(self, stepper: Stepper, q: Array, v: Array, progress: Progress | None) -> None:
        """All steps of a stepper."""
        clock, schedule = self.clock, self.schedule
        schedule.begin(q)
        stepper.start(q, v, schedule.at(0.0))
        march = whole_march(stepper, schedule, clock)
        if march is not None:
            self._march(march, progress)
            return
        ends = np.append(np.arange(clock.steps) * clock.h, clock.duration)
        while self.done < clock.steps:
            first = self.done
            self._between(stepper, float(ends[first]), float(ends[first + 1]))
            last = self._stretch(self._most if progress is None else 1)
            began = time.perf_counter()
            try:
                self.done += stepper.take(schedule.rows(ends[first + 1 : last + 1]))
            except StepError:
                self.done += stepper.done
                if not self.integrator.halves:
                    raise
                start, end = float(ends[self.done]), float(ends[self.done + 1])
                self._halve(stepper, schedule.at(start), schedule.at(end), start, end, _HALVINGS)
                self.done += 1
            if time.perf_counter() - began < _PATIENCE and last - first == self._most:
                self._most = min(2 * self._most, _CHUNK)
            self.iterations = stepper.iterations
            if not math.isfinite(float(stepper.q.sum())):
                raise ConvergenceError("the motion became infinite; try a smaller dt")
            end = float(ends[self.done])
            schedule.passed(end, stepper.q)
            self._at_step(stepper, end)
            if progress is not None:
                progress(end, clock.duration)

    def _stretch(self, most: int) -> int:
        """The step up to which all can be taken at once: the next output, or `most` steps on.

        Behind a pressure line one after the other.
        """
        if self.schedule.lines:
            return self.done + 1
        clock, due = self.clock, self._wanted() / self.clock.h
        last = min(clock.steps, self.done + most)
        if due < last + 1:
            inside = bool(clock.between[self.next])
            last = min(last, int(due) if inside else round(due))
        return max(last, self.done + 1)

    def _halve(
        self, stepper: Stepper, before: Acting, after: Acting, start: float, end: float, most: int
    ) -> None:
        """Take a step that failed as two of half its length, and each of them again if need be.

        Raises the error of the smallest step if that does not help.
        """
        middle = 0.5 * (start + end)
        half = self.integrator.stepper(self.effects, middle - start)
        half.books = stepper.books
        half.start(stepper.q, stepper.velocity(), before)
        between = self.schedule.at(middle)
        for a, b, first, last in ((before, between, start, middle), (between, after, middle, end)):
            try:
                half.advance(a, b)
            except StepError:
                if most == 1:
                    raise
                self._halve(half, a, b, first, last, most - 1)
        self.halved += 1
        totals = [getattr(stepper, name) + getattr(half, name) for name in _TOTALS]
        stepper.start(half.q, half.velocity(), after)
        for name, total in zip(_TOTALS, totals, strict=True):
            setattr(stepper, name, total)

    def _march(self, march: March, progress: Progress | None) -> None:
        """Go on in runs of many steps, with snapshots at those that are outputs."""
        clock, whole = self.clock, _CHUNK if progress is None else _SHOWN
        step_of = np.where(
            clock.between, np.floor(clock.outputs / clock.h), np.round(clock.outputs / clock.h)
        ).astype(np.int64)
        ends = np.append(np.arange(clock.steps) * clock.h, clock.duration)
        march.begin(march.columns(self.schedule.asked(ends[:1]), 1)[0])
        while self.done < clock.steps:
            inside = step_of[self.next :][clock.between[self.next :]][:1].tolist()
            if inside == [self.done]:
                march.hand_back()
                self._between(march.stepper, ends[self.done], ends[self.done + 1])
                continue
            last = min(self.done + whole, clock.steps, *inside)
            rows = np.full(last - self.done, -1, dtype=np.int64)
            due = step_of[self.next : np.searchsorted(step_of, last, side="right")]
            due = due[~clock.between[self.next : self.next + len(due)]]
            rows[due - self.done - 1] = np.arange(len(due))
            record = march.room_for(len(due))
            asked = self.schedule.asked(ends[self.done + 1 : last + 1])
            march.prepare(march.columns(asked, len(rows)), rows, record)
            self.done += march.advance()
            kept = int(np.searchsorted(due, self.done, side="right"))
            self._keep(march, clock.outputs[self.next : self.next + kept], record)
            self.next += kept
            self.iterations = int(march.counts[0])
            self.final = (float(ends[self.done]), march.state[0].copy(), march.state[1].copy())
            if self.done < last:
                raise march.error()
            if progress is not None:
                progress(float(ends[last]), clock.duration)

    def _keep(self, march: March, t: Array, record: tuple[Array, ...]) -> None:
        """Hand the rows of a record at output times t (T,) to the recorder."""
        count = len(t)
        q, v, books, values = (a[:count] for a in record)
        inputs = march.all_by_name(values)
        self.recorder.take_many((t, q, v, books[:, 0], books[:, 1]), inputs)

    def _wanted(self) -> float:
        outputs = self.clock.outputs
        return float(outputs[self.next]) if self.next < len(outputs) else float("inf")

    def _at_step(self, stepper: Stepper, t: float) -> None:
        """Take a snapshot if one is due at this step, and keep the last state of all."""
        due = self._wanted() <= t + ON_GRID * self.clock.h
        if due or self.done == self.clock.steps:
            v = stepper.velocity()
            if due:
                self.recorder.take(t, stepper.q, v, stepper.work, stepper.dissipated)
                self.next += 1
            self.final = (t, stepper.q.copy(), v.copy())

    def _between(self, stepper: Stepper, start: float, end: float) -> None:
        """Outputs inside a step: a shorter step of the same integrator that leads nowhere else."""
        edge = end - ON_GRID * self.clock.h
        if self._wanted() >= edge:
            return
        v = stepper.velocity()
        before = self.schedule.at(start)
        while self._wanted() < edge:
            t = self._wanted()
            side = self.integrator.stepper(self.effects, t - start)
            side.start(stepper.q, v, before)
            side.advance(before, self.schedule.at(t))
            work, lost = stepper.work + side.work, stepper.dissipated + side.dissipated
            self.recorder.take(t, side.q, side.velocity(), work, lost)
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
