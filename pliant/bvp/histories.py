"""What a time rule remembers: strains and velocities one and two steps back, at all stages."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.bvp.contract import TimeRule
from pliant.bvp.mesh import Mesh
from pliant.lie.tuples import Array


@kernel
def read_stages(h, stages, nodes, slopes, ends, c0, xi, xi_t, eta, eta_t):  # type: ignore[no-untyped-def]
    """Strain, velocity and their rates (N, 3, 6) at the stages of a solved sweep.

    Wrench and velocity in the middle of an interval follow from the values and derivatives at its
    ends (cubic Hermite), which is as accurate as the fourth-order scheme.
    """
    for i in range(len(h)):
        for r in range(6):
            for j in range(3):
                if j == 1:
                    k = h[i] / 8.0
                    m = 0.5 * (nodes[i, 0, r] + nodes[i, 1, r]) + k * (slopes[i, r] - ends[i, r])
                    e = 0.5 * (nodes[i, 0, 6 + r] + nodes[i, 1, 6 + r])
                    e += k * (slopes[i, 6 + r] - ends[i, 6 + r])
                else:
                    m, e = nodes[i, j // 2, r], nodes[i, j // 2, 6 + r]
                x = stages[i, j, 6 + r] + stages[i, j, r] * m
                xi[i, j, r] = x
                xi_t[i, j, r] = c0 * x + stages[i, j, 12 + r]
                eta[i, j, r] = e
                eta_t[i, j, r] = c0 * e + stages[i, j, 18 + r]


@kernel
def blend(rule, now, now_t, older, out):  # type: ignore[no-untyped-def]
    """History H = c1 y_1 + c2 y_2 + d1 y_1t of (N, 3, 6) values."""
    c1, c2, d1 = rule[1], rule[2], rule[3]
    for i in range(now.shape[0]):
        for j in range(now.shape[1]):
            for r in range(6):
                out[i, j, r] = c1 * now[i, j, r] + c2 * older[i, j, r] + d1 * now_t[i, j, r]


class Histories:
    """Strain xi, velocity eta, their rates, and those of the step before; bodies apart."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        shape = (mesh.N, 3, 6)
        self.xi, self.xi_t, self.eta, self.eta_t = (np.zeros(shape) for _ in range(4))
        self.xi_older, self.eta_older = np.zeros(shape), np.zeros(shape)
        bodies = (len(mesh.arrays.body_mass), 6)
        self.body, self.body_t, self.body_older = (np.zeros(bodies) for _ in range(3))
        self._H = np.zeros(shape), np.zeros(shape)

    def begin(self, xi: Array, eta: Array) -> None:
        """Start from strains and velocities (N, 3, 6) at the stages."""
        self.xi[:], self.eta[:] = xi, eta
        self.xi_older[:], self.eta_older[:] = xi, eta
        self.xi_t[:], self.eta_t[:] = 0.0, 0.0
        self.body[:] = self.mesh.at_bodies(eta[:, ::2])
        self.body_older[:], self.body_t[:] = self.body, 0.0

    def prepare(self, rule: TimeRule) -> None:
        """Write the law and the histories of the coming instant into the mesh."""
        numbers = np.array([rule.c0, rule.c1, rule.c2, rule.d1])
        blend(numbers, self.xi, self.xi_t, self.xi_older, self._H[0])
        blend(numbers, self.eta, self.eta_t, self.eta_older, self._H[1])
        bodies = rule.c1 * self.body + rule.c2 * self.body_older + rule.d1 * self.body_t
        self.mesh.set_history(rule.c0, *self._H, bodies)

    def accept(self, rule: TimeRule, nodes: Array, slopes: Array, ends: Array, keep: bool) -> None:
        """Take the solved sweep as the present; `keep` leaves the older values as they are."""
        a = self.mesh.arrays
        if not keep:
            self.xi_older, self.xi = self.xi, self.xi_older
            self.eta_older, self.eta = self.eta, self.eta_older
            self.body_older[:] = self.body
        read_stages(
            a.h, a.stages, nodes, slopes, ends, rule.c0, self.xi, self.xi_t, self.eta, self.eta_t
        )
        self.body[:] = self.mesh.at_bodies(nodes[..., 6:12])
        self.body_t[:] = rule.c0 * self.body + a.body_history
