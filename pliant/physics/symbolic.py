"""What effects ask of equations of motion with symbols, and what they add to them.

`Term.symbolic` gets one `Symbols`: the robot with coordinates q and velocities v as symbols. An effect
takes from it the frames, strains and joints that it needs, its numbers and its input, and says what it
stores, resists, pushes or holds. Generalised forces follow by virtual work: a measure m(q) with stress
s adds -(dm/dv)^T s. `math` is the module that computes with symbols, CasADi; nothing here imports it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from pliant.lie import symbolic
from pliant.model import Frame
from pliant.rods.contract import Array

if TYPE_CHECKING:
    from pliant.physics.contract import Term

SLOW = 1e-3
"""Rate below which a damper of a power below one is smoothed, m/s."""


@dataclass
class Place:
    """A frame with symbols: rotation R (3, 3) and position p (3, 1), m, in the world."""

    R: Any
    p: Any


@dataclass
class Station:
    """A rigid piece of the robot: mass, kg, and inertia (3, 3) in the axes of `place`, kg m^2."""

    place: Place
    mass: Any
    inertia: Any


class Symbols(ABC):
    """A robot whose coordinates, velocities, inputs and chosen numbers are symbols."""

    math: Any

    # -- what there is -----------------------------------------------------------------------

    @abstractmethod
    def number(self, entry: Any, field: str, s: float | None = None) -> Any:
        """A field of a part or effect, by its dotted name: a number, or a column for a vector.

        What the user named as a parameter is a symbol there. s : where a quantity that varies along a
        rod is wanted, m.
        """

    @abstractmethod
    def along(self, entry: Any, field: str, s: float, length: float) -> Any:
        """A field that may vary along a rod of some length, m: a number, taper, function or table."""

    @abstractmethod
    def input(self, name: str) -> Any:
        """The value of an input, a column."""

    @abstractmethod
    def frame(self, frame: Frame) -> Place:
        """A frame of the robot."""

    @abstractmethod
    def section(self, i: int, s: float) -> Place:
        """The section of part i at arclength s, m."""

    @abstractmethod
    def station(self, i: int, station: int) -> Place:
        """A frame station of part i, by its number in the tree."""

    @abstractmethod
    def strain(self, i: int, s: float) -> Any:
        """The strain (6, 1) of part i at arclength s, m."""

    @abstractmethod
    def stiffness(self, i: int, s: float) -> Any:
        """The stiffness (6, 1) of a rod, part i, at arclength s, N m^2 and N."""

    @abstractmethod
    def damping(self, i: int, s: float) -> Any:
        """The Kelvin-Voigt damping (6, 1) of a rod, part i, at arclength s, N m^2 s and N s."""

    @abstractmethod
    def joint(self, i: int) -> tuple[Any, Any]:
        """Values and velocities (nv, 1) of the joint of part i."""

    @abstractmethod
    def sections(self, i: int) -> list[Station]:
        """The sections or links of a rod, part i, that have its mass."""

    @abstractmethod
    def stations(self) -> list[Station]:
        """All that has mass: sections and rigid bodies."""

    @abstractmethod
    def rate(self, measure: Any) -> Any:
        """The rate of a column of measures of the configuration."""

    @abstractmethod
    def spin(self, place: Place) -> Any:
        """The angular velocity (3, 1) of a place in its own axes, rad/s."""

    @abstractmethod
    def at_rest(self, measure: Any) -> Array:
        """The numbers that a measure of the configuration has in the undeformed robot."""

    # -- what effects add --------------------------------------------------------------------

    @abstractmethod
    def store(self, energy: Any) -> None:
        """Add a potential energy, J."""

    @abstractmethod
    def resist(self, measure: Any, stress: Any) -> None:
        """Let a stress (n, 1) oppose the changes of measures (n, 1) of the configuration."""

    @abstractmethod
    def push(self, place: Place, force: Any, moment: Any) -> None:
        """Let a force, N in the world, and a moment, N m in the axes of the place, act there."""

    @abstractmethod
    def drive(self, i: int, force: Any) -> None:
        """Let forces (nv, 1) act along the velocities of the joint of part i."""

    @abstractmethod
    def hold(self, label: str, gap: Any) -> None:
        """Hold gaps (n, 1) at zero; label : how messages call the constraint."""

    @abstractmethod
    def refuse(self, term: Term, why: str = "") -> NoReturn:
        """Refuse an effect by name."""


def own_formula(term: Term, effect: Any, x: Symbols) -> None:
    """Ask an effect of the user's own, whose class may have a method symbolic(x)."""
    if not hasattr(effect, "symbolic"):
        x.refuse(term, "give its class a method symbolic(self, x), see docs/symbolic.md")
    effect.symbolic(x)


def path_length(x: Symbols, points: Sequence[Any]) -> Any:
    """The length of a path through via-points: frames, or points (3,) in the world, m."""
    at = [x.frame(p).p if isinstance(p, Frame) else x.math.SX(list(p)) for p in points]
    spans = [b - a for a, b in pairwise(at)]
    return sum(x.math.sqrt(x.math.dot(d, d)) for d in spans)


def counted(x: Symbols, kind: str, e: Any) -> tuple[Any, Any]:
    """The part of an elongation that counts for a two-way spring, a rope or a bumper, and whether
    any does, 1 or 0.
    """
    if kind == "tension":
        return x.math.fmax(e, 0.0), x.math.if_else(e < 0.0, 0.0, 1.0)
    if kind == "compression":
        return x.math.fmin(e, 0.0), x.math.if_else(e > 0.0, 0.0, 1.0)
    return e, 1.0


def damped(x: Symbols, kind: str, force: Any, damper: Any) -> Any:
    """What is left of the force of a damper beside an elastic force that only pulls or only pushes."""
    if kind == "tension":
        return x.math.fmax(force + damper, 0.0) - force
    if kind == "compression":
        return x.math.fmin(force + damper, 0.0) - force
    return damper


def damper_force(x: Symbols, c: Any, power: Any, rate: Any) -> Any:
    """c |rate|^power in the direction of the rate; powers below one are smoothed at slow rates."""
    if isinstance(power, float) and power == 1.0:
        return c * rate
    slow = SLOW**2 if isinstance(power, float) and power < 1.0 else 0.0
    if not isinstance(power, float):
        slow = x.math.if_else(power < 1.0, SLOW**2, 0.0)
    square = rate * rate + slow
    moving = square > 0.0
    size = x.math.sqrt(x.math.if_else(moving, square, 1.0))
    return x.math.if_else(moving, c * size ** (power - 1.0) * rate, 0.0)


def relative(x: Symbols, a: Place, b: Place) -> Place:
    """Frame b as frame a sees it."""
    return Place(a.R.T @ b.R, a.R.T @ (b.p - a.p))


def frame_gap(x: Symbols, a: Place, b: Place) -> Any:
    """Gaps (6, 1) between two frames: rotation vector and position of b in a."""
    seen = relative(x, a, b)
    return x.math.vertcat(symbolic.rotation_vector(x.math, seen.R), seen.p)


def turned(place: Place, X: Array) -> Place:
    """The frame with a constant pose (4, 4) in another one."""
    return Place(place.R @ X[:3, :3], place.p + place.R @ X[:3, 3])
