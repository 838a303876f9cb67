"""The smallest values of a robot file: numbers, vectors and profiles.

Each is checked by the same functions as the Python classes, so a rule and its wording exist once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import PlainValidator, WithJsonSchema

from pliant.model import DescriptionError, Table, did_you_mean
from pliant.model.checks import as_float, choice, flag, not_negative, number, positive, vector
from pliant.model.profile import profile_field

Check = Callable[[Any], Any]

_NUMBER = {"type": "number"}
_NUMBERS = {"type": "array", "items": _NUMBER}
_ROWS = {"type": "array", "items": _NUMBERS}


def _table_schema(values: Mapping[str, object]) -> dict[str, object]:
    inner = {
        "type": "object",
        "properties": {"s": _NUMBERS, "values": values},
        "required": ["s", "values"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"table": inner},
        "required": ["table"],
        "additionalProperties": False,
    }


def _vector_schema(*sizes: int) -> dict[str, object]:
    options = [{**_NUMBERS, "minItems": size, "maxItems": size} for size in sizes]
    return options[0] if len(options) == 1 else {"anyOf": options}


def _above_zero(unit: str, example: str) -> Check:
    return lambda value: positive("", "", value, unit, f"give e.g. {example}")


def _from_zero(unit: str, example: str) -> Check:
    return lambda value: not_negative("", "", value, unit, f"give e.g. {example}")


def _finite(unit: str = "", example: str = "1.0") -> Check:
    return lambda value: number("", "", value, unit, f"give e.g. {example}")


def _vector(unit: str, *sizes: int) -> Check:
    def check(value: object) -> tuple[float, ...]:
        return vector("", "", value, sizes, unit)

    return check


def one_of(*names: str) -> Check:
    """Return a check that accepts one of these names."""
    return lambda value: choice("", "", value, names)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise DescriptionError("", "", value, "a whole number of 1 or more", "give e.g. 6")
    return value


def _yes_or_no(value: object) -> bool:
    return flag("", "", value)


def _drag(value: object) -> object:
    """Check one number, or three for the body axes; their sign is the rod's own check."""
    if as_float(value) is not None:
        return not_negative("", "", value, "kg/m^2")
    return vector("", "", value, 3, "kg/m^2 (or one number for all)")


def _moments(value: object) -> object:
    """Check the shape of a body's inertia: 3 or 6 numbers or three rows of 3."""
    if isinstance(value, list) and len(value) == 3 and all(isinstance(row, list) for row in value):
        return tuple(vector("", "", row, 3, "kg m^2") for row in value)
    return vector("", "", value, (3, 6), "kg m^2")


def read_table(value: object) -> object:
    """Return ``{table: {s: ..., values: ...}}`` as a Table, anything else unchanged."""
    if not isinstance(value, dict):
        return value
    remedy = "give {table: {s: [...], values: [...]}}"
    if list(value) != ["table"] or not isinstance(value["table"], dict):
        raise DescriptionError("", "", value, "a number, a list or a table", remedy)
    # "value" is a natural slip for a single column, and its meaning is not in doubt
    columns = {"values" if key == "value" else key: item for key, item in value["table"].items()}
    for key in columns:
        if key not in ("s", "values"):
            raise DescriptionError(
                "", f"table.{key}", columns[key], "left out", did_you_mean(key, ["s", "values"])
            )
    if len(columns) < 2:
        raise DescriptionError("", "table", value["table"], "given with s and values", remedy)
    try:
        return Table(columns["s"], columns["values"])
    except DescriptionError as error:
        raise error.within("", "table") from None


def _profile(unit: str, zero: bool = False, pair: bool = True) -> Check:
    return lambda value: profile_field("", "", read_table(value), unit, zero=zero, pair=pair)


def _directions(unit: str, zero: bool = False) -> Check:
    """Check a Stiffness entry: one profile, or a list of two for the two directions."""
    single = _profile(unit, zero, pair=False)

    def check(value: object) -> object:
        if isinstance(value, list) and len(value) == 2:
            return (single(value[0]), single(value[1]))
        return single(value)

    return check


