"""One robot solved at many resolutions, each once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.model import Array, ConvergenceError, DescriptionError
from pliant.model.checks import choice
from pliant.results.resolution import ResolutionRow
from pliant.robot import Robot
from pliant.study.sizes import Sizes

Progress = Callable[[str, int], object]
"""Told the text of the solution that comes next and its number from 0."""

MOST_TIMES = 200
"""Instants at which motions are compared."""


@dataclass(frozen=True)
class Question:
    """What is to be solved: an equilibrium, or a motion from `start` with `steps` steps or 2^k times
    as many.
    """

    robot: Robot
    inputs: Mapping[str, Any] | None
    duration: float | None
    steps: int
    integrator: Any
    start: str | Mapping[str, Any]
    velocity: Mapping[str, Any] | None
    sections: int
    tolerance: float

    def check(self) -> None:
        """Refuse a start that is none."""
        if not isinstance(self.start, Mapping):
            choice("resolve", "start", self.start, ("rest", "statics"))
        if self.start != "rest" and self.duration is None:
            raise DescriptionError(
                "resolve", "start", self.start, "left out where no duration is given",
                "give duration=... to resolve a motion",
            )  # fmt: skip

    def step(self, halvings: int) -> float:
        """The step after so many halvings, s."""
        assert self.duration is not None
        return self.duration / (self.steps * 2**halvings)

    def solve(self, formulation: Any, halvings: int, part: float = 1.0) -> Any:
        """Return the result; of a motion, its first part."""
        if self.duration is None:
            return self.robot.statics(self.inputs, formulation, tolerance=self.tolerance)
        start: Any = self.start
        if isinstance(start, Mapping):
            given = {k: v(0.0) if callable(v) else v for k, v in (self.inputs or {}).items()}
            start = self.robot.statics({**given, **start}, formulation, tolerance=self.tolerance)
        count = max(1, round(part * self.steps))
        every = max(1, -(-count // MOST_TIMES))
        times = self.step(0) * np.unique(np.append(np.arange(0, count + 1, every), count))
        found = self.robot.simulate(
            float(times[-1]),
            self.step(halvings),
            inputs=self.inputs,
            start=start,
            velocity=self.velocity,
            formulation=formulation,
            integrator=self.integrator,
            output_times=times,
        )
        if not found.complete:
            raise KeyboardInterrupt
        return found


@dataclass(eq=False)
class Solution:
    """One of them, with the positions (T, S, 3) of sections by rod, over the length of the rod."""

    intervals: int
    halvings: int
    row: ResolutionRow
    result: Any = None
    places: dict[str, Array] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def solved(self) -> bool:
        """Whether there is an answer."""
        return self.result is not None

    @property
    def note(self) -> str:
        """Why there is none."""
        return self.row.note

    @property
    def seconds(self) -> float:
        """Wall time."""
        return self.row.seconds or 0.0

    @property
    def text(self) -> str:
        """What it was solved with."""
        row = self.row
        return row.method if row.dt is None else f"{row.method}, dt = {row.dt:.4g} s"


class Solutions:
    """Solutions by intervals and halvings of the step, made when they are asked for."""

    def __init__(self, question: Question, sizes: Sizes, progress: Progress | None) -> None:
        self.question = question
        self.sizes = sizes
        self.progress = progress
        self._known: dict[tuple[int, int], Solution] = {}
        rods = question.robot.description.rods
        self._sections = {
            name: np.linspace(0.0, rod.length, question.sections) for name, rod in rods.items()
        }

    @property
    def all(self) -> list[Solution]:
        """All there are, in the order they were made."""
        return list(self._known.values())

    def get(self, intervals: int, halvings: int) -> Solution:
        """Return the solution of this resolution; it may have failed."""
        key = (intervals, halvings)
        if key not in self._known:
            self._known[key] = self._solve(*key)
        return self._known[key]

    def apart(self, one: Solution, other: Solution) -> float:
        """The largest distance between two over rods, sections and times, over the length."""
        gaps = [
            np.linalg.norm(one.places[rod] - other.places[rod], axis=-1).max()
            for rod in self._sections
        ]
        return float(max(gaps))

    def _solve(self, intervals: int, halvings: int) -> Solution:
        question = self.question
        moving = question.duration is not None
        dt = question.step(halvings) if moving else None
        text = self.sizes.text(intervals)
        row = ResolutionRow(text, intervals, dt)
        if self.progress is not None:
            name = text if dt is None else f"{text}, dt = {dt:.4g} s"
            self.progress(name, len(self._known))
        formulation = self.sizes.at(intervals)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                if not self._known:
                    # the first call may compile kernels, which is not time that a solution takes
                    question.solve(formulation, halvings, part=1e-9)
                result = question.solve(formulation, halvings)
        except ConvergenceError as error:
            row = ResolutionRow(text, intervals, dt, note=" ".join(str(error).split()))
            return Solution(intervals, halvings, row)
        places = {
            rod: np.asarray(result.position(rod, s)) / s[-1] for rod, s in self._sections.items()
        }
        if not all(np.isfinite(found).all() for found in places.values()):
            row = ResolutionRow(text, intervals, dt, note="its positions are not finite")
            return Solution(intervals, halvings, row)
        row = ResolutionRow(
            text, intervals, dt, int(result.unknowns), seconds=float(result.seconds)
        )
        notes = [str(item.message) for item in caught if issubclass(item.category, UserWarning)]
        return Solution(intervals, halvings, row, result, places, notes)
