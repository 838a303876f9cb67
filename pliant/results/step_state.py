"""The robot at one instant of a `Stepper`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.model import Array
from pliant.results.motion import MovingResult
from pliant.solve.problem import Problem
from pliant.solve.streaming import Stream


@dataclass
class _Instant:
    """A trajectory of one instant, for quantities that are computed from trajectories."""

    t: Array
    h: float
    q: list[Any]
    v: list[Any]
    work: Array
    dissipated: Array
    inputs: dict[str, Array]
    drive_rates: Array


class StepState(MovingResult):
    """The robot at one instant of a `Stepper`.

    t : time since the start, s.  iterations : Newton iterations of the last step.
    converged : False if the step did not converge; this is then the state before it, and `message`
    says what happened.

    Made by `Stepper.step` from compiled and stream. Later steps do not change it.
    Poses are in the world frame, strains, wrenches and velocities in the body frame, angular part
    first.
    """

    def __init__(self, compiled: Problem, stream: Stream, iterations: int, message: str) -> None:
        super().__init__(compiled)
        self.t = stream.t
        self.iterations = iterations
        self.message = message
        self._q, self._v = stream.snapshot()
        self._configurations = [self._q]
        self._energy_record = stream.work, stream.dissipated
        self._h, self._acting = stream.h, stream.acting()

    @property
    def converged(self) -> bool:
        """True if the step converged."""
        return not self.message

    def __repr__(self) -> str:
        return f"<State of {self._names} at t = {self.t:.6g} s>"

    @property
    def coordinates(self) -> Array:
        """The coordinates (nq,) of all rods; for a strong form, pose and wrench at every knot."""
        return np.asarray(self._compiled.as_numbers(self._q))

    def _final(self) -> tuple[Any, Any]:
        return self._q, self._v

    @cached_property
    def _path(self) -> _Instant:
        values, rates = self._acting()
        inputs = {name: np.asarray(value, dtype=float)[None] for name, value in values.items()}
        work, lost = (np.array([x]) for x in self._energy_record)
        now = np.array([self.t])
        return _Instant(now, self._h, [self._q], [self._v], work, lost, inputs, rates[None])

    @cached_property
    def energy(self) -> dict[str, float]:
        """Energies in J: kinetic, elastic, gravity and their total, dissipated and work."""
        parts = self._energies(np.zeros(1, dtype=np.int64))
        return {name: float(value[0]) for name, value in parts.items()}
