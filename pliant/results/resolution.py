"""How fine a robot has to be solved: the result of `pliant.resolve`."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.results.tables import aligned, write_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ResolutionRow:
    """One solution that a choice of resolution was made from.

    method : the formulation as it would be written in Python.  intervals : how many each rod is cut
    into.  dt : step of a motion, s; None for an equilibrium.  unknowns : numbers solved for at once.
    error : largest distance from the reference over all rods, sections and times, as a fraction of
        the length of the rod it is on.  seconds : wall time of a call that compiles nothing.
    chosen, is_reference : whether it is the one or the other.
    note : why there is no answer. What a failed solution cannot tell is None.
    """

    method: str
    intervals: int
    dt: float | None = None
    unknowns: int | None = None
    error: float | None = None
    seconds: float | None = None
    chosen: bool = False
    is_reference: bool = False
    note: str = ""

    @property
    def solved(self) -> bool:
        """Whether there is an answer."""
        return self.error is not None


_COLUMNS = {
    "method": "method",
    "dt": "dt / s",
    "unknowns": "unknowns",
    "error": "error / L",
    "seconds": "time / s",
}


@dataclass(frozen=True, eq=False)
class Resolution:
    """The coarsest resolution that is as accurate as was asked for.

    formulation : what was chosen, for all rods or by rod name, as `Robot.statics` takes it.
    dt : the step that was chosen, s; None for an equilibrium.
    accuracy : what was asked for.  error : what is reached: distance from the reference plus what the
        reference is estimated to be off, as a fraction of the length.
    reference_error : estimated error of the reference (Richardson).
    orders : "intervals" and, for motions, "dt": the observed powers with which the error falls.
    table : one ResolutionRow for each solution, in the order they were made.
    result : the Equilibrium or Motion at the chosen resolution.

    `print(resolution)` shows the table and the reason. Made by `pliant.resolve`.
    """

    formulation: Any
    dt: float | None
    accuracy: float
    error: float
    reference_error: float
    orders: Mapping[str, float]
    table: list[ResolutionRow]
    result: Any

    @property
    def chosen(self) -> ResolutionRow:
        """The row that was chosen."""
        return next(row for row in self.table if row.chosen)

    @property
    def reference(self) -> ResolutionRow:
        """The row that the others are measured against."""
        return next(row for row in self.table if row.is_reference)

    def __repr__(self) -> str:
        return f"<Resolution {self._named(self.chosen)}, error {self.error:.2g} of the length>"

    def __str__(self) -> str:
        return self.summary()

    @staticmethod
    def _named(row: ResolutionRow) -> str:
        return row.method if row.dt is None else f"{row.method}, dt = {row.dt:.4g} s"

    # -- telling -----------------------------------------------------------------------------

    @property
    def reason(self) -> str:
        """Which resolution was chosen and why, in a few sentences."""
        own = self.chosen
        parts = [
            f"{self._named(own)} is chosen: its error is {self.error:.2g} of the length, "
            f"{self.accuracy:.2g} was asked for"
        ]
        coarser = self._nearest(lambda row: row.dt == own.dt and row.intervals < own.intervals)
        if coarser is not None:
            parts.append(f"with {coarser.method} it is {coarser.error:.2g}")
        longer = self._nearest(
            lambda row: row.dt is not None and row.dt > own.dt and row.intervals == own.intervals
        )
        if longer is not None:
            parts.append(f"with dt = {longer.dt:.4g} s it is {longer.error:.2g}")
        text = "; ".join(parts) + ". "
        powers = {"intervals": "1 / intervals", "dt": "dt"}
        falls = [f"power {order:.1f} of {powers[name]}" for name, order in self.orders.items()]
        text += f"The error goes with {' and '.join(falls)}. "
        truth = self.reference
        return text + (
            f"Errors are distances from {self._named(truth)}, itself estimated to be off by "
            f"{self.reference_error:.1g}."
        )

    def _nearest(self, which: Any) -> ResolutionRow | None:
        """Of the rows that are coarser in one way, the finest."""
        rows = [row for row in self.table if row.solved and which(row)]
        return min(rows, key=lambda row: (-row.intervals, row.dt or 0.0), default=None)

    def summary(self) -> str:
        """Return the table as text, with the reason below it."""
        rows = self._sorted()
        moving = self.dt is not None
        names = [name for name in _COLUMNS if moving or name != "dt"]
        heading = ["  " + _COLUMNS[names[0]], *(_COLUMNS[name] for name in names[1:])]
        lines = aligned([heading, *(_cells(row, names) for row in rows)])
        what = f"motions of {self.result.t[-1]:g} s" if moving else "equilibria"
        return "\n".join([f"{len(rows)} {what}", *lines, *textwrap.wrap(self.reason, 98)])

    def _sorted(self) -> list[ResolutionRow]:
        return sorted(self.table, key=lambda row: (row.intervals, -(row.dt or 0.0)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as .csv and return the path."""
        from pliant.view.saving import check_suffix

        found = check_suffix("save", path, (".csv",))
        names = ["method", "intervals", *list(_COLUMNS)[1:], "chosen", "is_reference", "note"]
        write_rows(found, names, self._sorted())
        return found

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw error and time against intervals and step; save the picture if a path is given."""
        from pliant.view import draw_resolution, save_figure

        rows = [row for row in self._sorted() if row.solved]
        values = np.array([[r.intervals, r.dt or np.nan, r.error, r.seconds] for r in rows])
        figure = draw_resolution(
            values,
            self.accuracy,
            next(k for k, row in enumerate(rows) if row.chosen),
            moving=self.dt is not None,
            title=f"chosen: {self._named(self.chosen)}",
        )
        if path is not None:
            save_figure(figure, path)
        return figure

    def show(self) -> None:
        """Draw the choice in a window and wait until it is closed."""
        from pliant.view import show

        self.plot()
        show()


def _cells(row: ResolutionRow, names: list[str]) -> list[str]:
    """The row as text, one entry for each column; a mark in front of the chosen one."""
    method = ("> " if row.chosen else "  ") + row.method
    if not row.solved:
        dt = [f"{row.dt:.4g}"] if "dt" in names and row.dt is not None else []
        return [method, *dt, "no answer", *[""] * (len(names) - 2 - len(dt))]
    assert row.seconds is not None
    texts = {
        "method": method,
        "dt": "" if row.dt is None else f"{row.dt:.4g}",
        "unknowns": str(row.unknowns),
        "error": "reference" if row.is_reference else f"{row.error:.2e}",
        "seconds": f"{row.seconds:.4f}",
    }
    return [texts[name] for name in names]
