"""Motions of a chain by a strong form: the loop over time steps, and what it leaves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import State, StepError, StrongForm, StrongSolver, TimeRule
from pliant.bvp.energies import Energies
from pliant.bvp.knots import mixed
from pliant.lie.tuples import Array
from pliant.model import ConvergenceError, as_signal
from pliant.model.base_motion import BaseState, Moving, base_state
from pliant.solve.dynamics import Clock
from pliant.solve.integrators.bdf_alpha import BDFAlpha, first_rules
from pliant.solve.schedule import Inputs

Progress = Callable[[float, float], object]
_ON_GRID = 1e-6
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


def ask_of(chain: Chain, state: State) -> Energies:
    """The energies of a chain at the knots of a state; those asked last are kept."""
    kept = _KEPT.get(id(chain))
    if kept is None or kept[0] is not chain or not np.array_equal(kept[1], state.s):
        _KEPT.clear()
        _KEPT[id(chain)] = kept = (chain, state.s, Energies(chain, state))
    return kept[2]


_KEPT: dict[int, tuple[Chain, Array, Energies]] = {}


@dataclass
class StrongTrajectory:
    """What a simulation leaves: states at T output times, and how they were found.

    t (T,), q list of T states, inputs by name (T, ...). `final` is the state reached.
    """

    t: Array
    q: list[State]
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

    def passed_on(self, chain: Chain) -> tuple[Array, Array]:
        """Energy lost and work done (T,) since the start, J, by the trapezoidal rule."""
        lost, power = np.zeros(len(self.t)), np.zeros(len(self.t))
        for k, state in enumerate(self.q):
            ask = ask_of(chain, state)
            values = {name: column[k] for name, column in self.inputs.items()}
            lost[k], power[k] = ask.lost(state), ask.power(state, values)

        def summed(rate: Array) -> Array:
            steps = 0.5 * (rate[1:] + rate[:-1]) * np.diff(self.t)
            return np.concatenate([[0.0], np.cumsum(steps)])[: len(rate)]

        return summed(lost), summed(power)


class StrongRun:
    """One simulation under way."""

    def __init__(
        self, chain: Chain, form: StrongForm, method: BDFAlpha, inputs: Inputs, clock: Clock
    ) -> None:
        self.method, self.schedule, self.clock = method, inputs, clock
        self.rescue = getattr(form, "rescue", True)
        self.done = self.next = 0
        self.t: list[float] = []
        self.q: list[State] = []
        self.inputs: dict[str, list[Array]] = {}
        self.rescues: Counter[str] = Counter()
        self.began = time.perf_counter()
        self.solver: StrongSolver = form.solver(chain)
        self.unknowns = self.solver.unknowns
        self.bases = Bases(chain, inputs)

    def go(self, state: State, progress: Progress | None) -> None:
        """All steps from `state`; snapshots are kept whatever happens."""
        clock = self.clock
        self.final = (0.0, state, None)
        self.solver.begin(state)
        self._before = clock.h
        if self._wanted() <= _ON_GRID * clock.h:
            self._take(0.0, state)
        for k in range(clock.steps):
            start = k * clock.h
            end = clock.duration if k + 1 == clock.steps else (k + 1) * clock.h
            inside = self._wanted() < end - _ON_GRID * clock.h
            earlier = self.solver.state() if inside else None
            self._step(start, end - start, first=k == 0)
            self.done = k + 1
            self.unknowns = max(self.unknowns, self.solver.unknowns)
            self._record(start, end, earlier)
            if progress is not None:
                progress(end, clock.duration)

    def _record(self, start: float, end: float, earlier: State | None) -> None:
        """Take the snapshots that are due, and keep the last state of all."""
        edge = _ON_GRID * self.clock.h
        due = self._wanted() <= end + edge
        if not (due or earlier is not None or self.done == self.clock.steps):
            return
        found = self.solver.state()
        if not (np.isfinite(found.pose).all() and np.isfinite(found.wrench).all()):
            raise ConvergenceError("the motion became infinite; try a smaller dt")
        while earlier is not None and self._wanted() < end - edge:
            t, h = self._wanted(), end - start
            self._take(t, mixed(earlier, found, h, (t - start) / h))
        if self._wanted() <= end + edge:
            self._take(end, found)
        self.final = (end, found, None)

    def _take(self, t: float, state: State) -> None:
        self.t.append(t)
        self.q.append(state)
        for name, value in self.schedule.values_at(t).items():
            self.inputs.setdefault(name, []).append(np.asarray(value, dtype=float))
        self.next += 1

    def _wanted(self) -> float:
        outputs = self.clock.outputs
        return float(outputs[self.next]) if self.next < len(outputs) else float("inf")

    def _step(self, start: float, h: float, first: bool) -> None:
        """One step, if need be with alpha = 0, if need be in shorter steps."""
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
        for parts in _SHORTER if self.rescue else ():
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
            for k, (part, rule) in enumerate(first_rules(h)):
                self._advance(start + part * h, rule, keep_older=k == 1)
        else:
            self._advance(start + h, method.rule(h, self._before), keep_older=False)
        self._before = h

    def _advance(self, t: float, rule: TimeRule, keep_older: bool) -> None:
        self.solver.step(rule, self.schedule.values_at(t), self.bases.at(t), keep_older)

    def trajectory(self, complete: bool) -> StrongTrajectory:
        """What there is so far."""
        return StrongTrajectory(
            t=np.array(self.t),
            q=self.q,
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
