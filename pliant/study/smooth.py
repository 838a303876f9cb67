"""Columns of a measurement as smooth functions of time."""

from __future__ import annotations

from scipy.interpolate import CubicSpline

from pliant.model import Array, Signal


class SmoothTable(Signal):
    """A cubic spline through values (N,) at times t (N,), s, at rest before and after them.

    A base has a velocity and an acceleration, which the corners of a table do not.
    """

    def __init__(self, t: Array, values: Array) -> None:
        self._ends = float(t[0]), float(t[-1])
        self._values = CubicSpline(t, values)
        self._rates = self._values.derivative()
        self._accelerations = self._values.derivative(2)

    def __call__(self, t: float) -> float:
        """Return the value at time ``t``, s."""
        return float(self._values(min(max(t, self._ends[0]), self._ends[1])))

    def rate(self, t: float) -> float:
        """Return the first derivative at time ``t``, per second."""
        return float(self._rates(t)) if self._ends[0] <= t <= self._ends[1] else 0.0

    def acceleration(self, t: float) -> float:
        """Return the second derivative at time ``t``, per second squared."""
        return float(self._accelerations(t)) if self._ends[0] <= t <= self._ends[1] else 0.0
