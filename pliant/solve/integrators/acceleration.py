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

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops
from pliant.engine.arrays import combine, copy, put, put_values
from pliant.engine.newton import Policy
from pliant.engine.program import run, when
from pliant.linalg.scatter import add_at
from pliant.model import ConvergenceError
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.physics.met_strains import meet_moving
from pliant.rods.contract import Array
from pliant.solve.integrators.coefficients import Coefficients
from pliant.solve.integrators.contract import Stepper, rounding_force
from pliant.solve.integrators.drives import set_driven
from pliant.solve.integrators.motion_balance import dynamic_balance, inertia_forces
from pliant.solve.integrators.resolved_accelerations import (
    first_acceleration,
    jump_acceleration,
    set_excess,
)
from pliant.solve.integrators.stops import Stops
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

POLICY = Policy(iterations=25, contraction=0.01, patience=4, lost=100.0, forget=0.8)


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
        self.acc, self.like, self.v1, self.acc1, self.like1 = np.zeros((5, total))
        self.D, self.last, self._driven, self._reaction = np.zeros((4, total))
        self._stops = Stops(self) if effects.one_sided else None
        self._rough, self._hit, self._unsolved = np.zeros((3, 1), dtype=np.int64)
        """Whether the step began far from balance, whether rows began to hold in it, and whether the
        excess of its accelerations is to be solved for with row exchanges."""
        self.numbers[loops.FLOOR] = rounding_force(effects, h)
        # the forces of prescribed joints are read off the last residual
        self.counts[loops.FORESEES] = not len(self.tree.prescribed)
        if coefficients is None:
            self.v_slope, self.a_slope = 1.0 / h, 1.0 / h**2
        else:
            self.v_slope, self.a_slope = coefficients.slopes(h)
            if coefficients.gamma < 0.7:
                self.hint += (
                    ", viscosity, Midpoint(), or an integrator that damps what the step does not "
                    "resolve: GeneralizedAlpha(rho=0.5) or Newmark(beta=0.3025, gamma=0.6)"
                )

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
        self.set_acceleration(inputs.u, self.acc.copy())
        if len(tree.prescribed):
            set_rates(tree, self.b, self.workspace, self.v, self.acc)
            r = self.balance_at(self.b, self.v, self._first_multipliers(inputs), inputs.u, None)
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

    def set_acceleration(self, u: Array, known: Array) -> None:
        """Set the accelerations that balance asks for where both states are.

        u (J,) numbers of the inputs, known (total,) accelerations of prescribed coordinates.
        """
        self.acc[...] = known
        self.acc += first_acceleration(self, u)
        self.like[...] = 0.0 if self.coefficients is None else self.acc

    def jump(self, u: Array) -> None:
        """The accelerations change by those that the change of the forces makes."""
        before = self.before.copy()
        super().jump(u)
        added = jump_acceleration(self, before, u)
        self.acc += added
        if self.coefficients is not None:
            self.like += added

    # -- one step ----------------------------------------------------------------------------

    def begin_step(self, a: State, b: State) -> None:
        """Set the increments of prescribed joints."""
        set_driven(self.effects, a, self.joint_q, self._driven)

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

    def aim_at(self, leader: AccelerationStepper, b: State) -> None:
        copy(leader.D, self.D)
        copy(leader.trial, self.trial)
        put(self._driven, self.tree.prescribed, self.D)
        for at in (loops.FIRST, loops.SCALE):
            copy(leader.numbers[at : at + 1], self.numbers[at : at + 1])

    # -- equations ---------------------------------------------------------------------------

    def place_iterate(self, a: State, b: State) -> None:
        self.tree.retract(a, self.D, b)
        self._set_kinematics()
        set_rates(self.tree, b, self.workspace, self.v1, self.acc1)

    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        filled = self.tangent if tangent else None
        copy(self.balance_at(b, self.v1, self.trial, self.u, filled), self.left)
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

    def balance_at(self, b: State, v: Array, z: Array, u: Array, tangent: Tangent | None) -> Array:
        """Residual (total,) at a state that is placed, with its rates and accelerations."""
        moment = Moment(
            self.tree, b, self.workspace, u, z, v, self.v_slope, tangent,
            mobility=1.0 / self.a_slope, memory=self.memory,
        )  # fmt: skip
        return dynamic_balance(self.effects, moment, self.a_slope)

    def weigh(self, a: State, b: State) -> None:
        """Let the scale be as large as all forces but those of inertia."""
        forces = inertia_forces(self.tree, b, self.workspace, self._other)
        combine(1.0, self.left, -1.0, forces, forces)
        self.weigh_play(forces, self.tree.coordinates, self.tree.heaviness * self.a_slope, 0.0)

    def move_iterate(self, a: State, b: State) -> None:
        run(add_at, self.tree.coordinates, self.x, self.D)
        run(add_at, self.effects.gap_rows, self.x, self.trial)

    # -- the end of a step -------------------------------------------------------------------

    def accept_step(self, a: State, b: State) -> None:
        """Take the iterate as the end of the step."""
        if self._stops:
            self._stops.look(self._hit)
        if self.keeps_account:
            self._account_loss(a, b)
            self.effects.add_work(a, b, self.mean, self.account[:1])
        if len(self.tree.prescribed):
            at = self.tree.prescribed
            run(add_drive_work, self.left, self.D, at, self._reaction, self.account)
        self.take_over(b)
        copy(self.D, self.last)
        for new, old in ((self.v1, self.v), (self.acc1, self.acc), (self.like1, self.like)):
            copy(new, old)
        run(know_last, self.counts)
        if self._frees:
            run(mark_unbalanced, self.numbers, self._rough)
            when(self._rough, self._free_acceleration, b)

    def _free_acceleration(self, b: State) -> None:
        """Free the accelerations of what alternates."""
        set_excess(self, b)
        flags = (self._unsolved, self.matrix.flags, self.counts)
        run(take_excess, self.x, self.tree.coordinates, *flags, self.acc, self.like)

    def finish_step(self, a: State, b: State) -> None:
        """After impacts, and where the excess of accelerations asks for row exchanges."""
        if self._hit[0]:
            assert self._stops
            self._stops.stop(a, b)
        elif self._unsolved[0]:
            self.repair()
            free = self.tree.coordinates
            self.acc[free] += self.x[free]
            self.like[...] = self.acc
        self._hit[0] = self._unsolved[0] = 0

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
            self.effects.add_losses(moment, 0.5 * self.h, self.account[1:])


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
def add_drive_work(left, D, prescribed, reaction, account):  # type: ignore[no-untyped-def]
    """account_0 += (reaction + left) . D / 2 over prescribed coordinates; reaction = left."""
    for at in prescribed:
        account[0] += 0.5 * (reaction[at] + left[at]) * D[at]
        reaction[at] = left[at]


@kernel
def mark_unbalanced(numbers, rough):  # type: ignore[no-untyped-def]
    """rough_0 : whether the step began far from balance."""
    rough[0] = numbers[loops.FIRST] > loops.UNBALANCED * numbers[loops.SCALE]


@kernel
def take_excess(x, free, unsolved, flags, counts, acc, like):  # type: ignore[no-untyped-def]
    """acc += x at some entries, like = acc; or pause, unsolved_0 = 1, if x (n,) is too rough.

    There is a new factor; nothing is changed if the matrix is singular.
    """
    counts[loops.THERE], counts[loops.AGE] = flags[loops.NEGATIVE] >= 0, 1
    if flags[loops.NEGATIVE] < 0:
        return
    if flags[loops.ROUGH] != 0:
        unsolved[0] = 1
        counts[loops.PAUSED] = 1
        return
    for at in free:
        acc[at] += x[at]
    for i in range(like.shape[0]):
        like[i] = acc[i]


@kernel
def know_last(counts):  # type: ignore[no-untyped-def]
    """There is an increment of a last step."""
    counts[loops.KNOWS_LAST] = 1
