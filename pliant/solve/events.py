"""Events: zero crossings of functions of the robot, located in time, at which a motion ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model import Array, ConvergenceError, DescriptionError
from pliant.model.checks import as_float, refuse
from pliant.solve.checkpoint import remembering

_CLOSE = 1e-10
"""Part of a step to which the time of an event is found."""
_SOON = 1e-6
"""Part of the first step after which a function that is zero at the start has left zero."""


@dataclass(frozen=True, eq=False)
class Event:
    """A motion ends where a function of the robot crosses zero.

    function : takes the robot at one instant, a `StepState` as controllers get it, and returns a number
    that is smooth in time, such as ``lambda state: state.position("ball")[2]``.
    name : for `Motion.event`; None for the name of the function.
    direction : "both", "rising" for crossings from below zero only, "falling" for those from above.

    A function that is zero at the start, or at the end of a motion that was continued, does not count
    until it has left zero. Two crossings within one step are not seen, unless it is zero at its start.
    """

    function: Callable[[Any], float]
    name: str | None = None
    direction: str = "both"

    def __post_init__(self) -> None:
        label, words = "Event", ("both", "rising", "falling")
        remedy = "give e.g. lambda state: state.position('ball')[2]"
        refuse(not callable(self.function), label, "function", self.function, "a function", remedy)
        known = self.direction in words
        refuse(
            not known,
            label,
            "direction",
            self.direction,
            f"one of {', '.join(words)}",
            "give 'both'",
        )

    @property
    def label(self) -> str:
        """How results and messages call it."""
        return self.name or str(getattr(self.function, "__name__", "event"))

    def value(self, state: Any) -> float:
        """The function at one instant; refuses what is no finite number."""
        given = self.function(state)
        found = as_float(given)
        if found is None or not np.isfinite(found):
            where = f"value at t = {state.t:.6g} s"
            raise DescriptionError(
                f"event {self.label!r}", where, given, "a finite number", "correct its function"
            )
        return found

    def crosses(self, before: float, after: float) -> bool:
        """Whether zero is crossed between two values, in its direction."""
        rises, falls = before < 0.0 <= after, before > 0.0 >= after
        return (rises and self.direction != "falling") or (falls and self.direction != "rising")


@dataclass(frozen=True)
class Glimpse:
    """A simulation at a time inside a step, as `Present` is at its end."""

    t: float
    h: float
    rows: tuple[Any, ...]
    schedule: Any

    def snapshot(self) -> tuple[Any, Any, Array]:
        """Configuration, rates and account of work and loss."""
        return self.rows[0][-1], self.rows[1][-1], self.rows[2][-1]

    def acting(self) -> Callable[[], tuple[dict[str, Any], Array]]:
        """The inputs at that time."""
        now = np.array([self.t])
        values = self.schedule.acted(now, self.rows[3][-1:])
        rates = self.schedule.drive_rates(now)[0]
        return lambda: ({name: x[0] for name, x in values.items()}, rates)


class Watch:
    """The events of one motion; see : makes what their functions get."""

    def __init__(self, events: Sequence[Event], see: Callable[[Any], Any]) -> None:
        self.events, self._see = events, see
        self._before: list[float] | None = None

    def begin(self, present: Any, h: float, reach: Callable[[float], Any]) -> None:
        """Take the values at the start, or where a motion is taken up again; those that are zero there
        a little later.

        h : step, s.  reach : the simulation at a time inside the first step.
        """
        if self._before is not None:
            return
        state = self._see(present)
        self._before = [event.value(state) for event in self.events]
        if 0.0 in self._before:
            try:
                soon = self._see(reach(present.t + _SOON * h))
            except ConvergenceError:  # the step will tell
                return
            pairs = zip(self.events, self._before, strict=True)
            self._before = [x or event.value(soon) for event, x in pairs]

    def crossed(self, present: Any) -> list[tuple[Event, float, float]]:
        """Events that were crossed since it was last asked, with their values then and now."""
        state, before = self._see(present), self._before or []
        after = [event.value(state) for event in self.events]
        self._before = after
        pairs = zip(self.events, before, after, strict=True)
        return [(event, a, b) for event, a, b in pairs if event.crosses(a, b)]

    def locate(
        self,
        crossed: list[tuple[Event, float, float]],
        reach: Callable[[float], Glimpse],
        start: float,
        end: float,
    ) -> tuple[float, list[str]]:
        """Time of the first of the events crossed in a step from `start` to `end`, s, and the labels of
        all events at that time.

        reach : the simulation at a time inside the step. The time is the first one behind the crossing.
        """
        from scipy.optimize import brentq

        slack, found = _CLOSE * (end - start), []
        for event, before, after in crossed:

            def value(t: float, event: Event = event, a: float = before, b: float = after) -> float:
                if t in (start, end):
                    return a if t == start else b
                return event.value(self._see(reach(t)))

            t = float(brentq(value, start, end, xtol=slack, rtol=1e-15))
            if value(t) * before > 0.0:
                t = min(t + 2.0 * slack, end)
            found.append((t, event.label))
        first = min(t for t, _ in found) + 4.0 * slack
        together = [(t, label) for t, label in found if t <= first]
        return max(t for t, _ in together), [label for _, label in together]


def as_events(events: Any, inputs: Any, error: bool) -> list[Event]:
    """The events that are given: one, or a list; refuses what cannot go with them."""
    given = [events] if isinstance(events, Event) else events
    listed = isinstance(given, (list, tuple)) and all(isinstance(x, Event) for x in given)
    expected, remedy = "an Event or a list of them", "give e.g. pl.Event(lambda state: ...)"
    refuse(not listed or not given, "simulate", "events", events, expected, remedy)
    refuse(error, "simulate", "error", True, "left out with events", "compare with half the dt")
    for name, value in remembering(inputs).items():
        expected = "one without a memory, for times inside a step are asked for again at an event"
        raise DescriptionError(f"input {name!r}", "value", value, expected, "use controllers=")
    return list(given)
