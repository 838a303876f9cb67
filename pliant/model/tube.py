"""Concentric tubes: precurved tubes in one another that share a centreline, inserted and turned.

Tubes and the rod they are in form a *nest*. Its centreline begins at the entry plane, the base of the
outermost of them, and ends at the tip that reaches farthest. Behind the entry plane the tubes are
straight, in a guide, and can only twist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.model.checks import DescriptionError, refuse
from pliant.model.fields import Choice, Flag, InputName, holds, quantity
from pliant.model.places import OnRod
from pliant.model.rod import Rod
from pliant.model.section import Round

if TYPE_CHECKING:
    from pliant.model.description import Description

_SAME = 1e-9
"""Part of the length of a tube that counts as rounding."""
_STANDING_OUT = 5.0
"""Length of a tube beyond all others that no robot has, m."""
_OWN = ("pose", "base", "joint", "formulation", "theory")
_LINES = ("drag", "mass_damping")


DRIVES = ("angle", "torque")
"""What turns the base of a tube."""


@dataclass(frozen=True, eq=False)
class Tube(Rod):
    """A precurved tube in another tube or rod, free to twist against it; s = 0 is its base.

    name : unique in the robot.
    length, section, material, natural, rotary, strain_damping, breaks : as for a rod, along the tube
        from its base. The section is round, or a Stiffness that is the same in all directions.
    pose, base, joint, formulation, theory, drag, mass_damping : as for a rod; of the outermost tube,
        for all that are inside.
    inside : the tube or rod that it is in; None for the outermost, which comes straight out of the
        entry plane at ``pose`` on ``base``.
    start : where the base of the tube is, metres along the axis from the entry plane: zero, or
        negative for a straight part of that length behind the plane.
    angle : by which the base is turned about the axis, rad.
    insertion : name of an input in metres that is added to ``start``.
    rotation : name of an input in radians that is added to ``angle``.
    drive : "torque" if that input is instead the torque (N m) with which the base is turned; it is then
        free to turn, and ``angle`` is left out.
    shift : name of an input in metres by which the base is pushed along a tube whose tip is fixed to
        the centreline: it slides along the others (push-pull robots, backbones through disks). The
        outermost is then a rod. With ``rotation`` it also turns about its axis, without it does not.
    offset : (x, y) of the axis of such a tube in the sections of the rod, metres.
    tip_turns : whether its tip turns against the centreline; None for no with ``shift`` and for yes
        without. The outermost is a rod if not.
    """

    inside: str | Rod | None = holds(OnRod("tube or rod around it", "outer"), None)
    start: float = quantity("metres", "base, from the entry plane", default=0.0, example="-0.1")
    angle: float = quantity("radians", "of the base", default=0.0, example="1.57")
    insertion: str | None = holds(InputName("input added to start"), None)
    rotation: str | None = holds(InputName("input added to angle"), None)
    shift: str | None = holds(InputName("input that pushes its base"), None)
    offset: tuple[float, ...] = quantity(
        "metres", "of its axis, if it slides", shape=2, default=(0.0, 0.0)
    )
    drive: str = holds(Choice("what rotation is", names=DRIVES), "angle")
    tip_turns: bool | None = holds(Flag("whether its tip turns against the centreline"), None)

    heading: ClassVar[str] = "tubes"
    refilled: ClassVar[tuple[str, ...] | None] = None
    place: ClassVar[int] = 2
    input_expected: ClassVar[str] = "one finite number, for it moves the base of a tube"
    pushed: ClassVar[float | None] = None
    """Value of the insertion that is part of `start`; None where it is open."""
    described: ClassVar[Tube | None] = None
    """The tube whose insertion is open; None where it is this one."""

    def check(self) -> None:
        """Refuse a tube that is not round, and a base in front of the entry plane."""
        super().check()
        s = np.linspace(0.0, self.length, 9)
        C, e = self.stiffness(s), self.natural_strain(s)
        self.refuse(
            not np.allclose(C[:, 0], C[:, 1], rtol=1e-9),
            "section",
            "equally stiff against bending in all directions, for the tube turns in the others",
            "give an Annulus, or a Stiffness with one value for bending",
        )
        straight = np.allclose(e[:, 3:], (0.0, 0.0, 1.0))
        self.refuse(
            not straight, "natural", "curvature and twist (ux, uy, uz) only", "leave out shear"
        )
        self._check_start(self.label, "start", self.start, self.start)
        names = self._own_inputs()
        self.refuse(
            len(set(names)) < len(names),
            "rotation",
            "another input than insertion or shift",
            "give e.g. insertion='push', rotation='turn'",
        )
        self._check_slide()
        alone = self.inside is None and self.tip_turns is False
        expected = "left out in the outermost, which has no rod to which its tip is fixed"
        self.refuse(alone, "tip_turns", expected, "give the rod around it, or leave it out")
        driven = self.drive == "torque"
        expected = "'angle' where rotation names no input"
        self.refuse(
            driven and self.rotation is None, "drive", expected, "give e.g. rotation='torque'"
        )
        expected = "left out with drive='torque', for its base is free to turn"
        self.refuse(driven and self.angle != 0.0, "angle", expected, "remove one of them")

    def _check_slide(self) -> None:
        """Refuse what does not go with sliding, and an axis beside the others where it does not."""
        if self.shift is None:
            expected = (
                "left out where the tube does not slide, for it is in the middle of the other"
            )
            self.refuse(any(self.offset), "offset", expected, "give a shift too, e.g. shift='push'")
            return
        remedy = "leave it out, or leave shift out"
        expected = "left out with shift, which moves the base already"
        self.refuse(self.insertion is not None, "insertion", expected, remedy)
        expected = "left out with shift alone, for such a tube does not turn"
        remedy = "leave it out, or name an input that turns the base, rotation='turn'"
        for field in ("angle", "tip_turns"):
            given = bool(getattr(self, field)) and self.rotation is None
            self.refuse(given, field, expected, remedy)
        expected = "the rod along which it slides"
        self.refuse(self.inside is None, "inside", expected, "give the rod in the middle")

    def _check_start(self, part: str, field: str, value: Any, start: float) -> None:
        refuse(
            start > _SAME * self.length,
            part,
            field,
            value,
            f"such that the base of {self.label} stays behind the entry plane (it would be "
            f"{start:g} m in front of it)",
            "give a start of zero or less, or a longer tube",
        )

    def inputs(self) -> dict[str, float]:
        """Return the inputs of its joint, its insertion and its rotation; 0 is as described."""
        return {**super().inputs(), **dict.fromkeys(self._own_inputs(), 0.0)}

    def input_unit(self, name: str) -> str:
        """Metres of an insertion or a shift, radians or N m of a rotation."""
        if name == self.rotation:
            return "rad" if self.drive == "angle" else "N m"
        return "m" if name in self._own_inputs() else super().input_unit(name)

    def _own_inputs(self) -> list[str]:
        return [x for x in (self.insertion, self.rotation, self.shift) if x is not None]

    @property
    def tip_is_fixed(self) -> bool:
        """Whether its tip does not turn against the centreline."""
        return self.shift is not None if self.tip_turns is None else not self.tip_turns

    def motion_inputs(self) -> list[str]:
        """Return the inputs that prescribe a motion: of its joint, its rotation and its shift."""
        turned = None if self.drive == "torque" else self.rotation
        own = [name for name in (turned, self.shift) if name is not None]
        return super().motion_inputs() + own

    def check_input(self, part: str, field: str, value: Any) -> None:
        """Refuse an insertion that pulls the base through the entry plane, or not the compiled one."""
        if self.insertion is None or part != f"input {self.insertion!r}":
            return
        push = float(np.asarray(value).ravel()[0])
        refuse(
            self.pushed is not None and push != self.pushed,
            part,
            field,
            push,
            f"{self.pushed or 0.0:g} m all the time, for the insertion of {self.label} is part of "
            "the robot that was compiled",
            "give one number, and call statics() or simulate() once for each insertion",
        )
        if self.pushed is None:
            self._check_start(part, field, push, self.start + push)

    def settled_inputs(self) -> dict[str, float]:
        """Return its insertion, which decides where it ends on the centreline."""
        return {} if self.insertion is None else {self.insertion: self.pushed or 0.0}

    def settled(self, values: Mapping[str, Any]) -> Tube:
        """Return the tube with its insertion, among the values of inputs by name, in `start`."""
        if self.insertion is None or (self.pushed is not None and self.insertion not in values):
            return self
        return _inserted(self.described or self, float(values.get(self.insertion, 0.0)))

    @property
    def above(self) -> str | None:
        """Name of the tube or rod around it, or of the part that carries the outermost."""
        return str(self.inside) if self.inside is not None else super().above

    @property
    def reach(self) -> float:
        """How far the tip is from the entry plane along the centreline, m; negative if behind it."""
        return self.start + self.length

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it among the others: crossing tubes, two tubes in one."""
        yield from super().problems(description)
        host = description.rods.get(str(self.inside))
        if host is None:
            return
        fields = [name for name in _OWN if not _is_default(self, name)]
        fields += [name for name in _LINES if getattr(self, name) != 0.0]
        for name in fields:
            remedy = f"give it to {host.label}, or to the outermost of them"
            expected = "left out in a tube that is inside another one"
            yield DescriptionError(self.label, name, getattr(self, name), expected, remedy)
        chain = _chain(description, self)
        if chain is None:
            expected = "another tube, in a chain that ends with the outermost"
            yield DescriptionError(self.label, "inside", host.name, expected, "leave it out in one")
            return
        if isinstance(host, Tube) and any(host.offset):
            expected = f"a tube in the middle, while {host.label} is beside it"
            remedy = "nest tubes around one axis"
            yield DescriptionError(self.label, "inside", host.name, expected, remedy)
        if self.shift is not None or self.tip_is_fixed:
            yield from self._not_fixed(host, chain[-1])
        if any(self.offset):
            return
        tubes = [t for t in description.of(Tube).values() if not any(t.offset)]
        others = [t for t in tubes if t.inside == self.inside]
        if others[0] is not self:
            inner = others[0].name
            expected = f"a tube with room, but {others[0].label} is in {host.label} already"
            remedy = f"put it inside {inner!r}, or {inner!r} inside it"
            yield DescriptionError(self.label, "inside", host.name, expected, remedy)
        yield from self._crossing(host)

    def _not_fixed(self, host: Rod, root: Rod) -> Iterator[DescriptionError]:
        """Yield that there is no rod at its tip to which that could be fixed."""
        if isinstance(root, Tube):
            expected = "a rod, or tubes in a rod, to whose sections its tip is fixed"
            remedy = "describe the outermost by add_rod"
            yield DescriptionError(self.label, "inside", host.name, expected, remedy)
        elif self.reach > root.length * (1.0 + _SAME):
            expected = (
                f"such that its tip, which is fixed to {root.label}, is on it; it would be "
                f"{self.reach - root.length:.3g} m beyond"
            )
            remedy = f"give a start of {root.length - self.length:.3g} m"
            yield DescriptionError(self.label, "start", self.start, expected, remedy)

    def _crossing(self, host: Rod) -> Iterator[DescriptionError]:
        """Yield that it is wider than the bore of the one around it where both are."""
        if not (isinstance(self.section, Round) and isinstance(host.section, Round)):
            return
        first = host.start if isinstance(host, Tube) else 0.0
        a, b = max(self.start, first), min(self.reach, first + host.length)
        if b <= a:
            return
        x = np.linspace(a, b, 33)
        outer = self.section.radii(np.clip(x - self.start, 0.0, self.length), self.length)[0]
        bore = host.section.radii(np.clip(x - first, 0.0, host.length), host.length)[1]
        k = int(np.argmax(outer - bore))
        if outer[k] > bore[k] * (1.0 + _SAME):
            yield DescriptionError(
                self.label,
                "section",
                f"outer radius {outer[k]:g} m",
                f"at most the inner radius {bore[k]:g} m of {host.label}, which it is in: the tubes "
                "cross",
                f"give it a thinner section, or {host.label} a wider Annulus",
            )

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about it, and a tip that is far beyond that of all others."""
        yield from super().doubts(description)
        nest = [rod for rod in nest_of(description, self) if rod is not self]
        beyond = self.reach - max((reach_of(rod) for rod in nest), default=0.0)
        if beyond > _STANDING_OUT:
            yield (
                f"{self.label}: it stands out of the others by {beyond:.3g} m, longer than in any "
                "robot; check length and start, in metres."
            )


def _is_default(tube: Tube, name: str) -> bool:
    value = getattr(tube, name)
    if name == "pose":
        return bool(np.array_equal(value, np.eye(4)))
    return bool(value == {"base": "world", "theory": "cosserat"}.get(name))


@lru_cache(maxsize=512)
def _inserted(tube: Tube, push: float) -> Tube:
    """The tube with an insertion in its start, one object for each."""
    tube._check_start(f"input {tube.insertion!r}", "value", push, tube.start + push)
    found = replace(tube, start=tube.start + push)
    object.__setattr__(found, "pushed", push)
    object.__setattr__(found, "described", tube)
    return found


def _chain(description: Description, tube: Rod) -> list[Rod] | None:
    """The tube, the one around it, and so on to the outermost; None if they are in a circle."""
    found = [tube]
    while isinstance(tube, Tube) and tube.inside is not None:
        around = description.rods.get(str(tube.inside))
        if around is None:
            break
        if around in found:
            return None
        found.append(around)
        tube = around
    return found


def reach_of(rod: Rod) -> float:
    """How far the tip of a rod or tube is from the entry plane, m."""
    return rod.reach if isinstance(rod, Tube) else rod.length


def nest_of(description: Description, rod: Rod) -> tuple[Rod, ...]:
    """Return the nest of a rod or tube: the outermost, then those inside it; alone it is its own."""
    root = (_chain(description, rod) or [rod])[-1]
    chains = [_chain(description, t) or [t] for t in description.of(Tube).values() if t.inside]
    own = sorted((chain for chain in chains if chain[-1] is root), key=len)
    return (root, *(chain[0] for chain in own))


def slides(rod: Rod) -> bool:
    """Whether it is a tube that slides along the others, fixed at its tip."""
    return isinstance(rod, Tube) and rod.shift is not None


def turns(rod: Rod) -> bool:
    """Whether it is a tube that turns against the centreline."""
    return isinstance(rod, Tube) and (rod.shift is None or rod.rotation is not None)


def seen_from(description: Description, rod: Rod) -> float:
    """Return the arclength from which on a rod is seen, m: tubes are hidden in the one around them."""
    host = description.rods.get(str(rod.inside)) if isinstance(rod, Tube) else None
    if host is None or not isinstance(rod, Tube) or any(rod.offset):
        return 0.0
    first = host.start if isinstance(host, Tube) else 0.0
    hidden = reach_of(host) - rod.start
    if rod.start < first - _SAME * rod.length or not 0.0 < hidden < rod.length:
        return 0.0
    return 0.98 * hidden


def is_nested(description: Description, rod: Rod) -> bool:
    """Whether a rod is a tube or has tubes inside."""
    return isinstance(rod, Tube) or len(nest_of(description, rod)) > 1


def is_inner(rod: object) -> bool:
    """Whether it is a tube that moves with the centreline of the one around it."""
    return isinstance(rod, Tube) and rod.inside is not None
