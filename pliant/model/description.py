"""The whole description of a robot: its parts by name, and the checks that need more than one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from pliant.model.body import Body
from pliant.model.breaks import Breaks, join, told
from pliant.model.checks import Array, DescriptionError, did_you_mean, raised, refuse, vector
from pliant.model.far_places import place_doubts
from pliant.model.origin import Origin
from pliant.model.place_names import find_place
from pliant.model.places import Frame
from pliant.model.plausible import gravity_doubts
from pliant.model.registry import Effect, Entry, Joint, Part, headings
from pliant.model.rod import Rod

T = TypeVar("T", bound=Entry)


class Kind(Mapping[str, T]):
    """The parts and effects of some classes by name, class after class, as they are at present."""

    def __init__(self, parts: dict[str, Entry], *classes: type[T]) -> None:
        self._parts, self._classes = parts, classes

    def __getitem__(self, name: str) -> T:
        part = self._parts[name]
        if isinstance(part, self._classes):
            return part
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        entries = list(self._parts.items())
        return (name for cls in self._classes for name, part in entries if isinstance(part, cls))

    def __len__(self) -> int:
        return sum(isinstance(part, self._classes) for part in list(self._parts.values()))

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(eq=False)
class Description:
    """A robot as plain data.

    gravity : (3,) world frame, m/s^2.
    parts : parts and effects by name; `add` refuses what cannot be true. Those of one kind are found
        under the heading that robot files have for them: ``rods``, ``loads``, ``bodies``, ...
    origin : of a description with named parameters, see `Origin`; None if it has none.
    """

    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    parts: dict[str, Entry] = field(default_factory=dict)
    origin: Origin | None = None

    def __post_init__(self) -> None:
        self.gravity = vector("robot", "gravity", self.gravity, 3, "m/s^2")

    def add(self, entry: T) -> T:
        """Add a part or an effect whose places are already there; return it."""
        refuse(
            not isinstance(entry, Entry),
            "robot",
            "add",
            entry,
            "a part or an effect",
            "give e.g. Load('push', arm.tip)",
        )
        new: dict[str, Entry] = {}
        for piece in entry.pieces():
            owner = self.parts.get(piece.name) or new.get(piece.name)
            if owner is not None:
                raise entry.taken(piece.name, owner.label)
            new[piece.name] = piece
        self.parts.update(new)
        try:
            new = {name: piece.placed(self) for name, piece in new.items()}
            self.parts.update(new)
            for problem in (problem for piece in new.values() for problem in piece.problems(self)):
                raise problem
            for piece in new.values():
                self._check_auxiliaries(piece)
            for problem in self._driven_twice(new.values()):
                raise problem
        except BaseException:  # also from a function of s that the user gave
            for name in new:
                del self.parts[name]
            raise
        return new.get(entry.name, entry) if len(new) == 1 else entry  # type: ignore[return-value]

    def _check_auxiliaries(self, piece: Entry) -> None:
        """Refuse an entry that brings along a part whose name is taken."""
        for part in piece.auxiliaries:
            owner = self.parts.get(part.name)
            if owner not in (None, piece):
                raise piece.taken(piece.name, f"{owner.label}, for it brings along {part.name!r},")

    def jointed(self) -> dict[str, Any]:
        """Return rods, bodies, and the auxiliary parts whose joints are shown, by name."""
        shown = {name: part for name, part in self.auxiliaries().items() if part.shown}
        return {**self.members(), **shown}

    def auxiliaries(self) -> dict[str, Any]:
        """Return the massless parts that entries bring along, see `Entry.auxiliary`, by name."""
        entries = list(self.parts.values())
        return {part.name: part for entry in entries for part in entry.auxiliaries}

    def dependants(self, name: str) -> list[str]:
        """Return the names of the parts and effects that cannot be without the one of that name."""
        rest = replace(
            self, parts={key: part for key, part in list(self.parts.items()) if key != name}
        )
        return [key for key, part in rest.parts.items() if any(part.problems(rest))]

    def kinds(self) -> dict[str, dict[str, Any]]:
        """Return the parts by heading ("rods", "loads", ...), each by name."""
        return {heading: self._under(heading) for heading in headings()}

    @property
    def rods(self) -> Mapping[str, Rod]:
        """The rods by name."""
        return self.of(Rod)

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The rigid bodies by name."""
        return self.of(Body)

    def snapshot(self) -> Description:
        """Return a copy with the same parts, which adding and removing here does not change."""
        return replace(self, parts=dict(self.parts))

    def settled_inputs(self) -> dict[str, float]:
        """Return by name the inputs that are part of the compiled robot, with their values there."""
        parts = list(self.parts.values())
        return {name: x for part in parts for name, x in part.settled_inputs().items()}

    def settled(self, values: Mapping[str, Any]) -> Description:
        """Return a copy in which the inputs that are part of the compiled robot have these values."""
        parts = {name: part.settled(values) for name, part in list(self.parts.items())}
        return replace(self, parts=parts)

    def of(self, cls: type[T]) -> Mapping[str, T]:
        """Return the parts and effects of a class by name, in the order of description."""
        return Kind(self.parts, cls)

    def __getattr__(self, heading: str) -> Any:
        """Return the effects under a heading of robot files by name: ``loads``, ``chambers``, ..."""
        if heading.startswith("_") or heading not in headings():
            raise AttributeError(f"a robot has no {heading!r}")
        return self._under(heading)

    def _under(self, heading: str) -> dict[str, Any]:
        return {
            name: part for name, part in list(self.parts.items()) if part.found_under == heading
        }

    def inputs(self) -> dict[str, float]:
        """Return the name of every input with its default."""
        entries = [*self.parts.values(), *self.auxiliaries().values()]
        return {name: x for part in entries for name, x in part.inputs().items()}

    def input_owner(self, name: str) -> Entry:
        """Return the part or effect to which an input belongs."""
        entries = [*self.parts.values(), *self.auxiliaries().values()]
        return next(part for part in entries if name in part.inputs())

    def input_label(self, name: str) -> str:
        """Return the name of an input with its unit, for axes of pictures."""
        return " / ".join(filter(None, (f"input {name}", self.input_owner(name).input_unit(name))))

    def _driven_twice(self, entries: Iterable[Entry]) -> Iterator[DescriptionError]:
        """Yield an error for each input of some entries that drives a joint and something else."""
        known = [*self.parts.values(), *self.auxiliaries().values()]
        for entry in (item for x in entries for item in (x, *x.auxiliaries)):
            for name in entry.inputs():
                for other in (x for x in known if x is not entry and name in x.inputs()):
                    if isinstance(entry, Part) or isinstance(other, Part):
                        expected = f"an input of its own, but {other.label} is driven by it already"
                        remedy = "give one of the two inputs another name"
                        yield DescriptionError(entry.label, "input", name, expected, remedy)

    def motions_of(self, rod: str) -> list[Any]:
        """Return the effects that move the base of a rod, by its name, in the order of description."""
        return [effect for effect in self.of(Effect).values() if effect.moves_base_of() == rod]

    def all_motions(self) -> dict[str, list[Any]]:
        """Return what `motions_of` does for all rods that something moves, by name."""
        found: dict[str, list[Any]] = {}
        for effect in self.of(Effect).values():
            if effect.moves_base_of():
                found.setdefault(effect.moves_base_of(), []).append(effect)
        return found

    def stations(self, count: int) -> dict[str, Array]:
        """Return evenly spaced arclengths (count,) of each rod by name, metres, both ends included."""
        return {name: np.linspace(0.0, rod.length, count) for name, rod in self.rods.items()}

    def with_breaks(self, rod: Rod) -> Rod:
        """Return a rod that knows where strains jump by what acts on them, and where wrenches act."""
        acting = [effect for effect in self.of(Effect).values() if effect.on_strains]
        places = [s for effect in acting for s in effect.breaks_on(self, rod).places]
        points, members = [
            {
                frame.s
                for entry in list(entries.values())
                for frame in entry.acts_at()
                if frame.part == rod.name and 0.0 < frame.s < rod.length
            }
            for entries in (self.parts, self.members())
        ]
        if not places and not points:
            return rod
        known = Breaks(tuple(sorted({*rod.breaks, *places})))
        placed = copy(rod)  # its other fields are clean
        placed._set("breaks", join([known], rod.length, rod.least_gap).jumps)
        placed.carries_at(tuple(sorted(points)), tuple(sorted(members)))
        return placed

    def unresolved(self) -> Iterator[str]:
        """Yield a sentence for each function of s that changes too quickly for quadrature."""
        for entry in list(self.parts.values()):
            along = entry.acts_along() if isinstance(entry, Effect) else entry.name
            rod = self.rods.get(along)
            for name, found in [] if rod is None else entry.field_breaks(rod.length):
                yield from told(entry.label, name, found)

    def members(self) -> Mapping[str, Rod | Body]:
        """Return rods and rigid bodies by name: what hangs on frames and carries others."""
        return Kind[Rod | Body](self.parts, Rod, Body)

    def from_root(self) -> list[Rod | Body]:
        """Return rods, bodies and auxiliary parts, each after the one that carries it."""
        members = {**self.members(), **self.auxiliaries()}
        return sorted(members.values(), key=lambda part: len(self._carriers(part, members)))

    def in_order(self) -> dict[str, Entry]:
        """Return all parts and effects by name, rods and bodies after those of their kind below them.

        A part is below those that it carries. No chain of parts may be closed.
        """
        ordered: dict[str, Entry] = {}
        members = self.members()
        for kind in (self.rods, self.bodies):
            done: set[str] = set()
            for part in kind.values():
                chain: list[Rod | Body] = []
                above: Rod | Body | None = part  # type: ignore[assignment]
                while above is not None and above.name not in done:
                    chain.append(above)
                    done.add(above.name)
                    above = members.get(str(above.above))
                ordered |= {item.name: item for item in reversed(chain) if item.name in kind}
        return {**ordered, **self.parts}

    def _carriers(self, part: Rod | Body, members: Mapping[str, Rod | Body]) -> list[str]:
        """Return the names of the members that carry a part, up to the root; refuse a closed chain."""
        label = part.label
        field = "base" if isinstance(part, Rod) else "on"
        names, met = [part.name], {part.name}
        while (above := part.above) in members:
            part = members[str(above)]
            names.append(part.name)
            if part.name in met:
                raise DescriptionError(
                    label,
                    field,
                    " -> ".join(names),
                    "a chain of parts that ends in the world or in a free part",
                    "mount one of these parts on the world and close the loop with a constraint",
                )
            met.add(part.name)
        return names[1:]

    def rods_from_root(self) -> list[Rod]:
        """Return the rods such that each comes after the part that carries it."""
        return [part for part in self.from_root() if isinstance(part, Rod)]

    def validate(self) -> None:
        """Raise a DescriptionError for the first thing that cannot be true or solved."""
        for problem in self.problems():
            raise problem

    def problems(self) -> Iterator[DescriptionError]:
        """Yield everything that is wrong in the robot as a whole."""
        if not self.members():
            yield DescriptionError(
                "robot", "rods", "none", "at least one rod or body", "describe a rod first"
            )
        for name, part in list(self.parts.items()):
            if name != part.name:
                remedy = "use `add`, which files each part under its own name"
                expected = f"the key {name!r} under which it is filed"
                yield DescriptionError(part.label, "name", part.name, expected, remedy)
        of_parts = [problem for part in self.of(Part).values() for problem in part.problems(self)]
        yield from of_parts
        for effect in self.of(Effect).values():
            yield from effect.problems(self)
        if not of_parts:
            yield from raised(self.from_root)
        yield from self._driven_twice(list(self.parts.values()))

    def doubts(self) -> list[str]:
        """Return sentences about values that no robot has, and the unit that was probably meant."""
        found = list(gravity_doubts(float(np.linalg.norm(self.gravity))))
        for part in list(self.parts.values()):
            found += part.doubts(self)
            joint = getattr(part, "joint", None)
            found += joint.doubts(part.label) if isinstance(joint, Joint) else []
        return [*found, *place_doubts(self)]

    def place(self, text: str) -> Frame | None:
        """Return the frame that a text such as "arm.tip" names, None if it names none."""
        lengths = {name: rod.length for name, rod in self.rods.items()}
        try:
            found = find_place(text, lengths, self.bodies)
        except DescriptionError as error:
            raise DescriptionError("robot", "place", text, error.expected, error.remedy) from None
        return None if found is None else Frame(*found)

    def unknown(self, label: str, name: str, part: str, known: Collection[str]) -> DescriptionError:
        """Return the error for a field that names a part which does not exist."""
        frame = self.place(part)
        if frame is not None and frame.part in known:
            expected = "a part, not a place on it"
            remedy = f"give {frame.part!r}, which stands for all of it"
            return DescriptionError(label, name, part, expected, remedy)
        hint = did_you_mean(part, known)
        return DescriptionError(
            label, name, part, "a part of this robot", f"add it first, or {hint}"
        )
