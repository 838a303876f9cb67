"""Variational integrators written on stations: implicit midpoint and the explicit one.

Both come from a discrete Lagrangian on the stations of a robot. With eta = log(ga^-1 gb) / h at each
inertial station,

    Midpoint      Ld = h [ 1/2 sum eta.M eta - U((ea + eb)/2) ] - h/2 [V(qa) + V(qb)]
    Variational   Ld = h [ 1/2 sum eta.M eta - U(ea) - V(qa) ]             (Xun et al. 54-55)

where U is elastic and V the potential of the loads, of their mean over the step (Midpoint) or of those
at its start. The discrete Euler-Lagrange equations are solved for qb with momenta p carried from step
to step:

    Ja^T dexp(-h eta)^-T M eta + (impulses that leave a) + Aa^T lam = pa,      b(qb) = 0
    pb = Jb^T dexp(h eta)^-T M eta + (impulses that arrive at b)

(the printed equation (54) has the adjoint where dexp^-T stands here, and the opposite sign of the
potential in the Lagrangian). No second derivative of the map is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.lie import se3
from pliant.linalg.matrices import Matrix
from pliant.linalg.scatter import add_at, norms
from pliant.physics.contract import Moment, Step
from pliant.physics.effects import Effects, Inputs
from pliant.physics.inertia import step_momentum
from pliant.physics.viscosity import meet_between
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import (
    Integrator,
    Stepper,
    constraints_met,
    rounding_force,
    step_failed,
)
from pliant.solve.integrators.impacts import Impacts
from pliant.solve.mass import Mass
from pliant.solve.newton import Factor, NewtonError, Policy, newton
from pliant.tree.backward import gather, gather_form
from pliant.tree.state import State
from pliant.tree.work import Work

POLICY = Policy(iterations=30, contraction=0.1, keep=3)


@dataclass(frozen=True)
class Midpoint(Integrator):
    """Implicit midpoint variational integrator: second order, no energy drift.

    It stands steps far longer than the shear and stretch waves of a rod. Where the step is too long
    even for fast bending at large rotation and nothing damps it, energy can grow; simulate() warns.

    tolerance : residual of a step relative to the momenta in play.
    """

    tolerance: float = 3e-7
    variational: ClassVar[bool] = True

    def stepper(self, effects: Effects, h: float) -> Stepper:
        return VariationalStepper(effects, h, self.tolerance, 0.5)


@dataclass(frozen=True)
class Variational(Integrator):
    """The explicit variational integrator of the Lie-group framework: cheap, conditionally stable.

    The step must stay below 2 / omega, omega the highest frequency of the discretised robot.
    tolerance : residual of a step relative to the momenta in play.
    """

    tolerance: float = 1e-10
    variational: ClassVar[bool] = True
    halves: ClassVar[bool] = False

    def stepper(self, effects: Effects, h: float) -> Stepper:
        return VariationalStepper(effects, h, self.tolerance, 0.0)


class VariationalStepper(Stepper):
    """Steps of `Midpoint` (share = 1/2 of the elastic impulse implicit) or `Variational` (0)."""

    def __init__(self, effects: Effects, h: float, tolerance: float, share: float) -> None:
        super().__init__(effects, h)
        self.tolerance = tolerance
        self.implicit = share > 0.0
        self.share = share
        self.first = share if self.implicit else 1.0
        self.a, self.b = State(self.tree), State(self.tree)
        self.workspace = Work(self.tree)
        self.tangent = effects.tangent(False)
        self.factor = Factor()
        self.mass = Mass(effects)
        self._floor = h * rounding_force(effects, h)

    # -- state -------------------------------------------------------------------------------

    def start(self, q: Array, v: Array, inputs: Inputs) -> None:
        self.q = q.copy()
        self.a.place(self.q)
        self.p = self.mass.momentum(self.a, v)
        self._known = np.zeros(self.tree.total)
        self._known[self.tree.prescribed] = v[self.tree.prescribed]
        self._previous: Array | None = None
        self.scale = float(np.linalg.norm(self.p))
        for at, w in zip(self.a.parts, self.workspace.parts, strict=True):
            w.met[...] = at.strain.e
        for term in self.effects.rows:
            term.settle(self.a, self.workspace, self.z)
        self.impacts = Impacts(self.effects, self.mass)

    def velocity(self) -> Array:
        return self.mass.solve(self.a, self.p, known=self._known, z=self.z)

    # -- one step ----------------------------------------------------------------------------

    def solve(self, before: Inputs, after: Inputs) -> None:
        self.begin(before, after)
        self.aim(self._predict(), self.z.copy(), after)
        self.factor.age += 1
        try:
            self.iterations += newton(self, POLICY, self.factor).iterations
        except NewtonError as reason:
            raise step_failed(self.h, str(reason), self._hint(), POLICY.iterations) from None

    def begin(self, before: Inputs, after: Inputs) -> None:
        """Set what has to leave the start of a step: momentum, with the impulse of the loads there.

        Loads that change act with their mean at both ends, as elastic stresses do. With the load of
        each end there, modes much faster than the step would answer to the first one alone, lag
        behind by its change in a step, and alternate about equilibrium from then on.
        """
        tree, work = self.tree, self.workspace
        u = before.mix(after, 0.5).u if self.implicit else before.u
        self.step = Step(tree, self.a, self.b, work, self.h, self.first, self.implicit, u, self.z)
        work.clear(False)
        for term in self.effects.terms:
            term.leave(self.step)
        gather(tree, self.a, work, work.residual)
        self.goal = self.p - work.residual
        self._first = True

    def aim(self, q: Array, z: Array, after: Inputs) -> None:
        """Set the iterate: the end of the step, with prescribed joints where the inputs have them."""
        self.end, self.step.z = self.effects.prescribed.put(q, after.drive), z

    def _predict(self) -> Array:
        """Go on as in the last step."""
        if self._previous is None:
            return self.q.copy()
        return self.tree.predict(self._previous, self.q)

    @property
    def iterate(self) -> tuple[Array, Array]:
        return self.end, self.step.z

    def _hint(self) -> str:
        if self.implicit:
            return "a smaller dt"
        return "dt below 2 / (2 pi f) for the highest frequency f of the robot, or Midpoint()"

    # -- equations ---------------------------------------------------------------------------

    @property
    def matrix(self) -> Matrix:
        return self.tangent.matrix

    def residual(self, tangent: bool) -> Array:
        tree, work, h = self.tree, self.workspace, self.h
        self.b.place(self.end)
        work.clear(tangent)
        self.step.tangent = self.tangent if tangent else None
        if tangent:
            self.tangent.clear()
        for part, a, b, w in zip(tree.parts, self.a.parts, self.b.parts, work.parts, strict=True):
            w.pb[part.inertial :] = 0.0
            step_momentum(part.M, a.g, b.g, h, tangent, w.eta, w.p, w.pb, w.k)
            w.mass = True
        meet_between(work, self.a, self.b, h, self.share)
        for term in self.effects.terms:
            term.go(self.step)
        gather(tree, self.a, work, work.residual)
        if tangent:
            gather_form(tree, self.a, self.b, work, self.tangent)
        self.left = work.residual - self.goal
        if self._first:
            self._first = False
            force, _ = self._norms(self.left)
            self.scale = max(self.scale, math.sqrt(self.goal @ self.goal), force)
        return self.left

    def _norms(self, r: Array) -> tuple[float, float]:
        effects = self.effects
        return norms(r, self.tree.coordinates, effects.gap_rows, effects.gap_weights)

    def size(self, residual: Array) -> float:
        """Size of a residual in units of momentum: gaps count relative to strain and length."""
        forces, gaps = self._norms(residual)
        return forces + gaps * self.scale

    def enough(self, size: float, residual: Array, at_rounding: bool) -> bool:
        small = size <= self.tolerance * self.scale + self._floor or at_rounding
        return small and constraints_met(self.effects, residual)

    def move(self, x: Array) -> None:
        step = np.zeros(self.tree.total)
        step[: len(x)] = x
        self.end = self.tree.moved(self.b, step)
        add_at(self.effects.gap_rows, x, self.step.z)

    # -- the end of a step -------------------------------------------------------------------

    def accept(self, before: Inputs, after: Inputs) -> None:
        """Take the iterate as the end of the step; momentum in its residual is left to the next step.

        So what the tolerance lets pass does not add up, however many steps a motion has.
        """
        tree, free = self.tree, self.tree.coordinates
        leaving = self.left[tree.prescribed].copy()
        if self.books:
            self._account(before, after)
        arrived = self._arrived()
        arrived[free] -= self.left[free]
        arrived[self.effects.gap_rows] = 0.0
        if self.books and self.effects.one_sided:
            ends = (self.a, self.p), (self.b, arrived)
            self.dissipated += self.impacts.taken(*ends, self.step.z, self.h, self._known)
        self._previous = self.q
        self.q, self.z, self.p = self.end, self.step.z, arrived
        self.a, self.b = self.b, self.a
        if len(tree.prescribed):
            self._account_drives(after, leaving)

    def _account(self, before: Inputs, after: Inputs) -> None:
        """Add work and loss of the step."""
        tree = self.tree
        mean = before.mix(after, 0.5).u
        if any(term.needs_twists for term in self.effects.terms):
            self._set_light_twists()
        v = np.zeros(tree.total)
        for part in tree.parts:
            if part.joint.nv:
                ends = (state.q[part.joint_slice] for state in (self.a, self.b))
                v[part.joint_index] = part.joint.difference(*ends) / self.h
        moment = Moment(tree, self.b, self.workspace, mean, self.step.z, v=v, ahead=0.5 * self.h)
        self.dissipated += self.h * sum(term.power_lost(moment) for term in self.effects.terms)
        self.work += sum(term.work_done(self.a, self.b, mean) for term in self.effects.terms)

    def _set_light_twists(self) -> None:
        """Set the mean twists of stations without inertia."""
        states = zip(self.a.parts, self.b.parts, strict=True)
        for part, (a, b), w in zip(self.tree.parts, states, self.workspace.parts, strict=True):
            light = slice(part.inertial, None)
            w.eta[light] = se3.log(se3.inverse(a.g[light]) @ b.g[light]) / self.h

    def _arrived(self) -> Array:
        """Momentum (total,) that the step brings to its end."""
        work = self.workspace
        stresses = [w.sigma * (1.0 / self.first - 1.0) for w in work.parts]
        work.clear(False)
        for w, stress in zip(work.parts, stresses, strict=True):
            w.p[...] = w.pb
            w.sigma -= stress
            w.mass = True
        for term in self.effects.terms:
            term.arrive(self.step)
        gather(self.tree, self.b, work, work.residual)
        return work.residual.copy()

    def _account_drives(self, after: Inputs, leaving: Array) -> None:
        """Work of prescribed joints: the mean force of the step on them times their displacement.

        The impulse at the end of the step is the momentum that the joint has by its rates, less what
        the step brings there; the impulse at the start was the residual of the joint.
        """
        at = self.tree.prescribed
        assert self._previous is not None
        self._known = self.effects.prescribed.rates(after.drive)[0]
        owned = self.mass.momentum(self.a, self.velocity())[at]
        steps = self.effects.prescribed.steps(self._previous, self.q)[at]
        self.work += float((leaving + owned - self.p[at]) @ steps) / self.h
        self.p[at] = owned
