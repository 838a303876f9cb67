"""The contract of an integrator: settings that make a stepper for one system.

A stepper holds the state between steps. `advance(loads_a, loads_b)` takes one step of length h with
the loadings at its two ends; `velocity()` and `energies()` are asked at output times only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from pliant.model import ConvergenceError
from pliant.rods.contract import Array
from pliant.system.assembly import assemble_bilinear, mass_fill
from pliant.system.balance import link_rows
from pliant.system.linear import SingularError
from pliant.system.loading import Loading
from pliant.system.system import System


class StepFailure(ConvergenceError):
    """A time step did not converge; the stepper still holds the state before it."""


class Stepper(ABC):
    """The moving state of one simulation.

    q (nq,) configuration, lam (m,) multipliers (reactions) of the last step, dissipated J so far.
    """

    q: Array
    lam: Array
    dissipated: float = 0.0
    work: float = 0.0
    iterations: int = 0

    def __init__(self, system: System, h: float) -> None:
        self.system = system
        self.h = h
        self.lam = np.zeros(system.m)

    @abstractmethod
    def start(self, q: Array, v: Array, loading: Loading) -> None:
        """Begin at configuration q with coordinate rates v (n,) under `loading`."""

    @abstractmethod
    def advance(self, before: Loading, after: Loading) -> None:
        """One step; raises StepFailure and leaves the state unchanged if it does not converge."""

    @abstractmethod
    def velocity(self) -> Array:
        """Coordinate rates (n,) at the present configuration."""


class Integrator(ABC):
    """Settings of an integrator."""

    variational: ClassVar[bool] = False

    @abstractmethod
    def stepper(self, system: System, h: float) -> Stepper:
        """A stepper for `system` with step length h, s."""


def mass_solve(system: System, p: Array) -> Array:
    """Rates v (n,) with M v = p, constraints kept, at the placed configuration (mass frames set)."""
    filled = system.matrix(True)
    matrix = filled[0]
    matrix.data[...] = 0.0
    levels = [block.level for block in system.blocks]
    assemble_bilinear(system, levels, levels, mass_fill(system, levels), filled)
    add_link_rows(system, filled[3], matrix.data, 1.0, 1.0)
    try:
        matrix.factorise()
    except SingularError:
        names = ", ".join(repr(b.rod.name) for b in system.blocks if not np.all(b.M > 0))
        raise ConvergenceError(
            f"the mass matrix is singular: rods {names or 'of this robot'} have no mass or no "
            "rotary inertia; give the material a density rho, or Stiffness a mass and an inertia"
        ) from None
    return matrix.solve(np.concatenate([p, np.zeros(system.m)]))[: system.n]


def add_link_rows(
    system: System, slots: list[Array], data: Array, row_scale: float, column_scale: float
) -> None:
    """Add constraint Jacobians at the placed configuration: rows times row_scale, columns times
    column_scale."""
    from pliant.system.linear import scatter

    count = len(system.links)
    for k, link in enumerate(system.links):
        A = np.ascontiguousarray(link_rows(link)[None])
        scatter(slots[k], row_scale * A, data)
        scatter(slots[count + k], column_scale * A, data)
