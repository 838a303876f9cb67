"""Contact of rods and spheres with planes, spheres, cylinders, other rods and themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import DescriptionError, refuse
from pliant.model.drawing import Arrow, Placed, Primitive
from pliant.model.fields import (
    Kind,
    Place,
    Reader,
    Schema,
    Whole,
    Writer,
    holds,
    quantity,
)
from pliant.model.places import Frame, OnRod
from pliant.model.registry import Effect, OneOf
from pliant.model.section import Round
from pliant.model.surfaces import Sphere, Surface

if TYPE_CHECKING:
    from pliant.model.description import Description

_SURFACE = OneOf(families=(Surface,), python="Plane()")


@dataclass(frozen=True)
class Touching(Kind):
    """Rods by name and surfaces, one or several."""

    example: str = "arm"

    def check(self, part: str, field: str, value: Any) -> tuple[Any, ...]:
        items = value if isinstance(value, (tuple, list)) else (value,)
        refuse(
            not items,
            part,
            field,
            value,
            "a rod, a surface such as Plane(), or several of them",
            "give e.g. 'arm'",
        )
        return tuple(self._one(part, field, item) for item in items)

    def _one(self, part: str, field: str, item: Any) -> Any:
        name = getattr(item, "name", item)
        if isinstance(name, str) or isinstance(item, Surface):
            return name if isinstance(name, str) else item
        raise DescriptionError(
            part,
            field,
            item,
            "a rod or its name, or a surface such as Plane() or Sphere(0.05, on='ball')",
            "give e.g. 'arm'",
        )

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        items = given if isinstance(given, list) else [given]
        return tuple(
            OnRod().read(reader, path, item)
            if isinstance(item, str) and item != "plane"
            else reader.value(_SURFACE, path, item)
            for item in items
        )

    def write(self, writer: Writer, value: Any) -> Any:
        found = [x if isinstance(x, str) else _SURFACE.write(writer, x) for x in value]
        return found[0] if len(found) == 1 else found

    def located(self, description: Description, part: Any, field: str, value: Any) -> Any:
        found = tuple(
            x.located(description, part, field) if isinstance(x, Surface) else x for x in value
        )
        return value if all(a is b for a, b in zip(found, value, strict=True)) else found

    def problems(
        self, description: Description, part: Any, field: str, value: Any
    ) -> Iterator[DescriptionError]:
        for item in value:
            if isinstance(item, Surface):
                yield from item.problems(description, part, field)
            elif item in description.bodies:
                yield DescriptionError(
                    part.label,
                    field,
                    item,
                    "a rod or a surface, for a body has no shape of its own",
                    f"give e.g. Sphere(0.05, on={item!r})",
                )
            else:
                yield from OnRod().problems(description, part, field, item)

    def schema(self, defs: Schema) -> Schema:
        one: Schema = {"anyOf": [{"type": "string"}, _SURFACE.schema(defs)]}
        return {"anyOf": [*one["anyOf"], {"type": "array", "items": one}]}


@dataclass(frozen=True, eq=False)
class Contact(Effect):
    """Rods and spheres do not pass through surfaces, other rods, or themselves.

    name : unique in the robot.
    of : a rod or its name, a Sphere, or several of them: the first side.
    against : a surface, a rod or its name, or several of them: the second side. A rod against itself
        does not pass through itself.
    friction : coefficient of Coulomb friction.
    creep : velocity at which friction in motions has 0.7 of its full force, m/s; what sticks creeps
        below it.
    stiffness : None for surfaces that do not enter each other, with inelastic impacts; else that of a
        spring, N/m, or N/m per metre of a rod.
    damping : of such a spring, s/m: its force is stiffness times overlap times (1 + damping times the
        rate of the overlap).
    stations : points along each rod that may touch; None to choose.
    radius : of the rods, metres; None for that of their round sections.
    """

    of: tuple[Any, ...] = holds(Touching("rods, and spheres that are fixed to parts"))
    against: tuple[Any, ...] = holds(Touching("surfaces, or rods", example="{plane: {}}"))
    friction: float = quantity("", "coefficient", sign="zero", default=0.0, example="0.3")
    creep: float = quantity("m/s", "velocity", sign="positive", default=1e-3, example="1e-3")
    stiffness: float | None = quantity(
        "N/m (N/m per metre of a rod)", sign="positive", default=None, example="1e4"
    )
    damping: float = quantity("s/m", sign="zero", default=0.0, example="1.0")
    stations: int | None = holds(Whole("points along each rod", least=2), None)
    radius: float | None = quantity(
        "metres", "of the rods", sign="positive", default=None, example="0.01"
    )

    heading: ClassVar[str] = "contacts"
    place: ClassVar[int] = 8
    reacts: ClassVar[bool] = True
    tells: ClassVar[Mapping[str, str]] = {
        "s": "m",
        "gap": "m",
        "point": "m",
        "normal": "1",
        "force": "N",
    }

    def check(self) -> None:
        """Refuse sides that cannot touch each other, and damping without stiffness."""
        self.refuse(
            self.damping and self.stiffness is None,
            "damping",
            "left out without stiffness, for hard impacts are inelastic",
            "give a stiffness, or leave damping out",
        )
        for item in self.of:
            ball = isinstance(item, Sphere) and not item.inside
            self.refuse(
                isinstance(item, Surface) and not ball,
                "of",
                "rods and spheres, which touch the surfaces of the other side",
                "give the surface as against=",
            )
            self.refuse(
                ball and item.on is None,
                "of",
                "spheres that are fixed to a part, for one in the world does not move",
                "give e.g. Sphere(0.05, on='ball')",
            )
        rods = [item for item in self.against if isinstance(item, str)]
        self.refuse(
            rods and any(isinstance(item, Surface) for item in self.of),
            "against",
            "surfaces only, where a sphere is the first side",
            "give the rod as of= and the sphere as against=",
        )

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot: places, and rods without a round section."""
        problems = list(super().problems(description))
        yield from problems
        for name in () if problems or self.radius else self.rods:
            if not isinstance(description.rods[name].section, Round):
                yield DescriptionError(
                    self.label,
                    "radius",
                    self.radius,
                    f"a radius in metres, for the section of rod {name!r} is not round",
                    "give e.g. half of its smaller width",
                )

    @property
    def rods(self) -> tuple[str, ...]:
        """Names of all rods of both sides, each once."""
        names = [item for item in (*self.of, *self.against) if isinstance(item, str)]
        return tuple(dict.fromkeys(names))

    def drawing(self, at: Placed) -> list[Primitive]:
        """Return the surfaces of its second side, planes near the robot, and the sum of the forces on
        each part.
        """
        touched = [x for x in self.against if isinstance(x, Surface)]
        names = self.rods
        size = max((at.length(name) for name in names), default=0.0)
        places = [at.frame(Frame(name, 0.5 * at.length(name)))[:3, 3] for name in names]
        for surface in (*(x for x in self.of if isinstance(x, Surface)), *touched):
            point, _, radius, _ = surface.numbers()
            if not names:
                size = max(size, 6.0 * radius)
                if radius:
                    g = surface.pose(at)
                    places.append(g[:3, :3] @ point + g[:3, 3])
        near = np.mean(places, axis=0) if places else np.zeros(3)
        shapes = [
            surface.shape(self.name, at, near, size or 1.0) for surface in touched if surface.drawn
        ]
        return [*shapes, *self._arrows(at.told(self.name))]

    def _arrows(self, told: Mapping[str, Any]) -> Iterator[Primitive]:
        """Yield the sum of the forces on each part, where they act in the mean."""
        for part in dict.fromkeys(told["part"]) if told else ():
            mine = told["part"] == part
            force, point = told["force"][mine], told["point"][mine]
            weight = np.linalg.norm(force, axis=1) + 1e-300
            where = weight @ point / weight.sum()
            yield Arrow(f"{self.name} on {part}", where, force.sum(axis=0))
