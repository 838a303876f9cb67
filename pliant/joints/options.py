"""What every joint that moves can have: springs, dampers and drives, as fields of its description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.joints.contract import FORCES, MOTIONS, JointMap
from pliant.model.checks import DescriptionError, as_float, choice, instance, number, refuse, vector
from pliant.model.fields import NUMBER, Kind, Schema, holds

Numbers = float | Sequence[float]
OpenNumbers = float | None | Sequence[float | None]
Words = str | Sequence[str | None]
_WORDS = {"rad": ("angle", "torque"), "m": ("position", "force"), "": (*MOTIONS, *FORCES)}


@dataclass(frozen=True)
class PerCoordinate(Kind):
    """One number for all coordinates of a joint, or one for each; sign : as of `Number`.

    open : whether None may stand for a number.
    """

    sign: str = ""
    open: bool = False

    def check(self, part: str, field: str, value: Any) -> Any:
        if self.open and value is None:
            return None
        if as_float(value) is not None or not isinstance(value, (list, tuple, np.ndarray)):
            return number(part, field, value, self.unit, self.remedy, self.sign)
        known = [0.0 if self.open and x is None else x for x in value]
        numbers = vector(part, field, known, (len(known),), self.unit)
        for each in numbers:
            number(part, field, each, self.unit, self.remedy, self.sign)
        return tuple(None if x is None else y for x, y in zip(value, numbers, strict=True))

    def schema(self, defs: Schema) -> Schema:
        item: Schema = {"anyOf": [NUMBER, {"type": "null"}]} if self.open else NUMBER
        return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


@dataclass(frozen=True)
class Limits(Kind):
    """A pair (lower, upper) for all coordinates of a joint, or one for each; None for no limit."""

    def check(self, part: str, field: str, value: Any) -> Any:
        several = isinstance(value, (list, tuple)) and any(
            isinstance(x, (list, tuple)) for x in value
        )
        if several:
            return tuple(None if x is None else self._pair(part, field, x) for x in value)
        return self._pair(part, field, value)

    def _pair(self, part: str, field: str, value: Any) -> tuple[float | None, float | None]:
        good = isinstance(value, (list, tuple, np.ndarray)) and len(value) == 2
        expected = "(lower, upper), of which one may be None"
        refuse(not good, part, field, value, expected, self.remedy)
        low, high = (None if x is None else as_float(x) for x in value)
        wrong = [x for x, y in zip(value, (low, high), strict=True) if x is not None and y is None]
        refuse(wrong, part, field, value, "finite numbers", self.remedy)
        given = [x for x in (low, high) if x is not None]
        bad = not given or not np.isfinite(given).all() or (len(given) == 2 and low >= high)  # type: ignore[operator]
        refuse(bad, part, field, value, "a lower limit below the upper one", self.remedy)
        return low, high

    def schema(self, defs: Schema) -> Schema:
        end = {"anyOf": [NUMBER, {"type": "null"}]}
        pair = {"type": "array", "items": end, "minItems": 2, "maxItems": 2}
        several = {"type": "array", "items": {"anyOf": [pair, {"type": "null"}]}, "minItems": 1}
        return {"anyOf": [pair, several]}


@dataclass(frozen=True)
class PerCoordinateText(Kind):
    """A word for all coordinates of a joint, or one for each, None where there is none."""

    def check(self, part: str, field: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return tuple(None if x is None else self._text(part, field, x) for x in value)
        return self._text(part, field, value)

    def _text(self, part: str, field: str, value: Any) -> str:
        return instance(part, field, value, str, "a text", self.remedy)

    def schema(self, defs: Schema) -> Schema:
        text = {"type": "string"}
        items = {"anyOf": [text, {"type": "null"}]}
        return {"anyOf": [text, {"type": "array", "items": items, "minItems": 1}]}


@dataclass(frozen=True)
class InputNames(PerCoordinateText):
    """The name of an input for all coordinates of a joint, or one for each."""

    literal: ClassVar[bool | None] = False


def per_coordinate(unit: str, meaning: str = "", sign: str = "zero", default: Any = 0.0) -> Any:
    """Return a field of a joint: one number for all its coordinates, or one for each."""
    return holds(PerCoordinate(meaning, unit, "0.1", sign), default)


@dataclass(frozen=True, kw_only=True)
class MovingJoint(JointMap):
    """A joint with the options that all joints have; its own fields come first.

    A subclass may have the fields `stiffness` and `damping`, see `per_coordinate`. Each option is one
    number for all coordinates or one for each, in the order of `names`.

    initial : values in the undeformed robot, rad and m: where motions and searches for equilibria
        begin, and where springs, tendons and links that take their length from the undeformed robot
        are relaxed. An input that prescribes a coordinate has it as its described value.
    rest : values at which the spring is relaxed, rad and m; None for the initial one.
    power : of the velocities in the damping, damping |v|^power against v; one is a viscous damper.
        Below one it is smoothed at velocities under 1 mrad/s or mm/s.
    friction : dry friction, the torque or force that it takes to slide, N m or N. A joint at rest
        sticks: it gives way by at most 1e-4 rad or 1e-5 m, and stays there.
    limits : (lower, upper) values between which the joint moves, rad and m, None for no limit.
    limit_stiffness : of the stops at its limits, N m/rad or N/m; None for hard stops.
    drive : "angle" or "position" for a coordinate that an input prescribes, "torque" or "force" for one
        along which an input acts, None for one that moves freely.
    input : name of the input of each driven coordinate. Without it an input has the name of the part,
        with that of the coordinate if there are several.
    """

    file_name: ClassVar[str] = ""

    initial: Numbers = holds(PerCoordinate("values in the undeformed robot", "rad, m", "0.1"), 0.0)
    rest: OpenNumbers = holds(
        PerCoordinate(
            "relaxed values of its spring, null as initially", "rad, m", "0.1", open=True
        ),
        0.0,
    )
    power: Numbers = per_coordinate("", "of the velocities in the damping", "positive", 1.0)
    friction: Numbers = per_coordinate("N m or N", "that it takes to slide")
    limits: Any = holds(Limits("lower and upper", "rad, m", "[-1.0, 1.0]"), None)
    limit_stiffness: Numbers | None = per_coordinate(
        "N m/rad or N/m", "of the stops at its limits", "positive", None
    )
    drive: Words | None = holds(PerCoordinateText("what an input does", example="angle"), None)
    input: Words | None = holds(InputNames("name of the input", example="turn"), None)

    def check(self) -> None:
        """Refuse options that do not fit the coordinates."""
        self._check_lengths()
        self._check_drive()
        self._check_initial()
        self.check_own()
        super().check()

    def _check_initial(self) -> None:
        """Refuse initial values beyond the limits of the joint."""
        bounds, names = self.bounds, self.names
        for at, (low, high), name in zip(self.each("initial"), bounds, names, strict=True):
            between = f"between the limits {low:g} and {high:g} of {name}"
            self.refuse(at != 0.0 and not low <= at <= high, "initial", between, "give another one")

    def check_own(self) -> None:
        """Refuse fields of its own that cannot be true together."""

    def _check_lengths(self) -> None:
        for field in (
            "initial",
            "rest",
            "stiffness",
            "damping",
            "power",
            "friction",
            "limit_stiffness",
            "limits",
        ):
            value = getattr(self, field)
            if field == "limits" and not _is_several(value):
                continue
            if isinstance(value, (tuple, list)) and len(value) != self.nv:
                listed = f"one for all, or {self.nv} for {', '.join(self.names)}"
                self.refuse(True, field, listed, "give as many numbers as it has coordinates")

    def _check_drive(self) -> None:
        given = self.drive
        if isinstance(given, tuple) and len(given) != self.nv:
            listed = f"one word, or {self.nv} for {', '.join(self.names)}"
            self.refuse(True, "drive", listed, "give None for a coordinate that moves freely")
        units = self.units or ("",) * self.nv
        for word, unit in zip(self.drives, units, strict=True):
            if word is not None:
                choice(self.label, "drive", word, _WORDS[unit])
        partly = not self.additive and 0 < len(self.prescribed) < self.nv
        self.refuse(partly, "drive", "the same for all its coordinates", "prescribe all or none")
        driven = [k for k, word in enumerate(self.drives) if word is not None]
        names = self.input
        if names is None:
            return
        several = (names,) if isinstance(names, str) else tuple(names)
        good = len(several) == len(driven) and None not in several
        self.refuse(not driven, "input", "left out, for nothing drives it", "give it a drive")
        expected = f"{len(driven)} name{'s' * (len(driven) > 1)}, one for each driven coordinate"
        self.refuse(not good, "input", expected, "give e.g. 'turn', or leave it out")
        repeated = len(set(several)) < len(several)
        self.refuse(repeated, "input", "a name of its own for each coordinate", "rename one")


def _is_several(limits: Any) -> bool:
    return limits is not None and any(isinstance(x, (list, tuple)) for x in limits)


def direction(label: str, field: str, value: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the unit vector (3,) of an axis: "x", "-x", "y", "-y", "z", "-z" or a vector."""
    if isinstance(value, str):
        choice(label, field, value, AXES)
        return np.array(AXES[value])
    found = np.array(vector(label, field, value, 3, ""))
    if not found.any():
        expected = "a direction that is not zero"
        raise DescriptionError(label, field, value, expected, "give e.g. 'x'")
    return np.asarray(found / np.linalg.norm(found))


AXES = {
    "x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
}


@dataclass(frozen=True)
class Axis(Kind):
    """A direction: "x", "-x", "y", "-y", "z", "-z" or a vector (3,)."""

    def check(self, part: str, field: str, value: Any) -> Any:
        direction(part, field, value)
        return value if isinstance(value, str) else tuple(float(x) for x in value)

    def schema(self, defs: Schema) -> Schema:
        vector3 = {"type": "array", "items": NUMBER, "minItems": 3, "maxItems": 3}
        return {"anyOf": [{"enum": list(AXES)}, vector3]}
