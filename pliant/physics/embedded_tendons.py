"""Tendons embedded in rods, driven by their tension: the potential T times the length of the channel.

The stress at a section is T (r x t, t) / |t|, see `channel`; forces at the ends and along the rod are
what the strains make of it. With friction mu the tension falls along the tendon, away from the end at
which it is pulled, as T exp(-mu angle), angle being that by which the tendon has turned. That has no
potential, and its derivative in the strains is left out of the tangent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.model import DescriptionError, EmbeddedTendon
from pliant.model.embedded_tendon import Stretch
from pliant.physics import channel
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree

_SAME = 1e-9
"""Distance, in lengths of a rod, below which a tendon ends at a knot."""
_FLAT = 1e-9
"""Arm of a moment, in lengths of a rod, below which a formulation need not carry it."""


class Channel:
    """The part of a tendon in one rod: its stations are some of those of the strain rule."""

    def __init__(self, tree: Tree, tendon: EmbeddedTendon, stretch: Stretch) -> None:
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

    def strains(self, state: State) -> Array:
        """Strains (S, 6) at its stations."""
        return state.parts[self.i].strain.e[self.at]


class EmbeddedTension(KernelTerm):
    """A tendon along one rod or several; its input is the tension in N."""

    compiled = True
    size = 1

    def __init__(self, tree: Tree, tendon: EmbeddedTendon) -> None:
        self.tendon = tendon
        self.input = self.name = tendon.name
        self.channels = [Channel(tree, tendon, part) for part in tendon.stretches(tree.description)]
        self.links = [
            self._link(a, b) for a, b in zip(self.channels, self.channels[1:], strict=False)
        ]
        """Between the channels of two rods, the length of the straight piece, m, and the rotations
        that make of tangents before it, along it and after it common ones."""

    def _link(self, before: Channel, after: Channel) -> tuple[float, Array, Array]:
        """Length of the straight piece between two channels, its direction (3,) and the rotation
        (3, 3) of the second rod, both in the tip section of the first.
        """
        ends = [np.array([c.stretch.over[k]]) for c, k in ((before, 1), (after, 0))]
        r = [
            np.append(c.tendon.route(c.stretch, s, c.whole).r[0], 0.0)
            for c, s in zip((before, after), ends, strict=True)
        ]
        link = after.stretch.link
        straight = link[:3, :3] @ r[1] + link[:3, 3] - r[0]
        return float(np.linalg.norm(straight)), straight, np.ascontiguousarray(link[:3, :3])

    def close(self, tree: Tree) -> None:
        self.rest_length = self.measure(tree.rest)
        self._unit = [np.ones(len(c.rows)) for c in self.channels]

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def conservative(self, u: Array) -> bool:
        return self.tendon.friction == 0.0 or not self.active(u)

    # -- tension along it --------------------------------------------------------------------

    def _shares(self, strains: list[Array]) -> list[Array]:
        """Per channel, the part (S,) of the tension that arrives at its stations."""
        mu = self.tendon.friction
        if mu == 0.0:
            return self._unit
        angle, shares = np.zeros(1), [np.zeros(len(c.rows)) for c in self.channels]
        clear(angle)
        for k, (c, e, share) in enumerate(zip(self.channels, strains, shares, strict=True)):
            if k:
                self._turn(k - 1, strains, angle)
            run(channel.set_shares, c.rows, c.tail, mu, e, angle, share)
        return shares

    def _turn(self, k: int, strains: list[Array], angle: Array) -> None:
        """Add the angles at both ends of the straight piece after channel k."""
        length, straight, turn = self.links[k]
        P, Q = self.channels[k].rows[-1], self.channels[k + 1].rows[0]
        e, f, one = strains[k][-1], strains[k + 1][0], np.eye(3)
        if length <= _SAME * self.channels[k].whole:
            run(channel.add_kink, P, e, one, Q, f, turn, angle)
            return
        # a straight line is a channel without offset along strains whose v is its direction
        line, ahead = np.zeros(8), np.concatenate([np.zeros(3), straight])
        run(channel.add_kink, P, e, one, line, ahead, one, angle)
        run(channel.add_kink, line, ahead, one, Q, f, turn, angle)

    # -- what acts ---------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        slope = 0.0 if m.tangent is None else 1.0
        strains = [c.strains(m.state) for c in self.channels]
        self._add(m, strains, 1.0, slope)

    def go(self, step: Step) -> None:
        share = step.first if step.implicit else 0.0
        scale, strains = step.h * step.first, self._met(step.a, step.b, share)
        self._add(step, strains, scale, 0.0 if step.tangent is None else scale * share)

    def _met(self, a: State, b: State, share: float) -> list[Array]:
        """Strains per channel, `share` of the way from one state to another."""
        found = []
        for c in self.channels:
            met = np.zeros((len(c.rows), 6))
            run(channel.between, c.strains(a), c.strains(b), share, met)
            found.append(met)
        return found

    def _add(self, m: Moment | Step, strains: list[Array], scale: float, slope: float) -> None:
        tension = m.u[self.at]
        for c, e, share in zip(self.channels, strains, self._shares(strains), strict=True):
            w = m.work.parts[c.i]
            given = (c.rows, share, tension, scale, slope, c.felt, e)
            run(channel.add_pull, *given, w.sigma[c.at], w.full[c.at])

    def add_section_stress(
        self, i: int, s: Array, e: Array, u: Array, stress: Array, slope: Array
    ) -> None:
        for c in (c for c in self.channels if c.i == i):
            start, end = c.stretch.over
            inside = np.flatnonzero((s >= start) & (s <= end))
            if len(inside):
                at = slice(int(inside[0]), int(inside[-1]) + 1)
                rows, share = c.table(s[at], np.ones(len(inside))), np.ones(len(inside))
                if self.tendon.friction:
                    angle = np.zeros(1)
                    clear(angle)
                    run(channel.set_shares, rows, 0.0, self.tendon.friction, e[at], angle, share)
                given = (rows, share, u[self.at], 1.0, 1.0, np.ones(6), e[at])
                run(channel.add_pull, *given, stress[at], slope[at])

    def stress(self, i: int, s: Array, e: Array, u: Array) -> Array | None:
        if all(c.i != i for c in self.channels):
            return None
        stress = np.zeros((len(s), 6))
        self.add_section_stress(i, s, e, u, stress, np.zeros((len(s), 6, 6)))
        return stress

    def readings(self, m: Moment) -> dict[str, Any]:
        tension, strains = float(m.u[self.at][0]), [c.strains(m.state) for c in self.channels]
        along = tension * np.concatenate(self._shares(strains))
        told = along if self.tendon.friction else tension
        return {"tension": told, "length": self.measure(m.state), "slack": 0.0}

    # -- length and energy -------------------------------------------------------------------

    def measure(self, state: State) -> float:
        """Length at a configuration, m."""
        length = np.array([sum((link[0] for link in self.links), 0.0)])
        for c in self.channels:
            channel.add_length(c.rows, c.strains(state), length)
        return float(length[0])

    def energy(self, state: State, u: Array) -> float:
        if self.tendon.friction:
            return 0.0
        return float(u[self.at][0]) * (self.measure(state) - self.rest_length)

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        strains = self._met(a, b, 0.5)
        for c, e, share in zip(self.channels, strains, self._shares(strains), strict=True):
            given = (c.rows, share, u[self.at], c.felt, e, c.strains(a), c.strains(b))
            run(channel.add_pull_work, *given, out)


def terms(tree: Tree) -> list[Term]:
    """The tendons in the rods of a robot."""
    return [EmbeddedTension(tree, item) for item in tree.description.of(EmbeddedTendon).values()]
