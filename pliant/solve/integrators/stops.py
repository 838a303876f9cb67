"""Impacts in steps in acceleration form: rows that begin to hold stop what would violate them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant._numba import kernel
from pliant.engine import loops
from pliant.engine.arrays import copy
from pliant.engine.program import run
from pliant.rods.contract import Array
from pliant.solve.integrators.impacts import rows_of
from pliant.solve.mass import Mass
from pliant.tree.state import State

if TYPE_CHECKING:
    from pliant.solve.integrators.acceleration import AccelerationStepper


class Stops:
    """The impacts of one stepper.

    came (total,), accounted (2,) : rates and account at the start of the present step.
    """

    def __init__(self, stepper: AccelerationStepper) -> None:
        self._stepper, self._mass = stepper, Mass(stepper.effects)
        self.rows = rows_of(stepper.effects)
        self.came, self.accounted = np.zeros(stepper.tree.total), np.zeros(2)

    def look(self, hit: NDArray[np.int64]) -> None:
        """Pause the step, hit_0 = 1, if rows begin to hold in it."""
        stepper = self._stepper
        copy(stepper.v, self.came)
        copy(stepper.account[:2], self.accounted)
        run(mark_hits, self.rows, stepper.z, stepper.trial, hit, stepper.counts)

    def stop(self, a: State, b: State) -> None:
        """Take the rates away by which rows that hold would be violated, and begin anew."""
        stepper, mass = self._stepper, self._mass
        prescribed, scale = stepper.effects.prescribed, stepper.scale
        energy = self._stored(a, self.came) if stepper.keeps_account else 0.0
        known, acc = np.zeros(stepper.tree.total), np.zeros(stepper.tree.total)
        known[prescribed.v_places] = stepper.joint_v
        acc[prescribed.v_places] = stepper.joint_acc
        momentum = mass.momentum(b, stepper.v)
        stepper.v[...] = mass.solve(b, momentum, known=known, z=stepper.z)
        a.place(stepper.q)
        stepper.counts[loops.KNOWS_LAST] = 0
        stepper.set_acceleration(stepper.before, acc)
        stepper.scale = max(scale, stepper.scale)
        if stepper.keeps_account:  # what is missing after the step is the loss of the impact
            spent = float(np.diff(self.accounted - stepper.account[:2])[0])
            stepper.account[1] += energy - self._stored(b, stepper.v) + spent

    def _stored(self, state: State, v: Array) -> float:
        """Energy of a state at rates v (total,) without that of inputs, J."""
        effects = self._stepper.effects
        quiet = effects.numbers(dict.fromkeys(effects.tree.description.inputs(), 0.0))
        stored = [term.energy(state, quiet) for term in effects.terms if term.column != "loads"]
        return sum(stored) + 0.5 * float(self._mass.momentum(state, v) @ v)


@kernel
def mark_hits(rows, z, trial, hit, counts):  # type: ignore[no-untyped-def]
    """Pause, hit_0 = 1, if rows begin to hold: multipliers trial > 0 after z <= 0, both (total,)."""
    for at in rows:
        if trial[at] > 0.0 and z[at] <= 0.0:
            hit[0] = 1
            counts[loops.PAUSED] = 1
