"""One robot solved with several formulations and integrators, each compared with a reference."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import (
    Array,
    ConvergenceError,
    DescriptionError,
    PliantError,
    count,
    positive,
    refuse,
)
from pliant.model.progress import told
from pliant.results.export import settings_text
from pliant.results.studies import Comparison, ComparisonRow
from pliant.robot import Robot
from pliant.solve.integrators.contract import Integrator
from pliant.study.task import Task, recorded_warnings

Progress = Callable[[str, int, int], object]
"""Called with the label of the next method, its number from 0, and the number of methods."""

_SAME_TIME = 1e-9


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
    progress: bool | Progress | None = None,
) -> Comparison:
    """Solve one robot with several methods and compare each result with a reference.

    robot : a Robot.
    formulations : a list of methods, or a dict by label. A method is a formulation, a dict of
        formulations by rod name, a pair (formulation, integrator), a triple (formulation,
        integrator, dt), or a result. None is the default formulation.
    reference : a method too, with which the others are compared. None takes the first one.
    inputs : as for `Robot.statics`, or as for `Robot.simulate` if there is a duration.
    duration, dt : seconds, for motions; without them equilibria are compared.
    integrator : for methods that name none.  start, velocity, output_times : as for
        `Robot.simulate`; motions are compared at the output times, by default at every dt.
    sections : number of evenly spaced sections of each rod to compare, ends included.
    repeat : how often each method is solved. The reported time is the shortest after the first,
        which may compile kernels.  tolerance : as for `Robot.statics`.
    progress : True for a bar with the remaining time; or a function, called with the label of the next
        method, its number and the number of methods.

    A method that fails becomes a row that says why. Only a failing reference raises an error.
    """
    task = Task("compare", robot, inputs, duration, integrator, start, velocity, tolerance)
    task.needs_duration(dt=dt, output_times=output_times)
    if duration is not None:
        expected = "a step in seconds where a duration is given"
        refuse(dt is None, "compare", "dt", dt, expected, "give dt=0.01")
        positive("compare", "dt", dt, "seconds", "give e.g. 0.01")
    number = count("compare", "sections", sections, 2)
    repeats = count("compare", "repeat", repeat, 1)
    methods = read_methods(formulations)
    truth = methods[0] if reference is None else read_method("reference", reference, None)
    if duration is None:
        _refuse_integrators([truth, *methods])
    truth = next((method for method in methods if method.same(truth)), truth)
    every = [truth, *(method for method in methods if method is not truth)]
    rows, results = [], {}
    with told(progress, "compare", lambda label, k, n: (k / n, label), True) as report:
        for k, method in enumerate(with_unique_labels(every)):
            if report is not None:
                report(method.label, k, len(every))
            row, result = _solve(task, method, dt, output_times, repeats, k == 0)
            rows.append(row)
            if result is not None:
                results[method.label] = result
    return _compared(robot, duration is not None, rows, results, number)


def _solve(
    task: Task,
    method: Method,
    dt: float | None,
    output_times: ArrayLike | None,
    repeats: int,
    is_reference: bool,
) -> tuple[ComparisonRow, Any | None]:
    """Return the row of one method, errors still missing, and its result."""
    if method.result is not None:
        result, seconds = method.result, float(method.result.seconds)
        return _row(method, result, seconds, "", is_reference), result
    if output_times is None and method.dt not in (None, dt):
        assert task.duration is not None and dt is not None
        steps = max(1, int(np.ceil(task.duration / dt - 1e-6)))
        output_times = np.linspace(0.0, task.duration, steps + 1)
    times: list[float] = []
    try:
        for _ in range(repeats):
            with recorded_warnings() as notes:
                began = time.perf_counter()
                step = dt if method.dt is None else method.dt
                result = task.solve(method.formulation, step, method.integrator, output_times)
                times.append(time.perf_counter() - began)
            if not getattr(result, "complete", True):
                raise ConvergenceError("it was interrupted before its end", result)
    except (PliantError, NotImplementedError) as error:
        if is_reference:
            raise
        note = " ".join(str(error).split()) or type(error).__name__
        return ComparisonRow(method.label, note=note), None
    shortest = min(times[1:] or times)
    return _row(method, result, shortest, "; ".join(notes), is_reference), result


def _row(
    method: Method, result: Any, seconds: float, note: str, is_reference: bool
) -> ComparisonRow:
    return ComparisonRow(
        method.label,
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


def _compared(
    robot: Robot, moving: bool, rows: list[ComparisonRow], results: dict[str, Any], sections: int
) -> Comparison:
    """Return the comparison of all results with the first."""
    rods = robot.description.rods
    places = robot.description.stations(sections)
    truth = results[rows[0].method]
    t = np.asarray(truth.t, dtype=float) if moving else None
    poses: dict[str, dict[str, Array]] = {}
    reasons = {name: _mismatch(result, t, list(rods)) for name, result in results.items()}
    for name, result in results.items():
        if not reasons[name]:
            poses[name] = {rod: np.asarray(result.pose(rod, s)) for rod, s in places.items()}
            if not all(np.isfinite(g).all() for g in poses[name].values()):
                reasons[name] = "its poses are not finite"
                del poses[name]
    if rows[0].method not in poses:
        raise DescriptionError(
            "compare", "reference", truth,
            f"a result to compare with ({reasons[rows[0].method]})",
            "give a formulation or a result of this robot",
        )  # fmt: skip
    rows = [
        ComparisonRow(row.method, note=reasons[row.method]) if reasons.get(row.method) else row
        for row in rows
    ]
    outlines = {name: rods[name].outline(s) for name, s in places.items()}
    kept = {name: results[name] for name in poses}
    return Comparison(rows, kept, poses, places, outlines, t)


def _mismatch(result: Any, t: Array | None, rods: list[str]) -> str:
    """Why a result cannot be compared with the reference; "" if it can."""
    if set(result.rods) != set(rods):
        return f"it has the rods {', '.join(result.rods)}, not {', '.join(rods)}"
    kinds = {True: ("a motion", "motions"), False: ("an equilibrium", "equilibria")}
    moves, moving = hasattr(result, "t"), t is not None
    if moves != moving:
        return f"it is {kinds[moves][0]}, the others are {kinds[moving][1]}"
    if t is None or (
        len(result.t) == len(t) and np.abs(result.t - t).max() <= _SAME_TIME * max(t[-1], 1.0)
    ):
        return ""
    return "its output times are not those of the reference"


def _refuse_integrators(methods: list[Method]) -> None:
    for method in methods:
        refuse(
            method.integrator is not None or method.dt is not None,
            "compare",
            "formulations",
            method.label,
            "without integrator and dt where no duration is given",
            "give duration=... and dt=... to compare motions",
        )


@dataclass(frozen=True)
class Method:
    """A formulation (or several by rod name), an integrator and a step; or a result."""

    label: str
    formulation: Any = None
    integrator: Any = None
    dt: float | None = None
    result: Any = None

    def same(self, other: Method) -> bool:
        """Return whether both solve a robot in the same way."""
        try:
            return self == replace(other, label=self.label)
        except (TypeError, ValueError):  # settings that are arrays
            return False


def read_methods(given: Sequence[Any] | Mapping[str, Any]) -> list[Method]:
    """Return the methods of a list, or of a dict by label."""
    methods: list[Method] = []
    if isinstance(given, Mapping):
        methods = [read_method(str(name), item, str(name)) for name, item in given.items()]
    elif isinstance(given, (list, tuple)):
        methods = [read_method(f"formulations[{k}]", item, None) for k, item in enumerate(given)]
    refuse(
        not methods,
        "compare",
        "formulations",
        given,
        "a list of one or more, or a dict by label",
        "give e.g. [BSpline(), Strain()]",
    )
    return methods


def read_method(field: str, given: Any, label: str | None) -> Method:
    """Return one method.

    field : where it was given, for messages.  label : None for one made from its settings.
    """
    if hasattr(given, "pose") and hasattr(given, "rods") and hasattr(given, "unknowns"):
        text = f"{type(given).__name__} given" if label is None else label
        return Method(text, result=given)
    parts = given if isinstance(given, tuple) else (given,)
    refuse(
        not 1 <= len(parts) <= 3,
        "compare",
        field,
        given,
        "a formulation, (formulation, integrator) or with dt as third",
        "give e.g. (BSpline(), Midpoint())",
    )
    formulation, integrator, dt = (*parts, None, None)[:3]
    refuse(
        isinstance(formulation, Integrator),
        "compare",
        field,
        given,
        "a formulation first, the integrator second",
        "give e.g. (BSpline(), Midpoint()), or (None, Midpoint()) for the default formulation",
    )
    if dt is not None:
        positive("compare", f"{field} dt", dt, "seconds", "give e.g. 0.01")
    return Method(label or _label(formulation, integrator, dt), formulation, integrator, dt)


def _label(formulation: Any, integrator: Any, dt: float | None) -> str:
    if isinstance(formulation, Mapping):
        text = ", ".join(f"{rod}: {settings_text(item)}" for rod, item in formulation.items())
    else:
        text = "default" if formulation is None else settings_text(formulation)
    text += "" if integrator is None else f", {settings_text(integrator)}"
    return text + ("" if dt is None else f", dt = {dt:g} s")


def with_unique_labels(methods: list[Method]) -> list[Method]:
    """Return the methods with equal labels numbered."""
    labels = [method.label for method in methods]
    counts = [labels[: k + 1].count(label) for k, label in enumerate(labels)]
    return [
        replace(method, label=f"{method.label} ({count})") if count > 1 else method
        for method, count in zip(methods, counts, strict=True)
    ]
