"""One robot solved by several formulations and integrators, each measured against a reference."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import Array, ConvergenceError, DescriptionError, PliantError
from pliant.model.checks import choice, positive, whole_number
from pliant.results.comparison import Comparison, ComparisonRow
from pliant.robot import Robot
from pliant.study.entries import Entry, read_entries, read_entry, relabelled

Progress = Callable[[str, int, int], object]
"""Told the label of the entry that comes next, its number from 0, and how many there are."""

_SAME_TIME = 1e-9


@dataclass(frozen=True)
class _Task:
    """What every entry is to solve."""

    robot: Robot
    inputs: Mapping[str, Any] | None
    tolerance: float
    duration: float | None
    dt: float | None
    integrator: Any
    start: str
    velocity: Mapping[str, Any] | None
    output_times: Array | None

    @property
    def moving(self) -> bool:
        """True for a motion, False for an equilibrium."""
        return self.duration is not None

    def solve(self, entry: Entry) -> Any:
        """Return the result of one entry."""
        if not self.moving:
            return self.robot.statics(self.inputs, entry.formulation, tolerance=self.tolerance)
        assert self.duration is not None and self.dt is not None
        own = entry.dt is not None and entry.dt != self.dt
        times = self.output_times
        if times is None and own:
            times = np.linspace(0.0, self.duration, _steps(self.duration, self.dt) + 1)
        return self.robot.simulate(
            self.duration,
            self.dt if entry.dt is None else entry.dt,
            inputs=self.inputs,
            start=self.start,
            velocity=self.velocity,
            formulation=entry.formulation,
            integrator=self.integrator if entry.integrator is None else entry.integrator,
            output_times=times,
        )


def compare(
    robot: Robot,
    formulations: Sequence[Any] | Mapping[str, Any],
    reference: Any = None,
    inputs: Mapping[str, Any] | None = None,
    duration: float | None = None,
    dt: float | None = None,
    integrator: Any = None,
    start: str = "rest",
    velocity: Mapping[str, Any] | None = None,
    output_times: ArrayLike | None = None,
    sections: int = 51,
    repeat: int = 2,
    tolerance: float = 1e-10,
    progress: Progress | None = None,
) -> Comparison:
    """Solve one robot with every formulation and measure each answer against a reference.

    robot : a Robot.
    formulations : a list, or a dict by label, of entries. An entry is a formulation, a dict of
        formulations by rod name, a pair (formulation, integrator), a triple (formulation,
        integrator, dt), or a result that is already there. None stands for the default.
    reference : an entry too; what the others are measured against. None for the first one.
    inputs : as for `Robot.statics`, or as for `Robot.simulate` when a duration is given.
    duration, dt : seconds, for motions; without them equilibria are compared.
    integrator : for entries that name none.  start, velocity, output_times : as for
        `Robot.simulate`; motions are compared at the output times, by default at every dt.
    sections : how many sections of each rod are compared, evenly spaced, ends included.
    repeat : how often each entry is solved; the time reported is the shortest after the first,
        which may compile kernels.  tolerance : as for `Robot.statics`.
    progress : called with the label of the entry that comes next, its number and their count.

    An entry that fails or is refused becomes a row that says why; only a reference that fails
    raises.
    """
    _check_robot(robot)
    task = _task(robot, inputs, tolerance, duration, dt, integrator, start, velocity, output_times)
    count = _whole("sections", sections, 2)
    often = _whole("repeat", repeat, 1)
    entries = read_entries(formulations)
    truth = entries[0] if reference is None else read_entry("reference", reference, None)
    if not task.moving:
        _refuse_integrators([truth, *entries])
    same = [entry for entry in entries if entry.same(truth)]
    truth = same[0] if same else truth
    every = [truth, *(entry for entry in entries if entry is not truth)]
    rows, results = [], {}
    for k, entry in enumerate(relabelled(every)):
        if progress is not None:
            progress(entry.label, k, len(every))
        row, result = _solve(task, entry, often, k == 0)
        rows.append(row)
        if result is not None:
            results[entry.label] = result
    return _measured(robot, task.moving, rows, results, count)


# -- solving ---------------------------------------------------------------------------------


def _solve(
    task: _Task, entry: Entry, often: int, is_reference: bool
) -> tuple[ComparisonRow, Any | None]:
    """Return the row of one entry, errors still missing, and its result."""
    if entry.result is not None:
        return _row(
            entry, entry.result, float(entry.result.seconds), "", is_reference
        ), entry.result
    seconds: list[float] = []
    notes: list[str] = []
    result: Any = None
    try:
        for _ in range(often):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                began = time.perf_counter()
                result = task.solve(entry)
                seconds.append(time.perf_counter() - began)
            notes = [str(item.message) for item in caught if issubclass(item.category, UserWarning)]
            if not getattr(result, "complete", True):
                raise ConvergenceError("it was interrupted before its end", result)
    except (PliantError, NotImplementedError) as error:
        if is_reference:
            raise
        return ComparisonRow(entry.label, note=_one_line(error)), None
    shortest = min(seconds[1:] or seconds)
    return _row(entry, result, shortest, "; ".join(notes), is_reference), result


def _row(entry: Entry, result: Any, seconds: float, note: str, is_reference: bool) -> ComparisonRow:
    return ComparisonRow(
        entry.label,
        formulation=dict(result.formulation),
        integrator=getattr(result, "integrator", None),
        theory=dict(getattr(result, "theory", {})),
        unknowns=int(result.unknowns),
        seconds=seconds,
        iterations=int(result.iterations),
        note=note,
        is_reference=is_reference,
        rotary=dict(getattr(result, "rotary", {})) if hasattr(result, "t") else {},
    )


def _measured(
    robot: Robot, moving: bool, rows: list[ComparisonRow], results: dict[str, Any], sections: int
) -> Comparison:
    """Return the comparison, with the errors of every result against the first."""
    lengths = {name: rod.length for name, rod in robot.description.rods.items()}
    places = {name: np.linspace(0.0, length, sections) for name, length in lengths.items()}
    truth = results[rows[0].method]
    t = np.asarray(truth.t, dtype=float) if moving else None
    poses: dict[str, dict[str, Array]] = {}
    done = []
    for row in rows:
        if row.method in results:
            found = results[row.method]
            why = _misfit(found, t, lengths)
            if not why:
                sampled = {rod: np.asarray(found.pose(rod, s)) for rod, s in places.items()}
                finite = all(np.isfinite(g).all() for g in sampled.values())
                why = "" if finite else "its poses are not finite"
            if why:
                row = ComparisonRow(row.method, note=why)
            else:
                poses[row.method] = sampled
        done.append(row)
    if rows[0].method not in poses:
        raise DescriptionError(
            "compare", "reference", truth, f"a result to compare with ({done[0].note})",
            "give a formulation or a result of this robot",
        )  # fmt: skip
    outlines = {
        name: np.stack(rod.section.outline(places[name], rod.length), axis=-1)
        for name, rod in robot.description.rods.items()
    }
    kept = {name: results[name] for name in poses}
    return Comparison(done, kept, poses, places, outlines, t)


def _misfit(found: Any, t: Array | None, lengths: Mapping[str, float]) -> str:
    """Why a result cannot be laid over the reference, or nothing."""
    if set(found.rods) != set(lengths):
        return f"it has the rods {', '.join(found.rods)}, not {', '.join(lengths)}"
    if t is None:
        return "" if not hasattr(found, "t") else "it is a motion, the others are equilibria"
    if not hasattr(found, "t"):
        return "it is an equilibrium, the others are motions"
    if len(found.t) != len(t) or np.abs(found.t - t).max() > _SAME_TIME * max(t[-1], 1.0):
        return "its output times are not those of the reference"
    return ""


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


# -- arguments -------------------------------------------------------------------------------


def _check_robot(robot: object) -> None:
    if not isinstance(robot, Robot):
        raise DescriptionError("compare", "robot", robot, "a Robot", "give what pl.Robot() made")


def _task(
    robot: Robot,
    inputs: Mapping[str, Any] | None,
    tolerance: float,
    duration: float | None,
    dt: float | None,
    integrator: Any,
    start: str,
    velocity: Mapping[str, Any] | None,
    output_times: ArrayLike | None,
) -> _Task:
    if duration is None:
        for name, value in (("dt", dt), ("output_times", output_times), ("velocity", velocity)):
            if value is not None:
                raise DescriptionError(
                    "compare", name, value, "left out where no duration is given",
                    "give duration=... to compare motions",
                )  # fmt: skip
    else:
        positive("compare", "duration", duration, "seconds", "give e.g. 1.0")
        if dt is None:
            raise DescriptionError(
                "compare", "dt", dt, "a step in seconds where a duration is given", "give dt=0.01"
            )
        positive("compare", "dt", dt, "seconds", "give e.g. 0.01")
        choice("compare", "start", start, ("rest", "statics"))
    times = None if output_times is None else np.asarray(output_times, dtype=float)
    return _Task(robot, inputs, tolerance, duration, dt, integrator, start, velocity, times)


def _refuse_integrators(entries: list[Entry]) -> None:
    for entry in entries:
        if entry.integrator is not None or entry.dt is not None:
            raise DescriptionError(
                "compare",
                "formulations",
                entry.label,
                "without integrator and dt where no duration is given",
                "give duration=... and dt=... to compare motions",
            )


def _whole(field: str, value: object, least: int) -> int:
    found = whole_number(value)
    if found is None or found < least:
        raise DescriptionError(
            "compare", field, value, f"a whole number of at least {least}", f"give e.g. {least}"
        )
    return found


def _steps(duration: float, dt: float) -> int:
    return max(1, int(np.ceil(duration / dt - 1e-6)))