def _rows(unit: str, *sizes: int) -> Check:
    """Check a vector, or a table of such vectors along the rod."""

    def check(value: object) -> object:
        found = read_table(value)
        if not isinstance(found, Table):
            return vector("", "", found, sizes, unit)
        for row in list(found.values):  # type: ignore[arg-type]
            try:
                vector("", "table.values", row, sizes, unit)
            except DescriptionError as error:
                raise DescriptionError(
                    "", "table.values", row, f"rows of {error.expected}", error.remedy
                ) from None
        return found

    return check


class Choice(NamedTuple):
    """A class chosen by name with keyword settings, as a file gives it."""

    name: str
    settings: dict[str, object]


def _choice(value: object) -> Choice:
    """Read ``name`` or ``{name: {setting: value}}``."""
    if isinstance(value, str):
        return Choice(value, {})
    if isinstance(value, dict) and len(value) == 1:
        ((name, settings),) = value.items()
        if settings is None or isinstance(settings, dict):
            return Choice(name, dict(settings or {}))
    raise DescriptionError(
        "", "", value, "a name, or a name with its settings", "give e.g. {bspline: {degree: 3}}"
    )


_SCALAR_PROFILE = {"anyOf": [_NUMBER, _vector_schema(2), _table_schema(_NUMBERS)]}
_ONE_PROFILE = {"anyOf": [_NUMBER, _table_schema(_NUMBERS)]}
_TWO_PROFILES = {
    "anyOf": [
        *_ONE_PROFILE["anyOf"],
        {"type": "array", "items": _ONE_PROFILE, "minItems": 2, "maxItems": 2},
    ]
}
_POSITIVE = WithJsonSchema({"type": "number", "exclusiveMinimum": 0})
_NOT_NEGATIVE = WithJsonSchema({"type": "number", "minimum": 0})

Number = Annotated[float, PlainValidator(_finite()), WithJsonSchema(_NUMBER)]
Metres = Annotated[float, PlainValidator(_above_zero("metres", "0.3")), _POSITIVE]
Pascal = Annotated[float, PlainValidator(_above_zero("Pa", "1.0e6")), _POSITIVE]
Density = Annotated[float, PlainValidator(_from_zero("kg/m^3", "1000")), _NOT_NEGATIVE]
PascalSeconds = Annotated[float, PlainValidator(_from_zero("Pa s", "10")), _NOT_NEGATIVE]
Seconds = Annotated[float, PlainValidator(_above_zero("seconds", "0.01")), _POSITIVE]
SecondsOrZero = Annotated[float, PlainValidator(_from_zero("seconds", "0.01")), _NOT_NEGATIVE]
Hertz = Annotated[float, PlainValidator(_above_zero("Hz", "1.0")), _POSITIVE]
HertzOrZero = Annotated[float, PlainValidator(_from_zero("Hz", "1.0")), _NOT_NEGATIVE]
Factor = Annotated[float, PlainValidator(_above_zero("", "0.9")), _POSITIVE]
Kilograms = Annotated[float, PlainValidator(_from_zero("kg", "0.02")), _NOT_NEGATIVE]
PerSecond = Annotated[float, PlainValidator(_from_zero("1/s", "0.1")), _NOT_NEGATIVE]
BendingStiffness = Annotated[float, PlainValidator(_above_zero("N m^2", "0.0186")), _POSITIVE]
AxialStiffness = Annotated[float, PlainValidator(_above_zero("N", "1e4")), _POSITIVE]
KilogramsPerMetre = Annotated[float, PlainValidator(_from_zero("kg/m", "0.12")), _NOT_NEGATIVE]
YesOrNo = Annotated[bool, PlainValidator(_yes_or_no), WithJsonSchema({"type": "boolean"})]
Count = Annotated[int, PlainValidator(_count), WithJsonSchema({"type": "integer", "minimum": 1})]

