"""Strain energy and dissipation of a rod, of which some stresses are modes and others a strain law."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_solve

from pliant.model import Rod
from pliant.rods.contract import Array, Ints, Plan, StressModes


class HasStrain(Protocol):
    """A configuration whose strains are known."""

    strain: Plan


class Mixed:
    """What a rod's stiffness, viscosity and stress modes say of given strains (S, 6).

    plain (S, 6) is stiffness times weight of the stress that each strain has by itself, mode_w (S, R)
    the weight of the stress that the modes carry in the rows `mode_rows`.
    """

    rod: Rod
    modes: StressModes | None
    level: Any
    strain_w: Array
    C: Array
    D: Array
    e0: Array
    plain: Array
    mode_w: Array
    mode_rows: Ints
    rigid: bool
    _compliance_factor: list[Any]

    def split_stiffness(self) -> tuple[Array, Array]:
        """The arrays `plain` (S, 6) and `mode_w` (S, R).

        Strains that the modes do not feel cost nothing. Where they would be large (`held` of the
        modes), a share of the stiffness of their rows, `held` times the bending stiffness over the
        square of the length, is taken point by point (partial projection, Arnold and Brezzi 1993):
        it does not grow with slenderness, so that slender rods do not lock.
        """
        plain, rows = self.strain_w * self.C, self.mode_rows
        if self.modes is None:
            return plain, np.zeros((len(plain), 0))
        bending = self.modes.held * np.minimum(self.C[:, 0], self.C[:, 1]) / self.rod.length**2
        share = np.minimum(0.9, bending[:, None] / self.C[:, rows])
        plain[:, rows] *= share
        return plain, np.ascontiguousarray(self.strain_w[:, rows] * (1.0 - share))

    def mode_strains(self, d: Array) -> Array:
        """(count, R): strains d (S, 6) of the rows of the modes integrated against every mode."""
        assert self.modes is not None
        element, rows = self.level.strain.element, self.mode_rows
        total = np.zeros((self.modes.count, len(rows)))
        weighted = self.modes.values[:, :, None] * (self.mode_w * d[:, rows])[:, None]
        np.add.at(total, self.modes.index[element], weighted)
        return total

    def settled_modes(self, e: Array) -> Array:
        """Modes (count, R) in balance with strains e (S, 6) at the strain rule."""
        total = self.mode_strains(e - self.e0)
        pairs = zip(self._compliance_factor, total.T, strict=True)
        columns = [cho_solve(factor, column) for factor, column in pairs]
        return np.stack(columns, axis=1)

    def settle_matrix(self, r: int) -> Array:
        """(count, count): modes of row r of `mode_rows` from the strains of `mode_strains`."""
        assert self.modes is not None
        return np.asarray(cho_solve(self._compliance_factor[r], np.eye(self.modes.count)))

    def dissipation(self, rate: Array, lag: Array | None = None) -> float:
        """Power lost to Kelvin-Voigt damping at strain rates (S, 6), W; lag (S, 6), by default D / C.

        With stress modes the forces are viscous through their projected rate, as in `settled_modes`.
        """
        lag = self.D / self.C if lag is None else lag
        power = float(np.sum(self.plain * lag * rate**2))
        if self.modes is not None and not self.rigid:
            a = self.settled_modes(self.e0 + lag * rate)
            power += float(np.sum(a * self.mode_strains(rate)))
        return power

    def elastic_energy(self, level: HasStrain) -> float:
        """Strain energy, J."""
        d = level.strain.e - self.e0
        energy = 0.5 * float(np.sum(self.plain * d * d))
        if self.modes is not None and not self.rigid:
            modes = self.settled_modes(level.strain.e)
            energy += 0.5 * float(np.sum(modes * self.mode_strains(d)))
        return energy
