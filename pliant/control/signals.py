"""What controllers measure and what they are to reach, by name or by function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


def inputs_of(who: str, given: Sequence[str] | str, values: Mapping[str, Any]) -> list[str]:
    """Names of the inputs that a controller sets, each of one number; values : of all, by name."""
    names = [given] if isinstance(given, str) else list(given)
    checks.refuse(not names, who, "inputs", given, "at least one name", "give e.g. ['pull']")
    for name in names:
        checks.known_name(who, "inputs", name, values, "an input of this robot")
        checks.refuse(np.ndim(values[name]) > 0, who, f"input {name!r}", values[name],
                      "of one number", "give a force along one direction")  # fmt: skip
    return names


def axes_of(who: str, given: str) -> list[int]:
    """Numbers of world axes such as "xz", each once."""
    numbers = ["xyz".index(checks.choice(who, "axes", x, "xyz")) for x in given]
    wrong = not numbers or len({*numbers}) < len(numbers)
    checks.refuse(wrong, who, "axes", given, "some of x, y, z, each once", "give e.g. 'xz'")
    return numbers


def bounds_of(who: str, given: Any, count: int) -> Array:
    """Bounds (count, 2) of inputs from a pair, or one for each; infinite where there are none."""
    if given is None:
        return np.tile([-np.inf, np.inf], (count, 1))
    expected, ends = "a pair (lowest, highest), or one for each input", (-np.inf, np.inf)
    try:
        one = given[0] is None or np.ndim(given[0]) == 0
        rows = [[e if x is None else x for x, e in zip(pair, ends, strict=True)]
                for pair in ([given] if one else given)]  # fmt: skip
        pairs = np.array(rows, dtype=float)
    except (TypeError, ValueError, IndexError):
        pairs = np.zeros((0, 2))
    good = pairs.shape in ((1, 2), (count, 2)) and bool((pairs[:, 0] < pairs[:, 1]).all())
    checks.refuse(not good, who, "bounds", given, expected, "give e.g. (0.0, 5.0)")
    return np.broadcast_to(pairs, (count, 2))
