"""Drives of joints by a torque or a force: an input acts along one coordinate of a joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import ask, run
from pliant.joints.contract import FORCES
from pliant.physics.contract import Moment, Step, Term
from pliant.physics.joint_terms import JointTerm
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class JointDrive(JointTerm):
    """The input of coordinate k of a joint, N m or N: it acts on the part, minus it on the carrier."""

    compiled = True
    smooth = True
    size = 1

    def __init__(self, tree: Tree, i: int, k: int, name: str) -> None:
        super().__init__(tree, i)
        self.k, self.input = k, name

    def numbers(self, value: Any) -> Array:
        return np.array([float(value)])

    def conservative(self, u: Array) -> bool:
        return self.joint.additive or not self.active(u)

    def _add(self, work: Work, scale: float, u: Array) -> None:
        run(add_input, -scale, u[self.at], int(self.part.joint_index[self.k]), work.residual)

    def act(self, m: Moment) -> None:
        self._add(m.work, 1.0, m.u)
        if m.tangent is not None and not self.joint.additive:
            force, block = np.zeros(self.nv), self.new_block()
            run(set_force, m.u[self.at], self.k, force)
            ask(self.joint.add_turning, force, block)
            self.add_block(m.tangent, block)

    def leave(self, step: Step) -> None:
        self._add(step.work, step.h * step.first, step.u)

    def arrive(self, step: Step) -> None:
        self._add(step.work, -step.h * (1.0 - step.first), step.u)

    def symbolic(self, x: Symbols) -> None:
        assert self.input is not None
        x.drive(self.i, x.math.SX(np.eye(self.nv)[:, self.k]) * x.input(self.input))

    def energy(self, state: State, u: Array) -> float:
        if not self.joint.additive:
            return 0.0
        return -float(u[self.at][0] * state.q[self.part.joint_slice][self.k])

    def add_work_done(self, a: State, b: State, u: Array, out: Array) -> None:
        change, _ = self.change(a, b)
        run(add_input_work, u[self.at], change, self.k, out)


@kernel
def add_input(scale, u, at, out):  # type: ignore[no-untyped-def]
    """out_at += scale u_0."""
    out[at] += scale * u[0]


@kernel
def set_force(u, k, out):  # type: ignore[no-untyped-def]
    """out (nv,) = u_0 along coordinate k."""
    for i in range(out.shape[0]):
        out[i] = u[0] if i == k else 0.0


@kernel
def add_input_work(u, change, k, out):  # type: ignore[no-untyped-def]
    """out_0 += u_0 change_k."""
    out[0] += u[0] * change[k]


def terms(tree: Tree) -> list[Term]:
    """The drives of all joints by torques and forces."""
    found: list[Term] = []
    for i, part in enumerate(tree.parts):
        words = part.joint.drives
        names = part.joint.driven_inputs(part.name)
        found += [JointDrive(tree, i, k, names[k]) for k in names if words[k] in FORCES]
    return found
