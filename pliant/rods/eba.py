"""EBA: nodes with absolute positions and rotations, joined by Euler-Bernoulli beams.

After Sadati et al., "TMTDyn: a Matlab package for modeling and control of hybrid rigid-continuum
robots based on discretized lumped systems and reduced-order models" (equations 7, 36 and 37;
`docs/theory/tmt.md`). Every node is a pose that moves by its twist. The strain of a segment comes from
the two nodes at its ends alone, so matrices are banded, and mass is lumped at the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.lie.operators import CAYLEY, EXP
from pliant.model import Rod
from pliant.rods import eba_kernels
from pliant.rods.contract import Array, Capabilities, Configuration, Formulation, Ints, Plan
from pliant.rods.element_kernels import put_stations, take_stations
from pliant.rods.element_nodes import ElementNodes
from pliant.rods.lumped_kernels import clear_forces
from pliant.rods.nodal import HAIR, NodalConfiguration, NodalMap, NodalPlan, weights_of
from pliant.rods.segments import MIDPOINT, ONE_SIDED, check_settings, inertia_of_links

_ROTATIONS = {"unit": EXP, "free": CAYLEY}


@dataclass(frozen=True)
class EBA(Formulation):
    """Rod of nodes joined by beams: positions and rotations of the nodes are the unknowns.

    segments : number of beams of equal length, at least 1; one node more, the first of them the base.
    rotation : how turns from node to node are kept. "unit" keeps rotation vectors (unit quaternions),
        "free" quaternions [1, a/2] of any length. Both go through any rotation; results differ by
        rounding only.
    scheme : "midpoint" measures strain in the frame half-way between two nodes and gives half of the
        mass of a segment to each, of second order. "one-sided" is the published model, of first order:
        strain seen from the first node, and the segment as a rigid link at the second one.
    """

    segments: int = 16
    rotation: str = "unit"
    scheme: str = MIDPOINT

    capabilities: ClassVar[Capabilities] = Capabilities(
        theories=("cosserat", "kirchhoff"), max_rotation=np.pi
    )

    def __post_init__(self) -> None:
        check_settings(self, rotation=tuple(_ROTATIONS), scheme=(MIDPOINT, ONE_SIDED))

    def discretise(self, rod: Rod) -> EBAMap:
        """The map of `rod` under these settings."""
        map_of = EBAMap if self.scheme == MIDPOINT else OneSidedEBAMap
        return map_of(rod, 1, self.segments, _ROTATIONS[self.rotation])


class EBAMap(NodalMap):
    """The map of one rod under `EBA`: elements of two nodes with their strain in the middle."""

    compiled: ClassVar[bool] = True


class OneSidedNodes(ElementNodes):
    """Nodes with strains that are seen from the first node of each segment, one by one.

    where : first nodes, elements, slopes, and the nodes themselves, as `eba_kernels` take them.
    """

    alone = True
    where: tuple[Ints, Ints, Array, Array, Array]

    def allocate(self, copies: int) -> None:
        super().allocate(copies)
        stations = (len(self.stations), 6)
        self._e, self._rate, self._sigma = (np.zeros(stations) for _ in range(3))

    def set_strain(self) -> None:
        self.write()
        run(eba_kernels.set_strain, *self.where, self._e)
        run(put_stations, self.stations, self._e, self.strain)

    def set_strain_rate(self) -> None:
        moving = (self.one_by_one(self.velocity), self.one_by_one(self.spin))
        run(eba_kernels.set_strain_rate, *self.where, *moving, self._e, self._rate)
        run(put_stations, self.stations, self._rate, self.rate)

    def set_forces(self) -> None:
        torque, force = np.zeros((2, len(self.poses), 3))
        clear(torque)
        clear(force)
        run(take_stations, self.stations, self.stress, self._sigma)
        run(eba_kernels.add_forces, *self.where, self._e, self._sigma, torque, force)
        run(clear_forces, self.torque, self.force)
        self.add(torque, force)

    def set_elastic_forces(self) -> None:
        self.set_strain()
        self.set_stress(False)
        self.set_forces()


class OneSidedEBAMap(EBAMap):
    """Strains seen from the first node of each segment, and its inertia at the second one."""

    compiled: ClassVar[bool] = True

    def mass_rule(self) -> tuple[Array, Array]:
        """The nodes after the first (S,), m, with the lengths of the segments before them (S,), m."""
        return self.borders[1:].copy(), np.diff(self.borders)

    def inertia(self, s: Array) -> Array:
        before = np.maximum(np.asarray(s, dtype=float) - HAIR * self.rod.length, 0.0)
        return inertia_of_links(self.rod, before, 2.0 * self._place(before)[2])

    def strain(self, plan: Plan, c: Configuration) -> None:
        assert isinstance(plan, NodalPlan) and isinstance(c, NodalConfiguration)
        run(eba_kernels.place_strain, *self._where(plan, c), plan.e, plan.B)

    def frame_and_strain(self, plan: Plan, c: Configuration) -> None:
        self.frame(plan, c)
        self.strain(plan, c)

    def lumped(self, c: Configuration) -> OneSidedNodes:
        assert isinstance(c, NodalConfiguration)
        if not isinstance(c.nodes, OneSidedNodes):
            plan = self.strains(self.strain_rule()[0])
            assert isinstance(plan, NodalPlan)
            shape = weights_of(self.order)
            c.nodes = OneSidedNodes(c.controls, c.quaternions, self.borders, *shape)
            c.nodes.where = self._where(plan, c)
        return c.nodes

    def strain_second(self, plan: Plan, c: Configuration, sigma: Array, K: Array) -> None:
        assert isinstance(plan, NodalPlan) and isinstance(c, NodalConfiguration)
        run(eba_kernels.add_strain_second, *self._where(plan, c), plan.e, sigma, K)

    def _where(
        self, plan: NodalPlan, c: NodalConfiguration
    ) -> tuple[Ints, Ints, Array, Array, Array]:
        """Where stations are: first nodes, elements, slopes, and the nodes themselves."""
        return self.first, plan.element, plan.dL, c.controls, c.quaternions
