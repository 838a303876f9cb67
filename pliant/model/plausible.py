"""Numbers without dimension that tell slips of units: slenderness, weight over stiffness, density.

Nothing here is refused. A doubt is a sentence that names a value, why no robot has it, and the unit in
which it was probably given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.model.places import Frame
from pliant.model.section import Material

if TYPE_CHECKING:
    from pliant.model.rod import Rod

MODULI = {"kPa": 1e3, "MPa": 1e6, "GPa": 1e9}
PRESSURES = {"mbar": 1e2, "kPa": 1e3, "bar": 1e5, "MPa": 1e6}
DENSITIES = {"g/cm^3": 1e3, "g/mm^3": 1e6, "kg/mm^3": 1e9, "t/mm^3": 1e12, "g/m^3": 1e-3}
_SIZES = {"mm": 1e-3, "cm": 1e-2}

LONGEST, WIDEST = 100.0, 1.0
"""Length of a rod and half width of its section that no robot has, m."""
LEAST_SLENDER, MOST_SLENDER = 1.0, 1e5
SOFTEST, STIFFEST = 500.0, 1.5e12
"""Young's moduli of the softest gels and of diamond, Pa."""
LIGHTEST, DENSEST = 20.0, 25e3
"""Densities of foam and of osmium, kg/m^3."""
METAL = (4500.0, 1e8)
"""Density above which a material is a metal, kg/m^3, and Young's modulus below which it is none, Pa."""
HEAVY, LIMP = 1.0, 1e6
"""Weight over axial stiffness, and over bending stiffness times the length squared."""
MOST_PULL, MOST_PUSH, MOST_MOMENT = 1.0, 1e5, 1e3
"""Forces over axial and over bending stiffness / L^2, moments over bending stiffness / L."""
MOST_GRAVITY = 100.0
"""m/s^2."""
TURNS = 2.0
"""Turns of a plane natural curve, which then overlaps itself."""
MOST_TURNS, ROUND = 10.0, 5.0
"""Turns that no joint makes, and what angles in degrees are multiples of."""
FAINT, EXTREME = 5e-3, 200.0
"""Angles by which a described pressure bends a rod, rad."""


class Scale(NamedTuple):
    """Of a rod: length and largest half width (m), median of EI (N m^2) and EA (N), mass (kg/m)."""

    length: float
    radius: float
    bending: float
    axial: float
    mass: float


@lru_cache(maxsize=64)
def scale_of(rod: Rod) -> Scale:
    """Return the scale of a rod; a Stiffness has the half width of the round rod with its EI / EA."""
    s = np.linspace(0.0, rod.length, 9)
    C, mass = rod.stiffness(s), rod.inertia(s)[:, 3]
    middle = len(s) // 2
    bending, axial = (float(np.sort(x)[middle]) for x in (np.minimum(C[:, 0], C[:, 1]), C[:, 5]))
    direct = rod.material is None
    radius = 2.0 * math.sqrt(bending / axial) if direct else float(rod.outline(s).max())
    return Scale(rod.length, radius, bending, axial, float(mass.mean()))


def meant(value: float, units: Mapping[str, float], usual: float, unit: str) -> str:
    """Return which unit brings a value nearest to what is usual, with the value in `unit`."""
    name = min(units, key=lambda key: abs(math.log(abs(value) * units[key] / usual)))
    return f"probably it was given in {name}: then write {value * units[name]:.4g} {unit}".rstrip()


def rod_doubts(rod: Rod, gravity: float) -> Iterator[str]:
    """Yield what is implausible about a rod under a gravity (m/s^2)."""
    scale, material = scale_of(rod), rod.material
    sizes = list(_size_doubts(rod, scale))
    matter = [] if material is None else list(_material_doubts(material))
    yield from (f"{rod.label}: {text}" for text in [*sizes, *matter])
    if not sizes and not matter:
        yield from (f"{rod.label}: {text}" for text in _weight_doubts(rod, scale, gravity))
    natural = rod.natural
    if isinstance(natural, tuple) and natural[2] == 0.0:
        angle = math.hypot(*natural[:2]) * rod.length
        if angle > 2.0 * math.pi * TURNS:
            degrees = ", ".join(f"{math.radians(u):.4g}" for u in natural[:3])
            yield (
                f"{rod.label}: natural = {natural[:3]} rad/m winds it {angle / (2.0 * math.pi):.3g} "
                f"times around in a plane; if it is in degrees per metre, write ({degrees})"
            )


