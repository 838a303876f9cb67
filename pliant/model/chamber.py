"""Pressure chambers along a rod, the lines that feed them, and bending actuators made of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array, DescriptionError, raised, refuse
from pliant.model.fields import Flag, InputName, Interval, Setting, Several, holds, quantity
from pliant.model.places import Base, Frame, OnRod, Pose
from pliant.model.plausible import pressure_doubts
from pliant.model.pointwise import LineStress
from pliant.model.profile import ProfileLike, evaluate, evaluate_rows
from pliant.model.registry import Described, Effect, Entry, OneOf, Part
from pliant.model.rod import Rod
from pliant.model.section import Stiffness

if TYPE_CHECKING:
    from pliant.model.description import Description

ATMOSPHERE = 101325.0
"""Pa."""
_ROUNDING = 1e-9
"""Part of the atmosphere by which a pressure that was computed may lie below vacuum."""

Offset = tuple[float, ...] | Callable[[float], ArrayLike]


class PressureLine(Described, ABC):
    """What lies between the pressure that is asked for and the pressure in a chamber."""

    @property
    def lowest(self) -> float:
        """The lowest gauge pressure that can be asked of it, Pa."""
        return -math.inf

    @abstractmethod
    def step(
        self, h: float, pressure: float, asked: tuple[float, float], volume: tuple[float, float]
    ) -> float:
        """Return the gauge pressure in the chamber after h seconds, Pa.

        pressure : at the start, Pa.  asked : at the start and at the end, linear in between, Pa.
        volume : of the chamber at the start and at the end, m^3.
        """


@dataclass(frozen=True)
class Lag(PressureLine):
    """The pressure follows the one that is asked for with first order: time p' + p = asked.

    time : seconds in which the difference falls to 1/e.
    """

    time: float = quantity("seconds", sign="positive", example="0.05")

    def step(
        self, h: float, pressure: float, asked: tuple[float, float], volume: tuple[float, float]
    ) -> float:
        """Exact for pressures asked that are linear in the step; the volume does not matter."""
        slope = (asked[1] - asked[0]) / h
        late = asked[1] - slope * self.time
        return late + (pressure - (asked[0] - slope * self.time)) * float(np.exp(-h / self.time))


@dataclass(frozen=True)
class Flow(PressureLine):
    """Gas flows through a narrow line into the chamber: d((p + p0) V)/dt = conductance (asked - p).

    The gas keeps its temperature, and the chamber its contents (p + p0) V where nothing flows: a
    chamber that the robot bends open loses pressure, which the line then restores.

    conductance : Pa m^3/s of gas for each Pa between the supply and the chamber, m^3/s.
    dead_volume : of hoses and fittings beyond the resistance, m^3.
    atmosphere : p0, the absolute pressure outside, Pa.
    """

    conductance: float = quantity("m^3/s", sign="positive", example="1e-4")
    dead_volume: float = quantity("m^3", "of hoses", default=0.0, sign="zero", example="1e-6")
    atmosphere: float = quantity(
        "Pa", "absolute pressure outside", default=ATMOSPHERE, sign="positive", example="101325"
    )

    @property
    def lowest(self) -> float:
        """Vacuum: no gas is left to flow out, Pa."""
        return -self.atmosphere

    def step(
        self, h: float, pressure: float, asked: tuple[float, float], volume: tuple[float, float]
    ) -> float:
        """Exact for a chamber of constant volume and constant pressure asked, second order else."""
        first, last = (v + self.dead_volume for v in volume)
        middle = 0.5 * (first + last)
        amount = (pressure + self.atmosphere) * first
        settled = (0.5 * (asked[0] + asked[1]) + self.atmosphere) * middle
        amount = settled + (amount - settled) * float(np.exp(-h * self.conductance / middle))
        return amount / last - self.atmosphere


@dataclass(frozen=True, eq=False)
class Chamber(Effect):
    """A pressure chamber that runs along a rod; its name is an input of the robot, in Pa.

    name : unique in the robot.
    on : the rod, or its name.
    area : of the chamber's cross-section, m^2: a number, (base, tip), a function of s, a Table.
    offset : (x, y) of its centroid in the section of the rod, metres; fixed or a function of s.
    over : (s0, s1) in metres, the stretch of the rod along which it runs; None for the whole rod.
    pressure : gauge pressure where no input is given, Pa.
    thrust : True if the pressure also pulls the rod long, as it does; False for its moment alone,
        for a rod whose length something else holds.
    line : Lag or Flow, between the input and the pressure in the chamber in motion; None for none.

    The sections of the rod stay plane and rigid, so that the volume of the chamber is
    V = integral of area (vz + ux y - uy x) ds. A pressure p does the work p dV: it acts on the strains
    as the internal wrench p area (y, -x, 0; 0, 0, 1), which is what the pressure on both ends and on
    the bent walls comes to.
    """

    on: str | Rod = holds(OnRod())
    area: ProfileLike = quantity("square metres", sign="positive", along=True, example="1e-4")
    offset: Offset = quantity("metres", "of its centroid", shape=2, along=True, default=(0.0, 0.0))
    over: tuple[float, float] | None = holds(Interval(), None)
    pressure: float = quantity("Pa", "where no input is given", default=0.0, example="2e4")
    thrust: bool = holds(Flag("false: its moment alone"), True)
    line: PressureLine | None = holds(OneOf(families=(PressureLine,), python="Lag(0.05)"), None)

    heading: ClassVar[str] = "chambers"
    on_strains: ClassVar[bool] = True
    place: ClassVar[int] = 6
    input_expected: ClassVar[str] = "one finite number, the pressure in Pa"
    input_remedy: ClassVar[str] = "give e.g. 2e4"

    def input_unit(self, name: str) -> str:
        """Pascals."""
        return "Pa"

    def check(self) -> None:
        """Refuse a pressure that the line cannot have."""
        self.check_input(self.label, "pressure", self.pressure)

    def inputs(self) -> dict[str, float]:
        """Return its name with the pressure where no input is given, Pa."""
        return {self.name: self.pressure}

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot; functions of s are evaluated along it."""
        problems = list(super().problems(description))
        yield from problems
        if not problems:
            length = description.rods[self.part].length
            yield from raised(lambda: self.sweep(np.linspace(*self.span(length), 33), length))

    def doubts(self, description: Description) -> Iterator[str]:
        """Yield what is implausible about its size and its described pressure."""
        rod = description.rods[self.part]
        start, end = self.span(rod.length)
        sweep = np.abs(self.sweep(np.linspace(start, end, 9), rod.length)).max(axis=0)
        area = evaluate(self.label, "area", self.area, np.linspace(start, end, 9), rod.length)
        arm = float(np.hypot(*sweep[:2]) / area.max())
        where = (self.pressure, float(area.max()), arm, end - start)
        yield from pressure_doubts(self.label, rod, *where)

    def input_line(self) -> PressureLine | None:
        """Return the line between the pressure that is asked for and the one that acts."""
        return self.line

    def check_input(self, part: str, field: str, value: Any) -> None:
        """Refuse a gauge pressure, Pa, that no gas can have behind the line.

        part, field : of what it was given, for the message.
        """
        lowest = -math.inf if self.line is None else self.line.lowest
        refuse(
            value < lowest - _ROUNDING * abs(lowest),
            part,
            field,
            value,
            f"{lowest:g} Pa or more, for that is vacuum",
            "give gauge pressures in Pa, which count from the atmosphere",
        )

    @property
    def part(self) -> str:
        """The name of the rod along which it runs."""
        return str(self.on)

    def pointwise(self) -> LineStress:
        """Return the stress of its pressure, which works on its volume."""
        return LineStress(
            self.name, self.part, self.over, self.sweep, self._rest, self.breaks_along
        )

    def _rest(self, s: Array, length: float) -> Array:
        """Volume per metre (S,) without strain that `sweep` leaves out, m^2."""
        if self.thrust:
            return np.zeros(len(s))
        return evaluate(self.label, "area", self.area, s, length)

    def span(self, length: float) -> tuple[float, float]:
        """Return where it begins and ends on a rod of this length, metres."""
        return (0.0, length) if self.over is None else self.over

    def sweep(self, s: ArrayLike, length: float) -> Array:
        """Return dV/ds as a linear function of the strain: (S, 6) area (y, -x, 0, 0, 0, 1), m^2, m^3.

        s : (S,) arclengths on a rod of this length, metres. Without thrust the last one is zero.
        Times the pressure it is the internal wrench (moment, force) of the chamber.
        """
        where = np.atleast_1d(np.asarray(s, dtype=np.float64))
        area = evaluate(self.label, "area", self.area, where, length)
        rows = evaluate_rows(self.label, "offset", self.offset, where, (2,), "metres")
        place = np.reshape(rows, (-1, 2))
        sweep = np.zeros((len(where), 6))
        sweep[:, 0], sweep[:, 1], sweep[:, 5] = place[:, 1], -place[:, 0], float(self.thrust)
        return np.asarray(area[:, None] * sweep)


