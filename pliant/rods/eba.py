"""EBA: nodes with absolute positions and rotations, joined by Euler-Bernoulli beams.

After Sadati et al., "TMTDyn: a Matlab package for modeling and control of hybrid rigid-continuum
robots based on discretized lumped systems and reduced-order models" (equations 7, 36 and 37;
`docs/theory/tmt.md`). Every node is a pose that moves by its twist. The strain of a segment comes from
the two nodes at its ends alone, so matrices are banded, and mass is lumped at the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.engine.arrays import clear
from pliant.engine.program import run
from pliant.lie import symbolic
from pliant.lie.operators import CAYLEY, EXP
from pliant.model import Rod
from pliant.model.fields import Choice, Whole, holds
from pliant.rods import eba_kernels
from pliant.rods.contract import (
    Array,
    Capabilities,
    Formulation,
    Ints,
    SymbolicRod,
)
from pliant.rods.element_kernels import put_stations, take_stations
from pliant.rods.element_nodes import ElementNodes
from pliant.rods.lumped_kernels import clear_forces
from pliant.rods.nodal import (
    HAIR,
    NodalConfiguration,
    NodalMap,
    NodalPlan,
    place_in_elements,
    weights_of,
)

_ROTATIONS = {"unit": EXP, "free": CAYLEY}
_NEAR = 1e-9
"""Share of a segment below which a place is taken for a node in formulas."""


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

    segments: int = holds(Whole(least=1, example="16"), 16)
    rotation: str = holds(Choice(names=tuple(_ROTATIONS)), "unit")
    scheme: str = holds(Choice(names=("midpoint", "one-sided")), "midpoint")

    capabilities: ClassVar[Capabilities] = Capabilities(theories=("cosserat", "kirchhoff"))

    def discretise(self, rod: Rod) -> EBAMap:
        """The map of `rod` under these settings."""
        map_of = EBAMap if self.scheme == "midpoint" else OneSidedEBAMap
        return map_of(rod, 1, self.segments, _ROTATIONS[self.rotation])


class EBAMap(NodalMap):
    """The map of one rod under `EBA`: elements of two nodes with their strain in the middle."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def symbolic_coordinates(self, c: NodalConfiguration) -> Array:
        """Positions (3,) and unit quaternions (4,) of the nodes after the first, in the world."""
        places = c.controls[1:, :3, 3]
        return np.concatenate([places, c.quaternions[1:]], axis=1).ravel()

    def symbolic(self, math: Any, base: tuple[Any, Any], q: Any) -> SymbolicRod:
        return SymbolicNodes(self, math, base, q)

    def symbolic_strain(self, math: Any, C: Any, chord: Any, h: float, t: float) -> Any:
        """Strain (6, 1) at a share t of a segment of length h, m.

        C (4, 1) : the quaternion of its second node as the first one sees it.  chord (3, 1) : the way
        to it in the axes of the first, m. In between quaternions are interpolated linearly.
        """
        one = math.SX([1.0, 0.0, 0.0, 0.0])
        here, slope = (1.0 - t) * one + t * C, (C - one) / h
        back = symbolic.conjugate(math, here)
        bend = symbolic.quaternion_product(math, back, slope)[1:4] / math.dot(here, here)
        return math.vertcat(2.0 * bend, symbolic.quaternion_matrix(math, back) @ chord / h)


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

    def flat(self) -> None:  # type: ignore[override]
        return None


