"""Work and losses in a step of Radau, by its stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import run
from pliant.rods.contract import Array
from pliant.solve.integrators import radau_rule as rule
from pliant.tree.state import State

if TYPE_CHECKING:
    from pliant.solve.integrators.radau import RadauStepper

_WHOLE = np.ones(1)


class StageAccount:
    """The energy balance of one step.

    works_done (4,) : work of inputs from stage to stage and in one go, J.  drive_power, lost_power (3,)
    : power of drives and losses at the stages, W.  began (2 + records,) : account at its start.
    """

    def __init__(self, stepper: RadauStepper) -> None:
        self._stepper = stepper
        self.works_done, self.drive_power, self.lost_power = np.zeros(4), np.zeros(3), np.zeros(3)
        self.began, self._weights = np.zeros_like(stepper.account), rule.WEIGHTS.copy()

    def add(self, a: State, b: State) -> None:
        """Add work done and energy lost.

        Work of inputs from stage to stage, improved by what it is in one go, for its error falls with
        the cube of the intervals; losses and work of drives by the quadrature of the stages.
        """
        stepper = self._stepper
        copy(stepper.account, self.began)
        for array in (self.works_done, self.drive_power, self.lost_power):
            clear(array)
        stages = stepper.stages(b)
        states, inputs = [a, *stages], [stepper.before, *stepper.stage_u]
        for k in range(3):
            self._add_work(states[k : k + 2], inputs[k : k + 2], self.works_done[k : k + 1])
        self._add_work([a, b], [inputs[0], inputs[3]], self.works_done[3:])
        for i, state in enumerate(stages):
            moment = stepper.moment(state, i, 0.0)
            stepper.effects.add_losses(moment, 1.0, self.lost_power[i : i + 1])
        run(set_drive_power, stepper.tree.prescribed, stepper.r, stepper.V, self.drive_power)
        self.add_part(stepper.step[:1], _WHOLE, self._weights, stepper.account)

    def add_part(self, h: Array, part: Array, weights: Array, out: Array) -> None:
        """Add what a part (1,) of a step of h (1,) seconds brought, with weights (3,) of the stages."""
        records = (self.works_done, self.drive_power, self.lost_power)
        run(rule.add_account, h, part, weights, *records, out)

    def _add_work(self, states: list[State], inputs: list[Array], out: Array) -> None:
        mean = self._stepper.mean
        combine(0.5, inputs[0], 0.5, inputs[1], mean)
        self._stepper.effects.add_work(states[0], states[1], mean, out)


@kernel
def set_drive_power(places, r, V, out):  # type: ignore[no-untyped-def]
    """Power out (3,) of the forces r (3, n) on prescribed coordinates with rates V (3, n)."""
    for i in range(out.shape[0]):
        for at in places:
            out[i] += r[i, at] * V[i, at]
