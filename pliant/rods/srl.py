"""SRL: serial rigid links with elastic joints between them.

After Sadati et al., TMTDyn (equations 4, 5, 34 and 35, Table 3; `docs/theory/tmt.md`). Every segment
has one joint that turns, shifts and stretches; its springs are the stiffness of the segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.lie import symbolic
from pliant.lie.operators import EXP
from pliant.model import Rod
from pliant.model.fields import Choice, Whole, holds
from pliant.rods.contract import Array, Capabilities, Formulation
from pliant.rods.relative import RelativeMap
from pliant.rods.relative_kernels import ZXY


@dataclass(frozen=True)
class SRL(Formulation):
    """Rod of rigid links in series: turns and shifts of the joints between them are the unknowns.

    segments : number of joints, at least 1.
    scheme : "midpoint" has the joint in the middle of its segment, between two halves of rigid links,
        and turns it by a rotation vector; of second order. "one-sided" is the published model, of
        first order: the joint at the end of the segment, turns about z, x and y one after another, and
        the segment as a rigid link with its middle at the joint.
    """

    segments: int = holds(Whole(least=1, example="16"), 16)
    scheme: str = holds(Choice(names=("midpoint", "one-sided")), "midpoint")

    capabilities: ClassVar[Capabilities] = Capabilities(theories=("cosserat", "kirchhoff"))

    def discretise(self, rod: Rod) -> RelativeMap:
        """The map of `rod` under these settings."""
        if self.scheme == "midpoint":
            return SRLMap(rod, self.segments, EXP)
        return OneSidedSRLMap(rod, self.segments, ZXY)


class SRLMap(RelativeMap):
    """Joints in the middle of the segments, their shift half-way between the frames of both links."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def shape(self, t: Array, h: Array) -> Array:
        beyond = t > 0.5
        a, b = np.minimum(t, 0.5) * h, np.maximum(t - 0.5, 0.0) * h
        one, zero = beyond.astype(float), np.zeros_like(t)
        return np.stack([a, one, zero, 0.5 * one, b, one], axis=1)

    def mass_rule(self) -> tuple[Array, Array]:
        """The middles of both halves of each segment (S,), m, with their lengths (S,), m."""
        s = self.breaks[:-1, None] + np.outer(self.lengths, [0.25, 0.75])
        return s.ravel(), np.repeat(0.5 * self.lengths, 2)

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        return s, 0.5 * self.lengths[self.place(s)]

    def symbolic_piece(self, math: Any, turn: Any, shift: Any, h: float, t: float) -> Any:
        if t <= 0.5:
            return math.SX.eye(3), math.SX([0.0, 0.0, t * h])
        half = symbolic.rotation(math, 0.5 * turn)
        R, ahead = half @ half, math.SX([0.0, 0.0, (t - 0.5) * h])
        return R, math.SX([0.0, 0.0, 0.5 * h]) + half @ shift + R @ ahead


class OneSidedSRLMap(RelativeMap):
    """Joints at the ends of the segments, which are rigid links with their middles at the joints."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def shape(self, t: Array, h: Array) -> Array:
        one, zero = (t >= 1.0).astype(float), np.zeros_like(t)
        return np.stack([t * h, one, zero, zero, zero, one], axis=1)

    def mass_rule(self) -> tuple[Array, Array]:
        """The ends of the segments (S,), m, with their lengths (S,), m."""
        return self.breaks[1:].copy(), self.lengths.copy()

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        return self.before(s)

    def symbolic_piece(self, math: Any, turn: Any, shift: Any, h: float, t: float) -> Any:
        """The turns of Sadati, Table 3: about z, then the new x, then the new y."""
        if t < 1.0:
            return math.SX.eye(3), math.SX([0.0, 0.0, t * h])
        x, y, z = (symbolic.screw(math, np.eye(6)[k], turn[k])[0] for k in range(3))
        return z @ x @ y, math.SX([0.0, 0.0, h]) + shift
