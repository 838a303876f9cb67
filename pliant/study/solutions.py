"""Solutions of one robot at several resolutions: formulations with any number of intervals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.model import Array, ConvergenceError
from pliant.results.export import settings_text
from pliant.results.studies import ResolutionRow
from pliant.rods.contract import RodModel
from pliant.study.task import Task, recorded_warnings


@dataclass(frozen=True)
class Refinement:
    """The formulations of all rods, with any number of intervals.

    formulations : by rod name.  least : by rod name, the size (number of elements, points, ...) that
    gives one interval. Each increment of the size adds one interval, also in a spline of any degree.
    """

    formulations: Mapping[str, RodModel]
    least: Mapping[str, int]

    @classmethod
    def of(cls, formulations: Mapping[str, RodModel]) -> Refinement:
        """Find the smallest sizes; refuse formulations that cannot be refined."""
        return cls(formulations, {rod: item.least_size(rod) for rod, item in formulations.items()})

    def at(self, intervals: int) -> Any:
        """The formulation with this many intervals: one for all rods if they share it, else by rod."""
        sized = {
            rod: item.with_size(self.least[rod] + intervals - 1)
            for rod, item in self.formulations.items()
        }
        first = next(iter(sized.values()))
        return first if all(item == first for item in sized.values()) else sized

    def text(self, intervals: int) -> str:
        """The formulation of `at` as Python code."""
        sized = self.at(intervals)
        if not isinstance(sized, Mapping):
            return _shown(sized)
        return ", ".join(f"{rod}: {_shown(item)}" for rod, item in sized.items())


def _shown(item: RodModel) -> str:
    """The size first, then other settings that are not at their defaults."""
    kind = type(item).__name__
    others = re.sub(rf"\b{item.size}=\w+(, )?", "", settings_text(item)[len(kind) + 1 : -1])
    own = f"{item.size}={getattr(item, str(item.size))!r}"
    return f"{kind}({', '.join(filter(None, (own, others.removesuffix(', '))))})"


Progress = Callable[[str, int], object]
"""Called with the text of the next solution and its number from 0."""

MOST_TIMES = 200
"""Largest number of times at which motions are compared."""


@dataclass(eq=False)
class Solution:
    """One solution, with section positions ([T,] S, 3) by rod, relative to the rod's length."""

    intervals: int
    halvings: int
    row: ResolutionRow
    result: Any = None
    positions: dict[str, Array] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def solved(self) -> bool:
        """Whether it converged."""
        return self.result is not None

    @property
    def text(self) -> str:
        """Formulation and step."""
        row = self.row
        return row.method if row.dt is None else f"{row.method}, dt = {row.dt:.4g} s"


class Solutions:
    """Solutions by number of intervals and number of halvings of the step, computed on demand.

    steps : of the coarsest motion.  sections : of each rod, compared.
    """

    def __init__(
        self,
        task: Task,
        refinement: Refinement,
        steps: int,
        sections: int,
        progress: Progress | None,
    ) -> None:
        self.task = task
        self.refinement = refinement
        self.steps = steps
        self.progress = progress
        self._known: dict[tuple[int, int], Solution] = {}
        self._sections = task.robot.description.stations(sections)

    @property
    def all(self) -> list[Solution]:
        """All solutions, in the order they were computed."""
        return list(self._known.values())

    def step(self, halvings: int) -> float | None:
        """The time step after this many halvings, s; None for an equilibrium."""
        duration = self.task.duration
        return None if duration is None else duration / (self.steps * 2**halvings)

    def get(self, intervals: int, halvings: int) -> Solution:
        """Return the solution at this resolution; it may have failed."""
        key = (intervals, halvings)
        if key not in self._known:
            self._known[key] = self._solve(*key)
        return self._known[key]

    def distance(self, one: Solution, other: Solution) -> float:
        """The largest distance over rods, sections and times, relative to the length."""
        gaps = [one.positions[rod] - other.positions[rod] for rod in self._sections]
        return max(float(np.linalg.norm(gap, axis=-1).max()) for gap in gaps)

    def _solve(self, intervals: int, halvings: int) -> Solution:
        dt, text = self.step(halvings), self.refinement.text(intervals)
        solution = Solution(intervals, halvings, ResolutionRow(text, intervals, dt))
        if self.progress is not None:
            self.progress(solution.text, len(self._known))
        try:
            with recorded_warnings() as solution.warnings:
                if not self._known:
                    # the first call may compile kernels, which must not count
                    self._result(intervals, halvings, 1)
                result = self._result(intervals, halvings, self.steps)
        except ConvergenceError as error:
            solution.row = replace(solution.row, note=" ".join(str(error).split()))
            return solution
        solution.positions = {
            rod: np.asarray(result.position(rod, s)) / s[-1] for rod, s in self._sections.items()
        }
        if not all(np.isfinite(positions).all() for positions in solution.positions.values()):
            solution.row = replace(solution.row, note="its positions are not finite")
            return solution
        solution.result, unknowns = result, int(result.unknowns)
        solution.row = replace(solution.row, unknowns=unknowns, seconds=float(result.seconds))
        return solution

    def _result(self, intervals: int, halvings: int, steps: int) -> Any:
        """Return the equilibrium, or the motion over the first of the coarsest steps."""
        formulation, first = self.refinement.at(intervals), self.step(0)
        if first is None:
            return self.task.solve(formulation)
        every = max(1, -(-steps // MOST_TIMES))
        times = first * np.unique(np.append(np.arange(0, steps + 1, every), steps))
        dt, duration = self.step(halvings), float(times[-1])
        result = self.task.solve(formulation, dt, times=times, duration=duration)
        if not result.complete:
            raise KeyboardInterrupt
        return result
