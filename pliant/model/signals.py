"""Inputs as functions of time, given as plain data: callables from seconds to a number."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array, DescriptionError, as_float, known_name, number_in, refuse
from pliant.model.fields import (
    NUMBER,
    Column,
    FilePath,
    Number,
    Place,
    Reader,
    Schema,
    Several,
    Writer,
    holds,
    quantity,
    schema_of,
)
from pliant.model.file_access import read_csv
from pliant.model.profile import table_columns
from pliant.model.registry import Described, OneOf


@dataclass(frozen=True)
class Stencil:
    """Weights of values h apart for a derivative: about a point, and from it onwards."""

    h: float
    power: int
    central: tuple[float, ...]
    forward: tuple[float, ...]


RATE = Stencil(
    2e-4,
    1,
    (1 / 12, -2 / 3, 0.0, 2 / 3, -1 / 12),
    (-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4),
)
ACCELERATION = Stencil(
    1e-3,
    2,
    (-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12),
    (15 / 4, -77 / 6, 107 / 6, -13.0, 61 / 12, -5 / 6),
)


def difference(function: Callable[[float], float], t: float, stencil: Stencil) -> float:
    """A derivative by fourth-order differences, central where that needs no time before zero."""
    h, middle = stencil.h, len(stencil.central) // 2
    first, weights = -middle, stencil.central
    if t < middle * h:
        first, weights = 0, stencil.forward
    values = [
        weight * float(function(t + (first + k) * h)) for k, weight in enumerate(weights) if weight
    ]
    return sum(values) / h**stencil.power


class Signal(Described, ABC):
    """A number that depends on time; call it with a time in seconds."""

    @abstractmethod
    def __call__(self, t: float) -> float:
        """Return the value at time ``t`` in seconds."""

    def over(self, t: Array) -> Array:
        """Return the values (T,) at many times ``t`` (T,) in seconds."""
        return np.array([self(time) for time in t.tolist()], dtype=float)

    def rate(self, t: float) -> float:
        """Return the first derivative at time ``t``, per second; at a corner the one to come."""
        return difference(self, t, RATE)

    def acceleration(self, t: float) -> float:
        """Return the second derivative at time ``t``, per second squared; corners are left out."""
        return difference(self, t, ACCELERATION)

    def motion_over(self, t: Array) -> Array:
        """Return value, rate and acceleration (T, 3) at many times ``t`` (T,) in seconds."""
        rows = [(self(time), self.rate(time), self.acceleration(time)) for time in t.tolist()]
        return np.array(rows, dtype=float).reshape(-1, 3)

    def __add__(self, other: object) -> Sum:
        """Return the sum of this signal and another one or a number."""
        return Sum((self, other))  # type: ignore[arg-type]

    __radd__ = __add__


_SIGNALS = Several(example="[{constant: 1.0}]", item=OneOf(families=(Signal,)))


class PiecewiseLinear(Signal):
    """A signal without second derivative; its corners are left out."""

    def acceleration(self, t: float) -> float:
        """Return zero; the corners are left out."""
        return 0.0


@dataclass(frozen=True)
class Constant(PiecewiseLinear):
    """The same value at all times."""

    value: float = quantity()

    @classmethod
    def read(cls, reader: Reader, path: Place, given: Any) -> Constant:
        """Read it from the number alone."""
        return cls(reader.value(Number(), path, given))

    @classmethod
    def schema(cls, defs: Schema) -> Schema:
        """Return the JSON Schema of a number."""
        return NUMBER

    def write(self, writer: Writer) -> float:
        """Return the number alone."""
        return self.value

    def __call__(self, t: float) -> float:
        return self.value

    def rate(self, t: float) -> float:
        return 0.0


@dataclass(frozen=True)
class Ramp(PiecewiseLinear):
    """``start`` until time t0, then linear to ``end`` at time t1 (seconds), then ``end``."""

    start: float = quantity(example="0.0")
    end: float = quantity(example="1.0")
    t0: float = quantity("seconds", example="0.0")
    t1: float = quantity("seconds", example="1.0")

    def check(self) -> None:
        """Refuse an end before the start."""
        late = f"later than t0 = {self.t0:g} s"
        self.refuse(self.t1 <= self.t0, "t1", late, "give e.g. t0=0, t1=1")

    def __call__(self, t: float) -> float:
        part = min(max((t - self.t0) / (self.t1 - self.t0), 0.0), 1.0)
        return self.start + (self.end - self.start) * part

    def rate(self, t: float) -> float:
        """Return the slope between t0 and t1, zero outside."""
        inside = self.t0 <= t < self.t1
        return (self.end - self.start) / (self.t1 - self.t0) if inside else 0.0


@dataclass(frozen=True)
class Step(Signal):
    """``before`` until ``time`` (seconds), then ``after``.

    rise : seconds that the change takes from ``time`` on; it is smooth, with rate and acceleration
    zero at both ends. Without it the value jumps.
    """

    before: float = quantity(example="0.0")
    after: float = quantity(example="1.0")
    time: float = quantity("seconds", default=0.0, example="0.5")
    rise: float = quantity(
        "seconds", "how long the change takes", default=0.0, sign="zero", example="0.1"
    )

    def __call__(self, t: float) -> float:
        if t >= self.time + self.rise:
            return self.after
        x = self._part(t)
        return self.before + (self.after - self.before) * x**3 * (10.0 - 15.0 * x + 6.0 * x**2)

    def rate(self, t: float) -> float:
        """Return the first derivative, per second; zero where the value jumps."""
        x = self._part(t)
        slope = 30.0 * (x * (1.0 - x)) ** 2
        return slope * (self.after - self.before) / self.rise if x else 0.0

    def acceleration(self, t: float) -> float:
        """Return the second derivative, per second squared; zero where the value jumps."""
        x = self._part(t)
        bend = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
        return bend * (self.after - self.before) / self.rise**2 if x else 0.0

    def _part(self, t: float) -> float:
        """How far it has come at time ``t``, from 0 to below 1; 0 outside of the rise."""
        return (t - self.time) / self.rise if self.time < t < self.time + self.rise else 0.0


class Wave(Signal):
    """offset + amplitude * sin(phase(t))."""

    amplitude: float
    offset: float = 0.0

    @abstractmethod
    def phase_at(self, t: float) -> tuple[float, float, float]:
        """Return the phase in radians at time ``t`` with its first and second derivative."""

    def __call__(self, t: float) -> float:
        return self.offset + self.amplitude * math.sin(self.phase_at(t)[0])

    def rate(self, t: float) -> float:
        phase, first, _ = self.phase_at(t)
        return self.amplitude * first * math.cos(phase)

    def acceleration(self, t: float) -> float:
        phase, first, second = self.phase_at(t)
        return self.amplitude * (second * math.cos(phase) - first**2 * math.sin(phase))


@dataclass(frozen=True)
class Sine(Wave):
    """offset + amplitude * sin(2 pi frequency t + phase); frequency in Hz, phase in radians."""

    amplitude: float = quantity(example="1.0")
    frequency: float = quantity("Hz", sign="positive", example="1.0")
    phase: float = quantity("radians", default=0.0)
    offset: float = quantity(default=0.0)

    def phase_at(self, t: float) -> tuple[float, float, float]:
        rate = 2 * math.pi * self.frequency
        return rate * t + self.phase, rate, 0.0

    def over(self, t: Array) -> Array:
        angles = 2 * math.pi * self.frequency * t + self.phase
        return self.offset + self.amplitude * np.sin(angles)


@dataclass(frozen=True)
class Sweep(Wave):
    """amplitude * sin(phase(t)), the frequency rising linearly from f0 to f1 (Hz).

    The sweep starts at t = 0 with phase 0 and lasts ``duration`` seconds. Before it the frequency
    is f0, after it f1; value and phase are continuous.
    """

    amplitude: float = quantity(example="1.0")
    f0: float = quantity("Hz", sign="zero", example="0.5")
    f1: float = quantity("Hz", sign="zero", example="5.0")
    duration: float = quantity("seconds", sign="positive", example="10.0")

    def phase_at(self, t: float) -> tuple[float, float, float]:
        inside = min(max(t, 0.0), self.duration)
        slope = (self.f1 - self.f0) / self.duration
        frequency = self.f0 + slope * inside
        cycles = (self.f0 + 0.5 * slope * inside) * inside + frequency * (t - inside)
        sweeping = slope if 0.0 <= t < self.duration else 0.0
        return 2 * math.pi * cycles, 2 * math.pi * frequency, 2 * math.pi * sweeping


@dataclass(frozen=True)
class TableEntry:
    """Values at times: written out as t and values, or read from the columns of a CSV file."""

    t: Any = holds(Several("increasing", "seconds", item=Number()), None)
    values: Any = holds(Several(item=Number()), None)
    csv: Any = holds(FilePath("file, relative to the robot file", what="CSV file"), None)
    time: Any = holds(Column("with csv: name of the column of times"), "t")
    value: Any = holds(Column("with csv: name of the column of values"), "value")


@dataclass(frozen=True, eq=False)
class Table(PiecewiseLinear):
    """Values at given times, linear in between, constant before the first and after the last.

    t : (N,) seconds, strictly increasing, N >= 2.  values : (N,).
    """

    t: ArrayLike
    values: ArrayLike

    def check(self) -> None:
        """Refuse columns that are no table."""
        t, values = table_columns("Table", "t", self.t, self.values)
        self._set("t", t)
        self._set("values", values)
        self.refuse(values.ndim != 1, "values", "one number per time", "give one column")

    @classmethod
    def read(cls, reader: Reader, path: Place, given: Any) -> Table:
        """Read it from its columns, or from those of a CSV file."""
        entry = reader.group(path, TableEntry, given)
        if set(entry) == {"t", "values"}:
            return cls(**entry)
        refuse(
            "csv" not in entry or {"t", "values"} & set(entry),
            "",
            "",
            ", ".join(sorted(entry)) or "nothing",
            "t with values, or csv with the column names time and value",
            "give e.g. {t: [0, 1], values: [0, 5]}",
        )
        return cls.from_csv(entry.pop("csv"), **entry)

    @classmethod
    def schema(cls, defs: Schema) -> Schema:
        """Return the JSON Schema of either form."""
        return schema_of(TableEntry, defs)

    def write(self, writer: Writer) -> dict[str, Any]:
        """Return its columns."""
        return {"t": writer.plain(self.t), "values": writer.plain(self.values)}

    def __call__(self, t: float) -> float:
        return float(np.interp(t, np.asarray(self.t), np.asarray(self.values)))

    def over(self, t: Array) -> Array:
        return np.interp(t, np.asarray(self.t), np.asarray(self.values))

    def rate(self, t: float) -> float:
        """Return the slope of the piece that starts at or contains ``t``, zero outside."""
        times, values = np.asarray(self.t), np.asarray(self.values)
        k = int(np.searchsorted(times, t, side="right"))
        if k in (0, len(times)):
            return 0.0
        return float((values[k] - values[k - 1]) / (times[k] - times[k - 1]))

    @classmethod
    def from_csv(cls, path: str | Path, time: str = "t", value: str = "value") -> Table:
        """Read a table from a CSV file with a header row.

        time, value : names of the columns with the times (seconds) and the values.
        """
        file = Path(path)
        rows = [(line, cells) for line, cells in read_csv("Table", file) if cells]
        refuse(
            len(rows) < 3,
            "Table",
            "path",
            str(path),
            "a CSV file with a header row and at least two rows of numbers",
            "add a first row such as t,value",
        )
        header = [name.strip() for name in rows[0][1]]
        expected = f"the name of a column in the first row of {file.name}"
        columns: list[list[float]] = []
        for argument, name in (("time", time), ("value", value)):
            index = header.index(known_name("Table", argument, name, header, expected))
            columns.append([_cell(file, *row, index, argument) for row in rows[1:]])
        return cls(*columns)


@dataclass(frozen=True)
class Sum(Signal):
    """The sum of several signals, such as sines of different frequency.

    signals : signals, numbers or functions of time in seconds, at least one.
    """

    signals: tuple[Signal, ...]

    def check(self) -> None:
        """Refuse what is no list of signals."""
        given = self.signals if isinstance(self.signals, (tuple, list)) else ()
        good = [item for item in given if callable(item) or as_float(item) is not None]
        self.refuse(
            not given or len(good) != len(given),
            "signals",
            "a list of signals, numbers or functions of time",
            "give e.g. (Sine(1.0, 0.5), Sine(0.5, 1.3))",
        )
        self._set("signals", tuple(as_signal(item) for item in given))

    @classmethod
    def read(cls, reader: Reader, path: Place, given: Any) -> Sum:
        """Read it from the list of its signals."""
        return cls(reader.value(_SIGNALS, path, given))

    @classmethod
    def schema(cls, defs: Schema) -> Schema:
        """Return the JSON Schema of a list of signals."""
        return _SIGNALS.schema(defs)

    def write(self, writer: Writer) -> list[Any]:
        """Return the list of its signals."""
        return _SIGNALS.write(writer, self.signals)  # type: ignore[no-any-return]

    def __call__(self, t: float) -> float:
        return sum(signal(t) for signal in self.signals)

    def over(self, t: Array) -> Array:
        return np.sum([signal.over(t) for signal in self.signals], axis=0)

    def rate(self, t: float) -> float:
        return sum(signal.rate(t) for signal in self.signals)

    def acceleration(self, t: float) -> float:
        return sum(signal.acceleration(t) for signal in self.signals)


@dataclass(frozen=True, eq=False)
class Function(Signal):
    """A plain function of time as a signal; its derivatives are found by differences.

    function : from seconds to a number. It is never called before t = 0.

    Five values of the function give each derivative to fourth order in the spacing of 0.2 ms
    (first) and 1 ms (second), about the time asked for, or after it close to t = 0.
    """

    function: Callable[[float], float]

    file_name: ClassVar[str] = ""

    def __call__(self, t: float) -> float:
        return self.function(t)


def as_signal(value: float | Callable[[float], float]) -> Signal:
    """Return a number, a function of time in seconds or a signal as a signal."""
    if isinstance(value, Signal):
        return value
    return Function(value) if callable(value) else Constant(value)


def values_at(inputs: Mapping[str, Any], t: float) -> dict[str, Any]:
    """Return the values of inputs, constant or functions of time, at time ``t`` in seconds."""
    return {name: item(t) if callable(item) else item for name, item in inputs.items()}


def _cell(file: Path, line: int, cells: list[str], index: int, argument: str) -> float:
    """Return the number in a cell of a file; `argument` named its column."""
    text = cells[index] if index < len(cells) else ""
    number = number_in(text)
    if number is None:
        expected = f"a column of numbers (row {line} of {file.name})"
        raise DescriptionError("Table", argument, text, expected, "correct this cell")
    return number
