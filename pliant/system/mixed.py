"""Strain energy and dissipation of a rod, of which some stresses are modes and others a strain law."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_solve

from pliant.rods.contract import Array, Ints, Plan, StressModes


class HasStrain(Protocol):
    """A configuration whose strains are known."""

    strain: Plan


class Mixed:
    """What a rod's stiffness, viscosity and stress modes say of given strains (S, 6)."""

    modes: StressModes | None
    level: Any
    strain_w: Array
    C: Array
    D: Array
    e0: Array
    mode_rows: Ints
    law_rows: Ints
    rigid: bool
    _compliance_factor: list[Any]

    def mode_strains(self, d: Array) -> Array:
        """(count, R): strains d (S, 6) of the rows of the modes integrated against every mode."""
        assert self.modes is not None
        element, rows = self.level.strain.element, self.mode_rows
        total = np.zeros((self.modes.count, len(rows)))
        weighted = self.modes.values[:, :, None] * (self.strain_w * d)[:, None, rows]
        np.add.at(total, self.modes.index[element], weighted)
        return total

    def settled_modes(self, e: Array) -> Array:
        """Modes (count, R) in balance with strains e (S, 6) at the strain rule."""
        total = self.mode_strains(e - self.e0)
        pairs = zip(self._compliance_factor, total.T, strict=True)
        columns = [cho_solve(factor, column) for factor, column in pairs]
        return np.stack(columns, axis=1)

    def dissipation(self, rate: Array) -> float:
        """Power lost to Kelvin-Voigt damping at strain rates (S, 6), W.

        With stress modes the forces are viscous through their projected rate, as in `settled_modes`.
        """
        lag, rows = self.D / self.C, self.law_rows
        power = float(np.sum((self.strain_w * self.D * rate**2)[:, rows]))
        if self.modes is not None and not self.rigid:
            a = self.settled_modes(self.e0 + lag * rate)
            power += float(np.sum(a * self.mode_strains(rate)))
        return power

    def elastic_energy(self, level: HasStrain) -> float:
        """Strain energy, J."""
        d = level.strain.e - self.e0
        energy = 0.0
        if self.modes is not None and not self.rigid:
            energy = 0.5 * float(np.sum(self.settled_modes(level.strain.e) * self.mode_strains(d)))
        return energy + 0.5 * float(np.sum((self.strain_w * self.C * d * d)[:, self.law_rows]))
