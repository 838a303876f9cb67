"""Conditions that hold two places of a robot, or a place and the world, together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.model.body import Auxiliary
from pliant.model.checks import Array, choice, refuse
from pliant.model.fields import Choice, Kind, Schema, Several, Writer, holds
from pliant.model.places import DIRECTIONS, Frame, OnFrame, OnFrameOrPose
from pliant.model.pointwise import Hold
from pliant.model.registry import Effect, Joint, Part, variants

ONE_WAY = {f"{name} {sign} 0": (name, sign) for name in DIRECTIONS for sign in (">=", "<=")}
"""Directions that are held on one side only."""
_SHIFTS_FIRST = ("x", "y", "z", "rx", "ry", "rz")

KINDS: dict[str, tuple[str, ...]] = {
    "fixed": DIRECTIONS,
    "articulated": ("x", "y", "z"),
    "sliding": ("rx", "ry", "rz"),
}


@dataclass(frozen=True)
class Moves(Kind):
    """Names of inputs by direction."""

    example: str = "{x: slide}"
    literal: ClassVar[bool | None] = False

    def check(self, part: str, field: str, value: Any) -> dict[str, str]:
        good = isinstance(value, Mapping) and bool(value)
        good = good and all(isinstance(x, str) and x for pair in value.items() for x in pair)
        refuse(not good, part, field, value, "names of inputs by direction", self.remedy)
        for name in value:
            choice(part, field, name, DIRECTIONS)
        return {name: value[name] for name in DIRECTIONS if name in value}

    def write(self, writer: Writer, value: Any) -> Any:
        return dict(value)

    def schema(self, defs: Schema) -> Schema:
        inputs = {name: {"type": "string"} for name in DIRECTIONS}
        return {"type": "object", "properties": inputs, "additionalProperties": False}


@dataclass(frozen=True, eq=False)
class Constraint(Effect):
    """A joint that closes a loop or holds a place.

    name : unique in the robot.
    on : the Frame that is held.
    to : another Frame, a fixed 4x4 world pose, or None for where ``on`` is in the undeformed
        robot.
    kind : "fixed" holds all six directions, "articulated" the position (x, y, z), "sliding" the
        orientation (rx, ry, rz).
    hold : instead of ``kind``, the directions to hold, from "rx", "ry", "rz", "x", "y", "z" in
        the frame of ``to``. "z >= 0" and "z <= 0" hold one side only: ``on`` may leave to the other.
    moves : names of inputs by direction, such as {"x": "slide"}: the values, m and rad, at which these
        directions are held, over time. ``to`` is shifted by them along its axes, then turned about x, y
        and z one after the other; directions that are held are those of the frame so moved.

    With neither kind nor hold the constraint is fixed.
    """

    on: Frame = holds(OnFrame())
    to: Frame | Array | None = holds(OnFrameOrPose(), None)
    kind: str | None = holds(Choice(names=tuple(KINDS)), None)
    hold: tuple[str, ...] | None = holds(
        Several(example="[x, y]", item=Choice(names=(*DIRECTIONS, *ONE_WAY))), None
    )
    moves: Mapping[str, str] | None = holds(Moves("inputs by direction"), None)

    heading: ClassVar[str] = "constraints"
    place: ClassVar[int] = 3
    reacts: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a frame that is held by itself, directions given twice, moves that are not held."""
        itself = isinstance(self.to, Frame) and self.to == self.on
        self.refuse(itself, "to", "another frame than 'on'", "choose another place")
        if self.hold is None:
            self._set("kind", self.kind or "fixed")
        else:
            self._check_hold()
        held = [DIRECTIONS[row] for row in (*self.rows, *(row for row, _ in self.one_way))]
        free = [name for name in self.moves or () if name not in held]
        self.refuse(
            free, "moves", f"directions that it holds: {', '.join(held)}", "leave out others"
        )
        nowhere = self.moves and self.to is None
        expected = "a frame or a pose, in whose axes the inputs move it"
        self.refuse(nowhere, "to", expected, "give e.g. pl.pose((0, 0, 0.1))")

    def _check_hold(self) -> None:
        self.refuse(self.kind, "hold", "left out when kind is given", "remove one of them")
        held = self.hold if isinstance(self.hold, (tuple, list)) else ()
        once = held and len(set(held)) == len(held)
        self.refuse(not once, "hold", "a list of different directions", "give e.g. ('x', 'y')")
        for item in held:
            choice(self.label, "hold", item, (*DIRECTIONS, *ONE_WAY))
        both = [name for name in held if name in ONE_WAY and ONE_WAY[name][0] in held]
        self.refuse(both, "hold", "a direction on one side or on both", f"leave out {both[:1]}")
        self._set("hold", tuple(name for name in (*DIRECTIONS, *ONE_WAY) if name in held))

    def auxiliary(self) -> Sequence[Part]:
        """Return the massless part that its inputs move; none without inputs."""
        if not self.moves:
            return ()
        names = [name for name in _SHIFTS_FIRST if name in self.moves]
        drive = tuple("angle" if name.startswith("r") else "position" for name in names)
        inputs = tuple(self.moves[name] for name in names)
        kind: Any = variants(Joint)["free_directions"]
        joint = kind(tuple(names), drive=drive, input=inputs)
        place = {"on": self.to} if isinstance(self.to, Frame) else {"pose": self.to}
        return [Auxiliary(self.name, joint=joint, brought_by=self.label, **place)]  # type: ignore[arg-type]

    def pointwise(self) -> Hold | None:
        """Return which directions of which place it holds; None if it moves or holds one side."""
        if self.moves or self.one_way:
            return None
        given = ("hold", self.hold or self.kind)
        return Hold(self.name, self.label, self.on, self.to, self.rows, given)

    @property
    def rows(self) -> tuple[int, ...]:
        """Directions held on both sides as indices into (rx, ry, rz, x, y, z), increasing."""
        held = self.hold if self.hold is not None else KINDS[self.kind or "fixed"]
        return tuple(DIRECTIONS.index(name) for name in held if name in DIRECTIONS)

    @property
    def one_way(self) -> tuple[tuple[int, float], ...]:
        """Directions held on one side as such indices, with the sign of the side out of reach."""
        sides = [ONE_WAY[name] for name in self.hold or () if name in ONE_WAY]
        return tuple((DIRECTIONS.index(name), 1.0 if x == "<=" else -1.0) for name, x in sides)
