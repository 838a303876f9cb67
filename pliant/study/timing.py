"""When a measured motion begins, and the steps that lead through its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model import DescriptionError
from pliant.model.measurement import Measurement

GAP = 5.0
"""Times the usual interval between rows over which the inputs in columns are not known."""
MOST_STEPS = 20_000_000
"""Steps of a motion beyond which its times are mistaken for something else."""


class Timing:
    """The times of a measured motion.

    rows : (N,) of the measurement, those compared.  driving : columns that are inputs.  inputs : the
    others, by name.

    origin : the time at which the motion begins, s: 0, or that of the first row where the clock of a
    file that holds the inputs was running before.  notes : a sentence if so.
    """

    def __init__(
        self,
        measurement: Measurement,
        rows: NDArray[np.int64],
        driving: list[str],
        inputs: Mapping[str, Any],
    ) -> None:
        assert measurement.t is not None
        self.measurement = measurement
        self.t, self.rows = measurement.t, rows
        self.usual = float(np.median(np.diff(self.t)))
        self.origin = 0.0
        self.notes: list[str] = []
        if driving:
            self._check_gaps(driving)
            if self.t[0] > GAP * self.usual:
                others = [name for name in inputs if name not in driving]
                self._begin_late(driving, [name for name in others if callable(inputs[name])])

    def grid(self, dt: float | None) -> tuple[float, int, bool]:
        """Return duration, steps and whether all rows lie on steps.

        dt : wished step, s; shortened so that evenly spaced rows fall on steps. None takes the
        interval between rows, and 200 steps at least.
        """
        t = self.t[self.rows] - self.origin
        wished = dt if dt is not None else min(self.usual, float(t[-1]) / 200)
        if t[-1] > MOST_STEPS * wished:
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}", float(t[-1]),
                f"seconds since the start of the motion, within {MOST_STEPS:g} steps of {wished:g} s",
                "count time from the start, or give a longer dt",
            )  # fmt: skip
        part = self.usual / max(1, int(np.ceil(self.usual / wished - 1e-6)))
        numbers = np.round(t / part)
        if np.abs(t - numbers * part).max() <= 1e-6 * part and numbers[-1] >= 1:
            return float(t[-1]), int(numbers[-1]), True
        steps = max(4, int(np.ceil(t[-1] / wished - 1e-6)))
        return float(t[-1]), steps, False

    def _check_gaps(self, driving: list[str]) -> None:
        """Refuse times between which inputs that are columns cannot be known."""
        t = self.t
        gap = np.flatnonzero(np.diff(t[: self.rows[-1] + 1]) > GAP * self.usual)
        if len(gap):
            row = int(gap[0]) + 1
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}, row {row + 1}",
                float(t[row]),
                f"without a gap, for {driving[0]!r} is an input (the row before it is at "
                f"{t[row - 1]:g} s, rows usually follow after {self.usual:g} s)",
                "add rows with the inputs and leave the cells of outputs empty, split the file "
                "there, or give the input as a function of time",
            )  # fmt: skip

    def _begin_late(self, driving: list[str], timed: list[str]) -> None:
        """Begin at the first row: what the inputs were before it nobody knows."""
        first = float(self.t[0])
        if timed:
            raise DescriptionError(
                self.measurement.label, f"column {self.measurement.time!r}, row 1", first,
                f"about 0 s, for {driving[0]!r} is not known before it, and {timed[0]!r} is a function "
                "of the time since 0 s",
                "count time from the start of the motion",
            )  # fmt: skip
        self.origin = first
        self.notes.append(
            f"{self.measurement.name} begins at {first:.12g} s: the motion is taken to begin there"
        )
