"""The energy balance of explicit steps: they can resonate with waves that the grid hardly resolves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.program import Program, record
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.solve.integrators.lumped.scheme import Scheme
from pliant.tree.state import State

_BAND = 1e-3
"""Change of the balance between two looks that is too much, relative to the largest kinetic energy."""
_SMALL = 1e-7
"""Strain of all rods whose energy counts as none: robots that rest move by rounding errors."""
_DRIVEN = 10.0
"""How much more may change while bases move, whose work is summed to second order only."""


class EnergyWatch:
    """The energy balances of robots in motion, looked at from time to time.

    Robots of which other terms than laws of strains and fields store energy need states where they are.
    """

    def __init__(self, robots: Sequence[Effects]) -> None:
        self.known = np.zeros((2, len(robots)))
        """Balances of the last look, and the largest kinetic energies so far, J."""
        self._energies = np.zeros((2, len(robots)))
        self._robots, self._least = robots, np.zeros(len(robots))
        self._program: tuple[Scheme, Program] | None = None

    def start(self, scheme: Scheme, states: Sequence[State]) -> None:
        """Begin where the steps of a scheme are; states : the robots there."""
        self.known[...] = self._look(scheme, states)
        self._least[...] = [_negligible(robot) for robot in self._robots]

    def _look(self, scheme: Scheme, states: Sequence[State]) -> Array:
        """Energy balances and kinetic energies (2, R), J."""
        if self._program is None or self._program[0] is not scheme:
            self._program = scheme, record(scheme.aside, lambda: self._add(scheme))
        self._program[1]()
        kinetic, stored = self._energies
        found = np.stack([kinetic + stored, kinetic])
        for r, (robot, state) in enumerate(zip(scheme.system.robots, states, strict=True)):
            own = [term for term in robot.terms if term.column != "loads"]
            if own:
                quiet = robot.quiet
                found[0, r] += sum(term.energy(state, quiet) for term in own)
            found[0, r] += scheme.accounts[r][1] - scheme.accounts[r][0] + robot.guides.own[0]
        return found

    def _add(self, scheme: Scheme) -> None:
        """Set kinetic energies, and those stored in rods and fields."""
        clear(self._energies)
        for motion in scheme.system.motions:
            motion.nodes.set_strain()
            motion.nodes.add_elastic_energy(self._energies[1])
            motion.add_energy(self._energies)

    def holds(self, scheme: Scheme, states: Sequence[State], driven: bool = False) -> bool:
        """Whether no balance has changed much since the last look; if not, that one still counts.

        driven : whether bases moved.
        """
        balance, kinetic = self._look(scheme, states)
        largest = np.maximum(self.known[1], kinetic)
        band = _BAND * (_DRIVEN if driven else 1.0) * np.maximum(largest, self._least)
        held = bool((np.abs(balance - self.known[0]) <= band).all())  # not if it is NaN
        if held:
            self.known[...] = balance, largest
        return held


def _negligible(robot: Effects) -> float:
    """Energy that is nothing next to what the rods of a robot can store, J."""
    parts = [part for part in robot.tree.parts if len(part.C)]
    return sum(0.5 * _SMALL**2 * part.length * float(part.C[:, 3:].max()) for part in parts)
