"""Springs, dampers, ropes and bumpers between two points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pliant.model.checks import DescriptionError
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import Choice, holds, quantity
from pliant.model.registry import Effect
from pliant.model.via_points import KINDS, OnFrameOrPoint, ViaPoint, coil, fixed_ends, points_of

if TYPE_CHECKING:
    from pliant.model.description import Description


@dataclass(frozen=True, eq=False)
class Spring(Effect):
    """A spring and damper between two points of a robot, or a point of it and one in the world.

    With the length L of the straight line between them its force is, pulling them together,

        stiffness (L - rest) + damping |dL/dt|^power sign(dL/dt).

    name : unique in the robot.
    a, b : a Frame or its name such as "arm.tip", or a point (3,) in the world, metres.
    stiffness : N/m.  rest : length without force, metres; None for `compression` times the distance
        at rest.
    damping : N (s/m)^power.  power : of the rate in the damping; one is a viscous damper. Below one the
        force is smoothed at rates under 1 mm/s.
    kind : "two-way"; "tension" for a rope, which only pulls while it is longer than ``rest``;
        "compression" for a bumper, which only pushes while it is shorter.
    compression : without a rest, length without force over the distance at rest; below one the spring
        is taut there.
    """

    a: ViaPoint = holds(OnFrameOrPoint("one end: a place, or a point in the world (m)"))
    b: ViaPoint = holds(OnFrameOrPoint("the other end"))
    stiffness: float = quantity("N/m", sign="zero", default=0.0, example="20.0")
    rest: float | None = quantity(
        "metres", "length without force", sign="zero", default=None, example="0.05"
    )
    damping: float = quantity("N (s/m)^power", sign="zero", default=0.0, example="0.1")
    power: float = quantity("", "of the rate in the damping", sign="positive", default=1.0)
    kind: str = holds(Choice(names=KINDS), "two-way")
    compression: float = quantity(
        "", "length without force over the distance at rest", sign="positive", default=1.0
    )

    heading: ClassVar[str] = "springs"
    place: ClassVar[int] = 9
    tells: ClassVar[Mapping[str, str]] = {"tension": "N", "length": "m"}

    def check(self) -> None:
        """Refuse one that does nothing."""
        self.refuse(
            self.stiffness == 0.0 and self.damping == 0.0,
            "stiffness",
            "positive, or with damping",
            "give e.g. stiffness=20.0, or damping=0.1 for a damper",
        )
        both = self.rest is not None and self.compression != 1.0
        self.refuse(both, "compression", "left out, for rest is given", "remove one of them")
        self.refuse(self.a == self.b, "b", "another point than 'a'", "choose another place")

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot: two points that do not move."""
        yield from super().problems(description)
        yield from fixed_ends(self.label, self.a, self.b)

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return a coil between its points; a straight line for a damper or a rope."""
        ends = points_of((self.a, self.b), at)
        winds = self.stiffness > 0.0 and self.kind != "tension"
        return [Line(self.name, coil(*ends) if winds else ends)]
