"""States inside the last step of Radau: the polynomial of its stages, as accurate as the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.engine.arrays import copy
from pliant.engine.program import Program, record, run
from pliant.lie.charts import set_chart_rates
from pliant.solve.integrators import radau_rule as rule
from pliant.tree.state import State

if TYPE_CHECKING:
    from pliant.solve.integrators.radau import RadauStepper


class InsideStep:
    """Where a part of the last step is over: state, rates v (total,) and account (2 + records,)."""

    def __init__(self, stepper: RadauStepper) -> None:
        total = stepper.tree.total
        self._stepper = stepper
        self.state, self.v = State(stepper.tree), np.zeros(total)
        self.account = stepper.account.copy()
        self.began = np.zeros(total)
        """Rates at the start of the last step."""
        self._part, self._weights, self._chart = np.ones(1), np.zeros((3, 3)), np.zeros((3, total))
        self._acc = np.zeros(total)
        self._programs: list[Program | None] = [None, None]

    def look(self, part: float) -> None:
        """Look where a part of the last step is over. What is `b` now was the start of that step."""
        side = int(self._stepper.side[0])
        self._part[0] = part
        program = self._programs[side] or record(self._look, self._stepper.b)
        self._programs[side] = program
        program()

    def _look(self, start: State) -> None:
        stepper, weights, (X, W, Y) = self._stepper, self._weights, self._chart
        h = stepper.step[1:2]
        run(rule.set_weights, self._part, weights)
        began = (self.began, stepper.z, stepper.rest)
        given = (h, self._part, weights, stepper.free, *began, stepper.Y)
        run(rule.inside_step, *given, X, W, Y)
        stepper.tree.retract(start, X, self.state)
        run(set_chart_rates, stepper.poses, stepper.turns, X, W, Y, self.v, self._acc)
        run(rule.clear_at, stepper.rest, self.v)
        copy(stepper.stage_account.began, self.account)
        stepper.stage_account.add_part(h, self._part, weights[1], self.account)
