"""Fields of descriptions: what each may hold, with its unit, its range and its meaning.

A description is a frozen dataclass; each of its fields carries a `Kind`. From the kinds follow the
checks of the Python classes, the fields of robot files with their messages, the JSON Schema and the
tables of the documentation. A field without one has the kind that its annotation suggests.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Any

from pliant.model.kinds import Kind, Number, Schema, Vector, kind_of


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


@cache
def _fields(cls: type) -> dict[str, FieldOf]:
    kinds, made = {}, set()
    if dataclasses.is_dataclass(cls):
        items = dataclasses.fields(cls)
        kinds = {item.name: item.metadata.get("kind") for item in items}
        made = {item.name for item in items if item.default_factory is not MISSING}
    hints = _hints(cls)
    found = {}
    for name, item in inspect.signature(cls).parameters.items():
        if item.kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL):
            continue
        kind = kinds.get(name) or kind_of(hints.get(name))
        default = MISSING if item.default is inspect.Parameter.empty else item.default
        if name in made:
            default = None
        found[name] = FieldOf(kind, default)
    return found


def _hints(cls: type) -> dict[str, Any]:
    """Return the types of the constructor's arguments, as far as they can be found."""
    for holder in (getattr(cls, "__init__", None), cls):
        try:
            found = typing.get_type_hints(holder)
        except (NameError, TypeError):
            continue
        if set(found) - {"return"}:
            return found
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
        defs[name] = {"$comment": origin}
        listed = {key: item for key, item in fields_of(cls).items() if item.kind.listed}
        properties = {}
        for key, item in listed.items():
            note = {"description": item.kind.note} if item.kind.note else {}
            inner = item.kind.schema(defs)
            nothing = item.takes_nothing() and inner
            properties[key] = {
                **({"anyOf": [inner, {"type": "null"}]} if nothing else inner),
                **note,
            }
        defs[name].update(type="object", properties=properties, additionalProperties=False)
        required = [key for key, item in listed.items() if item.required]
        if required:
            defs[name]["required"] = required
        if cls.__doc__:
            defs[name]["description"] = inspect.cleandoc(cls.__doc__).splitlines()[0]
    return {"$ref": f"#/$defs/{name}"}
