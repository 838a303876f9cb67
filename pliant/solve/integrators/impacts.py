"""Energy that one-sided rows take from a robot in variational steps.

The impulse I = h A^T lambda at the start of a step takes T(p) - T(p - I) of the kinetic energy
T(p) of momentum p. Reported rates keep A v = 0 in rows that hold, which momenta at the end of a step do
not; what that hides counts as lost for as long as it is hidden. What drives do by these impulses is
their work, no gain.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, combine
from pliant.engine.program import ask, run, when
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
        total = effects.tree.total
        self.lag = np.zeros(total)
        """What of the impulses of rows acts as mean forces of steps instead, N s or N m s."""
        self.rows = rows_of(effects)
        self._holds = np.zeros(1, dtype=np.int64)
        self._none, self._pushes, self._left = (np.zeros(total) for _ in range(3))
        self._v, self._momentum = np.zeros(total), np.zeros(total)

    def account(self, start: tuple[State, Array], end: tuple[State, Array], z: Array, h: float,
                known: Array, lost: Array) -> None:  # fmt: skip
        """Add the energy lost in a step of h seconds between states with their momenta (total,), J.

        z (total,) multipliers, known (total,) rates of prescribed coordinates; lost (1,) is added to.
        """
        run(show_hidden, self.rows, z, self._holds, self.hidden, lost)
        when(self._holds, self._account, start, end, z, h, known, lost)

    def _account(self, start: tuple[State, Array], end: tuple[State, Array], z: Array, h: float,
                 known: Array, lost: Array) -> None:  # fmt: skip
        a, p = start
        self._add_kinetic(*end, known, self._none, 1.0, self.hidden)
        self._add_kinetic(*end, known, z, -1.0, self.hidden)
        driven = self.effects.tree.prescribed
        if len(driven):
            clear(self._momentum)
            self.mass.add_row_impulses(end[0], self._momentum)
            run(add_product, driven, self._momentum, known, self.hidden)
        combine(1.0, lost, 1.0, self.hidden, lost)
        self._add_kinetic(a, p, known, self._none, 1.0, lost)
        self._set_impulse(a, z, h)
        if len(driven):
            run(add_product, driven, self._left, known, lost)
        combine(1.0, p, -1.0, self._left, self._left)
        self._add_kinetic(a, self._left, known, self._none, -1.0, lost, again=True)

    def _set_impulse(self, a: State, z: Array, h: float) -> None:
        work = self.mass.work
        work.clear(False)
        run(take_pushes, self.rows, z, h, self.lag, self._pushes)
        for term in self.effects.one_sided:
            ask(term.add_forces, a, self._pushes, work, 1.0)
        gather(self.effects.tree, a, work, work.residual)
        combine(1.0, work.residual, 0.0, work.residual, self._left)

    def _add_kinetic(self, state: State, p: Array, known: Array, z: Array, scale: float,
                     out: Array, again: bool = False) -> None:  # fmt: skip
        self.mass.find_rates(state, p, known, z, self._v, again)
        self.mass.set_momentum(state, self._v, self._momentum)
        run(add_half_product, self._momentum, self._v, scale, out)


def rows_of(effects: Effects) -> Array:
    """Numbers of all hard one-sided rows."""
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *(term.rows for term in effects.one_sided)])


@kernel
def show_hidden(rows, z, holds, hidden, lost):  # type: ignore[no-untyped-def]
    """Give back what was hidden; holds_0 = 1 if rows hold with multipliers z (total,)."""
    lost[0] -= hidden[0]
    hidden[0] = 0.0
    holds[0] = 0
    for at in rows:
        if z[at] > 0.0:
            holds[0] = 1


@kernel
def take_pushes(rows, z, h, lag, out):  # type: ignore[no-untyped-def]
    """out = h max(z, 0) - lag in some rows."""
    for at in rows:
        out[at] = h * max(z[at], 0.0) - lag[at]


@kernel
def add_product(places, x, y, out):  # type: ignore[no-untyped-def]
    """out_0 += x . y over some places."""
    for at in places:
        out[0] += x[at] * y[at]


@kernel
def add_half_product(x, y, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale x . y / 2."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    out[0] += 0.5 * scale * total
