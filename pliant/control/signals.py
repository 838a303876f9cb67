"""What controllers measure and what they are to reach, by name or by function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.model import Array, Description, as_signal, checks
from pliant.model.signals import ACCELERATION, RATE, difference
from pliant.study.outputs import Probe, probes

Measure = str | Callable[[Any], float]
"""A path such as "crank.joint.angle", "arm.tip.x", "pull.length", or a function of the state."""


class Reading:
    """A number that a controller reads off states of one robot."""

    def __init__(self, who: str, measure: Measure) -> None:
        expected = "a path such as 'crank.joint.angle' or 'arm.tip.x', or a function of the state"
        wrong = not isinstance(measure, str) and not callable(measure)
        checks.refuse(wrong, who, "measured", measure, expected, "give e.g. 'arm.tip.x'")
        self.who, self.measure = who, measure
        self._known: tuple[Description, Probe] | None = None

    def __call__(self, state: Any) -> float:
        if callable(self.measure):
            return checks.number(self.who, "measured", self.measure(state), "", "return a number")
        description = state._compiled.description
        if self._known is None or self._known[0] is not description:
            found = probes(description, [self.measure])
            one = "one component"
            checks.refuse(
                len(found) != 1, self.who, "measured", self.measure, one, "give e.g. 'arm.tip.x'"
            )
            self._known = (description, found[0])
        return float(np.ravel(self._known[1].ask(state, description))[0])


class Goal:
    """A number or a vector to reach, constant or a function of time, with its derivatives."""

    def __init__(self, who: str, target: Any) -> None:
        self.who, self.target = who, target
        self._signal = as_signal(target) if callable(target) else None

    def __call__(self, t: float) -> Array:
        value = self.target(t) if callable(self.target) else self.target
        return checks.finite_array(self.who, "target", value, "finite numbers", "give e.g. 0.1")

    def motion(self, t: float) -> tuple[Array, Array, Array]:
        """Value, rate (1/s) and acceleration (1/s^2) at time t."""
        value = self(t)
        if self._signal is None:
            return value, np.zeros_like(value), np.zeros_like(value)
        if value.ndim == 0:
            rates = self._signal.rate(t), self._signal.acceleration(t)
            return value, np.array(rates[0]), np.array(rates[1])
        parts = [lambda time, k=k: float(self(time)[k]) for k in range(value.size)]
        rate, bend = ([difference(x, t, rule) for x in parts] for rule in (RATE, ACCELERATION))
        return value, np.array(rate), np.array(bend)


def bounds_of(who: str, given: Any, count: int) -> Array:
    """Bounds (count, 2) of inputs from a pair, or one for each; infinite where there are none."""
    if given is None:
        return np.tile([-np.inf, np.inf], (count, 1))
    listed = [given] if np.ndim(given[0] if given[0] is not None else 0.0) == 0 else list(given)
    ends = (-np.inf, np.inf)
    pairs = np.array(
        [[end if x is None else x for x, end in zip(pair, ends, strict=True)] for pair in listed],
        dtype=float,
    )
    good = pairs.shape in ((1, 2), (count, 2)) and bool((pairs[:, 0] < pairs[:, 1]).all())
    expected = "a pair (lowest, highest), or one for each input"
    checks.refuse(not good, who, "bounds", given, expected, "give e.g. (0.0, 5.0)")
    return np.broadcast_to(pairs, (count, 2))
