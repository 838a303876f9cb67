"""One step at a time with inputs that become known as it is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pliant.model import Array, PliantError, Signal
from pliant.solve.dynamics import Steps

Acting: TypeAlias = Callable[[], tuple[dict[str, Any], Array]]
"""Gives the value of every input at one instant, by name, and rates and accelerations (K, 2) of the
inputs of base motions."""


class Held(Signal):
    """An input that is told its value at the end of each step; in between it goes straight.

    Its rate is that of the step, its acceleration the change of that rate.
    """

    def __init__(self, value: Any) -> None:
        self.before = self.after = value if np.ndim(value) == 0 else np.asarray(value, dtype=float)
        self.start, self.h = 0.0, 1.0
        self._rate: Any = 0.0
        self._bend: Any = 0.0

    def put(self, value: Any, start: float, h: float) -> None:
        """Go to `value` in the step that begins at `start` and takes h seconds."""
        self.after, self.start, self.h = value, start, h

    def accept(self) -> None:
        """The step was taken."""
        slope = self._slope()
        self._bend, self._rate = (slope - self._rate) / self.h, slope
        self.before = self.after

    def cancel(self) -> None:
        """The step was not taken."""
        self.after = self.before

    def __call__(self, t: float) -> Any:
        """Return the value at time t within the last step, s."""
        part = (t - self.start) / self.h
        if part >= 1.0 - 1e-9:
            return self.after
        if part <= 0.0:
            return self.before
        return (1.0 - part) * self.before + part * self.after

    def rate(self, t: float) -> float:
        """Return the slope of the step, per second."""
        return float(self._slope())

    def acceleration(self, t: float) -> float:
        """Return the change of the slope since the step before, per second squared."""
        return float((self._slope() - self._rate) / self.h)

    def last(self) -> tuple[Any, Any]:
        """Return rate and acceleration in the last step that was taken, per second and its square."""
        return self._rate, self._bend

    def _slope(self) -> Any:
        return (self.after - self.before) / self.h


class Stream:
    """A motion under way, one step of h seconds at a time, with inputs that are `Held`."""

    def __init__(self, motion: Steps, held: dict[str, Held]) -> None:
        self.motion, self.held, self.h = motion, held, motion.h
        self.steps = 0
        motion.start()
        self._quick = motion.quick_step()

    @property
    def t(self) -> float:
        """Time reached, s."""
        return self.steps * self.h

    @property
    def iterations(self) -> int:
        """Newton iterations since the start."""
        return self.motion.iterations

    def advance(self, values: dict[str, Any]) -> None:
        """Take one step to the given input values, those that changed, by name.

        Raises ConvergenceError and stays where it was, inputs included, if that does not converge.
        """
        if self._quick is None:
            self._advance(values)
        else:
            self._quick(values)
            for name, value in values.items():
                self.held[name].after = value
        self.steps += 1

    def _advance(self, values: dict[str, Any]) -> None:
        """Take one step with inputs that are functions of time."""
        start, end = self.t, (self.steps + 1) * self.h
        for name, held in self.held.items():
            held.put(values.get(name, held.after), start, self.h)
        try:
            self.motion.take(np.array([start, end]), np.ones(1, dtype=np.bool_))
        except PliantError:
            for held in self.held.values():
                held.cancel()
            raise
        for held in self.held.values():
            held.accept()

    def jump(self, values: dict[str, Any]) -> None:
        """Let inputs, by name, have new values from now on."""
        for name, value in values.items():
            self.held[name].before = self.held[name].after = value
        self.motion.jump(values)

    def snapshot(self) -> tuple[Any, Any, Array]:
        """Configuration, rates and account (2,) of work and loss, J, as they are now, to keep."""
        return *self.motion.now(), self.motion.account.copy()

    def acting(self) -> Acting:
        """The inputs as they are now, to keep; behind a pressure line, what is in the chamber."""
        schedule, acted = self.motion.schedule, self.motion.acted.copy()
        asked = {name: held.after for name, held in self.held.items()}
        rates = [self.held[name].last() for name in schedule.driven]

        def now() -> tuple[dict[str, Any], Array]:
            values = {name: np.array(value, dtype=float) for name, value in asked.items()}
            return {**values, **schedule.fed(acted)}, np.array(rates, dtype=float).reshape(-1, 2)

        return now
