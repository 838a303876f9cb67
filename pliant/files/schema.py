"""The JSON Schema of robot files, by which editors complete and check them."""

from __future__ import annotations

from typing import Any

from pliant.files.expansion import LANGUAGE, Include, Repeat, RepeatKind
from pliant.files.robot_file import InputKind
from pliant.files.runs import RUNS
from pliant.model import (
    Schema,
    Vector,
    bringers,
    class_of,
    headings,
    members_of,
    one_property,
    sharing,
)

MEANINGS = {
    "gravity": "world frame, m/s^2",
    "inputs": "values by load name: a factor, a force, (moment, force), or a signal; "
    "by name of another effect: a number or a signal",
    "parameters": "named numbers, arithmetic of them, or lists; used by name where a number stands",
    "include": "other robot files whose parts belong to this robot",
    "groups": "parts and effects that belong together, by name, also repeated",
}
_NUMBERS = ("number", "integer")
_ARITHMETIC: Schema = {
    "type": "string",
    "description": "arithmetic of parameters, the index of a repetition and numbers: 2*radius + 0.01",
    "pattern": r"^[-+*/().\w\s]*[A-Za-z_*/+(][-+*/().\w\s]*$",
}
_REPEATED: Schema = {
    "type": "object",
    "description": "an item that is repeated: its fields, or the item as `each`, with `repeat`",
    "required": ["repeat"],
}


def json_schema() -> Schema:
    """Return the JSON Schema of robot files, with all classes that are registered now."""
    defs: Schema = {}
    each = {"repeat": RepeatKind().schema(defs), "each": InputKind().schema(defs)}
    repeated = {"type": "object", "properties": each, "required": list(each)}
    given = {"anyOf": [*InputKind().schema(defs)["anyOf"], repeated]}
    sections = {"inputs": (given, MEANINGS["inputs"])}
    for heading, word in headings().items():
        sections[heading] = _entry(heading, defs), f"each {word} by name"
    named: Schema = {
        name: {
            "type": "object",
            "additionalProperties": _repeatable(entry, defs),
            "description": meaning,
        }
        for name, (entry, meaning) in sections.items()
    }
    properties: Schema = {"gravity": {**Vector().schema(defs), "description": MEANINGS["gravity"]}}
    properties |= named
    for name, run in RUNS.items():
        properties[name] = {"anyOf": [run.schema(defs), {"type": "null"}]}
    properties |= _language(named, defs)
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pliant robot file",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "anyOf": [{"required": [heading]} for heading in (*bringers(), *LANGUAGE)],
        "$defs": defs,
    }
    written = _with_arithmetic(whole)
    written["$defs"] |= {"arithmetic": _ARITHMETIC, "repeated": _REPEATED}
    return written


def _entry(heading: str, defs: Schema) -> Schema:
    """The schema of an entry of a section."""
    if class_of(heading) is None:
        return one_property({name: item.schema(defs) for name, item in members_of(heading).items()})
    several = [item.schema(defs) for item in sharing(heading)]
    return {"anyOf": several} if len(several) > 1 else several[0]


def _repeatable(entry: Schema, defs: Schema) -> Schema:
    """The schema of an entry that may have a field `repeat`, also where it is defined."""
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        defs[name] = _with_repeat(defs[name], defs)
        return entry
    if "anyOf" in entry:
        return {**entry, "anyOf": [_repeatable(item, defs) for item in entry["anyOf"]]}
    return _with_repeat(entry, defs) if entry.get("type") == "object" else entry


def _with_repeat(own: Schema, defs: Schema) -> Schema:
    repeat = {**RepeatKind().schema(defs), "description": RepeatKind().meaning}
    wider = {**own, "properties": {**own.get("properties", {}), "repeat": repeat}}
    if "maxProperties" in own:
        wider["maxProperties"] = own["maxProperties"] + 1
    return wider


def _language(named: Schema, defs: Schema) -> Schema:
    """The sections that are written out before the parts are read."""
    number = {"type": "number"}
    value = {"anyOf": [number, {"type": "array", "items": number, "minItems": 1}]}
    file = {"type": "string", "description": "relative to this file"}
    included = {"anyOf": [file, Include.schema(defs)]}
    Repeat.schema(defs)
    group = {
        "type": "object",
        "properties": {
            "repeat": RepeatKind().schema(defs),
            **named,
            "groups": {"type": "object", "additionalProperties": {"$ref": "#/$defs/group"}},
        },
        "additionalProperties": False,
    }
    defs["group"] = group
    sections: Schema = {
        "parameters": {"type": "object", "additionalProperties": value},
        "include": {"anyOf": [included, {"type": "array", "items": included}]},
        "groups": {"type": "object", "additionalProperties": {"$ref": "#/$defs/group"}},
    }
    return {name: {**item, "description": MEANINGS[name]} for name, item in sections.items()}


def _with_arithmetic(schema: Any) -> Any:
    """Return a schema in which arithmetic may stand for every number, and items may be repeated."""
    if isinstance(schema, list):
        return [_with_arithmetic(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in _NUMBERS:
        note = {"description": schema["description"]} if "description" in schema else {}
        own = {key: item for key, item in schema.items() if key != "description"}
        return {"anyOf": [own, {"$ref": "#/$defs/arithmetic"}], **note}
    wider = {key: _with_arithmetic(item) for key, item in schema.items()}
    if schema.get("type") == "array":
        arithmetic = schema.get("items", {}).get("type") in _NUMBERS
        if "maxItems" not in schema and "items" in schema:
            wider["items"] = {"anyOf": [wider["items"], {"$ref": "#/$defs/repeated"}]}
        if arithmetic:  # a parameter that is a list
            return {"anyOf": [wider, {"$ref": "#/$defs/arithmetic"}]}
    return wider
