"""Numbers inside a description by dotted path, to read them and to make robots with others.

    arm.material.E        a field of a field of a part
    arm.natural[0]        an entry of a vector, arm.pose[0,3] of a matrix
    mount.stiffness.x     an entry of numbers by name
    arm.section.radius    a taper, vector, table or function as a whole: its factor, 1 as described
    gravity[2]            a field of the robot itself
    parameters.radius     a named parameter of the robot file

A field that only one of the dataclasses inside a part has needs no full path: arm.E, arm.bending.
Everything follows from the fields of the dataclasses; a new part or field has its paths at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from pliant.model.checks import DescriptionError, as_float, did_you_mean, nearest_name
from pliant.model.description import Description
from pliant.model.fields import Setting
from pliant.model.origin import Origin, with_parameters
from pliant.model.places import Frame
from pliant.model.profile import Table
from pliant.model.rod import Rod

_INDEX = re.compile(r"^(\w+)((?:\[[-\d,\s]+\])*)$")
_TIP = 1e-9
_NAMED = "parameters."


@dataclass(frozen=True)
class Scaled:
    """A function times a number."""

    function: Callable[[float], Any]
    factor: float

    def __call__(self, s: float) -> Any:
        """Return the function's value at ``s`` times the factor."""
        return self.factor * np.asarray(self.function(s), dtype=float)


@dataclass(frozen=True)
class PathValue:
    """What a path leads to.

    path : in full.  value : the number there, or 1.0 for something that is scaled as a whole.
    whole : True if the path leads to a vector, table or function, whose factor the value is.
    """

    path: str
    value: float
    whole: bool


def number_paths(description: Description) -> list[str]:
    """Return every path that leads to a number or to something that can be scaled."""
    return [path for path, _ in _walk(description)]


def value_at(description: Description, path: str) -> PathValue:
    """Return what a path leads to; refuse one that leads nowhere, with the nearest that does."""
    full, keys = _resolve(description, path)
    value = _get(description, keys)
    if not _is_value(value):
        every = number_paths(description)
        inside = [item for item in every if item.startswith((f"{full}.", f"{full}["))]
        raise _refused(path, "the path of a number", did_you_mean(path, inside or every))
    one = as_float(value)
    return PathValue(full, 1.0 if one is None else one, one is None)


def field_at(description: Description, path: str) -> tuple[list[str], Any]:
    """Return the names that lead to the field that a path is in, and all that stands there.

    The first two are "parts" and the name of the part; indices of the path are left out.
    """
    _, keys = _resolve(description, path)
    names = [key for key in keys if not isinstance(key, tuple)]
    return names, _get(description, names)


def with_values(description: Description, values: Mapping[str, float]) -> Description:
    """Return a copy of the description with other numbers at the given paths.

    When a rod gets another length, frames at its tip stay at its tip; places given by their
    arclength stay where they are.
    """
    new = _with_named(description, values)
    for path, value in values.items():
        full, keys = _resolve(new, path)
        if keys[0] == "origin":
            continue
        before = new
        new = _put(new, keys, float(value))
        if full.endswith(".length"):
            new = _follow_tip(new, _get(before, keys[:2]), _get(new, keys[:2]))
    return new


def _with_named(description: Description, values: Mapping[str, float]) -> Description:
    """Return a copy of the description with those values that are of named parameters."""
    named: dict[str, Any] = {}
    for path, value in values.items():
        _, keys = _resolve(description, path)
        if keys[0] == "origin":
            assert description.origin is not None
            old = named.get(keys[2], description.origin.values[keys[2]])
            named[keys[2]] = _put(old, keys[3:], float(value))
    return with_parameters(description, named) if named else replace(description)


# -- from a text to keys ---------------------------------------------------------------------


