"""Effects of your own on frames: a magnet, a spring, a dashpot between parts.

Derive a frozen dataclass from `FrameEffect`, list its `frames`, and give a `potential` or, for what
opposes velocities, a `resistance`. Gradient and derivatives follow by differences unless you give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.model import Frame
from pliant.model.checks import refuse
from pliant.model.drawing import Placed, Primitive, frame_marks
from pliant.model.registry import Effect
from pliant.physics.between import earlier, middle
from pliant.physics.contract import Moment, OwnTerm, Step, Term
from pliant.physics.differences import frame_curvature, frame_gradient, whole_slope
from pliant.physics.own_law import Shapes
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree

_SHAPES: Shapes = {
    "potential": lambda K: (),
    "gradient": lambda K: (K, 6),
    "curvature": lambda K: (6 * K, 6 * K),
    "resistance": lambda K: (K, 6),
    "resistance_slope": lambda K: (6 * K, 6 * K),
}


@dataclass(frozen=True, eq=False)
class FrameEffect(Effect):
    """Acts on K frames of the robot.

    name : unique in the robot.

    Arguments of its laws: g (K, 4, 4) world poses of the frames; eta (K, 6) their body twists (w, v),
    rad/s and m/s; u (n,) the numbers of its input, empty if it has none.
    """

    file_name: ClassVar[str] = ""

    def frames(self) -> Sequence[Frame]:
        """The frames on which it acts."""
        raise TypeError(f"{type(self).__name__} does not say on which frames it acts")

    def potential(self, g: Array, u: Array) -> float:
        """Energy stored at the frames, J."""
        return 0.0

    def gradient(self, g: Array, u: Array) -> Array:
        """Derivative (K, 6) of the potential in the body twists: minus the wrench, N m and N."""
        return frame_gradient(lambda x: self.potential(x, u), g)

    def curvature(self, g: Array, u: Array) -> Array:
        """Derivative (6 K, 6 K) of the gradient in the charts g exp(x)."""
        return frame_curvature(lambda x: self.gradient(x, u), g)

    def resistance(self, g: Array, eta: Array, u: Array) -> Array:
        """Minus the wrenches (K, 6) that oppose the twists; its power lost is eta . resistance."""
        return np.zeros((len(g), 6))

    def resistance_slope(self, g: Array, eta: Array, u: Array) -> Array:
        """Derivative (6 K, 6 K) of the resistance in the twists."""
        return whole_slope(lambda x: self.resistance(g, x, u), eta)

    def drawing(self, at: Placed) -> Sequence[Primitive]:
        """What pictures show of it: marks at its frames."""
        return frame_marks(self.name, self.frames(), at)

    def compile(self, tree: Tree) -> Term:
        """The effect as statics and integrators see it."""
        return FrameTerm(tree, self)


class FrameTerm(OwnTerm):
    """A `FrameEffect` on one tree."""

    def __init__(self, tree: Tree, effect: FrameEffect) -> None:
        self.effect = effect
        none = len(effect.frames()) == 0
        refuse(none, effect.label, "frames", [], "one frame or more", "return those it acts on")
        self.sides = [tree.attach(frame) for frame in effect.frames()]
        self.take_input(effect, _SHAPES)
        self.column = "potential" if self.input is None else "loads"
        kind = type(effect)
        self.stores = kind.potential is not FrameEffect.potential
        self.pulls = self.stores or kind.gradient is not FrameEffect.gradient
        self.resists = self.needs_twists = kind.resistance is not FrameEffect.resistance

    def close(self, tree: Tree) -> None:
        self.columns = np.concatenate([tree.frame_columns(*side) for side in self.sides])

    def pairs(self) -> list[Pair]:
        return [(self.columns[None], self.columns[None])]

    def conservative(self, u: Array) -> bool:
        return self.stores or not self.pulls

    def active(self, u: Array) -> bool:
        return True

    def _g(self, state: State) -> Array:
        return np.array([state.parts[i].g[station] for i, station in self.sides])

    def _add(self, tangent: Tangent, left: State, k: Array, right: State) -> None:
        block = left.frames_jacobian(self.sides).T @ k @ right.frames_jacobian(self.sides)
        tangent.add(tangent.effects[self.number][0], block[None])

    # -- statics and acceleration form ---------------------------------------------------------

    def act(self, m: Moment) -> None:
        g, u, f = self._g(m.state), self.values(m.u), self.factor(m.u)
        p, k = np.zeros((len(g), 6)), np.zeros((6 * len(g), 6 * len(g)))
        wanted = m.tangent is not None
        if self.pulls:
            p += f * self.law("gradient", g, u)
            if wanted:
                k += f * self.law("curvature", g, u)
        if self.resists and m.v is not None:
            eta = np.array([m.work.parts[i].eta[station] for i, station in self.sides])
            p += self.law("resistance", g, eta, u)
            if wanted:
                k += m.speed * self.law("resistance_slope", g, eta, u)
        for (i, station), wrench in zip(self.sides, p, strict=True):
            m.work.parts[i].p[station] += wrench
        if m.tangent is not None:
            self._add(m.tangent, m.state, k, m.state)

    # -- variational steps -----------------------------------------------------------------------

    def go(self, step: Step) -> None:
        """The potential acts in the middle of an implicit step, at the start of an explicit one."""
        u, f, h = self.values(step.u), self.factor(step.u), step.h
        ga, gb = self._g(step.a), self._g(step.b)
        between = middle(ga, gb)
        K = len(ga)
        if self.pulls and not step.implicit:
            self._share(step, f * h * self.law("gradient", ga, u), None)
        p, k = np.zeros((K, 6)), np.zeros((K, 6, K, 6))
        if self.pulls and step.implicit:
            p += f * self.law("gradient", between.g, u)
            if step.tangent is not None:
                curved = f * self.law("curvature", between.g, u).reshape(K, 6, K, 6)
                k += np.einsum("aibj,bjl->aibl", curved, between.Ab)
        if self.resists:
            eta = between.xi / h
            p += self.law("resistance", between.g, eta, u)
            if step.tangent is not None:
                slope = self.law("resistance_slope", between.g, eta, u).reshape(K, 6, K, 6)
                k += np.einsum("aibj,bjl->aibl", slope, between.turn / h)
        self._share(step, h * np.einsum("aij,ai->aj", between.Aa, p), between.Ab, h * p)
        if step.tangent is not None:
            k = h * np.einsum("aji,ajbl->aibl", between.Aa, k).reshape(6 * K, 6 * K)
            self._add(step.tangent, step.a, k, step.b)

    def _share(
        self, step: Step, leaving: Array, Ab: Array | None, impulse: Array | None = None
    ) -> None:
        for n, (i, station) in enumerate(self.sides):
            w = step.work.parts[i]
            w.p[station] += leaving[n]
            if Ab is not None and impulse is not None:
                w.pb[station] -= Ab[n].T @ impulse[n]

    # -- forces and energy -------------------------------------------------------------------

    def point_wrenches(self, state: State, u: Array, z: Array) -> list[tuple[int, int, Array]]:
        if not self.pulls:
            return []
        p = self.factor(u) * self.law("gradient", self._g(state), self.values(u))
        return [(*side, -wrench) for side, wrench in zip(self.sides, p, strict=True)]

    def wrenches_at(self, m: Moment) -> list[tuple[int, int, Array]]:
        found = self.point_wrenches(m.state, m.u, m.z)
        if self.resists and m.v is not None:
            eta = np.array([m.work.parts[i].eta[station] for i, station in self.sides])
            p = self.law("resistance", self._g(m.state), eta, self.values(m.u))
            found += [(*side, -wrench) for side, wrench in zip(self.sides, p, strict=True)]
        return found

    def energy(self, state: State, u: Array) -> float:
        if not self.stores:
            return 0.0
        return self.factor(u) * float(self.law("potential", self._g(state), self.values(u)))

    def work_done(self, a: State, b: State, u: Array) -> float:
        if self.input is None or not self.pulls:
            return 0.0
        between = middle(self._g(a), self._g(b))
        return -float(np.sum(self.law("gradient", between.g, self.values(u)) * between.xi))

    def power_lost(self, m: Moment) -> float:
        if not self.resists:
            return 0.0
        eta = np.array([m.work.parts[i].eta[station] for i, station in self.sides])
        g = earlier(self._g(m.state), eta, m.ahead)
        return float(np.sum(eta * self.law("resistance", g, eta, self.values(m.u))))
