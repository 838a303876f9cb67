"""The stress of a tendon in a channel at one section of a rod."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model.breaks import Breaks, join
from pliant.model.checks import Array
from pliant.model.routing import Route, Routed, Stretch


class ChannelStress:
    """The stress of a tendon at one section of a rod, as strong forms integrate it.

    name : of its input.  rod : name of the rod.
    """

    def __init__(self, tendon: Routed, stretch: Stretch, length: float) -> None:
        self.name, self.rod = tendon.name, stretch.rod
        self._tendon, self._stretch, self._length = tendon, stretch, length
        self._routes: dict[float, Route] = {}

    def breaks(self, length: float) -> Breaks:
        """Return where it jumps or peaks on its rod of some length, metres."""
        start = self._stretch.start
        every = self._tendon.breaks_along(self._length).places
        inside = tuple(s - start for s in every if 0.0 < s - start < length)
        return join([Breaks(inside)], length, self._tendon.least_gap)

    def line_wrench(
        self, s: float, g: Array, strain: Array, twist: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Return no wrench (6,) per metre: all of it is stress."""
        return np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))

    def stress(
        self, s: float, strain: Array, strain_rate: Array, u: Any
    ) -> tuple[Array, Array, Array]:
        """Return T (r x t, t) / |t| (6,) at s (m) with its derivatives (6, 6) in strain and rate."""
        start, end = self._stretch.over
        tension = float(u or 0.0) * (start <= s <= end)
        if s not in self._routes:
            self._routes[s] = self._tendon.route(self._stretch, np.array([s]), self._length)
        (x, y), slope = self._routes[s].r[0], self._routes[s].slope[0]
        A = np.zeros((3, 6))
        A[:, :3] = [[0.0, 0.0, -y], [0.0, 0.0, x], [y, -x, 0.0]]
        A[:, 3:] = np.eye(3)
        t = A @ strain + (*slope, 0.0)
        size = float(np.linalg.norm(t))
        gradient = A.T @ t / size
        second = (A.T @ A - np.outer(gradient, gradient)) / size
        return tension * gradient, tension * second, np.zeros((6, 6))
