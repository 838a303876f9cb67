"""Gears: coordinates of joints that are tied together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from pliant.model.body import Auxiliary
from pliant.model.checks import DescriptionError, number, refuse
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import NUMBER, InputName, Kind, Schema, Writer, holds, quantity
from pliant.model.places import Frame
from pliant.model.plausible import angle_doubts
from pliant.model.registry import Effect, Joint, Part, variants

if TYPE_CHECKING:
    from pliant.model.description import Description


@dataclass(frozen=True)
class Coordinates(Kind):
    """Names of joint coordinates: one, or a list."""

    example: str = "wheel"

    def check(self, part: str, field: str, value: Any) -> tuple[str, ...]:
        given = (value,) if isinstance(value, str) else value
        listed = isinstance(given, (list, tuple)) and len(given) > 0
        names = listed and all(isinstance(x, str) for x in given)
        expected = "the name of a part, or 'part.coordinate', or a list of them"
        refuse(not names, part, field, value, expected, "give e.g. 'wheel' or 'hand.rz'")
        repeated = len(set(given)) < len(given)
        refuse(repeated, part, field, value, "each coordinate once", "leave out the repeated one")
        return tuple(given)

    def write(self, writer: Writer, value: Any) -> Any:
        return value[0] if len(value) == 1 else list(value)

    def schema(self, defs: Schema) -> Schema:
        name = {"type": "string"}
        return {"anyOf": [name, {"type": "array", "items": name, "minItems": 1}]}


@dataclass(frozen=True)
class Ratios(Kind):
    """The name of a coordinate, or several with the ratio of each."""

    example: str = "{motor: 0.1}"

    def check(self, part: str, field: str, value: Any) -> Any:
        if isinstance(value, str):
            return value
        expected = "the name of a coordinate, or ratios by name"
        refuse(
            not isinstance(value, Mapping) or not value, part, field, value, expected, self.remedy
        )
        names = all(isinstance(name, str) for name in value)
        refuse(not names, part, field, value, expected, self.remedy)
        return {
            name: number(part, f"{field}[{name!r}]", x, "", "give e.g. 0.1")
            for name, x in value.items()
        }

    def write(self, writer: Writer, value: Any) -> Any:
        return value if isinstance(value, str) else dict(value)

    def schema(self, defs: Schema) -> Schema:
        several = {"type": "object", "additionalProperties": NUMBER, "minProperties": 1}
        return {"anyOf": [{"type": "string"}, several]}


@dataclass(frozen=True, eq=False)
class Gear(Effect):
    """Ties joints together: the value of a coordinate follows those of others,

        value = offset + input + sum of ratio times value,

    in radians and metres. A coordinate is the name of a part whose joint has one, or "part.coordinate"
    such as "hand.rz".

    name : unique in the robot.
    joint : the coordinate that follows, or several that each do.
    follows : the coordinate that it follows, or several by name with the ratio of each.
    ratio : where one is followed: change of `joint` for a unit of it, e.g. 0.1, or m/rad for a rack.
    offset : value of the joint where those that it follows are zero, rad or m.
    input : name of an input that is added to the offset; None for none.
    """

    joint: tuple[str, ...] | str = holds(Coordinates("coordinates that follow"))
    follows: str | Mapping[str, float] = holds(Ratios("what they follow"))
    ratio: float = quantity("", "change of joint for a unit of what it follows", default=1.0)
    offset: float = quantity("rad or m", default=0.0)
    input: str | None = holds(InputName("input added to the offset", example="shift"), None)

    heading: ClassVar[str] = "gears"
    place: ClassVar[int] = 3
    tells: ClassVar[Mapping[str, str]] = {"force": "N m or N"}

    def check(self) -> None:
        """Refuse a ratio beside several ones, a ratio of zero, and a joint that follows itself."""
        several = not isinstance(self.follows, str)
        beside = several and self.ratio != 1.0
        self.refuse(beside, "ratio", "left out, for follows has ratios", "remove it")
        zero = 0.0 in self.ratios.values()
        self.refuse(zero, "follows" if several else "ratio", "not zero", "leave out what has none")
        itself = [name for name in self.joint if name in self.ratios]
        self.refuse(itself, "follows", "another coordinate than 'joint'", "choose another one")

    @property
    def ratios(self) -> dict[str, float]:
        """Ratios of what it follows by name of the coordinate."""
        return {self.follows: self.ratio} if isinstance(self.follows, str) else dict(self.follows)

    def auxiliary(self) -> Sequence[Part]:
        """Return a massless slider that moves as the input tells; none without an input."""
        if self.input is None:
            return ()
        slider: Any = variants(Joint)["prismatic"]
        joint = slider(axis="x", drive="position", input=self.input)
        return [Auxiliary(self.name, joint=joint, brought_by=self.label)]

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it: coordinates that are not there, or all prescribed."""
        yield from super().problems(description)
        named = {"joint": self.joint, "follows": tuple(self.ratios)}
        bad = [
            (f, n) for f, names in named.items() for n in names if not self._known(description, n)
        ]
        for field, name in bad:
            yield self._unknown(description, field, name)
        if bad:
            return
        for name in self.joint:
            pairs = [coordinate(description, x) for x in (name, *self.ratios)]
            joints: Any = [
                (description.jointed()[p[0]].joint, p[1]) for p in pairs if p is not None
            ]
            if all(k in joint.prescribed for joint, k in joints):
                expected = "a joint that is not prescribed, for what it follows is so already"
                remedy = "remove a drive, or the gear"
                yield DescriptionError(self.label, "joint", name, expected, remedy)

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield that its offset was probably given in degrees."""
        place = coordinate(description, self.joint[0])
        joint: Any = None if place is None else description.jointed()[place[0]].joint
        if place is not None and joint.units and joint.units[place[1]] == "rad":
            yield from angle_doubts(self.label, "offset", self.offset)

    def _known(self, description: Description, name: str) -> bool:
        return coordinate(description, name) is not None

    def _unknown(self, description: Description, field: str, name: str) -> DescriptionError:
        part = description.jointed().get(name)
        joint: Any = getattr(part, "joint", None)
        if part is not None and joint is not None and joint.moves:
            known = [f"{name}.{x}" for x in joint.names]
            expected = "one coordinate, for its joint has several"
            return DescriptionError(self.label, field, name, expected, f"give one of {known}")
        known = [
            n for n, x in description.jointed().items() if x.joint is not None and x.joint.moves
        ]
        expected = f"a coordinate of a joint; parts with joints: {', '.join(known) or 'none'}"
        return DescriptionError(self.label, field, name, expected, "give e.g. 'wheel' or 'hand.rz'")

    def placed(self, description: Description) -> Self:
        """Return it; pictures of it know the parts then."""
        pairs = [coordinate(description, name) for name in (*self.joint, *self.ratios)]
        self._set("_parts", tuple(pair[0] for pair in pairs if pair is not None))
        return self

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return lines from the first of its joints to the others."""
        parts: tuple[str, ...] = getattr(self, "_parts", ())
        points = [at.frame(Frame(part))[:3, 3] for part in parts]
        return [Line(self.name, np.array([points[0], point])) for point in points[1:]]


def coordinate(description: Description, name: str) -> tuple[str, int] | None:
    """Return part and number of a coordinate that is named as "part" or "part.coordinate"."""
    known = description.jointed()
    part, rest = (name, "") if name in known else (name.rpartition(".")[::2])
    joint: Any = getattr(known.get(part), "joint", None)
    if joint is None or not joint.moves:
        return None
    if not rest:
        return (part, 0) if joint.nv == 1 else None
    return (part, joint.names.index(rest)) if rest in joint.names else None
