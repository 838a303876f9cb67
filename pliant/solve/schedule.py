"""Inputs over time: values, functions and signals by name, as loadings of a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from pliant.model import Description, DescriptionError, Signal, as_signal
from pliant.model.checks import as_array, as_float
from pliant.model.registry import Entry
from pliant.physics.effects import Effects, Inputs as Acting, check_inputs
from pliant.rods.contract import Array


def check_values(description: Description, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the value of every input for statics, the described ones included."""
    known = description.inputs()
    given = as_inputs(inputs)
    check_inputs(known, given)
    for name, value in given.items():
        if callable(value):
            raise DescriptionError(
                f"input {name!r}",
                "value",
                value,
                "a number, 3 numbers (force) or 6 (moment, force) where there is no time",
                "give its value at one instant, e.g. signal(0.0)",
            )
        _check_value(description.input_owner(name), name, "value", value)
    return {**known, **given}


class _Once:
    """A function of time that is not called again for the instant of its last call.

    A controller with a memory moves on with each call.
    """

    def __init__(self, function: Callable[[float], Any]) -> None:
        self._function, self._t, self._value = function, np.nan, None

    def __call__(self, t: float) -> Any:
        if t != self._t:
            self._value = self._function(t)
            self._t = t
        return self._value


class Inputs:
    """The inputs of one simulation as they are asked for: numbers, and what moves in time.

    driven : names of those that prescribe motions.  places : of those that lag behind what is asked
    for, in the numbers u (J,) of what acts.
    """

    def __init__(
        self,
        description: Description,
        inputs: Mapping[str, Any] | None,
        driven: list[str],
        places: dict[str, int],
    ) -> None:
        self.description = description
        self._owners = {name: description.input_owner(name) for name in description.inputs()}
        given = as_inputs(inputs)
        check_inputs(description.inputs(), given)
        self.values: dict[str, Any] = {**description.inputs(), **given}
        self.moving: dict[str, Callable[[float], Any]] = {
            name: value if isinstance(value, Signal) else _Once(value)
            for name, value in given.items()
            if callable(value)
        }
        for name, value in given.items():
            if name not in self.moving:
                _check_value(description.input_owner(name), name, "value", value)
        self.shapes = {name: self._value(name, 0.0).shape for name in self.moving}
        self.driven, self.places = driven, places
        self._drives = {
            driven.index(name): (name, as_signal(value))
            for name, value in given.items()
            if name in driven and callable(value)
        }

    def values_at(self, t: float) -> dict[str, Any]:
        """Return the value of every input at time t, s; the same object where nothing moves."""
        if not self.moving:
            return self.values
        return {**self.values, **{name: self._value(name, t) for name in self.moving}}

    def _value(self, name: str, t: float) -> Array:
        field = f"value at t = {t:.6g} s"
        found = _check_value(self._owners[name], name, field, self.moving[name](t))
        shapes = getattr(self, "shapes", {})
        if found.shape != shapes.get(name, found.shape):
            raise DescriptionError(
                f"input {name!r}",
                field,
                found,
                f"of the same shape {shapes[name]} as at t = 0",
                "return a number, 3 or 6 numbers, but always the same of them",
            )
        return found

    def asked(self, times: Array) -> dict[str, Array]:
        """What is asked of the inputs that move, (T, ...) by name, at times (T,)."""
        asked = {}
        for name, given in self.moving.items():
            shape, line = (len(times), *self.shapes[name]), self._owners[name].input_line()
            try:
                if isinstance(given, Signal):
                    values = np.asarray(given.over(times), dtype=float)
                else:
                    values = np.array([given(t) for t in times.tolist()], dtype=float)
            except (TypeError, ValueError):
                values = np.full(1, np.nan)
            low = -np.inf if line is None else line.lowest
            if values.shape != shape or not np.isfinite(values).all() or values.min() < low:
                # one by one: the error then names the time
                values = np.array([self._value(name, t) for t in times.tolist()], dtype=float)
            asked[name] = values
        return asked

    def acted(self, times: Array, u: Array) -> dict[str, Array]:
        """Values of all inputs, (T, ...) by name, at times (T,) when their numbers were u (T, J)."""
        values = {
            name: np.broadcast_to(np.asarray(value, dtype=float), (len(times), *np.shape(value)))
            for name, value in self.values.items()
            if name not in self.moving
        }
        values.update(self.asked(times))
        values.update({name: u[:, place] for name, place in self.places.items()})
        return {name: values[name] for name in self.values}

    def fed(self, u: Array) -> dict[str, Array]:
        """Values of the inputs that lag behind what is asked for, from the numbers u (J,) that act."""
        return {name: np.array(u[place]) for name, place in self.places.items()}

    def drives(self, still: Array, times: Array) -> Array:
        """Inputs of the prescribed joints with rates and accelerations (T, K, 3) at times (T,), those
        that do not move as they are in `still` (K, 3).
        """
        found = np.repeat(still[None], len(times), axis=0)
        for k, (name, signal) in self._drives.items():
            found[:, k] = self._drives_of(name, signal, times)
        return found

    def _drives_of(self, name: str, signal: Signal, times: Array) -> Array:
        """Values, rates and accelerations (T, 3) of one input."""
        if isinstance(self.moving[name], Signal) and not _is_choosy(self._owners[name]):
            try:
                found = signal.motion_over(times)
            except (TypeError, ValueError):
                found = np.full((1, 3), np.nan)
            if found.shape == (len(times), 3) and np.isfinite(found).all():
                return found
        # one by one: errors name the time
        rows = [self._drive(name, signal, t) for t in times.tolist()]
        return np.array(rows, dtype=float).reshape(-1, 3)

    def _drive(self, name: str, signal: Signal, t: float) -> list[Array]:
        found = [self._value(name, t)]
        for order, derivative in ((1, signal.rate), (2, signal.acceleration)):
            field = f"{'first' if order == 1 else 'second'} derivative at t = {t:.6g} s"
            found.append(_check_value(self._owners[name], name, field, derivative(t)))
        return found

    def drive_rates(self, times: Array) -> Array:
        """Rates and accelerations (T, K, 2) of the inputs of prescribed joints at times (T,)."""
        return self.drives(np.zeros((len(self.driven), 3)), times)[:, :, 1:]


