"""Pressure chambers along a rod, and the lines that feed them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import Array
from pliant.model.errors import DescriptionError, raised
from pliant.model.fields import holds, quantity
from pliant.model.kinds import Flag, Interval
from pliant.model.places import OnRod
from pliant.model.pointwise import LineStress
from pliant.model.profile import ProfileLike, evaluate, evaluate_rows
from pliant.model.registry import Described, Effect, OneOf

if TYPE_CHECKING:
    from pliant.model.description import Description
    from pliant.model.rod import Rod

ATMOSPHERE = 101325.0
"""Pa."""
_ROUNDING = 1e-9
"""Part of the atmosphere by which a pressure that was computed may lie below vacuum."""

Offset = tuple[float, ...] | Callable[[float], ArrayLike]


class PressureLine(Described, ABC):
    """What lies between the pressure that is asked for and the pressure in a chamber."""

    file_name: ClassVar[str] = ""

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
    input_expected: ClassVar[str] = "one finite number, the pressure in Pa"
    input_remedy: ClassVar[str] = "give e.g. 2e4"

    def check(self) -> None:
        """Refuse a pressure that the line cannot have."""
        self.check_input(self.label, "pressure", self.pressure)

    def inputs(self) -> dict[str, float]:
        """Return its name with the pressure where no input is given, Pa."""
        return {self.name: self.pressure}

    def problems(self, description: Description) -> Iterator[DescriptionError]:
        """Yield what is wrong with it in the robot; functions of s are evaluated along it."""
        told = list(super().problems(description))
        yield from told
        if not told:
            length = description.rods[self.part].length
            yield from raised(lambda: self.sweep(np.linspace(*self.span(length), 33), length))

    def input_line(self) -> PressureLine | None:
        """Return the line between the pressure that is asked for and the one that acts."""
        return self.line

    def check_input(self, part: str, field: str, value: Any) -> None:
        """Refuse a gauge pressure, Pa, that no gas can have behind the line.

        part, field : of what it was given, for the message.
        """
        lowest = -math.inf if self.line is None else self.line.lowest
        if value < lowest - _ROUNDING * abs(lowest):
            raise DescriptionError(
                part, field, value, f"{lowest:g} Pa or more, for that is vacuum",
                "give gauge pressures in Pa, which count from the atmosphere",
            )  # fmt: skip

    @property
    def part(self) -> str:
        """The name of the rod along which it runs."""
        return str(self.on)

    def pointwise(self) -> LineStress:
        """Return the stress of its pressure, which works on its volume."""
        return LineStress(self.name, self.part, self.over, self.sweep, self._rest)

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
        found = np.zeros((len(where), 6))
        found[:, 0], found[:, 1], found[:, 5] = place[:, 1], -place[:, 0], float(self.thrust)
        return np.asarray(area[:, None] * found)
