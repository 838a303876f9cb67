"""Springs and dampers in joints: -k (d - rest) - c |v|^power sign(v) on the coordinates of a joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.engine.arrays import combine, take
from pliant.engine.program import ask, run
from pliant.model.checks import as_float
from pliant.physics.contract import Moment, Step, Term
from pliant.physics.joint_terms import (
    JointTerm,
    add_force,
    add_form,
    add_losses,
    multiply,
    set_dampers,
)
from pliant.physics.symbolic import Symbols, damper_force
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class JointSpring(JointTerm):
    """Stiffness of the values d of one joint and damping of its velocities v."""

    compiled = True
    smooth = True
    column = "elastic"

    def __init__(self, tree: Tree, i: int) -> None:
        super().__init__(tree, i)
        self.stiffness, self.damping = self.joint.each("stiffness"), self.joint.each("damping")
        self.power = self.joint.each("power")
        self.rest = self.joint.relaxed
        self._unit = np.eye(self.nv)

    def _stress(self, d: Array) -> Array:
        s = np.zeros(self.nv)
        combine(1.0, d, -1.0, self.rest, s)
        run(multiply, self.stiffness, s)
        return s

    def act(self, m: Moment) -> None:
        d, T = self.values(m.state)
        s, index = self._stress(d), self.part.joint_index
        run(add_force, 1.0, T, s, index, m.work.residual)
        rates, slopes = np.zeros(self.nv), np.zeros(self.nv)
        if m.v is not None:
            take(m.v, index, rates)
        run(set_dampers, self.damping, self.power, 1.0, rates, slopes)
        run(add_force, 1.0, self._unit, rates, index, m.work.residual)
        if m.tangent is not None:
            block = self.new_block()
            ask(self.joint.add_curvature, self.coordinates(m.state), s, block)
            run(add_form, 1.0, T, self.stiffness, T, block)
            run(add_form, m.speed, self._unit, slopes, self._unit, block)
            self.add_block(m.tangent, block)

    def _add_impulse(self, step: Step, share: float, at: State) -> None:
        """Add a share of the impulse of a step: at the mean, or at its start if it is explicit."""
        (da, Ta), (db, Tb) = self.values(step.a), self.values(step.b)
        d, index = np.zeros(self.nv), self.part.joint_index
        mean = 0.5 if step.implicit else 0.0
        combine(1.0 - mean, da, mean, db, d)
        T = Ta if at is step.a else Tb
        run(add_force, share * step.h, T, self._stress(d), index, step.work.residual)
        change, slopes = self.change(step.a, step.b)[0], np.zeros(self.nv)
        run(set_dampers, self.damping, self.power, step.h, change, slopes)
        run(add_force, share, self._unit, change, index, step.work.residual)

    def go(self, step: Step) -> None:
        self._add_impulse(step, step.first, step.a)
        if step.tangent is not None:
            block = self.new_block()
            Ta, Tb, slopes = self.values(step.a)[1], self.values(step.b)[1], np.zeros(self.nv)
            change, X = self.change(step.a, step.b)
            run(set_dampers, self.damping, self.power, step.h, change, slopes)
            if step.implicit:
                run(add_form, 0.5 * step.h * step.first, Ta, self.stiffness, Tb, block)
            run(add_form, step.first, self._unit, slopes, X, block)
            self.add_block(step.tangent, block)

    def arrive(self, step: Step) -> None:
        self._add_impulse(step, step.first - 1.0, step.b)

    def symbolic(self, x: Symbols) -> None:
        (d, v), source = x.joint(self.i), self.part.source
        k, c = (x.number(source, f"joint.{f}") for f in ("stiffness", "damping"))
        given = self.joint.rest
        told = given is not None and None not in np.atleast_1d(np.array(given, dtype=object))
        rest = x.number(source, "joint.rest") if told else x.math.DM(self.rest)
        x.store(0.5 * x.math.sum1(k * (d - rest) ** 2))
        x.drive(self.i, -self._damping(x, c, x.number(source, "joint.power"), v))

    def _damping(self, x: Symbols, c: Any, power: Any, v: Any) -> Any:
        """Forces (nv, 1) of the dampers with symbols."""
        ones = x.math.DM.ones(self.nv)
        one = as_float(power) is not None
        powers = [power] * self.nv if one else x.math.vertsplit(power * ones)
        pairs = zip(x.math.vertsplit(c * ones), powers, x.math.vertsplit(v), strict=True)
        forces = [damper_force(x, *given) for given in pairs]
        return x.math.vertcat(*forces)

    def energy(self, state: State, u: Array) -> float:
        d = self.joint.values(state.q[self.part.joint_slice]) - self.rest
        return 0.5 * float(self.stiffness @ d**2)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        assert m.v is not None
        rates = np.zeros(self.nv)
        take(m.v, self.part.joint_index, rates)
        run(add_losses, scale, self.damping, self.power, rates, out)


def terms(tree: Tree) -> list[Term]:
    """The springs and dampers of all joints that have them."""
    joints = [part.joint for part in tree.parts]
    sprung = [i for i, x in enumerate(joints) if np.any(x.stiffness) or np.any(x.damping)]
    return [JointSpring(tree, i) for i in sprung if joints[i].nv]