@dataclass(frozen=True)
class BendingActuator(Described):
    """Two round chambers on both sides of a layer that does not stretch (Rong and Gu 2024, figure 1).

    length : metres.
    bending : stiffness EI about the local y axis, N m^2, of everything together, as it is measured.
    chamber_radius : R2, metres.
    arm : t, distance of the middle of a chamber from the layer, metres.
    mass : per length, kg/m.
    sideways : bending stiffness about the local x axis, N m^2; None for that of ``bending``.
    twist : N m^2; None for that of ``bending``.
    retardation : Kelvin-Voigt time of the material, seconds.
    mass_damping : Rayleigh's first coefficient, 1/s.
    axial : stiffness of the layer against stretch, N, the penalty k of Rong (11); None holds its
        length by constraint.

    Pressure in the first chamber bends it towards its local x axis, in the second away from it:
    without other loads it is an arc of curvature moment / bending.
    """

    length: float = quantity("metres", sign="positive", example="0.175")
    bending: float = quantity("N m^2", "stiffness", sign="positive", example="0.0186")
    chamber_radius: float = quantity("metres", sign="positive", example="0.006")
    arm: float = quantity(
        "metres", "from the layer to the chambers", sign="positive", example="0.009"
    )
    mass: float = quantity("kg/m", "per length", default=0.0, sign="zero", example="0.12")
    sideways: float | None = quantity(
        "N m^2", "the other bending stiffness", default=None, sign="positive", example="0.05"
    )
    twist: float | None = quantity("N m^2", default=None, sign="positive", example="0.02")
    retardation: float = quantity(
        "seconds", "of the material", default=0.0, sign="zero", example="0.01"
    )
    mass_damping: float = quantity(
        "1/s", "Rayleigh's first", default=0.0, sign="zero", example="2.4"
    )
    axial: float | None = quantity(
        "N", "stiffness against stretch", default=None, sign="positive", example="1e4"
    )

    @property
    def area(self) -> float:
        """Cross-section of one chamber, m^2."""
        return math.pi * self.chamber_radius**2

    def moment(self, first: float, second: float = 0.0) -> float:
        """Return the bending moment about local y at gauge pressures of the two chambers, Pa, N m."""
        return self.area * self.arm * (first - second)

    def section(self) -> Stiffness:
        """Return stiffness and mass of the rod; axial and shear are not felt where `axial` is None."""
        around = self.chamber_radius**2
        stiff = self.axial or 100.0 * self.bending / (self.arm**2 + around)
        wide = self.arm**2 + 0.5 * around
        inertia = (0.5 * around, wide, wide + 0.5 * around)
        return Stiffness(
            bending=(self.sideways or self.bending, self.bending),
            twist=self.twist or self.bending,
            shear=stiff,
            axial=stiff,
            mass=self.mass,
            inertia=(self.mass * inertia[0], self.mass * inertia[1], self.mass * inertia[2]),
            retardation=self.retardation,
        )


