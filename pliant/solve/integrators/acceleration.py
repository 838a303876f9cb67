"""Steps of the integrators in acceleration form on the manifold.

The step is q1 = q0 o exp(D) with an unknown increment D of the coordinates, from which rates and
accelerations follow linearly; balance holds at the end of the step:

    J^T (M eta' - ad(eta)^T M eta) + B^T sigma - loads + A^T lam = 0,      b(q1) = 0.

Newton's method keeps the factor of its tangent, within a step and from step to step, as long as each
iteration leaves a small part of the residual.
"""

from __future__ import annotations

import numpy as np

from pliant.linalg.matrices import Matrix, SingularError
from pliant.physics.contract import Moment
from pliant.physics.effects import Effects, Inputs
from pliant.physics.inertia import add_inertia
from pliant.physics.own_law import LawError
from pliant.physics.viscosity import meet_moving
from pliant.rods.contract import Array
from pliant.solve.integrators.coefficients import Coefficients
from pliant.solve.integrators.contract import (
    StepError,
    Stepper,
    constraints_met,
    rounding_force,
    step_failed,
)
from pliant.solve.integrators.hard_rows import gap_accelerations
from pliant.solve.integrators.march import March, make_march
from pliant.solve.mass import Mass
from pliant.solve.newton import SINGULAR, Factor, NewtonError, Policy, newton
from pliant.solve.schedule import Schedule
from pliant.tree.backward import gather, gather_tangent
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

POLICY = Policy(iterations=25, contraction=0.01, patience=4, lost=100.0)

FORGOTTEN = 0.8
"""Part of how little a new tangent did that is kept in each step: from time to time one is tried."""

ROUGH = 0.3
"""A step that begins with more than this part of all forces in play out of balance is a rough one."""


def dynamic_balance(effects: Effects, moment: Moment, acc: Array, grow: float) -> Array:
    """Residual (total,) of balance in motion at rates moment.v and accelerations acc (total,).

    grow : derivative of the accelerations in the coordinates that are sought, 1/s^2. A tangent is
    filled in the second-order chart. The inertia wrenches meet the second derivative of the map; what
    changes the accelerations by it is left out, and Newton's method converges without.
    """
    tree, state, work = moment.tree, moment.state, moment.work
    assert moment.v is not None
    wanted = moment.tangent is not None
    set_rates(tree, state, work, moment.v, acc)
    work.clear(wanted)
    if moment.tangent is not None:
        moment.tangent.clear()
    meet_moving(work, state, moment.speed)
    for term in effects.terms:
        term.act(moment)
    for part, w in zip(tree.parts, work.parts, strict=True):
        add_inertia(part.M, w.eta, w.acceleration, moment.speed, grow, wanted, w.p, w.k)
        w.mass = True
    gather(tree, state, work, work.residual)
    if moment.tangent is not None:
        gather_tangent(tree, state, work, moment.tangent)
    return work.residual


def inertia_forces(moment: Moment, other: Work) -> Array:
    """The part (total,) of the last `dynamic_balance` that is inertia, with another workspace."""
    tree, work = moment.tree, moment.work
    other.clear(False)
    for part, w, o in zip(tree.parts, work.parts, other.parts, strict=True):
        add_inertia(part.M, w.eta, w.acceleration, 0.0, 0.0, False, o.p, o.k)
        o.mass = True
    gather(tree, moment.state, other, other.residual)
    return other.residual


