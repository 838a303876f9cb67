"""The energy balance of explicit steps: they can resonate with waves that the grid hardly resolves."""

from __future__ import annotations

import numpy as np

from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.tree.forward import kinetic_energy
from pliant.tree.state import State
from pliant.tree.work import Work

_BAND = 1e-3
"""Change of the balance between two looks that is too much, relative to the largest kinetic energy."""


class EnergyWatch:
    """The energy balance of a motion, looked at from time to time."""

    def __init__(self, effects: Effects) -> None:
        self.tree, self._work = effects.tree, Work(effects.tree)
        self._terms = [term for term in effects.terms if term.column != "loads"]
        self._quiet = effects.numbers(dict.fromkeys(effects.tree.description.inputs(), 0.0))
        self.known = np.zeros(2)
        """Balance of the last look, and the largest kinetic energy so far, J."""

    def start(self, state: State, v: Array, account: Array) -> None:
        """Begin with a state and rates v (total,); account (2,) : work and loss so far, J."""
        self.known[:] = self._look(state, v, account)

    def _look(self, state: State, v: Array, account: Array) -> tuple[float, float]:
        """Energy balance and kinetic energy, J."""
        kinetic = kinetic_energy(self.tree, state, self._work, v)
        stored = sum(term.energy(state, self._quiet) for term in self._terms)
        return kinetic + stored - float(account[0]) + float(account[1]), kinetic

    def holds(self, state: State, v: Array, account: Array) -> bool:
        """Whether the balance has hardly changed since the last look; if not, that one still counts."""
        balance, kinetic = self._look(state, v, account)
        largest = max(float(self.known[1]), kinetic)
        held = abs(balance - self.known[0]) <= _BAND * largest  # not if it is no number
        if held:
            self.known[:] = balance, largest
        return held
