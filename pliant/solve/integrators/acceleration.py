"""Steps of the integrators in acceleration form on the manifold.

The step is q1 = q0 o exp(D) with an unknown increment D of the coordinates, from which rates and
accelerations follow linearly; balance holds at the end of the step:

    J^T (M eta' - ad(eta)^T M eta) + B^T sigma - loads + A^T lam = 0,      b(q1) = 0.

Newton's method keeps the factor of its tangent, within a step and from step to step, as long as each
iteration leaves a small part of the residual.
"""

from __future__ import annotations

import numpy as np

from pliant.physics import collect, drag, inertia
from pliant.rods.contract import Array
from pliant.solve.integrators.coefficients import Coefficients
from pliant.solve.integrators.contract import (
    STALLED,
    StepError,
    Stepper,
    constraints_met,
    rounding_force,
    step_compliance,
)
from pliant.solve.integrators.held import hold_rates
from pliant.solve.integrators.kinematics import Rates
from pliant.solve.integrators.march import March, make_march
from pliant.solve.integrators.resolved import excess_acceleration, first_acceleration
from pliant.solve.integrators.work import step_work
from pliant.solve.schedule import Schedule
from pliant.system.assembly import Fill, add_bent_inertia, assemble_bilinear, assemble_vector
from pliant.system.balance import balance
from pliant.system.driving import base_steps, base_twists, put_bases
from pliant.system.linear import SingularError, scatter
from pliant.system.loading import Loading
from pliant.system.system import System
from pliant.system.tangent import new_tangent

POOR = 0.01
"""A residual that one iteration leaves larger than this part of it asks for a new tangent, unless a new
one did no better."""

FORGOTTEN = 0.8
"""Part of how little a new tangent did that is kept in each step: from time to time one is tried."""

ROUGH = 0.3
"""A step that begins with more than this part of all forces in play out of balance is a rough one."""

LOST = 100.0
"""How much more than at its beginning and than all forces in play a residual of no return is."""


