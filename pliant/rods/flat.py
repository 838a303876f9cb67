"""Rods that stay in a plane: maps with three entries for each pose instead of six.

Coordinates q are those of space, so that configurations of both mean the same. Variations x have the
twist of the base, of which two shifts and a turn are felt, then the same three of each pose.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from pliant.engine.program import run
from pliant.lie.mean_forces import mean_wrenches
from pliant.rods import flat_curve_kernels, flat_kernels
from pliant.rods.contract import (
    NO_TURNS,
    Array,
    Configuration,
    ForceBasis,
    Ints,
    Plan,
    identities,
)
from pliant.rods.increments import IncrementMap
from pliant.rods.nodal import NodalMap, NodalPlan
from pliant.rods.pose_chain import OnePassMap


class FlatConfiguration(Configuration):
    """Nodes as their base sees them: places x (n + 1, 2), half turns z and turns, as cos and sin."""

    def __init__(self, increments: int) -> None:
        super().__init__(6 * increments)
        self.psi = self.q.reshape(-1, 6)
        self.x, self.z, self.turn = np.zeros((3, increments + 1, 2))


class FlatMap(OnePassMap):
    """The map of one rod in a plane whose coordinates are increments between poses.

    space : the map in space.  normal : which axis of its sections is normal to the plane, 0 to 2.
    """

    def __init__(self, space: NodalMap | IncrementMap, normal: int) -> None:
        poses, count = space.m // 6, len(space.first)
        self._space, self.normal, self.increments = space, normal, space.increments
        self.first, self.breaks = space.first, space.breaks
        super().__init__(space.rod, 3 * space.increments, space.nq)
        self.breaks, self.base_variables = space.breaks, 0
        self.m = 3 * poses
        first, second = (normal + 1) % 3, (normal + 2) % 3
        self.inside = np.array([normal, 3 + first, 3 + second], dtype=np.int64)
        """Entries of a twist that stay in the plane."""
        own = 3 * (poses - 1)
        self.elements = np.full((count, 6 + own), -1, dtype=np.int64)
        begin, after = self.first == 0, 6 + 3 * self.first[:, None]
        self.elements[begin, :6] = np.arange(6)
        inner = np.flatnonzero(~begin)
        self.elements[inner[:, None], self.inside] = after[inner] - 3 + np.arange(3)
        self.elements[:, 6:] = after + np.arange(own)
        self._at = np.concatenate([self.inside, np.arange(6, 6 + own)])
        """Entries of an element (m,) that are its variables."""
        basis = space.force_basis()
        self._fields = None if basis is None else self._flat_fields(basis)

    def _flat_fields(self, basis: ForceBasis) -> ForceBasis:
        """Force fields of the strains in the plane, each in front of the pose that it was before."""
        rows = tuple(sorted(int(i) for i in self.inside[1:]))
        return replace(basis, before=6 + (basis.before - 6) // 2, rows=rows)

    # -- what is as in space -----------------------------------------------------------------

    def rest(self) -> Array:
        return self._space.rest()

    def mass_rule(self) -> tuple[Array, Array]:
        return self._space.mass_rule()

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        return self._space.rigid_pieces(s)

    def strain_rule(self) -> tuple[Array, Array]:
        return self._space.strain_rule()

    def section_rule(self) -> tuple[Array, Array] | None:
        return self._space.section_rule()

    def force_basis(self) -> ForceBasis | None:
        return self._fields

    def force_values(self, s: Array) -> tuple[Ints, Array]:
        return self._space.force_values(s)

    def trouble(self, c: FlatConfiguration) -> str:
        return self._space.trouble(c)

    # -- coordinates -------------------------------------------------------------------------

    def configuration(self) -> FlatConfiguration:
        return FlatConfiguration(self.increments)

    def update(self, c: FlatConfiguration, base: Array, q: Array) -> None:
        super().update(c, base, q)
        run(flat_kernels.propagate, self.normal, c.psi, c.x, c.z, c.turn)

    def retract_to(self, c: FlatConfiguration, base: Array, x: Array, out: Array) -> None:
        nodes = (c.base, base, c.x, c.z, c.turn)
        run(flat_kernels.retract, self.normal, *nodes, x, out.reshape(-1, 6))

    def advance_to(self, c: FlatConfiguration, base: Array, x: Array, out: Array) -> None:
        run(flat_kernels.advance, self.normal, c.psi, x, out.reshape(-1, 6))

    def _poses(self, c: FlatConfiguration) -> Array:
        """Poses (n + 1, 4, 4) of the nodes."""
        poses = identities(self.increments + 1)
        run(flat_kernels.write_poses, self.normal, c.base, c.x, c.turn, poses)
        return poses

    def chart_entries(self) -> tuple[Ints, Ints]:
        twists = np.full((self.increments, 6), -1, dtype=np.int64)
        twists[:, self.inside] = np.arange(self.nv).reshape(-1, 3)
        return twists, NO_TURNS

    def set_mean_force(
        self,
        c: FlatConfiguration,
        other: FlatConfiguration,
        index: Ints,
        r: Array,
        far: Array,
        out: Array,
    ) -> None:
        n = self.increments
        near, there, mean = np.zeros((3, 6 * n))
        run(flat_kernels.spread_entries, self.inside, index, r, near)
        run(flat_kernels.spread_entries, self.inside, index, far, there)
        poses, places = (self._poses(c), self._poses(other)), np.arange(6 * n).reshape(-1, 6)
        run(mean_wrenches, *poses, np.arange(1, n + 1), places, near, there, mean)
        run(flat_kernels.take_entries, self.inside, index, mean, out)

    # -- from element variables to coordinates -------------------------------------------------

    def lift_velocity(self, c: FlatConfiguration, x: Array, y: Array) -> None:
        run(flat_kernels.take_variables, self._at, x, y)

    def lift_vector(self, c: FlatConfiguration, ry: Array, r: Array) -> None:
        self.lift_rows(c, ry.reshape(-1, 1, self.m), r.reshape(len(r), 1, -1))

    def lift_rows(self, c: FlatConfiguration, Cy: Array, C: Array) -> None:
        run(flat_kernels.put_rows, self._at, Cy, C)

    def lift_matrix(
        self, left: FlatConfiguration, right: FlatConfiguration, Ky: Array, K: Array
    ) -> None:
        run(flat_kernels.put_blocks, self._at, Ky, K)

    def lift_tangent(
        self,
        c: FlatConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        """Only in the second-order chart: equilibria are sought in space."""
        assert balance is None
        self.lift_matrix(c, c, Ky, K)


class FlatNodes(FlatMap):
    """The map of a rod of nodes."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, space: NodalMap, normal: int) -> None:
        super().__init__(space, normal)
        self._basis = space.nodal_basis

    def plan(self, s: Array) -> NodalPlan:
        return NodalPlan(s, *self._basis(s), each=3)

    def evaluate(self, plan: NodalPlan, c: FlatConfiguration, frames: bool, strains: bool) -> None:
        where = (c.base, self.first, plan.element, plan.L, plan.dL, c.x, c.z, c.turn)
        results = (plan.C, plan.g, plan.J, plan.e, plan.B)
        run(flat_kernels.place, self.normal, *where, frames, strains, *results)

    def frame_second(self, plan: NodalPlan, c: FlatConfiguration, f: Array, K: Array) -> None:
        where = (self.normal, plan.element, plan.L, plan.C)
        run(flat_kernels.add_frame_second, *where, f, K)

    def strain_second(self, plan: NodalPlan, c: FlatConfiguration, sigma: Array, K: Array) -> None:
        where = (self.normal, plan.element, plan.L, plan.dL, plan.C, plan.e)
        run(flat_kernels.add_strain_second, *where, sigma, K)

    def frame_bias(self, plan: NodalPlan, c: FlatConfiguration, ydot: Array, bias: Array) -> None:
        run(flat_kernels.frame_bias, self.normal, plan.element, plan.L, plan.C, ydot, bias)


