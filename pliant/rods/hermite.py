"""Hermite: cubic Hermite rods on SE(3) (Xun et al. 2025, section 3.5).

The rod is cut into elements of length h, equal unless its data jump along s. Between nodes a and b,
with t in [0, 1],

    g(s) = g_a tau(b_1(t) h xi_a / 3) tau(b_2(t) Psi_2) tau(b_3(t) h xi_b / 3),

b_1 = 1 - (1-t)^3, b_2 = 3 t^2 - 2 t^3, b_3 = t^3: a cubic Bezier curve on the group. Coordinates
are pose and strain of the nodes; the middle increments Psi_2 are stored in place of the poses, so
that a turn of more than pi keeps its meaning.

A constant strain is represented exactly by the exponential map. Otherwise twists about different
axes do not commute, and a term of the order of h^2 [xi, xi'] is left in the strain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.engine.by_value import by_value
from pliant.engine.program import run
from pliant.lie.mean_forces import mean_wrenches
from pliant.model import Rod
from pliant.model.fields import Choice, Whole, holds
from pliant.rods import hermite_kernels
from pliant.rods.contract import (
    NO_TURNS,
    Array,
    Capabilities,
    ForceBasis,
    Formulation,
    Ints,
)
from pliant.rods.increments import MAPS, IncrementMap, fit_strains
from pliant.rods.pose_chain import ChainConfiguration
from pliant.rods.quadrature import gauss_per_span, spans_with_breaks

_NOTHING = np.zeros((0, 6))


@dataclass(frozen=True)
class Hermite(Formulation):
    """Cubic Hermite rod: poses and strains of the nodes are the unknowns.

    elements : number of elements of equal length, at least 1. Where data of the rod jump along s, a
        node is moved there, or another one is added, with a strain on either side of it.
    map : "exp" or "cayley", the retraction between control poses. Strains are continuous at the
        nodes with "exp"; with "cayley" the nodal strain is that just after the node, and just
        before it the strain is smaller by a fraction of the order of (h u / 6)^2, u the curvature.
    """

    elements: int = holds(Whole(least=1, example="6"), 6)
    map: str = holds(Choice(names=tuple(MAPS)), "exp")

    capabilities: ClassVar[Capabilities] = Capabilities(theories=("cosserat", "kirchhoff"))

    def discretise(self, rod: Rod) -> HermiteMap:
        """The map of `rod`: its nodes, basis and rules."""
        return HermiteMap(rod, self)


class HermiteConfiguration(ChainConfiguration):
    """Adds how the handles of the nodes and Psi_2 follow the coordinates (E, 6, 24)."""

    def __init__(self, elements: int, nq: int) -> None:
        super().__init__(3 * elements, nq)
        self.psi = np.zeros((3 * elements, 6))
        self.handle = np.zeros((elements, 6, 24))
        self.middle = np.zeros((elements, 6, 24))


@by_value(128)
def _bernstein(s: Array, nodes: Array) -> tuple[Ints, Array, Array]:
    """Element (S,), cumulative Bernstein values and their slopes (S, 3) at arclengths s (S,), m."""
    element = np.clip(np.searchsorted(nodes, s, side="right") - 1, 0, len(nodes) - 2)
    h = np.diff(nodes)[element]
    t = (s - nodes[element]) / h
    b = np.stack([1.0 - (1.0 - t) ** 3, t * t * (3.0 - 2.0 * t), t**3], axis=1)
    db = np.stack([(1.0 - t) ** 2, 2.0 * t * (1.0 - t), t * t], axis=1)
    db /= (h / 3.0)[:, None]
    return element, b, db


class HermiteMap(IncrementMap):
    """The map of one rod under `Hermite`.

    x = (twist of node 0, strain variation of node 0, twist of node 1, ...), twelve entries a node;
    where strains jump, that before the node and that after it.
    q = (xi_0, then of each element Psi_2 and the strain of its far node, both strains at a jump): Psi_2
    stands where the twist of the far node stands in x. `blocks` (E, 4) numbers, six by six, the entries
    of x of each element: twist and strain of its first node, then of the far one.
    """

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, rod: Rod, settings: Hermite) -> None:
        even = np.linspace(0.0, rod.length, settings.elements + 1)
        self.nodes, jumps = spans_with_breaks(rod, even)
        count = len(self.nodes) - 1
        super().__init__(rod, 3, settings.map, 3 * count, 3 * np.arange(count))
        self.breaks = self.nodes
        self.third = np.diff(self.nodes) / 3.0
        twist = 2 * np.arange(count + 1) + np.concatenate([[0], np.cumsum(jumps)[:-1]])
        self.blocks = np.stack(
            [twist[:-1], twist[:-1] + 1 + jumps[:-1], twist[1:], twist[1:] + 1], axis=1
        ).astype(np.int64)
        self.nv = self.nq = 6 * int(twist[-1]) + 6
        self.elements = (6 * self.blocks[:, :, None] + np.arange(6)).reshape(count, 24)
        repeats = np.where(jumps, 3, 2)
        repeats[[0, -1]] = 4
        before = 6 + 6 * np.arange(int(twist[-1]) + 1)
        self._modes = self.spline_force_basis(np.repeat(self.nodes, repeats), before)

    # -- stations ----------------------------------------------------------------------------

    def basis(self, s: Array) -> tuple[Ints, Array, Array]:
        """Element (S,), cumulative Bernstein values and their slopes (S, 3) at s (S,), m."""
        return _bernstein(s, self.nodes)

    def mass_rule(self) -> tuple[Array, Array]:
        """Four Gauss points an element: stations (S,), m, and weights (S,), m."""
        return gauss_per_span(self.nodes, 4)

    def strain_rule(self) -> tuple[Array, Array]:
        """Four Gauss points an element: stations (S,), m, and weights (S, 6), m."""
        s, w = self.mass_rule()
        return s, np.repeat(w[:, None], 6, axis=1)

    def force_basis(self) -> ForceBasis:
        """Continuous piecewise quadratic forces: as many as half the coordinates."""
        return self._modes

    def pose_coordinate(self, s: float) -> int | None:
        """The entry of x where the twist of the node at s begins, None between nodes."""
        i = int(np.argmin(np.abs(self.nodes - s)))
        twist = np.append(self.blocks[:, 0], self.blocks[-1, 2])
        return 6 * int(twist[i]) if abs(self.nodes[i] - s) <= 1e-12 * self.rod.length else None

    # -- coordinates -------------------------------------------------------------------------

    def rest(self) -> Array:
        """Coordinates whose strains at the strain rule are closest to the natural ones."""
        s, _ = self.strain_rule()
        start, third = self.nodes[:-1], self.third
        q = np.empty((self.nq // 6, 6))
        for block, at in zip(self.blocks.T[1:] - 1, (0.001, 1.5, 2.999), strict=True):
            q[block] = self.rod.natural_strain(start + at * third)
        q[self.blocks[:, 2] - 1] *= third[:, None]
        element = self.basis(s)[0]
        scale = np.ones((len(s), 1, 18))
        scale[:, 0, :6] = scale[:, 0, 12:] = third[element, None]
        columns = 6 * (self.blocks[element, 1:, None] - 1) + np.arange(6)
        columns, target = columns.reshape(len(s), 18), self.rod.natural_strain(s)
        return fit_strains(self, q.ravel(), columns, target, lambda plan: plan.B[:, :, 6:] * scale)

    def configuration(self) -> HermiteConfiguration:
        """Room for one configuration."""
        return HermiteConfiguration(len(self.first), self.nq)

    def set_increments(self, c: HermiteConfiguration) -> None:
        run(hermite_kernels.set_increments, self.third, self.blocks, c.q.reshape(-1, 6), c.psi)

    def update(self, c: HermiteConfiguration, base: Array, q: Array) -> None:
        super().update(c, base, q)
        run(
            hermite_kernels.node_tangents,
            self.kind, self.third, c.psi, c.plus, c.minus, c.handle, c.middle,
        )  # fmt: skip

    def retract_to(self, c: HermiteConfiguration, base: Array, x: Array, out: Array) -> None:
        """q after nodes moved to g_i exp(x_i) and nodal strains by their variation."""
        before, after = c.q.reshape(-1, 6), out.reshape(-1, 6)
        moves = (base, x.reshape(-1, 6), before, after)
        shape = (self.kind, self.third, self.blocks, c.controls)
        run(hermite_kernels.retract_nodes, *shape, *moves)

    def chart_entries(self) -> tuple[Ints, Ints]:
        """The nodes; nodal strains move by addition."""
        return np.asarray(6 * (self.blocks[:, 2:3] - 1) + np.arange(6)), NO_TURNS

    def advance_to(self, c: HermiteConfiguration, base: Array, x: Array, out: Array) -> None:
        """q after a step linear in q: nodal strains and middle increments move by T x."""
        before, after = c.q.reshape(-1, 6), out.reshape(-1, 6)
        run(hermite_kernels.advance_nodes, c.middle, self.blocks, x.reshape(-1, 6), before, after)

    def set_mean_force(
        self,
        c: ChainConfiguration,
        other: ChainConfiguration,
        index: Ints,
        r: Array,
        far: Array,
        out: Array,
    ) -> None:
        """Poses are the control poses at the far nodes; strains are numbers."""
        places = index.reshape(-1, 6)[self.blocks[:, 2] - 1]
        nodes = 3 * np.arange(1, len(self.blocks) + 1)
        run(mean_wrenches, c.controls, other.controls, nodes, places, r, far, out)

    # -- lifting -----------------------------------------------------------------------------

    def lift_velocity(self, c: HermiteConfiguration, x: Array, y: Array) -> None:
        """y (E, 24) = T x with x (E, 24)."""
        run(hermite_kernels.lift_velocity, self.third, c.middle, x, y)

    def lift_bias(self, c: HermiteConfiguration, x: Array, ydot: Array) -> None:
        """Second time derivative ydot (E, 24) of y at constant rate x (E, 24)."""
        shapes = (c.psi, c.plus, c.handle, c.middle)
        run(hermite_kernels.middle_bias, self.kind, self.third, *shapes, x, ydot)

    def lift_rows(self, c: HermiteConfiguration, Cy: Array, C: Array) -> None:
        """C (E, p, 24) = Cy T with Cy (E, p, 24)."""
        run(hermite_kernels.lift_rows, self.third, c.middle, Cy, C)

    def lift_matrix(
        self, left: HermiteConfiguration, right: HermiteConfiguration, Ky: Array, K: Array
    ) -> None:
        """K (E, 24, 24) = T_left^T Ky T_right."""
        run(hermite_kernels.lift_matrix, self.third, left.middle, right.middle, Ky, K)

    def lift_tangent(
        self,
        c: HermiteConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        """Add the second derivative of ry . y(x), of which only Psi_2 has one, to K (E, 24, 24).

        In the chart of `advance` the nodes beyond a bend accelerate: the wrench `balance` leaves on
        them, carried to the handle before the far node, is taken off the covector of Psi_2.
        """
        self.lift_matrix(c, c, Ky, K)
        d, mu = np.zeros((len(self.first), 6)), np.zeros((self.increments + 1, 6))
        left = _NOTHING if balance is None else balance.reshape(-1, 6)
        where = (self.kind, self.blocks, c.psi, c.plus)
        run(hermite_kernels.bend_covectors, *where, ry, left, mu, d, passed)
        shapes = (c.psi, c.handle, c.middle)
        run(hermite_kernels.add_middle_second, self.kind, self.third, *shapes, d, K)
