"""Tendons embedded in rods, driven by their tension: the potential T times the length of the channel.

The stress at a section is T (r x t, t) / |t|, see `channel`; forces at the ends and along the rod are
what the strains make of it. Tendons with friction are those of `embedded_friction`, given lengths those
of `embedded_rows`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.engine.program import run
from pliant.model import EmbeddedTendon
from pliant.physics import channel
from pliant.physics.channel_route import ChannelRoute
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.embedded_friction import Rubbing, RubbingTendon
from pliant.physics.embedded_rows import embedded_row
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class EmbeddedTension(KernelTerm):
    """A tendon without friction along one rod or several; its input is the tension in N."""

    compiled = True
    smooth = True
    at_strains = True
    size = 1

    def __init__(self, tree: Tree, tendon: EmbeddedTendon) -> None:
        self.tendon = tendon
        self.input = self.name = tendon.name
        self.route = ChannelRoute(tree, tendon)
        self.channels = self.route.channels
        self.squeezes = self.squeezes_at_once = self.route.squeezes

    def close(self, tree: Tree) -> None:
        self.rest_length = self.measure(tree.rest)
        self._unit = [np.ones(len(c.rows)) for c in self.channels]

    def refill(self, tree: Tree) -> bool:
        tendon = tree.description.parts[self.tendon.name]
        assert isinstance(tendon, EmbeddedTendon)
        self.tendon = tendon
        return True

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def symbolic(self, x: Symbols) -> None:
        """The potential T times the length of the channel, the integral of |v + u x r + r'|."""
        math, length = x.math, 0.0
        for c in self.channels:
            for s, row in zip(c.part.strain_s[c.at].tolist(), c.rows, strict=True):
                e, r = x.strain(c.i, s), math.SX([row[channel.X], row[channel.Y], 0.0])
                slope = math.SX([row[channel.DX], row[channel.DY], 0.0])
                t = e[3:6] + math.cross(e[:3], r) + slope
                length = length + row[channel.WEIGHT] * math.sqrt(math.dot(t, t))
        x.store(x.input(self.tendon.name) * (length - x.at_rest(length)))

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
        for c, e, unit in zip(self.channels, strains, self._unit, strict=True):
            w = m.work.parts[c.i]
            given = (c.rows, unit, tension, scale, slope, c.felt, e)
            run(channel.add_pull, *given, w.sigma[c.at], w.full[c.at])

    def add_section_stress(
        self, i: int, s: Array, e: Array, m: Moment, stress: Array, slope: Array
    ) -> None:
        self.route.add_stress_at(i, s, e, m.u[self.at], stress, slope)

    def stress(self, i: int, s: Array, e: Array, u: Array) -> Array | None:
        if all(c.i != i for c in self.channels):
            return None
        stress = np.zeros((len(s), 6))
        self.route.add_stress_at(i, s, e, u[self.at], stress, np.zeros((len(s), 6, 6)))
        return stress

    def readings(self, m: Moment) -> dict[str, Any]:
        tension = float(m.u[self.at][0])
        return {"tension": tension, "length": self.measure(m.state), "slack": 0.0}

    # -- length and energy -------------------------------------------------------------------

    def measure(self, state: State) -> float:
        """Length at a configuration, m."""
        return self.route.length(state)

    def energy(self, state: State, u: Array) -> float:
        return float(u[self.at][0]) * (self.measure(state) - self.rest_length)

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        strains = self._met(a, b, 0.5)
        for c, e, unit in zip(self.channels, strains, self._unit, strict=True):
            given = (c.rows, unit, u[self.at], c.felt, e, c.strains(a), c.strains(b))
            run(channel.add_pull_work, *given, out)


def terms(tree: Tree) -> list[Term]:
    """The tendons in the rods of a robot."""
    return [_term(tree, tendon) for tendon in tree.description.of(EmbeddedTendon).values()]


def _term(tree: Tree, tendon: EmbeddedTendon) -> Term:
    if tendon.friction:
        return RubbingTendon(tree, tendon, _rubbing(tendon))
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


def _rubbing(tendon: EmbeddedTendon) -> Rubbing:
    rule = (tendon.friction, tendon.creep, tendon.sliding)
    if tendon.drive == "tension":
        return Rubbing(*rule)
    return Rubbing(*rule, tendon.reel_path, tendon.stiffness or 0.0, tendon.slack)
