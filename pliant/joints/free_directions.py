"""A joint of turns and shifts in any order, free or by a given amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from pliant.joints.options import AXES, Numbers, direction, per_coordinate
from pliant.joints.screws import ScrewJoint, shift, turn
from pliant.lie import se3, symbolic
from pliant.lie.tuples import Array
from pliant.model.checks import number, refuse
from pliant.model.fields import NUMBER, Kind, Schema, Writer, holds
from pliant.model.plausible import angle_doubts

DIRECTIONS = ("rx", "ry", "rz", "x", "y", "z")
_ALONG = ("turn", "shift")
_GENERIC = 0.37
"""Step between coordinates at which free directions are compared, rad and m."""
Item = str | tuple[Any, ...]


@dataclass(frozen=True)
class Directions(Kind):
    """Turns and shifts one after the other: names, or pairs with an axis or an amount.

    "rx" is free, ("rx", 0.3) goes by 0.3 rad; ("turn", axis) is free about a vector (3,), and
    ("turn", axis, 0.3) goes by 0.3 rad. Robot files write {rx: 0.3} and {turn: [1, 1, 0], by: 0.3}.
    """

    example: str = "[rx, {z: 0.1}, ry]"

    def check(self, part: str, field: str, value: Any) -> tuple[Item, ...]:
        given = (value,) if isinstance(value, str) else value
        listed = isinstance(given, (list, tuple)) and len(given) > 0
        expected = f"a list of {', '.join(DIRECTIONS)}, each free or with an amount"
        refuse(not listed, part, field, value, expected, self.remedy)
        return tuple(self._item(part, f"{field}[{k}]", item) for k, item in enumerate(given))

    def _item(self, part: str, field: str, item: Any) -> Item:
        if isinstance(item, Mapping):
            known = [(name, item[name]) for name in item if name != "by"]
            amounts = [item["by"]] if "by" in item else []
            pair = (*known[0], *amounts) if len(known) == 1 else ()
        else:
            pair = (item,) if isinstance(item, str) else item
            pair = tuple(pair) if isinstance(pair, (list, tuple)) else ()
        name = pair[0] if pair else ""
        plain = name in DIRECTIONS and len(pair) < 3
        along = name in _ALONG and 1 < len(pair) < 4
        names = ", ".join(DIRECTIONS)
        expected = (
            f"one of {names}, with an amount if it is not free, or turn or shift with an axis"
        )
        refuse(not (plain or along), part, field, item, expected, "give e.g. 'rx' or ('z', 0.1)")
        unit = "rad" if name in ("rx", "ry", "rz", "turn") else "metres"
        if plain:
            amount = [number(part, field, x, unit, "give e.g. 0.1") for x in pair[1:]]
            return (name, *amount) if amount else str(name)
        direction(part, field, pair[1])
        axis = pair[1] if isinstance(pair[1], str) else tuple(float(x) for x in pair[1])
        return (name, axis, *(number(part, field, x, unit, "give e.g. 0.1") for x in pair[2:]))

    def write(self, writer: Writer, value: Any) -> Any:
        return [self._written(writer, item) for item in value]

    @staticmethod
    def _written(writer: Writer, item: Item) -> Any:
        if isinstance(item, str):
            return item
        name, first, *rest = item
        return {name: writer.plain(first), **({"by": rest[0]} if rest else {})}

    def schema(self, defs: Schema) -> Schema:
        axis = {"anyOf": [{"enum": list(AXES)}, {"type": "array", "items": NUMBER}]}
        properties = {
            **dict.fromkeys(DIRECTIONS, NUMBER), **dict.fromkeys(_ALONG, axis), "by": NUMBER
        }  # fmt: skip
        entry = {
            "type": "object",
            "properties": properties,
            "minProperties": 1,
            "maxProperties": 2,
            "additionalProperties": False,
        }
        items = {"anyOf": [{"enum": list(DIRECTIONS)}, entry]}
        return {"type": "array", "items": items, "minItems": 1}


@dataclass(frozen=True)
class FreeDirections(ScrewJoint):
    """Turns and shifts one after the other, some of them free, others by a given amount.

    directions : from the carrying frame to the part. "rx", "ry", "rz" are free turns about the axes
    (rad) and "x", "y", "z" free shifts along them (m); ("turn", axis) and ("shift", axis) go about
    and along a vector (3,). With an amount they are fixed: ("z", 0.1), ("turn", (1, 1, 0), 0.3).
    Each acts along the axes that those before it have made, and may come several times; the
    part is at the end. With three free turns the middle one must stay away from a quarter turn:
    use Spherical there.
    stiffness : N m/rad or N/m against `rest`.  damping : N m s/rad or N s/m.
    drive : of each coordinate, e.g. ("torque", None).  initial, rest, power, friction, limits,
    limit_stiffness, input : see `MovingJoint`.
    """

    directions: tuple[Item, ...] | Sequence[Any] = holds(Directions("rx, ry, rz, x, y, z"))
    stiffness: Numbers = per_coordinate("N m/rad or N/m", "against its rest")
    damping: Numbers = per_coordinate("N m s/rad or N s/m")

    compiled: ClassVar[bool] = True

    def check_own(self) -> None:
        """Refuse a joint that moves nowhere, and coordinates that move the part in the same ways."""
        self.refuse(not self.nv, "directions", "at least one that is free", "use Fixed() instead")
        axes = self.axes(_GENERIC * np.arange(1.0, self.nv + 1.0))
        same = np.linalg.matrix_rank(axes, tol=1e-9) < self.nv
        expected = "free directions that move the part in different ways"
        self.refuse(same, "directions", expected, "leave out one that repeats another")

    def doubts(self, label: str) -> Iterator[str]:
        """Yield angles that were probably given in degrees, also those of its fixed turns."""
        yield from super().doubts(label)
        for name, twist, amount in self._steps():
            if amount is not None and twist[:3].any():
                field = f"directions of its joint: {name}"
                yield from angle_doubts(label, field, amount, constant=True)

    def _steps(self) -> Iterator[tuple[str, Array, float | None]]:
        """Name and unit twist (6,) of each step, and its amount, None for a free one."""
        for item in self.directions:
            name, *rest = (item,) if isinstance(item, str) else item
            if name in _ALONG:
                axis = direction(self.label, "directions", rest.pop(0))
                twist = turn(axis) if name == "turn" else shift(axis)
            else:
                twist = np.eye(6)[DIRECTIONS.index(name)]
            yield name, twist, rest[0] if rest else None

    @cached_property
    def _free(self) -> list[str]:
        return [name for name, _, amount in self._steps() if amount is None]

    @property
    def nq(self) -> int:  # type: ignore[override]
        return len(self._free)

    @property
    def nv(self) -> int:  # type: ignore[override]
        return len(self._free)

    @property
    def names(self) -> tuple[str, ...]:
        free = self._free
        count = [free[: k + 1].count(name) for k, name in enumerate(free)]
        return tuple(x if n == 1 else f"{x} {n}" for x, n in zip(free, count, strict=True))

    @property
    def units(self) -> tuple[str, ...]:  # type: ignore[override]
        turns = ("rx", "ry", "rz", "turn")
        return tuple("rad" if name in turns else "m" for name in self._free)

    def end(self) -> Array:
        place = np.eye(4)
        for _, twist, amount in self._steps():
            place = place if amount is None else place @ se3.exp(amount * twist)
        return place

    def symbolic_pose(self, math: Any, q: Any) -> tuple[Any, Any]:
        """One step after the other, each along the axes that those before it have made."""
        R, p, k = math.SX.eye(3), math.SX.zeros(3), 0
        for _, twist, amount in self._steps():
            turned, moved = symbolic.screw(math, twist, q[k] if amount is None else amount)
            R, p, k = R @ turned, p + R @ moved, k + int(amount is None)
        return R, p

    def twists(self) -> Array:
        """Unit twists (nv, 6) of the free steps, in the frame before the first step."""
        place, found = np.eye(4), []
        for _, twist, amount in self._steps():
            if amount is None:
                found.append(se3.Ad(place) @ twist)
            else:
                place = place @ se3.exp(amount * twist)
        return np.reshape(found, (-1, 6))
