"""One time step per call, for hardware and controllers in the loop: `Stepper` and its `StepState`."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from pliant.model import Array, ConvergenceError, DescriptionError, refuse
from pliant.physics.effects import check_inputs
from pliant.results.motion import MovingResult
from pliant.solve.control import Control
from pliant.solve.integrators.contract import Integrator
from pliant.solve.problem import Problem, Start
from pliant.solve.schedule import as_inputs, check_input
from pliant.solve.streaming import Acting, Stream


class Seen(Protocol):
    """A motion under way, or an estimate of one, as far as a state needs it."""

    @property
    def t(self) -> float:
        """Time, s."""

    @property
    def h(self) -> float:
        """Length of a step, s."""

    def snapshot(self) -> tuple[Any, Any, Array]:
        """Configuration, rates and account of work and loss, to keep."""

    def acting(self) -> Acting:
        """What gives values, rates and accelerations of the inputs as they are now."""


class StepState(MovingResult):
    """The robot at one instant of a `Stepper`.

    t : time since the start, s.  iterations : Newton iterations of the last step.
    converged : False if the step did not converge; this is then the state before it, and `message`
    says what happened.

    Made by `Stepper.step` from compiled and stream. Later steps do not change it.
    Poses are in the world frame, strains, wrenches and velocities in the body frame, angular part
    first.
    """

    def __init__(self, compiled: Problem, stream: Seen, iterations: int, message: str) -> None:
        super().__init__(compiled)
        self.t = stream.t
        self.iterations = iterations
        self.message = message
        self._q, self._v, self._account = stream.snapshot()
        self._configurations = [self._q]
        self._h, self._acting = stream.h, stream.acting()

    @property
    def converged(self) -> bool:
        """True if the step converged."""
        return not self.message

    def __repr__(self) -> str:
        return f"<State of {self._names} at t = {self.t:.6g} s>"

    @property
    def inputs(self) -> dict[str, Any]:
        """By name, the values of every input that act; behind a pressure line, that in the chamber."""
        return {name: x[0] if x.ndim > 1 else float(x[0]) for name, x in self._path.inputs.items()}

    @property
    def coordinates(self) -> Array:
        """The coordinates (nq,) of all rods; for a strong form, pose and wrench at every knot."""
        return np.asarray(self._compiled.as_numbers(self._q))

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles hold the numbers that acted, not the stepper that gave them."""
        self._path  # noqa: B018
        return {name: value for name, value in vars(self).items() if name != "_acting"}

    def _final(self) -> tuple[Any, Any]:
        return self._q, self._v

    @cached_property
    def _path(self) -> SimpleNamespace:
        """A trajectory of one instant, for quantities that are computed from trajectories."""
        values, rates = self._acting()
        return SimpleNamespace(
            t=np.array([self.t]),
            h=self._h,
            q=[self._q],
            v=[self._v],
            work=self._account[:1],
            dissipated=self._account[1:2],
            recorded=self._account[None, 2:],
            inputs={name: np.asarray(x, dtype=float)[None] for name, x in values.items()},
            drive_rates=rates[None],
        )

    @cached_property
    def energy(self) -> dict[str, float]:
        """Energies in J: kinetic, elastic, gravity and their total, dissipated and work."""
        parts = self._energies(np.zeros(1, dtype=np.int64))
        return {name: float(value[0]) for name, value in parts.items()}


