"""Fields that hold places: frames on parts, names of rods, poses in the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import (
    Array,
    DescriptionError,
    as_float,
    choice,
    instance,
    number,
    pose_matrix,
    raised,
)
from pliant.model.fields import (
    NUMBER,
    Choice,
    Kind,
    Place,
    Reader,
    Schema,
    Text,
    Vector,
    holds,
    schema_of,
)
from pliant.model.frame import AXES, Frame, along, pose

if TYPE_CHECKING:
    from pliant.model.description import Description

_EXAMPLE = "{part: arm, at: tip}"


@dataclass(frozen=True)
class _At(Kind):
    """A place along a rod: its tip, its base, or an arclength."""

    json: ClassVar[Schema] = {"anyOf": [NUMBER, {"enum": ["tip", "base"]}]}

    def check(self, part: str, field: str, value: Any) -> float | str:
        if as_float(value) is not None:
            return number(part, field, value)
        return choice(part, field, value, ("tip", "base"))


@dataclass(frozen=True)
class FrameEntry:
    """A place on a part."""

    part: str = holds(Text("name of a rod or body", example="arm"))
    at: Any = holds(_At("on a rod: tip, base, or the arclength in metres", example="tip"), None)
    offset: Any = holds(Vector("in the section or body", "metres", sizes=(2, 3)), (0.0, 0.0, 0.0))
    rotation_vector: Any = holds(Vector("in the section or body", "radians"), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class PoseEntry:
    """A pose: an axis to point along, or a position with a rotation."""

    along: Any = holds(Choice(names=tuple(AXES)), None)
    origin: Any = holds(Vector("with along: world", "metres"), None)
    position: Any = holds(Vector(unit="metres"), None)
    rotation_vector: Any = holds(Vector(unit="radians"), None)


@dataclass(frozen=True)
class OnFrame(Kind):
    """A Frame."""

    example: str = _EXAMPLE
    expected: ClassVar[str] = "a Frame"
    frame: ClassVar[str] = "arm.tip"
    """An example."""

    def check(self, part: str, field: str, value: Any) -> Any:
        return instance(part, field, value, Frame, self.expected, f"give e.g. {self.frame}")

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        entry = FrameEntry(**reader.group(path, FrameEntry, given))
        s = reader.arclength(path, entry.part, entry.at)
        return Frame(entry.part, s, entry.offset, entry.rotation_vector)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        from pliant.model.rod import check_arclength

        if not isinstance(value, Frame):
            return
        carrier, name = description.members().get(value.part), f"{field}.s"
        if value.part == part.name:
            expected = "a frame of another part"
            yield DescriptionError(part.label, field, value, expected, "choose another part")
        elif carrier is None:
            yield description.unknown(part.label, field, value.part)
        elif value.part in description.rods:
            length = description.rods[value.part].length
            yield from raised(lambda: check_arclength(part.label, name, value.s, length))
        elif value.s != 0.0:
            yield DescriptionError(
                part.label,
                name,
                value.s,
                f"left out or 0, for {carrier.label} has no arclength",
                f"take the frame from the body, e.g. {carrier.name}.at((0, 0, 0.1))",
            )

    def schema(self, defs: Schema) -> Schema:
        return schema_of(FrameEntry, defs)


@dataclass(frozen=True)
class OnRod(Kind):
    """A rod, or its name."""

    meaning: str = "name of a rod"
    example: str = "arm"
    json: ClassVar[Schema] = Text.json

    def check(self, part: str, field: str, value: Any) -> str:
        name = getattr(value, "name", value)
        return instance(part, field, name, str, "a rod or the name of a rod", "give e.g. arm")

    def read(self, reader: Reader, path: Place, given: Any) -> str:
        return reader.rod(Text().check("", "", given))

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        if value not in description.rods:
            yield description.unknown(part.label, field, value)


@dataclass(frozen=True)
class OnFrameOrRod(OnFrame):
    """A Frame, or a rod or its name for something along it."""

    expected: ClassVar[str] = "a Frame for a point load or the name of a rod for a distributed load"

    def check(self, part: str, field: str, value: Any) -> Any:
        name = getattr(value, "name", value)
        return name if isinstance(name, str) else super().check(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        if isinstance(given, dict):
            return super().read(reader, path, given)
        return OnRod().read(reader, path, given)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        kind = OnRod() if isinstance(value, str) else OnFrame()
        return kind.problems(description, part, field, value)

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [{"type": "string"}, super().schema(defs)]}


@dataclass(frozen=True)
class Base(OnFrame):
    """What carries the base of a rod: "world", a Frame of another part, None for a free rod."""

    meaning: str = "world, free, or a place on another part"
    expected: ClassVar[str] = "'world', a Frame of another part, or None for a free rod"
    frame: ClassVar[str] = "other_rod.tip"

    def check(self, part: str, field: str, value: Any) -> Any:
        fixed = value is None or (isinstance(value, str) and value == "world")
        return value if fixed else super().check(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        if isinstance(given, dict):
            return super().read(reader, path, given)
        return None if choice("", "", given, ("world", "free")) == "free" else given

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [{"enum": ["world", "free"]}, super().schema(defs)]}


@dataclass(frozen=True)
class Pose(Kind):
    """A pose (4x4) in the world or in the frame that carries a part; nothing stands for none."""

    nullable: ClassVar[bool] = True

    def check(self, part: str, field: str, value: Any) -> Array:
        return pose_matrix(part, field, np.eye(4) if value is None else value)

    def read(self, reader: Reader, path: Place, given: Any) -> Array:
        entry = reader.group(path, PoseEntry, given)
        first = [name for name in entry if name in ("along", "origin")]
        second = [name for name in entry if name not in first]
        if (first and second) or first == ["origin"] or not entry:
            raise DescriptionError(
                "",
                "",
                ", ".join(first + second) or "nothing",
                "along with origin, or position with rotation_vector",
                "give e.g. {along: x, origin: [0, 0, 0]}",
            )
        if first:
            return along(entry.pop("along"), **entry)
        return pose(entry.get("position", (0.0, 0.0, 0.0)), entry.get("rotation_vector"))

    def schema(self, defs: Schema) -> Schema:
        return schema_of(PoseEntry, defs)


@dataclass(frozen=True)
class OnFrameOrPose(OnFrame):
    """A Frame, or a fixed pose (4x4) in the world."""

    def check(self, part: str, field: str, value: Any) -> Any:
        return value if isinstance(value, Frame) else pose_matrix(part, field, value)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        names = set(given) if isinstance(given, dict) else set()
        if "part" not in names and names & set(PoseEntry.__dataclass_fields__):
            return Pose().read(reader, path, given)
        return super().read(reader, path, given)

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [super().schema(defs), Pose().schema(defs)]}
