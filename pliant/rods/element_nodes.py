"""Nodes of rods whose elements are polynomials between Gauss-Lobatto nodes, see `element_kernels`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.engine.program import run
from pliant.rods import element_kernels
from pliant.rods.contract import Array
from pliant.rods.lumped_nodes import LumpedNodes

if TYPE_CHECKING:
    from pliant.rods.flat_elements import FlatElements


class ElementNodes(LumpedNodes):
    """Adds strains, stresses and laws (6, k W) at the k Gauss points of each element.

    Station i k + g of copy r, Gauss point g of its element i, is the column g W + i R + r.
    weights, slopes (k, k + 1) : of the nodes at the Gauss points of an element of length 2.
    """

    def __init__(
        self, poses: Array, quaternions: Array, borders: Array, weights: Array, slopes: Array
    ) -> None:
        self._steep = 2.0 / np.diff(borders)
        self._weights, self._slopes = weights, slopes
        super().__init__(poses, quaternions, len(weights), len(borders) - 1)

    def allocate(self, copies: int) -> None:
        super().allocate(copies)
        k, W = self.order, self.width
        elements = np.arange(self.elements) * copies
        self.stations = (elements[:, None] + W * np.arange(k)).ravel()
        """(S,): where the stations of this copy stand."""
        self._first = elements
        self.steep = np.ones((1, W))
        self.strain, self.rate, self.stress = (np.zeros((6, k * W)) for _ in range(3))
        self.stiffness, self.rest, self.lag = (np.zeros((6, k * W)) for _ in range(3))
        self.pull, self.turning = np.zeros((4, self.count)), np.zeros((4, self.count))
        """Derivative of an energy in the quaternions, and their rates."""
        self.shape = (copies, copies * self.elements, W, self._weights, self._slopes, self.steep)
        self.steep[0, self._first] = self._steep

    def share(self, leader: LumpedNodes, copy: int) -> None:
        steep = self._steep
        super().share(leader, copy)
        self._steep = steep
        self.stations, self._first = self.stations + copy, self._first + copy
        self.steep[0, self._first] = steep

    def set_law(self, stiffness: Array, rest: Array, lag: Array) -> None:
        given = (stiffness, rest, lag)
        for rows, values in zip((self.stiffness, self.rest, self.lag), given, strict=True):
            rows[:, self.stations] = values.T

    def set_strain(self) -> None:
        run(element_kernels.set_strain, *self.shape, self.X, self.Q, self.strain)

    def set_strain_rate(self) -> None:
        moving = (self.velocity, self.spin, self.turning, self.strain, self.rate)
        run(element_kernels.set_strain_rate, *self.shape, self.X, self.Q, *moving)

    def tell_strain(self, e: Array) -> None:
        run(element_kernels.take_stations, self.stations, self.strain, e)

    def tell_strain_rate(self, rate: Array) -> None:
        run(element_kernels.take_stations, self.stations, self.rate, rate)

    def set_stress(self, moving: bool) -> None:
        law = (self.stiffness, self.rest, self.lag)
        run(element_kernels.set_stress, moving, *law, self.strain, self.rate, self.stress)

    def add_stress(self, sigma: Array) -> None:
        run(element_kernels.add_stations, self.stations, sigma, self.stress)

    def set_forces(self) -> None:
        given = (self.X, self.Q, self.strain, self.stress)
        run(element_kernels.set_forces, *self.shape, *given, self.pull, self.force, self.torque)

    def set_elastic_forces(self) -> None:
        given = (self.X, self.Q, self.stiffness, self.rest)
        out = (self.pull, self.force, self.torque)
        run(element_kernels.set_elastic_forces, *self.shape, *given, *out)

    def add_elastic_energy(self, out: Array) -> None:
        law = (self.stiffness, self.rest, self.strain)
        run(element_kernels.add_energy, self.copies, self.width, *law, out)

    def flat(self) -> FlatElements:
        from pliant.rods.flat_elements import FlatElements

        return FlatElements(self)
