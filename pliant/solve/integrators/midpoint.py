"""Variational integrators written on stations: implicit midpoint and the explicit one.

Both come from a discrete Lagrangian on the stations of a rod. With eta = log(ga^-1 gb) / h at each
mass station,

    Midpoint      Ld = h [ 1/2 sum eta.M eta - U((ea + eb)/2) ] - h/2 [V(qa) + V(qb)]
    Variational   Ld = h [ 1/2 sum eta.M eta - U(ea) - V(qa) ]             (Xun et al. 54-55)

where U is elastic and V the potential of the loads, of their mean over the step (Midpoint) or of those
at its start. The discrete Euler-Lagrange equations are solved for qb with momenta p carried from step
to step:

    Ja^T dexp(-h eta)^-T M eta + (elastic and load impulse at a) + Aa^T lam = pa,      b(qb) = 0
    pb = Jb^T dexp(h eta)^-T M eta + (elastic and load impulse at b)

(the printed equation (54) has the adjoint where dexp^-T stands here, and the opposite sign of the
potential in the Lagrangian). No second derivative of the map is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.lie import se3
from pliant.physics import collect
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import (
    STALLED,
    Integrator,
    StepError,
    Stepper,
    add_link_rows,
    constraints_met,
    mass_solve,
    momentum,
    rounding_force,
    step_compliance,
)
from pliant.solve.integrators.room import Room
from pliant.solve.integrators.work import load_fill, step_work
from pliant.system import constraints
from pliant.system.assembly import assemble_bilinear, assemble_vector
from pliant.system.balance import add_link_forces, link_poses
from pliant.system.block import Level
from pliant.system.driving import base_steps, base_twists, put_bases
from pliant.system.linear import SingularError, add_at, norms, scatter, scatter_vector
from pliant.system.loading import Loading
from pliant.system.system import System
from pliant.system.tangent import new_tangent

_KEEP = 3
"""Steps for which a factor is used before a new one is made, if it serves that long."""


@dataclass(frozen=True)
class Midpoint(Integrator):
    """Implicit midpoint variational integrator: second order, no energy drift.

    It stands steps far longer than the shear and stretch waves of a rod. Where the step is too long
    even for fast bending at large rotation and nothing damps it, energy can grow; simulate() warns.

    tolerance : residual of a step relative to the momenta in play.
    """

    tolerance: float = 3e-7
    variational: ClassVar[bool] = True

    def stepper(self, system: System, h: float) -> Stepper:
        return VariationalStepper(system, h, self.tolerance, 0.5)


@dataclass(frozen=True)
class Variational(Integrator):
    """The explicit variational integrator of the Lie-group framework: cheap, conditionally stable.

    The step must stay below 2 / omega, omega the highest frequency of the discretised robot.
    tolerance : residual of a step relative to the momenta in play.
    """

    tolerance: float = 1e-10
    variational: ClassVar[bool] = True

    def stepper(self, system: System, h: float) -> Stepper:
        return VariationalStepper(system, h, self.tolerance, 0.0)


class VariationalStepper(Stepper):
    """Steps of `Midpoint` (share = 1/2 of the elastic impulse implicit) or `Variational` (0)."""

    def __init__(self, system: System, h: float, tolerance: float, share: float) -> None:
        super().__init__(system, h)
        self.tolerance = tolerance
        self.implicit = share > 0.0
        self._share = share if self.implicit else 1.0
        self.a = system.levels()
        self.b = system.levels()
        self._room = [Room(block, h, share) for block in system.blocks]
        self._scale = 0.0
        self._floor = h * rounding_force(system, h)
        self._filled = new_tangent(system, False)
        self._compliance = [step_compliance(b, h * h * self._share) for b in system.blocks]
        self._age = _KEEP
        self._rows, self._weights = system.gap_weights
        bodies = any(block.bodies for block in system.blocks)
        self._needs_points = bool(system.links) or bodies or len(system.blocks) > 1

    # -- state -------------------------------------------------------------------------------

    def start(self, q: Array, v: Array, loading: Loading) -> None:
        system = self.system
        self.q = q.copy()
        self._place(self.a, self.q)
        self._place_main()
        self.p = momentum(system, self.a, v)
        self._twists = v[system.driven]
        self._previous: Array | None = None
        self._scale = float(np.linalg.norm(self.p))
        for block, level in zip(system.blocks, self.a, strict=True):
            if block.modes is not None:
                self.mult[block.mode_index] = block.settled_modes(level.strain.e)

    def velocity(self) -> Array:
        self._place_main()
        return mass_solve(self.system, self.p, driven=self._twists)

    def _place_main(self) -> None:
        self.system.place(self.q, mass=True)

    def _place(self, levels: list[Level], q: Array) -> None:
        self.system.place(q, levels, mass=True)

    # -- one step ----------------------------------------------------------------------------

    def advance(self, before: Loading, after: Loading) -> None:
        system = self.system
        goal = self._goal(before, after)
        q = put_bases(system, self._predict(), after)
        mult = self.mult.copy()
        size = math.inf
        self._age += 1
        for k in range(30):
            system.place(q, self.b, mass=True, points=self._needs_points)
            previous = size
            residual = self._residual(goal, mult)
            if k == 0:
                force, _ = norms(residual, system.coordinates, self._rows, self._weights)
                self._scale = max(self._scale, math.sqrt(goal @ goal), force)
            size = self._size(residual)
            if not math.isfinite(size):
                self._fail("the motion became infinite")
            stalled = k > 2 and size > 0.5 * previous and size <= STALLED * self._scale
            small = size <= self.tolerance * self._scale + self._floor or stalled
            if small and constraints_met(system, residual):
                break
            if self._age > _KEEP or size > 0.1 * previous:
                self._factorise()
                self._age = 1
            right = -residual
            right[system.driven] = 0.0
            x = self._filled.matrix.solve(right)
            self.iterations += 1
            q = system.moved(q, x, levels=self.b)
            add_at(self._rows, x, mult)
        else:
            self._fail("no convergence in 30 iterations")
        self._accept(q, mult, before, after, residual)

    def _goal(self, before: Loading, after: Loading) -> Array:
        """Momentum (n,) that has to leave the start of a step, with the impulse of the loads there.

        Loads that change act with their mean at both ends, as elastic stresses do. With the load of
        each end there, modes much faster than the step would answer to the first one alone, lag
        behind by its change in a step, and alternate about equilibrium from then on.
        """
        changes = self.implicit and after is not before
        self._acting = before.mix(after, 0.5) if changes else before
        return self.p + self.h * self._applied(self.a, self._acting, self._share)

    def _accept(
        self, q: Array, mult: Array, before: Loading, after: Loading, residual: Array
    ) -> None:
        """Take q as the end of the step; the momentum in its residual is left to the next step.

        So what the tolerance lets pass does not add up, however many steps a motion has.
        """
        system, h, free = self.system, self.h, self.system.coordinates
        self._reaction = residual[system.driven]
        if not self._needs_points:
            for block, level in zip(system.blocks, self.b, strict=True):
                block.map.frame(level.points, level.c)
        arrived = np.zeros(system.n)
        assemble_vector(system, self.b, self._arrival, arrived)
        if self.implicit:
            arrived += h * self._applied(self.b, self._acting, 0.5)
        arrived[free] -= residual[free]
        if self.books:
            self.dissipated += sum(room.dissipated() for room in self._room)
            self.work += self._work(before, after)
        self._previous = self.q
        self.q, self.p, self.mult = q, arrived, mult
        self.a, self.b = self.b, self.a
        if len(system.driven):
            self._book_bases(after)

    def _book_bases(self, after: Loading) -> None:
        """Work of driven bases: the mean wrench of the step on them times their displacement.

        The impulse at the end of the step is the momentum of a base, by its rates, less what the
        step brings there; the impulse at the start was the residual of the base.
        """
        system = self.system
        assert self._previous is not None
        self._twists = base_twists(system, after)[0]
        owned = momentum(system, self.a, self.velocity())[system.driven]
        impulse = self._reaction + owned - self.p[system.driven]
        self.work += float(impulse @ base_steps(system, self._previous, self.q)) / self.h
        self.p[system.driven] = owned

    def _fail(self, what: str) -> None:
        hint = (
            "a smaller dt"
            if self.implicit
            else "dt below 2 / (2 pi f) for the highest frequency f of the robot, or Midpoint()"
        )
        raise StepError(f"a time step of {self.h:g} s failed: {what}; try {hint}")

    def _predict(self) -> Array:
        """Extrapolate the motion of the last step; poses of free bases move along their screw."""
        if self._previous is None:
            return self.q.copy()
        q = 2.0 * self.q - self._previous
        for block in self.system.blocks:
            if block.pose_slice is not None:
                old = self._previous[block.pose_slice].reshape(4, 4)
                new = self.q[block.pose_slice].reshape(4, 4)
                screw = se3.exp(se3.log(se3.inverse(old) @ new))
                q[block.pose_slice] = se3.orthonormal(new @ screw).ravel()
        return q

    # -- residual and tangent ----------------------------------------------------------------

    def _size(self, r: Array) -> float:
        """Size of a residual in units of momentum: gaps count relative to strain and length."""
        forces, gaps = norms(r, self.system.coordinates, self._rows, self._weights)
        return float(forces + gaps * self._scale)

    def _residual(self, goal: Array, mult: Array) -> Array:
        system = self.system
        out = np.zeros(system.n + system.m)
        self._trial = mult
        assemble_vector(system, self.a, self._departure, out[: system.n])
        out[: system.n] -= goal
        for block in system.blocks:
            if block.modes is not None:
                scatter_vector(block.mode_unknowns, block.gaps, out)
        if system.links:
            self._add_constraints(out, mult[system.n :])
        return out

    def _departure(self, i: int) -> None:
        """Momentum and elastic impulse that leave the configuration at the start of the step."""
        self._room[i].depart(self.a[i], self.b[i], self._trial)

    def _arrival(self, i: int) -> None:
        """Momentum that arrives at the end of the step."""
        block, room, b = self.system.blocks[i], self._room[i], self.b[i]
        mass, strain = b.inertial, b.strain
        collect.add_vector(mass.element, mass.J, room.pb, block.ry)
        if self.implicit:
            collect.subtract_vector(strain.element, strain.B, room.impulse, block.ry)

    def _factorise(self) -> None:
        """Derivative of the residual in the end configuration and in the modes, factorised."""
        system, h = self.system, self.h
        filled = self._filled
        filled.clear()
        data = filled.matrix.data

        def fill(i: int) -> None:
            block, room = system.blocks[i], self._room[i]
            a, b = self.a[i], self.b[i]
            room.momenta(a, b)
            start, end = a.inertial, b.inertial
            collect.add_bilinear(start.element, start.J, room.k, end.J, block.Ky)
            c = (h * self._share) * block.tangent * room.slope
            collect.add_diagonal(a.strain.element, a.strain.B, c, b.strain.B, block.Ky)

        def couplings(i: int) -> tuple[Array, Array]:
            block, room = system.blocks[i], self._room[i]
            if block.modes is None:
                return room.from_start, room.from_end
            block.couple(self.a[i], h * self._share * block.unit, room.from_start)
            block.couple(self.b[i], room.mode_slope, room.from_end)
            return room.from_start, room.from_end

        assemble_bilinear(system, self.a, self.b, fill, filled, couplings)
        for i, slots in enumerate(filled.modes):
            if slots is not None:
                from_start, from_end = couplings(i)
                scatter(slots[0], from_end, data)
                scatter(slots[1], from_start, data)
                scatter(slots[2], self._compliance[i], data)
        if system.links:
            with system.using(self.b):
                add_link_rows(system, filled, 1.0, 0.0)
            with system.using(self.a):
                add_link_rows(system, filled, 0.0, h)
        try:
            filled.matrix.factorise()
        except SingularError:
            self._fail("the step matrix is singular (a rod without mass?)")

    def _add_constraints(self, out: Array, lam: Array) -> None:
        """Gaps at the end of the step, and the impulse h A^T lam at its start."""
        system = self.system
        with system.using(self.b):
            for link in system.links:
                at = system.n + link.at.start
                g1, g2 = link_poses(link)
                out[at : at + len(link.rows)] = constraints.residual(g1, g2)[link.rows]
        with system.using(self.a):
            add_link_forces(system, self.h * lam, out)

    def _applied(self, levels: list[Level], loading: Loading, share: float) -> Array:
        """Generalised force of the loads (n,) at `levels`, times `share`."""
        if loading.empty:
            return np.zeros(self.system.n)
        out = np.zeros(self.system.n)
        assemble_vector(self.system, levels, load_fill(self.system, levels, loading), out)
        return share * out

    def _work(self, before: Loading, after: Loading) -> float:
        """Work of the inputs (all loads but gravity) over the step, by the mean wrench."""
        if before.empty and after.empty:
            return 0.0
        return step_work(self.system, self.a, self.b, before, after)
