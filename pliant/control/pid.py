"""A PID controller with saturation, anti-windup and a filtered derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.signals import Goal, Measure, Reading, bounds_of
from pliant.model import checks


class PID:
    """Sets one input by u = offset + kp e + ki ∫ e dt − kd dy/dt, with the error e = target − y.

    input : name of the input: a torque or force of a joint, a tension, a length, a pressure.
    measured : y, a path such as "crank.joint.angle", "arm.tip.x", "pull.length", or a function of the
    state.  target : a number, a function of time, or a signal.
    every : seconds between samples.  kp, ki, kd : gains, unit of the input per unit of y, per second,
    and times seconds.
    rate : dy/dt as a path such as "crank.joint_rate.angle"; None for differences between samples.
    bounds : (lowest, highest) value of the input. While it is at a bound the integral does not grow
    further that way.
    filter : time constant of a first-order filter of the derivative, seconds.
    offset : of the input, such as what holds the weight.

    The derivative is that of y, not of e, so that a jump of the target makes no blow. The integral is
    ki times the sum of e times `every`, the present error included.
    """

    def __init__(
        self,
        input: str,
        measured: Measure,
        target: Any,
        every: float,
        kp: float,
        ki: float = 0.0,
        kd: float = 0.0,
        rate: Measure | None = None,
        bounds: Any = None,
        filter: float = 0.0,
        offset: float = 0.0,
    ) -> None:
        self._who = who = f"PID of {input!r}"
        self.input, self.measured, self.target = input, Reading(who, measured), Goal(who, target)
        self.every = checks.positive(who, "every", every, "seconds", "give e.g. 0.01")
        gains = (("kp", kp), ("ki", ki), ("kd", kd), ("offset", offset))
        self.kp, self.ki, self.kd, self.offset = (
            checks.number(who, field, value, "", "give e.g. 1.0") for field, value in gains
        )
        self.rate = None if rate is None else Reading(who, rate)
        self.filter = checks.number(who, "filter", filter, "seconds", "give e.g. 0.01", "zero")
        self.bounds = bounds_of(who, bounds, 1)[0]
        self.reset()

    def reset(self) -> None:
        """Forget all errors and measurements."""
        self.integral, self._slope, self._last = 0.0, 0.0, float("nan")

    def __call__(self, state: Any) -> dict[str, float]:
        """Return the input for the state of the robot at a sample."""
        y = self.measured(state)
        error = checks.number(self._who, "target", self.target(state.t), "", "give e.g. 0.1") - y
        slope = self._derivative(y, state)
        added = self.ki * error * self.every
        wished = self.offset + self.kp * error + self.integral + added - self.kd * slope
        value = float(np.clip(wished, *self.bounds))
        if (wished - value) * added <= 0.0:  # not further beyond a bound
            self.integral += added
        return {self.input: value}

    def _derivative(self, y: float, state: Any) -> float:
        """dy/dt, filtered."""
        known = np.isfinite(self._last)
        if self.rate is not None:
            fresh = self.rate(state)
        else:
            fresh = (y - self._last) / self.every if known else 0.0
        share = self.every / (self.filter + self.every) if known else 1.0
        self._slope += share * (fresh - self._slope)
        self._last = y
        return self._slope

    def state(self) -> list[float | None]:
        """Return what it remembers: integral, derivative and last measurement."""
        return [self.integral, self._slope, self._last if np.isfinite(self._last) else None]

    def restore(self, state: Any) -> None:
        """Take back what `state` returned."""
        self.integral, self._slope = state[:2]
        self._last = float("nan") if state[2] is None else state[2]