class Stepper:
    """A robot that moves by one step of ``dt`` seconds per call, with inputs given at run time.

    state : the current `StepState`.  t : current time, s.  dt : time step, s.  inputs : the current
    values, by name.  integrator : as Python code.

    Each call does a bounded number of iterations and keeps only the last state. `step` returns the
    new state, `advance` does not create one. Controllers are asked by themselves, at the start of the
    step at which they are due; ``control`` has them. A ``with`` block switches off Python's
    cyclic garbage collector, whose pauses are longer than a step. Made by `Robot.stepper` from
    compiled, stream, values and integrator.
    """

    def __init__(
        self,
        compiled: Problem,
        stream: Stream,
        values: Mapping[str, Any],
        integrator: str,
        control: Control | None = None,
    ) -> None:
        self._compiled, self._stream, self._control = compiled, stream, control
        self.integrator = integrator
        self.inputs: dict[str, Any] = dict(values)
        self._scalar = {name: np.ndim(value) == 0 for name, value in values.items()}
        lines = {name: item.input_line() for name, item in compiled.description.parts.items()}
        self._lowest = {
            name: -math.inf if (line := lines.get(name)) is None else line.lowest for name in values
        }
        # these are looked at with care: some of their values are refused
        self._lowest.update(dict.fromkeys(compiled.description.settled_inputs(), math.inf))
        self._taken: tuple[int, str] = (0, "")
        self._state: StepState | None = None

    @property
    def state(self) -> StepState:
        """The current state. Later steps do not change it."""
        if self._state is None:
            self._state = StepState(self._compiled, self._stream, *self._taken)
        return self._state

    @property
    def t(self) -> float:
        """Current time, s."""
        return self._stream.t

    @property
    def dt(self) -> float:
        """Time step, s."""
        return self._stream.h

    @dt.setter
    def dt(self, value: object) -> None:
        raise DescriptionError(
            "stepper", "dt", value, f"constant: this stepper was prepared for {self.dt:g} s",
            "continue with a new stepper: robot.stepper(dt, stepper.inputs, start=stepper.state)",
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<Stepper of {self.state._names} at t = {self.t:.6g} s>"

    def step(self, inputs: Mapping[str, Any] | None = None) -> StepState:
        """Take one step and return the state at its end.

        inputs : by name, the values at the end of the step, as for `Robot.statics`; inputs you leave
        out keep their values. Within the step they vary linearly.

        If the step does not converge, it returns the state before it, with ``converged`` False and a
        sentence in ``message``. Time and inputs do not change, and the next call tries again.
        """
        self.advance(inputs)
        return self.state

    def advance(self, inputs: Mapping[str, Any] | None = None) -> bool:
        """Take one step and return whether it converged, without creating a `StepState`.

        inputs : as for `step`. Read `state` whenever you need it.
        """
        given: dict[str, Any] = {} if inputs is None else self._check(inputs)
        stream, before = self._stream, self._stream.iterations
        if self._control is not None:
            given |= self._controlled(self._control, given)
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

    def _controlled(self, control: Control, given: Mapping[str, Any]) -> dict[str, Any]:
        """What controllers have set, at the end of the next step; they are asked if it is time."""
        stream = self._stream
        if control.due(stream.steps):
            stream.jump(control.sample(stream.steps, stream, stream.motion.schedule.driven))
        both = [name for name in control.owned if name in given]
        refuse(both, "stepper", "inputs", both, "inputs that no controller sets", "leave them out")
        end = stream.t + stream.h
        return {name: control.signals[name](end) for name in control.owned}

    def _check(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs as numbers; an invalid one raises before anything moves."""
        checked_inputs: dict[str, Any] = {}
        for name, value in as_inputs(inputs).items():
            scalar = self._scalar.get(name, False)
            if scalar and isinstance(value, float) and self._lowest[name] < value < math.inf:
                checked_inputs[name] = value
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
            checked_inputs[name] = float(array) if scalar else array
        return checked_inputs

    def __enter__(self) -> Stepper:
        self._collecting = gc.isenabled()
        gc.collect()
        gc.disable()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._collecting:
            gc.enable()


def make_stepper(
    compiled: Problem,
    method: Integrator,
    values: Mapping[str, Any],
    h: float,
    begin: Start,
    control: Control | None = None,
) -> Stepper:
    """Return a stepper of h seconds, after a rehearsal on another stream."""
    _rehearse(Stepper(compiled, compiled.stream(method, values, h, begin), values, ""))
    stream = compiled.stream(method, values, h, begin)
    return Stepper(compiled, stream, values, repr(method), control)


def state_seen(compiled: Problem) -> Callable[[Seen], StepState]:
    """What makes the state that controllers get of a motion under way."""
    return lambda present: StepState(compiled, present, 0, "")


def _rehearse(stepper: Stepper) -> None:
    """Take steps that are discarded, so that the first real one takes no longer than others."""
    for _ in range(3):  # results repeat what they do by programs from the third time on
        state = stepper.step()
        for rod in state.rods:
            state.tip(rod)
            state.velocity(rod, 0.0)
