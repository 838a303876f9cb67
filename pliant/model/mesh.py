"""Nets of bodies and links: a body at each node of a wireframe, a link along each edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.body import Body, Moments
from pliant.model.checks import DescriptionError, instance, refuse
from pliant.model.fields import (
    Choice,
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
    quantity,
    schema_of,
)
from pliant.model.link import Link
from pliant.model.places import Pose, pose
from pliant.model.registry import Entry, Group, Joint, OneOf, variants
from pliant.model.section import Damping, Material, Shape, Stiffness
from pliant.model.via_points import KINDS
from pliant.model.wireframe import Wireframe


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


@dataclass(frozen=True, eq=False)
class Mesh(Entry):
    """A net: a body for each node of a wireframe, a link for each edge.

    name : node k is the body ``name_k``, edge k the link ``name_edge_k``; nodes move freely in space.
    wireframe : its nodes and edges.
    mass : of the whole net, kg, shared by the nodes in proportion to the edges that meet there.
    section, material, kind, rest, strain_damping, x_axis : of the links, as for `Link`.
    inertia : of a node, kg m^2; None for that of a ball as wide as half the mean edge.
    fixed : nodes that are fixed in the world: "single-edge" for those with one edge, numbers, or a
        function of a position (3,) in metres.
    """

    wireframe: Wireframe = holds(OnWireframe("nodes and edges"))
    mass: float = quantity("kg", "of the whole net", sign="positive", example="0.04")
    section: Shape | Stiffness = holds(
        OneOf("", "", "{circle: {radius: 0.001}}", (Shape, Stiffness), "Circle(0.001)")
    )
    material: Material | None = holds(
        Group("", "", "{E: 1.0e6, nu: 0.5}", Material, "Material(E=1e6, nu=0.5)"), None
    )
    inertia: ArrayLike | None = holds(Moments("of a node", "kg m^2"), None)
    fixed: str | Sequence[int] | Callable[[Any], bool] | None = holds(
        FixedNodes("in the world: single-edge, or numbers of nodes"), None
    )
    kind: str = holds(Choice(names=KINDS), "two-way")
    rest: float = quantity(
        "", "length of a link without force over that at rest", sign="positive", default=1.0
    )
    strain_damping: Damping | None = holds(
        Group("one value per strain", cls=Damping, python="Damping(bending=1e-4, axial=0.1)"), None
    )
    x_axis: tuple[float, ...] | None = holds(Vector("local x of links, in the world"), None)

    heading: ClassVar[str] = "meshes"
    word: ClassVar[str] = "mesh"
    family: ClassVar[str] = "parts"
    place: ClassVar[int] = 12

    def check(self) -> None:
        """Refuse fixed nodes that the wireframe does not have, and nets without a node that moves."""
        try:
            held = self.wireframe.chosen(self.fixed)
        except DescriptionError as error:
            raise DescriptionError(
                self.label, "fixed", self.fixed, error.expected, error.remedy
            ) from None
        all_held = len(held) == len(self.wireframe.nodes)
        self.refuse(all_held, "fixed", "some nodes, not all", "leave one or more out")

    @cached_property
    def nodes(self) -> list[Body | None]:
        """The bodies of its nodes, None for those that are fixed."""
        points, edges = self.wireframe.nodes, self.wireframe.edges
        lengths = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
        share = np.zeros(len(points))
        np.add.at(share, edges, 0.5 * lengths[:, None] / lengths.sum())
        held = set(self.wireframe.chosen(self.fixed).tolist())
        free = variants(Joint)["free"]
        bodies: list[Body | None] = []
        for k, point in enumerate(points):
            own = self.mass * share[k]
            ball = (own * (0.25 * lengths.mean()) ** 2 / 2.5,) * 3
            inertia = ball if self.inertia is None else self.inertia
            name = f"{self.name}_{k}"
            joint: Any = free()
            bodies.append(
                None if k in held else Body(name, own, inertia, pose=pose(point), joint=joint)
            )
        return bodies

    def pieces(self) -> Sequence[Entry]:
        """Return the bodies of its nodes, and the links of its edges between them or to the world."""
        bodies, points = self.nodes, self.wireframe.nodes
        links = []
        for k, ends in enumerate(self.wireframe.edges):
            a, b = (
                tuple(points[n].tolist())
                if (body := bodies[n]) is None
                else body.at((0.0, 0.0, 0.0))
                for n in ends
            )
            if bodies[ends[0]] is not None or bodies[ends[1]] is not None:
                more = (self.rest, self.kind, self.strain_damping, True, self.x_axis)
                name = f"{self.name}_edge_{k}"
                links.append(Link(name, a, b, self.section, self.material, *more))
        return [*(body for body in bodies if body is not None), *links]
