"""Steps and output times of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model import DescriptionError
from pliant.model.checks import as_array, positive
from pliant.rods.contract import Array

ON_GRID = 1e-6
"""An output time this close to a step (as a part of it) is taken at the step."""


@dataclass(frozen=True)
class Clock:
    """Steps and output times of a simulation.

    h is the step length: the wished dt, shortened a little where that makes whole steps fill the
    duration. `outputs` (T,) are increasing, s.
    """

    duration: float
    steps: int
    outputs: Array

    @property
    def h(self) -> float:
        """Length of a step, s."""
        return self.duration / self.steps

    @cached_property
    def between(self) -> NDArray[np.bool_]:
        """(T,): which output times are inside a step."""
        at = self.outputs / self.h
        return np.asarray(np.abs(at - np.round(at)) > 1.5 * ON_GRID)

    @cached_property
    def step_of(self) -> NDArray[np.int64]:
        """(T,): the step at whose end an output time is, or after whose end where it is inside one."""
        at = self.outputs / self.h
        return np.where(self.between, np.floor(at), np.round(at)).astype(np.int64)


def make_clock(
    duration: object, dt: object, output_every: object = None, output_times: ArrayLike | None = None
) -> Clock:
    """Check the times of a simulation, s."""
    whole = positive("simulate", "duration", duration, "seconds", "give e.g. 2.0")
    step = positive("simulate", "dt", dt, "seconds", "give e.g. 0.01")
    if step > whole * (1 + 1e-9):
        raise DescriptionError(
            "simulate", "dt", dt, f"at most the duration {whole:g} s", "take a smaller dt"
        )
    if not np.isfinite(whole / step):
        raise DescriptionError(
            "simulate",
            "dt",
            dt,
            "a step of which finitely many fill the duration",
            "give a larger dt",
        )
    steps = max(1, int(np.ceil(whole / step - 1e-6)))
    if output_times is not None:
        if output_every is not None:
            raise DescriptionError(
                "simulate",
                "output_every",
                output_every,
                "left out when output_times is given",
                "remove one of them",
            )
        return Clock(whole, steps, _check_outputs(output_times, whole))
    if output_every is None:
        return Clock(whole, steps, np.linspace(0.0, whole, steps + 1))
    every = positive("simulate", "output_every", output_every, "seconds", "give e.g. 0.05")
    times = np.arange(0.0, whole * (1 + 1e-9), every)
    if whole - times[-1] > 1e-6 * every:
        times = np.append(times, whole)
    return Clock(whole, steps, times)


def _check_outputs(times: ArrayLike, duration: float) -> Array:
    found = as_array(times)
    good = found is not None and found.ndim == 1 and len(found) > 0 and np.isfinite(found).all()
    if found is None or not good or (np.diff(found) <= 0).any():
        raise DescriptionError(
            "simulate",
            "output_times",
            times,
            "a list of increasing times in seconds",
            "give e.g. [0.0, 0.5, 1.0]",
        )
    slack = 1e-9 * duration
    if found[0] < -slack or found[-1] > duration + slack:
        raise DescriptionError(
            "simulate",
            "output_times",
            times,
            f"between 0 and the duration {duration:g} s",
            "leave out the times beyond it",
        )
    return np.clip(found, 0.0, duration)
