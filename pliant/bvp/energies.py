"""Energies and powers of a chain in a given state, integrated along its pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.bvp.arrays import BODY
from pliant.bvp.chain import Chain
from pliant.bvp.contract import State
from pliant.lie.tuples import Array
from pliant.model import Body, Frame, Load


class Energies:
    """What is stored and what is passed on in the states of one chain, at the same knots."""

    def __init__(self, chain: Chain, state: State) -> None:
        self.chain = chain
        self.knots = [np.flatnonzero(state.piece == k) for k in range(len(chain.pieces))]
        self.gravity = np.asarray(chain.description.gravity)
        K = len(state.s)
        self.C, self.D, self.M, self.natural = (np.zeros((K, 6)) for _ in range(4))
        self.drag, self.loss = np.zeros((K, 3)), np.zeros(K)
        for piece, rows in zip(chain.pieces, self.knots, strict=True):
            rod, s = piece.rod, state.s[rows]
            self.C[rows], self.D[rows] = rod.stiffness(s), rod.damping(s)
            self.M[rows], self.natural[rows] = rod.inertia(s), rod.natural_strain(s)
            self.drag[rows], self.loss[rows] = rod.drag_coefficients(), rod.mass_damping
            if rod.theory == "kirchhoff":
                self.C[rows, 3:] = self.D[rows, 3:] = 0.0
        self.bodies = self._bodies()

    def _bodies(self) -> list[tuple[int, Array, float, Array]]:
        """Knot, inertia (6, 6), mass and centre of each body."""
        found = []
        for k, piece in enumerate(self.chain.pieces):
            found += [
                (self.knots[k][0], event.part) for event in piece.before if event.kind == BODY
            ]
        last = self.knots[-1][-1]
        found += [(last, event.part) for event in self.chain.at_tip if event.kind == BODY]
        return [
            (int(knot), body.spatial_inertia(), body.mass, body.arm())
            for knot, body in found
            if isinstance(body, Body)
        ]

    def _along(self, state: State, density: Array) -> float:
        """Integral of a density (K,) over all pieces."""
        return float(
            sum(
                CubicSpline(state.s[rows], density[rows]).integrate(
                    state.s[rows[0]], state.s[rows[-1]]
                )
                for rows in self.knots
            )
        )

    def elastic(self, state: State) -> float:
        """Strain energy, J."""
        stretch = state.strain - self.natural
        return self._along(state, 0.5 * np.sum(self.C * stretch**2, axis=1))

    def gravitational(self, state: State) -> float:
        """Potential of weight, J, zero at the world origin."""
        found = self._along(state, -self.M[:, 3] * (state.pose[:, :3, 3] @ self.gravity))
        for knot, _, mass, centre in self.bodies:
            g = state.pose[knot]
            found -= mass * float(self.gravity @ (g[:3, 3] + g[:3, :3] @ centre))
        return found

    def kinetic(self, state: State) -> float:
        """Kinetic energy, J."""
        found = self._along(state, 0.5 * np.sum(self.M * state.velocity**2, axis=1))
        for knot, inertia, _, _ in self.bodies:
            eta = state.velocity[knot]
            found += 0.5 * float(eta @ inertia @ eta)
        return found

    def lost(self, state: State) -> float:
        """Power lost in the material, to drag and to mass damping, W."""
        eta = state.velocity
        density = np.sum(self.D * state.strain_rate**2, axis=1)
        density += np.sum(self.drag * np.abs(eta[:, 3:]) ** 3, axis=1)
        density += self.loss * np.sum(self.M * eta**2, axis=1)
        return self._along(state, density)

    def loads(self, state: State, values: Mapping[str, Any]) -> float:
        """Potential of dead forces, J."""
        found = 0.0
        for load in self.chain.description.loads.values():
            if load.frame != "world":
                continue
            if isinstance(load.on, Frame):
                knot, arm = self._place(state, load)
                g = state.pose[knot]
                found -= float(load.wrench(values[load.name])[3:] @ (g[:3, 3] + g[:3, :3] @ arm))
            else:
                density = self._density(state, load, values)
                found -= self._along(state, np.sum(density[:, 3:] * state.pose[:, :3, 3], axis=1))
        return found

    def power(self, state: State, values: Mapping[str, Any]) -> float:
        """Power of all loads and of a moving base, W."""
        found = -float(state.wrench[0] @ state.velocity[0])
        for load in self.chain.description.loads.values():
            if isinstance(load.on, Frame):
                knot, arm = self._place(state, load)
                R, eta = state.pose[knot, :3, :3], state.velocity[knot]
                wrench = load.wrench(values[load.name])
                if load.frame == "world":
                    wrench = np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])
                speed = eta[3:] + np.cross(eta[:3], arm)
                found += float(wrench[:3] @ eta[:3] + wrench[3:] @ speed)
            else:
                density = self._density(state, load, values)
                eta = state.velocity
                if load.frame == "world":
                    R = state.pose[:, :3, :3]
                    eta = np.concatenate(
                        [np.einsum("kij,kj->ki", R, part) for part in (eta[:, :3], eta[:, 3:])],
                        axis=1,
                    )
                found += self._along(state, np.sum(density * eta, axis=1))
        return found

    def _place(self, state: State, load: Load) -> tuple[int, Array]:
        """Knot and offset of a point load."""
        assert isinstance(load.on, Frame)
        for piece, rows in zip(self.chain.pieces, self.knots, strict=True):
            if piece.rod.name == load.part and load.on.s <= piece.b * (1.0 + 1e-12):
                knot = rows[np.argmin(np.abs(state.s[rows] - load.on.s))]
                return int(knot), np.array(load.on.offset)
        raise AssertionError("a load lies on a rod of the chain")

    def _density(self, state: State, load: Load, values: Mapping[str, Any]) -> Array:
        """(moment, force) per metre (K, 6) of a load along a rod; zero on other pieces."""
        found = np.zeros((len(state.s), 6))
        start, end = load.over or (0.0, np.inf)
        for piece, rows in zip(self.chain.pieces, self.knots, strict=True):
            middle = 0.5 * (piece.a + piece.b)
            if piece.rod.name == load.part and start < middle < end:
                inside = 1e-9 * piece.length
                s = np.clip(state.s[rows], piece.a + inside, piece.b - inside)
                found[rows] = load.density(s, values[load.name])
        return found
