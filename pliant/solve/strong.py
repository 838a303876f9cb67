"""Strong forms in time: a chain compiled for them, the loop over steps, and what it leaves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.contract import State, StepError, StrongForm, StrongSolver, TimeRule
from pliant.bvp.knots import interpolated
from pliant.lie.tuples import Array
from pliant.model import ConvergenceError, Description, DescriptionError, Frame, PliantError
from pliant.model.base_motion import BaseState, Moving, base_state
from pliant.model.signals import as_signal
from pliant.rods.contract import RodModel
from pliant.solve.dynamics import Clock
from pliant.solve.integrators.bdf_alpha import BDFAlpha, first_rules
from pliant.solve.schedule import Schedule

Progress = Callable[[float, float], object]
_ON_GRID = 1e-6
_SHORTER = (2, 4)
"""Into how many steps one is split when it does not converge."""


class StrongSampler:
    """Answers questions about states of a chain, by rod name and arclength."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._starts = {
            rod.name: [(k, p.a, p.b) for k, p in enumerate(chain.pieces) if p.rod is rod]
            for rod in chain.rods
        }

    def at(self, state: State, rod: str, s: Array) -> State:
        """The state at arclengths s (S,) of a rod; where two pieces meet, that before the meeting."""
        where = np.asarray(s, dtype=float)
        pieces = self._starts[rod]
        ends = np.array([b for _, _, b in pieces])
        index = np.clip(np.searchsorted(ends, where - 1e-12 * ends[-1]), 0, len(pieces) - 1)
        numbers = np.array([k for k, _, _ in pieces])
        return interpolated(state, numbers[index], where)

    def poses(self, state: State, rod: str, s: Array) -> Array:
        """World poses (S, 4, 4) of a rod's sections at arclengths s (S,)."""
        return self.at(state, rod, s).pose

    def strains(self, state: State, rod: str, s: Array) -> Array:
        """Strains (S, 6) at s, body frame."""
        return self.at(state, rod, s).strain

    def wrenches(self, state: State, rod: str, s: Array) -> Array:
        """Internal wrenches (S, 6) at s, body frame."""
        return self.at(state, rod, s).wrench

    def velocities(self, state: State, rod: str, s: Array) -> Array:
        """Body twists (S, 6) at s."""
        return self.at(state, rod, s).velocity


class StrongCompiled:
    """A robot as it was when it was compiled for a strong form.

    chain : its rods.  form : the settings.  formulations : by rod name.  sampler : answers questions.
    """

    def __init__(self, description: Description, formulations: Mapping[str, RodModel]) -> None:
        self.description = description
        self.formulations = dict(formulations)
        forms = list(self.formulations.values())
        form = forms[0]
        if not isinstance(form, StrongForm) or any(other != form for other in forms):
            raise DescriptionError(
                "robot",
                "formulation",
                {name: repr(item) for name, item in self.formulations.items()},
                "the same one for all rods where one of them is Shooting, MultipleShooting or "
                "Collocation, for these solve all rods at once",
                "give one formulation for the whole robot",
            )
        self.form = form
        self.chain = Chain(description, type(form).__name__)
        self.sampler = StrongSampler(self.chain)
        self._solver: StrongSolver | None = None

    @property
    def solver(self) -> StrongSolver:
        """The solver, made on first use."""
        if self._solver is None:
            self._solver = self.form.solver(self.chain)
        return self._solver

    def fresh_solver(self) -> StrongSolver:
        """A solver of its own, for use beside others."""
        return self.form.solver(self.chain)

    def base_pose(self, values: Mapping[str, Any]) -> Array:
        """Pose (4, 4) of the base for input values at rest."""
        root = self.chain.rods[0]
        moving = [
            Moving(motion, motion.amount(values[motion.name]))
            for motion in self.description.motions_of(root.name)
        ]
        return base_state(root.pose, moving).pose

    def same_rods(self, other: object) -> bool:
        """Tell whether states of both mean the same: the same rods, in whatever strong form."""
        if not isinstance(other, StrongCompiled):
            return False
        mine, theirs = self.description.rods, other.description.rods
        return list(mine.values()) == list(theirs.values())

    def fits(self, state: State) -> bool:
        """Tell whether a state has the pieces of this chain."""
        pieces = self.chain.pieces
        if state.piece.max() != len(pieces) - 1:
            return False
        first = np.array([state.s[state.piece == k].min() for k in range(len(pieces))])
        return bool(np.allclose(first, [p.a for p in pieces], atol=1e-9 * self.chain.length))


