"""Shooting and multiple shooting: from what is guessed at the base to what must hold at the tip."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pliant.bvp.chain import Chain
from pliant.bvp.contract import StrongForm
from pliant.bvp.rod_equations import ROTATIONS
from pliant.bvp.shooting.adaptive import AdaptiveSolver
from pliant.bvp.shooting.attenuation import chosen_steps, too_few
from pliant.bvp.shooting.integration import SCHEMES
from pliant.bvp.shooting.solver import ShootingSolver
from pliant.model import DescriptionError
from pliant.model.checks import choice, flag, positive, whole_number


@dataclass(frozen=True)
class Shooting(StrongForm):
    """Simple shooting: guess what is unknown at the base, integrate to the tip, correct by Newton.

    steps : intervals of integration along all rods. None chooses: 100 (Euler: 400), and more in motions
        whose short time steps need them.
    scheme : "rk4", "euler", or "adaptive": RK4 on intervals that are cut, in statics and in motion,
        until the error made in each is below ``tolerance`` of the wrench in the chain.
    rotation : how orientations are carried along: "quaternion", "matrix" or "magnus" (on the group).
    rescue : where simple shooting does not arrive, let modified shooting and multiple shooting help;
        the result's ``rescues`` counts how often.
    tolerance : of the adaptive scheme.
    """

    steps: int | None = 100
    scheme: str = "rk4"
    rotation: str = "quaternion"
    rescue: bool = True
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        _check(self, 1)

    def solver(self, chain: Chain, rate: float = 0.0) -> ShootingSolver:
        """Return a solver for `chain`, with intervals for a time rule of c0 = `rate`, 1/s."""
        return _solver(chain, self, 1, rate)

    def doubt(self, chain: Chain, rate: float, dt: float) -> str:
        """Say which rod has too few intervals for the time step, or nothing."""
        return _doubt(self, chain, rate, dt)


@dataclass(frozen=True)
class MultipleShooting(StrongForm):
    """Shooting over several intervals at once, whose ends must meet: errors grow over one only.

    intervals : that the chain is cut into.
    steps, scheme, rotation, tolerance, rescue : as for Shooting; the rescue is to cut into more
        intervals.
    """

    intervals: int = 4
    steps: int | None = 100
    scheme: str = "rk4"
    rotation: str = "quaternion"
    rescue: bool = True
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        _at_least(self, "intervals", self.intervals, 2)
        _check(self, self.intervals)

    def solver(self, chain: Chain, rate: float = 0.0) -> ShootingSolver:
        """Return a solver for `chain`, with intervals for a time rule of c0 = `rate`, 1/s."""
        return _solver(chain, self, self.intervals, rate)

    def doubt(self, chain: Chain, rate: float, dt: float) -> str:
        """Say which rod has too few intervals for the time step, or nothing."""
        return _doubt(self, chain, rate, dt)


def _solver(
    chain: Chain, form: Shooting | MultipleShooting, count: int, rate: float
) -> ShootingSolver:
    if form.steps is None:
        form = replace(form, steps=chosen_steps(chain, form.scheme, rate))
    if form.scheme == "adaptive":
        return AdaptiveSolver(chain, form, count)
    return ShootingSolver(chain, form, count)


def _doubt(form: Shooting | MultipleShooting, chain: Chain, rate: float, dt: float) -> str:
    if form.steps is None or form.scheme == "adaptive":
        return ""
    part = too_few(chain, form.scheme, form.steps, rate)
    if not part:
        return ""
    enough = chosen_steps(chain, form.scheme, rate)
    return (
        f"steps = {form.steps} are too few for {part} and dt = {dt:g} s: the time step is so short "
        "that disturbances decay within one interval, which the integration along the rod does not "
        "resolve, and the motion is wrong. "
        f"Give steps={enough}, steps=None to have them chosen, a larger dt, or Collocation()."
    )


def _check(form: Shooting | MultipleShooting, steps: int) -> None:
    name = type(form).__name__
    if form.steps is not None:
        _at_least(form, "steps", form.steps, steps)
    choice(name, "scheme", form.scheme, SCHEMES)
    choice(name, "rotation", form.rotation, ROTATIONS)
    flag(name, "rescue", form.rescue)
    limit = positive(name, "tolerance", form.tolerance, "", "give e.g. 1e-8")
    object.__setattr__(form, "tolerance", limit)


def _at_least(form: StrongForm, field: str, value: object, least: int) -> None:
    found = whole_number(value)
    if found is None or found < least:
        raise DescriptionError(
            type(form).__name__,
            field,
            value,
            f"a whole number of {least} or more" + (", or None" if field == "steps" else ""),
            f"give e.g. {max(least, 100 if field == 'steps' else 4)}",
        )
    object.__setattr__(form, field, found)
