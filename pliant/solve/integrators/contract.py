"""The contract of an integrator: settings that make a stepper for one system.

A stepper holds the state between steps. `advance(loads_a, loads_b)` takes one step of length h with
the loadings at its two ends; `velocity()` and `energies()` are asked at output times only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.model import ConvergenceError
from pliant.physics import collect
from pliant.rods.contract import Array
from pliant.system.assembly import assemble_bilinear, assemble_vector, mass_fill
from pliant.system.balance import link_rates, link_rows
from pliant.system.block import Block, Level
from pliant.system.linear import SingularError, scatter
from pliant.system.loading import Loading
from pliant.system.system import System
from pliant.system.tangent import Tangent, tangent_of

if TYPE_CHECKING:
    from pliant.solve.integrators.march import March
    from pliant.solve.schedule import Schedule

STALLED = 1e-6
"""Residual, relative to all that is in play, at which a step is taken that rounding keeps from its
tolerance: further iterations do not make it smaller. One that is stuck above it has failed."""


class StepError(ConvergenceError):
    """A time step did not converge; the stepper still holds the state before it."""


class Stepper(ABC):
    """The moving state of one simulation.

    q (nq,) configuration; mult (n + m,) stress modes and multipliers of the last step; energy
    dissipated and work done by the inputs so far, J; Newton iterations so far.
    """

    q: Array
    mult: Array
    dissipated: float = 0.0
    work: float = 0.0
    iterations: int = 0
    books: bool = True
    """Whether energy is accounted for; it costs time."""

    def __init__(self, system: System, h: float) -> None:
        self.system = system
        self.h = h
        self.mult = np.zeros(system.n + system.m)

    @abstractmethod
    def start(self, q: Array, v: Array, loading: Loading) -> None:
        """Begin at configuration q with coordinate rates v (n,) under `loading`."""

    @abstractmethod
    def advance(self, before: Loading, after: Loading) -> None:
        """One step; raises StepError and leaves the state unchanged if it does not converge."""

    def march(self, schedule: Schedule) -> March | None:
        """Many steps at once under the inputs of a schedule, from where `start` began; or None."""
        return None

    @abstractmethod
    def velocity(self) -> Array:
        """Coordinate rates (n,) at the present configuration."""


class Integrator(ABC):
    """Settings of an integrator."""

    variational: ClassVar[bool] = False
    damped: ClassVar[str] = "GeneralizedAlpha(rho=0.5)"
    """One for the same robots that damps what the step cannot resolve, for advice."""

    @abstractmethod
    def stepper(self, system: System, h: float) -> Stepper:
        """A stepper for `system` with step length h, s."""


def momentum(system: System, levels: list[Level], v: Array) -> Array:
    """M v (n,) of rates v (n,); system and `levels` placed at the same configuration."""
    rates = velocity_lift(system, levels, v)

    def fill(i: int) -> None:
        block, plan = system.blocks[i], levels[i].inertial
        eta = np.einsum("sia,sa->si", plan.J, rates[i][plan.element])
        collect.add_vector(plan.element, plan.J, block.M * eta, block.ry)

    out = np.zeros(system.n)
    assemble_vector(system, levels, fill, out)
    return out


def mass_solve(
    system: System, p: Array, rates: Array | None = None, driven: Array | None = None
) -> Array:
    """v (n,) with M v + A^T lam = p and A v = rates (m,), by default 0, at the placed configuration.

    Where strains are held by constraint their rates are held as well: at the places of those stress
    modes, p has the rates that they are to have. Frames of the mass stations must be up to date.
    driven (6 k,), by default 0, are the entries of v of driven bases; their rows of p do not count.
    """
    filled = tangent_of(system, True)
    filled.clear(min(float(np.min(b.M[b.M > 0], initial=1.0)) for b in system.blocks))
    data = filled.matrix.data
    levels = [block.level for block in system.blocks]
    for block in system.blocks:
        block.coupling[...] = 0.0
        if block.rigid:
            block.couple(block.level, block.unit, block.coupling)

    def couplings(i: int) -> tuple[Array, Array]:
        return system.blocks[i].coupling, system.blocks[i].coupling

    assemble_bilinear(system, levels, levels, mass_fill(system, levels), filled, couplings)
    for block, slots in zip(system.blocks, filled.modes, strict=True):
        if slots is None:
            continue
        if block.rigid:
            scatter(slots[0], block.coupling, data)
            scatter(slots[1], block.coupling, data)
            scatter(slots[2], block.inertial_share(1.0) * block.compliance, data)
        else:
            scatter(slots[2], block.compliance, data)
    add_link_rows(system, filled, 1.0, 1.0)
    right = np.concatenate([p, np.zeros(system.m) if rates is None else rates])
    if driven is not None and len(driven):
        known = np.zeros(system.n)
        known[system.driven] = driven
        right[: system.n] -= momentum(system, levels, known)
        right[: system.n] -= strain_gap_rates(system, known)
        right[system.n :] -= link_rates(system, known)
    right[system.driven] = 0.0
    try:
        filled.matrix.factorise()
        v = filled.matrix.solve(right)[: system.n]
    except SingularError:
        names = ", ".join(
            repr(b.rod.name) for b in system.blocks if not np.all(b.M[: len(b.mass_s)] > 0)
        )
        raise ConvergenceError(
            f"the mass matrix is singular: rods {names or 'of this robot'} have no mass or no "
            "rotary inertia; give the material a density rho, or Stiffness a mass and an inertia"
        ) from None
    v[system.mode_unknowns] = 0.0
    if driven is not None:
        v[system.driven] = driven
    return v


def step_compliance(block: Block, mobility: float) -> Array:
    """Compliance (E, pR, pR) of the stress modes in the tangent of a step.

    mobility : derivative of a displacement in an acceleration, s^2. Where strains are held by
    constraint, the compliance that only makes the tangent regular has to stay small beside that of
    inertia, mobility over mass, which becomes the smaller one as the step does.
    """
    part = min(1.0, block.inertial_share(mobility)) if block.rigid else 1.0
    return part * block.compliance


def constraints_met(system: System, residual: Array) -> bool:
    """True if all constraint gaps in a residual are below 1e-10 of the longest rod."""
    if not system.links:
        return True
    length = max(block.rod.length for block in system.blocks)
    return float(np.max(np.abs(residual[system.n :]))) <= 1e-10 * max(length, 1e-300)


def rounding_force(system: System, h: float) -> float:
    """Force that rounding of poses and strains makes up when the step is h, N."""
    eps = 1e-15
    force = 0.0
    for block in system.blocks:
        reach = float(np.max(np.abs(block.rod.pose[:3, 3]))) + block.rod.length
        stiffness = float(np.max(block.C[:, block.law_rows])) / (
            1.0 if block.modes is None else reach
        )
        force += eps * (float(np.sum(block.M[:, 3])) * reach / h**2 + stiffness)
    return force


def add_link_rows(system: System, filled: Tangent, row_scale: float, column_scale: float) -> None:
    """Add the constraint Jacobians A at the placed configuration: A times row_scale, A^T times
    column_scale.
    """
    for link, slots in zip(system.links, filled.links, strict=True):
        A = np.ascontiguousarray(link_rows(system, link)[None])
        scatter(slots[0], row_scale * A, filled.matrix.data)
        scatter(slots[1], column_scale * A, filled.matrix.data)


def strain_gap_rates(system: System, v: Array) -> Array:
    """Rates of the strains held by constraint for coordinate rates v (n,), as in `strain_gaps`.

    They stand at the places (n,) of the stress modes, at the placed configuration.
    """
    out = np.zeros(system.n)
    if not any(block.rigid for block in system.blocks):
        return out
    lifted = velocity_lift(system, [block.level for block in system.blocks], v)
    for block, y in zip(system.blocks, lifted, strict=True):
        if block.rigid:
            plan = block.level.strain
            rates = np.einsum("sia,sa->si", plan.B, y[plan.element])
            out[block.mode_index] = block.mode_strains(rates)
    return out


def velocity_lift(system: System, levels: list[Level], v: Array) -> list[Array]:
    """Rates of element variables y (E, m) of every rod for coordinate rates v (n,).

    The system must be placed at the same configuration as `levels`.
    """
    out = []
    for block, level in zip(system.blocks, levels, strict=True):
        local = system.local_variation(block, v)
        elements = block.map.elements
        y = np.zeros((len(elements), block.map.m))
        x = np.where(elements >= 0, local[np.maximum(elements, 0)], 0.0)
        block.map.lift_velocity(level.c, x, y)
        out.append(y)
    return out
