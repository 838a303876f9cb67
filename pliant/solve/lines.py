"""Pressure lines of strong forms: from the pressure that is asked for to the pressure in a chamber."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.model import PressureLine
from pliant.rods.contract import Array

Asked = Callable[[float], float | Array]
Measure = Callable[[str, Any], float]
"""What a line depends on, by name of its input, in a configuration of its robot: a volume, m^3."""


class LineState:
    """The pressure behind one line as time goes on; call it with a time to get it, Pa.

    It starts settled at the pressure that is asked for. Within a step the volume of the chamber is
    extrapolated from the last one; once the step is taken, `passed` goes over it again with the volume
    that was found, so that no gas is lost. volume : of the chamber in a configuration, m^3.
    """

    def __init__(self, line: PressureLine, asked: Asked, volume: Callable[[Any], float]) -> None:
        self.line = line
        self.asked = asked
        self._volume = volume
        self.t = self._earlier = 0.0
        self.pressure = self._before = float(asked(0.0))

    def begin(self, q: Any) -> None:
        """Start at t = 0 in configuration q of the robot."""
        self.t = self._earlier = 0.0
        self.pressure = self._before = float(self.asked(0.0))
        self.volume = self._volume(q)
        self._rate = 0.0

    def __call__(self, t: float) -> float:
        """Return the gauge pressure at a time in the last step or the next one, s, Pa."""
        h = t - self.t
        if h > 0.0:
            return self._after(h, max(self.volume + h * self._rate, 0.1 * self.volume))
        whole = self.t - self._earlier
        part = max(0.0, 1.0 + h / whole) if whole > 0.0 else 1.0
        return (1.0 - part) * self._before + part * self.pressure

    def passed(self, t: float, q: Any) -> None:
        """Take over time t and configuration q at the end of a step."""
        h = t - self.t
        volume = self._volume(q)
        self._earlier, self._before = self.t, self.pressure
        self.pressure = self._after(h, volume)
        self._rate = (volume - self.volume) / h
        self.t, self.volume = t, volume

    def _after(self, h: float, volume: float) -> float:
        asked = (float(self.asked(self.t)), float(self.asked(self.t + h)))
        return self.line.step(h, self.pressure, asked, (self.volume, volume))
