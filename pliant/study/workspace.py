"""Where a robot can bring one of its places: a map of all that some inputs reach."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import qmc

from pliant.model import (
    Array,
    ConvergenceError,
    Frame,
    count,
    finite_array,
    instance,
    known_name,
    refuse,
)
from pliant.model.telling import untold
from pliant.results.equilibrium import Equilibrium
from pliant.results.responses import frame_of
from pliant.results.workspace import Workspace
from pliant.robot import Robot
from pliant.study.task import check_robot

_MOST = 200_000
"""Equilibria of one map."""


def workspace(
    robot: Robot,
    inputs: Mapping[str, Any],
    of: str | Frame,
    samples: int | None = None,
    values: Mapping[str, Any] | None = None,
    formulation: Any = None,
    seed: int = 0,
) -> Workspace:
    """Return the poses that a place takes while some inputs vary.

    robot : the robot.  of : the place, such as "arm.tip", or a Frame.
    inputs : by name, the values (K,) that each takes; all combinations are solved.
    samples : instead of all combinations, this many, spread evenly between the least and the largest
        value of each input by a low-discrepancy sequence.
    values : of other inputs, by name.  formulation : as for `Robot.statics`.  seed : of the samples.

    Every equilibrium is sought from its neighbour on a way through all of them, so that each lies on a
    branch that leads there. Combinations without an equilibrium are counted in ``failed``.
    """
    check_robot("workspace", robot)
    ranges = _ranges(robot, inputs)
    frame = frame_of(robot.description, "workspace", of)
    if samples is None:
        total = int(np.prod([len(row) for row in ranges.values()]))
        refuse(total > _MOST, "workspace", "inputs", total, f"{_MOST} combinations at most",
               "give fewer values, or samples=")  # fmt: skip
        table = grid(list(ranges.values()))
    else:
        number = count("workspace", "samples", samples, 2, "give e.g. 500")
        table = spread(list(ranges.values()), min(number, _MOST), seed)
    began = time.perf_counter()
    poses = np.full((len(table), 4, 4), np.nan)
    stable: list[bool | None] = []
    near: Equilibrium | None = None
    last = None
    for k, row in enumerate(table):
        chosen = {**(values or {}), **dict(zip(ranges, row.tolist(), strict=True))}
        with untold():
            near = _solve(robot, chosen, formulation, near)
        stable.append(None if near is None else _told_by_pivots(near))
        if near is not None:
            poses[k] = near.pose(frame)
            last = near
    solved = np.isfinite(poses[:, 0, 0])
    if last is None:
        raise ConvergenceError(
            "workspace: no combination of the inputs has an equilibrium that could be found; try "
            "smaller inputs, and robot.statics() for one of them"
        )
    columns = dict(zip(ranges, table[solved].T, strict=True))
    kept = [known for known, good in zip(stable, solved, strict=True) if good]
    name = of if isinstance(of, str) else f"{frame.part} at s = {frame.s:g} m"
    seconds = time.perf_counter() - began
    return Workspace(last, name, columns, poses[solved], kept, int((~solved).sum()), seconds)


def _ranges(robot: Robot, inputs: object) -> dict[str, Array]:
    """The values (K,) of each input."""
    expected, remedy = "a dict of values by input", "give e.g. {'pull': np.linspace(0, 5, 11)}"
    given = instance("workspace", "inputs", inputs, Mapping, expected, remedy)  # type: ignore[type-abstract]
    refuse(not given, "workspace", "inputs", inputs, expected, remedy)
    known = robot.description.inputs()
    found = {}
    for name, row in given.items():
        known_name("workspace", "inputs", name, known, "the name of an input of this robot")
        found[name] = finite_array(
            f"workspace input {name!r}",
            "values",
            row,
            "numbers (K,)",
            remedy,
            lambda x: x.ndim == 1,
        )
        refuse(not len(found[name]), "workspace", name, row, "at least one value", remedy)
    return found


def grid(columns: list[Array]) -> Array:
    """All combinations (N, n) of the values of n inputs, each a neighbour of the one before."""
    rows = np.zeros((1, 0))
    for column in columns:
        turned = [column if k % 2 == 0 else column[::-1] for k in range(len(rows))]
        rows = np.column_stack([np.repeat(rows, len(column), axis=0), np.concatenate(turned)])
    return rows


def spread(columns: list[Array], samples: int, seed: int) -> Array:
    """Even samples (N, n) between the ends of n inputs, each followed by the nearest one left."""
    low, high = (np.array([end(column) for column in columns]) for end in (np.min, np.max))
    unit = qmc.Halton(len(columns), seed=seed).random(samples)
    left = np.ones(samples, dtype=bool)
    order = [int(np.argmin(np.linalg.norm(unit, axis=1)))]
    left[order[0]] = False
    for _ in range(samples - 1):
        away = np.linalg.norm(unit - unit[order[-1]], axis=1)
        order.append(int(np.argmin(np.where(left, away, np.inf))))
        left[order[-1]] = False
    return low + unit[order] * (high - low)


def _solve(
    robot: Robot, values: dict[str, Any], formulation: Any, near: Equilibrium | None
) -> Equilibrium | None:
    """An equilibrium from its neighbour, else from the unloaded robot; None if there is none."""
    for start in (near, None) if near is not None else (None,):
        try:
            return robot.statics(values, formulation, start=start)
        except ConvergenceError:
            continue
    return None


def _told_by_pivots(still: Equilibrium) -> bool | None:
    """Whether an equilibrium is stable, where its factor tells."""
    negative = getattr(still._solution, "negative", None)
    return None if negative is None else negative == 0
