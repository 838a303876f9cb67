"""Classes of descriptions, registered as they are defined, by the names that robot files use.

A subclass of `Part`, `Joint` or `Effect` that is a frozen dataclass is known to robot files, to
`pliant check` and to `fit` at once, wherever it is defined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pliant.model.checks import DescriptionError, did_you_mean, instance, part_name, refuse
from pliant.model.fields import (
    Kind,
    Name,
    Place,
    Reader,
    ReportedError,
    Schema,
    Writer,
    check_fields,
    fields_of,
    holds,
    schema_of,
)

if TYPE_CHECKING:
    from pliant.model.breaks import Breaks
    from pliant.model.description import Description
    from pliant.model.drawing import Placed, Primitive
    from pliant.model.places import Frame, MovingFrame

_CLASSES: list[type[Described]] = []
_JOINTS = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "free_directions",
)
_FAMILIES = {"Joint": tuple(f"pliant.joints.{name}" for name in _JOINTS)}
"""Modules of the classes that come with Pliant, by family, if they stand above the model."""


class Described:
    """A frozen dataclass whose fields say what they hold; its subclasses are registered.

    file_name : how robot files call it among others of its family; "" for the name of the class in
    small letters, with underscores. A family itself has none.
    """

    file_name: ClassVar[str] = ""

    def __init_subclass__(cls, **more: Any) -> None:
        """Register the class by its name in robot files."""
        super().__init_subclass__(**more)
        if "file_name" not in cls.__dict__:
            cls.file_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        _CLASSES.append(cls)

    def __post_init__(self) -> None:
        check_fields(self, self.label)
        self.check()

    @property
    def label(self) -> str:
        """How error messages call it."""
        return type(self).__name__

    def check(self) -> None:
        """Refuse clean fields that cannot be true together."""

    def refuse(self, bad: object, field: str, expected: str, remedy: str) -> None:
        """Refuse one of its fields if there is something bad about it."""
        refuse(bad, self.label, field, getattr(self, field), expected, remedy)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def read(cls, reader: Reader, path: Place, given: Any) -> Any:
        """Return the object that an entry of a robot file gives."""
        return reader.build(path, cls, given)

    def write(self, writer: Writer) -> Any:
        """Return what a robot file says of it, as plain data that `read` takes."""
        return writer.group(self)

    @classmethod
    def schema(cls, defs: Schema) -> Schema:
        """Return the JSON Schema of an entry in a robot file."""
        return schema_of(cls, defs)


@dataclass(frozen=True, eq=False)
class Entry(Described):
    """Something with a name of its own in a robot: a part or an effect.

    heading : of its section in robot files; "" for the general section of its family.
    place : of this section among the others; those that you define stand last.
    word : how messages call it.  naming : the field that names the other pieces it brings along.
    chosen_by : the field that tells it from other classes with the same heading.
    found_under : heading of the views of a description that show it, its own or that of its parent.
    input_sizes : how many numbers a value of its input may have.  input_expected, input_remedy : what
    messages say of one that is wrong.  reacts : whether results report the wrench with which it holds.
    """

    name: str = holds(Name())

    heading: ClassVar[str] = ""
    place: ClassVar[int] = 50
    word: ClassVar[str] = ""
    naming: ClassVar[str] = "name"
    chosen_by: ClassVar[str] = ""
    family: ClassVar[str] = ""
    found_under: ClassVar[str] = ""
    input_sizes: ClassVar[tuple[int, ...]] = (1,)
    input_expected: ClassVar[str] = "one finite number"
    input_remedy: ClassVar[str] = "give e.g. 1.0"
    reacts: ClassVar[bool] = False
    tells: ClassVar[Mapping[str, str]] = {}
    """What results tell of it, such as its tension, with the unit of each."""
    least_gap: ClassVar[float] = 1e-9
    """Part of the length of a rod within which its breaks are one."""
    refilled: ClassVar[tuple[str, ...] | None] = None
    """Fields whose numbers a compiled robot can be given anew, see `Term.refill`; None if it has to be
    compiled for each entry."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Register the class and the words for it."""
        super().__init_subclass__(**more)
        if "word" not in cls.__dict__:
            cls.word = cls.file_name.replace("_", " ")
        if "heading" not in cls.__dict__:
            cls.heading = ""
        if cls.heading or "family" in cls.__dict__:
            cls.found_under = cls.heading or cls.family

    def __post_init__(self) -> None:
        part_name(self.word, self.name)
        super().__post_init__()

    @property
    def label(self) -> str:
        """How error messages call it."""
        return f"{self.word} {self.name!r}"

    def input_unit(self, name: str) -> str:
        """Return the unit of one of its inputs, for pictures; empty for a factor."""
        return ""

    def pieces(self) -> Sequence[Entry]:
        """Return what it brings into a robot: itself, or several parts and effects."""
        return (self,)

    def auxiliary(self) -> Sequence[Part]:
        """Return massless parts that it brings along besides its `pieces`, see `Auxiliary` of bodies.

        The tree takes them like all others: their joints have coordinates, springs, drives and inputs.
        Users do not see them as parts: pictures, lists of parts and robot files leave them out. Each
        is named as the entry is, or so with a dot and more behind it; the effect that brings it must
        hold it by constraints, for it has no mass.
        """
        return ()

    @cached_property
    def auxiliaries(self) -> tuple[Part, ...]:
        """What `auxiliary` returns, always the same objects."""
        return tuple(self.auxiliary())

    @classmethod
    def written(
        cls, entry: Mapping[str, Any], piece: Entry, path: list[str], value: Any
    ) -> dict[tuple[str, ...], Any]:
        """Return what its entry in a robot file must hold for a piece to have a value at a path.

        entry : as the file has it. The result is by place in it; nothing if it has no such number.
        """
        return {}

    def taken(self, name: str, other: str) -> DescriptionError:
        """Return the error for the name of a piece that `other` has already."""
        return taken(self.label, "name" if name == self.name else self.naming, name, other)

    def inputs(self) -> dict[str, float]:
        """Return its inputs by name, each with the value where none is given."""
        return {}

    def motion_inputs(self) -> list[str]:
        """Return those of its inputs that prescribe a motion."""
        return []

    def check_input(self, part: str, field: str, value: Any) -> None:
        """Refuse a value of its input, of the right size, that cannot be.

        part, field : of what it was given, for the message.
        """

    def settled_inputs(self) -> dict[str, float]:
        """Return by name the inputs that are part of the compiled robot, with their values there."""
        return {}

    def settled(self, values: Mapping[str, Any]) -> Entry:
        """Return it with those inputs, among values by name, that are part of the compiled robot."""
        return self

    def input_line(self) -> Any:
        """Return what lies in motion between its input and what acts: a PressureLine, or None."""
        return None

    def field_breaks(self, length: float) -> Iterator[tuple[str, Breaks]]:
        """Yield its fields that vary along a rod of some length, metres, and where they jump."""
        from pliant.model.profile import field_breaks

        over = getattr(self, "over", None) or (0.0, length)
        yield from field_breaks(self.label, self, length, over, tuple(getattr(self, "breaks", ())))

    def breaks_along(self, length: float) -> Breaks:
        """Return where its data along a rod jump or peak: as declared, its ends, and what was found."""
        from pliant.model.breaks import Breaks, join

        over = getattr(self, "over", None) or ()
        known = Breaks(tuple(sorted({*getattr(self, "breaks", ()), *over})))
        found = [breaks for _, breaks in self.field_breaks(length)]
        return join([known, *found], length, self.least_gap)

    def acts_at(self) -> Iterator[Frame]:
        """Yield the frames at which it loads other parts: splines get knots there, elements nodes.

        These are the frames among its fields, and the first and the last of a list of frames: what
        acts at many places of a rod acts nearly as a line load. Override it where that is not so.
        """
        from pliant.model.places import Frame

        for name in fields_of(type(self)):
            value = getattr(self, name)
            listed = value if isinstance(value, tuple | list) else (value,)
            ends = (*listed[:1], *listed[1:][-1:])
            yield from (item for item in ends if isinstance(item, Frame))

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield sentences about values that no robot has; see `pliant.model.plausible`."""
        return iter(())

    def placed(self, description: Description) -> Self:
        """Return it with the places that it gives by name looked up in a robot."""
        found = {}
        for name, item in fields_of(type(self)).items():
            value = getattr(self, name)
            place = item.kind.located(description, self, name, value)
            if place is not value:
                found[name] = place
        return replace(self, **found) if found else self

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot as a whole."""
        for name, item in fields_of(type(self)).items():
            value = getattr(self, name)
            if value is not None:
                yield from item.kind.problems(description, self, name, value)


