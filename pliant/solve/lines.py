"""Pressure lines in time: from the pressure that is asked for to the pressure in a chamber."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.model import PressureLine
from pliant.rods.contract import Array
from pliant.system.block import Level
from pliant.system.system import System

Asked = Callable[[float], float | Array]


class LineState:
    """The pressure behind one line as time goes on; call it with a time to get it, Pa.

    It starts settled at the pressure that is asked for. Within a step the volume of the chamber is
    extrapolated from the last one; once the step is taken, `passed` goes over it again with the volume
    that was found, so that no gas is lost.
    """

    def __init__(self, system: System, name: str, line: PressureLine, asked: Asked) -> None:
        self.line = line
        self.asked = asked
        self._stations = system.chambers[name]
        self._level = Level(self._stations.block)
        self.begin(system.q_rest)

    def begin(self, q: Array) -> None:
        """Start at t = 0 in configuration q (nq,) of the robot."""
        self.t = 0.0
        self.pressure = float(self.asked(0.0))
        self.volume = self._volume(q)
        self._rate = 0.0

    def __call__(self, t: float) -> float:
        """Return the gauge pressure at a time from the last step on, s, Pa."""
        h = t - self.t
        if h <= 0.0:
            return self.pressure
        return self._after(h, max(self.volume + h * self._rate, 0.1 * self.volume))

    def passed(self, t: float, q: Array) -> None:
        """Take over time t and configuration q (nq,) at the end of a step."""
        h = t - self.t
        volume = self._volume(q)
        self.pressure = self._after(h, volume)
        self._rate = (volume - self.volume) / h
        self.t, self.volume = t, volume

    def _after(self, h: float, volume: float) -> float:
        asked = (float(self.asked(self.t)), float(self.asked(self.t + h)))
        return self.line.step(h, self.pressure, asked, (self.volume, volume))

    def _volume(self, q: Array) -> float:
        block, level = self._stations.block, self._level
        block.map.update(level.c, np.eye(4), q[block.q_slice])
        block.map.strain(level.strain, level.c)
        block.map.strain(level.inner, level.c)
        return self._stations.volume(level)
