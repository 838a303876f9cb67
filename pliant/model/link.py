"""Elastic links between two places, and nets of bodies and links: trusses, fabrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.body import Body, Moments
from pliant.model.checks import Array, DescriptionError
from pliant.model.drawing import Line, Placed, Primitive
from pliant.model.fields import Choice, Flag, Vector, holds, quantity
from pliant.model.places import pose
from pliant.model.plausible import link_doubts
from pliant.model.registry import Effect, Entry, Group, Joint, OneOf, variants
from pliant.model.rod import Rod
from pliant.model.section import Damping, Material, Shape, Stiffness
from pliant.model.via_points import KINDS, OnFrameOrPoint, ViaPoint, fixed_ends, points_of
from pliant.model.wireframe import Wireframe
from pliant.model.wireframe_fields import FixedNodes, OnWireframe

if TYPE_CHECKING:
    from pliant.model.description import Description

_SHORTEST = 1e-12
"""Length of the shortest edge of a net, m."""
_UNIT = 1.0
"""Length of the rod whose section a link has, m; the sections of links do not vary."""


class Same(tuple[Any, ...]):
    """Some objects as a key: equal to a tuple of the very same objects."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and all(x is y for x, y in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))


@lru_cache(maxsize=16)
def _unit_rod(of: Same) -> Rod:
    """A rod with a section, a material and a strain damping; the links of a net have the same ones."""
    return Rod("link", _UNIT, of[0], of[1], strain_damping=of[2])


@lru_cache(maxsize=16)
def _unit_law(of: Same) -> tuple[Array, Array]:
    """Stiffness and damping (6,) of a rod with a section, a material and a strain damping."""
    rod, middle = _unit_rod(of), [0.5 * _UNIT]
    return rod.stiffness(middle)[0], rod.damping(middle)[0]


