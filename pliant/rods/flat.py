"""Rods of nodes that stay in a plane: the map of `nodal` with three variables a node instead of six.

Coordinates q are those of space, so that configurations of both mean the same. Variations x have the
twist of the base, of which two shifts and a turn are felt, then the same three of each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.engine.program import run
from pliant.lie.mean_forces import mean_wrenches
from pliant.model import Rod
from pliant.rods import chain, flat_kernels
from pliant.rods.contract import (
    NO_TURNS,
    Array,
    Capabilities,
    ForceBasis,
    Formulation,
    Ints,
)
from pliant.rods.nodal import NodalConfiguration, NodalMap, NodalPlan


class FlatMap(NodalMap):
    """The map of one rod of nodes in a plane.

    normal : which axis of the sections is normal to the plane, 0 to 2.
    """

    compiled: ClassVar[bool] = True
    each: ClassVar[int] = 3

    def __init__(self, rod: Rod, order: int, elements: int, normal: int) -> None:
        super().__init__(rod, order, elements)
        self.normal, self._even = normal, elements
        first, second = (normal + 1) % 3, (normal + 2) % 3
        self.inside = np.array([normal, 3 + first, 3 + second], dtype=np.int64)
        """Entries of a twist that stay in the plane."""
        k, count = self.order, len(self.first)
        self.nv, self.m = 3 * self.increments, 3 * (k + 1)
        self.elements = np.full((count, 6 + 3 * k), -1, dtype=np.int64)
        self.elements[0, :6] = np.arange(6)
        after = 6 + 3 * self.first[:, None]
        self.elements[1:, self.inside] = after[1:] - 3 + np.arange(3)
        self.elements[:, 6:] = after + np.arange(3 * k)
        self._at = np.concatenate([self.inside, np.arange(6, 6 + 3 * k)])
        """Entries of an element (m,) that are its variables."""
        if self._fields is not None:
            self._fields = self._flat_fields(self._fields)

    def _flat_fields(self, basis: ForceBasis) -> ForceBasis:
        """Force fields of the strains in the plane, each in front of the node behind it."""
        rows = tuple(sorted(int(i) for i in self.inside[1:]))
        before = 6 + 3 * np.arange(basis.count)
        return ForceBasis(basis.values, basis.index, basis.count, before, rows, rigid=basis.rigid)

    def pose_coordinate(self, s: float) -> int | None:
        """No node but the base has all entries of a twist."""
        return 0 if s == 0.0 else None

    # -- coordinates -------------------------------------------------------------------------

    def rest(self) -> Array:
        """As in space."""
        return NodalMap(self.rod, self.order, self._even, self.kind).rest()

    def _twists(self, x: Array) -> Array:
        """Twists (n + 1, 6) of the nodes of a variation x (6 + nv,)."""
        twists = np.zeros((self.increments + 1, 6))
        run(flat_kernels.spread, self.inside, x, twists)
        return twists

    def retract_to(self, c: NodalConfiguration, base: Array, x: Array, out: Array) -> None:
        where = (self.kind, c.controls, base, self._twists(x), out.reshape(-1, 6))
        run(chain.retract_increments, *where)

    def advance_to(self, c: NodalConfiguration, base: Array, x: Array, out: Array) -> None:
        where = (c.psi, c.plus, c.minus, self._twists(x), out.reshape(-1, 6))
        run(chain.advance_increments, *where)

    def chart_entries(self) -> tuple[Ints, Ints]:
        twists = np.full((self.increments, 6), -1, dtype=np.int64)
        twists[:, self.inside] = np.arange(self.nv).reshape(-1, 3)
        return twists, NO_TURNS

    def set_mean_force(
        self,
        c: NodalConfiguration,
        other: NodalConfiguration,
        index: Ints,
        r: Array,
        far: Array,
        out: Array,
    ) -> None:
        n = self.increments
        near, there, mean = np.zeros((3, 6 * n))
        run(flat_kernels.spread_entries, self.inside, index, r, near)
        run(flat_kernels.spread_entries, self.inside, index, far, there)
        poses, places = (c.controls, other.controls), np.arange(6 * n).reshape(-1, 6)
        run(mean_wrenches, *poses, np.arange(1, n + 1), places, near, there, mean)
        run(flat_kernels.take_entries, self.inside, index, mean, out)

    # -- from element variables to coordinates -------------------------------------------------

    def lift_velocity(self, c: NodalConfiguration, x: Array, y: Array) -> None:
        run(flat_kernels.take_variables, self._at, x, y)

    def lift_vector(self, c: NodalConfiguration, ry: Array, r: Array) -> None:
        self.lift_rows(c, ry.reshape(-1, 1, self.m), r.reshape(len(r), 1, -1))

    def lift_rows(self, c: NodalConfiguration, Cy: Array, C: Array) -> None:
        run(flat_kernels.put_rows, self._at, Cy, C)

    def lift_matrix(
        self, left: NodalConfiguration, right: NodalConfiguration, Ky: Array, K: Array
    ) -> None:
        run(flat_kernels.put_blocks, self._at, Ky, K)

    def lift_tangent(
        self,
        c: NodalConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        """Only in the second-order chart: equilibria are sought in space."""
        assert balance is None
        self.lift_matrix(c, c, Ky, K)

    # -- the map -----------------------------------------------------------------------------

    def _evaluate(
        self, plan: NodalPlan, c: NodalConfiguration, frames: bool, strains: bool
    ) -> None:
        where = (plan.element, plan.L, plan.dL, c.controls, c.quaternions)
        answers = (plan.C, plan.g, plan.J, plan.e, plan.B)
        run(flat_kernels.place, self.normal, self.first, *where, frames, strains, *answers)

    def frame_second(self, plan: NodalPlan, c: NodalConfiguration, f: Array, K: Array) -> None:
        where = (self.normal, plan.element, plan.L, plan.C)
        run(flat_kernels.add_frame_second, *where, f, K)

    def strain_second(self, plan: NodalPlan, c: NodalConfiguration, sigma: Array, K: Array) -> None:
        where = (self.normal, plan.element, plan.L, plan.dL, plan.C, plan.e)
        run(flat_kernels.add_strain_second, *where, sigma, K)

    def frame_bias(self, plan: NodalPlan, c: NodalConfiguration, ydot: Array, bias: Array) -> None:
        run(flat_kernels.frame_bias, self.normal, plan.element, plan.L, plan.C, ydot, bias)


@dataclass(frozen=True)
class Flat(Formulation):
    """Settings of `FlatMap`: those of `Spectral` for one rod and the plane in which it stays."""

    order: int
    elements: int
    normal: int

    capabilities: ClassVar[Capabilities] = Capabilities(
        theories=("cosserat", "kirchhoff"), max_rotation=np.pi
    )

    def discretise(self, rod: Rod) -> FlatMap:
        """The map of `rod` in the plane."""
        return FlatMap(rod, self.order, self.elements, self.normal)
