"""Steps of the integrators in acceleration form on the manifold.

The step is q1 = q0 o exp(D) with an unknown increment D of the coordinates, from which rates and
accelerations follow linearly; balance holds at the end of the step:

    J^T (M eta' - ad(eta)^T M eta) + B^T sigma - loads + A^T lam = 0,      b(q1) = 0.

Newton's method keeps the factor of its tangent, within a step and from step to step, as long as each
iteration leaves a small part of the residual.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import combine, copy, put, put_values, take
from pliant.engine.program import ask, run
from pliant.linalg.matrices import SingularError
from pliant.linalg.scatter import add_at, norms
from pliant.model import ConvergenceError
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.physics.inertia import add_inertia
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import Array
from pliant.solve import loops
from pliant.solve.integrators.coefficients import Coefficients
from pliant.solve.integrators.contract import (
    StepError,
    Stepper,
    rounding_force,
    step_failed,
)
from pliant.solve.integrators.hard_rows import gap_accelerations
from pliant.solve.integrators.impacts import rows_of
from pliant.solve.mass import Mass
from pliant.solve.newton import SINGULAR, Policy
from pliant.tree.backward import gather, gather_tangent
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work

POLICY = Policy(iterations=25, contraction=0.01, patience=4, lost=100.0, forget=0.8)


def dynamic_balance(effects: Effects, moment: Moment, grow: float) -> Array:
    """Residual (total,) of balance in motion at rates moment.v, with what `set_rates` made of them.

    grow : derivative of the accelerations in the coordinates that are sought, 1/s^2. A tangent is
    filled in the second-order chart. The inertia wrenches meet the second derivative of the map; what
    changes the accelerations by it is left out, and Newton's method converges without.
    """
    tree, state, work = moment.tree, moment.state, moment.work
    assert moment.v is not None
    wanted = moment.tangent is not None
    work.clear(wanted)
    if moment.tangent is not None:
        moment.tangent.clear()
    meet_moving(work, state, moment.speed)
    for term in effects.terms:
        ask(term.act, moment)
    for part, w in zip(tree.parts, work.parts, strict=True):
        run(add_inertia, part.M, w.eta, w.acceleration, moment.speed, grow, wanted, w.p, w.k)
        w.mass = True
    gather(tree, state, work, work.residual)
    if moment.tangent is not None:
        gather_tangent(tree, state, work, moment.tangent)
    return work.residual


def inertia_forces(tree: Tree, state: State, work: Work, other: Work) -> Array:
    """The part (total,) of the last `dynamic_balance` that is inertia, with another workspace."""
    other.clear(False)
    for part, w, o in zip(tree.parts, work.parts, other.parts, strict=True):
        run(add_inertia, part.M, w.eta, w.acceleration, 0.0, 0.0, False, o.p, o.k)
        o.mass = True
    gather(tree, state, other, other.residual)
    return other.residual


class AccelerationStepper(Stepper):
    """Steps of the integrators in acceleration form.

    v, acc and like (total,) are rates, accelerations and the acceleration-like vector at the start of a
    step, v1, acc1 and like1 those at its end, D (total,) the increment, `last` that of the last step.
    """

    def __init__(
        self, effects: Effects, h: float, coefficients: Coefficients | None, tolerance: float
    ) -> None:
        super().__init__(effects, h, POLICY, tolerance)
        self.coefficients = coefficients
        self._other = Work(self.tree)
        undamped = coefficients is not None and coefficients.gamma <= 0.5
        if undamped:
            for term in effects.hard:
                term.hold_rates(self.workspace, h)
        self._frees = undamped and bool(effects.hard) and len(self.tree.parts) > 1
        """Whether accelerations are freed of what alternates; rods alone have shown no harm by it."""
        total = self.tree.total
        self.v, self.acc, self.like, self.v1, self.acc1, self.like1 = (
            np.zeros(total) for _ in range(6)
        )
        self.D, self.last, self._driven = np.zeros(total), np.zeros(total), np.zeros(total)
        self._reaction = np.zeros(total)
        self._one_sided = rows_of(effects)
        self._came, self._accounted = np.zeros(total), np.zeros(2)
        """Rates and account at the start of a step in which one-sided rows may begin to hold."""
        self._why = np.zeros(2, dtype=np.int64)
        """Whether the step that paused has an impact, and whether it began far from balance."""
        self.numbers[loops.FLOOR] = rounding_force(effects, h)
        # the forces of prescribed joints are read off the last residual
        self.counts[loops.FORESEES] = not len(self.tree.prescribed)
        if coefficients is None:
            self.v_slope, self.a_slope = 1.0 / h, 1.0 / h**2
        else:
            self.v_slope, self.a_slope = coefficients.slopes(h)

    # -- state -------------------------------------------------------------------------------

    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        """The first acceleration comes from balance under `inputs`."""
        tree = self.tree
        self.v[...] = v
        self.counts[loops.KNOWS_LAST] = 0
        self.a.place(self.q)
        self.b.place(self.q)
        self.acc[...] = self.effects.prescribed.rates(inputs.drive)[1]
        set_rates(tree, self.a, self.workspace, self.v, self.acc)
        meet_moving(self.workspace, self.a, self.v_slope)
        for term in self.effects.rows:
            term.settle(self.a, self.workspace, self.z)
        self._set_acceleration(inputs.u, self.acc.copy())
        if len(tree.prescribed):
            set_rates(tree, self.b, self.workspace, self.v, self.acc)
            r = self._balance(self.b, self.v, self._first_multipliers(inputs), inputs.u, None)
            put(r, tree.prescribed, self._reaction)

    def _first_multipliers(self, inputs: Inputs) -> Array:
        """Force fields and multipliers (total,) at the start, those of hard rows from balance."""
        from pliant.solve.inverse_dynamics import InverseDynamics

        z = self.z.copy()
        if self.tree.m and self.effects.hard:
            with suppress(ConvergenceError):
                found = InverseDynamics(self.effects, self.h).at(self.q, self.v, inputs).z
                put(found, self.tree.multipliers, z)
        return z

    def _set_acceleration(self, u: Array, known: Array) -> None:
        """Set the accelerations that balance asks for where both states are.

        u (J,) numbers of the inputs, known (total,) accelerations of prescribed coordinates.
        """
        self.acc[...] = known
        self.acc += self._first_acceleration(u)
        self.like[...] = 0.0 if self.coefficients is None else self.acc

    def jump(self, u: Array) -> None:
        """The accelerations change by those that the change of the forces makes."""
        tree, free, before = self.tree, self.tree.coordinates, self.before.copy()
        super().jump(u)
        self.a.place(self.q)
        self.b.place(self.q)
        set_rates(tree, self.b, self.workspace, self.v, self.acc)
        forces = self._balance(self.b, self.v, self.z, before, None).copy()
        change = self._balance(self.b, self.v, self.z, u, self.tangent) - forces
        self._factorise()
        right, first = np.zeros(tree.total), np.zeros(tree.total)
        right[free] = -self.a_slope * change[free]
        first[free] = self._resolved(right)[free]
        right[free] = self.a_slope * Mass(self.effects).momentum(self.a, first)[free]
        added = 2.0 * first - self._resolved(right)
        self.acc += added
        if self.coefficients is not None:
            self.like += added

    def velocity(self) -> Array:
        """Coordinate rates (total,)."""
        return self.v

    def note_rates(self, b: State) -> None:
        """Rates are part of the state."""
        copy(self.v, self.rates)

    # -- one step ----------------------------------------------------------------------------

    def begin_step(self, a: State, b: State) -> None:
        """Set the increments of prescribed joints."""
        combine(0.5, self.before, 0.5, self.after[: len(self.before)], self.mean)
        at = 0
        for i, driver in self.tree.drivers.items():
            part, places = self.tree.parts[i], driver.coordinates
            change, target = np.zeros(part.joint.nv), np.zeros(part.joint.nq)
            copy(a.parts[i].joint_q, target)
            put_values(self.joint_q[at : at + len(places)], places, target)
            ask(part.joint.set_difference, a.parts[i].joint_q, target, change)
            put_values(change, part.joint_index, self._driven)
            at += len(places)
        for places, numbers in self.effects.prescribed.maps:
            now, change = np.zeros(len(places)), np.zeros(len(places))
            take(a.q, places, now)
            combine(1.0, self.joint_q[at : at + len(places)], -1.0, now, change)
            put_values(change, numbers, self._driven)
            at += len(places)

    def guesses(self, a: State, b: State) -> list[Callable[[], None]]:
        """Increments at which Newton's method may begin, the most promising first.

        In a smooth motion that is constant acceleration. Modes that the step does not resolve make
        rates and accelerations change their sign in a step; the increments, in which they cancel,
        are then better foretold by the last one. Where the last step began far from balance the
        residuals decide. At last constant velocity, for loads that jump.
        """

        def smooth() -> None:
            combine(self.h, self.v, 0.5 * self.h**2, self.like, self.D)
            self._drive()

        def as_before() -> None:
            copy(self.last, self.D)
            self._drive()

        def steady() -> None:
            combine(self.h, self.v, 0.0, self.v, self.D)
            self._drive()

        return [smooth, as_before, steady]

    def _drive(self) -> None:
        put(self._driven, self.tree.prescribed, self.D)
        copy(self.z, self.trial)

    def aim_at(self, leader: Stepper, b: State) -> None:
        assert isinstance(leader, AccelerationStepper)
        copy(leader.D, self.D)
        copy(leader.trial, self.trial)
        put(self._driven, self.tree.prescribed, self.D)

    # -- equations ---------------------------------------------------------------------------

    def place_iterate(self, a: State, b: State) -> None:
        self.tree.retract(a, self.D, b)
        self._set_kinematics()
        set_rates(self.tree, b, self.workspace, self.v1, self.acc1)

    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        filled = self.tangent if tangent else None
        u = self.after[: len(self.before)]
        copy(self._balance(b, self.v1, self.trial, u, filled), self.left)
        self.measure_left()

    def _set_kinematics(self) -> None:
        """Set rates, accelerations and the acceleration-like vector at the end of the step."""
        known, found = (self.v, self.acc, self.like), (self.v1, self.acc1, self.like1)
        c = self.coefficients
        if c is not None:
            rule = (c.beta, c.gamma, c.am, c.af)
            run(newmark_kinematics, self.h, *rule, self.D, *known, *found)
        else:
            run(euler_kinematics, self.h, self.D, self.v, *found)
        for given, out in zip((self.joint_v, self.joint_acc, self.joint_acc), found, strict=True):
            put_values(given, self.effects.prescribed.v_places, out)

    def _balance(self, b: State, v: Array, z: Array, u: Array, tangent: Tangent | None) -> Array:
        """Residual (total,) at a state that is placed, with its rates and accelerations."""
        moment = Moment(
            self.tree, b, self.workspace, u, z, v, self.v_slope, tangent,
            mobility=1.0 / self.a_slope, memory=self.memory,
        )  # fmt: skip
        return dynamic_balance(self.effects, moment, self.a_slope)

    def weigh(self, a: State, b: State) -> None:
        """Let the scale be as large as all forces but those of inertia."""
        inertia = inertia_forces(self.tree, b, self.workspace, self._other)
        rows = (self.effects.gap_rows, self.effects.gap_weights)
        where = (self.left, inertia, self.tree.coordinates, *rows)
        run(weigh_forces, *where, self.tree.heaviness * self.a_slope, self.numbers)
        self.measure_left()

    def move_iterate(self, a: State, b: State) -> None:
        run(add_at, self.tree.coordinates, self.x, self.D)
        run(add_at, self.effects.gap_rows, self.x, self.trial)

    # -- the end of a step -------------------------------------------------------------------

    def accept_step(self, a: State, b: State) -> None:
        """Take the iterate as the end of the step."""
        if self.effects.one_sided:
            copy(self.v, self._came)
            copy(self.account[:2], self._accounted)
            run(mark_hits, self._one_sided, self.z, self.trial, self._why, self.counts)
        if self.books:
            self._account_loss(a, b)
            for term in self.effects.terms:
                ask(term.add_work_done, a, b, self.mean, self.account[:1])
        if len(self.tree.prescribed):
            at = self.tree.prescribed
            run(add_drive_work, self.left, self.D, at, self._reaction, self.account)
        copy(b.q, self.q)
        copy(self.trial, self.z)
        copy(self.D, self.last)
        for new, old in ((self.v1, self.v), (self.acc1, self.acc), (self.like1, self.like)):
            copy(new, old)
        run(know_last, self.counts)
        copy(self.after[: len(self.before)], self.before)
        if self._frees and self.effects.one_sided:
            run(mark_unbalanced, self.numbers, self._why, self.counts)
        elif self._frees:
            ask(self._free_acceleration, b)

    def finish_step(self, a: State, b: State) -> None:
        """After impacts, and where a step began far from balance."""
        if self._why[0]:
            self._stop_impact(a, b)
        if self._why[1]:
            self._free_acceleration(b)
        self._why[...] = 0

    def _free_acceleration(self, b: State) -> None:
        if self.numbers[loops.FIRST] > loops.UNBALANCED * self.scale:
            self.acc -= self._excess_acceleration(b)
            self.like[...] = self.acc

    def _stop_impact(self, a: State, b: State) -> None:
        """Take the rates away by which rows that hold would be violated, and begin anew."""
        energy = self._stored(a, self._came) if self.books else 0.0
        mass, scale = self._mass, self.scale
        known, acc = np.zeros(self.tree.total), np.zeros(self.tree.total)
        known[self.effects.prescribed.v_places] = self.joint_v
        acc[self.effects.prescribed.v_places] = self.joint_acc
        self.v[...] = mass.solve(b, mass.momentum(b, self.v), known=known, z=self.z)
        a.place(self.q)
        self.counts[loops.KNOWS_LAST] = 0
        self._set_acceleration(self.before, acc)
        self.scale = max(scale, self.scale)
        if self.books:  # what is missing after the step is the loss of the impact
            spent = float(np.diff(self._accounted - self.account[:2])[0])
            self.account[1] += energy - self._stored(b, self.v) + spent

    @cached_property
    def _mass(self) -> Mass:
        return Mass(self.effects)

    def _stored(self, state: State, v: Array) -> float:
        """Energy of a state at rates v (total,) without that of inputs, J."""
        effects = self.effects
        quiet = effects.numbers(dict.fromkeys(self.tree.description.inputs(), 0.0))
        stored = [term.energy(state, quiet) for term in effects.terms if term.column != "loads"]
        return sum(stored) + 0.5 * float(self._mass.momentum(state, v) @ v)

    def _account_loss(self, a: State, b: State) -> None:
        """Add the energy lost to damping in the step, J.

        At the mean rates of the step, D / h and (e - e0) / h, which are those of its own balance: the
        mean of M v' + C v + K q = f at both ends of a trapezoidal step, times D, is

            T1 - T0 + V1 - V0 + D^T C D / h = (f0 + f1) D / 2.

        The mean of the powers at both ends is more by h (v1 - v0)^T C (v1 - v0) / 4, which is no
        small part of it where rates jump. What sections meet at D / h is the mean of both places.
        """
        tree, work, mean = self.tree, self.workspace, np.zeros(self.tree.total)
        combine(1.0 / self.h, self.D, 0.0, self.D, mean)
        for state in (a, b):
            set_rates(tree, state, work, mean, strains=False)
            for w, start, end in zip(work.parts, a.parts, b.parts, strict=True):
                combine(1.0 / self.h, end.strain.e, -1.0 / self.h, start.strain.e, w.rate)
                combine(1.0 / self.h, end.inner.e, -1.0 / self.h, start.inner.e, w.inner_rate)
                combine(0.5, end.inner.e, 0.5, start.inner.e, w.inner_met)
            moment = Moment(tree, state, work, self.mean, self.trial, v=mean, memory=self.memory)
            for term in self.effects.terms:
                ask(term.add_power_lost, moment, 0.5 * self.h, self.account[1:])

    def _factorise(self) -> None:
        self.forget_factor()
        try:
            self.matrix.factorise()
        except SingularError:
            raise self.error(SINGULAR) from None
        self.counts[loops.THERE] = 1

    def error(self, reason: str) -> StepError:
        """The error of a step, with what went wrong and what to try."""
        hint = "a smaller dt"
        if self.coefficients is not None and self.coefficients.gamma < 0.7:
            hint += (
                ", viscosity, Midpoint(), or an integrator that damps what the step does not resolve: "
                "GeneralizedAlpha(rho=0.5) or Newmark(beta=0.3025, gamma=0.6)"
            )
        return step_failed(self.h, reason, hint, POLICY.iterations)

    # -- accelerations that a step resolves ----------------------------------------------------

    def _first_acceleration(self, u: Array) -> Array:
        """Accelerations (total,) that balance asks for at the start, as far as a step resolves them.

        M^-1 f holds those of all modes, also of the many with periods far below the step. After a jump
        of a load they are huge: Newton's method follows them far away, and generalised-alpha makes
        velocities of them. With the tangent T of a step instead,

            (M + (v_D / a_D) C + K / a_D) a = f,   that is  a = a_D T^-1 f,

        the acceleration of a mode of frequency w is multiplied by F = 1 / (1 + w^2 / a_D), here, with
        M a once more in place of f, by 1 - (1 - F)^2. What the step resolves keeps its order and its
        energy, and what it does not goes to its new place within a step or two, as it does after a
        jump in the midst of a motion. Its energy is lost: Newmark's method could keep it, but would
        gain more where rotations are large.
        """
        free, rows = self.tree.coordinates, self.effects.gap_rows
        for term in self.effects.one_sided:
            term.touch(self.a, self.v, self.z)
        pulled = np.ones(1, dtype=np.int64)
        while pulled[0]:
            pulled[0] = 0
            set_rates(self.tree, self.b, self.workspace, self.v, self.acc)
            force = self._balance(self.b, self.v, self.z, u, self.tangent).copy()
            self._factorise()
            right = -self.a_slope * force
            right[rows] = self._held(self.a)[rows]
            x = self.tangent.matrix.solve(right[: self.tree.size])
            for term in self.effects.one_sided:
                term.release(x, self.z, pulled)
        self.scale = float(np.linalg.norm(force[free]))
        first = np.zeros(self.tree.total)
        first[free] = x[free]
        right[free] = self.a_slope * Mass(self.effects).momentum(self.a, first)[free]
        return 2.0 * first - self._resolved(right)

    def _excess_acceleration(self, state: State) -> Array:
        """Accelerations (total,) at the present instant beyond those that held strains allow.

        Newmark's method with gamma = 1/2 that holds e + h/2 e' leaves e and e' at zero one step later,
        but then h^2 (e0'' + e1'') = 0: the acceleration of the strain, and with it the force that holds
        it, changes its sign from step to step and stays.
        """
        right = self._held(state)
        right[self.tree.multipliers] = 0.0
        return -self._resolved(right)

    def _held(self, state: State) -> Array:
        """Rows (total,) of hard terms that take away their second derivatives."""
        right = gap_accelerations(self.effects, state, self.v, self.acc, self.z)
        for term in self.effects.hard:
            right[term.rows] *= -term.rate_slope(self.workspace, self.v_slope)
        return right

    def _resolved(self, right: Array) -> Array:
        """Accelerations (total,) of the coordinates from the tangent that was factorised last."""
        out, free = np.zeros(self.tree.total), self.tree.coordinates
        out[free] = self.tangent.matrix.solve(right[: self.tree.size])[free]
        return out


@kernel
def newmark_kinematics(h, beta, gamma, am, af, D, v, acc, like, v1, acc1, like1):  # type: ignore[no-untyped-def]
    """Rates v1, accelerations acc1 and like1 after an increment D, from those before; all (total,)."""
    for i in range(D.shape[0]):
        after = (D[i] - h * v[i] - h * h * (0.5 - beta) * like[i]) / (beta * h * h)
        v1[i] = v[i] + h * ((1.0 - gamma) * like[i] + gamma * after)
        acc1[i] = ((1.0 - am) * after + am * like[i] - af * acc[i]) / (1.0 - af)
        like1[i] = after


@kernel
def euler_kinematics(h, D, v, v1, acc1, like1):  # type: ignore[no-untyped-def]
    """v1 = D / h and acc1 = (v1 - v) / h."""
    for i in range(D.shape[0]):
        v1[i] = D[i] / h
        acc1[i] = (v1[i] - v[i]) / h
        like1[i] = 0.0


@kernel
def weigh_forces(left, inertia, free, rows, weights, heavy, numbers):  # type: ignore[no-untyped-def]
    """Let the scale be as large as the forces left - inertia (total,); where there are none, as `heavy`
    times the weighted gaps: what it takes to close them within the step.
    """
    gaps = heavy * norms(left, free, rows, weights)[1]
    total = 0.0
    for at in free:
        total += (left[at] - inertia[at]) ** 2
    numbers[loops.SCALE] = max(numbers[loops.SCALE], np.sqrt(total))
    if numbers[loops.SCALE] < loops.NOTHING * gaps:
        numbers[loops.SCALE] = gaps


@kernel
def add_drive_work(left, D, prescribed, reaction, account):  # type: ignore[no-untyped-def]
    """account_0 += (reaction + left) . D / 2 over prescribed coordinates; reaction = left."""
    for at in prescribed:
        account[0] += 0.5 * (reaction[at] + left[at]) * D[at]
        reaction[at] = left[at]


@kernel
def mark_hits(rows, z, trial, why, counts):  # type: ignore[no-untyped-def]
    """Pause, why_0 = 1, if rows begin to hold: multipliers trial > 0 after z <= 0, both (total,)."""
    for at in rows:
        if trial[at] > 0.0 and z[at] <= 0.0:
            why[0] = 1
            counts[loops.PAUSED] = 1


@kernel
def mark_unbalanced(numbers, why, counts):  # type: ignore[no-untyped-def]
    """Pause, why_1 = 1, if the step began far from balance."""
    if numbers[loops.FIRST] > loops.UNBALANCED * numbers[loops.SCALE]:
        why[1] = 1
        counts[loops.PAUSED] = 1


@kernel
def know_last(counts):  # type: ignore[no-untyped-def]
    """There is an increment of a last step."""
    counts[loops.KNOWS_LAST] = 1