class FlatCurvePlan(Plan):
    """Stations of a cumulative curve in a plane: basis values b, db (S, k)."""

    def __init__(self, s: Array, element: Ints, b: Array, db: Array) -> None:
        super().__init__(s, element, 3 * (b.shape[1] + 1))
        self.b, self.db = np.ascontiguousarray(b), np.ascontiguousarray(db)


class FlatCurve(FlatMap):
    """The map of a cumulative curve, with the twists of its control poses as element variables."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, space: IncrementMap, normal: int) -> None:
        super().__init__(space, normal)
        self._basis = space.basis

    def plan(self, s: Array) -> FlatCurvePlan:
        return FlatCurvePlan(s, *self._basis(s))

    def evaluate(
        self, plan: FlatCurvePlan, c: FlatConfiguration, frames: bool, strains: bool
    ) -> None:
        where = (c.base, self.first, plan.element, plan.b, plan.db, c.psi, c.x, c.turn)
        results = (plan.g, plan.J, plan.e, plan.B)
        run(flat_curve_kernels.place, self.normal, *where, frames, strains, *results)

    def frame_second(self, plan: FlatCurvePlan, c: FlatConfiguration, f: Array, K: Array) -> None:
        where = (self.normal, self.first, plan.element, plan.b, c.psi, c.x, c.turn, plan.J)
        run(flat_curve_kernels.add_frame_second, *where, f, K)

    def strain_second(
        self, plan: FlatCurvePlan, c: FlatConfiguration, sigma: Array, K: Array
    ) -> None:
        where = (self.normal, self.first, plan.element, plan.b, plan.db, c.psi, c.x, c.turn)
        run(flat_curve_kernels.add_strain_second, *where, plan.e, plan.B, sigma, K)

    def frame_bias(
        self, plan: FlatCurvePlan, c: FlatConfiguration, ydot: Array, bias: Array
    ) -> None:
        where = (self.normal, self.first, plan.element, plan.b, c.psi, c.x, c.turn, plan.J)
        run(flat_curve_kernels.frame_bias, *where, ydot, bias)
