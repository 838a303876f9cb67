"""Integrators in acceleration form: Newmark, generalised-alpha and implicit Euler on the manifold.

The step is q1 = q0 o exp(D) with an unknown increment D of the coordinates, from which rates and
accelerations follow linearly; balance holds at the end of the step:

    J^T (M eta' - ad(eta)^T M eta) + B^T sigma - loads + A^T lam = 0,      b(q1) = 0.

Generalised-alpha follows Arnold and Bruels (2007) on Lie groups: the acceleration-like vector a obeys
(1 - am) a1 + am a0 = (1 - af) v1' + af v0'.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from pliant.model import DescriptionError
from pliant.physics import collect, drag, inertia
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import (
    Integrator,
    StepError,
    Stepper,
    constraints_met,
    mass_solve,
    rounding_force,
)
from pliant.solve.integrators.held import bent, hold_rates, strain_gaps
from pliant.solve.integrators.kinematics import Rates
from pliant.solve.integrators.work import step_work
from pliant.system.assembly import Fill, assemble_bilinear, assemble_vector
from pliant.system.balance import balance, link_gaps, link_rates
from pliant.system.driving import base_steps, base_twists, put_bases
from pliant.system.linear import SingularError, scatter
from pliant.system.loading import Loading
from pliant.system.system import System
from pliant.system.tangent import tangent_of


@dataclass(frozen=True)
class Coefficients:
    """How rates and accelerations at the end of a step follow from the increment D.

    v1 = v_D D + known, v1' = a_D D + known; the knowns combine v0, v0' and a0.
    """

    beta: float
    gamma: float
    am: float
    af: float


class _AccelerationForm(Integrator):
    """Integrators that differ only in their coefficients."""

    tolerance: float

    @abstractmethod
    def coefficients(self) -> Coefficients | None:
        """Newmark-like coefficients, or None for implicit Euler."""

    def stepper(self, system: System, h: float) -> Stepper:
        """A stepper for `system` with step length h, s."""
        return AccelerationStepper(system, h, self.coefficients(), self.tolerance)


def _refuse(name: str, field: str, value: object, expected: str, remedy: str) -> None:
    raise DescriptionError(
        part=f"integrator {name}", field=field, value=value, expected=expected, remedy=remedy
    )


@dataclass(frozen=True)
class Newmark(_AccelerationForm):
    """Newmark's method.

    beta, gamma : 1/4 and 1/2 (average acceleration, second order) by default.
    tolerance : residual of a step relative to the forces in play.
    """

    beta: float = 0.25
    gamma: float = 0.5
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if not 0 < self.beta <= 0.5:
            _refuse("Newmark", "beta", self.beta, "a number in (0, 0.5]", "0.25 is usual")
        if not 0.5 <= self.gamma <= 1.0:
            _refuse("Newmark", "gamma", self.gamma, "a number in [0.5, 1]", "0.5 is second order")

    def coefficients(self) -> Coefficients:
        """Newmark: am = af = 0."""
        return Coefficients(self.beta, self.gamma, 0.0, 0.0)


@dataclass(frozen=True)
class GeneralizedAlpha(_AccelerationForm):
    """Generalised-alpha: second order, damps what the step cannot resolve.

    rho : spectral radius at infinite frequency, 1 (no damping) to 0 (annihilation).
    tolerance : residual of a step relative to the forces in play.
    """

    rho: float = 0.8
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if not 0.0 <= self.rho <= 1.0:
            _refuse("GeneralizedAlpha", "rho", self.rho, "a number in [0, 1]", "0.8 is usual")

    def coefficients(self) -> Coefficients:
        """The optimal choice of Chung and Hulbert for `rho`."""
        am = (2.0 * self.rho - 1.0) / (self.rho + 1.0)
        af = self.rho / (self.rho + 1.0)
        gamma = 0.5 + af - am
        return Coefficients(0.25 * (gamma + 0.5) ** 2, gamma, am, af)


@dataclass(frozen=True)
class ImplicitEuler(_AccelerationForm):
    """Implicit Euler: first order, very robust, strongly damping.

    tolerance : residual of a step relative to the forces in play.
    """

    tolerance: float = 1e-9

    def coefficients(self) -> None:
        """No Newmark coefficients."""
        return None


class AccelerationStepper(Stepper):
    """Steps of the integrators in acceleration form."""

    def __init__(
        self, system: System, h: float, coefficients: Coefficients | None, tolerance: float
    ) -> None:
        super().__init__(system, h)
        self.coefficients = coefficients
        self.tolerance = tolerance
        self.a = system.levels()
        self._rates = Rates(system)
        if coefficients is not None and coefficients.gamma <= 0.5:
            hold_rates(system, self._rates, h)
        self._rows, self._weights = system.gap_weights
        self._scale = 0.0
        self._floor = rounding_force(system, h)
        if coefficients is None:
            self.v_slope, self.a_slope = 1.0 / h, 1.0 / h**2
        else:
            c = coefficients
            self.v_slope = c.gamma / (c.beta * h)
            self.a_slope = (1 - c.am) / ((1 - c.af) * c.beta * h**2)

    # -- state -------------------------------------------------------------------------------

    def start(self, q: Array, v: Array, loading: Loading) -> None:
        """Begin at q with rates v; the first acceleration comes from balance under `loading`."""
        system = self.system
        self.q, self.v = q.copy(), v.copy()
        system.place(q, self.a, mass=True)
        system.place(q, mass=True)
        self.acc = np.zeros(system.n)
        driven = base_twists(system, loading)[1]
        self.acc[system.driven] = driven
        self._rates.update(v, self.acc)
        for block, lagging in zip(system.blocks, self._rates.lagging, strict=True):
            if block.modes is not None:
                strain = block.level.strain.e + lagging
                self.mult[block.mode_index] = block.settled_modes(strain)
        force = self._residual(v, self.acc, self.mult, loading, False)[: system.n]
        self._scale = float(np.linalg.norm(force[system.coordinates]))
        force[system.mode_unknowns] = 0.0
        force += bent(system, self.a, self.q, v, lambda: strain_gaps(system))
        gaps = bent(system, self.a, self.q, v, lambda: link_gaps(system)) + link_rates(
            system, self.acc
        )
        self.acc += mass_solve(system, -force, -gaps)
        self.like = self.acc.copy()
        self._reaction = np.zeros(0)
        if len(system.driven):
            balanced = self._residual(v, self.acc, self.mult, loading, False)
            self._reaction = balanced[system.driven]
        self._power = self._rates.dissipation()

    def velocity(self) -> Array:
        """Coordinate rates (n,)."""
        return self.v

    def _kinematics(self, D: Array) -> tuple[Array, Array, Array]:
        """Rates v1, accelerations v1' and the acceleration-like vector a1 for an increment D."""
        h, c = self.h, self.coefficients
        if c is None:
            v = D / h
            return v, (v - self.v) / h, np.zeros_like(D)
        like = (D - h * self.v - h * h * (0.5 - c.beta) * self.like) / (c.beta * h * h)
        v = self.v + h * ((1 - c.gamma) * self.like + c.gamma * like)
        acc = ((1 - c.am) * like + c.am * self.like - c.af * self.acc) / (1 - c.af)
        return v, acc, like

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
        """One step to balance under `after`."""
        system, h = self.system, self.h
        D = h * self.v
        D[system.driven] = base_steps(system, self.q, put_bases(system, self.q, after))
        known = base_twists(system, after)
        mult = self.mult.copy()
        size = np.inf
        for k in range(25):
            q, v, acc, like = self._move(D, known)
            r = self._residual(v, acc, mult, after, True)
            if k == 0:
                self._scale = max(self._scale, float(np.linalg.norm(r[system.coordinates])))
            previous, size = size, self._size(r)
            if not np.isfinite(size):
                self._fail("the motion became infinite")
            stalled = k > 3 and size > 0.5 * previous and size <= 1e-4 * self._scale
            small = size <= self.tolerance * self._scale + self._floor or stalled
            if small and constraints_met(system, r):
                break
            try:
                matrix = tangent_of(system, False).matrix
                matrix.factorise()
            except SingularError:
                self._fail("the step matrix is singular")
            right = -r
            right[system.driven] = 0.0
            x = matrix.solve(right)
            self.iterations += 1
            D = D + np.where(self._is_coordinate(), x[: system.n], 0.0)
            mult[self._rows] += x[self._rows]
        else:
            self._fail("no convergence in 25 iterations")
        power = self._rates.dissipation()
        self.dissipated += 0.5 * h * (power + self._power)
        levels = [block.level for block in system.blocks]
        self.work += step_work(system, self.a, levels, before, after)
        if len(system.driven):
            reaction = r[system.driven]
            self.work += 0.5 * float((self._reaction + reaction) @ D[system.driven])
            self._reaction = reaction
        self._power = power
        self.q, self.v, self.acc, self.like, self.mult = q, v, acc, like, mult
        system.place(q, self.a, mass=True)

    def _is_coordinate(self) -> Array:
        mask = np.zeros(self.system.n, dtype=bool)
        mask[self.system.coordinates] = True
        return mask

    def _fail(self, what: str) -> None:
        raise StepError(f"a time step of {self.h:g} s failed: {what}; try a smaller dt")

    def _size(self, r: Array) -> float:
        gaps = float(np.linalg.norm(r[self._rows] * self._weights))
        return float(np.linalg.norm(r[self.system.coordinates])) + gaps * self._scale

    # -- residual and tangent ----------------------------------------------------------------

    def _residual(
        self, v: Array, acc: Array, mult: Array, loading: Loading, tangent: bool
    ) -> Array:
        """Residual of balance at the placed configuration; fills the general tangent if asked."""
        system, rates = self.system, self._rates
        rates.update(v, acc)
        for block, lagging in zip(system.blocks, rates.lagging, strict=True):
            block.level.strain.e += lagging
        r = balance(system, mult, loading, tangent, symmetric=False, chart=False)
        for block, lagging in zip(system.blocks, rates.lagging, strict=True):
            block.level.strain.e -= lagging
        levels = [block.level for block in system.blocks]
        assemble_vector(system, levels, self._inertia, r[: system.n])
        if tangent:
            self._add_tangent()
        return r

    def _inertia(self, i: int) -> None:
        block, rates = self.system.blocks[i], self._rates
        plan, p = block.level.inertial, block.inertia_p
        p[...] = 0.0
        inertia.inertia_wrench(block.M, rates.eta[i], rates.acceleration[i], p, rates.gyration[i])
        if block.resisted:
            drag.add_resistance(block.drag, block.mass_damping, rates.eta[i], p, rates.gyration[i])
        collect.add_vector(plan.element, plan.J, p, block.ry)

    def _add_tangent(self) -> None:
        """Add inertia, gyration and damping to the tangent that `balance` filled.

        Derivatives of J in the inertia terms (third derivatives of the map) are left out: they are
        of the order of the step and Newton converges without them.
        """
        system = self.system
        filled = tangent_of(system, False)
        levels = [block.level for block in system.blocks]
        assemble_bilinear(system, levels, levels, self._tangent_fill(), filled)
        for i, block in enumerate(system.blocks):
            slots = filled.modes[i]
            lag = self._rates.lag[i]
            if slots is not None and np.any(lag):
                scale = np.ascontiguousarray(self.v_slope * lag[:, block.mode_rows])
                block.couple(block.level, scale, block.coupling)
                scatter(slots[0], block.coupling, filled.matrix.data)

    def _tangent_fill(self) -> Fill:
        system, rates = self.system, self._rates

        def fill(i: int) -> None:
            block = system.blocks[i]
            mass, strain = block.level.inertial, block.level.strain
            k = self.v_slope * rates.gyration[i]
            diagonal = np.arange(6)
            k[:, diagonal, diagonal] += self.a_slope * block.M
            collect.add_bilinear(mass.element, mass.J, k, mass.J, block.Ky)
            if np.any(rates.lag[i]):
                c = self.v_slope * rates.lag[i] * block.tangent
                collect.add_diagonal(strain.element, strain.B, c, strain.B, block.Ky)

        return fill
