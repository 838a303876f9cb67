"""The problem that a study solves several times: one robot, in equilibrium or in motion."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from pliant.model import ResolutionHint, choice, instance, positive, refuse, values_at
from pliant.robot import Robot


@dataclass(frozen=True)
class Task:
    """An equilibrium, or a motion if there is a duration.

    study : the function that was called, for messages.  inputs, velocity, tolerance : as for
    `Robot.statics` and `Robot.simulate`.  duration : s.  integrator : the default one.
    start : "rest", "statics", or inputs by name whose equilibrium the motion starts from.
    """

    study: str
    robot: Robot
    inputs: Mapping[str, Any] | None
    duration: float | None
    integrator: Any = None
    start: str | Mapping[str, Any] = "rest"
    velocity: Mapping[str, Any] | None = None
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        check_robot(self.study, self.robot)
        if not isinstance(self.start, Mapping):
            choice(self.study, "start", self.start, ("rest", "statics"))
        if self.duration is not None:
            positive(self.study, "duration", self.duration, "seconds", "give e.g. 1.0")
        self.needs_duration(velocity=self.velocity)
        self.needs_duration(start=None if self.start == "rest" else self.start)

    def needs_duration(self, **given: object) -> None:
        """Refuse arguments of motions that are given for an equilibrium."""
        for name, value in given.items():
            refuse(
                value is not None and self.duration is None,
                self.study,
                name,
                value,
                "left out where no duration is given",
                "give duration=... for a motion",
            )

    def solve(
        self,
        formulation: Any,
        dt: float | None = None,
        integrator: Any = None,
        times: ArrayLike | None = None,
        duration: float | None = None,
    ) -> Any:
        """Return the result with a formulation, and for a motion with a step dt, s.

        times : (T,) output times, s.  duration : s, if not all of the motion is wanted.
        """
        if self.duration is None:
            return self.robot.statics(self.inputs, formulation, tolerance=self.tolerance)
        assert dt is not None
        start: Any = self.start
        if isinstance(start, Mapping):
            values = {**values_at(self.inputs or {}, 0.0), **start}
            start = self.robot.statics(values, formulation, tolerance=self.tolerance)
        return self.robot.simulate(
            self.duration if duration is None else duration,
            dt,
            inputs=self.inputs,
            start=start,
            velocity=self.velocity,
            formulation=formulation,
            integrator=self.integrator if integrator is None else integrator,
            output_times=times,
        )


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """Yield a list that holds the texts of all user warnings at the end of the block.

    Hints at a low resolution are left out: studies compare resolutions themselves.
    """
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    told = [item for item in caught if not issubclass(item.category, ResolutionHint)]
    texts += [str(item.message) for item in told if issubclass(item.category, UserWarning)]


def check_robot(study: str, robot: object, field: str = "robot") -> None:
    """Refuse anything but a Robot."""
    instance(study, field, robot, Robot, "a Robot", "give what pl.Robot() made")
