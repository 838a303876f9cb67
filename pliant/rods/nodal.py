"""Rods of nodes: elements with poses at Gauss-Lobatto points, and lumped mass.

The rod is cut into elements, each with order + 1 nodes at the Gauss-Lobatto points. A node is a pose;
between nodes positions are polynomials, and rotations are the quaternions of the nodes, interpolated
component by component and divided by their length. Strains do not change under rigid motions.

Inertia, weight and line loads act at the nodes (Gauss-Lobatto quadrature), so the mass matrix has one
6 x 6 block a node; strains are taken at `order` Gauss points an element, where thin rods do not lock.
The coordinates q are the increments from node to node, as in `chain`; x are the twists of the nodes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from pliant.engine.arrays import copy
from pliant.engine.by_value import by_value
from pliant.engine.program import run
from pliant.lie import se3
from pliant.lie.operators import CAYLEY, EXP
from pliant.model import Rod
from pliant.rods import chain, chain_second, lumped_kernels, spectral_kernels
from pliant.rods.contract import (
    Array,
    ForceBasis,
    Ints,
    Plan,
    RodMap,
)
from pliant.rods.element_nodes import ElementNodes
from pliant.rods.pose_chain import ChainConfiguration, PoseChainMap
from pliant.rods.quadrature import gauss_per_span, gauss_points, spans_with_breaks

HAIR = 1e-13
"""Distance of stations from the borders between elements, in lengths of the rod."""
_CLIMB, _STEEP = 1e-3, 0.01
"""Part of the rod within which data climb as in a jump, and the relative change that counts as one."""
_ITERATIONS, _EXACT = 20, 1e-12
"""Newton's method for the natural shape ends with a step of this size, rad and m."""


@lru_cache
def lobatto_points(order: int) -> tuple[Array, Array]:
    """Gauss-Lobatto points and weights (order + 1,) on [-1, 1]; not to be changed."""
    legendre = np.polynomial.legendre.Legendre.basis(order)
    x = np.concatenate([[-1.0], np.sort(np.real(legendre.deriv().roots())), [1.0]])
    return x, 2.0 / (order * (order + 1) * legendre(x) ** 2)


@lru_cache
def _lagrange(order: int) -> Array:
    """(order + 1, order + 1): coefficients of the Lagrange polynomials, by power and node."""
    return np.asarray(np.linalg.inv(np.vander(lobatto_points(order)[0], increasing=True)))


@lru_cache
def weights_of(order: int) -> tuple[Array, Array]:
    """Weights and slopes (order, order + 1) of the nodes at the Gauss points of [-1, 1]."""
    t, shapes = gauss_points(order)[0], _lagrange(order)
    slopes = np.vander(t, order, increasing=True) * np.arange(1, order + 1)
    return np.vander(t, order + 1, increasing=True) @ shapes, slopes @ shapes[1:]


def place_in_elements(borders: Array, s: Array) -> tuple[Ints, Array, Array]:
    """Element (S,), place t in [-1, 1] within it (S,), and half its length (S,), m."""
    last = len(borders) - 2
    element = np.clip(np.searchsorted(borders, s, side="right") - 1, 0, last)
    half = 0.5 * np.diff(borders)[element]
    return element, (s - borders[element]) / half - 1.0, half


@by_value(128)
def _nodal_basis(s: Array, borders: Array, order: int) -> tuple[Ints, Array, Array]:
    """Element (S,), and weights and slopes (S, order + 1) of its nodes at arclengths s (S,)."""
    element, t, half = place_in_elements(borders, s)
    powers = np.vander(t, order + 1, increasing=True)
    slopes = np.zeros_like(powers)
    slopes[:, 1:] = powers[:, :-1] * np.arange(1, order + 1)
    shapes = _lagrange(order)
    return element, powers @ shapes, slopes @ shapes / half[:, None]


class NodalPlan(Plan):
    """Stations with weights L and slopes dL (S, k+1) of the nodes of their element.

    each : number of variables of a node.
    """

    def __init__(self, s: Array, element: Ints, L: Array, dL: Array, each: int = 6) -> None:
        super().__init__(s, element, each * L.shape[1])
        self.L, self.dL = np.ascontiguousarray(L), np.ascontiguousarray(dL)
        self.C = np.zeros((len(s), L.shape[1], 4))
        """Nodes as the stations see them, see `spectral_kernels`."""


