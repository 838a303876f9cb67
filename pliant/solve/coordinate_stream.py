"""Streams of robots whose rods are formulations with coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.rods.contract import Array
from pliant.solve.integrators.contract import Stepper
from pliant.solve.schedule import Schedule
from pliant.solve.streaming import Acting, Held, HeldStream


class StepperStream(HeldStream):
    """Steps of an integrator's stepper, each one call of its programs.

    Where no joint is prescribed, inputs go straight from their values to the row of the next step.
    """

    schedule: Schedule

    def __init__(self, stepper: Stepper, schedule: Schedule, held: dict[str, Held]) -> None:
        self.stepper, self.schedule, self.held = stepper, schedule, held
        self.h = stepper.h
        self._row = schedule.rows(np.zeros(1))
        self._places = schedule.places()
        self._take = stepper.one_step(self._row)

    def advance(self, values: dict[str, Any]) -> None:
        """Take one step to the given input values."""
        if self._places is None:
            super().advance(values)
            return
        base, units, columns, asked = self._places
        before = asked.copy()
        for name, value in values.items():
            asked[columns[name]] = value
        np.dot(asked, units, out=self._row[0])
        self._row += base
        try:
            if not self._take():
                self.stepper.take(self._row)
        except BaseException:
            asked[...] = before
            raise
        for name, value in values.items():
            self.held[name].after = value
        self.steps += 1

    def _step(self, start: float, end: float) -> None:
        self.stepper.take(self.schedule.rows(np.array([end])))

    @property
    def work(self) -> float:  # type: ignore[override]
        """Work done by the inputs since the start, J."""
        return self.stepper.work

    @property
    def dissipated(self) -> float:  # type: ignore[override]
        """Energy dissipated since the start, J."""
        return self.stepper.dissipated

    @property
    def iterations(self) -> int:  # type: ignore[override]
        """Newton iterations since the start."""
        return self.stepper.iterations

    def snapshot(self) -> tuple[Array, Array]:
        """Configuration (nq,) and rates (n,)."""
        return self.stepper.q.copy(), self.stepper.velocity().copy()

    def acting(self) -> Acting:
        """The inputs as they are now; behind a pressure line, what is in the chamber."""
        asked = {name: held.after for name, held in self.held.items()}
        rates = [self.held[name].last() for name in self.schedule.driven]
        acted = self.stepper.acted.copy()

        def now() -> tuple[dict[str, Any], Array]:
            values = {name: np.array(value, dtype=float) for name, value in asked.items()}
            fed = self.schedule.fed(acted)
            return {**values, **fed}, np.array(rates, dtype=float).reshape(-1, 2)

        return now


def make_stream(
    stepper: Stepper, schedule: Schedule, held: dict[str, Held], q: Array, v: Array
) -> StepperStream:
    """The stream of a stepper that begins at configuration q with rates v."""
    stepper.start(q, v, schedule.at(0.0))
    stepper.prepare()
    return StepperStream(stepper, schedule, held)
