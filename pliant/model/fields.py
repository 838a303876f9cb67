"""Fields of descriptions: what each may hold, with its unit, its range and its meaning.

A description is a frozen dataclass; each of its fields carries a `Kind`. From the kinds follow the
checks of the Python classes, the fields of robot files with their messages, the JSON Schema and the
tables of the documentation. A field without one has the kind that its annotation suggests.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from pliant.model.checks import (
    DescriptionError,
    as_float,
    choice,
    count,
    flag,
    instance,
    number,
    raised,
    refuse,
    vector,
)

if TYPE_CHECKING:
    from pliant.model.description import Description

Place = tuple[str | int, ...]
Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}


class ReportedError(Exception):
    """What a file says somewhere is wrong, and has been reported."""


class Reader(Protocol):
    """What a kind may ask of the robot file that it is read from."""

    def value(self, kind: Kind, path: Place, given: object) -> Any:
        """Return an entry as its kind reads it; raise ReportedError if it is wrong."""

    def group(self, path: Place, cls: type, given: object) -> dict[str, Any]:
        """Return the entries of a group by the fields of a class; refuse wrong ones."""

    def build(self, path: Place, cls: type, given: object, **more: object) -> Any:
        """Return the object of a class that a group gives; raise ReportedError if it is wrong."""

    def unknown(self, path: Place, name: str, value: object, known: list[str]) -> None:
        """Report an entry of a group that does not exist."""

    def setting(self, path: Place, family: str, given: object) -> Any:
        """Return the object that a file names from the classes of a family, with its settings."""

    def arclength(self, path: Place, part: object, at: float | str | None) -> float:
        """Return the arclength of a place on a part, metres; 0 on one that has no length."""

    def rod(self, name: object) -> str:
        """Return the name of a rod if the file has it."""

    def lengths_and_bodies(self, text: str) -> tuple[Mapping[str, float | None], Collection[str]]:
        """Return the lengths of rods by name, and the names of bodies, to look up a place."""

    def file(self, path: Place, name: str, what: str) -> str:
        """Return the path of a file that the entry at `path` names, relative to the file it is in.

        what : it is, for messages, such as "CSV file". Refuse one that is neither below the folder of
        the robot file nor in a folder that is allowed.
        """


class Writer(Protocol):
    """What a kind may ask of the robot file that it is written to."""

    def plain(self, value: object) -> Any:
        """Return numbers, texts, and lists of them as plain data; refuse anything else."""

    def group(self, described: object) -> dict[str, Any]:
        """Return the fields of an object that differ from their defaults, as plain data."""

    def setting(self, family: str, value: object) -> Any:
        """Return an object of a family of classes as its name with its settings."""

    def along(self, value: object) -> Any:
        """Return a quantity along a rod, also a Table or a function of s, as plain data."""

    def length(self, part: str) -> float | None:
        """Return the length of a rod, metres; None for a part without length."""

    def refuse(self, value: object, expected: str, remedy: str) -> NoReturn:
        """Refuse a value that robot files cannot hold."""


@dataclass(frozen=True)
class Kind:
    """What a field may hold. This one takes anything.

    meaning, unit : for documentation and messages.  example : as a robot file writes it.
    """

    meaning: str = ""
    unit: str = ""
    example: str = ""

    nullable: ClassVar[bool] = False
    """True if nothing in a file means the default."""
    listed: ClassVar[bool] = True
    """False for what is no field of robot files."""
    literal: ClassVar[bool | None] = None
    """In files that are included with a prefix: True for texts that stay as they are, such as columns
    of other files; False for names of inputs, which all get the prefix."""
    json: ClassVar[Schema] = {}
    """JSON Schema of a kind whose settings do not change it."""

    @property
    def note(self) -> str:
        """Meaning and unit."""
        return ", ".join(filter(None, (self.meaning, self.unit)))

    @property
    def remedy(self) -> str:
        """What to do about a wrong value."""
        return f"give e.g. {self.example or '1.0'}"

    def check(self, part: str, field: str, value: Any) -> Any:
        """Return the clean value, or raise a DescriptionError about a field of a part."""
        return value

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        """Return the value that a robot file gives, or raise a DescriptionError about it."""
        return self.check("", "", _tuples(given))

    def located(self, description: Description, part: Any, field: str, value: Any) -> Any:
        """Return the value with a place that is given by name looked up in a robot."""
        return value

    def write(self, writer: Writer, value: Any) -> Any:
        """Return what a robot file says for a clean value, as plain data that `read` takes."""
        return writer.plain(value)

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        """Yield what is wrong with a value in the robot as a whole."""
        return iter(())

    def schema(self, defs: Schema) -> Schema:
        """Return the JSON Schema; classes go into `defs`."""
        return dict(self.json)


@dataclass(frozen=True)
class Number(Kind):
    """A finite number; sign : "positive", "zero" (or more), "" for any.  limits : both ends."""

    sign: str = ""
    limits: tuple[float, float] | None = None

    def check(self, part: str, field: str, value: Any) -> float:
        real = number(part, field, value, self.unit, self.remedy, self.sign)
        low, high = self.limits or (real, real)
        expected = f"a number from {low:g} to {high:g}"
        refuse(not low <= real <= high, part, field, value, expected, self.remedy)
        return real

    def schema(self, defs: Schema) -> Schema:
        signs = {"positive": {"exclusiveMinimum": 0}, "zero": {"minimum": 0}, "": {}}
        ends = dict(zip(("minimum", "maximum"), self.limits or (), strict=False))
        return {**NUMBER, **ends, **signs[self.sign]}


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number of at least `least` and at most `most`, if these are given."""

    least: int | None = None
    most: int | None = None

    def check(self, part: str, field: str, value: Any) -> int:
        return count(part, field, value, self.least, f"give e.g. {self.example or 3}", self.most)

    def schema(self, defs: Schema) -> Schema:
        limits = {"minimum": self.least, "maximum": self.most}
        return {"type": "integer", **{k: x for k, x in limits.items() if x is not None}}


