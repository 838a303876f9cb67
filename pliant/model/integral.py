"""Inputs given by their rate or their acceleration over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.model.checks import DescriptionError, as_float
from pliant.model.fields import holds, quantity
from pliant.model.registry import OneOf
from pliant.model.signals import Signal, as_signal

_PANEL = 0.05
"""Length of the pieces whose integrals are kept, s."""
_TOLERANCE, _HALVINGS = 1e-11, 30
"""Error of a piece relative to the largest value met, and most halvings in it; a jump needs many."""
_NODES, _WEIGHTS = (x.tolist() for x in np.polynomial.legendre.leggauss(7))


@dataclass(frozen=True, eq=False)
class Integral(Signal):
    """``initial`` plus the integral of another signal from t = 0 on: a motion given by its velocity.

    ``Integral(Integral(a, v0), x0)`` is a motion given by its acceleration a with velocity v0 and
    position x0 at t = 0. Derivatives are those of the signal, not differences.

    of : a signal, a number or a function of time in seconds.  initial : value at t = 0.
    """

    of: Signal | Callable[[float], float] | float = holds(
        OneOf("what is integrated", "", "{sine: {amplitude: 1.0, frequency: 1.0}}", (Signal,))
    )
    initial: float = quantity("", "value at t = 0", default=0.0)

    def __post_init__(self) -> None:
        if callable(self.of) or as_float(self.of) is not None:
            self._set("of", as_signal(self.of))
        super().__post_init__()

    @cached_property
    def _ends(self) -> list[float]:
        """Integrals from 0 to the ends of all pieces so far."""
        return [0.0]

    def __call__(self, t: float) -> float:
        ends, count = self._ends, int(t / _PANEL) if t > 0.0 else 0
        while len(ends) <= count:
            k = len(ends)
            ends.append(ends[-1] + _integral(self.of, (k - 1) * _PANEL, k * _PANEL))
        return self.initial + ends[count] + _integral(self.of, count * _PANEL, t)

    def rate(self, t: float) -> float:
        """Return the signal that is integrated."""
        return float(self.of(t))  # type: ignore[operator]

    def acceleration(self, t: float) -> float:
        """Return the rate of the signal that is integrated."""
        return as_signal(self.of).rate(t)  # type: ignore[arg-type]


def _rule(function: Any, a: float, b: float) -> tuple[float, float]:
    """Gauss's rule from a to b, and the largest value that it met."""
    middle, half = 0.5 * (a + b), 0.5 * (b - a)
    values = [_value(function, middle + half * x) for x in _NODES]
    return half * sum(w * f for w, f in zip(_WEIGHTS, values, strict=True)), max(map(abs, values))


def _value(function: Any, t: float) -> float:
    """A function of time, s; refuses what is no finite number."""
    given = function(t)
    found = as_float(given)
    if found is None or not np.isfinite(found):
        where = f"of at t = {t:.6g} s"
        raise DescriptionError("Integral", where, given, "a finite number", "correct the function")
    return found


def _integral(function: Any, a: float, b: float) -> float:
    """Integral of a function of time from a to b, halved where it is not smooth."""
    if a == b:
        return 0.0
    whole, size = _rule(function, a, b)
    return _refined(function, a, b, whole, _TOLERANCE * size * abs(b - a), _HALVINGS)


def _refined(
    function: Any, a: float, b: float, whole: float, allowed: float, halvings: int
) -> float:
    middle = 0.5 * (a + b)
    left, right = _rule(function, a, middle)[0], _rule(function, middle, b)[0]
    if abs(left + right - whole) <= allowed or not halvings:
        return left + right
    rest = halvings - 1
    return _refined(function, a, middle, left, allowed, rest) + _refined(
        function, middle, b, right, allowed, rest
    )