class Schedule(Inputs):
    """The inputs of one simulation of a robot as they are asked for; `at(t)` gives their numbers."""

    def __init__(self, effects: Effects, inputs: Mapping[str, Any] | None) -> None:
        fed = [term for term in effects.terms if term.memory and term.input is not None]
        places = {str(term.input): term.at.start for term in fed}
        super().__init__(effects.tree.description, inputs, effects.prescribed.names, places)
        self.effects = effects
        self.changing = [name for name in self.moving if name not in self.driven]
        """Names of the inputs that move, but for those that prescribe motions."""
        self._acting: tuple[list[bytes], Acting] | None = None

    def at(self, t: float) -> Acting:
        """Return what acts at time t, s; the same object as before if nothing changed."""
        acting = self._still_at(t)
        if not self._drives:
            return acting
        return Acting(acting.u, self.drives(acting.drive, np.array([t]))[0])

    def _still_at(self, t: float) -> Acting:
        """What acts at time t, with prescribed joints as if their inputs were zero."""
        now = {name: self._value(name, t) for name in self.changing}
        key = [value.tobytes() for value in now.values()]
        if self._acting is None or self._acting[0] != key:
            still = {name: 0.0 for name, _ in self._drives.values()}
            self._acting = (key, self.effects.at({**self.values, **still, **now}))
        return self._acting[1]

    def of(self, effects: Effects) -> Schedule:
        """The same inputs for the same robot compiled anew; functions are not called again for that."""
        other = copy(self)
        vars(other).pop("channels", None)
        other.effects, other._acting = effects, None
        return other

    @cached_property
    def channels(self) -> tuple[Array, Array, dict[str, slice]] | None:
        """How what is asked (C,) becomes a row (W,) of `rows`: asked @ units + base.

        Returns base (W,), units (C, W) and by name where in `asked` an input stands. None if joints are
        prescribed, or if a load along one direction cannot be carried, though what is asked may.
        """
        if self._drives:
            return None
        effects, columns = self.effects, {}
        units: list[Array] = []
        still = {**self.values, **{name: np.zeros(self.shapes[name]) for name in self.changing}}
        base = effects.numbers(still)
        try:
            for name in self.changing:
                shape = self.shapes[name]
                alone = np.eye(int(np.prod(shape)))
                columns[name] = slice(len(units), len(units) + len(alone))
                units += [effects.numbers({**still, name: x.reshape(shape)}) - base for x in alone]
        except DescriptionError:
            return None
        joints = effects.prescribed.row(effects.at(still).drive)
        table = np.zeros((len(units), len(base) + len(joints)))
        table[:, : len(base)] = np.reshape(units, (len(units), len(base)))
        return np.concatenate([base, joints]), table, columns

    def numbers(self, times: Array) -> Array:
        """What is asked (T, C) of all that moves at times (T,), one input after the other."""
        asked = [x.reshape(len(times), -1) for x in self.asked(times).values()]
        return np.concatenate([np.zeros((len(times), 0)), *asked], axis=1)

    def rows(self, times: Array) -> Array:
        """Inputs (T, W) at times (T,): numbers u (J,), then what prescribed joints do."""
        if self.channels is None:
            acting = [self._still_at(t) for t in times.tolist()]
            drives = self.drives(acting[0].drive, times)
            u = np.array([now.u for now in acting]).reshape(len(times), -1)
            return np.concatenate([u, self.effects.prescribed.rows(drives)], axis=1)
        base, units, _ = self.channels
        return base + self.numbers(times) @ units


def as_inputs(inputs: object) -> Mapping[str, Any]:
    """Return inputs by name; refuse what is not a dict."""
    if inputs is None:
        return {}
    if not isinstance(inputs, Mapping):
        raise DescriptionError(
            "robot", "inputs", inputs, "a dict of values by name", "give e.g. {'push': 0.5}"
        )
    return inputs


def _is_choosy(owner: Entry) -> bool:
    """Whether an input must be more than a finite number."""
    return type(owner).check_input is not Entry.check_input or owner.input_line() is not None


def check_input(description: Description, name: str, value: object) -> Array:
    """Return the value of an input as an array, or refuse it."""
    return _check_value(description.input_owner(name), name, "value", value)


def _check_value(owner: Entry, name: str, field: str, value: object) -> Array:
    """Return an input value as an array, of a size and value that its owner takes."""
    scalar = as_float(value)
    found = np.array(scalar) if scalar is not None else as_array(value)
    shapes = [() if size == 1 else (size,) for size in owner.input_sizes]
    if found is None or found.shape not in shapes or not np.isfinite(found).all():
        raise DescriptionError(
            f"input {name!r}", field, value, owner.input_expected, owner.input_remedy
        )
    owner.check_input(f"input {name!r}", field, found)
    return found
