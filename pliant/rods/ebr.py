"""EBR: Euler-Bernoulli beams in series, each with coordinates relative to the one before.

After Sadati et al., TMTDyn (equations 6, 8, 34 and 35; `docs/theory/tmt.md`). A beam turns its end by
the quaternion [1, alpha / 2], whose length does not matter, and shifts it by h e3 + eps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.lie import symbolic
from pliant.lie.operators import CAYLEY
from pliant.model import Rod
from pliant.model.fields import Choice, Whole, holds
from pliant.rods.contract import Array, Capabilities, Formulation
from pliant.rods.relative import RelativeMap


@dataclass(frozen=True)
class EBR(Formulation):
    """Rod of straight beams in series: relative turns and shifts of their ends are the unknowns.

    segments : number of beams, at least 1.
    scheme : "midpoint" shifts the end of a beam along the axes of its middle and has its mass there; of
        second order. "one-sided" is the published model, of first order: shifted along the axes of its
        start, and the segment as a rigid link with its middle at the end.
    """

    segments: int = holds(Whole(least=1, example="16"), 16)
    scheme: str = holds(Choice(names=("midpoint", "one-sided")), "midpoint")

    capabilities: ClassVar[Capabilities] = Capabilities(theories=("cosserat", "kirchhoff"))

    def discretise(self, rod: Rod) -> RelativeMap:
        """The map of `rod` under these settings."""
        map_of = EBRMap if self.scheme == "midpoint" else OneSidedEBRMap
        return map_of(rod, self.segments, CAYLEY)


class EBRMap(RelativeMap):
    """Beams that shift along the axes of their middles, where they have their mass."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def shape(self, t: Array, h: Array) -> Array:
        zero = np.zeros_like(t)
        return np.stack([zero, t, h, np.full_like(t, 0.5), zero, t], axis=1)

    def mass_rule(self) -> tuple[Array, Array]:
        """The middles of the segments (S,), m, with their lengths (S,), m."""
        return self.middles.copy(), self.lengths.copy()

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        return s, self.lengths[self.place(s)]

    def symbolic_piece(self, math: Any, turn: Any, shift: Any, h: float, t: float) -> Any:
        half = symbolic.turn_by_quaternion(math, 0.5 * turn)
        whole = math.SX([0.0, 0.0, h]) + shift
        return symbolic.turn_by_quaternion(math, t * turn), t * (half @ whole)


class OneSidedEBRMap(RelativeMap):
    """Beams that shift along the axes of their starts, with their mass at their ends."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def shape(self, t: Array, h: Array) -> Array:
        zero = np.zeros_like(t)
        return np.stack([zero, t, h, zero, zero, t], axis=1)

    def mass_rule(self) -> tuple[Array, Array]:
        """The ends of the segments (S,), m, with their lengths (S,), m."""
        return self.breaks[1:].copy(), self.lengths.copy()

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        return self.before(s)

    def symbolic_piece(self, math: Any, turn: Any, shift: Any, h: float, t: float) -> Any:
        whole = math.SX([0.0, 0.0, h]) + shift
        return symbolic.turn_by_quaternion(math, t * turn), t * whole