class Bases:
    """Pose and velocity of a clamped base over time, from the inputs of its motions."""

    def __init__(self, compiled: StrongCompiled, schedule: Schedule) -> None:
        root = compiled.chain.rods[0]
        self.pose = root.pose
        self.motions = [
            (motion, as_signal(schedule.values[motion.name]))
            for motion in compiled.description.motions_of(root.name)
        ]
        self._still = BaseState(np.array(root.pose), np.zeros(6), np.zeros(6))

    def at(self, t: float) -> BaseState:
        """The base at time t, s."""
        if not self.motions:
            return self._still
        moving = [Moving(m, x(t), x.rate(t), x.acceleration(t)) for m, x in self.motions]
        return base_state(self.pose, moving)


@dataclass
class StrongTrajectory:
    """What a simulation leaves: states at T output times, and how they were found.

    t (T,), q list of T states, power and loss (T,): see `StrongRun`, inputs by name (T, ...).
    """

    t: Array
    q: list[State]
    inputs: dict[str, Array]
    final: tuple[float, State]
    h: float
    steps: int
    iterations: int
    unknowns: int
    rescues: Counter[str]
    complete: bool
    seconds: float


@dataclass
class StrongRun:
    """One simulation under way."""

    compiled: StrongCompiled
    method: BDFAlpha
    schedule: Schedule
    clock: Clock
    rescue: bool = True
    done: int = 0
    t: list[float] = field(default_factory=list)
    q: list[State] = field(default_factory=list)
    inputs: dict[str, list[Array]] = field(default_factory=dict)
    rescues: Counter[str] = field(default_factory=Counter)
    next: int = 0
    unknowns: int = 0

    def __post_init__(self) -> None:
        self.began = time.perf_counter()
        self.solver = self.compiled.fresh_solver()
        self.bases = Bases(self.compiled, self.schedule)

    def go(self, state: State, progress: Progress | None) -> None:
        """All steps from `state`; snapshots are kept whatever happens."""
        clock = self.clock
        self.final = (0.0, state)
        self.solver.begin(state)
        self._before = clock.h
        self._due(0.0, state)
        for k in range(clock.steps):
            start = k * clock.h
            end = clock.duration if k + 1 == clock.steps else (k + 1) * clock.h
            self._step(start, end - start, first=k == 0)
            self.done = k + 1
            self.unknowns = max(self.unknowns, self.solver.unknowns)
            wanted = self._wanted() <= end + _ON_GRID * clock.h
            if wanted or self.done == clock.steps:
                found = self.solver.state()
                if not all(np.isfinite(x).all() for x in (found.pose, found.wrench)):
                    raise ConvergenceError("the motion became infinite; try a smaller dt")
                self._between(start, end, found)
                self.final = (end, found)
            if progress is not None:
                progress(end, clock.duration)

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

    # -- output ------------------------------------------------------------------------------

    def _wanted(self) -> float:
        outputs = self.clock.outputs
        return float(outputs[self.next]) if self.next < len(outputs) else float("inf")

    def _due(self, t: float, state: State) -> None:
        if self._wanted() <= t + _ON_GRID * self.clock.h:
            self._take(t, state)

    def _between(self, start: float, end: float, found: State) -> None:
        """Outputs up to `end`; those inside the step lie on the line between its ends."""
        edge = end - _ON_GRID * self.clock.h
        while self._wanted() < edge:
            t = self._wanted()
            self._take(t, mixed(self.final[1], found, (t - start) / (end - start)))
        self._due(end, found)

    def _take(self, t: float, state: State) -> None:
        self.t.append(t)
        self.q.append(state)
        for name, value in self.schedule.values_at(t).items():
            self.inputs.setdefault(name, []).append(np.asarray(value, dtype=float))
        self.next += 1

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