def _resolve(description: Description, path: object) -> tuple[str, list[Any]]:
    """Return the full path and its keys: field names, part names, indices."""
    if not isinstance(path, str) or not path.strip():
        raise _refused(path, "a dotted path such as 'arm.material.E'", "give a text")
    text = path.strip()
    if text.startswith(_NAMED) and description.origin is not None:
        return _resolve_named(description.origin, text)
    starts = [n for n in description.parts if text == n or text.startswith((f"{n}.", f"{n}["))]
    full = max(starts, key=len, default="")
    rest = text[len(full) :].lstrip(".")
    keys: list[Any] = ["parts", full] if full else []
    for word in filter(None, rest.split(".")):
        match = _INDEX.match(word)
        if match is None:
            raise _refused(
                path, "field names with indices in brackets", "give e.g. 'arm.natural[0]'"
            )
        holder = _get(description, keys)
        if holder is None:
            raise _refused(
                path, f"below something that there is, and there is no {full}", f"give {full} first"
            )
        names = _find(holder, match[1])
        if names is None:
            raise _refused(path, "a path into this robot", _nearest(description, text, full))
        keys = [*keys, *names]
        full = ".".join(filter(None, [full, *names]))
        for group in re.findall(r"\[([^\]]*)\]", match[2]):
            index = tuple(int(item) for item in group.split(","))
            field = _get(description, keys)
            try:
                _step(field, index)
            except (IndexError, ValueError, TypeError):
                raise _refused(
                    path, f"an index into {field!r}", "count from 0, within the size of the field"
                ) from None
            keys = [*keys, index]
            full += f"[{','.join(str(item) for item in index)}]"
    return full, keys


def _nearest(description: Description, text: str, full: str) -> str:
    """What was meant by a path of which no more than `full` is in the robot, or what there is below."""
    every = number_paths(description)
    parted = [item.split(".") for item in every if "." in item]
    short = [f"{words[0]}.{words[-1]}" for words in parted]
    near = nearest_name(text, dict.fromkeys([*every, *short]))
    if near is not None:
        return did_you_mean(text, [near])
    inside = [item for item in every if item.startswith((f"{full}.", f"{full}["))]
    parts = dict.fromkeys(re.split(r"[.\[]", item)[0] for item in every)
    return did_you_mean(text, inside or ([full] if full else parts))


def _resolve_named(origin: Origin, path: str) -> tuple[str, list[Any]]:
    """Return the full path and the keys of a named parameter, or of an entry of a list."""
    match = _INDEX.match(path.removeprefix(_NAMED))
    name = match[1] if match is not None else path.removeprefix(_NAMED)
    if match is None or name not in origin.values:
        known = [f"{_NAMED}{name}" for name in origin.values]
        raise _refused(path, "a parameter of the robot file", did_you_mean(path, known))
    if name in origin.of_inputs:
        expected = "a parameter that no input of the robot file depends on"
        remedy = "give the inputs apart from the file, or take the path of a part"
        raise _refused(path, expected, remedy)
    index = [(int(k),) for k in re.findall(r"\[(\d+)\]", match[2])]
    try:
        _get(origin.values[name], index)
    except (IndexError, ValueError, TypeError):
        entries = "count from 0, within the size of the list"
        raise _refused(path, f"an index into {origin.values[name]!r}", entries) from None
    return path, ["origin", "values", name, *index]


def _find(holder: object, name: str) -> list[str] | None:
    """Return the fields that lead from a dataclass to the field `name`, its own or nested."""
    if isinstance(holder, dict):
        return [name] if name in holder else None
    if not is_dataclass(holder):
        return None
    own = [item.name for item in fields(holder)]
    if name in own and not (isinstance(holder, Description) and name == "parts"):
        return [name]
    nested = []
    for item in own:
        inner = getattr(holder, item)
        if is_dataclass(inner) and not isinstance(inner, (Frame, Table)):
            names = _find(inner, name)
            if names is not None and getattr(inner, name, None) is not None:
                nested.append([item, *names])
    return nested[0] if len(nested) == 1 else None


# -- reading and writing ---------------------------------------------------------------------


def _step(holder: Any, key: Any) -> Any:
    """What a holder has under a name, or under an index (a tuple)."""
    if isinstance(key, str):
        return holder[key] if isinstance(holder, dict) else getattr(holder, key)
    if isinstance(holder, tuple) and len(key) == 1:
        return holder[key[0]]
    return np.asarray(holder, dtype=float)[key].item()