class AccelerationStepper(Stepper):
    """Steps of the integrators in acceleration form."""

    def __init__(
        self, system: System, h: float, coefficients: Coefficients | None, tolerance: float
    ) -> None:
        super().__init__(system, h)
        self.coefficients = coefficients
        self.tolerance = tolerance
        self.filled = new_tangent(system, False)
        self._factored = False
        self._reach = 0.0
        """Part of the residual that was left by the first iteration with a new tangent."""
        self.a = system.levels()
        self.rates = Rates(system)
        undamped = coefficients is not None and coefficients.gamma <= 0.5
        if undamped:
            hold_rates(system, self.rates, h)
        self._frees = undamped and len(system.blocks) > 1
        """Whether accelerations are freed of what alternates; rods alone, which compiled loops may
        step without, have shown no harm by it."""
        self._rows, self._weights = system.gap_weights
        self._is_coordinate = np.zeros(system.n, dtype=bool)
        self._is_coordinate[system.coordinates] = True
        self.scale = 0.0
        self._last: Array | None = None
        self._first = 0.0
        """Increment of the last step, and the residual at which its iterations began."""
        self._floor = rounding_force(system, h)
        if coefficients is None:
            self.v_slope, self.a_slope = 1.0 / h, 1.0 / h**2
        else:
            self.v_slope, self.a_slope = coefficients.slopes(h)
        self.compliance = [step_compliance(block, 1.0 / self.a_slope) for block in system.blocks]

    def march(self, schedule: Schedule) -> March | None:
        """Many steps at once, where robot and inputs allow it."""
        return make_march(self, schedule, self.rates.lag[0])

    def rule(self) -> Array:
        """(9,): h, beta (0 for implicit Euler), gamma, am, af, slopes of v and a, tolerance, floor."""
        c = self.coefficients or Coefficients(0.0, 0.0, 0.0, 0.0)
        settings = (self.h, c.beta, c.gamma, c.am, c.af, self.v_slope, self.a_slope)
        return np.array([*settings, self.tolerance, self._floor])

    # -- state -------------------------------------------------------------------------------

    def start(self, q: Array, v: Array, loading: Loading) -> None:
        """Begin at q with rates v; the first acceleration comes from balance under `loading`."""
        system = self.system
        self.q, self.v, self._last = q.copy(), v.copy(), None
        system.place(q, self.a, mass=True)
        system.place(q, mass=True)
        self.acc = np.zeros(system.n)
        driven = base_twists(system, loading)[1]
        self.acc[system.driven] = driven
        self.rates.update(v, self.acc)
        for block, lagging in zip(system.blocks, self.rates.lagging, strict=True):
            if block.modes is not None:
                strain = block.level.strain.e + lagging
                self.mult[block.mode_index] = block.settled_modes(strain)
        self.acc += first_acceleration(self, loading)
        self.like = np.zeros(system.n) if self.coefficients is None else self.acc.copy()
        self._reaction = np.zeros(0)
        if len(system.driven):
            balanced = self._residual(v, self.acc, self.mult, loading, False)
            self._reaction = balanced[system.driven]

    def velocity(self) -> Array:
        """Coordinate rates (n,)."""
        return self.v

    def _kinematics(self, D: Array) -> tuple[Array, Array, Array]:
        """Rates v1, accelerations v1' and the acceleration-like vector a1 for an increment D."""
        if self.coefficients is not None:
            return self.coefficients.kinematics(self.h, D, self.v, self.acc, self.like)
        v = D / self.h
        return v, (v - self.v) / self.h, np.zeros_like(D)

    def _move(self, D: Array, known: tuple[Array, Array]) -> tuple[Array, Array, Array, Array]:
        """Place the end of a step of increment D; its configuration and `_kinematics`.

        known : twists and twist rates of driven bases there.
        """
        system = self.system
        with system.using(self.a):
            q = system.moved(self.q, D, newton=False)
        system.place(q, mass=True)
        v, acc, like = self._kinematics(D)
        v[system.driven], acc[system.driven] = known
        like[system.driven] = known[1]
        return q, v, acc, like

    # -- one step ----------------------------------------------------------------------------

    def advance(self, before: Loading, after: Loading) -> None:
        """One step to balance under `after`, from the first of `_guesses` that leads there."""
        system, h, scale = self.system, self.h, self.scale
        guesses = self._guesses(after)
        for D in guesses:
            try:
                found = self._solve(D.copy(), after)
                break
            except StepError:
                self._factored, self.scale = False, scale
                if D is guesses[-1]:
                    raise
        D, q, v, acc, like, mult, r = found
        self.dissipated += self.rates.dissipated(D, self.a, h)
        levels = [block.level for block in system.blocks]
        self.work += step_work(system, self.a, levels, before, after)
        if len(system.driven):
            reaction = r[system.driven]
            self.work += 0.5 * float((self._reaction + reaction) @ D[system.driven])
            self._reaction = reaction
        self.q, self.v, self.acc, self.like, self.mult = q, v, acc, like, mult
        self._last = D
        system.place(q, self.a, mass=True)
        if self._frees and self._first > ROUGH * self.scale:
            self.acc = self.like = acc - excess_acceleration(self)

    def _guesses(self, after: Loading) -> list[Array]:
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
            two.sort(key=lambda D: self._distance(D.copy(), after))
        return [*two, steady]

    def _distance(self, D: Array, after: Loading) -> float:
        """Size of the residual at an increment D, with driven bases where `after` has them."""
        system = self.system
        D[system.driven] = base_steps(system, self.q, put_bases(system, self.q, after))
        _, v, acc, _ = self._move(D, base_twists(system, after))
        return self._size(self._residual(v, acc, self.mult, after, False))

    def _solve(self, D: Array, after: Loading) -> tuple[Array, ...]:
        """Newton's method for the increment, from D: D, q, v, acc, like, mult and residual."""
        system = self.system
        D[system.driven] = base_steps(system, self.q, put_bases(system, self.q, after))
        known = base_twists(system, after)
        mult = self.mult.copy()
        size, fresh = np.inf, False
        self._reach *= FORGOTTEN
        for k in range(25):
            q, v, acc, like = self._move(D, known)
            r = self._residual(v, acc, mult, after, False)
            if k == 0:
                self.scale = max(self.scale, self._net)
            previous, size = size, self._size(r)
            if not np.isfinite(size):
                raise self.error("the motion became infinite")
            self._first = size if k == 0 else self._first
            if size > LOST * max(self._first, self.scale):
                raise self.error("Newton's method ran away")
            stalled = fresh and k > 3 and size > 0.5 * previous and size <= STALLED * self.scale
            small = size <= self.tolerance * self.scale + self._floor or stalled
            if small and constraints_met(system, r):
                return D, q, v, acc, like, mult, r
            if fresh:
                self._reach = size / previous
            fresh = not self._factored or size > min(0.5, max(POOR, 4 * self._reach)) * previous
            if fresh:
                self._residual(v, acc, mult, after, True, updated=True)
                self._factorise()
            right = -r
            right[system.driven] = 0.0
            x = self.filled.matrix.solve(right)
            self.iterations += 1
            D = D + np.where(self._is_coordinate, x[: system.n], 0.0)
            mult[self._rows] += x[self._rows]
        raise self.error("no convergence in 25 iterations")

    def factorise(self, v: Array, acc: Array, mult: Array, loading: Loading) -> Array:
        """Factorise the tangent at the placed end of a step; returns the residual there."""
        r = self._residual(v, acc, mult, loading, True)
        self._factorise()
        return r

    def _factorise(self) -> None:
        self._factored = False
        try:
            self.filled.matrix.factorise()
        except SingularError:
            raise self.error("the step matrix is singular") from None
        self._factored = True

    def error(self, what: str) -> StepError:
        """The error of a step, with what went wrong and what to try."""
        hint = "a smaller dt"
        if self.coefficients is not None and self.coefficients.gamma < 0.7:
            hint += (
                ", viscosity, Midpoint(), or an integrator that damps what the step does not resolve: "
                "GeneralizedAlpha(rho=0.5) or Newmark(beta=0.3025, gamma=0.6)"
            )
        return StepError(f"a time step of {self.h:g} s failed: {what}; try {hint}")

    def _size(self, r: Array) -> float:
        gaps = float(np.linalg.norm(r[self._rows] * self._weights))
        return float(np.linalg.norm(r[self.system.coordinates])) + gaps * self.scale

    # -- residual and tangent ----------------------------------------------------------------

    def _residual(
        self,
        v: Array,
        acc: Array,
        mult: Array,
        loading: Loading,
        tangent: bool,
        updated: bool = False,
    ) -> Array:
        """Residual of balance at the placed configuration; fills the general tangent if asked.

        updated : True if rates and accelerations are those of the last call.
        """
        system, rates = self.system, self.rates
        if not updated:
            rates.update(v, acc)
        for block, lagging in zip(system.blocks, rates.lagging, strict=True):
            block.level.strain.e += lagging
        filled = self.filled if tangent else None
        r = balance(system, mult, loading, tangent, chart=False, filled=filled)
        for block, lagging in zip(system.blocks, rates.lagging, strict=True):
            block.level.strain.e -= lagging
        self._net = float(np.linalg.norm(r[system.coordinates]))
        levels = [block.level for block in system.blocks]
        assemble_vector(system, levels, self._inertia, r[: system.n])
        if tangent:
            self._add_tangent()
        return r

    def _inertia(self, i: int) -> None:
        block, rates = self.system.blocks[i], self.rates
        plan, p = block.level.inertial, block.inertia_p
        p[...] = 0.0
        inertia.inertia_wrench(block.M, rates.eta[i], rates.acceleration[i], p, rates.gyration[i])
        if block.resisted:
            drag.add_resistance(block.drag, block.mass_damping, rates.eta[i], p, rates.gyration[i])
        collect.add_vector(plan.element, plan.J, p, block.ry)

    def _add_tangent(self) -> None:
        """Add inertia, gyration and damping to the tangent that `balance` filled.

        The inertia wrenches meet the second derivative of the map; what changes the accelerations by
        it is left out, and Newton's method converges without.
        """
        system, filled = self.system, self.filled
        levels = [block.level for block in system.blocks]
        damped = [self.rates.damped_coupling(i, self.v_slope) for i in range(len(system.blocks))]
        couplings = [(np.zeros_like(c), c) for c in damped]
        assemble_bilinear(
            system, levels, levels, self._tangent_fill(), filled, couplings.__getitem__, bent=True
        )
        for i, block in enumerate(system.blocks):
            slots = filled.modes[i]
            if slots is not None and block.rigid:
                scatter(slots[2], self.compliance[i] - block.compliance, filled.matrix.data)
            if slots is not None:
                scatter(slots[0], damped[i], filled.matrix.data)

    def _tangent_fill(self) -> Fill:
        system, rates = self.system, self.rates

        def fill(i: int) -> None:
            block = system.blocks[i]
            mass, strain = block.level.inertial, block.level.strain
            k = self.v_slope * rates.gyration[i]
            diagonal = np.arange(6)
            k[:, diagonal, diagonal] += self.a_slope * block.M
            collect.add_bilinear(mass.element, mass.J, k, mass.J, block.Ky)
            add_bent_inertia(block, block.level)
            if np.any(rates.lag[i]):
                c = self.v_slope * rates.lag[i] * block.tangent
                collect.add_diagonal(strain.element, strain.B, c, strain.B, block.Ky)

        return fill