@dataclass(frozen=True, eq=False)
class Part(Entry):
    """A rod, a rigid body: it hangs on a frame of another part or of the world by a joint."""

    family: ClassVar[str] = "parts"
    input_expected: ClassVar[str] = "one finite number, for it drives a joint"
    input_remedy: ClassVar[str] = "give e.g. 0.1"

    def inputs(self) -> dict[str, float]:
        """Return the inputs of the drives of its joint, each with 0."""
        joint = getattr(self, "joint", None)
        return {} if joint is None else joint.inputs(self.name)

    def input_unit(self, name: str) -> str:
        """Return the unit of an input that drives its joint."""
        joint = getattr(self, "joint", None)
        return "" if joint is None else joint.input_unit(self.name, name)

    @property
    def above(self) -> str | None:
        """Name of the part that it hangs on or is in, None if there is none."""
        carrier = getattr(self, "carrier", None)
        return None if carrier is None else str(carrier.part)

    def motion_inputs(self) -> list[str]:
        """Return those of its inputs that prescribe a coordinate of its joint."""
        joint = getattr(self, "joint", None)
        return [] if joint is None else joint.motion_inputs(self.name)


class Joint(Described):
    """How a part hangs on the frame that carries it; the mechanics is in `pliant.joints`."""

    def inputs(self, part: str) -> dict[str, float]:
        """Return the inputs of its drives by name, with the value of each where none is given."""
        return {}

    def input_unit(self, part: str, name: str) -> str:
        """Return the unit of one of these inputs."""
        return ""

    def motion_inputs(self, part: str) -> list[str]:
        """Return the inputs that prescribe its coordinates, in the order of these."""
        return []

    @property
    def moves(self) -> bool:
        """Whether the part can move against the frame that carries it."""
        return True

    def doubts(self, label: str) -> Iterator[str]:
        """Yield sentences about implausible values of it; label : of the part that it moves."""
        return iter(())


