"""Bushings: springs and dampers along and about the axes of a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.model.checks import Array, choice, number, refuse
from pliant.model.drawing import Line, Placed, Primitive, frame_marks
from pliant.model.fields import NUMBER, Kind, Schema, Writer, holds, quantity
from pliant.model.places import DIRECTIONS, Frame, OnFrame, OnFrameOrPose
from pliant.model.registry import Effect
from pliant.model.via_points import KINDS, coil


@dataclass(frozen=True)
class ByDirection(Kind):
    """Numbers by direction, or words if there are `names`; sign : as of `Number`."""

    example: str = "{x: 100.0}"
    sign: str = ""
    names: tuple[str, ...] = ()

    def check(self, part: str, field: str, value: Any) -> dict[str, Any]:
        what = f"one of {', '.join(self.names)}" if self.names else "a number"
        refuse(
            not isinstance(value, Mapping), part, field, value, f"{what} by direction", self.remedy
        )
        found: dict[str, Any] = {}
        for name, x in value.items():
            choice(part, field, name, DIRECTIONS)
            place = f"{field}.{name}" if field else name
            if self.names:
                found[name] = choice(part, place, x, self.names)
            else:
                found[name] = number(part, place, x, self.unit, "give e.g. 1.0", self.sign)
        return {name: found[name] for name in DIRECTIONS if name in found}

    def write(self, writer: Writer, value: Any) -> Any:
        return dict(value)

    def schema(self, defs: Schema) -> Schema:
        item = {"enum": list(self.names)} if self.names else NUMBER
        properties = dict.fromkeys(DIRECTIONS, item)
        return {"type": "object", "properties": properties, "additionalProperties": False}


@dataclass(frozen=True, eq=False)
class Bushing(Effect):
    """Springs and dampers between two frames, one for each direction of the frame that holds.

    The values of ``on`` in the frame ``to`` are its position (x, y, z), metres, and its rotation vector
    (rx, ry, rz), radians, which must stay within half a turn where it is sprung. Along each direction

        stiffness (value - rest) + damping |rate|^power sign(rate)

    pulls back, N or N m.

    name : unique in the robot.
    on : the Frame that is sprung, or its name.
    to : another one in whose axes that is, a fixed 4x4 pose in the world, or None for
        where ``on`` is in the undeformed robot.
    stiffness, damping : by direction, such as {"x": 100.0, "rz": 0.5}: N/m and N m/rad; N (s/m)^power
        and N m (s/rad)^power.
    rest : values without force by direction, m and rad; others are as in the undeformed robot.
    power : of the rates in the damping; below one it is smoothed at rates under 1 mm/s or mrad/s.
    kinds : by direction "two-way", "tension" for what acts only while the value is above its rest,
        "compression" for what acts only below it.
    """

    on: Frame = holds(OnFrame())
    to: Frame | Array | None = holds(OnFrameOrPose(), None)
    stiffness: Mapping[str, float] | None = holds(
        ByDirection("", "N/m, N m/rad", sign="zero"), None
    )
    damping: Mapping[str, float] | None = holds(
        ByDirection("", "N (s/m)^power", "{x: 0.1}", sign="zero"), None
    )
    rest: Mapping[str, float] | None = holds(
        ByDirection("without force", "m, rad", "{x: 0.0}"), None
    )
    power: float = quantity("", "of the rates in the damping", sign="positive", default=1.0)
    kinds: Mapping[str, str] | None = holds(
        ByDirection("sides on which it acts", "", "{z: compression}", names=KINDS), None
    )

    heading: ClassVar[str] = "bushings"
    place: ClassVar[int] = 9
    tells: ClassVar[Mapping[str, str]] = {"force": "N m, N", "displacement": "rad, m"}

    def check(self) -> None:
        """Refuse one that does nothing, and what is given for directions without a spring."""
        itself = isinstance(self.to, Frame) and self.to == self.on
        self.refuse(itself, "to", "another frame than 'on'", "choose another place")
        expected = "positive in a direction, or with damping"
        self.refuse(not self.used, "stiffness", expected, "give e.g. stiffness={'x': 100.0}")
        for field in ("rest", "kinds"):
            idle = [name for name in self.given(field) if DIRECTIONS.index(name) not in self.used]
            expected = "given for directions with stiffness or damping"
            self.refuse(idle, field, expected, f"leave out {idle[:1]}")

    def given(self, field: str) -> Mapping[str, Any]:
        """Return one of its fields by direction, with nothing for None."""
        return getattr(self, field) or {}

    @property
    def used(self) -> tuple[int, ...]:
        """Directions in which it acts as indices into (rx, ry, rz, x, y, z), increasing."""
        laws = [self.given(field) for field in ("stiffness", "damping")]
        acts = [any(law.get(name, 0.0) > 0.0 for law in laws) for name in DIRECTIONS]
        return tuple(k for k, some in enumerate(acts) if some)

    def drawing(self, at: Placed) -> Sequence[Primitive]:
        """Return a coil between its frames, or a mark where they meet."""
        if self.to is None:
            return frame_marks(self.name, [self.on], at)
        to = at.frame(self.to) if isinstance(self.to, Frame) else np.asarray(self.to)
        ends = np.array([to[:3, 3], at.frame(self.on)[:3, 3]])
        apart = np.linalg.norm(ends[1] - ends[0]) > 0.0
        return [Line(self.name, coil(*ends))] if apart else frame_marks(self.name, [self.on], at)
