"""Results of studies: one robot solved in several ways (`pliant.compare`), and the resolution that it
needs (`pliant.resolve`).
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.model import Array, check_suffix, known_name
from pliant.results.export import (
    WIDTH,
    dataset,
    paragraph,
    plain_data,
    table,
    variable,
    write_table,
)
from pliant.results.result import Study
from pliant.results.result_file import write

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ComparisonRow:
    """One entry of a comparison.

    method : its label.  formulation : by rod name, as Python code.
    integrator : of a motion, else None.  theory : by rod name.  rotary : of a motion, by rod name,
        whether its sections have rotary inertia.
    unknowns : size of the system solved at once.  iterations : total number.
    position : largest distance from the reference over all rods, sections and times, as a fraction
        of the rod's length.  tip : the same at tips only.
    orientation : largest angle between a section and that of the reference, rad.
    seconds : wall time without compilation.
    note : why the entry failed, or a caveat.
    is_reference : True for the entry that the others are compared with.

    Values that a failed entry does not have are None.
    """

    method: str
    formulation: Mapping[str, str] = field(default_factory=dict)
    integrator: str | None = None
    theory: Mapping[str, str] = field(default_factory=dict)
    unknowns: int | None = None
    position: float | None = None
    tip: float | None = None
    orientation: float | None = None
    seconds: float | None = None
    iterations: int | None = None
    note: str = ""
    is_reference: bool = False
    rotary: Mapping[str, bool] = field(default_factory=dict)

    @property
    def solved(self) -> bool:
        """Whether the entry was solved."""
        return self.unknowns is not None


_COMPARISON_COLUMNS = {
    "method": "method",
    "unknowns": "unknowns",
    "position": "position / L",
    "tip": "tip / L",
    "orientation": "angle / rad",
    "seconds": "time / s",
    "iterations": "iterations",
}


class Comparison(Study):
    """One robot solved in several ways, each compared with a reference.

    table : one ComparisonRow for each entry, the reference first.
    results : by method, the Equilibrium or Motion of every entry that was solved.
    t : (T,) s, the times of motions; None for equilibria.
    places : by rod, the arclengths (S,) that are compared, metres.

    `print(comparison)` shows the table. Made by `pliant.compare` from rows, results, poses, places,
    outlines and t.
    """

    def __init__(
        self,
        rows: list[ComparisonRow],
        results: Mapping[str, Any],
        poses: Mapping[str, Mapping[str, Array]],
        places: Mapping[str, Array],
        outlines: Mapping[str, Array],
        t: Array | None,
    ) -> None:
        self.results = dict(results)
        self.places = dict(places)
        self.t = t
        self._poses = poses
        self._outlines = outlines
        self._reference = rows[0].method
        self._errors = {name: self._measure(name) for name in poses}
        self.table = [self._complete(row, rows[0]) for row in rows]

    def _measure(self, method: str) -> dict[str, tuple[Array, Array]]:
        """By rod, distances over length and angles at all sections, (S,) or (T, S) each."""
        errors = {}
        for rod, truth in self._poses[self._reference].items():
            poses = self._poses[method][rod]
            gap = poses[..., :3, 3] - truth[..., :3, 3]
            # |R - R'| = 2 sqrt(2) sin(angle / 2), exact for small angles too
            turn = np.linalg.norm(poses[..., :3, :3] - truth[..., :3, :3], axis=(-2, -1))
            angle = 2.0 * np.arcsin(np.minimum(turn / np.sqrt(8.0), 1.0))
            errors[rod] = np.linalg.norm(gap, axis=-1) / self.places[rod][-1], angle
        return errors

    def _complete(self, row: ComparisonRow, truth: ComparisonRow) -> ComparisonRow:
        if row.method not in self._errors:
            return row
        errors = self._errors[row.method].values()
        other = {rod for rod in truth.theory if row.theory.get(rod) != truth.theory[rod]}
        notes = [row.note] if row.note else []
        if other:
            theories = " and ".join(sorted({row.theory.get(rod, "unknown") for rod in other}))
            notes.append(
                f"its theory ({theories}) is not that of the reference: the difference is not an error"
            )
        notes += self._inertia_notes(row, truth)
        return replace(
            row,
            position=max(float(gap.max()) for gap, _ in errors),
            tip=max(float(gap[..., -1].max()) for gap, _ in errors),
            orientation=max(float(angle.max()) for _, angle in errors),
            note="; ".join(notes),
        )

    @staticmethod
    def _inertia_notes(row: ComparisonRow, truth: ComparisonRow) -> list[str]:
        """A sentence if only one of the two has rotary inertia; the setting `rotary` adds it."""
        other = [rod for rod, moved in truth.rotary.items() if row.rotary.get(rod) != moved]
        if not other:
            return []
        rod = other[0]
        leaving = truth if row.rotary.get(rod) else row
        name = leaving.formulation[rod].partition("(")[0]
        who = f"the reference, {name}," if leaving is truth else name
        return [
            f"{who} neglects the rotary inertia of {', '.join(other)}: the difference is not only an "
            f"error; give {name}(..., rotary=True)"
        ]

    def error(self, method: str, rod: str | None = None) -> Array:
        """Return the distance from the reference as a fraction of the length.

        method : as in the table.  rod : gives the error of its sections, (S,), or (T, S) for motions;
        None gives the largest over all rods and sections, () or (T,).
        """
        known_name("comparison", "method", method, self._errors, "an entry that was solved")
        errors = self._errors[method]
        if rod is None:
            return np.asarray(np.max([gap.max(axis=-1) for gap, _ in errors.values()], axis=0))
        return errors[known_name("comparison", "rod", rod, errors, "the name of a rod")][0]

    def row(self, method: str) -> ComparisonRow:
        """Return the row with this label."""
        rows = {row.method: row for row in self.table}
        return rows[known_name("comparison", "method", method, rows, "an entry of the table")]

    def __repr__(self) -> str:
        solved = sum(row.solved for row in self.table)
        return f"<Comparison of {len(self.table)} methods, {solved} solved>"

    def summary(self) -> str:
        """Return the table as text, with the notes below it."""
        lines = table(
            [list(_COMPARISON_COLUMNS.values()), *(_comparison_cells(row) for row in self.table)]
        )
        notes = [f"{row.method}: {row.note}" for row in self.table if row.note]
        lines += [line for note in notes for line in paragraph(note)]
        what = "equilibria" if self.t is None else f"motions of {self.t[-1]:g} s"
        return "\n".join([f"{len(self.table)} {what}, errors against {self._reference}", *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        data = {
            "kind": "Comparison",
            "reference": self._reference,
            "table": [asdict(row) for row in self.table],
            "pliant_version": sys.modules["pliant"].__version__,
        }
        return plain_data(data)

    def to_xarray(self) -> xr.Dataset:
        """Return all errors as labelled arrays; the attribute `failed` lists failed entries."""
        solved = [row for row in self.table if row.method in self._errors]
        rods = list(self.places)
        dims = ("method", "rod", *(() if self.t is None else ("time",)), "station")
        both = [[self._errors[row.method][rod] for rod in rods] for row in solved]
        variables = {
            "error": variable("error", dims, [[gap for gap, _ in row] for row in both], units="1"),
            "angle": variable("angle", dims, [[a for _, a in row] for row in both], units="rad"),
        }
        units = {"position": "1", "tip": "1", "orientation": "rad", "seconds": "s"}
        for name in (*units, "unknowns", "iterations"):
            values = [getattr(row, name) for row in solved]
            more = {"units": units[name]} if name in units else {}
            variables[name] = variable(f"{name} of an entry", ("method",), values, **more)
        labels: dict[str, Any] = {
            "method": [row.method for row in solved],
            "rod": rods,
            "s": variable("s", ("rod", "station"), list(self.places.values())),
        }
        if self.t is not None:
            labels["time"] = variable("time", ("time",), self.t)
        failed = {row.method: row.note for row in self.table if not row.solved}
        attributes = {
            "kind": "Comparison",
            "reference": self._reference,
            "failed": json.dumps(failed),
            "pliant_version": sys.modules["pliant"].__version__,
        }
        return dataset(variables, labels, attributes)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as .csv, or all errors as NetCDF (.nc), and return the path."""
        target = check_suffix("save", path, (".csv", ".nc"))
        if target.suffix.lower() == ".nc":
            return write(self.to_xarray(), target)
        return self.to_csv(target)

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as .csv and return the path."""
        names = [*_COMPARISON_COLUMNS, "integrator", "note"]
        return write_table(check_suffix("to_csv", path, (".csv",)), names, self.table)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the shapes and their errors; save the picture if a path is given.

        Equilibria: error over unknowns and over computing time. Motions: shapes at the end, error
        over time and over computing time.
        """
        from pliant.view import ErrorPanel, RodShape, draw_methods, saved

        def last(method: str, rod: str) -> Array:
            poses = self._poses[method][rod]
            return poses if self.t is None else poses[-1]

        others = [row for row in self.table if row.method in self._poses and not row.is_reference]
        names = [row.method for row in others]
        shapes = {
            name: [RodShape(rod, last(name, rod), self._outlines[rod]) for rod in self.places]
            for name in names
        }
        truth = np.concatenate([last(self._reference, rod)[::5, :3, 3] for rod in self.places])
        worst = {name: np.array([self.error(name).max()]) for name in names}
        unknowns = {row.method: (np.array([row.unknowns]), worst[row.method]) for row in others}
        seconds = {row.method: (np.array([row.seconds]), worst[row.method]) for row in others}
        label = "position error / length"
        if self.t is None:
            first = ErrorPanel("unknowns", label, unknowns, logarithmic=True)
        else:
            first = ErrorPanel("time / s", label, {n: (self.t, self.error(n)) for n in names})
        panels = [first, ErrorPanel("computing time / s", label, seconds, logarithmic=True)]
        return saved(draw_methods(shapes, truth, panels), path)


