"""The resolution a robot needs: the result of `pliant.resolve`."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import check_suffix
from pliant.results.export import WIDTH, table, write_table
from pliant.results.result import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ResolutionRow:
    """One solution tried by `pliant.resolve`.

    method : the formulation as Python code.  intervals : per rod.  dt : time step of a motion, s;
        None for an equilibrium.  unknowns : size of the system solved at once.
    error : largest distance from the reference over all rods, sections and times, as a fraction of
        the rod's length.  seconds : wall time without compilation.
    chosen, is_reference : True for the chosen solution and for the reference.
    note : why the solution failed. Values that a failed solution does not have are None.
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
        """Whether the solution converged."""
        return self.error is not None


_COLUMNS = {
    "method": "method",
    "dt": "dt / s",
    "unknowns": "unknowns",
    "error": "error / L",
    "seconds": "time / s",
}


@dataclass(frozen=True, eq=False)
class Resolution(Study):
    """The cheapest resolution that reaches an accuracy.

    formulation : the chosen one, for all rods or by rod name, as for `Robot.statics`.
    dt : the chosen time step, s; None for an equilibrium.
    accuracy : the requested accuracy.  error : the error of the chosen solution: its distance from
        the reference plus the estimated error of the reference, as a fraction of the length.
    reference_error : estimated error of the reference (Richardson).
    orders : the observed orders of convergence in "intervals" and, for motions, "dt".
    table : one ResolutionRow for each solution, in the order they were computed.
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
        """The row of the chosen solution."""
        return next(row for row in self.table if row.chosen)

    @property
    def reference(self) -> ResolutionRow:
        """The row of the reference."""
        return next(row for row in self.table if row.is_reference)

    def __repr__(self) -> str:
        return f"<Resolution {self._named(self.chosen)}, error {self.error:.2g} of the length>"

    @staticmethod
    def _named(row: ResolutionRow) -> str:
        return row.method if row.dt is None else f"{row.method}, dt = {row.dt:.4g} s"

    @property
    def reason(self) -> str:
        """The chosen resolution and the reason for it, in a few sentences."""
        own = self.chosen
        parts = [
            f"{self._named(own)} is chosen: its error is {self.error:.2g} of the length, "
            f"the requested accuracy is {self.accuracy:.2g}"
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
        orders = [f"order {order:.1f} in {name}" for name, order in self.orders.items()]
        return text + (
            f"The solution converges with {' and '.join(orders)}. Errors are distances from "
            f"{self._named(self.reference)}, whose own error is about {self.reference_error:.1g}."
        )

    def _nearest(self, which: Any) -> ResolutionRow | None:
        """The finest of the solved rows for which `which` holds."""
        rows = [row for row in self.table if row.solved and which(row)]
        return min(rows, key=lambda row: (-row.intervals, row.dt or 0.0), default=None)

    def summary(self) -> str:
        """Return the table as text, with the reason below it."""
        rows = self._sorted()
        moving = self.dt is not None
        names = [name for name in _COLUMNS if moving or name != "dt"]
        heading = ["  " + _COLUMNS[names[0]], *(_COLUMNS[name] for name in names[1:])]
        lines = table([heading, *(_cells(row, names) for row in rows)])
        what = f"motions of {self.result.t[-1]:g} s" if moving else "equilibria"
        return "\n".join([f"{len(rows)} {what}", *lines, *textwrap.wrap(self.reason, WIDTH)])

    def _sorted(self) -> list[ResolutionRow]:
        return sorted(self.table, key=lambda row: (row.intervals, -(row.dt or 0.0)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as .csv and return the path."""
        names = ["method", "intervals", *list(_COLUMNS)[1:], "chosen", "is_reference", "note"]
        return write_table(check_suffix("save", path, (".csv",)), names, self._sorted())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw error and computing time over intervals and step; save it if a path is given."""
        from pliant.view import draw_resolution, saved

        rows = [row for row in self._sorted() if row.solved]
        values = np.array([[r.intervals, r.dt or np.nan, r.error, r.seconds] for r in rows])
        figure = draw_resolution(
            values,
            self.accuracy,
            next(k for k, row in enumerate(rows) if row.chosen),
            moving=self.dt is not None,
            title=f"chosen: {self._named(self.chosen)}",
        )
        return saved(figure, path)


def _cells(row: ResolutionRow, names: list[str]) -> list[str]:
    """The cells of a row as text, with a mark in front of the chosen one."""
    method = ("> " if row.chosen else "  ") + row.method
    if not row.solved:
        dt = [f"{row.dt:.4g}"] if "dt" in names and row.dt is not None else []
        return [method, *dt, "failed", *[""] * (len(names) - 2 - len(dt))]
    assert row.seconds is not None
    texts = {
        "method": method,
        "dt": "" if row.dt is None else f"{row.dt:.4g}",
        "unknowns": str(row.unknowns),
        "error": "reference" if row.is_reference else f"{row.error:.2e}",
        "seconds": f"{row.seconds:.4f}",
    }
    return [texts[name] for name in names]
