"""A joint with any choice of free directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.joints.options import Numbers, per_coordinate
from pliant.joints.screws import ScrewJoint
from pliant.lie.tuples import Array
from pliant.model.checks import refuse
from pliant.model.fields import Kind, Schema, holds

DIRECTIONS = ("rx", "ry", "rz", "x", "y", "z")


@dataclass(frozen=True)
class Directions(Kind):
    """Some of DIRECTIONS, each once, in any order."""

    example: str = "[rx, z]"

    def check(self, part: str, field: str, value: Any) -> tuple[str, ...]:
        given = (value,) if isinstance(value, str) else value
        found = tuple(given) if isinstance(given, (list, tuple)) else ()
        known = bool(found) and all(x in DIRECTIONS for x in found)
        expected = f"some of {', '.join(DIRECTIONS)}, each once"
        refuse(not known or len(set(found)) < len(found), part, field, value, expected, self.remedy)
        return found

    def schema(self, defs: Schema) -> Schema:
        return {"type": "array", "items": {"enum": list(DIRECTIONS)}, "minItems": 1}


@dataclass(frozen=True)
class FreeDirections(ScrewJoint):
    """Moves along the directions that you choose, one after the other.

    directions : some of "rx", "ry", "rz" (turns about the axes, rad) and "x", "y", "z" (shifts along
    them, m), in the order from the carrying frame to the part. Each acts along the axes that those
    before it have made. With three turns the middle one must stay away from a quarter turn: use
    Spherical there.
    stiffness : N m/rad or N/m against `rest`.  damping : N m s/rad or N s/m.
    drive : of each coordinate, e.g. ("torque", None).  rest, friction, limits,
    limit_stiffness, input : see `MovingJoint`.
    """

    directions: tuple[str, ...] = holds(Directions("rx, ry, rz, x, y, z"))
    stiffness: Numbers = per_coordinate("N m/rad or N/m", "against its rest")
    damping: Numbers = per_coordinate("N m s/rad or N s/m")

    compiled: ClassVar[bool] = True

    @property
    def nq(self) -> int:  # type: ignore[override]
        return len(self.directions)

    @property
    def nv(self) -> int:  # type: ignore[override]
        return len(self.directions)

    @property
    def names(self) -> tuple[str, ...]:
        return self.directions

    @property
    def units(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple("rad" if name.startswith("r") else "m" for name in self.directions)

    def twists(self) -> Array:
        return np.eye(6)[[DIRECTIONS.index(name) for name in self.directions]]
