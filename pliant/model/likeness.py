"""What descriptions of robots of one kind have in common: all but plain numbers.

Whatever is made for a robot depends on its kind only, but for a few arrays that hold the numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pliant.model.description import Description
from pliant.model.registry import Described, Entry


def kind_of(description: Description) -> Hashable | None:
    """What all descriptions have in common that differ in the numbers of `Entry.refilled` only.

    None if an entry cannot be told apart from others by the values of its fields.
    """
    entries = list(description.parts.values())
    if any(entry.refilled is None for entry in entries):
        return None
    try:
        found = (_signs(description.gravity), *map(_entry, entries))
        hash(found)
    except TypeError:
        return None
    return found


def _entry(entry: Entry) -> Hashable:
    refilled = entry.refilled or ()
    return type(entry), *(
        _signs(value) if name in refilled else _value(value)
        for name, value in _fields(entry).items()
    )


def _fields(item: Any) -> dict[str, Any]:
    """The fields of a dataclass by name."""
    return {one.name: getattr(item, one.name) for one in fields(item)}


def _signs(value: Any) -> Hashable:
    """Which numbers there are; for what is zero decides whether something acts at all."""
    if isinstance(value, tuple):
        return tuple(map(_number, value))
    if isinstance(value, Described):
        # in a section, a pair of numbers is a taper, which elements are placed by
        return type(value), *map(_number, _fields(value).values())
    return _number(value)


def _number(value: Any) -> Hashable:
    return value != 0.0 if isinstance(value, int | float) else _value(value)


def _value(value: Any) -> Hashable:
    """What stands for a value: equal for values that are equal in all they hold."""
    if isinstance(value, np.ndarray):
        return value.tobytes(), value.shape, value.dtype.char
    if isinstance(value, Entry):
        return type(value), value.name
    if isinstance(value, tuple | list):
        return type(value), *map(_value, value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), *map(_value, _fields(value).values())
    return value  # type: ignore[no-any-return]
