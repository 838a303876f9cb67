"""Muscles along paths: forces that depend on length, rate and activation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import refuse
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import Kind, Writer, holds, quantity
from pliant.model.plausible import pull_doubts
from pliant.model.registry import Effect
from pliant.model.via_points import ViaPoint, ViaPoints, points_of

if TYPE_CHECKING:
    from pliant.model.description import Description

Law = Callable[[float, float, float], float]


@dataclass(frozen=True)
class ForceLaw(Kind):
    """A function of length, rate and activation; robot files cannot hold one."""

    listed: ClassVar[bool] = False

    def check(self, part: str, field: str, value: Any) -> Any:
        expected = "a function of length (m), rate (m/s) and activation that returns a force (N)"
        remedy = "give e.g. lambda length, rate, a: 10 * a"
        refuse(not callable(value), part, field, value, expected, remedy)
        return value

    def write(self, writer: Writer, value: Any) -> Any:
        writer.refuse(value, "left out, for files hold no functions", "give a strength")


@dataclass(frozen=True, eq=False)
class Muscle(Effect):
    """A muscle along a path through via-points; its name is an input, the activation from 0 to 1.

    Without a law of your own its force is that of a Hill muscle, with L the length of the path, V its
    rate and a the activation,

        F = strength (a f(L / optimum) g(V / speed) + passive max(L / optimum - 1, 0)^2),
        f(x) = exp(-((x - 1) / width)^2),
        g(v) = (1 + v) / (1 - 4 v) for -1 < v < 0, 0 below, 1 + 0.5 v / (v + 0.1) above.

    name : unique in the robot.
    path : two points or more, as of a tendon.
    strength : largest isometric force, N.
    optimum : length of that force, metres; None for the length at rest.
    width : of the force over the length, relative to ``optimum``.
    speed : rate of shortening at which it has no force, m/s.
    passive : what the unstimulated muscle carries, relative to ``strength``.
    law : instead of all these, a function (length, rate, activation) that returns a force, N.
    """

    path: tuple[ViaPoint, ...] = holds(ViaPoints())
    strength: float = quantity("N", "largest force", sign="zero", default=0.0, example="10.0")
    optimum: float | None = quantity("metres", sign="positive", default=None, example="0.1")
    width: float = quantity("", "relative to the optimum", sign="positive", default=0.5)
    speed: float = quantity("m/s", "of shortening without force", sign="positive", default=1.0)
    passive: float = quantity("", "relative to the strength", sign="zero", default=1.0)
    law: Law | None = holds(ForceLaw("your own"), None)

    heading: ClassVar[str] = "muscles"
    place: ClassVar[int] = 10
    input_expected: ClassVar[str] = "one number from 0 to 1, the activation"
    input_remedy: ClassVar[str] = "give e.g. 0.5"
    tells: ClassVar[Mapping[str, str]] = {"tension": "N", "length": "m"}

    def check(self) -> None:
        """Refuse a muscle without force, or with two laws."""
        expected = "positive, or left out where a law is given"
        wrong = (self.strength > 0.0) == (self.law is not None)
        self.refuse(wrong, "strength", expected, "give e.g. strength=10.0")

    def inputs(self) -> dict[str, float]:
        """Return its name with no activation."""
        return {self.name: 0.0}

    def check_input(self, part: str, field: str, value: Any) -> None:
        """Refuse activations outside of 0 to 1."""
        wrong = bool(np.any(np.asarray(value) < 0.0) or np.any(np.asarray(value) > 1.0))
        refuse(wrong, part, field, value, self.input_expected, self.input_remedy)

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its strength."""
        yield from pull_doubts(self.label, self.path, self.strength, description.rods)

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return its line."""
        return [Line(self.name, points_of(self.path, at))]
