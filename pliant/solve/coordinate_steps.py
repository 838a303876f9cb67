"""Steps of robots whose rods are formulations with coordinates: those of an integrator's stepper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model import ConvergenceError
from pliant.model.checks import StepError
from pliant.rods.contract import Array
from pliant.solve.checkpoint import pack, unpack
from pliant.solve.dynamics import NOT_INSIDE, Rows, Steps
from pliant.solve.integrators.contract import Integrator, Stepper
from pliant.solve.limits import with_limits
from pliant.solve.schedule import Schedule

_HALVINGS = 6
"""How often a step that does not converge is halved before the simulation stops."""


class CoordinateSteps(Steps):
    """Steps of a stepper from configuration q (nq,) with rates v (total,).

    Many of them are one call of its programs. Outputs inside a step are shorter steps of the same
    integrator that lead nowhere else.
    """

    schedule: Schedule

    def __init__(
        self, integrator: Integrator, stepper: Stepper, schedule: Schedule, q: Array, v: Array
    ) -> None:
        self.integrator, self.stepper, self.schedule = integrator, stepper, schedule
        self.effects = stepper.effects
        self.h, self.capacity, self.unknowns = stepper.h, stepper.capacity, self.effects.tree.size
        self.first = q[None].copy(), v[None].copy(), np.zeros((1, 2)), schedule.at(0.0).u[None]
        self.account, self.acted = stepper.account, stepper.acted
        self._halved = 0
        self._inside: list[Rows] = []

    def start(self) -> None:
        """Begin the motion at the first snapshot."""
        self.stepper.start(self.first[0][0], self.first[1][0], self.schedule.at(0.0))

    @property
    def done(self) -> int:  # type: ignore[override]
        """Steps that the last call of `take` took."""
        return self.stepper.done

    def take(self, times: Array, wanted: NDArray[np.bool_], inside: Array = NOT_INSIDE) -> None:
        """Take the steps between times (n + 1,)."""
        stepper = self.stepper
        stepper.done = 0
        stepper.keep_now(False)
        try:
            self._inside = [self._output(float(times[0]), t) for t in inside.tolist()]
        except StepError as error:  # shorter steps to the end of the step do not help here
            raise ConvergenceError(error.message) from error
        stepper.take(self.schedule.rows(times[1:]), wanted)
        self._require_finite()

    def _output(self, start: float, t: float) -> Rows:
        """The snapshot at a time inside the step that begins at `start`."""
        stepper, side = self.stepper, self.integrator.stepper(self.effects, t - start)
        side.start(stepper.q, stepper.velocity(), self.schedule.at(start), stepper)
        side.account[...] = stepper.account
        try:
            side.take(self.schedule.rows(np.array([t])), np.ones(1, dtype=np.bool_))
        except StepError:
            if not self.integrator.halves:
                raise
            halved = self._halved
            self._halve(side, start, t, _HALVINGS)
            self._halved = halved  # this step leads nowhere else
            side.keep_now(True)
        return side.snapshots()

    def _require_finite(self) -> None:
        if not math.isfinite(float(self.stepper.q.sum())):
            raise ConvergenceError("the motion became infinite; try a smaller dt")

    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        """Take the step that failed as two of half its length, and each of them again if need be."""
        if not self.integrator.halves:
            raise error
        self._halve(self.stepper, start, end, _HALVINGS)
        self._require_finite()
        self.stepper.keep_now(wanted)

    def _halve(self, stepper: Stepper, start: float, end: float, most: int) -> None:
        """Take a step in halves, and each of them again; raises the error of the smallest."""
        middle, schedule = 0.5 * (start + end), self.schedule
        half = self.integrator.stepper(self.effects, middle - start)
        half.books = stepper.books
        half.start(stepper.q, stepper.velocity(), schedule.at(start), stepper)
        for first, last in ((start, middle), (middle, end)):
            try:
                half.take(schedule.rows(np.array([last])))
            except StepError:
                if most == 1:
                    raise
                self._halve(half, first, last, most - 1)
        self._halved += 1
        account, iterations = stepper.account + half.account, stepper.iterations + half.iterations
        stepper.start(half.q, half.velocity(), schedule.at(end), half)
        stepper.account[...], stepper.iterations = account, iterations

    def snapshots(self) -> Rows:
        """Return what was kept: q (T, nq), rates (T, total), account (T, 2) and inputs (T, J)."""
        blocks, self._inside = [*self._inside, self.stepper.snapshots()], []
        return tuple(map(np.concatenate, zip(*blocks, strict=True)))

    def keep(self) -> dict[str, Array]:
        """All that the next step depends on."""
        return pack([np.array([self._halved]), *self.stepper.remembered()])

    def resume(self, kept: Mapping[str, Array]) -> None:
        """Go on where `keep` was asked."""
        halved = np.zeros(1, dtype=np.int64)
        unpack([halved, *self.stepper.remembered()], kept)
        self._halved = int(halved[0])
        self.stepper.resume()

    def now(self) -> tuple[Array, Array]:
        """Configuration (nq,) and rates (total,)."""
        return self.stepper.q.copy(), self.stepper.velocity().copy()

    @property
    def iterations(self) -> int:
        """Newton iterations since the start."""
        return self.stepper.iterations

    @property
    def rescues(self) -> dict[str, int]:
        """How often a step was halved."""
        return {"halved steps": self._halved} if self._halved else {}

    def explain(self, text: str, q: Array) -> str:
        """The message with what the maps of the rods say of q (nq,)."""
        return with_limits(text, self.effects.tree, q)

    def quick_step(self) -> Callable[[Mapping[str, Any]], None] | None:
        """A step in one call, to a row of inputs written in place; None if joints are prescribed."""
        if self.schedule.channels is None:
            return None
        base, units, columns = self.schedule.channels
        asked, row = self.schedule.numbers(np.zeros(1))[0], self.schedule.rows(np.zeros(1))
        stepper, take_row = self.stepper, self.stepper.one_step(row)

        def step(values: Mapping[str, Any]) -> None:
            before = asked.copy()
            for name, value in values.items():
                asked[columns[name]] = value
            np.dot(asked, units, out=row[0])
            np.add(row, base, out=row)
            try:
                if not take_row():
                    stepper.take(row)
            except BaseException:
                asked[...] = before
                raise

        return step