@dataclass(frozen=True, eq=False)
class Link(Effect):
    """A light elastic beam between two places, clamped at both.

    It resists all six relative motions of its ends, and weighs nothing. It is unloaded where its ends
    are at rest, or where they would be if it had ``rest`` times that length.

    name : unique in the robot.
    a, b : a Frame or its name such as "node.base", or a point (3,) in the world, metres.
    section : Circle, Annulus, Rectangle, Section, or Stiffness (then without material); uniform.
    material : Material. Its viscosity damps the link.
    rest : length without force over the distance at rest; below one the link is under tension.
    kind : of its stretch: "two-way"; "tension" for one that gives way when shortened, as cloth does;
        "compression" for one that gives way when lengthened. Bending, twist and shear are two-way.
    strain_damping : Damping, besides the viscosity of the material.
    power : of the rates of strain in the damping, which is then in Pa s^power, N m^2 s^power and
        N s^power; below one it is smoothed where the ends move by less than 1 mm/s or mrad/s.
    beam : True for the shear stiffness of a beam with a moment that varies along it, whose end forces
        are those of Timoshenko's beam for small motions; False for the shear stiffness as it is.
    updated : True for a section that follows the stretch as that of a rod with a `SectionUpdate`:
        radii r / sqrt(stretch), moduli E / stretch; of a two-way link.
    x_axis : (3,) direction in the world, at rest, to which the local x axis of the section points as
        far as it can; None for one across the link that is horizontal if it can be.
    """

    a: ViaPoint = holds(OnFrameOrPoint("one end: a place, or a point in the world (m)"))
    b: ViaPoint = holds(OnFrameOrPoint("the other end"))
    section: Shape | Stiffness = holds(
        OneOf("", "", "{circle: {radius: 0.001}}", (Shape, Stiffness), "Circle(0.001)")
    )
    material: Material | None = holds(
        Group("", "", "{E: 1.0e6, nu: 0.5}", Material, "Material(E=1e6, nu=0.5)"), None
    )
    rest: float = quantity(
        "", "length without force over the distance at rest", sign="positive", default=1.0
    )
    kind: str = holds(Choice(names=KINDS), "two-way")
    strain_damping: Damping | None = holds(
        Group("one value per strain", cls=Damping, python="Damping(bending=1e-4, axial=0.1)"), None
    )
    beam: bool = holds(Flag("false: the shear stiffness as it is"), True)
    x_axis: tuple[float, ...] | None = holds(Vector("local x at rest, in the world"), None)
    power: float = quantity("", "of the rates in the damping", sign="positive", default=1.0)
    updated: bool = holds(Flag("true: the section follows the stretch"), False)

    heading: ClassVar[str] = "links"
    place: ClassVar[int] = 9
    tells: ClassVar[Mapping[str, str]] = {"tension": "N", "length": "m"}

    def check(self) -> None:
        """Refuse what no rod could be made of, and two equal ends."""
        try:
            _unit_law(self._matter)
        except DescriptionError:
            Rod(self.name, _UNIT, self.section, self.material, strain_damping=self.strain_damping)
            raise
        self.refuse(
            self.updated and self.kind != "two-way",
            "updated",
            "left out where a link acts one way only",
            "choose kind='two-way' or leave out 'updated'",
        )
        self.refuse(self.a == self.b, "b", "another place than 'a'", "choose another place")

    @property
    def _matter(self) -> Same:
        return Same((self.section, self.material, self.strain_damping))

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its section and material, once for links that share them."""
        size = sum(rod.length for rod in description.rods.values()) or math.inf
        found = list(link_doubts(_unit_rod(self._matter), size))
        if found:
            others = (x for x in description.parts.values() if isinstance(x, Link))
            if next(x for x in others if x._matter == self._matter) is self:
                yield from (f"{self.label}: {text}" for text in found)

    @property
    def _per_length(self) -> tuple[Array, Array]:
        """Stiffness and damping (6,) of its section as a rod has them, by its material alone."""
        return _unit_law(Same((self.section, self.material, None)))

    def stiffness(self, length: float) -> Array:
        """Return (6,): EIx, EIy, GJ, N m^2, then shear along x and y and stretch, N.

        length : between the ends, metres. A beam with end forces only has a moment that varies
        linearly. Its energy is that of its mean curvature and of a shear angle with

            1 / shear' = 1 / shear + length^2 / (12 EI),

        which is exact for small motions. Shear along x goes with bending about y.
        """
        K = self._per_length[0].copy()
        if self.beam:
            K[3] = 1.0 / (1.0 / K[3] + length**2 / (12.0 * K[1]))
            K[4] = 1.0 / (1.0 / K[4] + length**2 / (12.0 * K[0]))
        return K

    def lengthening(self, length: float) -> Array:
        """Return (6,): what a shift across it adds to its stretch, see `physics.link_kernels`.

        6/5, times the square of the share that bending has in the shift: in the last row for both
        directions, in the rows of shear over the length (1/m) what one has more than the other.
        """
        found = np.zeros(6)
        if self.beam:
            K = self.stiffness(length)
            both = 1.2 * (K[3:5] * length**2 / (12.0 * K[1::-1])) ** 2
            found[5] = both.min()
            found[3:5] = (both - found[5]) / length
        return found

    def damping(self, length: float) -> Array:
        """Return (6,): what resists the rates of the six strains, N m^2 s and N s.

        The viscosity of a material resists in the ratio of stiffness, so that a beam's shear is damped
        as its bending is.
        """
        stiffness, viscosity = self._per_length
        found = viscosity / stiffness * self.stiffness(length)
        if self.strain_damping is not None:
            found = found + self.strain_damping.damping([0.5], _UNIT)[0]
        return np.asarray(found)

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot: two ends that do not move."""
        yield from super().problems(description)
        yield from fixed_ends(self.label, self.a, self.b)

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return a straight line between its ends."""
        return [Line(self.name, points_of((self.a, self.b), at))]


@dataclass(frozen=True, eq=False)
class Mesh(Entry):
    """A net: a body for each node of a wireframe, a link for each edge.

    name : node k is the body ``name_k``, edge k the link ``name_edge_k``; nodes move freely in space.
    wireframe : its nodes and edges.
    mass : of the whole net, kg, shared by the nodes in proportion to the edges that meet there.
    section, material, kind, rest, strain_damping, x_axis, power, updated : of the links, as of `Link`.
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
    power: float = quantity("", "of the rates in the damping", sign="positive", default=1.0)
    updated: bool = holds(Flag("true: sections follow the stretch of the links"), False)

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
        lengths, expected = self.wireframe.lengths, f"of edges longer than {_SHORTEST:g} m"
        short = lengths.min() < _SHORTEST
        self.refuse(short, "wireframe", expected, "move or weld nodes that coincide")
        self.pieces()  # whose fields are checked as well

    @cached_property
    def nodes(self) -> list[Body | None]:
        """The bodies of its nodes, None for those that are fixed."""
        points, edges, lengths = self.wireframe.nodes, self.wireframe.edges, self.wireframe.lengths
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
        return self._all

    @cached_property
    def _all(self) -> list[Entry]:
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
                law = (self.rest, self.kind, self.strain_damping, True, self.x_axis)
                more = (*law, self.power, self.updated)
                name = f"{self.name}_edge_{k}"
                links.append(Link(name, a, b, self.section, self.material, *more))
        return [*(body for body in bodies if body is not None), *links]