@dataclass(frozen=True, eq=False)
class Effect(Entry):
    """What acts on parts or holds them: a load, a chamber, a constraint."""

    family: ClassVar[str] = "effects"
    on_strains: ClassVar[bool] = False
    """Whether it acts along a rod by stresses, so that strains jump where its data do."""
    on_nested: ClassVar[bool] = False
    """Whether it also acts along tubes that share their centreline with others."""

    def breaks_on(self, description: Description, rod: Any) -> Breaks:
        """Return where its data along a rod of the robot jump or peak."""
        from pliant.model.breaks import Breaks

        return self.breaks_along(rod.length) if self.acts_along() == rod.name else Breaks()

    def acts_along(self) -> str:
        """Return the name of the rod along which it acts; "" if it does not."""
        on = getattr(self, "part", None) or getattr(self, "on", "")
        return on if isinstance(on, str) else ""

    def moves_base_of(self) -> str:
        """Return the name of the rod whose base its input moves; "" if it moves none."""
        return ""

    def displaced(
        self, base: MovingFrame, x: float, rate: float, acceleration: float
    ) -> MovingFrame:
        """Return a base after the motion that it makes of its input, with rate and acceleration."""
        return base

    def shifts_base_along(self) -> tuple[float, ...] | None:
        """Return the shift (3,) of a base per unit of its input, world, m; None if it does more."""
        return None

    def drawing(self, at: Placed) -> Sequence[Primitive]:
        """Return what pictures show of it, at one configuration of the robot."""
        return ()

    def pointwise(self) -> Any:
        """Return what it does at single sections, see `pliant.model.pointwise`: what strong forms read.

        None if it does more than that: strong forms refuse it.
        """
        return None

    def pointwise_forms(self, description: Description) -> Sequence[Any]:
        """Return what it does at sections of the rods of a robot, one form for each; none if it does
        more than that.
        """
        form = self.pointwise()
        return () if form is None else (form,)


def taken(label: str, field: str, name: str, other: str) -> DescriptionError:
    """Return the error for a name that `other` has already, given in a field of `label`."""
    remedy = "choose another name" if field == "name" else f"give e.g. {field}=('left', 'right')"
    expected = f"unique in the robot ({other} has it already)"
    return DescriptionError(label, field, name, expected, remedy)


# -- what there is --------------------------------------------------------------------------------


def sections() -> dict[str, type[Entry]]:
    """Return the classes of parts and effects by the headings that robot files have for them.

    The general sections are those of `Part` and `Effect`.
    """
    classes = [cls for cls in _CLASSES if issubclass(cls, Entry)]
    headed = [cls for cls in classes if cls.heading or cls in (Part, Effect)]
    return {cls.found_under: cls for cls in sorted(headed, key=lambda cls: cls.place)}


def sharing(heading: str) -> list[type[Entry]]:
    """Return all classes whose entries stand under a heading, each told by its `chosen_by`."""
    return [cls for cls in _CLASSES if issubclass(cls, Entry) and cls.heading == heading]


def headings() -> dict[str, str]:
    """Return the sections of robot files that hold parts and effects, each with its word."""
    return {heading: cls.word for heading, cls in sections().items()}


def class_of(heading: str, given: Any = None) -> type[Entry] | None:
    """Return the class of an entry of a section with the given fields; None in the general sections."""
    cls = sections().get(heading)
    named = [
        item for item in sharing(heading) if isinstance(given, dict) and item.chosen_by in given
    ]
    cls = named[0] if named else cls
    return None if cls in (Part, Effect) else cls


def carriers() -> dict[str, type[Entry]]:
    """Return the classes of parts, on which others can hang, by heading."""
    return {h: cls for h, cls in sections().items() if issubclass(cls, Part) and cls is not Part}


