"""Inputs as functions of time, given as plain data: callables from seconds to a number."""

from __future__ import annotations

import csv
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import not_negative, number, positive
from pliant.model.errors import DescriptionError, did_you_mean
from pliant.model.profile import table_columns


class Signal(ABC):
    """A number that depends on time; call it with a time in seconds."""

    @abstractmethod
    def __call__(self, t: float) -> float:
        """Return the value at time ``t`` in seconds."""

    def _numbers(self, *fields: str) -> None:
        for field in fields:
            clean = number(type(self).__name__, field, getattr(self, field))
            object.__setattr__(self, field, clean)


@dataclass(frozen=True)
class Constant(Signal):
    """The same value at all times."""

    value: float

    def __post_init__(self) -> None:
        self._numbers("value")

    def __call__(self, t: float) -> float:
        """Return the value."""
        return self.value


@dataclass(frozen=True)
class Ramp(Signal):
    """``start`` until time t0, then linear to ``end`` at time t1 (seconds), then ``end``."""

    start: float
    end: float
    t0: float
    t1: float

    def __post_init__(self) -> None:
        self._numbers("start", "end", "t0", "t1")
        if self.t1 <= self.t0:
            raise DescriptionError(
                "Ramp", "t1", self.t1, f"later than t0 = {self.t0:g} s", "give e.g. t0=0, t1=1"
            )

    def __call__(self, t: float) -> float:
        """Return the value at time ``t`` in seconds."""
        part = min(max((t - self.t0) / (self.t1 - self.t0), 0.0), 1.0)
        return self.start + (self.end - self.start) * part


@dataclass(frozen=True)
class Sine(Signal):
    """offset + amplitude * sin(2 pi frequency t + phase); frequency in Hz, phase in radians."""

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        self._numbers("amplitude", "phase", "offset")
        positive("Sine", "frequency", self.frequency, "Hz")
        self._numbers("frequency")

    def __call__(self, t: float) -> float:
        """Return the value at time ``t`` in seconds."""
        angle = 2 * math.pi * self.frequency * t + self.phase
        return self.offset + self.amplitude * math.sin(angle)


@dataclass(frozen=True)
class Sweep(Signal):
    """amplitude * sin(phase(t)), the frequency rising linearly from f0 to f1 (Hz).

    The sweep starts at t = 0 with phase 0 and lasts ``duration`` seconds. Before it the frequency
    is f0, after it f1; value and phase are continuous.
    """

    amplitude: float
    f0: float
    f1: float
    duration: float

    def __post_init__(self) -> None:
        self._numbers("amplitude")
        for field in ("f0", "f1"):
            not_negative("Sweep", field, getattr(self, field), "Hz")
        positive("Sweep", "duration", self.duration, "seconds")
        self._numbers("f0", "f1", "duration")

    def __call__(self, t: float) -> float:
        """Return the value at time ``t`` in seconds."""
        inside = min(max(t, 0.0), self.duration)
        cycles = self.f0 * inside + (self.f1 - self.f0) * inside**2 / (2 * self.duration)
        cycles += (self.f0 if t < 0 else self.f1) * (t - inside)
        return self.amplitude * math.sin(2 * math.pi * cycles)


@dataclass(frozen=True, eq=False)
class Table(Signal):
    """Values at given times, linear in between, constant before the first and after the last.

    t : (N,) seconds, strictly increasing, N >= 2.  values : (N,).
    """

    t: ArrayLike
    values: ArrayLike

    def __post_init__(self) -> None:
        t, values = table_columns("Table", "t", self.t, self.values)
        if values.ndim != 1:
            raise DescriptionError(
                "Table", "values", values, "one number per time", "give one column"
            )
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "values", values)

    def __call__(self, t: float) -> float:
        """Return the value at time ``t`` in seconds."""
        return float(np.interp(t, np.asarray(self.t), np.asarray(self.values)))

    @classmethod
    def from_csv(cls, path: str | Path, time: str = "t", value: str = "value") -> Table:
        """Read a table from a CSV file with a header row.

        time, value : names of the columns with the times (seconds) and the values.
        """
        rows = _read_csv(Path(path))
        header = [name.strip() for name in rows[0]]
        columns = []
        for argument, name in (("time", time), ("value", value)):
            if name not in header:
                raise DescriptionError(
                    "Table",
                    argument,
                    name,
                    f"the name of a column in the first row of {Path(path).name}",
                    did_you_mean(name, header),
                )
            columns.append(_csv_column(Path(path).name, rows, header.index(name), argument))
        return cls(columns[0], columns[1])


def _read_csv(path: Path) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DescriptionError(
            "Table",
            "path",
            str(path),
            f"a readable CSV file ({reason})",
            "check the name and the folder",
        ) from error
    if len([row for row in rows if row]) < 3 or not rows[0]:
        raise DescriptionError(
            "Table",
            "path",
            str(path),
            "a CSV file with a header row and at least two rows of numbers",
            "add a first row such as t,value",
        )
    return rows


def _csv_column(file: str, rows: list[list[str]], index: int, argument: str) -> list[float]:
    found = []
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        text = row[index] if index < len(row) else ""
        try:
            found.append(float(text))
        except ValueError:
            raise DescriptionError(
                "Table",
                argument,
                text,
                f"a column of numbers (row {line} of {file})",
                "correct this cell",
            ) from None
    return found