def _get(holder: Any, keys: list[Any]) -> Any:
    return reduce(_step, keys, holder)


def _put(holder: Any, keys: list[Any], value: float) -> Any:
    """Return a copy of the holder with the value at the keys."""
    if not keys:
        return _scaled(holder, value)
    key, rest = keys[0], keys[1:]
    if isinstance(key, tuple):
        if isinstance(holder, tuple):
            at = key[0] % len(holder)
            return (*holder[:at], _put(holder[at], rest, value), *holder[at + 1 :])
        copy = np.array(holder, dtype=float)
        copy[key] = value
        return copy
    if isinstance(holder, dict):
        return {**holder, key: _put(holder[key], rest, value)}
    return replace(holder, **{key: _put(getattr(holder, key), rest, value)})


def _scaled(old: Any, value: float) -> Any:
    """Return the number itself, also where none was given, or what stands there times the number."""
    if old is None or as_float(old) is not None:
        return value
    if isinstance(old, Table):
        return Table(old.s, value * np.asarray(old.values))
    if isinstance(old, tuple):
        return tuple(
            value * item if as_float(item) is not None else _scaled(item, value) for item in old
        )
    return value * old if isinstance(old, np.ndarray) else Scaled(old, value)


def _is_value(value: object) -> bool:
    """Whether something is a number, or numbers or a function that can be scaled."""
    if isinstance(value, tuple):
        return bool(value) and all(_is_value(item) for item in value)
    if isinstance(value, np.ndarray):
        # a pose times a number is no pose: its entries only
        return value.dtype.kind == "f" and value.shape != (4, 4)
    if isinstance(value, (Table, Scaled)):
        return True
    return as_float(value) is not None or (callable(value) and not is_dataclass(value))


def _walk(holder: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every path that leads to a number, with vectors as a whole and by entry."""
    if isinstance(holder, Frame):
        return
    if is_dataclass(holder) and not isinstance(holder, (Table, Scaled)):
        for item in fields(holder):
            value = getattr(holder, item.name)
            if isinstance(value, Origin):
                for name, held in value.values.items():
                    if name not in value.of_inputs:
                        yield from _walk(held, f"{_NAMED}{name}")
            elif isinstance(value, dict):
                below = f"{path}.{item.name}." if path else ""
                for name, held in value.items():
                    if not path or _INDEX.match(name):
                        yield from _walk(held, f"{below}{name}")
            elif not isinstance(item.metadata.get("kind"), Setting):
                yield from _walk(value, f"{path}.{item.name}" if path else item.name)
        return
    if not _is_value(holder):
        return
    yield path, holder
    if isinstance(holder, tuple):
        for k, item in enumerate(holder):
            yield from _walk(item, f"{path}[{k}]")


def _follow_tip(description: Description, old: Rod, new: Rod) -> Description:
    """Return the description with frames at the old tip of a rod moved to the new one."""

    def moved(value: Any) -> Any:
        if isinstance(value, Frame) and value.part == old.name:
            at_tip = abs(value.s - old.length) <= _TIP * old.length
            return replace(value, s=new.length) if at_tip else value
        if isinstance(value, (tuple, list)) and any(isinstance(item, Frame) for item in value):
            return type(value)(moved(item) for item in value)
        return value

    def follow(part: Any) -> Any:
        values = {item.name: getattr(part, item.name) for item in fields(part)}
        moves = {name: moved(value) for name, value in values.items()}
        changed = {name: value for name, value in moves.items() if value is not values[name]}
        over = values.get("over")
        if over is not None and part.part == old.name and over[1] >= old.length * (1 - _TIP):
            changed["over"] = (over[0], new.length)
        return replace(part, **changed) if changed else part

    parts = {name: follow(part) for name, part in description.parts.items()}
    return replace(description, parts=parts)


def _refused(path: object, expected: str, remedy: str) -> DescriptionError:
    return DescriptionError("robot", "path", path, expected, remedy)
