"""Pressure chambers along a rod, and the lines that feed them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.checks import (
    Array,
    as_array,
    flag,
    not_negative,
    number,
    part_name,
    positive,
    vector,
)
from pliant.model.errors import DescriptionError
from pliant.model.profile import ProfileLike, evaluate, profile_field
from pliant.model.rod import Rod

ATMOSPHERE = 101325.0
"""Pa."""
_ROUNDING = 1e-9
"""Part of the atmosphere by which a pressure that was computed may lie below vacuum."""

Offset = tuple[float, ...] | Callable[[float], ArrayLike]


class PressureLine(ABC):
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

    time: float

    def __post_init__(self) -> None:
        found = positive("Lag", "time", self.time, "seconds", "give e.g. 0.05")
        object.__setattr__(self, "time", found)

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

    conductance: float
    dead_volume: float = 0.0
    atmosphere: float = ATMOSPHERE

    def __post_init__(self) -> None:
        for field, unit, example, check in (
            ("conductance", "m^3/s", "1e-4", positive),
            ("dead_volume", "m^3", "1e-6", not_negative),
            ("atmosphere", "Pa", "101325", positive),
        ):
            found = check("Flow", field, getattr(self, field), unit, f"give e.g. {example}")
            object.__setattr__(self, field, found)

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
class Chamber:
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

    name: str
    on: str | Rod
    area: ProfileLike
    offset: Offset = (0.0, 0.0)
    over: tuple[float, float] | None = None
    pressure: float = 0.0
    thrust: bool = True
    line: PressureLine | None = None

    def __post_init__(self) -> None:
        part_name("chamber", self.name)
        on = self.on.name if isinstance(self.on, Rod) else self.on
        if not isinstance(on, str):
            raise DescriptionError(self.label, "on", on, "a rod or the name of a rod", "e.g. arm")
        self._set("on", on)
        self._set("area", profile_field(self.label, "area", self.area, "square metres"))
        if not callable(self.offset):
            self._set("offset", vector(self.label, "offset", self.offset, 2, "metres"))
        self._set("pressure", number(self.label, "pressure", self.pressure, "Pa", "give e.g. 2e4"))
        self._set("thrust", flag(self.label, "thrust", self.thrust))
        if self.line is not None and not isinstance(self.line, PressureLine):
            raise DescriptionError(
                self.label, "line", self.line, "Lag, Flow or None", "give e.g. Lag(0.05)"
            )
        self.check_pressure(self.label, "pressure", self.pressure)
        self._check_over()

    def check_pressure(self, part: str, field: str, value: float) -> None:
        """Refuse a gauge pressure, Pa, that no gas can have behind the line.

        part, field : of what it was given, for the message.
        """
        lowest = -math.inf if self.line is None else self.line.lowest
        if value < lowest - _ROUNDING * abs(lowest):
            raise DescriptionError(
                part, field, value, f"{lowest:g} Pa or more, for that is vacuum",
                "give gauge pressures in Pa, which count from the atmosphere",
            )  # fmt: skip

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_over(self) -> None:
        if self.over is None:
            return
        start, end = vector(self.label, "over", self.over, 2, "metres")
        if not 0 <= start < end:
            raise DescriptionError(
                self.label, "over", self.over, "(s0, s1) with 0 <= s0 < s1", "give e.g. (0.0, 0.1)"
            )
        self._set("over", (start, end))

    @property
    def label(self) -> str:
        """How error messages call this chamber."""
        return f"chamber {self.name!r}"

    @property
    def part(self) -> str:
        """The name of the rod along which it runs."""
        return str(self.on)

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
        place = self._offset_at(where)
        found = np.zeros((len(where), 6))
        found[:, 0], found[:, 1], found[:, 5] = place[:, 1], -place[:, 0], float(self.thrust)
        return np.asarray(area[:, None] * found)

    def _offset_at(self, s: Array) -> Array:
        if not callable(self.offset):
            return np.tile(self.offset, (len(s), 1))
        found = []
        for point in s:
            given = self.offset(float(point))
            place = as_array(given)
            if place is None or place.shape != (2,) or not np.isfinite(place).all():
                raise DescriptionError(
                    self.label,
                    "offset",
                    given,
                    "2 finite numbers in metres at every s",
                    f"correct what it gives at s = {point:g} m",
                )
            found.append(place)
        return np.array(found)
