"""Conditions that hold two places of a robot, or a place and the world, together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.model.checks import Array, choice
from pliant.model.fields import Choice, Several, holds
from pliant.model.places import DIRECTIONS, Frame, OnFrame, OnFrameOrPose
from pliant.model.pointwise import Hold
from pliant.model.registry import Effect

KINDS: dict[str, tuple[str, ...]] = {
    "fixed": DIRECTIONS,
    "articulated": ("x", "y", "z"),
    "sliding": ("rx", "ry", "rz"),
}


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
        the frame of ``to``.

    With neither kind nor hold the constraint is fixed.
    """

    on: Frame = holds(OnFrame())
    to: Frame | Array | None = holds(OnFrameOrPose(), None)
    kind: str | None = holds(Choice(names=tuple(KINDS)), None)
    hold: tuple[str, ...] | None = holds(
        Several(example="[x, y]", item=Choice(names=DIRECTIONS)), None
    )

    heading: ClassVar[str] = "constraints"
    place: ClassVar[int] = 3
    reacts: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a frame that is held by itself, and directions given twice."""
        itself = isinstance(self.to, Frame) and self.to == self.on
        self.refuse(itself, "to", "another frame than 'on'", "choose another place")
        if self.hold is None:
            self._set("kind", self.kind or "fixed")
            return
        self.refuse(self.kind, "hold", "left out when kind is given", "remove one of them")
        held = self.hold if isinstance(self.hold, (tuple, list)) else ()
        once = held and len(set(held)) == len(held)
        self.refuse(not once, "hold", "a list of different directions", "give e.g. ('x', 'y')")
        for item in held:
            choice(self.label, "hold", item, DIRECTIONS)
        self._set("hold", tuple(name for name in DIRECTIONS if name in held))

    def pointwise(self) -> Hold:
        """Return which directions of which place it holds."""
        given = ("hold", self.hold or self.kind)
        return Hold(self.name, self.label, self.on, self.to, self.rows, given)

    @property
    def rows(self) -> tuple[int, ...]:
        """The held directions as indices into (rx, ry, rz, x, y, z), increasing."""
        held = self.hold if self.hold is not None else KINDS[self.kind or "fixed"]
        return tuple(DIRECTIONS.index(name) for name in held)
