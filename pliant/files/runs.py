"""What a robot file asks to compute: statics, simulate, modes, follow, reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pliant.files.starts import ArraysByPart, StartShape, start_problems
from pliant.model import (
    Described,
    Description,
    DescriptionError,
    Kind,
    Number,
    Place,
    Reader,
    Schema,
    Setting,
    Whole,
    Writer,
    did_you_mean,
    holds,
    quantity,
)
from pliant.model.checks import ACCURACIES, accuracy
from pliant.model.fields import NUMBER, Flag, Several, Text
from pliant.model.place_names import find_place


class Run(Described):
    """One thing to compute."""

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it for a robot."""
        return iter(())


@dataclass(frozen=True)
class Accuracy(Kind):
    """An accuracy relative to the length."""

    def check(self, part: str, field: str, value: Any) -> float:
        return accuracy(part, field, value)

    def schema(self, defs: Schema) -> Schema:
        least, most = ACCURACIES
        return {**NUMBER, "minimum": least, "maximum": most}


def _accuracy(meaning: str) -> Any:
    return holds(Accuracy(meaning, "relative to the length", "1e-4"), None)


@dataclass(frozen=True)
class StaticsRun(Run):
    """Find the equilibrium, with the inputs as they are at time 0.

    accuracy : relative to the longest rod, by which the mesh is refined; None to leave it as it is.
    """

    accuracy: float | None = _accuracy("largest estimated error; the mesh is refined for it")


@dataclass(frozen=True)
class SimulateRun(Run):
    """Move in time from t = 0.

    duration, dt : seconds.  start : "rest", "statics", or points along rods.  integrator : the
    object built from the file, or None for the default.  output_every : seconds between stored
    states, None for each step.  error : whether to estimate the error of the motion.
    joints, velocity : by part, as for `Robot.simulate`.  accuracy : relative to the longest rod;
    mesh, integrator and step are chosen for it where they are not given; 1e-3 if dt is not.
    """

    duration: float = quantity("seconds", sign="positive", example="2.0")
    dt: float | None = quantity(
        "seconds",
        "time step; left out, it is chosen for the accuracy",
        default=None,
        sign="positive",
        example="0.01",
    )
    start: Any = holds(
        StartShape("rest: the undeformed robot; statics: its equilibrium; or points by rod"), "rest"
    )
    integrator: Any = holds(Setting(family="integrator"), None)
    output_every: float | None = quantity(
        "seconds",
        "time between stored states, each step if left out",
        default=None,
        sign="positive",
        example="0.01",
    )
    error: bool = holds(Flag("true estimates the error by coarser motions"), False)
    joints: Any = holds(ArraysByPart("where joints start instead", "rad, m, or poses"), None)
    velocity: Any = holds(
        ArraysByPart("twists (w, v) or rates of joints at the start", "rad/s, m/s", "{hand: 1.5}"),
        None,
    )

    accuracy: float | None = _accuracy("largest estimated error, 1e-3 if there is no dt")

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what does not fit the robot about where it starts."""
        yield from start_problems(description, self.start, self.joints or {}, self.velocity or {})

    def check(self) -> None:
        """Refuse steps that do not fit into the duration or between the stored states."""
        searched = self.dt is None or self.accuracy is not None
        estimated = "false, for a motion with an accuracy or without dt has its error anyway"
        self.refuse(self.error and searched, "error", estimated, "leave it out")
        step, every = self.dt or 0.0, self.output_every
        most = f"at most the duration {self.duration:g} s"
        self.refuse(step > self.duration, "dt", most, "take a smaller dt")
        self.refuse(
            every is not None and every < step * (1 - 1e-9),
            "output_every",
            f"at least the time step {step:g} s",
            "leave it out to store every step",
        )


@dataclass(frozen=True)
class ModesRun(Run):
    """Compute ``count`` natural frequencies and shapes.

    accuracy : of every frequency, by which the mesh is refined; None to leave it as it is.
    """

    count: int = holds(Whole("number of modes", example="6", least=1), 6)
    accuracy: float | None = _accuracy("of every frequency; the mesh is refined for it")


def _unknown_input(run: str, field: str, name: str, description: Description) -> DescriptionError:
    known = description.inputs()
    expected = "the name of an input of this robot"
    return DescriptionError(run, field, name, expected, did_you_mean(name, known))


@dataclass(frozen=True)
class FollowRun(Run):
    """Follow equilibria while one input changes, through folds.

    input : its name.  start, stop : its values.  points : least number of steps.
    """

    input: str = holds(Text("input that changes", example="push"))
    start: float = quantity("", "first value of the input", example="0.0")
    stop: float = quantity("", "last value of the input", example="1.0")
    points: int = holds(Whole("steps at least", example="50", least=2), 50)

    def check(self) -> None:
        """Refuse a way of no length."""
        self.refuse(self.start == self.stop, "stop", "another value than start", "give another one")

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield that there is no such input."""
        if self.input not in description.inputs():
            yield _unknown_input("follow", "input", self.input, description)


@dataclass(frozen=True)
class Targets(Kind):
    """Positions by place, null for coordinates that do not matter."""

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        if not isinstance(given, dict) or not given:
            raise DescriptionError("", "", given, "positions by place", self.remedy)
        return {
            str(place): tuple(
                None if x is None else reader.value(Number(), (*path, place, k), x)
                for k, x in enumerate(self._three(place, position))
            )
            for place, position in given.items()
        }

    def _three(self, place: Any, position: Any) -> list[Any]:
        if not isinstance(position, list) or len(position) != 3:
            expected = "three numbers in metres, or null for those that do not matter"
            raise DescriptionError("", str(place), position, expected, self.remedy)
        return position

    @property
    def remedy(self) -> str:
        return "give e.g. {arm.tip: [0.2, null, 0.1]}"

    def write(self, writer: Writer, value: Any) -> Any:
        return {place: list(position) for place, position in value.items()}

    def schema(self, defs: Schema) -> Schema:
        entry = {"anyOf": [Number().schema(defs), {"type": "null"}]}
        item = {"type": "array", "items": entry, "minItems": 3, "maxItems": 3}
        return {"type": "object", "additionalProperties": item, "minProperties": 1}


@dataclass(frozen=True)
class ReachRun(Run):
    """Find inputs that bring places to targets.

    targets : positions (3,) by place, metres.  inputs : names of those that are sought, None for
    all.  least, most : bounds of these inputs.
    """

    targets: dict[str, Any] = holds(
        Targets("positions by place", example="{arm.tip: [0.2, null, 0.1]}")
    )
    inputs: tuple[str, ...] | None = holds(
        Several("inputs that are sought, all if left out", example="[left, right]", item=Text()),
        None,
    )
    least: float | None = quantity("", "lowest value of the inputs", default=None, example="0.0")
    most: float | None = quantity("", "highest value of the inputs", default=None, example="5.0")

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield that there are no such places or inputs."""
        lengths = {name: rod.length for name, rod in description.rods.items()}
        solids = list(description.bodies)
        for place in self.targets:
            if find_place(place, lengths, solids) is None:
                expected = "a place of this robot"
                remedy = did_you_mean(place, [*(f"{rod}.tip" for rod in lengths), *solids])
                yield DescriptionError("reach", f"targets.{place}", place, expected, remedy)
        for name in self.inputs or ():
            if name not in description.inputs():
                yield _unknown_input("reach", "inputs", name, description)


RUNS: dict[str, type[Run]] = {
    "statics": StaticsRun,
    "simulate": SimulateRun,
    "modes": ModesRun,
    "follow": FollowRun,
    "reach": ReachRun,
}
