"""Controllers in a motion: who is asked when, and the inputs that they set.

A controller is asked at the ends of steps, each at its own rate, and what it answers acts from there
until it is asked again (zero-order hold). An input that prescribes a motion cannot jump: it goes
straight to its new value until the next sample.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import Array, DescriptionError, Signal, did_you_mean, positive
from pliant.physics.effects import check_inputs
from pliant.solve.controller_memory import Controller, memories_of, named_laws, recall, watched
from pliant.solve.schedule import as_inputs, check_input

if TYPE_CHECKING:
    from pliant.solve.problem import Problem

_ON_STEP = 1e-6
"""Part of a step by which times may differ and are the same."""


class Sampled(Signal):
    """An input that controllers set; at a time it has the value that was set last before it.

    moves : True for one that goes straight to each new value, in as long as it was set for.
    """

    def __init__(self, value: Any, h: float) -> None:
        self.first, self.h, self.moves = np.array(value, dtype=float), h, False
        self.times: list[float] = []
        self.spans: list[float] = []
        self.values: list[Array] = []
        self.starts: list[Array] = []
        """By sample: when it was taken, for how long, what was set, and what was before."""

    def put(self, value: Array, t: float, span: float) -> None:
        """Set a value at time t for `span` seconds."""
        self.starts.append(np.array(self(t), dtype=float))
        self.times.append(t)
        self.spans.append(span)
        self.values.append(value)

    def _sample(self, t: float) -> int:
        """Number of the last sample before a time, -1 if there is none."""
        return bisect_left(self.times, t - _ON_STEP * self.h) - 1

    def __call__(self, t: float) -> Any:
        """Return the value at time t, s."""
        k = self._sample(t)
        if k < 0:
            found = self.first
        elif not self.moves:
            found = self.values[k]
        else:
            part = min(1.0, (t - self.times[k]) / self.spans[k])
            found = self.starts[k] + part * (self.values[k] - self.starts[k])
        return float(found) if found.ndim == 0 else found

    def _slope(self, k: int, t: float) -> float:
        """Rate after sample k at time t, per second."""
        if k < 0 or t > self.times[k] + self.spans[k] + _ON_STEP * self.h:
            return 0.0
        return float(self.values[k] - self.starts[k]) / self.spans[k]

    def rate(self, t: float) -> float:
        """Return the rate of a value that moves, per second."""
        return self._slope(self._sample(t), t)

    def acceleration(self, t: float) -> float:
        """Return the change of the rate in the step after a sample, per second squared."""
        k = self._sample(t)
        if k < 0 or t > self.times[k] + (1.0 + _ON_STEP) * self.h:
            return 0.0
        return (self._slope(k, t) - self._slope(k - 1, self.times[k])) / self.h

    def kept(self) -> dict[str, Any]:
        """Return what was set so far."""
        columns: list[list[Any]] = [self.times, self.spans, self.values, self.starts]
        return {name: list(x) for name, x in zip(_COLUMNS, columns, strict=True)}

    def take_back(self, state: Mapping[str, Any]) -> None:
        """Take back what `kept` returned."""
        self.times, self.spans = (list(map(float, state[name])) for name in _COLUMNS[:2])
        self.values, self.starts = ([np.array(x) for x in state[name]] for name in _COLUMNS[2:])


_COLUMNS = ("times", "spans", "values", "starts")


class Control:
    """The controllers of one motion in steps of h seconds.

    signals : by name, the inputs that they may set: all that are not functions of time.
    see : makes for a compiled robot what controllers get of a motion of it under way.  watch : True if
    controllers must tell what they remember.
    """

    def __init__(
        self,
        controllers: Sequence[tuple[Controller, float | None]],
        problem: Problem,
        inputs: Mapping[str, Any],
        h: float,
        see: Callable[[Problem], Callable[[Any], Any]],
        watch: bool = False,
    ) -> None:
        self.description = description = problem.description
        self.h, self._see, self._given = h, see(problem), (controllers, inputs, see)
        self._begun: dict[str, Any] = {}
        laws = watched(controllers) if watch else controllers
        self.controllers = [item[0] for item in laws]
        self._every = [_steps_between(item, h) for item in controllers]
        fixed = description.settled_inputs()
        self.taken = {name for name, given in inputs.items() if callable(given)}
        known = {**description.inputs(), **inputs}
        names = [name for name in known if name not in fixed and name not in self.taken]
        self.signals = {name: Sampled(known[name], h) for name in names}
        self._owners: dict[str, int] = {}
        self._done = -1

    def begin(self, anew: bool) -> None:
        """Note what controllers remember at the start; anew : let them forget it first."""
        for each in self.controllers if anew else []:
            if callable(forget := getattr(each, "reset", None)):
                forget()
        self._begun = self._memories()

    def _memories(self) -> dict[str, Any]:
        """What the controllers remember now, by name."""
        return memories_of(self.named())

    def _recall(self, memories: Mapping[str, Any]) -> None:
        recall(self.named(), memories)

    def again(self, problem: Problem, h: float) -> Control:
        """The same controllers for another motion like it, in steps of h seconds; see `rehearsal`."""
        controllers, inputs, see = self._given
        self._recall(self._begun)
        return Control(controllers, problem, inputs, h, see)

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Let controllers remember afterwards what they do now, whatever they are asked meanwhile."""
        memories = self._memories()
        try:
            yield
        finally:
            self._recall(memories)

    @property
    def between(self) -> list[int]:
        """Steps between two samples of each controller."""
        return list(self._every)

    @property
    def owned(self) -> list[str]:
        """Names of the inputs that controllers have set."""
        return list(self._owners)

    @property
    def holders(self) -> dict[str, Any]:
        """By name, what remembers something, for checkpoints."""
        return {"controlled inputs": self, **self.named()}

    def named(self) -> dict[str, Controller]:
        """The controllers by name."""
        return named_laws(self.controllers)

    def state(self) -> dict[str, Any]:
        """Return what was set so far, for a checkpoint."""
        signals = {name: signal.kept() for name, signal in self.signals.items()}
        return {"done": self._done, "owners": self._owners, "signals": signals}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take back what `state` returned."""
        self._done, self._owners = int(state["done"]), dict(state["owners"])
        for name, signal in self.signals.items():
            signal.take_back(state["signals"][name])

    def due(self, step: int) -> bool:
        """Whether a controller is to be asked at the end of a step, and was not."""
        return step > self._done and any(step % every == 0 for every in self._every)

    def following(self, step: int) -> int:
        """The next step after this one at whose end a controller is asked."""
        return min((step // every + 1) * every for every in self._every)

    def sample(self, step: int, present: Any, driven: Iterable[str]) -> dict[str, Any]:
        """Ask the controllers that are due; return the values of inputs that jump, by name.

        present : what `see` makes the state of that they get.  driven : names of inputs that prescribe
        motions.
        """
        for name in driven:
            if name in self.signals:
                self.signals[name].moves = True
        self._done, t, state = step, step * self.h, self._see(present)
        jumps: dict[str, Any] = {}
        for k, every in enumerate(self._every):
            if step % every:
                continue
            for name, value in self._asked(k, state).items():
                checked = self._checked(k, name, value)
                self.signals[name].put(checked, t, every * self.h)
                if not self.signals[name].moves:
                    jumps[name] = float(checked) if checked.ndim == 0 else checked
        return jumps

    def _asked(self, k: int, state: Any) -> Mapping[str, Any]:
        """What a controller returns."""
        found = self.controllers[k](state)
        if found is not None and not isinstance(found, Mapping):
            raise DescriptionError(
                f"controller {k + 1}", "returned value", found, "inputs by name, or None",
                "return e.g. {'torque': 0.1}",
            )  # fmt: skip
        return as_inputs(found)

    def _checked(self, k: int, name: str, value: Any) -> Array:
        """The value of an input that controller k may set."""
        label = f"controller {k + 1}"
        check_inputs(self.description.inputs(), {name: value})
        if name not in self.signals:
            why, remedy = (
                ("is a function of time", f"leave {name!r} out of inputs, or give a number there")
                if name in self.taken
                else ("is part of the mesh", did_you_mean("", self.signals))
            )
            raise DescriptionError(
                label, f"input {name!r}", value, f"another input, for this one {why}", remedy
            )  # fmt: skip
        if self._owners.setdefault(name, k) != k:
            raise DescriptionError(
                label, f"input {name!r}", value,
                f"an input that controller {self._owners[name] + 1} does not set",
                "let one of them set it",
            )  # fmt: skip
        found, shape = check_input(self.description, name, value), self.signals[name].first.shape
        if found.shape != shape:
            raise DescriptionError(
                label, f"input {name!r}", value, f"of the same shape {shape} as at the start",
                f"give inputs={{{name!r}: ...}} of the shape you need",
            )  # fmt: skip
        return found


def controller_pairs(given: Any) -> list[tuple[Controller, float | None]]:
    """Controllers with the seconds between their samples, None for every step."""
    pair = isinstance(given, tuple) and len(given) == 2 and not callable(given[1])
    listed = [given] if callable(given) or pair else given
    expected = (
        "a function of the state, a pair (function, seconds between samples), or a list of them"
    )
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise DescriptionError("controllers", "value", given, expected, "give e.g. (law, 0.01)")
    pairs: list[tuple[Controller, float | None]] = []
    for item in listed:
        law, every = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if not callable(law):
            raise DescriptionError("controllers", "value", item, expected, "give e.g. (law, 0.01)")
        own = getattr(law, "every", None)
        if own is not None and every is not None and own != every:
            raise DescriptionError(
                "controllers", "seconds between samples", every,
                f"left out, for the controller counts on its own, {own} s", "leave one of them out",
            )  # fmt: skip
        every = own if every is None else every
        if every is not None:
            every = positive("controllers", "seconds between samples", every, "", "give e.g. 0.01")
        pairs.append((law, every))
    return pairs


def _steps_between(item: tuple[Controller, float | None], h: float) -> int:
    """Steps of h seconds between two samples of a controller."""
    every = h if item[1] is None else item[1]
    count = round(every / h)
    if count < 1 or abs(every - count * h) > _ON_STEP * max(every, h):
        best = every / max(1, np.ceil(every / h))
        raise DescriptionError(
            "controllers", "seconds between samples", every,
            f"a whole multiple of the time step {h:g} s", f"take e.g. dt={best:g}, or another rate",
        )  # fmt: skip
    return count
