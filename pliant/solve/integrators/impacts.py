"""Energy that one-sided rows take from a robot in variational steps.

The impulse h A^T lambda at the start of a step takes T(p) - T(p - h A^T lambda) of the kinetic energy
T(p) of momentum p. Reported rates keep A v = 0 in rows that hold, which momenta at the end of a step do
not; what that hides counts as lost for as long as it is hidden.
"""

from __future__ import annotations

import numpy as np

from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.solve.mass import Mass
from pliant.tree.backward import gather
from pliant.tree.state import State


class Impacts:
    """The losses of one stepper."""

    def __init__(self, effects: Effects, mass: Mass) -> None:
        self.effects, self.mass = effects, mass
        self.hidden = np.zeros(1)
        """Kinetic energy that the reported rates do not show at present, J."""

    def taken(self, start: tuple[State, Array], end: tuple[State, Array], z: Array, h: float,
              known: Array) -> float:  # fmt: skip
        """Energy lost in a step of h seconds between states with their momenta (total,), J.

        z (total,) multipliers, known (total,) rates of prescribed coordinates.
        """
        hidden, self.hidden[0] = float(self.hidden[0]), 0.0
        if not any(term.holding(z).any() for term in self.effects.one_sided):
            return -hidden
        self.hidden[0] = self._kinetic(*end, known, None) - self._kinetic(*end, known, z)
        a, p = start
        taken = self._kinetic(a, p, known, None)
        taken -= self._kinetic(a, p - self._impulse(a, z, h), known, None)
        return taken + float(self.hidden[0]) - hidden

    def _impulse(self, a: State, z: Array, h: float) -> Array:
        work = self.mass.work
        work.clear(False)
        for term in self.effects.one_sided:
            term.add_forces(a, np.maximum(z, 0.0), work, h)
        gather(self.effects.tree, a, work, work.residual)
        return work.residual.copy()

    def _kinetic(self, state: State, p: Array, known: Array, z: Array | None) -> float:
        v = self.mass.solve(state, p, known=known, z=z)
        return 0.5 * float(self.mass.momentum(state, v) @ v)
