"""Tendons embedded in rods, driven by their tension: the potential T times the length of the channel.

The stress at a section is T (r x t, t) / |t|, see `channel`; forces at the ends and along the rod are
what the strains make of it. With friction mu the tension falls along the tendon, away from the end at
which it is pulled, as T exp(-mu angle), angle being that by which the tendon has turned; where it is
released, it grows as T exp(mu angle). That has no potential, and its derivative in the strains is left
out of the tangent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.model import EmbeddedTendon
from pliant.physics import channel
from pliant.physics.channel_route import ChannelRoute
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.embedded_rows import embedded_row
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree

_SAME = 1e-9
"""Distance, in lengths of its rods, below which two ends of a tendon meet."""


class EmbeddedTension(KernelTerm):
    """A tendon along one rod or several; its input is the tension in N."""

    compiled = True
    smooth = True
    size = 1

    def __init__(self, tree: Tree, tendon: EmbeddedTendon) -> None:
        self.tendon = tendon
        self.input = self.name = tendon.name
        self.route = ChannelRoute(tree, tendon)
        self.channels, self.bridges = self.route.channels, self.route.bridges

    def close(self, tree: Tree) -> None:
        self.rest_length = self.measure(tree.rest)
        self._unit = [np.ones(len(c.rows)) for c in self.channels]

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def conservative(self, u: Array) -> bool:
        return self.tendon.friction == 0.0 or not self.active(u)

    def symbolic(self, x: Symbols) -> None:
        """The potential T times the length of the channel, the integral of |v + u x r + r'|."""
        if self.tendon.loss:
            x.refuse(self, "leave out its friction")
        math, length = x.math, 0.0
        for c in self.channels:
            for s, row in zip(c.part.strain_s[c.at].tolist(), c.rows, strict=True):
                e, r = x.strain(c.i, s), math.SX([row[channel.X], row[channel.Y], 0.0])
                slope = math.SX([row[channel.DX], row[channel.DY], 0.0])
                t = e[3:6] + math.cross(e[:3], r) + slope
                length = length + row[channel.WEIGHT] * math.sqrt(math.dot(t, t))
        x.store(x.input(self.tendon.name) * (length - x.at_rest(length)))

    # -- tension along it --------------------------------------------------------------------

    def _shares(self, strains: list[Array]) -> list[Array]:
        """Per channel, the part (S,) of the tension that arrives at its stations."""
        mu = self.tendon.loss
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
        length, straight, turn = self.bridges[k]
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
        self.route.add_stress_at(i, s, e, u[self.at], self.tendon.loss, stress, slope)

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
        return self.route.length(state)

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
    return [_term(tree, tendon) for tendon in tree.description.of(EmbeddedTendon).values()]


def _term(tree: Tree, tendon: EmbeddedTendon) -> Term:
    if tendon.drive == "tension":
        return EmbeddedTension(tree, tendon)
    given = (
        tree,
        tendon,
        tendon.reel_path,
        tendon.slack,
        tendon.stiffness,
        ChannelRoute(tree, tendon),
    )
    return embedded_row(*given)
