"""How robot files describe wireframes: by a drawing, or by nodes and edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.model.checks import instance, refuse
from pliant.model.fields import (
    FilePath,
    Kind,
    Number,
    Place,
    Reader,
    Schema,
    Several,
    Vector,
    Whole,
    holds,
    schema_of,
)
from pliant.model.places import Pose
from pliant.model.wireframe import Wireframe

MOST_PIECES = 2000
"""Nodes and edges in one robot file: checks of a robot take the square of its parts."""


def refuse_pieces(count: int) -> None:
    """Refuse meshes with more nodes and edges than can be checked within seconds."""
    expected = f"at most {MOST_PIECES} nodes and edges, of all meshes of the file"
    remedy = "take a coarser one, or describe it in Python by add_mesh"
    refuse(count > MOST_PIECES, "", "", count, expected, remedy)


@dataclass(frozen=True)
class WireframeEntry:
    """Nodes and edges: from a drawing, or written out."""

    file: Any = holds(
        FilePath("IGES, STL or OBJ", example="sleeve.igs", what="drawing or mesh"), None
    )
    tolerance: Any = holds(Number("points closer than this are one", "metres", "1e-3"), None)
    pose: Any = holds(Pose("of the drawing in the world"), None)
    scale: Any = holds(Number("metres per unit of an STL or OBJ file", "", "0.001"), None)
    segments: Any = holds(Whole("of arcs and of each span of a spline", "", "8", 1), None)
    nodes: Any = holds(Several("instead of a file", "metres", item=Vector()), None)
    edges: Any = holds(
        Several("with nodes: pairs of their numbers from 0", item=Several(item=Whole(least=0))),
        None,
    )


@dataclass(frozen=True)
class OnWireframe(Kind):
    """A Wireframe; in robot files that of a drawing, or nodes and edges."""

    example: str = "{file: sleeve.igs}"

    def check(self, part: str, field: str, value: Any) -> Any:
        remedy = "give e.g. Wireframe.from_file('sleeve.igs')"
        return instance(part, field, value, Wireframe, "a Wireframe", remedy)

    def read(self, reader: Reader, path: Place, given: Any) -> Wireframe:
        found = self._read(reader, path, given)
        refuse_pieces(len(found.nodes) + len(found.edges))
        return found

    def _read(self, reader: Reader, path: Place, given: Any) -> Wireframe:
        entry = reader.group(path, WireframeEntry, given)
        written = {"nodes", "edges"}
        if set(entry) == written:
            return Wireframe(np.array(entry["nodes"]), np.array(entry["edges"], dtype=np.int64))
        refuse(
            "file" not in entry or written & set(entry),
            "",
            "",
            ", ".join(sorted(entry)) or "nothing",
            "a file with tolerance, pose, scale and segments, or nodes with edges",
            "give e.g. {file: sleeve.igs, tolerance: 1.0e-3}",
        )
        return Wireframe.from_file(entry.pop("file"), **entry)

    def schema(self, defs: Schema) -> Schema:
        return schema_of(WireframeEntry, defs)


@dataclass(frozen=True)
class FixedNodes(Kind):
    """Nodes that are fixed in the world: "single-edge", numbers, or a function of a position."""

    example: str = "single-edge"
    json: ClassVar[Schema] = {
        "anyOf": [{"enum": ["single-edge"]}, {"type": "array", "items": {"type": "integer"}}]
    }
