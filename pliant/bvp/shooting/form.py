"""What simple and multiple shooting have in common: their settings, and the solver they make."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pliant.bvp.chain import Chain
from pliant.bvp.contract import StrongForm
from pliant.bvp.rod_equations import ROTATIONS
from pliant.bvp.shooting.adaptive import AdaptiveSolver
from pliant.bvp.shooting.attenuation import chosen_steps, too_few
from pliant.bvp.shooting.integration import SCHEMES
from pliant.bvp.shooting.mesh import even_edges
from pliant.bvp.shooting.solver import ShootingSolver
from pliant.model import DescriptionError
from pliant.model.checks import choice, flag, positive, whole_number
from pliant.rods.contract import RodModel

_USUAL_STEPS = 100
"""Intervals where they are chosen and nothing needs more."""


class ShootingForm(StrongForm):
    """Settings of shooting."""

    solves_tubes: ClassVar[bool] = True

    steps: int | None
    scheme: str
    rotation: str
    rescue: bool
    tolerance: float

    def __post_init__(self) -> None:
        name = type(self).__name__
        if self.steps is not None:
            self._require("steps", self.steps, self.segments)
        choice(name, "scheme", self.scheme, SCHEMES)
        choice(name, "rotation", self.rotation, ROTATIONS)
        flag(name, "rescue", self.rescue)
        limit = positive(name, "tolerance", self.tolerance, "", "give e.g. 1e-8")
        object.__setattr__(self, "tolerance", limit)

    @property
    def segments(self) -> int:
        """How many segments the chain is cut into, the ends of which must meet."""
        return 1

    def _require(self, field: str, value: object, least: int) -> None:
        """Refuse what is no whole number of at least `least`."""
        found = whole_number(value)
        if found is None or found < least:
            raise DescriptionError(
                type(self).__name__,
                field,
                value,
                f"a whole number of {least} or more" + (", or None" if field == "steps" else ""),
                f"give e.g. {max(least, 100 if field == 'steps' else 4)}",
            )
        object.__setattr__(self, field, found)

    def coarser(self, rod: str, factor: int) -> RodModel:
        """Fewer intervals; fewer digits where intervals are cut as the tolerance needs."""
        if self.scheme == "adaptive":
            return replace(self, tolerance=min(self.tolerance ** (1.0 / factor), 1e-2))  # type: ignore[call-arg]
        if self.steps is None:
            return self.with_size(max(_USUAL_STEPS // factor, self.segments))
        return super().coarser(rod, factor)

    def solver(self, chain: Chain, rate: float = 0.0) -> ShootingSolver:
        """Return a solver for `chain`, with intervals for a time rule of c0 = `rate`, 1/s."""
        steps = chosen_steps(chain, self.scheme, rate) if self.steps is None else self.steps
        kind = AdaptiveSolver if self.scheme == "adaptive" else ShootingSolver
        return kind(chain, self, even_edges(chain, steps))

    def doubt(self, chain: Chain, rate: float, dt: float) -> str:
        """Say which rod has too few intervals for the time step, or nothing."""
        if self.steps is None or self.scheme == "adaptive":
            return ""
        part = too_few(chain, self.scheme, self.steps, rate)
        if not part:
            return ""
        enough = chosen_steps(chain, self.scheme, rate)
        return (
            f"steps = {self.steps} are too few for {part} and dt = {dt:g} s: the time step is so short "
            "that disturbances decay within one interval, which the integration along the rod does not "
            "resolve, and the motion is wrong. "
            f"Give steps={enough}, steps=None to have them chosen, a larger dt, or Collocation()."
        )