class OneSidedEBAMap(EBAMap):
    """Strains seen from the first node of each segment, and its inertia at the second one."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def mass_rule(self) -> tuple[Array, Array]:
        """The nodes after the first (S,), m, with the lengths of the segments before them (S,), m."""
        return self.borders[1:].copy(), np.diff(self.borders)

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        before = np.maximum(np.asarray(s, dtype=float) - HAIR * self.rod.length, 0.0)
        return super().rigid_pieces(before)[0], 2.0 * place_in_elements(self.borders, before)[2]

    def symbolic_strain(self, math: Any, C: Any, chord: Any, h: float, t: float) -> Any:
        """Sadati (7): twice the vector part, and the chord, both as the first node sees them."""
        return math.vertcat(2.0 * C[1:4], chord) / h

    def evaluate(self, plan: NodalPlan, c: NodalConfiguration, frames: bool, strains: bool) -> None:
        if frames:
            super().evaluate(plan, c, True, False)
        if strains:
            run(eba_kernels.place_strain, *self._where(plan, c), plan.e, plan.B)

    def lumped(self, c: NodalConfiguration) -> OneSidedNodes:
        if not isinstance(c.nodes, OneSidedNodes):
            plan = self.strains(self.strain_rule()[0])
            assert isinstance(plan, NodalPlan)
            shape = weights_of(self.order)
            c.nodes = OneSidedNodes(c.controls, c.quaternions, self.borders, *shape)
            c.nodes.where = self._where(plan, c)
        return c.nodes

    def strain_second(self, plan: NodalPlan, c: NodalConfiguration, sigma: Array, K: Array) -> None:
        run(eba_kernels.add_strain_second, *self._where(plan, c), plan.e, sigma, K)

    def _where(
        self, plan: NodalPlan, c: NodalConfiguration
    ) -> tuple[Ints, Ints, Array, Array, Array]:
        """Where stations are: first nodes, elements, slopes, and the nodes themselves."""
        return self.first, plan.element, plan.dL, c.controls, c.quaternions


class SymbolicNodes(SymbolicRod):
    """Nodes with positions and unit quaternions in the world; the base is the first of them."""

    def __init__(self, rod_map: EBAMap, math: Any, base: tuple[Any, Any], q: Any) -> None:
        self._map, self._math = rod_map, math
        count = len(rod_map.borders) - 1
        self._places = [base[1]] + [q[7 * k : 7 * k + 3] for k in range(count)]
        self._quaternions = [q[7 * k + 3 : 7 * k + 7] for k in range(count)]
        turns = [symbolic.quaternion_matrix(math, Q) for Q in self._quaternions]
        self._turns = [base[0], *turns]
        self._seen = [self._next(k) for k in range(count)]

    def _next(self, k: int) -> Any:
        """The quaternion of node k + 1 as node k sees it; neighbours turn by less than half a turn."""
        math = self._math
        if k:
            back = symbolic.conjugate(math, self._quaternions[k - 1])
            C = symbolic.quaternion_product(math, back, self._quaternions[k])
            return math.if_else(C[0] < 0.0, -1.0, 1.0) * C
        R = self._turns[0].T @ self._turns[1]
        w = 0.5 * math.sqrt(1.0 + R[0, 0] + R[1, 1] + R[2, 2])
        return math.vertcat(w, symbolic.axial(math, R) / (2.0 * w))

    def _segment(self, s: float) -> tuple[int, float, float]:
        """Segment of a place, the share of it before s, and its length, m."""
        ends = self._map.borders
        k = min(int(np.searchsorted(ends, s, side="right")) - 1, len(ends) - 2)
        h = float(ends[k + 1] - ends[k])
        return k, (s - float(ends[k])) / h, h

    def frame(self, s: float) -> tuple[Any, Any]:
        k, t, _ = self._segment(s)
        for node, share in ((k, t), (k + 1, 1.0 - t)):
            if share < _NEAR:
                return self._turns[node], self._places[node]
        one = self._math.SX([1.0, 0.0, 0.0, 0.0])
        turned = symbolic.quaternion_matrix(self._math, (1.0 - t) * one + t * self._seen[k])
        p = (1.0 - t) * self._places[k] + t * self._places[k + 1]
        return self._turns[k] @ turned, p

    def strain(self, s: float) -> Any:
        k, t, h = self._segment(s)
        chord = self._turns[k].T @ (self._places[k + 1] - self._places[k])
        return self._map.symbolic_strain(self._math, self._seen[k], chord, h, t)

    def rates(self, v: Any) -> Any:
        """Of velocities (w, v) of each node in its own axes: positions, then quaternions."""
        rates = []
        for k, Q in enumerate(self._quaternions):
            spin, velocity = v[6 * k : 6 * k + 3], v[6 * k + 3 : 6 * k + 6]
            turning = symbolic.quaternion_rate(self._math, Q, spin)
            rates += [self._turns[k + 1] @ velocity, turning]
        return self._math.vertcat(*rates)
