"""One step per call: `Robot.stepper`, for hardware and controllers in the loop."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, ConvergenceError, DescriptionError
from pliant.model.calls import checked
from pliant.model.checks import choice, positive
from pliant.results.answers import Answers
from pliant.results.equilibrium import Equilibrium
from pliant.results.motion import Motion
from pliant.results.starts import compiled_for, first_state
from pliant.rods.contract import RodModel
from pliant.solve.compiled import Compiler
from pliant.solve.integrators.contract import Integrator
from pliant.solve.problem import Problem
from pliant.solve.schedule import as_inputs, check_input, check_values
from pliant.solve.streaming import Stream
from pliant.system.loading import check_inputs


@dataclass
class _Instant:
    """A motion of one instant, for questions that are asked of motions."""

    t: Array
    h: float
    q: list[Any]
    v: list[Any]
    work: Array
    dissipated: Array
    inputs: dict[str, Array]
    drive_rates: Array


class StepState(Answers):
    """The robot at one instant of a `Stepper`.

    t : time reached since the start, s.  iterations : of Newton in the step that led here.
    converged : False if the step that was asked for did not converge; this is then the state before
    it, and `message` says what happened.

    Made by `Stepper.step` from compiled and stream; it stays as it is when the stepper goes on.
    Poses are in the world frame, strains, wrenches and velocities in the body frame, angular part
    first.
    """

    def __init__(self, compiled: Problem, stream: Stream, iterations: int, message: str) -> None:
        super().__init__(compiled)
        self.t = stream.t
        self.iterations = iterations
        self.message = message
        self._q, self._v = stream.snapshot()
        self._books = stream.work, stream.dissipated
        self._h, self._acting = stream.h, stream.acting()

    @property
    def converged(self) -> bool:
        """True if the step was taken."""
        return not self.message

    def __repr__(self) -> str:
        return f"<State of {', '.join(self.rods)} at t = {self.t:.6g} s>"

    @property
    def coordinates(self) -> Array:
        """The coordinates (nq,) of all rods; for a strong form, pose and wrench at every knot."""
        return np.asarray(self._compiled.as_numbers(self._q))

    def pose(self, rod: str, s: ArrayLike) -> Array:
        """Return world poses (..., 4, 4) of a rod's sections at arclengths s (...), metres."""
        found, where, shape = self._places(rod, s)
        return self._compiled.sampler.poses(self._q, found.name, where).reshape(*shape, 4, 4)

    def tip(self, rod: str) -> Array:
        """Return the world pose (4, 4) of a rod's tip."""
        return self.pose(rod, self._rod(rod).length)

    def position(self, rod: str, s: ArrayLike) -> Array:
        """Return world positions (..., 3) of a rod's sections at arclengths s (...), metres."""
        return self.pose(rod, s)[..., :3, 3]

    def velocity(self, rod: str, s: ArrayLike) -> Array:
        """Return body twists (..., 6) = (w, v) of a rod's sections at s: rad/s and m/s."""
        found, where, shape = self._places(rod, s)
        twists = self._compiled.sampler.velocities(self._q, self._v, found.name, where)
        return twists.reshape(*shape, 6)

    def strain(self, rod: str, s: ArrayLike) -> Array:
        """Return strains (..., 6) = (u, v) at s, body frame: rad/m, and 1 for no stretch."""
        found, where, shape = self._places(rod, s)
        return self._compiled.sampler.strains(self._q, found.name, where).reshape(*shape, 6)

    def wrench(self, rod: str, s: ArrayLike, by: str = "balance") -> Array:
        """Return internal wrenches (..., 6) = (m, n) at s, body frame, N m and N.

        The wrench is what the part beyond s exerts on the section at s.
        by : "balance" or "law", as of `Motion.wrench`.
        """
        found, where, shape = self._places(rod, s)
        choice("wrench", "by", by, ("balance", "law"))
        rows = self._compiled.moving_wrenches(self._instant, found, where, by)
        return rows.reshape(*shape, 6)

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Wrenches (6,) = (moment, force) that hold the robot, by name, N m and N.

        Names and frames are those of `Motion.reactions`.
        """
        found = self._compiled.moving_reactions(self._instant)
        return {name: rows[0] for name, rows in found.items()}

    @cached_property
    def _instant(self) -> _Instant:
        values, rates = self._acting()
        inputs = {name: np.asarray(value, dtype=float)[None] for name, value in values.items()}
        work, lost = (np.array([x]) for x in self._books)
        now, q, v = np.array([self.t]), [self._q], [self._v]
        return _Instant(now, self._h, q, v, work, lost, inputs, rates[None])

    @cached_property
    def energy(self) -> dict[str, float]:
        """Energies in J: kinetic, elastic, gravity and their total, dissipated and work."""
        found = self._compiled.energies(self._instant, np.zeros(1, dtype=np.int64))
        energy = {name: float(value[0]) for name, value in found.items()}
        stored = ("kinetic", "elastic", "gravity")
        return {**energy, "total": sum(energy[name] for name in stored)}


class Stepper:
    """A robot that moves one step of ``dt`` seconds per call, with inputs as they come.

    state : the `StepState` reached.  t : time reached, s.  inputs : the values that act, by name.
    integrator : how it is solved.

    Each call does a bounded number of iterations and keeps nothing but the last state. `step` makes
    a state, `advance` only moves. In a ``with`` block Python's collector of cyclic garbage rests, which
    steps do not need and whose pauses are longer than they are. Made by `Robot.stepper` from compiled,
    stream, values and integrator.
    """

    def __init__(
        self, compiled: Problem, stream: Stream, values: Mapping[str, Any], integrator: str
    ) -> None:
        self._compiled, self._stream = compiled, stream
        self.integrator = integrator
        self.dt = stream.h
        self.inputs: dict[str, Any] = dict(values)
        self._scalar = {name: np.ndim(value) == 0 for name, value in values.items()}
        lines = {name: item.line for name, item in compiled.description.chambers.items()}
        self._lowest = {
            name: -math.inf if (line := lines.get(name)) is None else line.lowest for name in values
        }
        self._taken: tuple[int, str] = (0, "")
        self._state: StepState | None = None

    @property
    def state(self) -> StepState:
        """The state reached; it stays as it is when the stepper goes on."""
        if self._state is None:
            self._state = StepState(self._compiled, self._stream, *self._taken)
        return self._state

    @property
    def t(self) -> float:
        """Time reached, s."""
        return self._stream.t

    def __repr__(self) -> str:
        return f"<Stepper of {', '.join(self.state.rods)} at t = {self.t:.6g} s>"

    def step(self, inputs: Mapping[str, Any] | None = None) -> StepState:
        """Take one step and return the state at its end.

        inputs : by name, the values at the end of the step, as for `Robot.statics`; those left out
        stay what they were. Within the step they go straight from one value to the other.

        If the step does not converge, the state before it is returned with ``converged`` False and
        a sentence in ``message``; time and inputs stand, and the next call tries again from there.
        """
        self.advance(inputs)
        return self.state

    def advance(self, inputs: Mapping[str, Any] | None = None) -> bool:
        """Take one step and return whether it converged, without making a state of its end.

        inputs : as for `step`. The end is in `state` whenever that is asked for.
        """
        given: dict[str, Any] = {} if inputs is None else self._check(inputs)
        stream, before = self._stream, self._stream.iterations
        message = ""
        try:
            stream.advance(given)
        except DescriptionError:
            raise
        except ConvergenceError as error:
            note = self._compiled.trouble(stream.snapshot()[0])
            message = f"{error}. {note}" if note else str(error)
        else:
            self.inputs.update(given)
        self._taken, self._state = (stream.iterations - before, message), None
        return not message

    def _check(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs that can be used; the first that cannot is refused before anything moves."""
        found: dict[str, Any] = {}
        for name, value in as_inputs(inputs).items():
            scalar = self._scalar.get(name, False)
            if scalar and isinstance(value, float) and self._lowest[name] < value < math.inf:
                found[name] = value
                continue
            check_inputs(self.inputs, {name: value})
            array = check_input(self._compiled.description, name, value)
            if array.shape != np.shape(self.inputs[name]):
                raise DescriptionError(
                    f"input {name!r}",
                    "value",
                    value,
                    f"of the same shape {np.shape(self.inputs[name])} as at the start",
                    f"give inputs={{{name!r}: ...}} of the shape you need to Robot.stepper",
                )
            found[name] = float(array) if scalar else array
        return found

    def __enter__(self) -> Stepper:
        self._collecting = gc.isenabled()
        gc.collect()
        gc.disable()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._collecting:
            gc.enable()