def bringers() -> dict[str, type[Entry]]:
    """Return the classes that bring parts into a robot, by heading."""
    return {h: cls for h, cls in sections().items() if not issubclass(cls, Effect)}


def variants(*families: type) -> dict[str, type[Described]]:
    """Return the dataclasses of some families by the names that robot files use."""
    for module in [home for family in families for home in _FAMILIES.get(family.__name__, ())]:
        import_module(module)
    described = [cls for cls in _CLASSES if "__dataclass_fields__" in cls.__dict__]
    return {cls.file_name: cls for cls in described if issubclass(cls, families) and cls.file_name}


def members_of(family: str) -> dict[str, type[Entry]]:
    """Return the classes of the general section "parts" or "effects", by name."""
    named = [cls for cls in _CLASSES if issubclass(cls, Entry) and cls not in (Entry, Part, Effect)]
    own = [cls for cls in named if cls.family == family and not cls.heading]
    return {cls.file_name: cls for cls in own if cls.file_name}


# -- fields that hold such objects ----------------------------------------------------------------


@dataclass(frozen=True)
class Group(Kind):
    """An object of one class.

    example : as a robot file writes it.  python : as Python does.
    """

    cls: type[Described] = Described
    python: str = ""

    def check(self, part: str, field: str, value: Any) -> Any:
        expected, remedy = f"a {self.cls.__name__}", f"give e.g. {self.python}"
        return instance(part, field, value, self.cls, expected, remedy)

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        return self.cls.read(reader, path, given)

    def write(self, writer: Writer, value: Any) -> Any:
        return value.write(writer)

    def schema(self, defs: Schema) -> Schema:
        return self.cls.schema(defs)


@dataclass(frozen=True)
class OneOf(Kind):
    """An object of one of the classes of some families."""

    families: tuple[type, ...] = ()
    python: str = ""

    def check(self, part: str, field: str, value: Any) -> Any:
        if not isinstance(value, self.families):
            names = [cls.__name__ for cls in variants(*self.families).values()]
            listed = f"{', '.join(names[:-1])} or {names[-1]}"
            raise DescriptionError(part, field, value, f"a {listed}", f"give e.g. {self.python}")
        return value

    def read(self, reader: Reader, path: Place, given: Any) -> Any:
        known = variants(*self.families)
        if isinstance(given, str):
            if given not in known:
                listed = f"one of {', '.join(known)}"
                raise DescriptionError("", "", given, listed, did_you_mean(given, known))
            given = {given: {}}
        if not isinstance(given, dict):
            expected = f"a group with the fields {', '.join(known)}"
            raise DescriptionError("", "", given, expected, "write them as name: value")
        unknown = [name for name in given if name not in known]
        for name in unknown:
            reader.unknown(path, name, given[name], list(known))
        if unknown:
            raise ReportedError
        refuse(
            len(given) != 1,
            "",
            "",
            ", ".join(given) or "nothing",
            f"exactly one of {', '.join(known)}",
            "give one of them",
        )
        ((name, inner),) = given.items()
        return reader.value(Group(cls=known[name]), (*path, name), inner)

    def write(self, writer: Writer, value: Any) -> Any:
        name = type(value).file_name
        if variants(*self.families).get(name) is not type(value):
            listed = ", ".join(variants(*self.families))
            expected = f"one of those that robot files know ({listed}), which hold no Python code"
            writer.refuse(value, expected, "replace it by one of these")
        inner = value.write(writer)
        return name if inner == {} else {name: inner}

    def schema(self, defs: Schema) -> Schema:
        known = variants(*self.families)
        name = "Or".join(family.__name__ for family in self.families)
        if name not in defs:
            defs[name] = {}
            properties = {key: cls.schema(defs) for key, cls in known.items()}
            defs[name].update(one_property(properties))
        short = [
            key
            for key, cls in known.items()
            if not any(item.required for item in fields_of(cls).values())
        ]
        entry: Schema = {"$ref": f"#/$defs/{name}"}
        return {"anyOf": [{"enum": short}, entry]} if short else entry


@dataclass(frozen=True)
class JointKind(OneOf):
    """A joint; its class is one of those that come with Pliant or one of the user's."""

    meaning: str = "how it hangs on what carries it"
    example: str = "{revolute: {axis: x}}"
    families: tuple[type, ...] = (Joint,)

    def check(self, part: str, field: str, value: Any) -> Any:
        remedy = f"write {value.__name__}()" if isinstance(value, type) else "give e.g. Fixed()"
        return instance(part, field, value, Joint, "a joint", remedy)


def one_property(properties: Schema) -> Schema:
    """Return the JSON Schema of a group with exactly one of some properties."""
    return {
        "type": "object",
        "properties": properties,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }
