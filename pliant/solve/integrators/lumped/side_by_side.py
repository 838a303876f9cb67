"""Explicit steps of several robots of one kind at once, side by side along the SIMD lanes.

They share the short steps, as many as the fastest of them needs. What goes wrong with one of them ends
the steps of all: they can then be moved one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine import loops
from pliant.engine.arrays import clear, combine, copy
from pliant.engine.program import Program, ask, record, run
from pliant.model.checks import StepError
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.solve.dynamics import NOT_INSIDE, Rows, Steps
from pliant.solve.integrators.contract import count_row, write_row
from pliant.solve.integrators.lumped.energy_watch import EnergyWatch
from pliant.solve.integrators.lumped.outputs import InsideOutputs
from pliant.solve.integrators.lumped.short_steps import ShortSteps, failed
from pliant.tree.state import State
from pliant.tree.work import Work

_INSIDE = 64
"""Most outputs inside one step."""


def kind_of(effects: Effects) -> Hashable | None:
    """What robots have in common that can move side by side; None for one that moves alone.

    The same parts, elements and joints, and frequencies that differ by a factor of about 1.4 at most.
    """
    if effects.rows or effects.prescribed.names or effects.memory or effects.records:
        return None
    parts, fastest = [], 1e-300
    for part, at in zip(effects.tree.parts, effects.tree.rest.parts, strict=True):
        nodes = part.map.lumped(at.c)
        if nodes is None or nodes.alone:
            return None
        where = (type(part.joint), part.parent, part.mount)
        parts.append((type(nodes), nodes.order, nodes.elements, *where))
        if len(part.C) and len(part.mass_w):
            mass = part.M[: len(part.mass_w), 3].sum() / part.length
            fastest = max(fastest, np.sqrt(part.C[:, 3:].max() / max(mass, 1e-300)) / part.length)
    return tuple(parts), effects.inputs, round(2.0 * np.log2(fastest))


class Schedules:
    """Inputs of several robots as one row of numbers, robot after robot."""

    def __init__(self, each: Sequence[Any]) -> None:
        self.each = each
        self.values = {(r, k): x for r, own in enumerate(each) for k, x in own.values.items()}

    def rows(self, times: Array) -> Array:
        """Numbers (T, J) of the inputs at times (T,)."""
        return np.concatenate([own.rows(times) for own in self.each], axis=1)

    def acted(self, times: Array, u: Array) -> dict[Any, Array]:
        """Values (T, ...) of all inputs at times (T,), by robot and name, for numbers u (T, J)."""
        ends = np.cumsum([own.effects.inputs for own in self.each])[:-1]
        each = zip(self.each, np.split(u, ends, axis=1), strict=True)
        told = [own.acted(times, numbers) for own, numbers in each]
        return {(r, name): x for r, values in enumerate(told) for name, x in values.items()}

    def drive_rates(self, times: Array) -> Array:
        """No joints are prescribed."""
        return np.zeros((len(times), 0, 2))


class SideBySide(Steps):
    """Steps of h seconds of R robots of one kind.

    begins : schedule, configuration (nq,) and rates (total,) of each.
    """

    def __init__(
        self, begins: Sequence[Any], h: float, safety: float, longest: float | None = None
    ) -> None:
        schedules, q, v = (list(values) for values in zip(*begins, strict=True))
        effects: list[Effects] = [schedule.effects for schedule in schedules]
        self.schedule: Any = Schedules(schedules)
        self.h, self._lengths = h, (safety, longest)
        self.unknowns, self.done = effects[0].tree.size, 0
        self._q, self._v = np.array(q), np.array(v)
        self._each = list(self._q), list(self._v)
        """Configurations and rates robot by robot: rows of the arrays before."""
        self._accounts = np.zeros((len(effects), 2))
        self._before = self.schedule.rows(np.zeros(1))[0]
        self._after, self._mean = self._before.copy(), self._before.copy()
        works = [Work(item.tree) for item in effects]
        ends = (self._before, self._after)
        self.short = ShortSteps(effects, works, h, ends, list(self._accounts))
        self.system = self.short.system
        self._outputs = InsideOutputs(effects, _INSIDE)
        self.watch = EnergyWatch(effects)
        self._wait = 0
        self._states = [(State(x.tree), State(x.tree)) if self._busy(r) else None
                        for r, x in enumerate(effects)]  # fmt: skip
        sizes = [(x.tree.nq, x.tree.total, 2, x.inputs) for x in effects]
        self._inside = [tuple(np.zeros((_INSIDE, n)) for n in own) for own in sizes]
        self._counts = np.zeros(loops.COUNTS, dtype=np.int64)
        self.first = self._row(self._before)
        self._kept: list[Rows] = []
        self._programs: dict[bool, Program] = {}

    def _busy(self, r: int) -> bool:
        """Whether a robot has terms besides laws of strains and fields."""
        robot = self.system.robots[r]
        return bool(robot.terms or robot.working)

    def _row(self, acted: Array) -> Rows:
        """A snapshot of all robots."""
        now = (self._q, self._v, self._accounts.T, acted)
        return tuple(x[None].copy() for x in now)

    # -- steps -----------------------------------------------------------------------------------

    def start(self) -> None:
        self.system.acting[...] = self._before
        self.system.begin(*self._each)
        self.short.choose(*self._lengths, True)
        self._programs.clear()
        self.short.scheme.process()
        for states, q in zip(self._states, self._q, strict=True):
            if states is not None:
                states[0].place(q)
        self.watch.start(self.short.scheme, self._ends(0))
        self._wait = self.short.patience

    def _ends(self, side: int) -> list[Any]:
        """States of the robots that need some, at the start (0) or the end (1) of a step."""
        return [states and states[side] for states in self._states]

    def take(self, times: Array, wanted: NDArray[np.bool_], inside: Array = NOT_INSIDE) -> None:
        self.done, self._kept = 0, []
        start, end = times[:2].tolist()
        count = int(self.short.pace.count[0])
        if len(inside) > _INSIDE:
            raise failed(self.h, f"at most {_INSIDE} outputs can be inside a step")
        self._outputs.plan((inside - start) / (end - start), count)
        for row, kept in zip(self.schedule.rows(times[1:]), wanted, strict=True):
            self._after[...] = row
            within = bool(self._outputs.marks[0])
            if self.short.scheme.heed(self._after):
                self._programs.clear()
            if within not in self._programs:
                self._programs[within] = record(self._step, within)
            self._counts[loops.KEPT] = 0
            self._programs[within]()
            self._finish(row)
            if within:
                self._kept.append(self._outputs_inside())
            self._outputs.plan(NOT_INSIDE, count)
            self.done += 1
            if kept:
                self._kept.append(self._row(row))

    def _step(self, within: bool) -> None:
        """Take a step of h seconds; within : with outputs inside."""
        short, scheme = self.short, self.short.scheme
        clear(short.pace.passed)
        combine(0.5, self._before, 0.5, self._after, self._mean)
        scheme.begin_change()
        if within:
            self._outputs.advance(scheme, self._each[0], self._keep)
        else:
            scheme.advance(short.pace.count)
        scheme.aside(lambda: self.system.write(*self._each))
        scheme.end_change()
        for r, states in enumerate(self._states):
            if states is None:
                continue
            a, b = states
            b.place(self._q[r])
            mean = self._mean[self.system.slices[r]]
            for term in self.system.robots[r].working:
                ask(term.add_work_done, a, b, mean, self._accounts[r, :1])
            a.place(self._q[r])
        copy(self._after, self._before)

    def _finish(self, row: Array) -> None:
        """Refuse what is not finite, and watch the energy from time to time."""
        if not np.isfinite(self._q.sum() + self._v.sum()):
            raise failed(self.h, "the motion became infinite")
        self._wait -= 1
        if self._wait > 0:
            return
        self._wait = self.short.patience
        scheme, states = self.short.scheme, self._ends(1)
        robots = zip(self.system.robots, self.system.slices, strict=True)
        calm = scheme.conserves and all(robot.effects.conservative(row[at]) for robot, at in robots)
        if not calm or not np.array_equal(row, self.first[3][0]):
            self.watch.start(scheme, states)
        elif not self.watch.holds(scheme, states):
            raise failed(self.h, "energy has reached waves that the grid does not resolve")

    # -- snapshots -------------------------------------------------------------------------------

    def _keep(self, r: int, q: Array, v: Array, account: Array, acted: Array) -> None:
        """Keep an output of a robot inside a step; the last robot comes last."""
        own = zip((q, v, account, acted), self._inside[r], strict=True)
        for values, kept in own:
            run(write_row, self._counts, values, kept)
        if r == len(self.system.robots) - 1:
            run(count_row, self._counts)

    def _outputs_inside(self) -> Rows:
        """The outputs inside the step that was just taken."""
        count = int(self._counts[loops.KEPT])
        q, v, account, acted = zip(*self._inside, strict=True)
        rows = [np.stack([x[:count] for x in part], axis=1) for part in (q, v, account)]
        numbers = np.concatenate([x[:count] for x in acted], axis=1)
        return rows[0], rows[1], rows[2].transpose(0, 2, 1), numbers

    def snapshots(self) -> Rows:
        kept, self._kept = self._kept, []
        if not kept:
            return tuple(x[:0] for x in self.first)
        return tuple(map(np.concatenate, zip(*kept, strict=True)))

    def now(self) -> tuple[Array, Array]:
        return self._q.copy(), self._v.copy()

    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        raise error

    @property
    def iterations(self) -> int:
        return 0

    @property
    def rescues(self) -> dict[str, int]:
        return {}

    @property
    def scheme(self) -> str:  # type: ignore[override]
        return self.short.method

    def explain(self, text: str, q: Any) -> str:
        return text

    def keep(self) -> dict[str, Array]:
        raise TypeError("robots that move side by side keep no checkpoints")

    def resume(self, kept: Mapping[str, Array]) -> None:
        raise TypeError("robots that move side by side keep no checkpoints")