@dataclass(frozen=True, eq=False)
class MountedActuator(BendingActuator, Part):
    """A bending actuator in a robot: a rod under its name, and two chambers, whose names are inputs.

    name : of its rod.  pose, base, formulation : as for `Rod`.  chambers : their two names.
    line : Lag or Flow, for each chamber. The other fields are those of `BendingActuator`.
    """

    pose: Array = holds(Pose(), lambda: np.eye(4))
    base: str | Frame | None = holds(Base(), "world")
    chambers: tuple[str, ...] = holds(
        Several("their names, which are inputs", "Pa", "[left, right]", InputName()),
        ("chamber1", "chamber2"),
    )
    formulation: object = holds(Setting(family="formulation"), None)
    line: PressureLine | None = holds(OneOf(families=(PressureLine,), python="Lag(0.05)"), None)

    heading: ClassVar[str] = "actuators"
    place: ClassVar[int] = 7
    word: ClassVar[str] = "actuator"
    naming: ClassVar[str] = "chambers"

    def check(self) -> None:
        """Refuse what is no pair of names."""
        refuse(
            not isinstance(self.chambers, (tuple, list)) or len(self.chambers) != 2,
            self.label,
            "chambers",
            self.chambers,
            "two names",
            "give e.g. ('chamber1', 'chamber2')",
        )

    @classmethod
    def written(
        cls, entry: Mapping[str, Any], piece: Entry, path: list[str], value: Any
    ) -> dict[tuple[str, ...], Any]:
        """Return its own fields for those of its rod, and its line for that of a chamber.

        A bending stiffness is written with the other two, which would follow it if left out.
        """
        if not isinstance(piece, Rod):
            return {tuple(path): value} if path[0] == "line" else {}
        if path[-1] != "bending":
            return {(path[-1],): value}
        assert isinstance(piece.section, Stiffness)
        sideways, bending = value
        others = {"sideways": sideways, "twist": piece.section.twist}
        apart = {name: x for name, x in others.items() if name in entry or x != bending}
        return {(name,): x for name, x in {"bending": bending, **apart}.items()}

    def pieces(self) -> Sequence[Entry]:
        """Return its rod, which bends but keeps its length or nearly so, and its chambers."""
        rod = Rod(
            self.name,
            self.length,
            self.section(),
            pose=self.pose,
            base=self.base,
            formulation=self.formulation,
            theory="kirchhoff" if self.axial is None else "cosserat",
            mass_damping=self.mass_damping,
        )
        sides = zip(self.chambers, (-self.arm, self.arm), strict=True)
        return rod, *(
            Chamber(name, rod, self.area, (x, 0.0), thrust=False, line=self.line)
            for name, x in sides
        )