class AccelerationStepper(Stepper):
    """Steps of the integrators in acceleration form."""

    def __init__(
        self, effects: Effects, h: float, coefficients: Coefficients | None, tolerance: float
    ) -> None:
        super().__init__(effects, h)
        self.coefficients = coefficients
        self.tolerance = tolerance
        self.tangent = effects.tangent(False)
        self.factor = Factor()
        self.a, self.b = State(self.tree), State(self.tree)
        self.workspace, self._other = Work(self.tree), Work(self.tree)
        undamped = coefficients is not None and coefficients.gamma <= 0.5
        if undamped:
            for term in effects.hard:
                term.hold_rates(self.workspace, h)
        self._frees = undamped and bool(effects.hard) and len(self.tree.parts) > 1
        """Whether accelerations are freed of what alternates; rods alone, which compiled loops may
        step without, have shown no harm by it."""
        self.scale = 0.0
        self._last: Array | None = None
        self._first = 0.0
        """Increment of the last step, and the residual at which its iterations began."""
        self._floor = rounding_force(effects, h)
        if coefficients is None:
            self.v_slope, self.a_slope = 1.0 / h, 1.0 / h**2
        else:
            self.v_slope, self.a_slope = coefficients.slopes(h)

    def march(self, schedule: Schedule) -> March | None:
        """Many steps at once, where robot and inputs allow it."""
        return make_march(self, schedule)

    def rule(self) -> Array:
        """(9,): h, beta (0 for implicit Euler), gamma, am, af, slopes of v and a, tolerance, floor."""
        c = self.coefficients or Coefficients(0.0, 0.0, 0.0, 0.0)
        settings = (self.h, c.beta, c.gamma, c.am, c.af, self.v_slope, self.a_slope)
        return np.array([*settings, self.tolerance, self._floor])

    # -- state -------------------------------------------------------------------------------

    def start(self, q: Array, v: Array, inputs: Inputs) -> None:
        """Begin at q with rates v; the first acceleration comes from balance under `inputs`."""
        tree = self.tree
        self.q, self.v, self._last = q.copy(), v.copy(), None
        self.a.place(q)
        self.b.place(q)
        self.acc = self.effects.prescribed.rates(inputs.drive)[1]
        set_rates(tree, self.a, self.workspace, v, self.acc)
        meet_moving(self.workspace, self.a, self.v_slope)
        for term in self.effects.rows:
            term.settle(self.a, self.workspace, self.z)
        self._set_acceleration(inputs)
        self._reaction = np.zeros(0)
        if len(tree.prescribed):
            r = self._balance(v, self.acc, self.z, inputs, None)
            self._reaction = r[tree.prescribed].copy()

    def _set_acceleration(self, inputs: Inputs) -> None:
        """Set the accelerations that balance asks for where both states are."""
        self.acc = self.effects.prescribed.rates(inputs.drive)[1]
        self.acc = self.acc + self._first_acceleration(inputs)
        self.like = np.zeros(self.tree.total) if self.coefficients is None else self.acc.copy()

    def velocity(self) -> Array:
        """Coordinate rates (total,)."""
        return self.v

    def _kinematics(self, D: Array) -> tuple[Array, Array, Array]:
        """Rates v1, accelerations v1' and the acceleration-like vector a1 for an increment D."""
        if self.coefficients is not None:
            v, acc, like = self.coefficients.kinematics(self.h, D, self.v, self.acc, self.like)
        else:
            v, like = D / self.h, np.zeros_like(D)
            acc = (v - self.v) / self.h
        at = self.tree.prescribed
        v[at], acc[at], like[at] = self.known[0][at], self.known[1][at], self.known[1][at]
        return v, acc, like

    # -- one step ----------------------------------------------------------------------------

    def solve(self, before: Inputs, after: Inputs) -> None:
        """Find balance under `after`, from the first of `_guesses` that leads there."""
        scale = self.scale
        self.begin(before, after)
        self.factor.reach *= FORGOTTEN
        guesses = self._guesses()
        for D in guesses:
            self.aim(D, self.z.copy(), after)
            try:
                self.iterations += newton(self, POLICY, self.factor).iterations
                break
            except NewtonError as reason:
                self.factor.there, self.scale = False, scale
                if D is guesses[-1]:
                    raise self.error(str(reason)) from None

    def begin(self, before: Inputs, after: Inputs) -> None:
        """Prepare a step."""
        self.inputs = after
        self.known = self.effects.prescribed.rates(after.drive)
        there = self.effects.prescribed.put(self.q, after.drive)
        self._driven = self.effects.prescribed.steps(self.q, there)

    def aim(self, D: Array, z: Array, after: Inputs) -> None:
        """Set the iterate: the increment of the step."""
        self.D, self.trial = D.copy(), z
        at = self.tree.prescribed
        self.D[at] = self._driven[at]
        self._begun = False

    @property
    def iterate(self) -> tuple[Array, Array]:
        return self.D, self.trial

    def _guesses(self) -> list[Array]:
        """Increments at which Newton's method may begin, the most promising first.

        In a smooth motion that is constant acceleration. Modes that the step does not resolve make
        rates and accelerations change their sign in a step; the increments, in which they cancel,
        are then better foretold by the last one. Where the last step began far from balance the
        residuals decide. At last constant velocity, for loads that jump.
        """
        steady = self.h * self.v
        smooth = steady + (0.5 * self.h**2) * self.like
        if self._last is None:
            return [smooth, steady]
        two = [smooth, self._last]
        if self._first > ROUGH * self.scale:
            two.sort(key=self._distance)
        return [*two, steady]

    def _distance(self, D: Array) -> float:
        """Size of the residual at an increment D."""
        self.aim(D, self.z.copy(), self.inputs)
        self._begun = True
        try:
            return self.size(self.residual(False))
        except LawError:
            return np.inf

    # -- equations ---------------------------------------------------------------------------

    @property
    def matrix(self) -> Matrix:
        return self.tangent.matrix

    def residual(self, tangent: bool) -> Array:
        self.end = self.tree.moved(self.a, self.D, newton=False)
        self.b.place(self.end)
        self.motion = self._kinematics(self.D)
        v, acc, _ = self.motion
        filled = self.tangent if tangent else None
        r = self._balance(v, acc, self.trial, self.inputs, filled).copy()
        self.left = r
        if not self._begun:
            self._begun = True
            net = (r - inertia_forces(self._moment, self._other))[self.tree.coordinates]
            self.scale = max(self.scale, float(np.linalg.norm(net)))
            self._first = self.size(r)
        return r

    def _balance(
        self, v: Array, acc: Array, z: Array, inputs: Inputs, tangent: Tangent | None
    ) -> Array:
        """Residual at the end of the step, which is placed."""
        self._moment = Moment(
            self.tree, self.b, self.workspace, inputs.u, z, v, self.v_slope, tangent,
            mobility=1.0 / self.a_slope,
        )  # fmt: skip
        return dynamic_balance(self.effects, self._moment, acc, self.a_slope)

    def size(self, residual: Array) -> float:
        gaps = residual[self.effects.gap_rows] * self.effects.gap_weights
        forces = float(np.linalg.norm(residual[self.tree.coordinates]))
        return forces + float(np.linalg.norm(gaps)) * self.scale

    def enough(self, size: float, residual: Array, at_rounding: bool) -> bool:
        small = size <= self.tolerance * self.scale + self._floor or at_rounding
        return small and constraints_met(self.effects, residual)

    def move(self, x: Array) -> None:
        free, rows = self.tree.coordinates, self.effects.gap_rows
        self.D[free] += x[free]
        self.trial[rows] += x[rows]

    def accept(self, before: Inputs, after: Inputs) -> None:
        """Take the iterate as the end of the step."""
        tree = self.tree
        hits = bool(self.effects.one_sided) and self._hits()
        spent = self.work - self.dissipated
        stored = self._stored() if hits and self.books else 0.0
        if self.books:
            mean = before.mix(after, 0.5).u
            self.dissipated += self._lost(mean)
            self.work += sum(term.work_done(self.a, self.b, mean) for term in self.effects.terms)
        if len(tree.prescribed):
            reaction = self.left[tree.prescribed].copy()
            step = self.D[tree.prescribed]
            self.work += 0.5 * float((self._reaction + reaction) @ step)
            self._reaction = reaction
        self.q, self.z, self._last = self.end, self.trial, self.D
        self.v, self.acc, self.like = self.motion
        self.a, self.b = self.b, self.a
        if hits:
            self._stop(after)
        if hits and self.books:  # what is missing after the step is the loss of the impact
            self.dissipated += stored - self._stored() + self.work - self.dissipated - spent
        if self._frees and self._first > ROUGH * self.scale:
            self.acc = self.like = self.acc - self._excess_acceleration()

    def _hits(self) -> bool:
        """Whether one-sided rows begin to hold in the step."""
        rows = np.concatenate([term.rows for term in self.effects.one_sided])
        return bool(np.any((self.trial[rows] > 0.0) & (self.z[rows] <= 0.0)))

    def _stop(self, inputs: Inputs) -> None:
        """Take the rates away by which rows that hold would be violated, and begin anew."""
        mass, scale = Mass(self.effects), self.scale
        momentum = mass.momentum(self.a, self.v)
        self.v = mass.solve(self.a, momentum, known=self.known[0], z=self.z)
        self.b.place(self.q)
        self._last = None
        self._set_acceleration(inputs)
        self.scale = max(scale, self.scale)

    def _stored(self) -> float:
        """Energy of the present state without that of inputs, J."""
        effects = self.effects
        quiet = effects.numbers(dict.fromkeys(self.tree.description.inputs(), 0.0))
        stored = [term.energy(self.a, quiet) for term in effects.terms if term.column != "loads"]
        return sum(stored) + 0.5 * float(Mass(effects).momentum(self.a, self.v) @ self.v)

    def _lost(self, u: Array) -> float:
        """Energy lost to damping in the step, J.

        At the mean rates of the step, D / h and (e - e0) / h, which are those of its own balance: the
        mean of M v' + C v + K q = f at both ends of a trapezoidal step, times D, is

            T1 - T0 + V1 - V0 + D^T C D / h = (f0 + f1) D / 2.

        The mean of the powers at both ends is more by h (v1 - v0)^T C (v1 - v0) / 4, which is no
        small part of it where rates jump. What sections meet at D / h is the mean of both places.
        """
        tree, work, mean = self.tree, self.workspace, self.D / self.h
        lost = 0.0
        for state in (self.a, self.b):
            set_rates(tree, state, work, mean)
            for w, a, b in zip(work.parts, self.a.parts, self.b.parts, strict=True):
                w.rate[...] = (b.strain.e - a.strain.e) / self.h
            moment = Moment(tree, state, work, u, self.trial, v=mean)
            lost += 0.5 * self.h * sum(term.power_lost(moment) for term in self.effects.terms)
        return lost

    def factorise(self) -> Array:
        """Factorise the tangent at the iterate; returns its residual."""
        self._begun = True
        r = self.residual(True)
        self._factorise()
        return r

    def _factorise(self) -> None:
        self.factor.there = False
        try:
            self.tangent.matrix.factorise()
        except SingularError:
            raise self.error(SINGULAR) from None
        self.factor.there = True

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

    def _first_acceleration(self, inputs: Inputs) -> Array:
        """Accelerations (total,) that balance asks for at the start, as far as a step resolves them.

        M^-1 f holds those of all modes, also of the many with periods far below the step. After a jump
        of a load they are huge: Newton's method follows them far away, and generalised-alpha makes
        velocities of them. With the tangent T of a step instead,

            (M + (v_D / a_D) C + K / a_D) a = f,   that is  a = a_D T^-1 f,

        the acceleration of a mode of frequency w is multiplied by F = 1 / (1 + w^2 / a_D), here, with
        M a once more in place of f, by 1 - (1 - F)^2. What the step resolves keeps its order and its
        energy, and what it does not goes to its new place within a step or two, as it does after a
        jump in the midst of a motion.
        """
        free, rows = self.tree.coordinates, self.effects.gap_rows
        for term in self.effects.one_sided:
            term.touch(self.a, self.v, self.z)
        pulled = True
        while pulled:
            force = self._balance(self.v, self.acc, self.z, inputs, self.tangent).copy()
            self._factorise()
            right = -self.a_slope * force
            right[rows] = self._held()[rows]
            x = self.tangent.matrix.solve(right[: self.tree.size])
            pulled = any([term.release(x, self.z) for term in self.effects.one_sided])
        self.scale = float(np.linalg.norm(force[free]))
        first = np.zeros(self.tree.total)
        first[free] = x[free]
        right[free] = self.a_slope * Mass(self.effects).momentum(self.a, first)[free]
        return 2.0 * first - self._resolved(right)

    def _excess_acceleration(self) -> Array:
        """Accelerations (total,) at the present instant beyond those that held strains allow.

        Newmark's method with gamma = 1/2 that holds e + h/2 e' leaves e and e' at zero one step later,
        but then h^2 (e0'' + e1'') = 0: the acceleration of the strain, and with it the force that holds
        it, changes its sign from step to step and stays.
        """
        right = self._held()
        right[self.tree.multipliers] = 0.0
        return -self._resolved(right)

    def _held(self) -> Array:
        """Rows (total,) of hard terms that take away their second derivatives."""
        right = gap_accelerations(self.effects, self.a, self.v, self.acc, self.z)
        for term in self.effects.hard:
            right[term.rows] *= -term.rate_slope(self.workspace, self.v_slope)
        return right

    def _resolved(self, right: Array) -> Array:
        """Accelerations (total,) of the coordinates from the tangent that was factorised last."""
        out, free = np.zeros(self.tree.total), self.tree.coordinates
        out[free] = self.tangent.matrix.solve(right[: self.tree.size])[free]
        return out
