"""Streams of robots whose rods are formulations with coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.rods.contract import Array
from pliant.solve.integrators.contract import Stepper
from pliant.solve.integrators.march import March
from pliant.solve.schedule import Schedule
from pliant.solve.streaming import Acting, Held, HeldStream, Stream


class StepperStream(HeldStream):
    """Steps of an integrator's stepper."""

    schedule: Schedule

    def __init__(self, stepper: Stepper, schedule: Schedule, held: dict[str, Held]) -> None:
        self.stepper, self.schedule, self.held = stepper, schedule, held
        self.h = stepper.h
        self._before = schedule.at(0.0)

    def _step(self, start: float, end: float) -> None:
        after = self.schedule.at(end)
        self.stepper.advance(self._before, after)
        self.schedule.passed(end, self.stepper.q)
        self._before = after
        self.work, self.dissipated = self.stepper.work, self.stepper.dissipated
        self.iterations = self.stepper.iterations

    def snapshot(self) -> tuple[Array, Array]:
        """Configuration (nq,) and rates (n,)."""
        return self.stepper.q.copy(), self.stepper.velocity().copy()


class MarchStream(Stream):
    """Steps of a compiled march: one compiled call each, in room that was made before."""

    def __init__(self, march: March, held: dict[str, Held]) -> None:
        self.march, self.h = march, march.stepper.h
        self._inputs = np.zeros((1, len(march.names)))
        self._column: dict[str, Any] = {}
        for j, (name, k) in enumerate(march.names):
            value = np.asarray(held[name].after, dtype=float)
            self._inputs[0, j] = value.reshape(-1)[k]
            self._column.setdefault(name, slice(j - k, j - k + value.size))
        self._acting = self._inputs.copy()
        march.begin(self._inputs[0].copy())
        march.prepare(self._inputs, np.full(1, -1, dtype=np.int64), march.room_for(0))

    def advance(self, values: dict[str, Any]) -> None:
        """Take one step to the given input values."""
        march = self.march
        for name, value in values.items():
            self._inputs[0, self._column[name]] = value
        if not march.advance():
            self._inputs[:] = self._acting
            raise march.error()
        self._acting[:] = self._inputs
        self.steps += 1
        self.work, self.dissipated = float(march.books[0]), float(march.books[1])
        self.iterations = int(march.counts[0])

    def snapshot(self) -> tuple[Array, Array]:
        """Configuration (nq,) and rates (n,)."""
        return self.march.state[0].copy(), self.march.state[1].copy()

    def acting(self) -> Acting:
        """The inputs as they are now; a base that marches stands still."""
        march, gas = self.march, self.march.state[8].copy()

        def found() -> tuple[dict[str, Any], Array]:
            now = march.by_name(gas[None, :, 0])
            rates = np.zeros((len(march.schedule.driven), 2))
            return {name: value[0] for name, value in now.items()}, rates

        return found


def make_stream(
    stepper: Stepper, schedule: Schedule, held: dict[str, Held], q: Array, v: Array
) -> Stream:
    """The stream of a stepper that begins at configuration q with rates v."""
    schedule.begin(q)
    stepper.start(q, v, schedule.at(0.0))
    march = stepper.march(schedule)
    if march is None:
        stepper.prepare()
    return StepperStream(stepper, schedule, held) if march is None else MarchStream(march, held)
