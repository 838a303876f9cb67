"""Steps whose length follows an error estimate, with outputs interpolated in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine import loops
from pliant.engine.newton import REASONS
from pliant.model import DescriptionError
from pliant.model.checks import StepError
from pliant.rods.contract import Array
from pliant.solve.checkpoint import remembering
from pliant.solve.closed_states import ClosedStates
from pliant.solve.coordinate_steps import CoordinateSteps
from pliant.solve.dynamics import NOT_INSIDE, Rows
from pliant.solve.integrators.contract import Integrator
from pliant.solve.integrators.radau import RadauStepper
from pliant.solve.schedule import Schedule

_SHORTEST = 1e-10
"""Shortest step, relative to the duration."""
_FIRST = 0.01
"""First step that is tried, at most, relative to the duration."""
_ROOM = 64
"""Steps that are taken in one call at most, so that Ctrl-C is heard."""


class AdaptiveSteps(CoordinateSteps):
    """Steps of a stepper that chooses their length, whatever the times at which outputs are wanted.

    ends : times at which its steps ended, the start included.
    """

    stepper: RadauStepper

    def __init__(
        self,
        integrator: Integrator,
        stepper: RadauStepper,
        schedule: Schedule,
        q: Array,
        v: Array,
        duration: float,
        largest: float | None,
        most: int | None = None,
    ) -> None:
        super().__init__(integrator, stepper, schedule, q, v)
        for name in remembering(schedule.values):
            raise DescriptionError(
                f"input {name!r}", "integrator", integrator,
                "one with steps of fixed length, for a controller with a memory is asked once a step",
                "use Midpoint()",
            )  # fmt: skip
        self._counts = {"rejected steps": 0, "failed steps": 0}
        self.duration, self.ends = duration, [0.0]
        self.most = math.inf if most is None else most
        longest = duration if largest is None else largest
        self.pace, self._ended = np.zeros(loops.PACE), np.zeros(_ROOM)
        """How long steps are, see `loops.PACE`, and the ends of the last ones."""
        self.pace[[loops.UNTIL, loops.LONGEST, loops.MOST]] = duration, longest, self.most
        self.pace[loops.BRIEFEST] = _SHORTEST * duration
        self.pace[loops.NEXT] = min(stepper.h, _FIRST * duration, longest)
        self.pace[loops.GROWTH] = loops.GROWS
        self._asked, self._done, self._kept = 0.0, 0, list[Rows]()
        self._constant: Array | None = None

    def start(self) -> None:
        """Begin the motion at the first snapshot."""
        super().start()
        self.stepper.choosing[0] = 1

    @property
    def done(self) -> int:  # type: ignore[override]
        """Intervals of the last call of `take` that are over."""
        return self._done

    def take(self, times: Array, wanted: NDArray[np.bool_], inside: Array = NOT_INSIDE) -> None:
        """Go on to the last of times (n + 1,)."""
        self.pace[loops.UNTIL] = times[-1] if self.sampled else self.duration
        self._done, self._kept = 0, []
        for t in inside.tolist():
            self._go_to(t)
            self._kept.append(self._snapshot(t))
        for t, keep in zip(times[1:].tolist(), wanted.tolist(), strict=True):
            self._go_to(t)
            if keep:
                self._kept.append(self._snapshot(t))
            self._done += 1

    def reach(self, start: float, t: float) -> Rows:
        """The snapshot at a time after `start`, interpolated in the step that holds it."""
        self._go_to(t)
        return tuple(x[None] for x in self._snapshot(t))

    def rescue(self, error: StepError, start: float, end: float, wanted: bool) -> None:
        """Shorter steps were tried already."""
        raise error

    def snapshots(self) -> Rows:
        kept, self._kept = self._kept, []
        if not kept:
            self.stepper.counts[loops.KEPT] = 0
            return self.stepper.snapshots()
        return tuple(map(np.stack, zip(*kept, strict=True)))

    # -- steps ---------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """Time reached by the stepper, s."""
        return float(self.pace[loops.TIME])

    def _go_to(self, t: float) -> None:
        """Take steps until time t is reached."""
        while self.t < t - loops.HERE * self.pace[loops.NEXT]:
            self._advance(t)
        self._asked = t

    def _advance(self, goal: float) -> None:
        """Take steps until `goal`, or as many as one call takes; one trial if inputs change."""
        stepper, pace = self.stepper, self.pace
        if pace[loops.TRIED] >= self.most:
            raise stepper.error(f"more than {self.most} steps are needed")
        pace[loops.GOAL] = goal
        row = self._row(loops.step_length(pace))
        end = stepper.advance(row[0], pace, self._ended, self._constant is None)
        self.ends += self._ended[: int(pace[loops.ENDED])].tolist()
        self._counts = {
            "rejected steps": int(pace[loops.REJECTED]), "failed steps": int(pace[loops.FAILED]),
        }  # fmt: skip
        if end != loops.CONVERGED and pace[loops.NEXT] < pace[loops.BRIEFEST]:
            reason = stepper.problem or REASONS.get(end, "singular")
            rejected = "its error does not fall below the tolerance"
            raise stepper.error(rejected if end == loops.PAUSE else reason)
        self._require_finite()

    def _row(self, h: float) -> Array:
        """Inputs (1, S W) at the stages of the next step."""
        if self._constant is not None:
            return self._constant
        row = self._rows(self.stepper, np.array([self.t, self.t + h]))
        if not self.schedule.moving:
            self._constant = row
        return row

    # -- outputs -------------------------------------------------------------------------------

    def _snapshot(self, t: float) -> Rows:
        """Configuration, rates, account and inputs at time t, inside the last step or at its end."""
        stepper = self.stepper
        q, v = self._at(t)
        account = stepper.account if self._is_now(t) else stepper.inside.account
        return q, v, account.copy(), stepper.acted.copy()

    def _is_now(self, t: float) -> bool:
        return t == 0.0 or abs(t - self.t) <= loops.HERE * self.stepper.step[1]

    def _at(self, t: float) -> tuple[Array, Array]:
        stepper = self.stepper
        if self._is_now(t):
            return stepper.q.copy(), stepper.velocity().copy()
        h = float(stepper.step[1])
        stepper.inside.look(1.0 - (self.t - t) / h)
        q, v = stepper.inside.state.q.copy(), stepper.inside.v.copy()
        return self._closed.near(q, v, self.schedule.at(t).drive) if self.effects.hard else (q, v)

    @cached_property
    def _closed(self) -> ClosedStates:
        return ClosedStates(self.effects)

    def now(self) -> tuple[Array, Array]:
        return self._at(self._asked)

    # -- checkpoints ---------------------------------------------------------------------------

    def keep(self) -> dict[str, Array]:
        numbers = np.append(self.pace, self._asked)
        return {**super().keep(), "adaptive": numbers, "step_ends": np.array(self.ends)}

    def resume(self, kept: Mapping[str, Array]) -> None:
        super().resume(kept)
        self.pace[...], self._asked = kept["adaptive"][:-1], float(kept["adaptive"][-1])
        self.ends = kept["step_ends"].tolist()

    @property
    def own_steps(self) -> Array:  # type: ignore[override]
        """Start and ends (N + 1,) of all steps, s."""
        return np.array(self.ends)

    def quick_step(self) -> Callable[[Mapping[str, Any]], None] | None:
        return None
