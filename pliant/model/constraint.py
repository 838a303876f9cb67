"""Conditions that hold two places of a robot, or a place and the world, together."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.model.checks import Array, choice, part_name, pose_matrix
from pliant.model.errors import DescriptionError, did_you_mean
from pliant.model.frame import Frame

DIRECTIONS = ("rx", "ry", "rz", "x", "y", "z")
KINDS: dict[str, tuple[str, ...]] = {
    "fixed": DIRECTIONS,
    "articulated": ("x", "y", "z"),
    "sliding": ("rx", "ry", "rz"),
}


@dataclass(frozen=True, eq=False)
class Constraint:
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

    name: str
    on: Frame
    to: Frame | Array | None = None
    kind: str | None = None
    hold: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        part_name("constraint", self.name)
        if not isinstance(self.on, Frame):
            raise DescriptionError(self.label, "on", self.on, "a Frame", "give e.g. arm.tip")
        if isinstance(self.to, Frame):
            if self.to == self.on:
                raise DescriptionError(
                    self.label, "to", self.to, "another frame than 'on'", "choose another place"
                )
        elif self.to is not None:
            object.__setattr__(self, "to", pose_matrix(self.label, "to", self.to))
        if self.kind is not None:
            choice(self.label, "kind", self.kind, KINDS)
        if self.hold is not None:
            object.__setattr__(self, "hold", self._held())
        elif self.kind is None:
            object.__setattr__(self, "kind", "fixed")

    def _held(self) -> tuple[str, ...]:
        if self.kind is not None:
            raise DescriptionError(
                self.label, "hold", self.hold, "left out when kind is given", "remove one of them"
            )
        held = self.hold if isinstance(self.hold, (tuple, list)) else ()
        remedy = "give e.g. ('x', 'y')"
        if not held or len(set(held)) != len(held):
            raise DescriptionError(
                self.label, "hold", self.hold, "a list of different directions", remedy
            )
        for item in held:
            if item not in DIRECTIONS:
                hint = did_you_mean(item, DIRECTIONS)
                raise DescriptionError(
                    self.label, "hold", item, f"one of {', '.join(DIRECTIONS)}", hint
                )
        return tuple(name for name in DIRECTIONS if name in held)

    @property
    def label(self) -> str:
        """How error messages call this constraint."""
        return f"constraint {self.name!r}"

    @property
    def rows(self) -> tuple[int, ...]:
        """The held directions as indices into (rx, ry, rz, x, y, z), increasing."""
        held = self.hold if self.hold is not None else KINDS[self.kind or "fixed"]
        return tuple(DIRECTIONS.index(name) for name in held)
