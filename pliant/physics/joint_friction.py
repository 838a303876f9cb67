"""Dry friction in joints: a joint sticks until the force in it reaches the friction, then slides.

Coulomb's law, f in [-F, F] and f v = F |v|, in incremental form: over a step in which the joint moves
by x,

    f = clip(f_0 + (F / e) x, -F, F),

f_0 the friction at the start of the step and e the small way by which a joint gives way before it
slides (`STICKS`). A joint at rest stays where it is: it does not creep with time. Statics take the
step from where an equilibrium is sought. The force is that of the end of the step, so that a joint that
sticks does not rattle; in the acceleration form x is the way plus the velocity over its derivative.

Newton's method would jump to and fro between sliding both ways if the joint sticks. A coordinate that
has jumped from one way to the other between two iterates is therefore taken to stick in the next one
(an active set method).
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, take
from pliant.engine.program import ask, run
from pliant.physics.contract import Moment, Step, Term
from pliant.physics.joint_terms import JointTerm, add_force, add_form
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree

_STILL = 1e-2
"""Part of the way `STICKS` in a step below which a joint counts as sticking where no step is taken."""


_HELD = 1e8
"""How much stiffer a joint that sticks is there."""
_SLOW = 1e-3
"""Rate, in ways `STICKS` per second, below which a joint is at rest when a motion begins."""


class JointFriction(JointTerm):
    """Dry friction of one joint.

    Its memory has the coordinates (nq,) at the start of the step; then for each velocity the friction
    there, how the last iterate slides (-1, 0, 1), and its way, by which a new iterate is known.
    """

    compiled = True
    depends_on_way = True
    whole = True

    def __init__(self, tree: Tree, i: int) -> None:
        super().__init__(tree, i)
        self.friction = self.joint.each("friction")
        self.sticks = self.joint.sticks
        self.stiffness = self.friction / self.sticks
        self.nq = self.joint.nq
        self.memory = self.nq + 3 * self.nv
        self._unit = np.eye(self.nv)

    def conservative(self, u: Array) -> bool:
        return self.joint.additive

    # -- memory ------------------------------------------------------------------------------

    def remember(self, m: Moment, memory: Array) -> None:
        """A joint that slides has all its friction; one at rest what balances the forces on it."""
        index, rates = self.part.joint_index, np.zeros(self.nv)
        if m.v is not None:
            rates = np.where(np.abs(m.v[index]) > _SLOW * self.sticks, np.sign(m.v[index]), 0.0)
        held = np.clip(-m.work.residual[index], -self.friction, self.friction)
        f = np.where(rates == 0.0, held, rates * self.friction)
        # the way to an equilibrium begins with sticking, lest Newton's method overshoots
        slides = np.where((np.abs(f) < self.friction) | (m.v is None), 0.0, np.sign(f))
        memory[: self.nq] = self.coordinates(m.state)
        memory[self.nq :] = np.concatenate([f, slides, np.full(self.nv, np.nan)])

    def come_to_rest(self, m: Moment, memory: Array) -> None:
        self.keep(0.0, m.state, memory, m.u)

    def keep(self, h: float, state: State, memory: Array, u: Array) -> None:
        x, _ = self._way(state, memory)
        run(renew, self.friction, self.stiffness, x, memory[self.nq :])
        run(replace, self.coordinates(state), memory)

    def _own(self, memory: Array) -> Array:
        """Its part of the memory of all terms."""
        return memory[self.memory_at]

    def _way(self, state: State, memory: Array) -> tuple[Array, Array]:
        """The way (nv,) since the start of the step and its derivative (nv, nv)."""
        x, X = np.zeros(self.nv), np.zeros((self.nv, self.nv))
        ask(self.joint.set_change, memory[: self.nq], self.coordinates(state), x, X)
        return x, X

    def _law(self, x: Array, memory: Array) -> tuple[Array, Array]:
        """Friction (nv,) after a way x (nv,), and its derivative (nv,)."""
        f, k = np.zeros(self.nv), np.zeros(self.nv)
        run(set_friction, self.friction, self.stiffness, x, memory[self.nq :], f, k)
        return f, k

    # -- what acts ---------------------------------------------------------------------------

    def act(self, m: Moment) -> None:
        index, rates = self.part.joint_index, np.zeros(self.nv)
        if m.v is not None:
            take(m.v, index, rates)
        if m.memory is None:
            f, k, X = *self._instant(m, rates), self._unit
        else:
            memory = self._own(m.memory)
            x, X = self._way(m.state, memory)
            if m.speed:
                run(add_rates, 1.0 / m.speed, rates, x)
            f, k = self._law(x, memory)
        run(add_force, 1.0, self._unit, f, index, m.work.residual)
        if m.tangent is not None:
            block = self.new_block()
            run(add_form, 2.0 if m.speed and m.memory is not None else 1.0, self._unit, k, X, block)
            self.add_block(m.tangent, block)

    def _instant(self, m: Moment, rates: Array) -> tuple[Array, Array]:
        """Friction and its derivative where no step is taken: in motion it slides or is stiff."""
        f, k = np.zeros(self.nv), np.zeros(self.nv)
        clear(f)
        clear(k)
        if m.v is not None and m.mobility is not None:
            still = _STILL * self.sticks / (2.0 * np.sqrt(m.mobility))
            run(set_instant, self.friction, _HELD * self.stiffness, still, rates, f, k)
        return f, k

    def go(self, step: Step) -> None:
        memory, index = self._own(step.memory), self.part.joint_index
        x, X = self._way(step.b, memory)
        f, k = self._law(x, memory)
        before = memory[self.nq : self.nq + self.nv]
        run(add_force, step.h, self._unit, f, index, step.work.residual)
        run(add_force, step.h * (step.first - 1.0), self._unit, before, index, step.work.residual)
        if step.tangent is not None:
            block = self.new_block()
            run(add_form, step.h, self._unit, k, X, block)
            self.add_block(step.tangent, block)

    def arrive(self, step: Step) -> None:
        memory = self._own(step.memory)
        f, _ = self._law(self._way(step.b, memory)[0], memory)
        share = step.h * (step.first - 1.0)
        run(add_force, share, self._unit, f, self.part.joint_index, step.work.residual)

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        if m.memory is None or m.v is None:
            return
        memory, rates = self._own(m.memory), np.zeros(self.nv)
        take(m.v, self.part.joint_index, rates)
        x, _ = self._way(m.state, memory)
        given = (self.friction, self.stiffness, x, memory[self.nq :])
        run(add_friction_loss, scale, *given, rates, out)


def terms(tree: Tree) -> list[Term]:
    """The dry friction of all joints that have it."""
    joints = [part.joint for part in tree.parts]
    return [JointFriction(tree, i) for i, x in enumerate(joints) if x.nv and np.any(x.friction)]


@kernel
def set_friction(limit, stiffness, x, memory, f, k):  # type: ignore[no-untyped-def]
    """f (n,) and k (n,), its derivative in x (n,); memory (3 n,) as in `JointFriction`."""
    n = limit.shape[0]
    for i in range(n):
        trial = memory[i] + stiffness[i] * x[i]
        if x[i] != memory[2 * n + i]:
            slides = 1.0 if trial > limit[i] else -1.0 if trial < -limit[i] else 0.0
            if trial == memory[n + i] * limit[i]:
                slides = memory[n + i]
            memory[n + i] = 0.0 if slides * memory[n + i] < 0.0 else slides
            memory[2 * n + i] = x[i]
        slides = memory[n + i]
        f[i] = trial if slides == 0.0 else slides * limit[i]
        k[i] = stiffness[i] if slides == 0.0 else 0.0


@kernel
def renew(limit, stiffness, x, memory):  # type: ignore[no-untyped-def]
    """Set the memory (3 n,) to the friction at the end of a step in which the joint moved by x (n,)."""
    n = limit.shape[0]
    for i in range(n):
        trial = memory[i] + stiffness[i] * x[i]
        memory[i] = min(max(trial, -limit[i]), limit[i])
        memory[n + i] = 1.0 if trial >= limit[i] else -1.0 if trial <= -limit[i] else 0.0
        memory[2 * n + i] = np.nan


@kernel
def replace(q, memory):  # type: ignore[no-untyped-def]
    """The first entries of the memory become q (nq,)."""
    for i in range(q.shape[0]):
        memory[i] = q[i]


@kernel
def add_rates(scale, rates, x):  # type: ignore[no-untyped-def]
    """x += scale rates."""
    for i in range(x.shape[0]):
        x[i] += scale * rates[i]


@kernel
def set_instant(limit, stiffness, still, rates, f, k):  # type: ignore[no-untyped-def]
    """Friction f (n,) of a joint that slides at some rates (n,); k (n,) is large where it sticks."""
    for i in range(limit.shape[0]):
        if rates[i] > still[i]:
            f[i] = limit[i]
        elif rates[i] < -still[i]:
            f[i] = -limit[i]
        else:
            k[i] = stiffness[i]


@kernel
def add_friction_loss(scale, limit, stiffness, x, memory, rates, out):  # type: ignore[no-untyped-def]
    """out_0 += scale f . rates with the friction f after a way x (n,)."""
    for i in range(limit.shape[0]):
        trial = memory[i] + stiffness[i] * x[i]
        out[0] += scale * min(max(trial, -limit[i]), limit[i]) * rates[i]
