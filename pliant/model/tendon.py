"""Tendons through via-points, straight in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import refuse
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import Choice, holds, quantity
from pliant.model.places import Frame
from pliant.model.plausible import pull_doubts
from pliant.model.reel import reel
from pliant.model.registry import Effect, Part
from pliant.model.via_points import ViaPoint, ViaPoints, points_of

if TYPE_CHECKING:
    from pliant.model.description import Description

DRIVES = ("tension", "length", "none")


@dataclass(frozen=True, eq=False)
class Tendon(Effect):
    """A tendon that slides through via-points and is straight between them.

    The first point is where it is pulled, the last where it is fixed. A tendon that is given by its
    length only pulls: where the path is shorter than the tendon, it is slack.

    name : unique in the robot. With a drive it is an input: a tension, N, or a pulled length, m.
    path : two points or more: Frames or their names such as "arm.tip", or points (3,) in the world,
        metres.
    drive : "tension"; "length" for a reel that pulls in as many metres as the input says, negative to
        pay out; "none" for a cable that is fixed at both ends.
    tension : of drive "tension" where no input is given, N.
    stiffness : axial stiffness EA of the tendon, N: it stretches by T / EA of its length at rest. None
        if it does not stretch. Not for drive "tension".
    slack : how much longer the tendon is than its path in the undeformed robot, metres. Not for drive
        "tension".
    friction : coefficient of friction at the via-points between its ends; a tendon with friction and a
        given length needs a stiffness.
    sliding : which way the tendon slid to an equilibrium: "pull" towards its first point, "release",
        or "way": as the loads came on, point by point, with `start` as memory. In a motion the rates
        tell.
    creep : rate of sliding below which friction fades in a motion, m/s.
    """

    path: tuple[ViaPoint, ...] = holds(ViaPoints())
    drive: str = holds(Choice(names=DRIVES), "tension")
    tension: float = quantity("N", "where no input is given", sign="zero", default=0.0)
    stiffness: float | None = quantity(
        "N", "EA, none if it does not stretch", sign="positive", default=None, example="1e4"
    )
    slack: float = quantity("metres", "at rest", sign="zero", default=0.0)
    friction: float = quantity("", "coefficient of friction", sign="zero", default=0.0)
    sliding: str = holds(Choice("before an equilibrium", names=("pull", "release", "way")), "pull")
    creep: float = quantity("m/s", "rate below which friction fades", sign="positive", default=1e-3)

    heading: ClassVar[str] = "tendons"
    chosen_by: ClassVar[str] = "path"
    place: ClassVar[int] = 8
    tells: ClassVar[Mapping[str, str]] = {"tension": "N", "length": "m", "slack": "m"}

    def input_unit(self, name: str) -> str:
        """Newtons; a pulled length is an input of the reel."""
        return "N"

    def check(self) -> None:
        """Refuse what its drive leaves no room for."""
        pulls = self.drive == "tension"
        self.refuse(
            not pulls and self.friction > 0.0 and self.stiffness is None,
            "stiffness",
            f"given for a tendon with friction and drive={self.drive!r}",
            "give its axial stiffness EA in N, e.g. 1e4",
        )
        self.refuse(
            pulls and self.stiffness is not None,
            "stiffness",
            "left out for drive='tension', whose tension is given",
            "remove it, or give drive='length'",
        )
        self.refuse(
            pulls and self.slack > 0.0,
            "slack",
            "left out for drive='tension', whose tension is given",
            "remove it, or give drive='length'",
        )
        self.refuse(
            not pulls and self.tension > 0.0,
            "tension",
            f"left out for drive={self.drive!r}, whose length is given",
            "remove it, or give drive='tension'",
        )

    def auxiliary(self) -> Sequence[Part]:
        """Return the reel of a length-driven tendon: it slides away from the first point."""
        if self.drive != "length":
            return ()
        return [reel(self, self.path[0])]

    @property
    def whole_path(self) -> tuple[Any, ...]:
        """Its points with the reel, if it has one."""
        return (*(Frame(part.name) for part in self.auxiliaries), *self.path)

    def inputs(self) -> dict[str, float]:
        """Return its name with the tension where none is given; a pulled length is that of its reel."""
        return {self.name: self.tension} if self.drive == "tension" else {}

    def check_input(self, part: str, field: str, value: Any) -> None:
        """Refuse a tendon that pushes."""
        refuse(
            bool(np.any(np.asarray(value) < 0.0)),
            part,
            field,
            value,
            "zero or more, for a tendon cannot push",
            "give 0.0 for a slack tendon",
        )

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its described tension."""
        yield from pull_doubts(self.label, self.path, self.tension, description.rods)

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return its line, coloured by tension."""
        return [Line(self.name, points_of(self.path, at))]
