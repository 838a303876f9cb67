"""Steps of motions in which inputs change what is compiled, such as tubes that are pushed.

An insertion decides where tubes end on their centreline, and with it the mesh. A step is taken with the
insertion at its middle, and the state is carried over from mesh to mesh in between:

    ... | move by half | step of h | move by half | move by half | step of h | ...

which is of second order in the step for inner tubes. By what a move changes the energy, elastic, of
weight and kinetic, is the work of what pushes (`insertion`). Left out is the inertia of tubes as they
slide along the centreline: terms with the speed of insertion over that of bending waves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.model import Array, DescriptionError
from pliant.model.checks import StepError
from pliant.rods.nested import NestedMap
from pliant.solve import energy
from pliant.solve.coordinate_steps import CoordinateSteps
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.dynamics import NOT_INSIDE, Rows, Steps
from pliant.solve.insertion import Moving, at_rest, carry_over, drift_energy
from pliant.solve.integrators.contract import Integrator
from pliant.solve.schedule import Inputs, Schedule
from pliant.tree.forward import kinetic_energy
from pliant.tree.work import Work

if TYPE_CHECKING:
    from pliant.solve.moving_mesh import MovingMesh


@dataclass(frozen=True)
class OnMesh:
    """A configuration, or rates, of one mesh."""

    problem: CoordinateProblem
    values: Array


class MovingSteps(Steps):
    """Steps of an integrator on a mesh that moves between them.

    Configurations and rates are `OnMesh`. inner : the steps on the mesh of `problem`, which is that of
    the inputs at the time `_moved`.
    """

    def __init__(
        self,
        moving: MovingMesh,
        integrator: Integrator,
        schedule: Inputs,
        h: float,
        q: Array,
        v: Array,
    ) -> None:
        self.moving, self.method, self.schedule, self.h = moving, integrator, schedule, h
        self.unknowns, self.done, self._iterations = moving.first.unknowns, 0, 0
        self._rescued: dict[str, int] = {}
        self._rows: list[Rows] = []
        self._t = self._moved = self._pushed = 0.0
        self._seen: tuple[CoordinateProblem, Moving, float] | None = None
        """The state at time _t on the mesh of the inputs then, if somebody asked for it."""
        self.problem = moving.first
        self._drift = at_rest(moving.first.effects, q, v).drift
        self.inner = self._make(moving.first, q, v)
        self.inner.start()
        self.first = self._boxed(moving.first, self.inner.first)

    def _make(self, problem: CoordinateProblem, q: Array, v: Array) -> CoordinateSteps:
        """Steps on the mesh of a problem."""
        schedule = self._schedule(problem)
        stepper = self.method.stepper(problem.effects, self.h)
        return CoordinateSteps(self.method, stepper, schedule, q, v)

    def _schedule(self, problem: CoordinateProblem) -> Schedule:
        return Schedule(problem.effects, self.moving.fixed(problem, self.schedule.values))

    def _boxed(self, problem: CoordinateProblem, rows: Rows) -> Rows:
        """Snapshots with their mesh."""
        q, v, *rest = rows
        return _boxes(problem, q), _boxes(problem, v), *rest

    def start(self) -> None:
        """Begin the motion at the first snapshot."""

    @property
    def account(self) -> Array:  # type: ignore[override]
        """Work done by the inputs and energy dissipated since the start (2,), J."""
        account = self.inner.account.copy()
        account[0] += self._pushed + self._there()[2]
        return account

    @property
    def acted(self) -> Array:  # type: ignore[override]
        """Numbers (J,) of the inputs that act now."""
        return self.inner.acted

    def _values(self, t: float) -> dict[str, float]:
        """Inputs that are compiled, at time t."""
        now = self.schedule.values_at(t)
        return {name: float(np.asarray(now[name])) for name in self.moving.names}

    def take(self, times: Array, wanted: NDArray[np.bool_], inside: Array = NOT_INSIDE) -> None:
        """Take the steps between times (n + 1,), one after the other."""
        self.done, self._rows = 0, []
        _require_ends(times, inside)
        for k, keep in enumerate(wanted):
            start, end = times[k : k + 2].tolist()
            self._move(start, 0.5 * (start + end))
            try:
                self.inner.take(times[k : k + 2], np.zeros(1, dtype=np.bool_), NOT_INSIDE)
            except StepError as error:
                self.inner.rescue(error, start, end, False)
            self._t, self._seen = end, None
            if keep:
                self._rows.append(self._snapshot())
            self.done += 1

    def _snapshot(self) -> Rows:
        problem, now, _ = self._there()
        rows = (now.q[None], now.v[None], self.account[None], self.inner.acted[None].copy())
        return self._boxed(problem, rows)

    def _there(self) -> tuple[CoordinateProblem, Moving, float]:
        """The state now on the mesh of the inputs now, and the work on the way there."""
        if self._seen is None:
            values, here = self._values(self._t), Moving(*self.inner.now(), self._drift)
            if values == self.problem.description.settled_inputs() and not self._drifting():
                self._seen = self.problem, here, 0.0
            else:
                problem = self.moving.compile(values)
                found = self._carried(here, problem, self._t, np.inf)
                work = stored(problem, found) - stored(self.problem, here, drift=False)
                self._seen = problem, found, work
        return self._seen

    def _drifting(self) -> bool:
        return any(x.any() for x in self._drift)

    def _carried(
        self, here: Moving, problem: CoordinateProblem, t: float, seconds: float
    ) -> Moving:
        """A state carried over to the mesh of another problem."""
        inputs = self._schedule(problem).at(t)
        return carry_over(self.problem.sampler, here, problem.sampler, inputs, seconds)

    def _move(self, t: float, middle: float) -> None:
        """Carry the state over at time t to the mesh of the inputs at the middle of the next step."""
        values = self._values(middle)
        still = values == self.problem.description.settled_inputs()
        if still and not self._drifting():
            self._moved = middle
            return
        here, before = Moving(*self.inner.now(), self._drift), self.inner
        problem = self.moving.compile(values)
        if self.method.variational and _ends_in_order(problem) != _ends_in_order(self.problem):
            self._refuse_passing(middle)
        found = self._carried(here, problem, t, middle - self._moved)
        # what the drift has in kinetic energy is part of the state, not of that of the stepper
        self._pushed += stored(problem, found, drift=False) - stored(
            self.problem, here, drift=False
        )
        steps = self._make(problem, found.q, found.v)
        steps.stepper.start(found.q, found.v, steps.schedule.at(t), before.stepper)
        steps.stepper.account[...] = before.account
        self._iterations += before.iterations
        for name, count in before.rescues.items():
            self._rescued[name] = self._rescued.get(name, 0) + count
        self.inner, self.problem, self._drift = steps, problem, found.drift
        self._moved, self.unknowns = middle, max(self.unknowns, problem.unknowns)

    def _refuse_passing(self, t: float) -> None:
        """Refuse `Midpoint` where ends of tubes pass: stresses that the new mesh cannot have exactly
        alternate from step to step, and in spans as short as a push they are more than all else.
        """
        raise DescriptionError(
            "simulate",
            "integrator",
            self.method,
            f"another one, for at t = {t:.4g} s tubes pass each other's ends or the entry plane, where "
            "it would ring",
            "leave it out, or give e.g. GeneralizedAlpha(0.8) or Newmark()",
        )

    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        """Refuse: `take` does it."""
        raise error

    def snapshots(self) -> Rows:
        """Return what was kept."""
        rows, self._rows = self._rows, []
        if not rows:
            return tuple(x[:0] for x in self.first)
        return tuple(map(np.concatenate, zip(*rows, strict=True)))

    def now(self) -> tuple[OnMesh, OnMesh]:
        """Configuration and rates, on the mesh of the inputs now."""
        problem, now, _ = self._there()
        return OnMesh(problem, now.q), OnMesh(problem, now.v)

    @property
    def iterations(self) -> int:
        """Newton iterations since the start."""
        return self._iterations + self.inner.iterations

    @property
    def rescues(self) -> dict[str, int]:
        """How often a step was halved, and how many damped ones were taken."""
        found = dict(self._rescued)
        for name, count in self.inner.rescues.items():
            found[name] = found.get(name, 0) + count
        return found

    def explain(self, text: str, q: OnMesh) -> str:
        """The message with what the maps of the rods say."""
        return self.inner.explain(text, q.values) if q.problem is self.problem else text

    def keep(self) -> dict[str, Array]:
        """Refuse: checkpoints are refused before."""
        raise TypeError("a mesh that moves has no checkpoints")

    def resume(self, kept: Mapping[str, Array]) -> None:
        """Refuse: checkpoints are refused before."""
        raise TypeError("a mesh that moves has no checkpoints")


def _require_ends(times: Array, inside: Array) -> None:
    """Refuse outputs inside a step, at whose end the mesh moves."""
    if len(inside):
        raise DescriptionError(
            "simulate",
            "output_times",
            float(inside[0]),
            f"the end of a step (the nearest are {times[0]:g} s and {times[1]:g} s), for the mesh "
            "moves with the inputs from step to step",
            "give times that are multiples of dt, or output_every",
        )


def _ends_in_order(problem: CoordinateProblem) -> list[tuple[tuple[int, float], ...]]:
    """Of each nest of tubes, which ends follow each other on its centreline."""
    maps = [part.map for part in problem.tree.parts if isinstance(part.map, NestedMap)]
    return [nested.centre.ends_in_order() for nested in maps]


def _boxes(problem: CoordinateProblem, rows: Array) -> NDArray[np.object_]:
    """Rows (T, n) as objects (T,) with their mesh."""
    found = np.empty(len(rows), dtype=object)
    for k, row in enumerate(rows):
        found[k] = OnMesh(problem, row)
    return found


def stored(problem: CoordinateProblem, now: Moving, drift: bool = True) -> float:
    """Kinetic and potential energy of a state without what loads could do, J.

    drift : whether kinetic energy has that of the drift.
    """
    effects, state, about = problem.effects, problem.sampler.at(now.q), problem.description
    quiet = effects.at({**dict.fromkeys(about.inputs(), 0.0), **about.settled_inputs()})
    parts = energy.potential(effects, state, quiet)
    kept = sum(value for name, value in parts.items() if name != "loads")
    kept += kinetic_energy(problem.tree, state, Work(problem.tree), now.v)
    return kept + (drift_energy(problem.sampler, now) if drift else 0.0)
