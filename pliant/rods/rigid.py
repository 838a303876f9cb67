"""The map of a rigid body: it has no coordinates of its own and moves with its base."""

from __future__ import annotations

import numpy as np

from pliant.rods.actuation import OnStrains
from pliant.rods.contract import Array, Configuration, Plan, RodMap

_NOWHERE = np.zeros(0)


class RigidMap(RodMap):
    """All frames of a rigid body are its base; it has no strains and no stations of its own."""

    def __init__(self) -> None:
        self.nv = self.nq = 0
        self.m = 6
        self.elements = np.arange(6, dtype=np.int64)[None, :]
        self.breaks = _NOWHERE
        self.actuation = OnStrains(self)

    def rest(self) -> Array:
        return np.zeros(0)

    def mass_rule(self) -> tuple[Array, Array]:
        return _NOWHERE, _NOWHERE

    def strain_rule(self) -> tuple[Array, Array]:
        return _NOWHERE, np.zeros((0, 6))

    def inertia(self, s: Array) -> Array:
        return np.zeros((len(s), 6))

    def frame(self, plan: Plan, c: Configuration) -> None:
        plan.g[...] = c.base
        plan.J[...] = np.eye(6)

    def strain(self, plan: Plan, c: Configuration) -> None:
        """Write nothing: there are no strains."""

    def frame_second(self, plan: Plan, c: Configuration, f: Array, K: Array) -> None:
        """Add nothing: twists of the base are the variables."""

    def strain_second(self, plan: Plan, c: Configuration, sigma: Array, K: Array) -> None:
        """Add nothing."""

    def frame_bias(self, plan: Plan, c: Configuration, ydot: Array, bias: Array) -> None:
        bias[...] = 0.0
