"""The two linear systems of a step of Radau: a real one, and a complex one of the same pattern.

With stiffness K, damping C and mass M at the second stage they are M + h l C + (h l)^2 K for the real
and for the complex eigenvalue l of the rule, see `radau_rule`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import copy
from pliant.engine.program import run
from pliant.physics.contract import opposes
from pliant.rods.contract import Array
from pliant.solve.integrators import radau_rule as rule
from pliant.solve.integrators.motion_balance import dynamic_balance
from pliant.solve.mass import set_diagonal
from pliant.tree.backward import gather_form
from pliant.tree.work import Work

if TYPE_CHECKING:
    from pliant.solve.integrators.radau import RadauStepper


class StageSystems:
    """Factors of both systems, and corrections of the stages.

    z, zx (n,) : right-hand side and solution of the complex system.
    """

    def __init__(self, stepper: RadauStepper) -> None:
        self._stepper, self._masses = stepper, Work(stepper.tree)
        self.matrix = stepper.matrix
        self.twin = self.matrix.complex_twin()
        self.K, self.C, self.M = (np.zeros_like(self.matrix.data) for _ in range(3))
        self.damping = any(opposes(term) for term in stepper.effects.terms)
        self.z: Any = np.zeros(self.matrix.n, np.complex128)
        self.zx: Any = np.zeros(self.matrix.n, np.complex128)
        self.renewed = np.zeros(1, dtype=np.int64)
        """Whether there are factors since the last solution."""

    def fill(self) -> None:
        """Fill stiffness, damping and mass at the second stage, and mix them to the two systems."""
        stepper, data = self._stepper, self.matrix.data
        state, nominal = stepper.inner[1], float(stepper.step[2])
        dynamic_balance(stepper.effects, stepper.moment(state, 1, 0.0, True), 0.0)
        copy(data, self.K)
        if self.damping:
            moment = stepper.moment(state, 1, 1.0 / nominal, True)
            dynamic_balance(stepper.effects, moment, 0.0)
            copy(data, self.C)
        work = self._masses
        work.clear(True)
        stepper.tangent.clear()
        for part, w in zip(stepper.tree.parts, work.parts, strict=True):
            run(set_diagonal, part.M, w.k)
            w.mass = True
        gather_form(stepper.tree, state, state, work, stepper.tangent)
        copy(data, self.M)
        given = (stepper.step, self.K, self.C, self.M, self.damping)
        run(rule.mix_matrices, *given, data, self.twin.data)

    def factorise(self) -> None:
        """Factorise both systems."""
        self.matrix.record_factorise()
        self.twin.record_factorise()
        run(join_factors, self.twin.flags, self.matrix.flags, self.renewed)

    def solve(self, residuals: Array, right: Array, x: Array, last: Array) -> None:
        """Solve for the corrections of the stages; last (total,) : that of the end of the step.

        residuals (3, total).  right, x (n,) : right-hand side and solution of the real system.
        """
        run(rule.split_residuals, residuals, right, self.z)
        self.matrix.record_solve(right, x)
        self.twin.record_solve(self.z, self.zx)
        run(rule.last_stage, x, self.zx, last)
        run(join_solutions, self.twin.flags, self.matrix.flags, self.renewed)

    def repair(self, right: Array, x: Array) -> None:
        """Solve with row exchanges."""
        self.matrix.repair(right, x)
        self.twin.repair(self.z, self.zx)


@kernel
def join_factors(twin, flags, renewed):  # type: ignore[no-untyped-def]
    """Flags of both factors in one; corrections are to be solved for."""
    if twin[0] < 0:
        flags[0] = -1
    renewed[0] = 1


@kernel
def join_solutions(twin, flags, renewed):  # type: ignore[no-untyped-def]
    """Flags of both solutions in one, which are up to date."""
    flags[2] = max(flags[2], twin[2])
    renewed[0] = 0
