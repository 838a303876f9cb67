"""The JSON Schema of robot files, for editors that complete and check them."""

from __future__ import annotations

from pliant.files.runs import RUNS, InputKind
from pliant.model.fields import Schema, Vector
from pliant.model.registry import carriers, class_of, headings, members_of, one_property

MEANINGS = {
    "gravity": "world frame, m/s^2",
    "inputs": "values by load name: a factor, a force, (moment, force), or a signal; "
    "by name of another effect: a number or a signal",
}


def json_schema() -> Schema:
    """Return the JSON Schema of robot files, with all classes that are registered now."""
    defs: Schema = {}
    properties: Schema = {"gravity": {**Vector().schema(defs), "description": MEANINGS["gravity"]}}
    for heading, word in headings().items():
        cls = class_of(heading)
        if cls is None:
            known = {name: item.schema(defs) for name, item in members_of(heading).items()}
            entry = one_property(known)
        else:
            entry = cls.schema(defs)
        properties[heading] = {
            "type": "object",
            "additionalProperties": entry,
            "description": f"each {word} by name",
        }
    properties["inputs"] = {
        "type": "object",
        "additionalProperties": InputKind().schema(defs),
        "description": MEANINGS["inputs"],
    }
    for name, run in RUNS.items():
        properties[name] = {"anyOf": [run.schema(defs), {"type": "null"}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pliant robot file",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "anyOf": [{"required": [heading]} for heading in carriers()],
        "$defs": defs,
    }
