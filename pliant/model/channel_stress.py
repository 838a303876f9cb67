"""The stress of a tendon in a channel at one section of a rod."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model.breaks import Breaks, join
from pliant.model.checks import Array
from pliant.model.routing import Route, Routed, Stretch


class ChannelStress:
    """The stress of a tendon at one section of a rod, as strong forms integrate it.

    name : of its input.  rod : name of the rod.  over : (s0, s1) on it, metres.  straight : length of
    the straight piece before it, metres.
    """

    def __init__(
        self, tendon: Routed, stretch: Stretch, length: float, straight: float = 0.0
    ) -> None:
        self.name, self.rod, self.over = tendon.name, stretch.rod, stretch.over
        self._straight = straight
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

    @np.errstate(all="ignore")  # a solve that diverges asks at any strain
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

    def told(self, s: Array, strain: Array, w: Array, u: Any, found: dict[str, float]) -> None:
        """Add what results tell of a stretch with knots s (S,), strains (S, 6) and weights w (S,)."""
        route = self._tendon.route(self._stretch, s, self._length)
        r, slope = (np.pad(x, ((0, 0), (0, 1))) for x in (route.r, route.slope))
        t = strain[:, 3:] + np.cross(strain[:, :3], r) + slope
        first = self._straight if s[0] <= self.over[0] + 1e-3 * self._length else 0.0
        length = found.get("length", 0.0) + first + float(w @ np.linalg.norm(t, axis=1))
        found.update(tension=float(u), length=length, slack=0.0)
