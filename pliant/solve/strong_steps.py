"""Steps of a chain of rods by a strong form: one boundary-value problem for each instant."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant.bvp.chain import Chain
from pliant.bvp.contract import State, StrongForm, TimeRule
from pliant.bvp.energies import ChainMeasures
from pliant.bvp.history import History
from pliant.bvp.states import between
from pliant.lie.tuples import Array
from pliant.model import BaseState, ConvergenceError, Moving, as_signal, base_state
from pliant.model.checks import StepError
from pliant.physics.lines import feed_own, keep_own
from pliant.solve.checkpoint import pack, unpack
from pliant.solve.dynamics import NOT_INSIDE, Rows, Steps
from pliant.solve.integrators.bdf_alpha import BDFAlpha, StrongIntegrator, first_rules
from pliant.solve.schedule import Inputs

_SHORTER = (2, 4)
"""Into how many steps one is split when it does not converge."""
_Row: TypeAlias = tuple[State, Array, Array]
"""A state, its account (2,) and the pressures (L,) behind lines."""


class ChainInputs(Inputs):
    """The inputs of one simulation of a chain, and what they make of a clamped base."""

    def __init__(self, chain: Chain, inputs: Mapping[str, Any]) -> None:
        parts = chain.description.parts.items()
        self.lines = {name: line for name, part in parts if (line := part.input_line()) is not None}
        motions = chain.description.motions_of(chain.rods[0].name)
        places = {name: k for k, name in enumerate(self.lines)}
        super().__init__(chain.description, inputs, [motion.name for motion in motions], places)
        self._pose = np.array(chain.base.pose)
        self._motions = [(motion, as_signal(self.values[motion.name])) for motion in motions]
        self._still = BaseState(self._pose, np.zeros(6), np.zeros(6))

    def base(self, t: float) -> BaseState:
        """Pose and velocity of the base at time t, s."""
        if not self._motions:
            return self._still
        moving = [Moving(m, x(t), x.rate(t), x.acceleration(t)) for m, x in self._motions]
        return base_state(self._pose, moving)


def _objects(items: list[Any]) -> Any:
    """An array (T,) of objects."""
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found


class StrongSteps(Steps):
    """Steps of a strong form's solver from a state; the time rule is that of `method`.

    A step that fails is tried with alpha = 0. Outputs inside a step are interpolated.
    doubt : a sentence on why the motion cannot be trusted, or nothing.
    """

    schedule: ChainInputs

    def __init__(
        self,
        chain: Chain,
        form: StrongForm,
        method: StrongIntegrator,
        schedule: ChainInputs,
        h: float,
        state: State,
        doubt: str,
    ) -> None:
        self.method, self.schedule, self.h, self.doubt = method, schedule, h, doubt
        self.solver = form.solver(chain, method.rule(h, h).c0)
        self.unknowns, self.account = self.solver.unknowns, self.solver.totals
        self.done = 0
        self._rescues: Counter[str] = Counter()
        self._rescue = getattr(form, "rescue", True)
        self._before = 0.0
        """Length of the step before, s; 0 if there is none."""
        self._earlier: list[History] = []
        """The last instants, newest first, as far as steps between them are alike."""
        self._t = 0.0
        self._volume, self._inside = ChainMeasures(chain), NOT_INSIDE
        asked = schedule.values_at(0.0)
        self.acted = np.array([float(asked[name]) for name in schedule.lines])
        self._memory = [
            np.array([p, self._volume(name, state), 0.0, p, p])
            for name, p in zip(schedule.lines, self.acted.tolist(), strict=True)
        ]
        self._start: _Row = (state, np.zeros(2), self.acted.copy())
        self._rows = [self._start]
        self.first = self.snapshots()

    def start(self) -> None:
        """Begin the motion at the first snapshot."""
        self.solver.begin(self._start[0])

    def take(self, times: Array, wanted: NDArray[np.bool_], inside: Array = NOT_INSIDE) -> None:
        """Take the steps between times (n + 1,), as many at once as nobody wants to see."""
        self.done, self._rows, self._inside = 0, [], inside
        if len(inside):
            self._start = self._row()
        while self.done < len(wanted):
            last = self.done + self._quiet(wanted[self.done :])
            ends = times[self.done + 1 : last + 1].tolist()
            if self._before == 0.0:
                self._first_step(float(times[0]), self.h)
                self.done += 1
            else:
                self.done += self._advance(self.method, self.h, ends)
            if self.done < last:
                self._damped_step(float(times[self.done + 1]))
                self.done += 1
            self._arrive(float(times[self.done]), bool(wanted[self.done - 1]))

    def _quiet(self, wanted: NDArray[np.bool_]) -> int:
        """How many steps come before the rule changes, or a snapshot or a line needs the state."""
        deep = self.method.depth > 2
        if deep or self._before != self.h or self.schedule.lines or len(self._inside):
            return 1
        return int(wanted.argmax()) + 1 if wanted.any() else len(wanted)

    def _first_step(self, start: float, h: float) -> None:
        """A step without rates at its start."""
        reached = 0.0
        for k, (part, rule) in enumerate(first_rules(h)):
            values, base = self._values(start + part * h), self.schedule.base(start + part * h)
            self.solver.step(rule, (part - reached) * h, values, base, keep_older=k == 1)
            reached = part
        self._before = h
        self._remember(h)

    def _advance(self, method: StrongIntegrator, h: float, ends: list[float]) -> int:
        """Take steps of h seconds to some times; return how many of them converged."""
        rule, bases = self._rule(method, h), [self.schedule.base(t) for t in ends]
        reached = self.solver.advance(rule, h, [self._values(t) for t in ends], bases)
        if reached:
            self._remember(h)
        elif len(self._earlier) > 1:
            self.solver.past().look_back(self._earlier[1:2], np.ones(1))
        self._before = h if reached else self._before
        return reached

    def _rule(self, method: StrongIntegrator, h: float) -> TimeRule:
        """The rule of the next step; instants before the last two are part of the second one."""
        order = min(method.depth, len(self._earlier)) if self._before == h else 2
        if order < 3:
            return method.rule(h, self._before)
        weights = method.deep_weights(order) / h
        self.solver.past().look_back(self._earlier[1:order], weights[2:] / weights[2])
        return TimeRule(float(weights[0]), float(weights[1]), float(weights[2]), 0.0)

    def _remember(self, h: float) -> None:
        """Append the present to the last instants."""
        if self.method.depth < 3:
            return
        now = self.solver.past().copy()
        alike = [x for x in self._earlier if x.strain.shape == now.strain.shape]
        if len(alike) < len(self._earlier) or (self._before != h and len(alike) > 0):
            alike = []
        self._earlier = [now, *alike][: self.method.depth]

    def _damped_step(self, end: float) -> None:
        """Try the step that failed with alpha = 0; raises its error if that does not help."""
        error = self.solver.failure or StepError("a time step did not converge")
        if not self._rescue or not self._advance(BDFAlpha(0.0), self.h, [end]):
            raise error
        self._rescues["alpha = 0"] += 1

    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        """Take the step that failed in two, or in four."""
        for parts in _SHORTER if self._rescue else ():
            if self._shorter(start, (end - start) / parts, parts):
                self._rescues["shorter steps"] += 1
                self._arrive(end, wanted)
                return
        raise error

    def _shorter(self, start: float, h: float, parts: int) -> bool:
        """Some steps of h seconds; tells whether all converged (a failed one stays half way)."""
        for k in range(parts):
            try:
                if self._before == 0.0:
                    self._first_step(start, h)
                elif not self._advance(BDFAlpha(0.0), h, [start + (k + 1) * h]):
                    raise self.solver.failure or StepError("a time step did not converge")
            except StepError as error:
                if k > 0:
                    raise StepError(f"{error} (in steps of {h:.3g} s)") from None
                return False
        return True

    def _values(self, t: float) -> Mapping[str, Any]:
        """Input values at a time in the next step; behind a line, with the volume extrapolated."""
        values, lines = self.schedule.values_at(t), self.schedule.lines
        if not lines:
            return values
        fed = {}
        for (name, line), memory in zip(lines.items(), self._memory, strict=True):
            fed[name] = np.array([float(values[name])])
            feed_own(line, t - self._t, memory, fed[name])
        return {**values, **{name: pressure[0] for name, pressure in fed.items()}}

    def _arrive(self, end: float, wanted: bool) -> None:
        """Keep the snapshots of the step that ended, and bring the lines to its end."""
        self.unknowns = max(self.unknowns, self.solver.unknowns)
        start, self._t = self._t, end
        lines = zip(self.schedule.lines.items(), self._memory, strict=True)
        for k, ((name, line), memory) in enumerate(lines):
            volume = self._volume(name, self.solver.state())
            keep_own(line, end - start, volume, memory, self.acted[k : k + 1])
        if not (wanted or len(self._inside)):
            return
        before, after = self._start, self._row()
        if not (np.isfinite(after[0].pose).all() and np.isfinite(after[0].wrench).all()):
            self.solver.begin(before[0])
            self.account[:], self._before, self._t = before[1], 0.0, start
            self.done -= 1
            raise ConvergenceError("the motion became infinite; try a smaller dt")
        for part in ((self._inside - start) / (end - start)).tolist():
            state = between(before[0], after[0], end - start, part)
            account = (1.0 - part) * before[1] + part * after[1]
            acted = (1.0 - part) * before[2] + part * after[2]
            self._rows.append((state, account, acted))
        if wanted:
            self._rows.append(after)
        self._start, self._inside = after, NOT_INSIDE

    def _row(self) -> _Row:
        """A snapshot of the present state."""
        return self.solver.state(), self.account.copy(), self.acted.copy()

    def snapshots(self) -> Rows:
        """Return what was kept: states (T,), which hold their velocities, account (T, 2), pressures."""
        kept, self._rows = self._rows, []
        states = _objects([row[0] for row in kept])
        account = np.array([row[1] for row in kept]).reshape(-1, 2)
        acted = np.array([row[2] for row in kept]).reshape(len(kept), len(self.acted))
        return states, np.full(len(kept), None), account, acted

    def keep(self) -> dict[str, Array]:
        """All that the next step depends on."""
        fed = self.solver.acting or {}
        notes = {
            "before": self._before,
            "t": self._t,
            "unknowns": self.unknowns,
            "steps rescued": dict(self._rescues),
            "fed": {name: float(fed[name]) for name in self.schedule.lines if name in fed},
            **self.solver.notes(),
        }
        points = self.solver.points()
        return {
            **pack([*self._memory, self.acted, *self.solver.remembered()]),
            **{f"present_{x}": y for x, y in self.pack([self.solver.state()], None).items()},
            "points": np.concatenate(points).astype(float),
            "counts": np.array([len(x) for x in points]),
            **{f"earlier_{j}_{k}": x for j, y in enumerate(self._earlier) for k, x in enumerate(y)},
            "notes": np.frombuffer(json.dumps(notes).encode(), dtype=np.uint8).astype(np.int64),
        }

    def resume(self, kept: Mapping[str, Array]) -> None:
        """Go on where `keep` was asked."""
        notes = json.load(BytesIO(kept["notes"].astype(np.uint8).tobytes()))
        self._before, self._t, self.unknowns = (notes[x] for x in ("before", "t", "unknowns"))
        self._rescues = Counter(notes["steps rescued"])
        kind = self.solver.points()[0].dtype
        points = np.split(kept["points"].astype(kind), np.cumsum(kept["counts"])[:-1])
        self.solver.use_points(points)
        shown = {x.removeprefix("present_"): kept[x] for x in kept if x.startswith("present_")}
        present = self.unpack(shown)[0][0]
        self.solver.resume(present, notes, {**self.schedule.values_at(self._t), **notes["fed"]})
        unpack([*self._memory, self.acted, *self.solver.remembered()], kept)
        self._start = self._row()
        count = sum(name.startswith("earlier_") for name in kept) // len(History._fields)
        rows = range(len(History._fields))
        self._earlier = [
            History._make(kept[f"earlier_{j}_{k}"] for k in rows) for j in range(count)
        ]

    def pack(self, q: Any, v: Any) -> dict[str, Array]:
        """States as arrays of all their knots, and how many each has."""
        names = [item.name for item in fields(State) if item.name != "discrete"]
        joined = {x: np.concatenate([getattr(state, x) for state in q]) for x in names if len(q)}
        return {**joined, "knots": np.array([len(state.s) for state in q], dtype=np.int64)}

    def unpack(self, kept: Mapping[str, Array]) -> tuple[Any, Any]:
        """States that `pack` was given; they hold their velocities."""
        ends = np.cumsum(kept["knots"])
        names = [item.name for item in fields(State) if item.name in kept]
        parts: dict[str, Any] = {name: np.split(kept[name], ends[:-1]) for name in names}
        count = len(ends)
        rows = [{name: parts[name][k] for name in names} for k in range(count)]
        states = [State(**row) for row in rows]  # type: ignore[arg-type]
        return _objects(states), np.full(count, None)

    def now(self) -> tuple[State, None]:
        """The state, which holds its velocities."""
        return self.solver.state(), None

    @property
    def iterations(self) -> int:
        """Newton iterations since the start."""
        return self.solver.record.iterations

    @property
    def rescues(self) -> dict[str, int]:
        """How often something had to be done to go on, by name."""
        return self._rescues + self.solver.record.rescues

    def explain(self, text: str, q: State) -> str:
        """The message with what the form does not resolve."""
        return f"{text} {self.doubt}" if self.doubt else text

    def finish(self, q: State) -> None:
        """Give the last state what another motion needs to start from the same discrete solution."""
        self.solver.attach_discrete(q)
