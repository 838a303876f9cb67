"""Effects of your own on the strains of a rod: an artificial muscle, a stiffening layer.

Derive a frozen dataclass from `StrainEffect` with a field `on`, the name of the rod, and give the
`stress` at any section, or a `density` of energy. The same law is what strong forms integrate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.model.drawing import Placed, Primitive, rod_mark
from pliant.model.registry import Effect
from pliant.physics.contract import Moment, OwnTerm, Step, Term
from pliant.physics.differences import row_slopes
from pliant.physics.own_law import Law, Shapes
from pliant.physics.pointwise import PointwiseStress
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork

_SHAPES: Shapes = {
    "density": lambda S: (S,),
    "stress": lambda S: (S, 6),
    "stiffness": lambda S: (S, 6, 6),
}


@dataclass(frozen=True, eq=False)
class StrainEffect(Effect):
    """Acts on the strains of a rod `on`.

    Where the law jumps along s, name the arclengths in a field `breaks`, metres, increasing: the rod
    then has knots there, at which strains may jump.

    name : unique in the robot.

    Arguments of its laws: s (S,) arclengths, metres; e (S, 6) strains (u, v), rad/m and 1; u (n,) the
    numbers of its input, empty if it has none.
    """

    file_name: ClassVar[str] = ""
    on_strains: ClassVar[bool] = True

    def density(self, s: Array, e: Array, u: Array) -> Array:
        """Energy stored per metre (S,), J/m."""
        return np.zeros(len(s))

    def stress(self, s: Array, e: Array, u: Array) -> Array:
        """Internal wrench (S, 6) = (m, n) of the strains, N m and N: derivative of the density."""
        sigma = np.empty((len(s), 6))
        step = 1e-5 * max(1.0, float(np.max(np.abs(e), initial=0.0)))
        for a in range(6):
            shift = np.zeros(6)
            shift[a] = step
            ends = self.density(s, e + shift, u) - self.density(s, e - shift, u)
            sigma[:, a] = ends / (2.0 * step)
        return sigma

    def stiffness(self, s: Array, e: Array, u: Array) -> Array:
        """Derivative (S, 6, 6) of the stress in the strains."""
        return row_slopes(lambda x: self.stress(s, x, u), e)

    def drawing(self, at: Placed) -> Sequence[Primitive]:
        """What pictures show of it: a mark in the middle of its rod."""
        return rod_mark(self.name, str(self.on), at)  # type: ignore[attr-defined]

    def compile(self, tree: Tree) -> Term:
        """The effect as statics and integrators see it."""
        return StrainTerm(tree, self)

    def pointwise(self) -> PointwiseStress:
        """The effect as strong forms see it."""
        rod = str(self.on)  # type: ignore[attr-defined]
        law = Law(self, _SHAPES)
        return PointwiseStress(next(iter(self.inputs()), ""), rod, law, self.breaks_along)


class StrainTerm(OwnTerm):
    """A `StrainEffect` on one tree."""

    def __init__(self, tree: Tree, effect: StrainEffect) -> None:
        self.effect = effect
        self.i = tree.number_of(str(effect.on))  # type: ignore[attr-defined]
        part = tree.parts[self.i]
        part.coupled = True
        self.s, self.weight = part.strain_s, part.strain_w
        self.take_input(effect, _SHAPES)
        self.stores = type(effect).density is not StrainEffect.density
        self.column = "elastic" if self.input is None else "loads"

    def conservative(self, u: Array) -> bool:
        return self.stores

    def _add(self, w: PartWork, met: Array, u: Array, scale: float, slope: float) -> None:
        """Add scale times the stress and, if not zero, slope times its derivative."""
        w.sigma += scale * self.weight * self.law("stress", self.s, met, u)
        if slope != 0.0:
            w.full += slope * self.weight[:, :, None] * self.law("stiffness", self.s, met, u)

    def act(self, m: Moment) -> None:
        at, w = m.state.parts[self.i], m.work.parts[self.i]
        f = self.factor(m.u)
        self._add(w, at.strain.e, self.values(m.u), f, 0.0 if m.tangent is None else f)

    def add_section_stress(
        self, i: int, s: Array, e: Array, m: Moment, stress: Array, slope: Array
    ) -> None:
        if i == self.i:
            factor, values = self.factor(m.u), self.values(m.u)
            stress += factor * self.law("stress", s, e, values)
            slope += factor * self.law("stiffness", s, e, values)

    def go(self, step: Step) -> None:
        a, b = step.a.parts[self.i].strain.e, step.b.parts[self.i].strain.e
        met = 0.5 * (a + b) if step.implicit else a
        scale = self.factor(step.u) * step.h * step.first
        slope = 0.5 * scale if step.implicit and step.tangent is not None else 0.0
        self._add(step.work.parts[self.i], met, self.values(step.u), scale, slope)

    def stress(self, i: int, s: Array, e: Array, u: Array) -> Array | None:
        if i != self.i:
            return None
        return self.factor(u) * np.asarray(self.law("stress", s, e, self.values(u)))

    def energy(self, state: State, u: Array) -> float:
        if not self.stores:
            return 0.0
        e = state.parts[self.i].strain.e
        density = self.law("density", self.s, e, self.values(u))
        return self.factor(u) * float(np.max(self.weight, axis=1) @ density)

    def work_done(self, a: State, b: State, u: Array) -> float:
        if self.input is None:
            return 0.0
        before, after = a.parts[self.i].strain.e, b.parts[self.i].strain.e
        stress = self.law("stress", self.s, 0.5 * (before + after), self.values(u))
        return -float(np.sum(self.weight * stress * (after - before)))