Position = Annotated[
    tuple[float, ...], PlainValidator(_vector("metres", 3)), WithJsonSchema(_vector_schema(3))
]
Offset = Annotated[
    tuple[float, ...], PlainValidator(_vector("metres", 2, 3)), WithJsonSchema(_vector_schema(2, 3))
]
Conductance = Annotated[float, PlainValidator(_above_zero("m^3/s", "1e-4")), _POSITIVE]
Volume = Annotated[float, PlainValidator(_from_zero("m^3", "1e-6")), _NOT_NEGATIVE]
SectionPoint = Annotated[
    tuple[float, ...], PlainValidator(_vector("metres", 2)), WithJsonSchema(_vector_schema(2))
]
Interval = Annotated[
    tuple[float, ...], PlainValidator(_vector("metres", 2)), WithJsonSchema(_vector_schema(2))
]
Gravity = Annotated[
    tuple[float, ...], PlainValidator(_vector("m/s^2", 3)), WithJsonSchema(_vector_schema(3))
]
RotationVector = Annotated[
    tuple[float, ...], PlainValidator(_vector("radians", 3)), WithJsonSchema(_vector_schema(3))
]
PerUnit = Annotated[
    tuple[float, ...],
    PlainValidator(_vector("metres or radians per unit of input", 3)),
    WithJsonSchema(_vector_schema(3)),
]
Drag = Annotated[
    Any,
    PlainValidator(_drag),
    WithJsonSchema({"anyOf": [_NUMBER, _vector_schema(3)]}),
]
BodyInertia = Annotated[
    Any,
    PlainValidator(_moments),
    WithJsonSchema({"anyOf": [_vector_schema(3, 6), {**_ROWS, "minItems": 3, "maxItems": 3}]}),
]
Inertia = Annotated[
    tuple[float, ...], PlainValidator(_vector("kg m", 3)), WithJsonSchema(_vector_schema(3))
]
Moment = Annotated[
    tuple[float, ...],
    PlainValidator(_vector("N m (N m per metre when distributed)", 3)),
    WithJsonSchema(_vector_schema(3)),
]
Force = Annotated[
    tuple[float, ...] | Table,
    PlainValidator(_rows("N (N per metre when distributed)", 3)),
    WithJsonSchema({"anyOf": [_vector_schema(3), _table_schema(_ROWS)]}),
]
Wrench = Annotated[
    tuple[float, ...],
    PlainValidator(_vector("N or (N m, N)", 3, 6)),
    WithJsonSchema(_vector_schema(3, 6)),
]
Natural = Annotated[
    tuple[float, ...] | Table,
    PlainValidator(_rows("rad/m", 3, 6)),
    WithJsonSchema({"anyOf": [_vector_schema(3, 6), _table_schema(_ROWS)]}),
]
LengthProfile = Annotated[Any, PlainValidator(_profile("metres")), WithJsonSchema(_SCALAR_PROFILE)]
AreaProfile = Annotated[
    Any, PlainValidator(_profile("square metres")), WithJsonSchema(_SCALAR_PROFILE)
]
MomentProfile = Annotated[Any, PlainValidator(_profile("m^4")), WithJsonSchema(_SCALAR_PROFILE)]
TwistProfile = Annotated[
    Any, PlainValidator(_profile("N m^2", pair=False)), WithJsonSchema(_ONE_PROFILE)
]
AxialProfile = Annotated[
    Any, PlainValidator(_profile("N", pair=False)), WithJsonSchema(_ONE_PROFILE)
]
MassProfile = Annotated[
    Any, PlainValidator(_profile("kg/m", zero=True, pair=False)), WithJsonSchema(_ONE_PROFILE)
]
BendingProfiles = Annotated[
    Any, PlainValidator(_directions("N m^2")), WithJsonSchema(_TWO_PROFILES)
]
ShearProfiles = Annotated[Any, PlainValidator(_directions("N")), WithJsonSchema(_TWO_PROFILES)]

BendingDampings = Annotated[
    Any, PlainValidator(_directions("N m^2 s", zero=True)), WithJsonSchema(_TWO_PROFILES)
]
ShearDampings = Annotated[
    Any, PlainValidator(_directions("N s", zero=True)), WithJsonSchema(_TWO_PROFILES)
]
TwistDamping = Annotated[
    Any, PlainValidator(_profile("N m^2 s", zero=True, pair=False)), WithJsonSchema(_ONE_PROFILE)
]
AxialDamping = Annotated[
    Any, PlainValidator(_profile("N s", zero=True, pair=False)), WithJsonSchema(_ONE_PROFILE)
]

Named = Annotated[
    Choice,
    PlainValidator(_choice),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]}
    ),
]