def _size_doubts(rod: Rod, scale: Scale) -> Iterator[str]:
    L, r = scale.length, scale.radius
    direct = rod.material is None
    slender = L / r
    if direct:
        if L > LONGEST:
            yield f"length = {L:g} m is longer than any robot; {meant(L, _SIZES, 0.3, 'm')}"
        elif slender < 0.1 * LEAST_SLENDER:
            yield (
                f"bending over axial stiffness is that of a round rod of radius {r:.3g} m; probably "
                "bending and twist were given in N mm^2: then multiply them by 1e-6"
            )
        return
    good = L <= LONGEST and r <= WIDEST and LEAST_SLENDER <= slender <= MOST_SLENDER
    if not good:
        what = (
            f"length = {L:g} m with a section of {r:g} m half width is no slender part of a robot"
        )
        yield f"{what}; {_size_meant(L, r)}"


def _size_meant(L: float, r: float) -> str:
    """Return which of length and section were probably given in mm or cm."""
    best, text = math.inf, "check the units of both (metres)"
    for unit, factor in _SIZES.items():
        for which, a, b in (("both were", factor, factor), ("the length was", factor, 1.0),
                            ("the section was", 1.0, factor)):  # fmt: skip
            odd = abs(math.log(a * L / (b * r) / 30.0)) + 0.3 * abs(math.log(a * L / 0.3))
            odd += 0.5 * (unit == "cm")
            if odd < best:
                best = odd
                text = f"probably {which} given in {unit}: then write {a * L:.4g} and {b * r:.4g} m"
    return text


def _usual_modulus(material: Material) -> float:
    """Return Young's modulus of a metal, a plastic or a rubber, by density and Poisson's ratio, Pa."""
    if material.rho > METAL[0]:
        return 1e11
    return 2e9 if material.nu is not None and material.nu < 0.42 else 5e5


def _material_doubts(material: Material) -> Iterator[str]:
    E, rho = material.E, material.rho
    if E < SOFTEST:
        text = meant(E, MODULI, _usual_modulus(material), "Pa")
        yield f"E = {E:g} Pa is softer than any gel; {text}"
    elif E > STIFFEST:
        yield f"E = {E:g} Pa is stiffer than diamond (1.2e12 Pa); check its exponent"
    elif METAL[0] < rho <= DENSEST and METAL[1] > E:
        text = meant(E, MODULI, 1e11, "Pa")
        yield f"rho = {rho:g} kg/m^3 is a metal, and E = {E:g} Pa is softer than any; {text}"
    if rho > 0.0 and not LIGHTEST <= rho <= DENSEST:
        than = "less than foam" if rho < LIGHTEST else "more than any metal"
        yield f"rho = {rho:g} kg/m^3 is {than}; {meant(rho, DENSITIES, 2500.0, 'kg/m^3')}"


def _weight_doubts(rod: Rod, scale: Scale, gravity: float) -> Iterator[str]:
    weight = scale.mass * min(gravity, MOST_GRAVITY) * scale.length
    stretch, sag = weight / scale.axial, weight * scale.length**2 / scale.bending
    if stretch <= HEAVY and sag <= LIMP:
        return
    text = "check the units of its stiffness, mass and length"
    if rod.material is not None:
        told = meant(rod.material.E, MODULI, _usual_modulus(rod.material), "Pa")
        text = f"of E = {rod.material.E:g} Pa {told}"
    if scale.length > 5.0:
        text = _size_meant(scale.length, scale.radius)
    number = f"weight / EA = {stretch:.3g}" if stretch > HEAVY else f"weight L^2 / EI = {sag:.3g}"
    yield f"it cannot carry its own weight ({number}); {text}"


def link_doubts(rod: Rod, size: float) -> Iterator[str]:
    """Yield what is implausible about a link, as a rod of its section, in a robot of some size (m)."""
    radius, material = scale_of(rod).radius, rod.material
    if radius > min(size, WIDEST):
        text = meant(radius, _SIZES, 0.003 * min(size, WIDEST), "m")
        yield f"its section has a half width of {radius:g} m, and the robot is not as long; {text}"
    yield from () if material is None else _material_doubts(material)