@dataclass(frozen=True)
class Vector(Kind):
    """Finite numbers, as many as one of `sizes`; zero : none may be negative."""

    sizes: tuple[int, ...] = (3,)
    zero: bool = False

    def check(self, part: str, field: str, value: Any) -> tuple[float, ...]:
        numbers = vector(part, field, value, self.sizes, self.unit)
        refuse(
            self.zero and min(numbers) < 0,
            part,
            field,
            value,
            f"zero or positive numbers in {self.unit}",
            "give 0 or more",
        )
        return numbers

    def schema(self, defs: Schema) -> Schema:
        options = [
            {"type": "array", "items": NUMBER, "minItems": size, "maxItems": size}
            for size in self.sizes
        ]
        return options[0] if len(options) == 1 else {"anyOf": options}


@dataclass(frozen=True)
class PerAxis(Vector):
    """One number for all axes, or one for each; none negative."""

    zero: bool = True

    def check(self, part: str, field: str, value: Any) -> Any:
        if as_float(value) is not None:
            return number(part, field, value, self.unit, self.remedy, "zero")
        clear = dataclasses.replace(self, unit=f"{self.unit} (or one number for all)")
        return super(PerAxis, clear).check(part, field, value)

    def schema(self, defs: Schema) -> Schema:
        return {"anyOf": [NUMBER, super().schema(defs)]}


@dataclass(frozen=True)
class Interval(Kind):
    """A stretch (s0, s1) of the rod that carries the part, metres."""

    unit: str = "metres"
    json: ClassVar[Schema] = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}

    def check(self, part: str, field: str, value: Any) -> tuple[float, float]:
        start, end = vector(part, field, value, 2, self.unit)
        refuse(
            not 0 <= start < end,
            part,
            field,
            value,
            "(s0, s1) with 0 <= s0 < s1",
            "give e.g. (0.0, 0.1)",
        )
        return start, end

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        from pliant.model.rod import check_arclength

        rod = description.rods.get(part.part)
        if rod is not None:
            yield from raised(lambda: check_arclength(part.label, field, value[1], rod.length))


