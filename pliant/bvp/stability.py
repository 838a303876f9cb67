"""Stability of an equilibrium from the linearised rod equations: conjugate points, counted.

Neighbours of an equilibrium obey the linearised equations. In the chart g exp(x) a variation of the
pose is x = (theta, d), and the conjugate variation of the wrench W is w = dW - 1/2 ad_x^T W; if all
loads have a potential, the map from one section to another,

    x_1 = A x_0 + B w_0,    w_1 = C x_0 + E w_0,

is symplectic. Let P be the stiffness that a section feels of all that lies beyond it, w = -P x for what
it must supply. Over one stretch, clamped at its start, F = B E^-1 is the flexibility of its end, and

    P_0 = E^-1 C + E^-1 P_1 (1 + F P_1)^-1 E^-T.

P starts at the tip and meets the support at the base. Where a root of 1 + F P goes through zero, P goes
through infinity: a conjugate point. By Haynsworth's and Jacobi's theorems the number of negative roots
met on the way is the number of independent directions in which the energy falls (Maddocks 1984,
"Stability of nonlinearly elastic rods"; Manning, Rogers and Maddocks 1998), whatever their
multiplicity. F only needs a square root, so that rods that neither shear nor stretch are no exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.bvp.boundary_conditions import make_supports, support_pairs
from pliant.bvp.chain import Chain
from pliant.bvp.contract import State
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import MATRIX
from pliant.bvp.shooting.integration import RK4, integrate
from pliant.bvp.shooting.mesh import STAGES, Mesh, even_edges
from pliant.bvp.states import interpolated
from pliant.lie import so3
from pliant.lie.tuples import Array

_INTERVALS, _STRETCHES = 96, 12
_MOST = 4096
_NEUTRAL = 1e-6
"""Root, relative, below which a direction counts as neutral: a round column turns in its plane."""
_SLACK = 1e-10
"""Flexibility, relative, given to what has none."""


class UnresolvedError(Exception):
    """The stretches are too long for the loads in them."""


class Stability:
    """Counts the directions in which the energy of equilibria of one chain falls."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._supports = make_supports(chain)
        L, scale = chain.length, chain.scale
        self._units = np.concatenate([[1.0] * 3, [L] * 3]), scale
        self._mesh(_INTERVALS)

    def _mesh(self, intervals: int) -> None:
        self.mesh = Mesh(self.chain, even_edges(self.chain, intervals))
        N = self.mesh.N
        count = min(N, _STRETCHES * intervals // _INTERVALS)
        self._cuts = np.unique(np.linspace(0, N, count + 1).round().astype(np.int64))

    def conservative(self, values: Mapping[str, Any]) -> bool:
        """Tell whether all loads have a potential."""
        return self.mesh.conservative(values)

    def falling(self, state: State, values: Mapping[str, Any], share: float = 1.0) -> int | None:
        """Return the number of directions in which the energy falls; None if it cannot be told.

        state : an equilibrium under `share` of gravity and of the loads with these input values.
        """
        if not self.mesh.conservative(values):
            return None
        intervals = _INTERVALS
        if 2 * _INTERVALS + 4 * len(self.chain.pieces) < self.mesh.N:
            self._mesh(intervals)
        while True:
            try:
                return self._count(state, values, share)
            except UnresolvedError:
                intervals *= 2
                if intervals > _MOST:
                    return None
                self._mesh(intervals)

    def transitions(self, state: State, values: Mapping[str, Any], share: float) -> Array:
        """Return the symplectic maps (K, 12, 12) of (x, w) over K stretches, in units of the chain."""
        mesh, cuts = self.mesh, self._cuts
        mesh.load(values, share)
        mesh.rest()
        starts = self._starts(state)
        ends = starts.copy()
        Z = np.zeros((len(starts), 18, 12))
        Z[:, np.arange(12, 18), np.arange(6)] = self._units[0]
        Z[:, np.arange(6), np.arange(6, 12)] = self._units[1]
        Z[:, :6, :6] = _half(starts) * self._units[0]
        room = np.zeros((mesh.N, 2, 24)), np.zeros((mesh.N, STAGES, 12))
        for k, (first, last) in enumerate(pairwise(cuts)):
            integrate(MATRIX, RK4, mesh.intervals, 0.0, first, last, ends[k], Z[k], *room)
        self._end, self._last = ends[-1], Z[-1].copy()
        x = Z[:, 12:]
        w = Z[:, :6] - _half(ends) @ x
        return np.concatenate([x / self._units[0][:, None], w / self._units[1][:, None]], axis=1)

    def _starts(self, state: State) -> Array:
        """States (K, 24) at the starts of the stretches, before what sits there."""
        ends = self._cuts[1:-1] - 1
        stations = np.concatenate([[0], STAGES * ends + STAGES - 1])
        piece, s = self.mesh.piece[stations], self.mesh.s[stations]
        found = interpolated(state, piece, s, ("wrench",)).rows()
        # a state holds the wrench past what sits at the base; that changes it by what the pose says
        past = found[0].copy()
        first = self.mesh.jumps.first
        apply_jumps(self.mesh.jumps, first[0], first[1], 0.0, past, np.zeros((18, 0)))
        found[0, :6] += found[0, :6] - past[:6]
        return found

    def _count(self, state: State, values: Mapping[str, Any], share: float) -> int:
        """Go from the tip to the base and count negative roots."""
        self._require_short(state)
        maps = self.transitions(state, values, share)
        inverse = np.linalg.inv(maps[:, 6:, 6:])
        own, F = inverse @ maps[:, 6:, :6], _symmetric(maps[:, :6, 6:] @ inverse)
        roots, axes = np.linalg.eigh(F)
        if (roots[:, 0] < -1e-7 * roots[:, -1]).any():
            raise UnresolvedError
        half = axes * np.sqrt(np.maximum(roots, _SLACK * roots[:, -1:]))[:, None]
        F = half @ np.swapaxes(half, 1, 2)
        last, clamped = len(maps) - 1, bool(self.chain.base.held.all())
        count, P, one = 0, np.zeros((6, 6)), np.eye(6)
        for k in range(last, -1, -1):
            if k == last and not self._supports.tip_free:
                felt, negative = self._at_held_tip(F[k])
            else:
                spread = np.linalg.eigvalsh(one + half[k].T @ P @ half[k])
                negative = self._negative(spread, k == 0 and clamped)
                felt = P @ np.linalg.inv(one + F[k] @ P)
            count += negative
            P = _symmetric(own[k] + inverse[k] @ felt @ inverse[k].T)
        free = ~self.chain.base.held
        if free.any():
            count += self._negative(np.linalg.eigvalsh(P[np.ix_(free, free)]), True)
        return count

    @staticmethod
    def _negative(roots: Array, last: bool) -> int:
        """Negative ones among roots; a root that is nearly zero at the support is a neutral motion."""
        slack = _NEUTRAL * max(1.0, float(np.abs(roots).max())) if last else 0.0
        return int(np.sum(roots < -slack))

    def _at_held_tip(self, F: Array) -> tuple[Array, int]:
        """What the start of the last stretch feels through its flexibility F of the held tip.

        Free directions a of the support's chart move the tip by x = H a, against a stiffness S that
        comes from the reactions; the inertia of ((S, H^T), (H, -F)), less its six forces, counts.
        """
        y, units = self._end, self._units
        Z = np.zeros((18, 12))
        Z[np.arange(12, 18), np.arange(6)] = units[0]
        Z[np.arange(6), np.arange(6, 12)] = units[1]
        Z[:6, :6] = _half(y[None])[0] * units[0]
        _, gaps, _, slopes = support_pairs(self._supports, y, Z)
        free = ~self._supports.tip_held
        back = np.linalg.inv(gaps[:, :6] / units[0][:, None])[:, free]
        S = _symmetric((slopes[free, :6] / units[1][free][:, None]) @ back)
        M = np.block([[S, back.T], [back, -F]])
        roots = np.linalg.eigvalsh(M)
        n = int(free.sum())
        return -np.linalg.inv(M)[n:, n:], int(np.sum(roots < 0.0)) - 6

    def _require_short(self, state: State) -> None:
        """Stretches must neither bend by more than a radian or so nor come near to buckling."""
        h = float(np.max(np.add.reduceat(self.mesh.intervals.h, self._cuts[:-1])))
        soft = 1.0 / self.mesh.C[..., :3].min()
        moment, force = (np.abs(state.wrench[:, rows]).max() for rows in (slice(3), slice(3, 6)))
        if moment * soft * h > 2.0 or force * soft * h * h > 2.0:
            raise UnresolvedError


def _half(states: Array) -> Array:
    """1/2 ad_x^T W as matrices (K, 6, 6) on x = (theta, d), for the wrenches W of states (K, 24)."""
    found = np.zeros((len(states), 6, 6))
    found[:, :3, :3] = 0.5 * so3.hat(states[:, :3])
    found[:, :3, 3:] = found[:, 3:, :3] = 0.5 * so3.hat(states[:, 3:6])
    return found


def _symmetric(M: Array) -> Array:
    return np.asarray(0.5 * (M + np.swapaxes(M, -1, -2)))
