"""Springs and dampers between two points, of both or of one sign; their law is in `rope_law`."""

from __future__ import annotations

import numpy as np

from pliant.engine.program import run
from pliant.model import Spring
from pliant.model.via_points import KINDS
from pliant.physics.contract import Moment, Term
from pliant.physics.path_kernels import spread_slope
from pliant.physics.paths import Path, PathTerm, Pull, Spans
from pliant.physics.rope_law import add_scaled, counted, set_force
from pliant.physics.symbolic import (
    Symbols,
    counted as counted_part,
    damped,
    damper_force,
    path_length,
)
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class SpringTerm(PathTerm):
    """A spring on one tree."""

    compiled = True
    smooth = True
    column = "elastic"

    def __init__(self, tree: Tree, spring: Spring) -> None:
        self.spring, self.name = spring, spring.name
        self.path = Path(tree, (spring.a, spring.b), coupled=True)
        self.moves = self.needs_twists = spring.damping > 0.0

    def close(self, tree: Tree) -> None:
        spring = self.spring
        rest = spring.rest
        if rest is None:
            rest = spring.compression * self.path.length(tree.rest)
        kind = KINDS.index(spring.kind)
        self.rule = np.array([spring.stiffness, rest, spring.damping, spring.power, float(kind)])

    def pull(
        self, spans: Spans, u: Array, rates: Array | None, speed: float, h: float, implicit: bool
    ) -> Pull:
        pull, slope = self._empty(), np.zeros(1)
        given = np.zeros(self.path.count - 1) if rates is None else rates
        out = (pull.tension, slope, np.zeros(1))
        run(set_force, self.rule, spans.lengths, given, speed, h, implicit, *out)
        run(spread_slope, spans.nb, slope, pull.dT)
        return pull

    def symbolic(self, x: Symbols) -> None:
        spring = self.spring
        length = path_length(x, (spring.a, spring.b))
        rest = x.at_rest(length) if spring.rest is None else x.number(spring, "rest")
        k, c, power = (x.number(spring, field) for field in ("stiffness", "damping", "power"))
        stretch, engaged = counted_part(x, spring.kind, length - rest)
        x.store(0.5 * k * stretch**2)
        damper = engaged * damper_force(x, c, power, x.rate(length))
        x.resist(length, damped(x, spring.kind, k * stretch, damper))

    def energy(self, state: State, u: Array) -> float:
        k, rest, _, _, kind = self.rule
        stretch, _ = counted(kind, self.path.length(state) - rest)
        return 0.5 * float(k * stretch**2)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if not self.moves:
            return
        if m.start is not None:
            spans, h = self.path.spans(m.start, m.state), 2.0 * m.ahead
            rates = np.zeros(self.path.count - 1)
        else:
            spans, h = self.path.spans(m.state), 0.0
            rates = self.path.rates(spans, m.work)
        tension, slope, loss = np.zeros(self.path.count - 1), np.zeros(1), np.zeros(1)
        run(set_force, self.rule, spans.lengths, rates, 0.0, h, True, tension, slope, loss)
        run(add_scaled, scale, loss, out)


def terms(tree: Tree) -> list[Term]:
    """The springs of a robot."""
    return [SpringTerm(tree, spring) for spring in tree.description.of(Spring).values()]
