"""The contract of a joint: coordinates between a part and the frame that carries it.

The base of a part is at G X j(q): G the frame that carries it, X its constant pose there, and j the
pose of the joint. With variations x (nv,) of the coordinates q (nq,),

    j(q o x) = j(q) exp(S(q) x + O(x^2)).

A joint is a frozen dataclass with `rest`, `pose` and `axes`; the rest has a default, for coordinates
that move by addition, with derivatives by differences.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model.checks import DescriptionError, as_array
from pliant.model.registry import Joint

_STEP = 1e-5
"""Step of the default derivatives, radians and metres."""


class JointMap(Joint, ABC):
    """A joint with nq coordinates and nv velocities.

    stiffness, damping : of every coordinate against its rest, N m/rad and N m s/rad, or N/m and N s/m.
    """

    compiled: ClassVar[bool] = False
    """Whether the methods that the tree asks for only call kernels; said by each class for itself."""
    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    stiffness: float = 0.0
    damping: float = 0.0

    @property
    def moves(self) -> bool:
        return self.nv > 0

    def rest(self) -> Array:
        """Coordinates (nq,) at which the joint is at rest: j = 1."""
        return np.zeros(self.nq)

    def coordinates(self, part: str, field: str, value: object) -> Array:
        """Coordinates (nq,) from what a user gives; part, field : for error messages."""
        found = as_array(value)
        if found is None or found.size != self.nq or not np.isfinite(found).all():
            expected = f"{self.nq} finite number{'s' * (self.nq > 1)}, the coordinates of its joint"
            raise DescriptionError(part, field, value, expected, "give e.g. 0.1")
        return found.ravel()

    @abstractmethod
    def pose(self, q: Array) -> Array:
        """The pose j (4, 4) at coordinates q (nq,)."""

    @abstractmethod
    def axes(self, q: Array) -> Array:
        """S (6, nv): body twist of j for each velocity."""

    def retract(self, q: Array, x: Array) -> Array:
        """Coordinates (nq,) after a variation x (nv,)."""
        return q + x

    def difference(self, a: Array, b: Array) -> Array:
        """The variation (nv,) that leads from a to b (nq,)."""
        return b - a

    def displacement(self, q: Array) -> Array:
        """How far (nv,) the joint is from its rest, for its stiffness."""
        return self.difference(self.rest(), q)

    def second(self, q: Array, r: Array) -> Array:
        """(nv, nv): second derivative of r . log(j(q)^-1 j(q o x)) at x = 0, r (6,)."""
        here = se3.inverse(self.pose(q))

        def value(x: Array) -> float:
            return float(r @ se3.log(here @ self.pose(self.retract(q, x))))

        H = np.empty((self.nv, self.nv))
        unit = 1e-4 * np.eye(self.nv)
        for a in range(self.nv):
            for b in range(a + 1):
                ends = [value(i * unit[a] + j * unit[b]) for i, j in _CORNERS]
                H[a, b] = H[b, a] = (ends[0] - ends[1] - ends[2] + ends[3]) / 4e-8
        return H

    def bias(self, q: Array, v: Array) -> Array:
        """Rate (6,) of the twist S(q) v at constant velocities v (nv,)."""
        size = float(np.linalg.norm(v))
        if size == 0.0:
            return np.zeros(6)
        step = _STEP / size
        ahead, behind = (self.axes(self.retract(q, t * v)) @ v for t in (step, -step))
        return np.asarray((ahead - behind) / (2.0 * step))

    # -- what the tree asks for ----------------------------------------------------------------

    def place(self, q: Array, pose: Array, axes: Array) -> None:
        """Write pose (4, 4) and axes (6, nv) at coordinates q (nq,)."""
        pose[...], axes[...] = self.pose(q), self.axes(q)

    def move(self, q: Array, x: Array, index: Array, out: Array) -> None:
        """Write coordinates out (nq,) after the variation x[index]."""
        out[...] = self.retract(q, x[index])

    def extrapolate(self, before: Array, now: Array, out: Array) -> None:
        """Write coordinates out (nq,) that go on from `now` as they came there from `before`."""
        out[...] = self.retract(now, self.difference(before, now))

    def set_difference(self, a: Array, b: Array, out: Array) -> None:
        """Write `difference` to out (nv,)."""
        out[...] = self.difference(a, b)

    def add_second(self, q: Array, wrench: Array, H: Array) -> None:
        """Add `second` for a wrench (6,) to H (nv, nv)."""
        H += self.second(q, wrench)

    def set_bias(self, q: Array, v: Array, index: Array, bias: Array) -> None:
        """Write `bias` (6,) at the velocities v[index]."""
        bias[...] = self.bias(q, v[index])


_CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