@dataclass(frozen=True)
class Choice(Kind):
    """One of some names."""

    names: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        return self.meaning or ", ".join(self.names)

    def check(self, part: str, field: str, value: Any) -> str:
        return choice(part, field, value, self.names)

    def schema(self, defs: Schema) -> Schema:
        return {"enum": list(self.names)}


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    json: ClassVar[Schema] = {"type": "boolean"}

    def check(self, part: str, field: str, value: Any) -> bool:
        return flag(part, field, value)


@dataclass(frozen=True)
class Text(Kind):
    """A text."""

    json: ClassVar[Schema] = {"type": "string"}

    def check(self, part: str, field: str, value: Any) -> str:
        return instance(part, field, value, str, "a text", "give a name")


@dataclass(frozen=True)
class InputName(Text):
    """The name of an input."""

    literal: ClassVar[bool | None] = False


@dataclass(frozen=True)
class Column(Text):
    """The name of a column of another file."""

    literal: ClassVar[bool | None] = True


@dataclass(frozen=True)
class FilePath(Column):
    """The path of a file, in robot files relative to these; what : kind of the file, for messages."""

    what: str = "file"

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        return reader.file(path, self.check("", "", given), self.what)


@dataclass(frozen=True)
class Name(Text):
    """The name of a part, which is the key of its entry in a robot file."""

    listed: ClassVar[bool] = False


@dataclass(frozen=True)
class Several(Kind):
    """A list of one kind."""

    example: str = "[0.0, 1.0]"
    item: Kind = Kind()

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        instance("", "", given, list, "a list", self.remedy)
        if type(self.item) is Number and all(type(item) is float for item in given):
            return tuple(given)
        return tuple(reader.value(self.item, (*path, k), item) for k, item in enumerate(given))

    def write(self, writer: Writer, value: Any) -> Any:
        return [self.item.write(writer, item) for item in value]

    def located(self, description: Description, part: Any, field: str, value: Any) -> Any:
        if not isinstance(value, (tuple, list)):
            return value
        found = [
            self.item.located(description, part, f"{field}[{k}]", x) for k, x in enumerate(value)
        ]
        same = all(a is b for a, b in zip(found, value, strict=True))
        return value if same else tuple(found)

    def schema(self, defs: Schema) -> Schema:
        return {"type": "array", "items": self.item.schema(defs)}


@dataclass(frozen=True)
class Setting(Kind):
    """An object of a family of classes that the caller hands over: a formulation, an integrator."""

    family: str = "formulation"
    json: ClassVar[Schema] = {
        "anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]
    }

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        return reader.setting(path, self.family, given)

    def write(self, writer: Writer, value: Any) -> Any:
        return writer.setting(self.family, value)


def kind_of(annotation: Any) -> Kind:
    """Return the kind that a type suggests."""
    inner = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        options = [item for item in inner if item is not type(None)]
        return kind_of(options[0]) if len(options) == 1 else Kind()
    if typing.get_origin(annotation) is typing.Literal:
        return Choice(names=inner) if all(isinstance(item, str) for item in inner) else Kind()
    if typing.get_origin(annotation) is tuple and inner[-1] is Ellipsis:
        return Several(item=kind_of(inner[0]))
    plain = {int: Whole(), float: Number(), bool: Flag(), str: Text()}
    if isinstance(annotation, type) and annotation in plain:
        return plain[annotation]
    kind = getattr(annotation, "field_kind", None)
    return kind() if callable(kind) else Kind()


def _tuples(given: Any) -> Any:
    """Return lists in a list as tuples."""
    return tuple(_tuples(item) for item in given) if isinstance(given, list) else given


@dataclass(frozen=True)
class FieldOf:
    """A field of a class: its kind and its default, MISSING if it must be given.

    A default that is made for each object stands here as None.
    """

    kind: Kind
    default: Any

    @property
    def required(self) -> bool:
        """True if it must be given."""
        return self.default is MISSING

    def takes_nothing(self) -> bool:
        """Tell whether None stands for the default."""
        return self.default is None or self.kind.nullable


