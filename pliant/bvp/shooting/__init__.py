"""Shooting and multiple shooting: from what is guessed at the base to what must hold at the tip."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.bvp.shooting.form import ShootingForm


@dataclass(frozen=True)
class Shooting(ShootingForm):
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


@dataclass(frozen=True)
class MultipleShooting(ShootingForm):
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
        self._require("intervals", self.intervals, 2)
        super().__post_init__()

    @property
    def segments(self) -> int:
        """How many segments the chain is cut into."""
        return self.intervals
