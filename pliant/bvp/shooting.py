"""Shooting and multiple shooting: from what is guessed at the base to what must hold at the tip."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.bvp.chain import Chain
from pliant.bvp.contract import StrongForm
from pliant.bvp.equations import ROTATIONS
from pliant.bvp.shooting_solver import ShootingSolver
from pliant.bvp.sweep import SCHEMES
from pliant.model import DescriptionError
from pliant.model.checks import choice, flag
from pliant.rods.contract import whole_number


@dataclass(frozen=True)
class Shooting(StrongForm):
    """Simple shooting: guess what is unknown at the base, integrate to the tip, correct by Newton.

    steps : intervals of integration along all rods.  scheme : "rk4" or "euler".
    rotation : how orientations are carried along: "quaternion", "matrix" or "magnus" (on the group).
    rescue : where simple shooting does not arrive, let modified shooting and multiple shooting help;
        the result's ``rescues`` counts how often.
    """

    steps: int = 100
    scheme: str = "rk4"
    rotation: str = "quaternion"
    rescue: bool = True

    def __post_init__(self) -> None:
        _check(self, 1)

    def solver(self, chain: Chain) -> ShootingSolver:
        """Return a solver for `chain`."""
        return ShootingSolver(chain, self, 1)


@dataclass(frozen=True)
class MultipleShooting(StrongForm):
    """Shooting over several intervals at once, whose ends must meet: errors grow over one only.

    intervals : that the chain is cut into.  steps : intervals of integration along all rods.
    scheme, rotation, rescue : as for Shooting; the rescue is to cut into more intervals.
    """

    intervals: int = 4
    steps: int = 100
    scheme: str = "rk4"
    rotation: str = "quaternion"
    rescue: bool = True

    def __post_init__(self) -> None:
        _at_least(self, "intervals", self.intervals, 2)
        _check(self, self.intervals)

    def solver(self, chain: Chain) -> ShootingSolver:
        """Return a solver for `chain`."""
        return ShootingSolver(chain, self, self.intervals)


def _check(form: Shooting | MultipleShooting, steps: int) -> None:
    name = type(form).__name__
    _at_least(form, "steps", form.steps, steps)
    choice(name, "scheme", form.scheme, SCHEMES)
    choice(name, "rotation", form.rotation, ROTATIONS)
    flag(name, "rescue", form.rescue)


def _at_least(form: StrongForm, field: str, value: object, least: int) -> None:
    found = whole_number(value)
    if found is None or found < least:
        raise DescriptionError(
            type(form).__name__,
            field,
            value,
            f"a whole number of {least} or more",
            f"give e.g. {max(least, 100 if field == 'steps' else 4)}",
        )
    object.__setattr__(form, field, found)
