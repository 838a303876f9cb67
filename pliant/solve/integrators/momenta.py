"""Steps on momenta, which the variational integrators share.

A motion has a configuration q and momenta p = J^T M J v. With eta = log(ga^-1 gb) / h at each inertial
station, a step of h seconds from a to b solves

    Ja^T dexp(-h eta)^-T M eta + (impulses that leave a) + Aa^T lam = pa,      b(qb) = 0

for qb, and passes on

    pb = Jb^T dexp(h eta)^-T M eta + (impulses that arrive at b).

An integrator says which impulses leave, in `set_residual`, and which arrive, in `arrive`. Here is what
is left: rates from momenta, guesses, the energy balance and the work of drives.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops
from pliant.engine.arrays import clear, combine, copy, put, put_values
from pliant.engine.newton import Policy
from pliant.engine.program import ask, run
from pliant.lie.se3_kernels import step_twists
from pliant.linalg.scatter import add_at
from pliant.physics.contract import Moment, Step
from pliant.physics.effects import Effects, Inputs
from pliant.physics.inertia import flat_momentum, step_momentum
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import Stepper, rounding_force
from pliant.solve.integrators.drives import set_moved
from pliant.solve.integrators.impacts import Impacts
from pliant.solve.mass import Mass
from pliant.tree.backward import gather
from pliant.tree.forward import kinetic_energy
from pliant.tree.state import State
from pliant.tree.work import Work

_RINGING = 1.5
"""Kinetic energy of momenta, relative to that of mean velocities, above which a motion rings."""
POLICY = Policy(iterations=30, least=1, contraction=0.1, keep=3)
"""At least one correction: a motion that only follows its prediction would be an explicit one."""


class MomentumStepper(Stepper):
    """Steps on momenta.

    p (total,) is the momentum at the start of a step, given (total,) what leaves it whatever the end
    will be, `goal` the difference. implicit : whether impulses depend on the end of the step; first :
    part of an impulse that leaves its start, the rest arrives at its end.
    """

    def __init__(
        self, effects: Effects, h: float, tolerance: float, implicit: bool, first: float
    ) -> None:
        super().__init__(effects, h, POLICY, tolerance)
        self.implicit, self.first = implicit, first
        tree = self.tree
        self.mass = Mass(effects)
        self.numbers[loops.FLOOR] = h * rounding_force(effects, h)
        self.counts[loops.KNOWS_LAST] = -1
        self.p, self.given, self.goal, self._known, self._variation, self._leaving = np.zeros(
            (6, tree.total)
        )
        if not implicit:
            self.hint = (
                "dt below 2 / (2 pi f) for the highest frequency f of the robot, or Midpoint()"
            )
        self._acting = self.mean if implicit else self.before
        self._previous, self._next = np.zeros(tree.nq), np.zeros(tree.nq)
        self.impacts = Impacts(effects, self.mass)

    # -- state -------------------------------------------------------------------------------

    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        self._previous[...] = self.q
        a = self.a.place(self.q)
        self.p[...] = self.mass.momentum(a, v)
        put(v, self.tree.prescribed, self._known)
        self.scale = float(np.linalg.norm(self.p))
        for at, w in zip(a.parts, self.workspace.parts, strict=True):
            w.met[...] = at.strain.e
        for term in self.effects.rows:
            term.settle(a, self.workspace, self.z)
        self.impacts.hidden[0] = 0.0

    def velocity(self) -> Array:
        return self._rates_at(self.a)

    def holders(self) -> list[Any]:
        return [*super().holders(), self.impacts]

    def _rates_at(self, state: State) -> Array:
        return self.mass.solve(state, self.p, known=self._known, z=self.z)

    def rings(self) -> bool:
        """Compare the kinetic energy of the momenta with that of the mean twists of the last step."""
        if np.array_equal(self._previous, self.q):
            return False
        before, after, mean = self._sampled.place(self._previous), self.a, 0.0
        for part, start, end in zip(self.tree.parts, before.parts, after.parts, strict=True):
            heavy, eta = slice(part.inertial), np.zeros((part.inertial, 6))
            run(step_twists, start.g[heavy], end.g[heavy], self.h, eta)
            mean += 0.5 * float(np.sum(part.M * eta**2))
        work = self.mass.work
        return kinetic_energy(self.tree, after, work, self.velocity()) > _RINGING * mean

    def note_rates(self, b: State) -> None:
        """Note the momenta, from which `rates_of` finds the rates, or where these do not suffice the
        rates: where joints are prescribed or rows one-sided.
        """
        if self._momenta_suffice:
            copy(self.p, self.rates)
        else:
            self.mass.find_rates(b, self.p, self._known, self.z, self.rates)
            run(mark_rough, self.mass.tangent.matrix.flags, self.rates)

    @property
    def _momenta_suffice(self) -> bool:
        return not (len(self.tree.prescribed) or self.effects.one_sided)

    def rates_of(self, q: Array, noted: Array) -> Array:
        if not self._momenta_suffice:
            if np.isnan(noted).any():
                raise self.mass.without_mass()
            return noted
        state = self._sampled
        rates = [self.mass.solve(state.place(x), p) for x, p in zip(q, noted, strict=True)]
        return np.array(rates).reshape(noted.shape)

    @cached_property
    def _sampled(self) -> State:
        """Where snapshots are looked at."""
        return State(self.tree)

    # -- one step ----------------------------------------------------------------------------

    def step(self, a: State, b: State, work: Work, tangent: bool) -> Step:
        """The step from a to b, as effects see it that write to `work`."""
        filled = self.tangent if tangent else None
        rule = (self.h, self.first, self.implicit)
        return Step(self.tree, a, b, work, *rule, self._acting, self.trial, filled, self.memory)

    def begin_step(self, a: State, b: State) -> None:
        """Set what has to leave the start of a step: momentum, with the impulse of the loads there.

        Loads that change act with their mean at both ends, as elastic stresses do. With the load of
        each end there, modes much faster than the step would answer to the first one alone, lag
        behind by its change in a step, and alternate about equilibrium from then on.
        """
        work = self.workspace
        step = self.step(a, b, work, False)
        copy(self.z, self.trial)
        work.clear(False)
        for term in self.effects.terms:
            ask(term.leave, step)
        gather(self.tree, a, work, work.residual)
        copy(work.residual, self.given)
        combine(1.0, self.p, -1.0, self.given, self.goal)

    def guesses(self, a: State, b: State) -> list[Callable[[], None]]:
        """Go on as in the last step."""

        def predict() -> None:
            combine(2.0, self.q, -1.0, self._previous, b.q)
            for part, at in zip(self.tree.parts, b.parts, strict=True):
                if part.joint.nq:
                    past, now = self._previous[part.joint_slice], self.q[part.joint_slice]
                    ask(part.joint.extrapolate, past, now, at.joint_q)
            self._drive(b)

        return [predict]

    def _drive(self, b: State) -> None:
        """Set prescribed joints where the inputs have them."""
        put_values(self.joint_q, self.effects.prescribed.q_places, b.q)

    def aim_at(self, leader: Stepper, b: State) -> None:
        at = next(i for i, state in enumerate(self.states) if state is b)
        copy(leader.states[at].q, b.q)
        copy(leader.trial, self.trial)
        self._drive(b)

    # -- equations ---------------------------------------------------------------------------

    def place_iterate(self, a: State, b: State) -> None:
        b.place(b.q)

    def set_momenta(self, a: State, b: State, tangent: bool) -> None:
        """Begin a residual: momenta that leave a and arrive at b, with their derivative in b."""
        tree, work = self.tree, self.workspace
        work.clear(tangent)
        if tangent:
            self.tangent.clear()
        for part, start, end, w in zip(tree.parts, a.parts, b.parts, work.parts, strict=True):
            clear(w.pb[part.inertial :])
            flat = len(part.mass_s) if part.map.normal >= 0 else 0
            for first, last in ((0, flat), (flat, part.inertial)):
                at, where = slice(first, last), slice(first, None)
                given = (part.M[at], start.g[where], end.g[where], self.h, tangent)
                out = (w.eta[where], w.p[where], w.pb[where], w.k[where])
                if last == flat > 0:
                    run(flat_momentum, part.map.normal, *given, *out)
                elif last > first:
                    run(step_momentum, *given, *out)
            w.mass = True

    @abstractmethod
    def arrive(self, a: State, b: State) -> None:
        """Set the momentum (total,) that the step brings to its end, in the residual of the work."""

    def weigh(self, a: State, b: State) -> None:
        heavy, everywhere = self.tree.heaviness / self.h, np.arange(self.tree.total)
        self.weigh_play(self.goal, everywhere, heavy, 1.0)

    def move_iterate(self, a: State, b: State) -> None:
        copy(self.x, self._variation[: len(self.x)])
        self.tree.advance(b, self._variation, self._next)
        copy(self._next, b.q)
        run(add_at, self.effects.gap_rows, self.x, self.trial)

    # -- the end of a step -------------------------------------------------------------------

    def accept_step(self, a: State, b: State) -> None:
        """Take the iterate as the end of the step; momentum in its residual is left to the next step.

        So what the tolerance lets pass does not add up, however many steps a motion has.
        """
        tree, effects = self.tree, self.effects
        put(self.left, tree.prescribed, self._leaving)
        if self.keeps_account:
            self._account(a, b)
        self.arrive(a, b)
        arrived = self.workspace.residual
        run(leave_residual, self.left, tree.coordinates, effects.gap_rows, arrived)
        if self.keeps_account and effects.one_sided:
            ends = (a, self.p), (b, arrived)
            self.impacts.account(*ends, self.trial, self.h, self._known, self.account[1:2])
        copy(arrived, self.p)
        copy(self.q, self._previous)
        self.take_over(b)
        if len(tree.prescribed):
            self._account_drives(b)

    def _account(self, a: State, b: State) -> None:
        """Add work and loss of the step."""
        tree = self.tree
        if any(term.needs_twists for term in self.effects.terms):
            self._set_light_twists(a, b)
        v = np.zeros(tree.total)
        for part, start, end in zip(tree.parts, a.parts, b.parts, strict=True):
            if part.joint.nv:
                change = np.zeros(part.joint.nv)
                ask(part.joint.set_difference, start.joint_q, end.joint_q, change)
                combine(1.0 / self.h, change, 0.0, change, change)
                put_values(change, part.joint_index, v)
        moment = Moment(
            tree, b, self.workspace, self.mean, self.trial, v=v, ahead=0.5 * self.h, start=a,
            memory=self.memory,
        )  # fmt: skip
        self.effects.add_losses(moment, self.h, self.account[1:])
        self.effects.add_work(a, b, self.mean, self.account[:1])

    def _set_light_twists(self, a: State, b: State) -> None:
        """Set the mean twists of stations without inertia."""
        states = zip(a.parts, b.parts, strict=True)
        for part, (start, end), w in zip(
            self.tree.parts, states, self.workspace.parts, strict=True
        ):
            light = slice(part.inertial, None)
            run(step_twists, start.g[light], end.g[light], self.h, w.eta[light])

    def _account_drives(self, b: State) -> None:
        """Work of prescribed joints: the mean force of the step on them times their displacement.

        The impulse at the end of the step is the momentum that the joint has by its rates, less what
        the step brings there; the impulse at the start was the residual of the joint. Rows act at the
        start of steps only: what is missing of their impulse where the rates are taken, by which these
        keep the rows, is counted on the joint as it is on all else.
        """
        tree, moved, owned, v = self.tree, *(np.zeros(self.tree.total) for _ in range(3))
        put_values(self.joint_v, self.effects.prescribed.v_places, self._known)
        self.mass.find_rates(b, self.p, self._known, self.z, v)
        self.mass.set_momentum(b, v, owned)
        self.mass.add_row_impulses(b, owned)
        set_moved(self.effects, self._previous, self.q, moved)
        share = 1.0 / self.h if self.keeps_account else 0.0
        where = (tree.prescribed, self._leaving, owned, moved)
        run(account_drives, *where, share, self.p, self.account)


@kernel
def mark_rough(flags, v):  # type: ignore[no-untyped-def]
    """Make v (total,) NaN if it comes from a matrix that is singular, or from a rough solution."""
    if flags[0] < 0 or flags[2] != 0:
        for i in range(v.shape[0]):
            v[i] = np.nan


@kernel
def account_drives(prescribed, leaving, owned, moved, share, p, account):  # type: ignore[no-untyped-def]
    """account_0 += share (leaving + owned - p) . moved over prescribed coordinates; p = owned there."""
    for at in prescribed:
        account[0] += share * (leaving[at] + owned[at] - p[at]) * moved[at]
        p[at] = owned[at]


@kernel
def leave_residual(left, free, rows, arrived):  # type: ignore[no-untyped-def]
    """Take what was left of the balance off the momentum that arrives; gaps have none."""
    for at in free:
        arrived[at] -= left[at]
    for at in rows:
        arrived[at] = 0.0