def holds(kind: Kind, default: Any = MISSING) -> Any:
    """Return a dataclass field of a kind; a default that is a function is called for each object."""
    metadata = {"kind": kind}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def quantity(
    unit: str = "",
    meaning: str = "",
    *,
    default: Any = MISSING,
    shape: int | tuple[int, ...] | None = None,
    sign: str = "",
    along: bool = False,
    example: str = "",
) -> Any:
    """Return the dataclass field of a number or vector with a unit.

    shape : None for a number, 3 for a vector of three, (3, 6) for one of three or six.
    sign : "positive", "zero" for zero or more, "" for any.
    along : True if it may also vary along a rod: a number, a (base, tip) pair, a function of s or a
        Table; a vector as it stands, a function of s or a Table of rows.
    example : for messages.
    """
    from pliant.model.profile import Along, Rows

    sizes = shape if isinstance(shape, tuple) else () if shape is None else (shape,)
    if sizes:
        family = Rows if along else Vector
        return holds(family(meaning, unit, example, sizes, sign != ""), default)
    if along:
        return holds(Along(meaning, unit, example, sign == "zero"), default)
    return holds(Number(meaning, unit, example, sign), default)


def fields_of(cls: type) -> dict[str, FieldOf]:
    """Return the fields of a class by name, as its constructor takes them."""
    return _fields(cls)


@cache  # not of `fields_of`, because mypy takes the classes for objects that cannot be hashed
def _fields(cls: type) -> dict[str, FieldOf]:
    declared = {}
    if dataclasses.is_dataclass(cls):
        declared = {item.name: item for item in dataclasses.fields(cls)}
    hints = _hints(cls)
    fields = {}
    for name, item in inspect.signature(cls).parameters.items():
        if item.kind in (item.VAR_KEYWORD, item.VAR_POSITIONAL):
            continue
        default = MISSING if item.default is item.empty else item.default
        kind = None
        if name in declared:
            kind = declared[name].metadata.get("kind")
            default = default if declared[name].default_factory is MISSING else None
        fields[name] = FieldOf(kind or kind_of(hints.get(name)), default)
    return fields


def _hints(cls: type) -> dict[str, Any]:
    """Return the types of the constructor's arguments, as far as they can be found."""
    for holder in (getattr(cls, "__init__", None), cls):
        try:
            hints = typing.get_type_hints(holder)
        except (NameError, TypeError):
            continue
        if set(hints) - {"return"}:
            return hints
    return {}


def check_fields(described: Any, part: str) -> None:
    """Replace every field of a frozen dataclass by its clean value."""
    for name, item in fields_of(type(described)).items():
        value = getattr(described, name)
        if value is not None or not item.takes_nothing() or item.kind.nullable:
            object.__setattr__(described, name, item.kind.check(part, name, value))


def schema_of(cls: type, defs: Schema) -> Schema:
    """Return a reference to the JSON Schema of a class, which is put into `defs`."""
    origin = f"{cls.__module__}.{cls.__qualname__}"
    name = cls.__name__
    while defs.get(name, {}).get("$comment", origin) != origin:  # another class of this name
        name += "_"
    if name not in defs:
        defs[name] = {"$comment": origin}  # before its fields, which may refer to it
        listed = {key: item for key, item in fields_of(cls).items() if item.kind.listed}
        required = [key for key, item in listed.items() if item.required]
        defs[name] |= {
            "type": "object",
            "properties": {key: _property(item, defs) for key, item in listed.items()},
            "additionalProperties": False,
            **({"required": required} if required else {}),
            **(
                {"description": inspect.cleandoc(cls.__doc__).splitlines()[0]}
                if cls.__doc__
                else {}
            ),
        }
    return {"$ref": f"#/$defs/{name}"}


def _property(item: FieldOf, defs: Schema) -> Schema:
    """Return the JSON Schema of a field with its meaning and unit."""
    inner = item.kind.schema(defs)
    if item.takes_nothing() and inner:
        inner = {"anyOf": [inner, {"type": "null"}]}
    return {**inner, "description": item.kind.note} if item.kind.note else inner
