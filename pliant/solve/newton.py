"""Newton's method for statics and for the steps of every integrator: equations with a `Matrix`."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.newton import SINGULAR, Newton, Policy
from pliant.linalg.matrices import Matrix, SingularError
from pliant.physics.own_law import LawError


class Equations(Newton):
    """What Newton's method solves for coordinates and multipliers.

    x (n,) is the correction and `right` (n,) the right-hand side of its equations.
    """

    def __init__(self, policy: Policy, matrix: Matrix) -> None:
        super().__init__(policy, matrix.flags)
        self.matrix = matrix
        self.x, self.right = np.zeros(matrix.n), np.zeros(matrix.n)

    def reason(self, error: Exception) -> str:
        """Why an error ends an attempt."""
        if isinstance(error, SingularError):
            return SINGULAR
        return str(error) if isinstance(error, LawError) else super().reason(error)

    def repair(self) -> None:
        """Solve for the correction with row exchanges."""
        self.matrix.repair(self.right, self.x)


@kernel
def negate(r, out):  # type: ignore[no-untyped-def]
    """out (n,) = -r, the first entries."""
    for i in range(out.shape[0]):
        out[i] = -r[i]
