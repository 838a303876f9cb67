"""Stops at the limits of joints: springs that act on one side only.

With x = d - upper, or lower - d, the energy of a stop is 1/2 k max(x, 0)^2. Between two configurations
its stress is the slope of the chord of this energy, so that what a stop takes it gives back.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel
from pliant.engine.program import ask, run
from pliant.physics.contract import Moment, Step, Term
from pliant.physics.joint_terms import JointTerm, add_force, add_form
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class JointLimit(JointTerm):
    """The elastic stops of one joint."""

    compiled = True
    column = "elastic"

    def __init__(self, tree: Tree, i: int) -> None:
        super().__init__(tree, i)
        bounds = self.joint.bounds
        self.lower, self.upper = bounds[:, 0].copy(), bounds[:, 1].copy()
        self.stiffness = self.joint.each("limit_stiffness")

    def _law(self, da: Array, db: Array) -> tuple[Array, Array]:
        """Stress between values da and db (nv,), and its derivative in db."""
        s, k = np.zeros(self.nv), np.zeros(self.nv)
        run(set_chord, self.stiffness, self.lower, self.upper, da, db, s, k)
        return s, k

    def act(self, m: Moment) -> None:
        d, T = self.values(m.state)
        s, k = self._law(d, d)
        run(add_force, 1.0, T, s, self.part.joint_index, m.work.residual)
        if m.tangent is not None:
            block = self.new_block()
            ask(self.joint.add_curvature, self.coordinates(m.state), s, block)
            run(add_form, 2.0, T, k, T, block)
            self.add_block(m.tangent, block)

    def _between(self, step: Step) -> tuple[Array, Array, Array, Array]:
        (da, Ta), (db, Tb) = self.values(step.a), self.values(step.b)
        s, k = self._law(da, db if step.implicit else da)
        return s, k, Ta, Tb

    def go(self, step: Step) -> None:
        s, k, Ta, Tb = self._between(step)
        share = step.h * step.first
        run(add_force, share, Ta, s, self.part.joint_index, step.work.residual)
        if step.tangent is not None and step.implicit:
            block = self.new_block()
            run(add_form, share, Ta, k, Tb, block)
            self.add_block(step.tangent, block)

    def arrive(self, step: Step) -> None:
        s, _, _, Tb = self._between(step)
        share = step.h * (step.first - 1.0)
        run(add_force, share, Tb, s, self.part.joint_index, step.work.residual)

    def symbolic(self, x: Symbols) -> None:
        d, _ = x.joint(self.i)
        k = x.number(self.part.source, "joint.limit_stiffness") + x.math.SX.zeros(self.nv)
        for i in range(self.nv):
            for sign, end in ((1.0, self.upper[i]), (-1.0, self.lower[i])):
                if np.isfinite(end):
                    x.store(0.5 * k[i] * x.math.fmax(sign * (d[i] - end), 0.0) ** 2)

    def energy(self, state: State, u: Array) -> float:
        d = self.joint.values(state.q[self.part.joint_slice])
        over = np.maximum(d - self.upper, 0.0) + np.maximum(self.lower - d, 0.0)
        return 0.5 * float(self.stiffness @ over**2)


@inner
def chord(k, a, b):  # type: ignore[no-untyped-def]
    """Slope of the chord of 1/2 k max(x, 0)^2 between x = a and b, and its derivative in b.

    A joint exactly at its limit has the stiffness of the stop.
    """
    if a >= 0.0 and b >= 0.0:
        return 0.5 * k * (a + b), 0.5 * k
    if a <= 0.0 and b <= 0.0:
        return 0.0, 0.0
    if b > 0.0:
        part = b / (b - a)
        return 0.5 * k * b * part, 0.5 * k * part * (2.0 - part)
    part = a / (a - b)
    return 0.5 * k * a * part, 0.5 * k * part * part


@kernel
def set_chord(stiffness, lower, upper, da, db, s, k):  # type: ignore[no-untyped-def]
    """s (n,) and k (n,), its derivative in db, of the stops between values da and db (n,)."""
    for i in range(s.shape[0]):
        s[i], k[i] = chord(stiffness[i], da[i] - upper[i], db[i] - upper[i])
        stress, slope = chord(stiffness[i], lower[i] - da[i], lower[i] - db[i])
        s[i] -= stress
        k[i] += slope


def terms(tree: Tree) -> list[Term]:
    """The elastic stops of all joints that have limits."""
    joints = [part.joint for part in tree.parts]
    return [
        JointLimit(tree, i)
        for i, x in enumerate(joints)
        if x.limits is not None and x.limit_stiffness is not None
    ]
