"""The map of a rigid body: it has no coordinates of its own and moves with its base."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.rods.actuation import OnStrains
from pliant.rods.contract import Array, Configuration, KernelMap, Plan, SymbolicRod
from pliant.rods.lumped_nodes import LumpedNodes

_NOWHERE = np.zeros(0)


class RigidConfiguration(Configuration):
    """Adds the base as the only node."""

    def __init__(self) -> None:
        super().__init__(0)
        self.nodes = LumpedNodes(self.base[None], np.zeros((1, 4)), 0, 1)


class RigidMap(KernelMap):
    """All frames of a rigid body are its base; it has no strains and no stations of its own."""

    compiled: ClassVar[bool] = True

    def __init__(self) -> None:
        self.nv = self.nq = 0
        self.m = 6
        self.elements = np.arange(6, dtype=np.int64)[None, :]
        self.breaks = _NOWHERE
        self.actuation = OnStrains(self)

    def rest(self) -> Array:
        return np.zeros(0)

    def configuration(self) -> RigidConfiguration:
        return RigidConfiguration()

    def lumped(self, c: RigidConfiguration) -> LumpedNodes:
        return c.nodes

    def set_coordinates(self, c: Configuration, out: Array) -> None:
        """Write nothing: the joint has all coordinates."""

    def mass_rule(self) -> tuple[Array, Array]:
        return _NOWHERE, _NOWHERE

    def strain_rule(self) -> tuple[Array, Array]:
        return _NOWHERE, np.zeros((0, 6))

    def inertia(self, s: Array) -> Array:
        return np.zeros((len(s), 6))

    def frames(self, s: Array) -> Plan:
        plan = super().frames(s)
        plan.J[...] = np.eye(6)
        return plan

    def frame(self, plan: Plan, c: Configuration) -> None:
        if len(plan.g):
            run(repeat_pose, c.base, plan.g)

    def strain(self, plan: Plan, c: Configuration) -> None:
        """Write nothing: there are no strains."""

    def frame_second(self, plan: Plan, c: Configuration, f: Array, K: Array) -> None:
        """Add nothing: twists of the base are the variables."""

    def strain_second(self, plan: Plan, c: Configuration, sigma: Array, K: Array) -> None:
        """Add nothing."""

    def frame_bias(self, plan: Plan, c: Configuration, ydot: Array, bias: Array) -> None:
        clear(bias)

    def symbolic(self, math: Any, base: tuple[Any, Any], q: Any) -> SymbolicRod:
        return SymbolicBody(base)


class SymbolicBody(SymbolicRod):
    """All frames of a rigid body are its base."""

    def __init__(self, base: tuple[Any, Any]) -> None:
        self._base = base

    def frame(self, s: float) -> tuple[Any, Any]:
        return self._base

    def strain(self, s: float) -> Any:
        raise TypeError("a rigid body has no strain")


@kernel
def repeat_pose(pose, g):  # type: ignore[no-untyped-def]
    """g (S, 4, 4) = pose (4, 4) at all stations."""
    for s in range(g.shape[0]):
        for i in range(4):
            for j in range(4):
                g[s, i, j] = pose[i, j]
