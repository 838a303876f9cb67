"""What was measured on a real robot: named columns of numbers, over time or over load cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.model.checks import Array, DescriptionError, as_array, known_name


@dataclass(frozen=True, eq=False)
class Measurement:
    """One experiment: columns of equal length.

    columns : by name, (N,) numbers in SI units. NaN is a cell that is missing, as of a marker that the
        camera lost; only columns of outputs may have such cells.
    time : the name of the column of times (s, from 0 on, increasing) for a motion; None for
        equilibria, one row for each load case.
    inputs : for inputs of the robot that no column holds: values, or for a motion functions of time.
        A column with the name of an input is that input, linear between rows, or smooth where it
        moves a base; it must be complete, and without long gaps between rows.
    start : where a motion begins: "rest", "statics" (the equilibrium under the inputs at t = 0), or
        inputs by name, in whose equilibrium it is held until it is let go at t = 0.
    velocity : body twists by rod name at the start of a motion, as for `Robot.simulate`.
    name : of the file or the experiment, for messages and pictures.
    window : (first, last) times in s, or row numbers from 0 of load cases, between which outputs are
        compared; None for all. Inputs act outside of it too.
    """

    columns: Mapping[str, ArrayLike]
    time: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    start: str | Mapping[str, Any] = "rest"
    velocity: Mapping[str, Any] | None = None
    name: str = "measurement"
    window: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise self._wrong("columns", self.columns, "arrays by column name", "give a dict")
        clean: dict[str, Array] = {}
        for name, values in self.columns.items():
            found = as_array(values)
            if found is None or found.ndim != 1 or len(found) == 0:
                raise self._wrong(f"column {name!r}", values, "numbers (N,)", "give one per row")
            bad = np.flatnonzero(np.isinf(found))
            if len(bad):
                raise self._wrong(
                    f"column {name!r}, row {bad[0] + 1}",
                    found[bad[0]],
                    "a finite number",
                    "give NaN where an output is missing",
                )
            found.flags.writeable = False
            clean[str(name)] = found
        sizes = {len(values) for values in clean.values()}
        if len(sizes) > 1:
            listed = {name: len(values) for name, values in clean.items()}
            raise self._wrong("columns", listed, "of one length", "give a number in every row")
        object.__setattr__(self, "columns", clean)
        self._check_start()
        if self.time is not None:
            self._check_time(self.complete(self.time, "the time"))
        if not self.compared.any():
            raise self._wrong("window", self.window, "a range with rows in it", "widen it")

    @property
    def label(self) -> str:
        """How error messages call this measurement."""
        return f"measurement {self.name!r}"

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))  # type: ignore[arg-type]

    @property
    def t(self) -> Array | None:
        """The times (N,), s, of a motion; None for load cases."""
        return None if self.time is None else self.column(self.time)

    def column(self, name: str) -> Array:
        """Return a column (N,)."""
        known_name(self.label, "column", name, self.columns, "in the file")
        return np.asarray(self.columns[name])

    def complete(self, name: str, what: str) -> Array:
        """Return a column (N,) without missing cells; what : it is, for the message."""
        found = self.column(name)
        missing = np.flatnonzero(np.isnan(found))
        if len(missing):
            raise self._wrong(
                f"column {name!r}, row {missing[0] + 1}",
                "empty",
                f"a number, for it is {what}",
                "fill it in, or leave out the row; only what was measured may be missing",
            )
        return found

    @property
    def compared(self) -> NDArray[np.bool_]:
        """(N,): which rows lie in the window."""
        along = np.arange(self.rows, dtype=float) if self.t is None else self.t
        first, last = (-np.inf, np.inf) if self.window is None else self.window
        return np.asarray((along >= first) & (along <= last))

    def between(self, first: float, last: float) -> Measurement:
        """Return the measurement with the window first <= t <= last.

        first, last : seconds; of load cases, row numbers from 0.
        """
        return replace(self, window=(first, last))

    def _check_start(self) -> None:
        good = self.start in ("rest", "statics") if isinstance(self.start, str) else True
        if not good or not isinstance(self.start, (str, Mapping)):
            raise self._wrong(
                "start", self.start, "'rest', 'statics' or inputs by name", "give e.g. 'statics'"
            )

    def _check_time(self, t: Array) -> None:
        where = f"column {self.time!r}"
        if len(t) < 2:
            raise self._wrong(where, t, "two rows or more", "measure longer")
        steps = np.diff(t)
        back = np.flatnonzero(steps <= 0)
        if len(back):
            row = int(back[0]) + 1
            raise self._wrong(
                f"{where}, row {row + 1}",
                float(t[row]),
                f"later than the row before it, {t[row - 1]:g} s",
                "sort the rows by time and leave out repeated ones",
            )
        if t[0] < 0:
            raise self._wrong(
                f"{where}, row 1", float(t[0]), "0 s or later", "count time from the start"
            )

    def _wrong(
        self, field_name: str, value: object, expected: str, remedy: str
    ) -> DescriptionError:
        return DescriptionError(self.label, field_name, value, expected, remedy)
