"""Streams of chains solved by a strong form."""

from __future__ import annotations

import numpy as np

from pliant.bvp.contract import State, StepError
from pliant.solve.clock import Clock
from pliant.solve.streaming import Held, HeldStream
from pliant.solve.strong_motion import StrongRun


def endless(h: float) -> Clock:
    """Steps of h seconds without end and without outputs."""
    many = 2**50
    return Clock(h * many, many, np.zeros(0))


class StrongStream(HeldStream):
    """Steps of a strong form; one that fails is tried with alpha = 0, but not in shorter steps,
    which take their time and may stay half way.
    """

    def __init__(self, run: StrongRun, held: dict[str, Held], state: State) -> None:
        self.run, self.held, self.h = run, held, run.clock.h
        self.schedule = run.schedule
        run.shorter = ()
        run.begin(state)
        self._state = state

    def _step(self, start: float, end: float) -> None:
        found = self.run.single()
        if not (np.isfinite(found.pose).all() and np.isfinite(found.wrench).all()):
            self.run.solver.begin(self._state)
            raise StepError("the motion became infinite; try a smaller dt")
        self._state = found
        self.work, self.dissipated = self.run.solver.work_and_loss()
        self.iterations = self.run.solver.record.iterations

    def snapshot(self) -> tuple[State, None]:
        """The state, which holds its velocities."""
        return self._state, None