class Streaming:
    """A robot that can be stepped."""

    inputs: dict[str, Any]
    statics: Callable[..., Equilibrium]
    _compiler: Compiler

    @checked
    def stepper(
        self,
        dt: float,
        inputs: Mapping[str, Any] | None = None,
        start: str | Equilibrium | Motion = "rest",
        velocity: Mapping[str, Any] | None = None,
        formulation: RodModel | Mapping[str, RodModel] | None = None,
        integrator: Integrator | None = None,
    ) -> Stepper:
        """Return the robot ready to move one step of ``dt`` seconds per call of `Stepper.step`.

        inputs : by name, values at t = 0, as for `statics`; others act as described.
        start, velocity, formulation, integrator : as for `simulate`.
        """
        h = positive("stepper", "dt", dt, "seconds", "give e.g. 1e-3")
        known = start if isinstance(start, (Equilibrium, Motion)) else None
        if known is None:
            choice("stepper", "start", start, ("rest", "statics"))
        compiled = compiled_for(self._compiler, formulation, known, "start")
        method = compiled.integrator(integrator)
        now = {k: v(0.0) if callable(v) else v for k, v in self.inputs.items()}
        values = check_values(compiled.description, {**now, **as_inputs(inputs)})
        if start == "statics":
            start = self.statics(values, compiled.formulations)
        stream = compiled.stream(method, values, h, first_state(start, velocity))
        return Stepper(compiled, stream, values, repr(method))
