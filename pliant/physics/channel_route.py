"""The way of a tendon through rods: channels at stations of the strain rule, straight in between."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pliant.engine.program import run
from pliant.model import DescriptionError
from pliant.model.routing import Routed, Stretch
from pliant.physics import channel
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree

_SAME = 1e-9
"""Distance, in lengths of a rod, below which a tendon ends at a knot."""
_FLAT = 1e-9
"""Arm of a moment, in lengths of a rod, below which a formulation need not carry it."""


class Channel:
    """The part of a tendon in one rod: its stations are some of those of the strain rule."""

    def __init__(self, tree: Tree, tendon: Routed, stretch: Stretch) -> None:
        self.tendon, self.stretch = tendon, stretch
        self.i = tree.number_of(stretch.rod)
        self.part = part = tree.parts[self.i]
        self.whole = tendon.whole_length(tree.description)
        self._check_knots()
        s, start, end = part.strain_s, *stretch.over
        inside = np.flatnonzero((s > start) & (s < end))
        self.at = slice(int(inside[0]), int(inside[-1]) + 1)
        """Its stations among those of the strain rule."""
        self.felt = np.any(part.strain_w > 0.0, axis=0).astype(float)
        self.tail = end - float(s[inside[-1]])
        self.rows = self.table(s[self.at], np.max(part.strain_w[self.at], axis=1))
        self._check_moments()
        part.coupled = True

    def table(self, s: Array, w: Array) -> Array:
        """Table (S, 8) of the channel at arclengths s (S,) of the rod, m, with weights w (S,)."""
        route = self.tendon.route(self.stretch, s, self.whole)
        return channel.table(route, s, w, self.stretch.over[0])

    def _check_knots(self) -> None:
        rod, knots = self.part.rod, self.part.map.breaks
        assert rod is not None
        for end in self.stretch.over:
            if np.min(np.abs(knots - end)) > _SAME * rod.length:
                raise DescriptionError(
                    self.tendon.label,
                    "over",
                    self.stretch.over,
                    f"the whole rod {rod.name!r}, for its formulation has no knot at s = {end:g} m",
                    "leave it out, or choose another formulation such as BSpline()",
                )

    def _check_moments(self) -> None:
        """Refuse moments that the formulation of the rod does not feel."""
        rod, P = self.part.rod, self.rows
        assert rod is not None
        twist = P[:, channel.X] * P[:, channel.DY] - P[:, channel.Y] * P[:, channel.DX]
        arms = np.abs(np.stack([P[:, channel.Y], P[:, channel.X], twist])).max(axis=1)
        said = ("without y, for", "without x, for", "a channel that does not wind, for")
        for row, expected in enumerate(said):
            if not self.felt[row] and arms[row] > _FLAT * rod.length:
                does = "does not twist" if row == 2 else "does not bend that way"
                raise DescriptionError(
                    self.tendon.label,
                    "offset",
                    self.tendon.offset,
                    f"{expected} the formulation of rod {rod.name!r} {does}",
                    "choose another offset or formulation, such as BSpline()",
                )

    def within(self, s: Array) -> slice | None:
        """Which of some increasing arclengths s (S,), m, lie in it; None for none of them."""
        start, end = self.stretch.over
        inside = np.flatnonzero((s >= start) & (s <= end))
        return slice(int(inside[0]), int(inside[-1]) + 1) if len(inside) else None

    def strains(self, state: State) -> Array:
        """Strains (S, 6) at its stations."""
        return state.parts[self.i].strain.e[self.at]


class ChannelRoute:
    """The channels of a tendon from base to tip.

    bridges : between two of them the length of the straight piece, m, its direction (3,) and the
    rotation (3, 3) of the second rod, in the tip section of the first.
    """

    def __init__(self, tree: Tree, tendon: Routed) -> None:
        self.channels = [Channel(tree, tendon, part) for part in tendon.stretches(tree.description)]
        pairs = pairwise(self.channels)
        self.bridges = [_bridge(a, b) for a, b in pairs]
        self.straight = sum((bridge[0] for bridge in self.bridges), 0.0)
        """Length of all straight pieces, m."""
        rods = [c.part.rod for c in self.channels]
        self.squeezes = any(rod is not None and rod.theory == "cosserat" for rod in rods)
        """Whether it runs along rods that shear and stretch, see `Term`."""

    def add_length(self, state: State, out: Array) -> None:
        """Add the length at a configuration to out (1,), m."""
        for c in self.channels:
            run(channel.add_length, c.rows, c.strains(state), out)

    def add_stress_at(
        self, i: int, s: Array, e: Array, tension: Array, stress: Array, slope: Array
    ) -> None:
        """Add the stress (S, 6) of a tension (1,) at arclengths s (S,) of part i with strains e (S, 6),
        and to slope (S, 6, 6) its derivative.
        """
        for c in (c for c in self.channels if c.i == i):
            at = c.within(s)
            if at is not None:
                rows, unit = (
                    c.table(s[at], np.ones(at.stop - at.start)),
                    np.ones(at.stop - at.start),
                )
                given = (rows, unit, tension, 1.0, 1.0, np.ones(6), e[at])
                run(channel.add_pull, *given, stress[at], slope[at])

    def length(self, state: State) -> float:
        """Length at a configuration, m."""
        out = np.array([self.straight])
        self.add_length(state, out)
        return float(out[0])


def _bridge(before: Channel, after: Channel) -> tuple[float, Array, Array]:
    """Length of the straight piece between two channels, its direction (3,) and the rotation
    (3, 3) of the second rod, both in the tip section of the first.
    """
    length, way = before.tendon.straight(before.stretch, after.stretch, before.whole)
    return length, way, np.ascontiguousarray(after.stretch.link[:3, :3])
