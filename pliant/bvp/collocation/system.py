"""The algebraic equations of collocation: unknowns to mismatch and exact tangent, on one grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

from pliant.bvp.boundary_conditions import Supports, start_at_base, tip_conditions
from pliant.bvp.chain import JOINT, Chain
from pliant.bvp.collocation.balance import backward, mismatch, respond
from pliant.bvp.collocation.grid import Grid, Order
from pliant.bvp.collocation.kinematics import Shape, forward, in_body, new_shape
from pliant.bvp.collocation.tangent import (
    Variation,
    new_variation,
    vary_backward,
    vary_forward,
    vary_mismatch,
)
from pliant.bvp.history import law_of
from pliant.bvp.rod_equations import write_law
from pliant.lie import so3
from pliant.lie.tuples import Array


class System:
    """Equations r(x) = 0 for x = (base, moments and forces at the nodes, wrench beyond the tip).

    A base has an unknown phi in each free direction, where no wrench must act. A tip that is held in
    any direction has the six conditions of `tip_conditions` and its wrench, world, as unknowns.
    grid, shape : on which, and what the last evaluation left.  moving : False at rest.
    """

    def __init__(self, chain: Chain, orders: Sequence[Order], supports: Supports) -> None:
        self.supports, self.free = supports, ~supports.held
        self.grid = Grid(chain, orders, (int(self.free.sum()), 0 if supports.tip_free else 6))
        jumps = len(self.grid.jumps.kind)
        self.shape: Shape = new_shape(self.grid.size, jumps)
        self._variation: Variation | None = None
        self._factor: tuple[Array, Array] | None = None
        self.c0 = 0.0
        self.moving = False
        self.scale = self.grid.scale()
        self.scale[: self.grid.base_unknowns] = chain.scale[self.free]
        self.scale[self.unknowns - self.grid.tip_unknowns :] = supports.units[1][
            : self.grid.tip_unknowns
        ]
        self._weight = 1.0 / self.scale
        self._base, self._base_variation = np.zeros(24), np.zeros((18, 6))

    @property
    def unknowns(self) -> int:
        """Length of x."""
        return self.grid.unknowns

    def tip_wrench(self, x: Array) -> Array:
        """Moment and force (6,), world, that act beyond the tip."""
        return x[self.unknowns - 6 :] if self.grid.tip_unknowns else np.zeros(6)

    def base_state(self, x: Array) -> Array:
        """State (24,) at the base, without its wrench; leaves its variations (18, 6)."""
        phi = np.zeros(6)
        phi[self.free] = x[: self.grid.base_unknowns]
        start_at_base(self.supports, self.c0, phi, self._base, self._base_variation)
        return self._base

    def evaluate(self, x: Array) -> Array:
        """Mismatch r (U,) of x; leaves the shape."""
        grid, shape = self.grid, self.shape
        r, y = np.empty(self.unknowns), self.base_state(x)
        data, tip = (grid.layout, grid.table, grid.jumps, self.c0), self.tip_wrench(x)
        if grid.own is not None:
            forward(*data, self.moving, y, x, shape)
            self._apply_own(x)
            backward(*data, tip, shape)
            mismatch(grid.layout, x, shape, r)
        else:
            respond(*data, self.moving, y, tip, x, shape, r)
        if grid.tip_unknowns:
            none = np.zeros((18, 0))
            tip_conditions(self.supports, self._tip_state(x), none, r[-6:], none[:6])
        if grid.base_unknowns:
            r[: grid.base_unknowns] = self.reaction()[self.free]
        return r

    def _apply_own(self, x: Array) -> None:
        """Let effects in plain Python act: stresses until the strains agree, then wrenches."""
        grid, shape, own = self.grid, self.shape, self.grid.own
        assert own is not None
        data = (grid.layout, grid.table, grid.jumps, self.c0)
        for _ in range(30):
            before = shape.strain.copy()
            write_law(self.c0, *law_of(grid), grid.table)
            own.linearise_stress(self.c0, before.T)
            forward(*data, self.moving, self._base, x, shape)
            if np.abs(shape.strain - before).max() < 1e-13 * (1.0 + np.abs(before).max()):
                break
        states = np.zeros((grid.size, 24))
        states[:, 6:12], states[:, 12:15] = in_body(shape, shape.W, shape.V), shape.p.T
        states[:, 15:] = shape.R.T
        self._states, self._slopes = states, own.apply_line_wrench(states, shape.strain.T)

    def _vary_own(self, var: Variation) -> Array:
        """Variations (G, 6, U) of the wrench of effects in plain Python, world."""
        grid, R = self.grid, self._states[:, 15:].reshape(-1, 3, 3)
        back, moved, start = np.swapaxes(R, 1, 2), np.zeros_like(var.slope), self._vary_base()[3:6]
        jumps, layout = grid.jumps, grid.layout
        for k, rows in enumerate(grid.rows):
            for e in range(jumps.first[k], jumps.first[k + 1]):
                if jumps.kind[e] == JOINT:
                    R_e, t = (
                        self.shape.sections[e, 15:].reshape(3, 3),
                        jumps.joints[jumps.row[e], 9:],
                    )
                    start = start - so3.hat(R_e @ t) @ R_e @ var.sections[e, 15:18]
            K, at = rows.stop - rows.start, layout.at[0, k]
            Q = layout.Q[at : at + K * K].reshape(K, K)
            moved[rows] = start + np.einsum("ab,bcu->acu", Q, var.slope[rows])
            start = moved[rows][-1]
        turn = back @ var.theta
        rates = [
            back @ of + so3.hat(self._states[:, a : a + 3]) @ turn
            for of, a in ((var.dW, 6), (var.dV, 9))
        ]
        change = self._slopes @ np.concatenate([turn, back @ moved, *rates], axis=1)
        return np.concatenate([R @ change[:, :3], R @ change[:, 3:]], axis=1)

    def reaction(self) -> Array:
        """Wrench (6,) that the base gives, in its frame."""
        R = self._base[15:].reshape(3, 3)
        return np.concatenate([R.T @ self.shape.reaction[:3], R.T @ self.shape.reaction[3:]])

    def _tip_state(self, x: Array) -> Array:
        """State (24,) beyond the tip."""
        y, wrench = self.shape.tip.copy(), self.tip_wrench(x)
        R = y[15:].reshape(3, 3)
        y[:3], y[3:6] = R.T @ wrench[:3], R.T @ wrench[3:]
        return y

    def tangent(self, x: Array) -> Array:
        """Derivative (U, U) of r at x, where it was evaluated last."""
        grid, shape, U = self.grid, self.shape, self.unknowns
        if self._variation is None:
            self._variation = new_variation(grid.size, len(grid.jumps.kind), U)
        var, data = self._variation, (grid.layout, grid.table, grid.jumps, self.c0)
        vary_forward(*data, self.moving, self._vary_base(), shape, var)
        tip = np.zeros((6, U))
        if grid.tip_unknowns:
            tip[:, U - 6 :] = np.eye(6)
        turning = self.moving or grid.follows()
        own = np.zeros((0, 6, U)) if grid.own is None else self._vary_own(var)
        vary_backward(*data, turning, tip, self.tip_wrench(x)[3:], own, shape, var)
        matrix = np.zeros((U, U))
        vary_mismatch(grid.layout, shape, var, matrix)
        if grid.base_unknowns:
            R = self._base[15:].reshape(3, 3)
            rows = np.zeros((6, U))
            for part in (0, 3):
                turned = np.cross(shape.reaction[part : part + 3], var.theta[0], axisb=0).T
                rows[part : part + 3] = R.T @ (var.reaction[part : part + 3] + turned)
            matrix[: grid.base_unknowns] = rows[self.free]
        if grid.tip_unknowns:
            matrix[U - 6 :] = self._vary_tip(x, var.tip, tip)
        return matrix

    def _vary_base(self) -> Array:
        """Variations (12, U) of theta, p, W, V, world; the first unknowns are those of the base."""
        y, Z = self._base, self._base_variation[:, self.free]
        R, rows = y[15:].reshape(3, 3), np.zeros((12, self.unknowns))
        spin = [Z[a : a + 3] - so3.hat(y[a : a + 3]) @ Z[15:18] for a in (6, 9)]
        parts = (Z[15:18], Z[12:15], *spin)
        rows[:, : Z.shape[1]] = np.concatenate([R @ part for part in parts])
        return rows

    def _vary_tip(self, x: Array, moved: Array, wrench: Array) -> Array:
        """Variations (6, U) of the tip's conditions for those of its pose (world) and wrench."""
        y, Z = self._tip_state(x), np.zeros((18, moved.shape[1]))
        R, r, J = y[15:].reshape(3, 3), np.zeros(6), np.zeros((6, moved.shape[1]))
        Z[15:18], Z[12:15] = R.T @ moved[:3], R.T @ moved[3:6]
        for a in (0, 3):
            Z[a : a + 3] = R.T @ wrench[a : a + 3] + so3.hat(y[a : a + 3]) @ Z[15:18]
        tip_conditions(self.supports, y, Z, r, J)
        return J

    # -- linear equations --------------------------------------------------------------------

    def factorise(self, x: Array) -> bool:
        """Factorise the tangent at x; False if it is singular."""
        lu, pivots, info = lapack.dgetrf(self.tangent(x) / self.scale[:, None], overwrite_a=1)
        self._factor = (lu, pivots)
        diagonal = np.abs(np.diag(lu))
        return bool(info == 0 and np.isfinite(lu).all() and diagonal.min() > 1e-14 * diagonal.max())

    @property
    def factorised(self) -> bool:
        """True if a factor is kept."""
        return self._factor is not None

    def forget(self) -> None:
        """Drop the factor."""
        self._factor = None

    def correction(self, r: Array) -> Array:
        """Newton's correction -K^-1 r with the factor that is kept."""
        assert self._factor is not None
        return -np.asarray(lapack.dgetrs(*self._factor, r * self._weight)[0])

    def norm(self, r: Array) -> float:
        """Largest mismatch in its unit; infinite if any is not finite."""
        size = float(np.abs(r * self._weight).max())
        return size if size < np.inf else np.inf
