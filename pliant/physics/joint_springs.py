"""Springs and dampers in joints: forces -k (q - rest) - c q' on the coordinates of a joint."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import take
from pliant.engine.program import ask, run
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tangent import Pair, Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class JointSpring(KernelTerm):
    """Stiffness and damping of one joint."""

    compiled = True
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

    def _add(self, factor: float, x: Array, work: Work) -> None:
        """Add factor times x (nv,) to the forces on the joint."""
        run(add_force, factor, x, self.part.joint_index, work.residual)

    def _set_displacement(self, state: State) -> Array:
        out = np.zeros(self.part.joint.nv)
        rest = self.part.joint.rest()
        ask(self.part.joint.set_difference, rest, state.parts[self.i].joint_q, out)
        return out

    def act(self, m: Moment) -> None:
        self._add(self.stiffness, self._set_displacement(m.state), m.work)
        if m.v is not None:
            rates = np.zeros(self.part.joint.nv)
            take(m.v, self.part.joint_index, rates)
            self._add(self.damping, rates, m.work)
        if m.tangent is not None:
            self._add_slope(m.tangent, self.stiffness + m.speed * self.damping)

    def _add_impulse(self, step: Step, share: float) -> None:
        """Add a share of the impulse of a step: at the mean, or at its start if it is explicit."""
        ends = (step.a, step.b) if step.implicit else (step.a,)
        for state in ends:
            spring = share * step.h * self.stiffness / len(ends)
            self._add(spring, self._set_displacement(state), step.work)
        change = np.zeros(self.part.joint.nv)
        places = [state.parts[self.i].joint_q for state in (step.a, step.b)]
        ask(self.part.joint.set_difference, *places, change)
        self._add(share * self.damping, change, step.work)

    def go(self, step: Step) -> None:
        self._add_impulse(step, step.first)
        if step.tangent is not None:
            spring = 0.5 * step.h * self.stiffness if step.implicit else 0.0
            self._add_slope(step.tangent, step.first * (spring + self.damping))

    def arrive(self, step: Step) -> None:
        self._add_impulse(step, step.first - 1.0)

    def energy(self, state: State, u: Array) -> float:
        d = self._displacement(state)
        return 0.5 * self.stiffness * float(d @ d)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        assert m.v is not None
        run(add_loss, scale * self.damping, m.v, self.part.joint_index, out)


@kernel
def add_loss(damping, v, index, out):  # type: ignore[no-untyped-def]
    """out_0 += damping |v[index]|^2."""
    for at in index:
        out[0] += damping * v[at] * v[at]


@kernel
def add_force(factor, x, index, out):  # type: ignore[no-untyped-def]
    """out[index] += factor x."""
    for j in range(index.shape[0]):
        out[index[j]] += factor * x[j]


def terms(tree: Tree) -> list[Term]:
    """The springs and dampers of all joints that have them."""
    joints = [part.joint for part in tree.parts]
    return [JointSpring(tree, i) for i, x in enumerate(joints) if x.stiffness or x.damping]
