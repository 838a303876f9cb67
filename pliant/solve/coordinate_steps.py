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

_HALVINGS, _DAMPED_HALVINGS = 3, 8
"""How often a step that does not converge is halved before it is damped, and then before the simulation
stops.
"""
_SAME_PART, _MOST_SIDES = 1e-9, 8
"""Difference of two parts of a step that counts as rounding; steppers that are kept for outputs."""
Maker = Callable[[Any, float], Stepper]


class CoordinateSteps(Steps):
    """Steps of a stepper from configuration q (nq,) with rates v (total,).

    Many of them are one call of its programs. Outputs inside a step are interpolated where the stepper
    can do so, else they are shorter steps of the same integrator that lead nowhere else.
    """

    schedule: Schedule

    def __init__(
        self, integrator: Integrator, stepper: Stepper, schedule: Schedule, q: Array, v: Array
    ) -> None:
        self.integrator, self.stepper, self.schedule = integrator, stepper, schedule
        self.effects = stepper.effects
        self.h, self.capacity, self.unknowns = stepper.h, stepper.capacity, self.effects.tree.size
        account = np.zeros((1, len(stepper.account)))
        self.first = q[None].copy(), v[None].copy(), account, schedule.at(0.0).u[None]
        self.account, self.acted = stepper.account, stepper.acted
        self._counts = {"halved steps": 0, "damped steps": 0}
        self._helpers: dict[tuple[Maker, int], Stepper] = {}
        """What takes shorter steps, by what makes it and how often they are halved."""
        self._sides: dict[int, Stepper] = {}
        """What takes shorter steps to outputs, by their length; the last one served last."""
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
        start, end = times[:2].tolist()
        room = len(inside) + np.count_nonzero(wanted) <= stepper.capacity
        wished = room and stepper.wish((inside - start) / (end - start))
        if not wished:
            self._reach(start, inside)
        try:
            stepper.take(self._rows(stepper, times), wanted)
        except StepError:
            if wished and stepper.done == 0:
                self._reach(start, inside)
            raise
        self._require_finite()

    def _reach(self, start: float, inside: Array) -> None:
        """Reach output times inside the step that begins at `start` by shorter steps."""
        try:
            self._inside = [self._output(self._side(t - start), start, t) for t in inside.tolist()]
        except StepError as error:  # shorter steps to the end of the step do not help here
            raise ConvergenceError(error.message) from error

    def _rows(self, stepper: Stepper, times: Array) -> Array:
        """Inputs (n, S W) of the steps of a stepper between times (n + 1,): see `Stepper.nodes`."""
        nodes = stepper.nodes
        if len(nodes) == 1:
            return self.schedule.rows(times[1:])
        start, end = times[:-1, None], times[1:, None]
        at = np.concatenate([start + nodes[:-1] * (end - start), end], axis=1)
        rows = self.schedule.rows(at.ravel()).reshape(len(at), len(nodes), -1)
        return np.roll(rows, 1, axis=1).reshape(len(at), -1)

    def _output(self, side: Stepper, start: float, t: float) -> Rows:
        """The snapshot at a time inside the step that begins at `start`, taken there by `side`."""
        stepper = self.stepper
        side.start(stepper.q, stepper.velocity(), self.schedule.at(start), stepper)
        side.account[...] = stepper.account
        try:
            side.take(self._rows(side, np.array([start, t])), np.ones(1, dtype=np.bool_))
        except StepError:
            if not self.integrator.halves:
                raise
            kept = dict(self._counts), self._helpers
            self._helpers = {}
            self._shorten(side, start, t)
            self._counts, self._helpers = kept  # this step leads nowhere else
            side.keep_now(True)
        return side.snapshots()

    def _side(self, h: float) -> Stepper:
        """A stepper for a step of h seconds to an output; outputs often lie at the same parts of steps,
        so that its programs serve again.
        """
        part = round(h / self.h / _SAME_PART)
        side = self._sides.pop(part, None)
        if side is None:
            if len(self._sides) == _MOST_SIDES:
                del self._sides[next(iter(self._sides))]
            side = self.integrator.stepper(self.effects, h)
        self._sides[part] = side
        return side

    def reach(self, start: float, t: float) -> Rows:
        """The snapshot at a time inside the step that begins now."""
        try:
            return self._output(self.integrator.stepper(self.effects, t - start), start, t)
        except StepError as error:
            raise ConvergenceError(error.message) from error

    def _require_finite(self) -> None:
        if not math.isfinite(float(self.stepper.q.sum())):
            raise ConvergenceError("the motion became infinite; try a smaller dt")

    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        """Take the step that failed in shorter ones, damped if need be."""
        if not self.integrator.halves:
            raise error
        self._shorten(self.stepper, start, end)
        self._require_finite()
        self.stepper.keep_now(wanted)

    def _shorten(self, stepper: Stepper, start: float, end: float) -> None:
        """Take a step as two of half its length, each of them again if need be; if that does not help
        or the motion rings, by steps of an integrator that damps what the step cannot resolve.
        """
        counts = dict(self._counts)
        if not stepper.rings():
            try:
                self._halve(self.integrator.stepper, stepper, start, end, 1, _HALVINGS)
                return
            except StepError:
                self._counts = counts
        make = self.integrator.damped_stepper
        damped = self._helper(make, stepper, start, stepper.h, 0)
        self._step(make, damped, start, end, 1, _DAMPED_HALVINGS)
        self._hand_over(damped, stepper, end)

    def _halve(
        self, make: Maker, stepper: Stepper, start: float, end: float, depth: int, most: int
    ) -> None:
        """Take a step in halves, and each of them again; raises the error of the smallest."""
        middle = 0.5 * (start + end)
        half = self._helper(make, stepper, start, 0.5 * stepper.h, depth)
        for first, last in ((start, middle), (middle, end)):
            self._step(make, half, first, last, depth + 1, most)
        self._counts["halved steps"] += 1
        self._hand_over(half, stepper, end)

    def _step(
        self, make: Maker, stepper: Stepper, start: float, end: float, depth: int, most: int
    ) -> None:
        """Take a step, in halves if it fails."""
        try:
            stepper.take(self._rows(stepper, np.array([start, end])))
            self._counts["damped steps"] += make == self.integrator.damped_stepper
        except StepError:
            if depth > most:
                raise
            self._halve(make, stepper, start, end, depth, most)

    def _helper(self, make: Maker, stepper: Stepper, start: float, h: float, depth: int) -> Stepper:
        """A stepper for steps of another kind or of length h, s, where a stepper is now."""
        helper = self._helpers.get((make, depth))
        if helper is None or helper.h != h:
            helper = self._helpers[make, depth] = make(self.effects, h)
            helper.prepare()
        helper.keeps_account = stepper.keeps_account
        helper.start(stepper.q, stepper.velocity(), self.schedule.at(start), stepper)
        return helper

    def _hand_over(self, helper: Stepper, stepper: Stepper, time: float) -> None:
        """Go on with a stepper where its helper is."""
        iterations = stepper.iterations + helper.iterations
        account = helper.account.copy()
        account[:2] += stepper.account[:2]
        stepper.start(helper.q, helper.velocity(), self.schedule.at(time), helper)
        stepper.account[...], stepper.iterations = account, iterations

    def snapshots(self) -> Rows:
        """Return what was kept: q (T, nq), rates (T, total), account (T, 2) and inputs (T, J)."""
        blocks, self._inside = [*self._inside, self.stepper.snapshots()], []
        return tuple(map(np.concatenate, zip(*blocks, strict=True)))

    def keep(self) -> dict[str, Array]:
        """All that the next step depends on."""
        return pack([np.array([*self._counts.values()]), *self.stepper.remembered()])

    def resume(self, kept: Mapping[str, Array]) -> None:
        """Go on where `keep` was asked."""
        counts = np.zeros(len(self._counts), dtype=np.int64)
        unpack([counts, *self.stepper.remembered()], kept)
        self._counts = dict(zip(self._counts, counts.tolist(), strict=True))
        self.stepper.resume()

    def jump(self, values: Mapping[str, Any]) -> None:
        """Set the numbers of inputs at the start of the next step; what lags behind them remembers."""
        stepper, u = self.stepper, self.stepper.before.copy()
        for term in self.effects.terms:
            if term.input is None or term.input not in values:
                continue
            if term.memory:
                term.jump(term.numbers(values[term.input]), stepper.memory[term.memory_at])
            else:
                u[term.at] = term.numbers(values[term.input])
        if not np.array_equal(u, stepper.before):
            stepper.jump(u)

    def now(self) -> tuple[Array, Array]:
        """Configuration (nq,) and rates (total,)."""
        return self.stepper.q.copy(), self.stepper.velocity().copy()

    @property
    def iterations(self) -> int:
        """Newton iterations since the start."""
        return self.stepper.iterations

    @property
    def scheme(self) -> str:  # type: ignore[override]
        """How the stepper takes its steps, where it chooses that by itself."""
        return self.stepper.method

    @property
    def rescues(self) -> dict[str, int]:
        """How often a step was halved, and how many damped ones were taken."""
        return {name: count for name, count in self._counts.items() if count}

    def explain(self, text: str, q: Array) -> str:
        """The message with what the maps of the rods, or effects, say of q (nq,)."""
        return with_limits(text, self.effects, q)

    def quick_step(self) -> Callable[[Mapping[str, Any]], None] | None:
        """A step in one call, to a row of inputs written in place; None if joints are prescribed."""
        if self.schedule.channels is None or len(self.stepper.nodes) > 1:
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
