"""The whole description of a robot: its parts by name, and the checks that need more than one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from pliant.model.base_motion import BaseMotion
from pliant.model.body import Body
from pliant.model.chamber import Chamber
from pliant.model.checks import vector
from pliant.model.constraint import Constraint
from pliant.model.errors import DescriptionError, did_you_mean
from pliant.model.frame import Frame
from pliant.model.load import Load
from pliant.model.rod import Rod, check_arclength

Part = Rod | Load | Constraint | Body | BaseMotion | Chamber


@dataclass(eq=False)
class Description:
    """A robot as plain data.

    gravity : (3,) world frame, m/s^2.
    rods, loads, constraints, bodies, base_motions, chambers : parts by name; add to them with the
        ``add_`` methods, which refuse what cannot be true.
    """

    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    rods: dict[str, Rod] = field(default_factory=dict)
    loads: dict[str, Load] = field(default_factory=dict)
    constraints: dict[str, Constraint] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    base_motions: dict[str, BaseMotion] = field(default_factory=dict)
    chambers: dict[str, Chamber] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gravity = vector("robot", "gravity", self.gravity, 3, "m/s^2")

    def add_rod(self, rod: Rod) -> Rod:
        """Add a rod whose base, if it is another part, is already there; return it."""
        self._refuse_taken(rod)
        self._raise_first(self._rod_problems(rod))
        self.rods[rod.name] = rod
        return rod

    def add_load(self, load: Load) -> Load:
        """Add a load on a part that is already there; return it."""
        self._refuse_taken(load)
        self._raise_first(self._load_problems(load))
        self.loads[load.name] = load
        return load

    def add_constraint(self, constraint: Constraint) -> Constraint:
        """Add a constraint between places that are already there; return it."""
        self._refuse_taken(constraint)
        self._raise_first(self._constraint_problems(constraint))
        self.constraints[constraint.name] = constraint
        return constraint

    def add_body(self, body: Body) -> Body:
        """Add a rigid body whose carrier, if it is another part, is already there; return it."""
        self._refuse_taken(body)
        self._raise_first(self._body_problems(body))
        self.bodies[body.name] = body
        return body

    def add_base_motion(self, motion: BaseMotion) -> BaseMotion:
        """Add a motion of the base of a rod that is already there; return it."""
        self._refuse_taken(motion)
        self._raise_first(self._motion_problems(motion))
        self.base_motions[motion.name] = motion
        return motion

    def add_chamber(self, chamber: Chamber) -> Chamber:
        """Add a pressure chamber along a rod that is already there; return it."""
        self._refuse_taken(chamber)
        self._raise_first(self._chamber_problems(chamber))
        self.chambers[chamber.name] = chamber
        return chamber

    def kinds(self) -> dict[str, Mapping[str, Part]]:
        """Return the parts by kind ("rods", "loads", ...), each by name."""
        return {
            "rods": self.rods,
            "loads": self.loads,
            "constraints": self.constraints,
            "bodies": self.bodies,
            "base_motions": self.base_motions,
            "chambers": self.chambers,
        }

    def inputs(self) -> dict[str, float]:
        """Return the name of every input with its default.

        1.0 for a load, which is the load as described; 0.0 for a base motion or a driven joint, which
        is none; its pressure in Pa for a chamber.
        """
        pressures = {name: chamber.pressure for name, chamber in self.chambers.items()}
        loads, motions = dict.fromkeys(self.loads, 1.0), dict.fromkeys(self.base_motions, 0.0)
        return {**loads, **motions, **dict.fromkeys(self.driven_joints(), 0.0), **pressures}

    def driven_joints(self) -> dict[str, str]:
        """Return the part of every joint that an input prescribes, by the name of the input."""
        found = {}
        for part in self.members().values():
            if part.joint is not None and part.joint.drive is not None:
                found[part.joint.input or part.name] = part.name
        return found

    def motions_of(self, rod: str) -> list[BaseMotion]:
        """Return the motions of the base of a rod, by its name, in the order of description."""
        return [motion for motion in self.base_motions.values() if motion.part == rod]

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
        self._raise_first(self.problems())

    def problems(self) -> Iterator[DescriptionError]:
        """Yield everything that is wrong in the robot as a whole."""
        if not self.rods and not self.bodies:
            yield DescriptionError(
                "robot", "rods", "none", "at least one rod or body", "describe a rod first"
            )
        yield from self._shared_names()
        broken = False
        members = [self._rod_problems(rod) for rod in self.rods.values()]
        members += [self._body_problems(body) for body in self.bodies.values()]
        for problems in members:
            for problem in problems:
                broken = True
                yield problem
        if not broken:
            try:
                self.from_root()
            except DescriptionError as error:
                yield error
        for load in self.loads.values():
            yield from self._load_problems(load)
        for constraint in self.constraints.values():
            yield from self._constraint_problems(constraint)
        for motion in self.base_motions.values():
            yield from self._motion_problems(motion)
        for chamber in self.chambers.values():
            yield from self._chamber_problems(chamber)

    def _shared_names(self) -> Iterator[DescriptionError]:
        seen: dict[str, Part] = {}
        for kind in self.kinds().values():
            for name, part in kind.items():
                if name != part.name:
                    remedy = "use the add_ methods, which file each part under its own name"
                    expected = f"the key {name!r} under which it is filed"
                    yield DescriptionError(part.label, "name", part.name, expected, remedy)
                if name in seen:
                    yield _taken(part, seen[name])
                seen.setdefault(name, part)

    def _refuse_taken(self, part: Part) -> None:
        for kind in self.kinds().values():
            if part.name in kind:
                raise _taken(part, kind[part.name])

    def _rod_problems(self, rod: Rod) -> Iterator[DescriptionError]:
        if isinstance(rod.base, Frame):
            yield from self._frame_problems(rod.label, "base", rod.base)

    def _body_problems(self, body: Body) -> Iterator[DescriptionError]:
        if body.on is not None:
            yield from self._frame_problems(body.label, "on", body.on)

    def _load_problems(self, load: Load) -> Iterator[DescriptionError]:
        if isinstance(load.on, Frame):
            yield from self._frame_problems(load.label, "on", load.on)
            return
        rod = self.rods.get(load.on)
        if rod is None:
            yield self._unknown(load.label, "on", load.on)
            return
        try:
            start, end = load.over or (0.0, rod.length)
            check_arclength(load.label, "over", end, rod.length)
            # a force given as a function shows its bad values only when it is evaluated
            load.density(np.linspace(start, end, 33))
        except DescriptionError as error:
            yield error

    def _constraint_problems(self, constraint: Constraint) -> Iterator[DescriptionError]:
        yield from self._frame_problems(constraint.label, "on", constraint.on)
        if isinstance(constraint.to, Frame):
            yield from self._frame_problems(constraint.label, "to", constraint.to)

    def _motion_problems(self, motion: BaseMotion) -> Iterator[DescriptionError]:
        rod = self.rods.get(motion.part)
        if rod is None:
            yield self._unknown(motion.label, "of", motion.part)
        elif rod.base != "world":
            place = "free" if rod.base is None else f"mounted on {_carrier(rod)!r}"
            yield DescriptionError(
                motion.label,
                "of",
                motion.part,
                f"a rod clamped to the world ({rod.label} is {place})",
                "move the base of the rod that carries it, or clamp it to the world",
            )

    def _chamber_problems(self, chamber: Chamber) -> Iterator[DescriptionError]:
        rod = self.rods.get(chamber.part)
        if rod is None:
            yield self._unknown(chamber.label, "on", chamber.part)
            return
        try:
            start, end = chamber.span(rod.length)
            check_arclength(chamber.label, "over", end, rod.length)
            chamber.sweep(np.linspace(start, end, 33), rod.length)
        except DescriptionError as error:
            yield error

    def _frame_problems(self, label: str, name: str, frame: Frame) -> Iterator[DescriptionError]:
        part = self.members().get(frame.part)
        if part is None:
            yield self._unknown(label, name, frame.part)
        elif isinstance(part, Rod):
            yield from _arclength_problems(label, f"{name}.s", frame.s, part)
        elif frame.s != 0.0:
            yield DescriptionError(
                label,
                f"{name}.s",
                frame.s,
                f"left out or 0, for {part.label} has no arclength",
                f"take the frame from the body, e.g. {part.name}.at((0, 0, 0.1))",
            )

    def _unknown(self, label: str, name: str, part: str) -> DescriptionError:
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

    @staticmethod
    def _raise_first(problems: Iterator[DescriptionError]) -> None:
        for problem in problems:
            raise problem


def _carrier(part: Rod | Body) -> str | None:
    return None if part.carrier is None else part.carrier.part


def _taken(part: Part, other: Part) -> DescriptionError:
    return DescriptionError(
        part.label,
        "name",
        part.name,
        f"unique in the robot ({other.label} has it already)",
        "choose another name",
    )


def _arclength_problems(label: str, name: str, s: float, rod: Rod) -> Iterator[DescriptionError]:
    try:
        check_arclength(label, name, s, rod.length)
    except DescriptionError as error:
        yield error
