"""States that hold all constraints, next to those that were interpolated between others."""

from __future__ import annotations

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.program import Recurring, ask
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.solve.mass import Mass
from pliant.tree.state import State

_CLOSED, _CORRECTIONS = 1e-10, 4
"""Gap of constraints, in lengths, that counts as closed, and most corrections towards it."""


class ClosedStates:
    """Moves states as little, by kinetic energy, as it takes to hold all constraints.

    What it does is recorded once and repeated for each state; it belongs to one thread.
    """

    def __init__(self, effects: Effects) -> None:
        tree = effects.tree
        self.effects, self._mass = effects, Mass(effects)
        self._state, self._moved = State(tree), State(tree)
        self._changes, self._shift, self._v, self._p, self._known, self._none = (
            np.zeros(tree.total) for _ in range(6)
        )
        self._measuring, self._correcting = Recurring(self._measure), Recurring(self._correct)
        self._projecting = Recurring(self._project)

    def near(self, q: Array, v: Array, drive: Array) -> tuple[Array, Array]:
        """The configuration (nq,) and rates (total,) next to q and v.

        drive (K, 3) : what prescribed joints do.
        """
        tree, state, mass = self.effects.tree, self._state, self._mass
        state.q[...] = self.effects.prescribed.put(q, drive)
        self._measuring()
        for _ in range(_CORRECTIONS):
            if np.abs(self._changes).max() <= _CLOSED * tree.length:
                break
            self._correcting()
            if mass.require_solution(self._shift):
                tree.retract(state, self._shift, self._moved)
            state.q[...] = self._moved.q
            self._measuring()
        self._v[...], self._known[...] = v, self.effects.prescribed.rates(drive)[0]
        self._projecting()
        mass.require_solution(self._v)
        return state.q.copy(), self._v.copy()

    def _measure(self) -> None:
        """Place the state, and set the changes that close its gaps."""
        self._state.place(self._state.q)
        clear(self._changes)
        for term in self.effects.hard:
            ask(term.add_gaps, self._state, -1.0, self._changes)

    def _correct(self) -> None:
        """Move by the displacement that makes these changes."""
        self._mass.find_displacement(self._state, self._changes, self._shift)
        self.effects.tree.retract(self._state, self._shift, self._moved)

    def _project(self) -> None:
        """Take away what of the rates would open gaps."""
        mass, state = self._mass, self._state
        mass.set_momentum(state, self._v, self._p)
        mass.find_rates(state, self._p, self._known, self._none, self._v)