class NodalConfiguration(ChainConfiguration):
    """Adds the quaternions (n + 1, 4) of the nodes."""

    def __init__(self, increments: int) -> None:
        super().__init__(increments, 6 * increments)
        self.quaternions = np.zeros((increments + 1, 4))
        self.nodes: ElementNodes | None = None
        """The nodes as an explicit integrator moves them."""


class NodalMap(PoseChainMap):
    """The map of one rod of nodes. x = (twist of node 0, ..., twist of node n)."""

    compiled: ClassVar[bool] = True
    refills: ClassVar[bool] = True

    def __init__(self, rod: Rod, order: int, elements: int, kind: int = EXP) -> None:
        self.order, self.kind = order, kind
        k = order
        even = np.linspace(0.0, rod.length, elements + 1)
        self.borders, _ = spans_with_breaks(rod, even, firm=rod.carried)
        count = len(self.borders) - 1
        self.increments = k * count
        super().__init__(rod, 6 * self.increments)
        self.m = 6 * (k + 1)
        self.base_variables = 0
        self.breaks = self.borders
        self.first = k * np.arange(count, dtype=np.int64)
        self.elements = (6 * self.first[:, None] + np.arange(self.m)).astype(np.int64)
        places = self.borders[:-1, None] + np.outer(
            np.diff(self.borders), 0.5 * (lobatto_points(k)[0] + 1.0)
        )
        self.nodes = np.append(places[:, :-1].ravel(), rod.length)
        self._fields = self._force_basis(count) if rod.theory == "kirchhoff" else None
        self._rest: Array | None = None

    # -- stations ----------------------------------------------------------------------------

    def plan(self, s: Array) -> NodalPlan:
        return NodalPlan(s, *self.nodal_basis(s))

    def nodal_basis(self, s: Array) -> tuple[Ints, Array, Array]:
        """Element (S,), and weights and slopes (S, order + 1) of its nodes at arclengths s (S,)."""
        return _nodal_basis(s, self.borders, self.order)

    def mass_rule(self) -> tuple[Array, Array]:
        """The nodes of each element (S,), m, with Gauss-Lobatto weights (S,), m.

        A node between two elements stands there twice, a hair to either side: data may jump there.
        """
        t, w = lobatto_points(self.order)
        half = 0.5 * np.diff(self.borders)[:, None]
        s = self.borders[:-1, None] + half * (t + 1.0)
        s[1:, 0] += HAIR * self.rod.length
        s[:-1, -1] -= HAIR * self.rod.length
        return s.ravel(), (half * w).ravel()

    def rigid_pieces(self, s: Array) -> tuple[Array, Array]:
        """Stations next to a border at which data jump or climb have a section farther inside.

        A node there stands for a good part of its element. What is between is much shorter.
        """
        s = np.asarray(s, dtype=float)
        element = place_in_elements(self.borders, s)[0]
        start, end = self.borders[element], self.borders[element + 1]
        room = np.minimum(_CLIMB * self.rod.length, 0.1 * (end - start))
        inside = np.clip(s, start + room, end - room)
        here, there = self.rod.inertia(s), self.rod.inertia(inside)
        steep = np.abs(here - there) > _STEEP * np.maximum(here, there)
        return np.where(steep.any(axis=1), inside, s), np.zeros(len(s))

    def strain_rule(self) -> tuple[Array, Array]:
        """`order` Gauss points an element: stations (S,), m, and weights (S, 6), m."""
        s, w = gauss_per_span(self.borders, self.order)
        return s, np.repeat(w[:, None], 6, axis=1)

    def section_rule(self) -> tuple[Array, Array]:
        """One Gauss point more than the strain rule has: stations and weights (S,), m."""
        return gauss_per_span(self.borders, self.order + 1)

    def _force_basis(self, count: int) -> ForceBasis:
        """Forces of a rod without shear and stretch: polynomials through the Gauss points."""
        k = self.order
        s, _ = self.strain_rule()
        index = k * np.arange(count)[:, None] + np.arange(k)
        before = 6 * np.arange(1, k * count + 1)
        return ForceBasis(self.force_values(s)[1], index, k * count, before, rigid=True)

    def force_basis(self) -> ForceBasis | None:
        return self._fields

    def force_values(self, s: Array) -> tuple[Ints, Array]:
        """Element (S,) and Lagrange polynomials (S, order) of the Gauss points at s."""
        element, t, _ = place_in_elements(self.borders, np.asarray(s, dtype=float))
        shapes = np.linalg.inv(np.vander(gauss_points(self.order)[0], increasing=True))
        return element, np.vander(t, self.order, increasing=True) @ shapes

    def in_plane(self, normal: int) -> RodMap | None:
        from pliant.rods.flat import FlatNodes

        return None if self.kind == CAYLEY else FlatNodes(self, normal)

    def pose_coordinate(self, s: float) -> int | None:
        """The entry of x where the twist of the node at s begins, None between nodes."""
        i = int(np.argmin(np.abs(self.nodes - s)))
        return 6 * i if abs(self.nodes[i] - s) <= 1e-12 * self.rod.length else None

    # -- coordinates -------------------------------------------------------------------------

    def rest(self) -> Array:
        if self._rest is None:
            self._rest = self._at_rest()
        return self._rest.copy()

    def _at_rest(self) -> Array:
        """Increments whose strains at the strain rule are the natural ones: Newton's method."""
        middle = 0.5 * (self.nodes[1:] + self.nodes[:-1])
        q = self.rod.natural_strain(middle) * np.diff(self.nodes)[:, None]
        s, _ = self.strain_rule()
        target, plan, c = self.rod.natural_strain(s), self.strains(s), self.configuration()
        k, count = self.order, len(self.first)
        increments = se3.cayley_inverse if self.kind == CAYLEY else se3.log
        for _ in range(_ITERATIONS):
            self.update(c, np.eye(4), q.ravel())
            self.strain(plan, c)
            gap = (target - plan.e).reshape(count, -1, 1)
            B = plan.B[:, :, 6:].reshape(count, 6 * k, 6 * k)
            x = np.zeros((count, k + 1, 6))
            x[:, 1:] = np.linalg.solve(B, gap).reshape(count, k, 6)
            h = c.controls[self.first[:, None] + np.arange(k + 1)] @ se3.exp(x)
            q = increments(se3.inverse(h[:, :-1]) @ h[:, 1:]).reshape(-1, 6)
            if np.max(np.abs(x)) < _EXACT:
                break
        return np.asarray(q.ravel())

    def configuration(self) -> NodalConfiguration:
        return NodalConfiguration(self.increments)

    def update(self, c: NodalConfiguration, base: Array, q: Array) -> None:
        super().update(c, base, q)
        run(lumped_kernels.set_quaternions, c.controls, c.quaternions)

    def lift_tangent(
        self,
        c: NodalConfiguration,
        ry: Array,
        balance: Array | None,
        Ky: Array,
        K: Array,
        passed: Array,
    ) -> None:
        """Copy Ky and add the second derivative of the chart of `advance`, felt by `balance`."""
        copy(Ky, K)
        if balance is not None:
            chained = (self.kind, self.first, c.psi, c.plus, c.minus)
            run(chain_second.add_chart, *chained, balance.reshape(-1, 6), K, passed)

    # -- the map -----------------------------------------------------------------------------

    def evaluate(self, plan: NodalPlan, c: NodalConfiguration, frames: bool, strains: bool) -> None:
        where = (self.first, plan.element, plan.L, plan.dL, c.controls, c.quaternions)
        results = (plan.C, plan.g, plan.J, plan.e, plan.B)
        run(spectral_kernels.place, *where, frames, strains, *results)

    # -- lumped inertia ------------------------------------------------------------------------

    def lumped(self, c: NodalConfiguration) -> ElementNodes:
        if c.nodes is None:
            shape = weights_of(self.order)
            c.nodes = ElementNodes(c.controls, c.quaternions, self.borders, *shape)
        return c.nodes

    def set_coordinates(self, c: NodalConfiguration, out: Array) -> None:
        twists, psi = np.zeros((self.increments + 1, 6)), out.reshape(-1, 6)
        run(chain.retract_increments, self.kind, c.controls, c.controls[0], twists, psi)

    # -- second derivatives --------------------------------------------------------------------

    def frame_second(self, plan: NodalPlan, c: NodalConfiguration, f: Array, K: Array) -> None:
        run(spectral_kernels.add_frame_second, plan.element, plan.L, plan.C, plan.J, f, K)

    def strain_second(self, plan: NodalPlan, c: NodalConfiguration, sigma: Array, K: Array) -> None:
        where = (plan.element, plan.L, plan.dL, plan.C, plan.e)
        run(spectral_kernels.add_strain_second, *where, sigma, K)

    def frame_bias(self, plan: NodalPlan, c: NodalConfiguration, ydot: Array, bias: Array) -> None:
        run(spectral_kernels.frame_bias, plan.element, plan.L, plan.C, plan.J, ydot, bias)
