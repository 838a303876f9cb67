"""Constraints of your own: a stop, a loop, a wire that cannot stretch.

Derive a frozen dataclass from `ConstraintEffect`, list its `frames`, and give the `gap` that it closes.
Derivatives follow by differences unless you give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.linalg import block_diag

from pliant.model import Frame
from pliant.model.checks import refuse
from pliant.model.drawing import Placed, Primitive, frame_marks
from pliant.model.registry import Effect
from pliant.physics.between import middle
from pliant.physics.contract import Moment, Step, Term
from pliant.physics.differences import frame_curvature, frame_gradient
from pliant.physics.frame_rows import FrameRows
from pliant.physics.own_law import Law, Shapes
from pliant.physics.symbolic import Symbols, own_formula
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


@dataclass(frozen=True, eq=False)
class ConstraintEffect(Effect):
    """Closes gaps between K frames of the robot.

    Arguments of its laws: g (K, 4, 4) world poses of the frames.

    name : unique in the robot.

    count : how many gaps it has.  unilateral : False for gaps that are held at zero; True for gaps that
    stay at zero or below, as a stop or a slack wire does, by forces that only push.  compliance : gap
    for a unit of force, m/N, the same for all gaps. With zero the gaps are closed exactly, and impacts
    on a unilateral one are inelastic; else the constraint is a spring of stiffness 1 / compliance.
    """

    file_name: ClassVar[str] = ""
    count = 1
    unilateral = False
    compliance = 0.0

    def frames(self) -> Sequence[Frame]:
        """The frames that it holds."""
        raise TypeError(f"{type(self).__name__} does not say which frames it holds")

    def gap(self, g: Array) -> Array | float:
        """Gaps (count,), metres; above zero they are violated."""
        raise TypeError(f"{type(self).__name__} does not say what its gap is")

    def slopes(self, g: Array) -> Array:
        """Derivatives (count, 6 K) of the gaps in the body twists of the frames."""
        rows = [frame_gradient(partial(self._one, r), g) for r in range(self.count)]
        return np.array(rows).reshape(self.count, -1)

    def second(self, g: Array, force: Array) -> Array:
        """Second derivative (6 K, 6 K) of force (count,) times the gaps in the charts g exp(x)."""
        return frame_curvature(lambda x: (force @ self.slopes(x)).reshape(-1, 6), g)

    def _one(self, r: int, g: Array) -> float:
        return float(np.atleast_1d(self.gap(g))[r])

    def drawing(self, at: Placed) -> Sequence[Primitive]:
        """What pictures show of it: marks at its frames."""
        return frame_marks(self.name, self.frames(), at)

    def compile(self, tree: Tree) -> Term:
        """The constraint as statics and integrators see it."""
        return (CompliantTerm if self.compliance else ConstraintTerm)(tree, self)


def _shapes(count: int) -> Shapes:
    return {
        "gap": lambda K: (count,),
        "slopes": lambda K: (count, 6 * K),
        "second": lambda K: (6 * K, 6 * K),
    }


class ConstraintTerm(FrameRows):
    """A `ConstraintEffect` on one tree."""

    def __init__(self, tree: Tree, effect: ConstraintEffect) -> None:
        super().__init__(tree, effect.count)
        self.effect = self.source = effect
        self.label = effect.label
        self.law = Law(effect, _shapes(effect.count))
        self.one_sided = effect.unilateral
        none = len(effect.frames()) == 0
        refuse(none, effect.label, "frames", [], "one frame or more", "return those it acts on")
        self.sides = [tree.attach(frame) for frame in effect.frames()]

    def _g(self, state: State) -> Array:
        return np.array([state.parts[i].g[station] for i, station in self.sides])

    def set_gaps(self, state: State, gap: Array, slopes: Array) -> None:
        g = self._g(state)
        gap[...], slopes[...] = self.law("gap", g), self.law("slopes", g)

    def bend(self, state: State, force: Array, out: Array) -> None:
        out[...] = self.law("second", self._g(state), force)

    def symbolic(self, x: Symbols) -> None:
        own_formula(self, self.effect, x)

    def reactions(self, m: Moment) -> dict[str, Array]:
        """The wrench on its first frame, in that frame."""
        slopes = self.law("slopes", self._g(m.state))
        return {self.effect.name: -(slopes.T @ m.z[self.rows])[:6]}


class CompliantTerm(ConstraintTerm):
    """A `ConstraintEffect` with compliance: a spring, V = sum phi^2 / 2 C over the gaps that hold."""

    column = "potential"
    hard = False

    def __init__(self, tree: Tree, effect: ConstraintEffect) -> None:
        super().__init__(tree, effect)
        self.compliance = effect.compliance

    def settle(self, state: State, work: Work, z: Array) -> None:
        z[self.rows] = self.violations(state) / self.compliance

    def go(self, step: Step) -> None:
        """It acts in the middle of an implicit step, at the start of an explicit one."""
        between = middle(self._g(step.a), self._g(step.b if step.implicit else step.a))
        gap, slopes = self.law("gap", between.g), self.law("slopes", between.g)
        held, force = self._meet(step.z, None, gap, step.work, 1.0, np.zeros(len(gap)))
        impulse, K = step.h * force @ slopes, len(self.sides)
        share_a, share_b = block_diag(*between.Aa), block_diag(*between.Ab)
        leaving, arriving = ((x.T @ impulse).reshape(K, 6) for x in (share_a, share_b))
        for n, (i, station) in enumerate(self.sides):
            step.work.parts[i].p[station] += leaving[n]
            step.work.parts[i].pb[station] -= arriving[n]
        if step.tangent is None:
            return
        left, right = (self.frames_jacobian(state) for state in (step.a, step.b))
        right = share_b @ right if step.implicit else 0.0 * right
        self._add_rows(step.tangent, slopes @ right, held, 1.0, 0.0)
        self._add_rows(step.tangent, slopes @ share_a @ left, held, 0.0, step.h)
        self._add_own(step.tangent, held, 1.0)
        curved = step.h * share_a.T @ self.law("second", between.g, force)
        step.tangent.add(step.tangent.effects[self.number][2], (left.T @ curved @ right)[None])

    def energy(self, state: State, u: Array) -> float:
        gap = self.violations(state)
        return float(gap @ gap) / (2.0 * self.compliance)
