"""Tendons through via-points, straight in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.model.checks import refuse
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import Choice, holds, quantity
from pliant.model.registry import Effect
from pliant.model.via_points import ViaPoint, ViaPoints, points_of

DRIVES = ("tension",)


@dataclass(frozen=True, eq=False)
class Tendon(Effect):
    """A tendon that slides through via-points and is straight between them; its name is an input.

    The first point is where it is pulled, the last where it is fixed. Between them it slides.

    name : unique in the robot, and an input: the tension at the first point, N.
    path : two points or more: Frames or their names such as "arm.tip", or points (3,) in the world,
        metres.
    drive : "tension".
    tension : where no input is given, N.
    """

    path: tuple[ViaPoint, ...] = holds(ViaPoints())
    drive: str = holds(Choice(names=DRIVES), "tension")
    tension: float = quantity("N", "where no input is given", sign="zero", default=0.0)

    heading: ClassVar[str] = "tendons"
    chosen_by: ClassVar[str] = "path"
    place: ClassVar[int] = 8
    input_unit: ClassVar[str] = "N"
    tells: ClassVar[Mapping[str, str]] = {"tension": "N", "length": "m", "slack": "m"}

    def inputs(self) -> dict[str, float]:
        """Return its name with the tension where none is given."""
        return {self.name: self.tension}

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

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return its line, coloured by tension."""
        return [Line(self.name, points_of(self.path, at))]