def wrench_doubts(label: str, rod: Rod, force: float, moment: float) -> Iterator[str]:
    """Yield what is implausible about a force (N) and a moment (N m) on a rod."""
    scale = scale_of(rod)
    usual = scale.bending / scale.length**2
    pull, push = force / scale.axial, force / usual
    if pull > MOST_PULL or push > MOST_PUSH:
        number = f"F / EA = {pull:.3g}, F L^2 / EI = {push:.3g}"
        text = meant(force, {"mN": 1e-3}, usual, "N")
        yield f"{label}: a force of {force:.4g} N is far too large for {rod.label} ({number}); {text}"
    bend = moment * scale.length / scale.bending
    if bend > MOST_MOMENT:
        text = meant(moment, {"N mm": 1e-3}, scale.bending / scale.length, "N m")
        yield (
            f"{label}: a moment of {moment:.4g} N m winds {rod.label} up by {bend:.3g} rad; {text}"
        )


def pull_doubts(
    label: str, path: Iterable[object], force: float, rods: Mapping[str, Rod]
) -> Iterator[str]:
    """Yield what is implausible about a force (N) along a path of frames and points, once."""
    frames = [point for point in path if isinstance(point, Frame) and point.part in rods]
    doubts = (
        wrench_doubts(label, rods[at.part], force, force * float(np.linalg.norm(at.offset[:2])))
        for at in frames
    )
    yield from islice(chain.from_iterable(doubts), 1)


def pressure_doubts(
    label: str, rod: Rod, pressure: float, area: float, arm: float, length: float
) -> Iterator[str]:
    """Yield what is implausible about a chamber: pressure (Pa), area (m^2), arm and length (m)."""
    scale = scale_of(rod)
    whole = (2.0 * scale.radius) ** 2
    if area > 25.0 * whole and rod.material is not None:
        units = {"mm^2": 1e-6, "cm^2": 1e-4}
        text = meant(area, units, 0.2 * whole, "m^2")
        yield f"{label}: area = {area:g} m^2 is larger than the section of {rod.label}; {text}"
        return
    if arm > 10.0 * scale.radius and rod.material is not None:
        text = meant(arm, _SIZES, 0.5 * scale.radius, "m")
        yield f"{label}: offset = {arm:g} m is far outside the section of {rod.label}; {text}"
        return
    effect = abs(pressure) * area * max(arm * length / scale.bending, 3.0 / scale.axial)
    if 0.0 < effect < FAINT or effect > EXTREME:
        text = meant(pressure, PRESSURES, 0.7 * abs(pressure) / effect, "Pa")
        if effect > EXTREME:
            text = "check the units of pressure (Pa), area (m^2) and offset (m)"
        yield f"{label}: pressure = {pressure:g} Pa bends {rod.label} by {effect:.2g} rad; {text}"


def gravity_doubts(gravity: float) -> Iterator[str]:
    """Yield what is implausible about gravity, m/s^2."""
    if gravity > MOST_GRAVITY:
        units = {"mm/s^2": 1e-3, "cm/s^2": 1e-2}
        text = meant(gravity, units, 9.81, "m/s^2")
        yield f"robot: gravity = {gravity:g} m/s^2 is ten times that of the Earth; {text}"


def angle_doubts(label: str, field: str, angle: float, constant: bool = False) -> Iterator[str]:
    """Yield that an angle in rad was probably given in degrees; constant : of a part that never turns
    further, for which a full turn is nothing.
    """
    turns = abs(angle) / (2.0 * math.pi)
    many = turns > MOST_TURNS or (turns > 1.0 and (constant or math.fmod(angle, ROUND) == 0.0))
    if many and math.isfinite(angle):
        yield (
            f"{label}: {field} = {angle:g} rad is {turns:.3g} turns; if it is in degrees, write "
            f"{math.radians(angle):.4g}"
        )


def time_doubts(rods: Mapping[str, Rod], dt: float) -> Iterator[str]:
    """Yield what is implausible about a time step (s) for the slowest first period of some rods."""
    scales = [scale for scale in map(scale_of, rods.values()) if scale.mass > 0.0]
    square = max((x.mass * x.length**4 / x.bending for x in scales), default=math.inf)
    period = 2.0 * math.pi / 3.516 * math.sqrt(square)
    if dt >= 0.2 and dt > 0.5 * period:
        text = f"probably it was given in ms: then write {1e-3 * dt:g} s"
        yield f"simulate: dt = {dt:g} s is too long for a robot with a period of {period:.2g} s; {text}"
