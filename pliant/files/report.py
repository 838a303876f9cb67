"""Turn what pydantic found into problems that name part, field, value and remedy."""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pliant.files.schema_file import TAGGED, RobotFields
from pliant.files.source import Place, Source
from pliant.model import DescriptionError
from pliant.model.errors import nearest_name, show

PARTS = {
    "rods": "rod",
    "loads": "load",
    "constraints": "constraint",
    "bodies": "body",
    "base_motions": "base motion",
    "chambers": "chamber",
    "actuators": "actuator",
}
_KINDS = {**PARTS, "inputs": "input"}
_SECTIONS = ("statics", "simulate", "modes")
# fields of the Python classes that a file calls otherwise
_IN_FILE = {"base.s": "base.at", "on.s": "on.at", "to.s": "to.at", "path": "csv"}


def part_and_field(path: Place) -> tuple[str, str]:
    """Split a path into the part it belongs to and the field in it.

    ("rods", "arm", "section", "circle") gives "rod 'arm'" and "section.circle".
    """
    head = path[0] if path else ""
    if head in _KINDS and len(path) > 1:
        return f"{_KINDS[str(head)]} {path[1]!r}", _dotted(path[2:])
    if head in _SECTIONS and len(path) > 1:
        return str(head), _dotted(path[1:])
    return "robot", _dotted(path)


def report_description_error(source: Source, path: Place, error: DescriptionError) -> None:
    """Report an error of the Python classes about the entry at ``path``."""
    inner = tuple(_IN_FILE.get(error.field, error.field).split(".")) if error.field else ()
    place = path + inner
    part, field = part_and_field(place)
    value = error.value
    if not isinstance(value, (str, int, float)):
        # a vector or a frame is shown as the file writes it
        written = source.value(place)
        value = written if written is not None else value
    told = DescriptionError(part, field or "entry", value, error.expected, _as_yaml(error.remedy))
    source.report(place, part, field, told.problem)


def _as_yaml(remedy: str) -> str:
    """Return a remedy with Python's (1, 2) and name=1 written as [1, 2] and name: 1."""
    if "e.g." not in remedy:
        return remedy
    lists = re.sub(r"(?<!\w)\(([^()]*)\)", r"[\1]", remedy)
    return re.sub(r"\b(\w+)=(?=\S)", r"\1: ", lists)


def report_schema_errors(source: Source, errors: Sequence[ErrorDetails]) -> None:
    """Report what pydantic found; a misspelt field is not called missing as well."""
    misspelt = set()
    for details in errors:
        holder, _ = _look_up(details["loc"])
        if details["type"] == "extra_forbidden" and holder is not None:
            near = nearest_name(details["loc"][-1], holder.model_fields)
            misspelt.add((*details["loc"][:-1], near))
    for details in errors:
        if details["type"] != "missing" or details["loc"] not in misspelt:
            _report_schema_error(source, details)


def _report_schema_error(source: Source, details: ErrorDetails) -> None:
    path = tuple(item for item in details["loc"] if item not in TAGGED)
    original = details.get("ctx", {}).get("error")
    if isinstance(original, DescriptionError):
        report_description_error(source, path, original)
        return
    holder, info = _look_up(details["loc"])
    part, field = part_and_field(path)
    value = details["input"]
    match details["type"]:
        case "missing":
            message = _missing(field, info)
        case "extra_forbidden":
            known = list(holder.model_fields) if holder is not None else []
            message = unknown_name("field", field, str(path[-1]), value, known).problem
        case "model_type" | "dict_type" | "model_attributes_type":
            model = _group_of(info) if info is not None else None
            message = _not_a_group(part, field, value, model)
        case "list_type":
            remedy = "give e.g. [x, y]" if field == "hold" else "give e.g. [0.0, 1.0]"
            message = DescriptionError(part, field, value, "a list", remedy).problem
        case "string_type":
            message = DescriptionError(part, field, value, "a text", "give a name").problem
        case _:
            reason = details["msg"][:1].lower() + details["msg"][1:]
            message = f"{field} = {show(value)}: {reason}"
    source.report(path, part, field, message)


def unknown_name(
    kind: str, field: str, name: str, value: object, known: Sequence[str]
) -> DescriptionError:
    """Return the error for a field or setting that does not exist."""
    there = f"there are {', '.join(known)}" if known else "there are none"
    near = nearest_name(name, known)
    remedy = f"did you mean {near!r}?" if near is not None else "remove it"
    return DescriptionError(
        "", field, value, f"left out, there is no such {kind} ({there})", remedy
    )


def _dotted(path: Place) -> str:
    found = ""
    for item in path:
        found += f"[{item}]" if isinstance(item, int) else f".{item}" if found else str(item)
    return found


def _missing(field: str, info: FieldInfo | None) -> str:
    meaning = f" ({info.description})" if info is not None and info.description else ""
    example = f"give e.g. {info.examples[0]}" if info is not None and info.examples else "give it"
    return f"{field} is missing{meaning}; {example}"


def _not_a_group(part: str, field: str, value: object, model: type[BaseModel] | None) -> str:
    if model is None:
        return DescriptionError(
            part, field or "entry", value, "a group of named entries", "give e.g. {name: ...}"
        ).problem
    names = ", ".join(model.model_fields)
    if not names:
        return DescriptionError(part, field, value, "an empty group", "write {}").problem
    return DescriptionError(
        part,
        field or "entry",
        value,
        f"a group with the fields {names}",
        "write them as name: value",
    ).problem


def _look_up(path: tuple[int | str, ...]) -> tuple[type[BaseModel] | None, FieldInfo | None]:
    """Return the group that holds the last element of ``path``, and that field if it is known."""
    holder: type[BaseModel] | None = RobotFields
    info: FieldInfo | None = None
    members: type[BaseModel] | None = None
    last: tuple[type[BaseModel] | None, FieldInfo | None] = (None, None)
    for item in path:
        if item in TAGGED:
            holder = TAGGED[str(item)]
        elif members is not None:
            last = (None, FieldInfo(annotation=members))
            holder, members = members, None
        elif holder is None:
            return None, None
        else:
            info = holder.model_fields.get(str(item))
            last = (holder, info)
            if info is not None and _is_dict(info.annotation):
                members = _model_in(typing.get_args(info.annotation)[1])
                holder = None
            else:
                holder = _group_of(info) if info is not None else None
    return last


def _group_of(info: FieldInfo) -> type[BaseModel] | None:
    return None if _is_dict(info.annotation) else _model_in(info.annotation)


def _is_dict(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (dict, Mapping)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the first group class inside Optional, Union or Annotated."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in typing.get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
