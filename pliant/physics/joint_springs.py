"""Springs and dampers in joints: forces -k (q - rest) - c q' on the coordinates of a joint."""

from __future__ import annotations

import numpy as np

from pliant.physics.contract import Moment, Step, Term
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree


class JointSpring(Term):
    """Stiffness and damping of one joint."""

    column = "elastic"

    def __init__(self, tree: Tree, i: int) -> None:
        self.i = i
        self.part = tree.parts[i]
        self.stiffness, self.damping = self.part.joint.stiffness, self.part.joint.damping

    def pairs(self) -> list[Pair]:
        mine = self.part.joint_index[None]
        return [(mine, mine)]

    def _displacement(self, state: State) -> Array:
        return self.part.joint.displacement(state.q[self.part.joint_slice])

    def _add_slope(self, tangent: Tangent, slope: float) -> None:
        block = slope * np.eye(self.part.joint.nv)[None]
        tangent.add(tangent.effects[self.number][0], block)

    def act(self, m: Moment) -> None:
        at = self.part.joint_index
        m.work.residual[at] += self.stiffness * self._displacement(m.state)
        if m.v is not None:
            m.work.residual[at] += self.damping * m.v[at]
        if m.tangent is not None:
            self._add_slope(m.tangent, self.stiffness + m.speed * self.damping)

    def _impulse(self, step: Step) -> Array:
        """Impulse of spring and damper in a step: at the mean, or at its start if it is explicit."""
        before, after = self._displacement(step.a), self._displacement(step.b)
        mean = 0.5 * (before + after) if step.implicit else before
        return step.h * self.stiffness * mean + self.damping * self._change(step)

    def _change(self, step: Step) -> Array:
        joint, at = self.part.joint, self.part.joint_slice
        return joint.difference(step.a.q[at], step.b.q[at])

    def go(self, step: Step) -> None:
        step.work.residual[self.part.joint_index] += step.first * self._impulse(step)
        if step.tangent is not None:
            spring = 0.5 * step.h * self.stiffness if step.implicit else 0.0
            self._add_slope(step.tangent, step.first * (spring + self.damping))

    def arrive(self, step: Step) -> None:
        step.work.residual[self.part.joint_index] -= (1.0 - step.first) * self._impulse(step)

    def energy(self, state: State, u: Array) -> float:
        d = self._displacement(state)
        return 0.5 * self.stiffness * float(d @ d)

    def power_lost(self, m: Moment) -> float:
        assert m.v is not None
        v = m.v[self.part.joint_index]
        return self.damping * float(v @ v)


def terms(tree: Tree) -> list[Term]:
    """The springs and dampers of all joints that have them."""
    joints = [part.joint for part in tree.parts]
    return [JointSpring(tree, i) for i, x in enumerate(joints) if x.stiffness or x.damping]
