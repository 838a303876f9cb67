"""Tendons that run inside rods, along a channel at an offset from the centreline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.breaks import Breaks, join
from pliant.model.checks import Array, DescriptionError, raised, refuse
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import (
    Choice,
    Interval,
    Place,
    Reader,
    Schema,
    Text,
    Writer,
    holds,
    quantity,
)
from pliant.model.places import Frame, OnRod
from pliant.model.plausible import wrench_doubts
from pliant.model.reel import reel
from pliant.model.registry import Effect, Part
from pliant.model.rod import Rod
from pliant.model.routing import Offset, Route, Routing, Stretch, check_cover, route

if TYPE_CHECKING:
    from pliant.model.body import Body
    from pliant.model.description import Description

DRIVES = ("tension", "length")
_DRAWN = 33
"""Points of its line in each rod."""


@dataclass(frozen=True)
class AlongRods(OnRod):
    """A rod or its name, or a list of them, each joined to the tip of the one before."""

    meaning: str = "name of a rod, or a list of them"

    def check(self, part: str, field: str, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return super().check(part, field, value)
        names = tuple(super(AlongRods, self).check(part, field, item) for item in value)
        several = len(set(names)) == len(names) > 0
        remedy = "give e.g. arm or [lower, upper]"
        refuse(not several, part, field, value, "one rod, or several different ones", remedy)
        return names if len(names) > 1 else names[0]

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        names = given if isinstance(given, list) else [given]
        return self.check("", "", [reader.rod(Text().check("", "", name)) for name in names])

    def write(self, writer: Writer, value: Any) -> Any:
        return writer.plain(value)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        for name in (value,) if isinstance(value, str) else value:
            yield from super().problems(description, part, field, name)

    def schema(self, defs: Schema) -> Schema:
        one = super().schema(defs)
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


@dataclass(frozen=True, eq=False)
class EmbeddedTendon(Effect):
    """A tendon in a channel along one rod or several; its name is an input of the robot.

    name : unique in the robot, and an input: a tension, N, or a pulled length, m.
    along : the rod or its name, or several of them from base to tip, each joined rigidly to the tip of
        the one before, directly or over rigid bodies. Between two rods it runs straight.
    offset : (x, y) in the section, metres: fixed, a pair of them at both ends of its stretch and linear
        in between, a function of s, or a Table of them.
    over : (s0, s1) in metres, the stretch that it covers; None for all of it.
    tension : where no input is given, N.
    friction : coefficient of friction in the channel; a tendon with friction and a given length needs a
        stiffness.
    sliding : which way the tendon slid to an equilibrium: "pull" towards its near end, so that less
        tension arrives at the far one, "release", so that more is left there, or "way": as the loads
        came on, section by section, with `start` as memory. In a motion the rates tell.
    creep : rate of sliding below which friction fades in a motion, m/s.
    drive : "tension", or "length" for a reel that pulls in as many metres as the input says, negative
        to pay out. Such a tendon only pulls: where its way is shorter than the tendon, it is slack.
    stiffness : axial stiffness EA of a tendon with a given length, N: it stretches by T / EA of its
        length at rest. None if it does not stretch.
    slack : how much longer such a tendon is than its way in the undeformed robot, metres.

    s counts from the base of the first rod through all of them. The tendon is held at the far end of
    its stretch and pulled at the near one. With the strains (u, v) of the rod its tangent in body axes
    is t = v + u x r + r', r = (x, y, 0), and a tension T has the potential T times its length.
    """

    along: str | Rod | Sequence[Rod | str] = holds(AlongRods())
    offset: Offset = holds(
        Routing("in the section; also a pair of them at both ends", "metres", "[0.007, 0]")
    )
    over: tuple[float, float] | None = holds(Interval(), None)
    tension: float = quantity(
        "N", "where no input is given", default=0.0, sign="zero", example="2.0"
    )
    friction: float = quantity(
        "", "coefficient of friction in the channel", default=0.0, sign="zero", example="0.1"
    )
    drive: str = holds(Choice(names=DRIVES), "tension")
    stiffness: float | None = quantity(
        "N", "EA, none if it does not stretch", sign="positive", default=None, example="1e4"
    )
    slack: float = quantity("metres", "at rest", sign="zero", default=0.0, example="0.01")
    sliding: str = holds(Choice("before an equilibrium", names=("pull", "release", "way")), "pull")
    creep: float = quantity("m/s", "rate below which friction fades", sign="positive", default=1e-3)

    heading: ClassVar[str] = "tendons"
    chosen_by: ClassVar[str] = "along"
    word: ClassVar[str] = "tendon"
    on_strains: ClassVar[bool] = True
    refilled: ClassVar[tuple[str, ...] | None] = ("tension",)
    place: ClassVar[int] = 8
    input_expected: ClassVar[str] = "one finite number, the tension in N or the pulled length in m"
    input_remedy: ClassVar[str] = "give e.g. 2.0"
    tells: ClassVar[Mapping[str, str]] = {"tension": "N", "length": "m", "slack": "m"}

    def input_unit(self, name: str) -> str:
        """Newtons; a pulled length is an input of the reel."""
        return "N"

    def check(self) -> None:
        """Refuse what its drive leaves no room for."""
        pulls = self.drive == "tension"
        given = {"stiffness": self.stiffness is not None, "slack": self.slack > 0.0}
        for field, found in given.items():
            expected = "left out for drive='tension', whose tension is given"
            self.refuse(pulls and found, field, expected, "remove it, or give drive='length'")
        expected = "left out for drive='length', whose length is given"
        found = not pulls and self.tension > 0.0
        self.refuse(found, "tension", expected, "remove it, or give drive='tension'")
        expected = "given for a tendon with friction and drive='length'"
        found = not pulls and self.friction > 0.0 and self.stiffness is None
        self.refuse(found, "stiffness", expected, "give its axial stiffness EA in N, e.g. 1e4")

    def auxiliary(self) -> Sequence[Part]:
        """Return the reel of a length-driven tendon, which is fixed to the base of the first rod."""
        return [] if self.drive == "tension" else [reel(self, Frame(self.rods[0]))]

    @property
    def reel_path(self) -> tuple[Frame, ...]:
        """The reel, and the place that it slides away from."""
        return (*(Frame(part.name) for part in self.auxiliaries), Frame(self.rods[0]))

    def inputs(self) -> dict[str, float]:
        """Return its name with the tension where none is given; a pulled length is that of its reel."""
        return {self.name: self.tension} if self.drive == "tension" else {}

    def check_input(self, part: str, field: str, value: Any) -> None:
        """Refuse a tendon that pushes; part, field : of what was given, for the message."""
        expected = "zero or positive, for a tendon cannot push"
        refuse(
            value < 0.0, part, field, value, expected, "give the tension in N, or 0 if it is slack"
        )

    # -- where it runs -------------------------------------------------------------------------

    @property
    def rods(self) -> tuple[str, ...]:
        """The names of its rods from base to tip."""
        names: Any = self.along
        return (names,) if isinstance(names, str) else tuple(names)

    @property
    def part(self) -> str:
        """The name of its rod, "" if it has several."""
        return self.rods[0] if len(self.rods) == 1 else ""

    def acts_along(self) -> str:
        """Return the name of its rod, "" if it has several."""
        return self.part

    def stretches(self, description: Description) -> list[Stretch]:
        """Return its parts in the rods that it covers."""
        whole = sum(description.rods[name].length for name in self.rods)
        first, last = self.over or (0.0, whole)
        found, at, below = list[Stretch](), 0.0, ""
        for name in self.rods:
            rod = description.rods[name]
            link = self._link(description, below, rod) if below else np.eye(4)
            near = 1e-9 * rod.length
            span = (max(first - at, 0.0), min(last - at, rod.length))
            if span[1] - span[0] > near:
                found.append(Stretch(name, at, span, link))
            at, below = at + rod.length, name
        return found

    def _link(self, description: Description, below: str, rod: Rod) -> Array:
        """Return the pose (4, 4) of the base of a rod in the tip section of the rod below it."""
        part: Rod | Body | None = rod
        pose = np.eye(4)
        while part is not None:
            moving = part.joint is not None and part.joint.moves
            frame = None if moving else part.carrier
            if frame is None:
                break
            pose = frame.pose_offset() @ np.asarray(part.pose) @ pose
            if frame.part == below:
                tip = description.rods[below].length
                if abs(frame.s - tip) <= 1e-9 * tip:
                    return pose
                break
            part = description.bodies.get(frame.part)
        raise DescriptionError(
            self.label,
            "along",
            list(self.rods),
            f"rods joined end to end, but the base of rod {rod.name!r} is not fixed to the tip of rod "
            f"{below!r}, directly or over rigid bodies",
            "name the rods from base to tip, or give a path of via-points across what moves",
        )

    def route(self, stretch: Stretch, s: Array, length: float) -> Route:
        """Return its offsets and their derivatives at arclengths s (S,) of a rod, metres.

        length : of all its rods, metres.
        """
        over = self.over or (0.0, length)
        check_cover(self.label, "offset", self.offset, over[1])
        cuts = self.breaks_along(length).places if callable(self.offset) else ()
        return route(self.label, "offset", self.offset, stretch.start + s, over, cuts)

    def straight(self, before: Stretch, after: Stretch, length: float) -> tuple[float, Array]:
        """Return length, metres, and way (3,) of the straight piece between two of its stretches.

        The way is in the tip section of the first rod; length : of all its rods, metres.
        """
        ends = ((before, before.over[1]), (after, after.over[0]))
        a, b = (np.append(self.route(part, np.array([s]), length).r[0], 0.0) for part, s in ends)
        way = after.link[:3, :3] @ b + after.link[:3, 3] - a
        return float(np.linalg.norm(way)), way

    def whole_length(self, description: Description) -> float:
        """Return the length of all its rods, metres."""
        return sum(description.rods[name].length for name in self.rods)

    def breaks_on(self, description: Description, rod: Rod) -> Breaks:
        """Return where strains jump on a rod because of it."""
        found = [part for part in self.stretches(description) if part.rod == rod.name]
        if not found:
            return Breaks()
        start, length = found[0].start, rod.length
        every = self.breaks_along(self.whole_length(description)).places
        inside = tuple(s - start for s in every if 0.0 < s - start < length)
        return join([Breaks(inside)], length, self.least_gap)

    def pointwise_forms(self, description: Description) -> Sequence[Any]:
        """Return its stress in each rod; none with friction or a given length, not local laws."""
        if self.friction or self.drive == "length":
            return ()
        length = self.whole_length(description)
        from pliant.model.channel_stress import ChannelStress

        parts = self.stretches(description)
        before = [0.0, *(self.straight(a, b, length)[0] for a, b in pairwise(parts))]
        return [
            ChannelStress(self, *item) for item in zip(parts, repeat(length), before, strict=False)
        ]

    # -- in the robot --------------------------------------------------------------------------

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot; offsets are evaluated along it."""
        problems = list(super().problems(description))
        if not problems:
            problems += list(raised(lambda: self._try(description)))
        yield from problems

    def _try(self, description: Description) -> None:
        length = self.whole_length(description)
        self.refuse(
            self.over is not None and self.over[1] > length * (1.0 + 1e-9),
            "over",
            f"within its rods, which are {length:g} m long",
            f"give e.g. (0, {length:g})",
        )
        for stretch in self.stretches(description):
            self.route(stretch, np.linspace(*stretch.over, 33), length)

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its offset and its described tension."""
        for stretch in self.stretches(description):
            length = self.whole_length(description)
            r = self.route(stretch, np.linspace(*stretch.over, 9), length).r
            arm = float(np.hypot(*r.T).max())
            rod = description.rods[stretch.rod]
            if arm > rod.length:
                yield (
                    f"{self.label}: an offset of {arm:.4g} m is larger than {rod.label} is long; "
                    "give it in metres"
                )
            yield from wrench_doubts(self.label, rod, self.tension, self.tension * arm)

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return its line through the rods."""
        lines: list[Primitive] = []
        whole, start = sum(at.length(name) for name in self.rods), 0.0
        first, last = self.over or (0.0, whole)
        for name in self.rods:
            length = at.length(name)
            span = (max(first - start, 0.0), min(last - start, length))
            if span[1] > span[0]:
                s = np.linspace(*span, _DRAWN)
                r = self.route(Stretch(name, start, span, np.eye(4)), s, whole).r
                g = at.sections(name, s)
                lines.append(
                    Line(self.name, g[:, :3, 3] + np.einsum("sij,sj->si", g[:, :3, :2], r))
                )
            start += length
        points = np.concatenate([line.points for line in lines if isinstance(line, Line)])
        return [Line(self.name, points, inside=True)]