def _comparison_cells(row: ComparisonRow) -> list[str]:
    """The cells of a row as text."""
    if not row.solved:
        return [row.method, "failed", *[""] * (len(_COMPARISON_COLUMNS) - 2)]
    errors = ["reference", "", ""]
    if not row.is_reference:
        values = (row.position, row.tip, row.orientation)
        errors = ["" if value is None else f"{value:.2e}" for value in values]
    return [row.method, str(row.unknowns), *errors, f"{row.seconds:.4f}", str(row.iterations)]


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


_RESOLUTION_COLUMNS = {
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
        names = [name for name in _RESOLUTION_COLUMNS if moving or name != "dt"]
        heading = [
            "  " + _RESOLUTION_COLUMNS[names[0]],
            *(_RESOLUTION_COLUMNS[name] for name in names[1:]),
        ]
        lines = table([heading, *(_resolution_cells(row, names) for row in rows)])
        what = f"motions of {self.result.t[-1]:g} s" if moving else "equilibria"
        return "\n".join([f"{len(rows)} {what}", *lines, *textwrap.wrap(self.reason, WIDTH)])

    def to_dict(self) -> dict[str, Any]:
        """Return the choice, its errors and the table as plain data."""
        data = {
            "kind": "Resolution",
            "method": self.chosen.method,
            "dt": self.dt,
            "accuracy": self.accuracy,
            "error": self.error,
            "reference_error": self.reference_error,
            "orders": dict(self.orders),
            "reason": self.reason,
            "table": [asdict(row) for row in self.table],
            "pliant_version": sys.modules["pliant"].__version__,
        }
        return plain_data(data)

    def _sorted(self) -> list[ResolutionRow]:
        return sorted(self.table, key=lambda row: (row.intervals, -(row.dt or 0.0)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as .csv and return the path."""
        return self.to_csv(check_suffix("save", path, (".csv",)))

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as .csv and return the path."""
        names = [
            "method",
            "intervals",
            *list(_RESOLUTION_COLUMNS)[1:],
            "chosen",
            "is_reference",
            "note",
        ]
        return write_table(check_suffix("to_csv", path, (".csv",)), names, self._sorted())

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


def _resolution_cells(row: ResolutionRow, names: list[str]) -> list[str]:
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
