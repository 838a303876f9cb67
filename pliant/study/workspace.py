"""Where a robot can bring one of its places: a map of all that some inputs reach."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
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
    values_at,
)
from pliant.model.telling import untold
from pliant.physics.effects import Inputs
from pliant.results.equilibrium import Equilibrium
from pliant.results.responses import frame_of
from pliant.results.workspace import Workspace
from pliant.robot import Robot
from pliant.solve.coordinates import CoordinateProblem
from pliant.solve.load_steps import StaticSolver
from pliant.solve.schedule import check_values
from pliant.solve.static_march import StaticMarch
from pliant.solve.statics import StaticSolution
from pliant.study.parallel import cores
from pliant.study.task import check_robot

_MOST = 200_000
"""Equilibria of one map."""
_SHORT = 50
"""Equilibria that are not worth a thread."""


def workspace(
    robot: Robot,
    inputs: Mapping[str, Any],
    of: str | Frame,
    samples: int | None = None,
    values: Mapping[str, Any] | None = None,
    formulation: Any = None,
    seed: int = 0,
    workers: int | None = None,
) -> Workspace:
    """Return the poses that a place takes while some inputs vary.

    robot : the robot.  of : the place, such as "arm.tip", or a Frame.
    inputs : by name, the values (K,) that each takes; all combinations are solved.
    samples : instead of all combinations, this many, spread evenly between the least and the largest
        value of each input by a low-discrepancy sequence.
    values : of other inputs, by name.  formulation : as for `Robot.statics`.  seed : of the samples.
    workers : number of threads; None for the number of cores.

    Every equilibrium is sought from its neighbour on a way through all of them, so that each lies on a
    branch that leads there. Each thread takes a part of the way, which begins at the unloaded robot.
    Combinations without an equilibrium are counted in ``failed``.
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
    rows = [dict(zip(ranges, row.tolist(), strict=True)) for row in table]
    chosen = [{**(values or {}), **row} for row in rows]
    threads = (
        cores() if workers is None else count("workspace", "workers", workers, 1, "give e.g. 2")
    )
    chunks = _Chunk.cut(robot, chosen, formulation, frame, threads)
    with ThreadPoolExecutor(len(chunks), "pliant-workspace") as pool:
        list(pool.map(_Chunk.solve, chunks))
    poses = np.concatenate([chunk.poses for chunk in chunks])
    stable = [known for chunk in chunks for known in chunk.stable]
    last = next((chunk.last for chunk in chunks[::-1] if chunk.last is not None), None)
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


class _Chunk:
    """Neighbouring equilibria that one thread solves: inputs by name, poses (N, 4, 4) of a frame, NaN
    without an equilibrium, and whether each is stable.
    """

    def __init__(
        self, robot: Robot, values: list[dict[str, Any]], formulation: Any, frame: Frame
    ) -> None:
        self.robot, self.values, self.formulation, self.frame = robot, values, formulation, frame
        self.poses = np.full((len(values), 4, 4), np.nan)
        self.stable: list[bool | None] = [None] * len(values)
        self.last: Equilibrium | None = None

    @staticmethod
    def cut(
        robot: Robot, values: list[dict[str, Any]], formulation: Any, frame: Frame, threads: int
    ) -> list[_Chunk]:
        """Chunks of some length for several threads, with copies of the robot for all but the first."""
        pieces = max(1, min(threads, len(values) // _SHORT))
        edges = np.linspace(0, len(values), pieces + 1).astype(int)
        return [
            _Chunk(
                robot if k == 0 else Robot._from(robot.description, robot.inputs),
                values[edges[k] : edges[k + 1]], formulation, frame,
            )
            for k in range(pieces)
        ]  # fmt: skip

    def solve(self) -> None:
        """Solve one by one until compiled calls can go on from there, and where those end."""
        march: tuple[StaticMarch, CoordinateProblem] | None = None
        at, tried = 0, False
        while at < len(self.values):
            with untold():
                found = _solve(self.robot, self.values[at], self.formulation, self.last)
            if found is not None:
                self.last, self.poses[at] = found, found.pose(self.frame)
                self.stable[at] = _told_by_pivots(found)
            at += 1
            if found is None or at == len(self.values):
                continue
            if not tried:
                march, tried = self._march(found), True
            if march is not None:
                at = self._go(*march, found, at)

    def _march(self, first: Equilibrium) -> tuple[StaticMarch, CoordinateProblem] | None:
        """What solves for many inputs at once, None where that is not possible."""
        problem = first._compiled
        settled = self.robot.description.settled_inputs()
        moves = any(name in settled for name in self.values[0])
        if not isinstance(problem, CoordinateProblem) or moves:
            return None
        table = self._table(problem)
        if table is None:
            return None
        drive = problem.effects.at(first.inputs).drive
        march = StaticMarch(StaticSolver(problem.effects), table, drive)
        return (march, problem) if march.possible else None

    def _table(self, problem: CoordinateProblem) -> Array | None:
        """Numbers (N, J) of the inputs, each value turned into numbers once; None for driven joints."""
        effects, first = problem.effects, self.values[0]
        known = values_at(self.robot.inputs, 0.0)
        base = effects.at(check_values(problem.description, {**known, **first}))
        table = np.tile(base.u, (len(self.values), 1))
        for name in first:
            own = [np.arange(effects.inputs)[x.at] for x in effects.terms if x.input == name]
            columns = np.concatenate([np.zeros(0, dtype=int), *own])
            rows = [row[name] for row in self.values]
            for value in dict.fromkeys(rows):
                one = check_values(problem.description, {**known, **first, name: value})
                inputs = effects.at(one)
                if not np.array_equal(inputs.drive, base.drive):
                    return None
                at = np.flatnonzero([other == value for other in rows])
                table[np.ix_(at, columns)] = inputs.u[columns]
        return table

    def _go(
        self, march: StaticMarch, problem: CoordinateProblem, start: Equilibrium, at: int
    ) -> int:
        """March on from an equilibrium; returns the first place that was not reached."""
        end = march.go(start._solution, at)
        if end > at:
            self.poses[at:end] = problem.sampler.frame_along(march.q[at:end], self.frame)
            negative = march.negative(start._solution)
            self.stable[at:end] = [None if negative is None else negative == 0] * (end - at)
            self.last = self._equilibrium(march, problem, end - 1, negative)
        return end

    def _equilibrium(
        self, march: StaticMarch, problem: CoordinateProblem, k: int, negative: int | None
    ) -> Equilibrium:
        """A solution of the march as a result."""
        known = values_at(self.robot.inputs, 0.0)
        values = check_values(problem.description, {**known, **self.values[k]})
        inputs = Inputs(march.table[k], march.drive)
        solution = StaticSolution(march.q[k].copy(), march.z[k].copy(), inputs, negative=negative)
        return Equilibrium(problem, solution, [(1.0, values)], 0.0)


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
