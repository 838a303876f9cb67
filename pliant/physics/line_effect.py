"""Effects of your own along a rod: an elastic bed, a current of fluid.

Derive a frozen dataclass from `LineEffect` with a field `on`, the name of the rod, and give the law per
metre at any section: `density` of a potential, or a `resistance`. The same law is what strong forms
integrate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.model.drawing import Placed, Primitive, rod_mark
from pliant.model.registry import Effect
from pliant.physics.between import earlier, middle
from pliant.physics.contract import Moment, OwnTerm, Sections, Step, Term
from pliant.physics.differences import row_slopes, station_curvature
from pliant.physics.own_law import Law, Shapes
from pliant.physics.pointwise import PointwiseLine
from pliant.rods.contract import Array
from pliant.rods.quadrature import line_rule
from pliant.tree.state import State
from pliant.tree.tree import Tree

_SHAPES: Shapes = {
    "density": lambda S: (S,),
    "gradient": lambda S: (S, 6),
    "curvature": lambda S: (S, 6, 6),
    "resistance": lambda S: (S, 6),
    "resistance_slope": lambda S: (S, 6, 6),
}


@dataclass(frozen=True, eq=False)
class LineEffect(Effect):
    """Acts along a rod `on`, over its whole length or a stretch `over` = (s0, s1), metres.

    Where the law jumps or peaks along s, name the arclengths in a field `breaks`, metres, increasing:
    quadrature then has a border there.

    name : unique in the robot.

    Arguments of its laws: s (S,) arclengths, metres; g (S, 4, 4) world poses of the sections; eta
    (S, 6) their body twists, rad/s and m/s; u (n,) the numbers of its input, empty if it has none.
    """

    file_name: ClassVar[str] = ""

    def density(self, s: Array, g: Array, u: Array) -> Array:
        """Energy stored per metre (S,), J/m."""
        return np.zeros(len(s))

    def gradient(self, s: Array, g: Array, u: Array) -> Array:
        """Derivative (S, 6) of the density in the body twists: minus the wrench per metre."""
        from pliant.lie import se3

        p = np.empty((len(s), 6))
        for a in range(6):
            x = np.zeros(6)
            x[a] = 1e-5
            ends = [self.density(s, g @ se3.exp(sign * x), u) for sign in (1.0, -1.0)]
            p[:, a] = (ends[0] - ends[1]) / 2e-5
        return p

    def curvature(self, s: Array, g: Array, u: Array) -> Array:
        """Derivative (S, 6, 6) of the gradient in the charts g exp(x)."""
        return station_curvature(lambda x: self.gradient(s, x, u), g)

    def resistance(self, s: Array, g: Array, eta: Array, u: Array) -> Array:
        """Minus the wrenches per metre (S, 6) that oppose the twists."""
        return np.zeros((len(s), 6))

    def resistance_slope(self, s: Array, g: Array, eta: Array, u: Array) -> Array:
        """Derivative (S, 6, 6) of the resistance in the twists."""
        return row_slopes(lambda x: self.resistance(s, g, x, u), eta)

    def drawing(self, at: Placed) -> Sequence[Primitive]:
        """What pictures show of it: a mark in the middle of its rod."""
        return rod_mark(self.name, str(self.on), at)  # type: ignore[attr-defined]

    def compile(self, tree: Tree) -> Term:
        """The effect as statics and integrators see it."""
        return LineTerm(tree, self)

    def pointwise(self) -> PointwiseLine:
        """The effect as strong forms see it."""
        rod, over = str(self.on), getattr(self, "over", None)  # type: ignore[attr-defined]
        law = Law(self, _SHAPES)
        return PointwiseLine(next(iter(self.inputs()), ""), rod, law, self.breaks_along, over)


class LineTerm(OwnTerm):
    """A `LineEffect` on one tree."""

    def __init__(self, tree: Tree, effect: LineEffect) -> None:
        self.effect = effect
        self.i = tree.number_of(str(effect.on))  # type: ignore[attr-defined]
        part = tree.parts[self.i]
        self.over = over = getattr(effect, "over", None)
        self.cuts = effect.breaks_along(part.length).places
        self.stations, weight = part.stations_of(line_rule(part.map, over, self.cuts, None))
        self.weight = weight[:, None]
        self.take_input(effect, _SHAPES)
        self.column = "potential" if self.input is None else "loads"
        kind = type(effect)
        self.stores = kind.density is not LineEffect.density
        self.pulls = self.stores or kind.gradient is not LineEffect.gradient
        self.resists = self.needs_twists = kind.resistance is not LineEffect.resistance

    def close(self, tree: Tree) -> None:
        self.s = tree.parts[self.i].frames_s[self.stations]

    def conservative(self, u: Array) -> bool:
        return self.stores or not self.pulls

    def _g(self, state: State) -> Array:
        return state.parts[self.i].g[self.stations]

    # -- statics and acceleration form ---------------------------------------------------------

    def act(self, m: Moment) -> None:
        g, u, w = self._g(m.state), self.values(m.u), m.work.parts[self.i]
        weight = self.factor(m.u) * self.weight
        if self.pulls:
            w.p[self.stations] += weight * self.law("gradient", self.s, g, u)
            if m.tangent is not None:
                k = self.law("curvature", self.s, g, u)
                w.k[self.stations] += weight[:, :, None] * k
        if self.resists and m.v is not None:
            eta = w.eta[self.stations]
            w.p[self.stations] += self.weight * self.law("resistance", self.s, g, eta, u)
            if m.tangent is not None:
                k = self.law("resistance_slope", self.s, g, eta, u)
                w.k[self.stations] += m.speed * self.weight[:, :, None] * k

    # -- variational steps -----------------------------------------------------------------------

    def go(self, step: Step) -> None:
        """The potential acts in the middle of an implicit step, at the start of an explicit one."""
        u, h, w = self.values(step.u), step.h, step.work.parts[self.i]
        f = self.factor(step.u)
        ga, gb = self._g(step.a), self._g(step.b)
        between = middle(ga, gb)
        p, k = np.zeros((len(ga), 6)), np.zeros((len(ga), 6, 6))
        if self.pulls and not step.implicit:
            w.p[self.stations] += f * h * self.weight * self.law("gradient", self.s, ga, u)
        if self.pulls and step.implicit:
            p += f * self.law("gradient", self.s, between.g, u)
            if step.tangent is not None:
                k += f * self.law("curvature", self.s, between.g, u) @ between.Ab
        if self.resists:
            eta = between.xi / h
            p += self.law("resistance", self.s, between.g, eta, u)
            if step.tangent is not None:
                slope = self.law("resistance_slope", self.s, between.g, eta, u)
                k += slope @ (between.turn / h)
        p *= h * self.weight
        w.p[self.stations] += np.einsum("sij,si->sj", between.Aa, p)
        w.pb[self.stations] -= np.einsum("sij,si->sj", between.Ab, p)
        if step.tangent is not None:
            k = np.einsum("sji,sjk->sik", between.Aa, k)
            w.k[self.stations] += h * self.weight[:, :, None] * k

    # -- forces and energy -------------------------------------------------------------------

    def line_wrench(self, i: int, s: Array, sections: Sections, u: Array) -> Array | None:
        if i != self.i:
            return None
        total = np.zeros((len(s), 6))
        if self.pulls:
            total -= self.factor(u) * self.law("gradient", s, sections.g, self.values(u))
        if self.resists and sections.twist is not None:
            total -= self.law("resistance", s, sections.g, sections.twist, self.values(u))
        if self.over is not None:
            total[(s < self.over[0]) | (s > self.over[1])] = 0.0
        return total

    def line_ends(self, i: int) -> tuple[float, ...]:
        return self.cuts if i == self.i else ()

    def energy(self, state: State, u: Array) -> float:
        if not self.stores:
            return 0.0
        density = self.law("density", self.s, self._g(state), self.values(u))
        return self.factor(u) * float(self.weight[:, 0] @ density)

    def work_done(self, a: State, b: State, u: Array) -> float:
        if self.input is None or not self.pulls:
            return 0.0
        between = middle(self._g(a), self._g(b))
        p = self.weight * self.law("gradient", self.s, between.g, self.values(u))
        return -float(np.sum(p * between.xi))

    def power_lost(self, m: Moment) -> float:
        if not self.resists:
            return 0.0
        eta = m.work.parts[self.i].eta[self.stations]
        g = earlier(self._g(m.state), eta, m.ahead)
        p = self.law("resistance", self.s, g, eta, self.values(m.u))
        return float(np.sum(self.weight * eta * p))
