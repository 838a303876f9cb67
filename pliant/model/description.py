"""The whole description of a robot: its parts by name, and the checks that need more than one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pliant.model.body import Body
from pliant.model.checks import vector
from pliant.model.errors import DescriptionError, did_you_mean
from pliant.model.registry import Effect, Entry, Part, headings
from pliant.model.rod import Rod

T = TypeVar("T", bound=Entry)


@dataclass(eq=False)
class Description:
    """A robot as plain data.

    gravity : (3,) world frame, m/s^2.
    parts : parts and effects by name; `add` refuses what cannot be true. Those of one kind are found
        under the heading that robot files have for them: ``rods``, ``loads``, ``bodies``, ...
    """

    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    parts: dict[str, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gravity = vector("robot", "gravity", self.gravity, 3, "m/s^2")

    def add(self, entry: T) -> T:
        """Add a part or an effect whose places are already there; return it."""
        if not isinstance(entry, Entry):
            expected, remedy = "a part or an effect", "give e.g. Load('push', arm.tip)"
            raise DescriptionError("robot", "add", entry, expected, remedy)
        new: dict[str, Entry] = {}
        for piece in entry.pieces():
            owner = self.parts.get(piece.name) or new.get(piece.name)
            if owner is not None:
                raise entry.taken(piece.name, owner.label)
            new[piece.name] = piece
        self.parts.update(new)
        try:
            for problem in (problem for piece in new.values() for problem in piece.problems(self)):
                raise problem
        except BaseException:  # also from a function of s that the user gave
            for name in new:
                del self.parts[name]
            raise
        return entry

    def kinds(self) -> dict[str, dict[str, Any]]:
        """Return the parts by heading ("rods", "loads", ...), each by name."""
        found: dict[str, dict[str, Any]] = {heading: {} for heading in headings()}
        for name, part in self.parts.items():
            found[part.found_under][name] = part
        return found

    @property
    def rods(self) -> dict[str, Rod]:
        """The rods by name."""
        return self.of(Rod)

    @property
    def bodies(self) -> dict[str, Body]:
        """The rigid bodies by name."""
        return self.of(Body)

    def of(self, cls: type[T]) -> dict[str, T]:
        """Return the parts and effects of a class by name, in the order of description."""
        return {name: part for name, part in self.parts.items() if isinstance(part, cls)}

    def __getattr__(self, heading: str) -> Any:
        """Return the effects under a heading of robot files by name: ``loads``, ``chambers``, ..."""
        if heading.startswith("_") or heading not in headings():
            raise AttributeError(f"a robot has no {heading!r}")
        return {name: part for name, part in self.parts.items() if part.found_under == heading}

    def inputs(self) -> dict[str, float]:
        """Return the name of every input with its default."""
        return {name: x for part in self.parts.values() for name, x in part.inputs().items()}

    def input_owner(self, name: str) -> Entry:
        """Return the part or effect to which an input belongs."""
        return next(part for part in self.parts.values() if name in part.inputs())

    def driven_joints(self) -> dict[str, str]:
        """Return the part of every joint that an input prescribes, by the name of the input."""
        return {name: part.name for part in self.members().values() for name in part.inputs()}

    def motions_of(self, rod: str) -> list[Any]:
        """Return the effects that move the base of a rod, by its name, in the order of description."""
        return [effect for effect in self.of(Effect).values() if effect.moves_base_of() == rod]

    def members(self) -> dict[str, Rod | Body]:
        """Return rods and rigid bodies by name: what hangs on frames and carries others."""
        return {**self.rods, **self.bodies}

    def from_root(self) -> list[Rod | Body]:
        """Return rods and bodies such that each comes after the one that carries it."""
        done: dict[str, Rod | Body] = {}
        waiting = self.members()
        while waiting:
            ready = [part for part in waiting.values() if _carrier(part) not in waiting]
            if not ready:
                raise self._cycle(next(iter(waiting.values())))
            for part in ready:
                done[part.name] = waiting.pop(part.name)
        return list(done.values())

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
        for name, part in self.parts.items():
            if name != part.name:
                remedy = "use `add`, which files each part under its own name"
                expected = f"the key {name!r} under which it is filed"
                yield DescriptionError(part.label, "name", part.name, expected, remedy)
        broken = False
        for part in sorted(self.parts.values(), key=lambda item: not isinstance(item, Part)):
            for problem in part.problems(self):
                broken = broken or isinstance(part, Part)
                yield problem
        if not broken:
            try:
                self.from_root()
            except DescriptionError as error:
                yield error

    def unknown(self, label: str, name: str, part: str) -> DescriptionError:
        """Return the error for a field that names a part which does not exist."""
        hint = did_you_mean(part, self.members())
        return DescriptionError(
            label, name, part, "a part of this robot", f"add it first, or {hint}"
        )

    def _cycle(self, part: Rod | Body) -> DescriptionError:
        path = [part.name]
        carrier = _carrier(part)
        while carrier is not None and carrier not in path:
            path.append(carrier)
            carrier = _carrier(self.members()[carrier])
        return DescriptionError(
            part.label,
            "base" if isinstance(part, Rod) else "on",
            " -> ".join([*path, str(carrier)]),
            "a chain of parts that ends in the world or in a free part",
            "mount one of these parts on the world and close the loop with a constraint",
        )


def _carrier(part: Rod | Body) -> str | None:
    return None if part.carrier is None else part.carrier.part
