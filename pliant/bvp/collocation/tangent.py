"""Variations of shape, motion and balance on Chebyshev grids: the exact tangent of collocation.

A variation of the pose is dR = theta^ R, dp, both world. With dS = R S R^T for the compliance of
shear and stretch, the integrals of `integrals` vary by

    theta' = R du                          d(R v) = theta x R v + dS (dN - theta x N)
    dW' = theta x R u_t + c0 R du          dV' = theta x R v_t + c0 R dv + dW x R v + W x d(R v)

and the balance by the same kind of terms. Each is a 3x3 matrix at a grid point times variations with
respect to all U unknowns, followed by a product with the integration matrix.
"""

from __future__ import annotations

import numpy as np

from pliant.bvp.chain import JOINT
from pliant.bvp.collocation.grid import Grid
from pliant.bvp.collocation.integrals import Shape
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import DRAG, MASS, MASS_DAMPING, ROTARY
from pliant.lie.so3 import hat
from pliant.lie.tuples import Array


def to_body(y: Array, now: Array) -> Array:
    """Variations (18, U) of (m, n, w, q, theta, d), body frame, at a state y (24,).

    now : (18, U) those of (M, N, W, V, theta, p), world.
    """
    found = y[15:].reshape(3, 3).T @ now.reshape(6, 3, -1)
    found[:4] += hat(y[:12].reshape(4, 3)) @ found[4]
    return np.ascontiguousarray(found.reshape(18, -1))


def to_world(y: Array, Z: Array) -> Array:
    """The inverse of `to_body`."""
    still = Z.reshape(6, 3, -1).copy()
    still[:4] -= hat(y[:12].reshape(4, 3)) @ still[4]
    return np.asarray((y[15:].reshape(3, 3) @ still).reshape(18, -1))


def _integrated(Q: Array, source: Array) -> Array:
    """Integrals (K, 3, U) of a source (K, 3, U) from the start of a piece to each point."""
    return np.asarray((Q @ source.reshape(len(Q), -1)).reshape(source.shape))


def _conjugated(R: Array, diagonal: Array) -> Array:
    """R diag R^T for rotations (G, 3, 3) and diagonals (G, 3)."""
    return np.asarray((R * diagonal[:, None]) @ np.swapaxes(R, 1, 2))


class Variations:
    """Variations with respect to U unknowns at the G grid points, world frame.

    theta, p, W, V, slope, N, M : (G, 3, U) of rotation, position, velocities, R v, force and moment.
    tip : (18, U) at the tip.  reaction : (6, U) moment and force of the base.
    """

    def __init__(self, grid: Grid, shape: Shape, c0: float) -> None:
        self.grid, self.shape, self.c0 = grid, shape, c0
        fields = np.zeros((7, grid.size, 3, grid.unknowns))
        self.theta, self.p, self.W, self.V, self.slope, self.N, self.M = fields
        self.R = np.ascontiguousarray(shape.R.T).reshape(-1, 3, 3)

    def forward(self, base: Array) -> None:
        """Go from base to tip; `base` (18, U) are the variations of the base section."""
        now, first, pieces = base.copy(), self.grid.jumps.first, len(self.grid.rows)
        self._sections: list[Array] = []
        for k in range(pieces + 1):
            for e in range(first[k], first[k + 1]):
                now = self._pass_jump(e, now)
            if k < pieces:
                self._forward(k, now)
        self.tip = now

    def _pass_jump(self, e: int, now: Array) -> Array:
        """Note the variations at a jump, and go over joints to the next rod's base."""
        y = self.shape.sections[e].copy()
        Z = to_body(y, now)
        self._sections.append(Z.copy())
        if self.grid.jumps.kind[e] != JOINT:
            return now
        apply_jumps(self.grid.jumps, e, e + 1, self.c0, y, Z)
        return to_world(y, Z)

    def _nodal(self, blocks: Array, matrix: Array, first: int) -> Array:
        """Blocks (K, 3, 3) at grid points times the polynomials of nodes whose unknowns begin there."""
        K, n = matrix.shape
        found = np.zeros((K, 3, self.grid.unknowns))
        product = blocks[:, :, None] * matrix[:, None, :, None]
        found[:, :, first : first + 3 * n] = product.reshape(K, 3, 3 * n)
        return found

    def _forward(self, k: int, now: Array) -> None:
        """Go over piece k; `now` (18, U) are the variations at its start, then those at its end."""
        rows, layout, shape, c0 = self.grid.rows[k], self.grid.layout, self.shape, self.c0
        Q, _, from_moment, _, from_force = self.grid.matrices[k]
        R, S = self.R[rows], self.grid.table[rows, :6]
        bend = self._nodal(R * S[:, None, :3], from_moment, layout.moment_at[k])
        self.theta[rows] = theta = now[12:15] + _integrated(Q, bend)
        D, v = _conjugated(R, S[:, 3:]), hat(shape.slope.T[rows])
        slope = self._nodal(D, from_force, layout.force_at[k])
        slope += (D @ hat(shape.guess.T[rows]) - v) @ theta
        self.slope[rows], self.p[rows] = slope, now[15:18] + _integrated(Q, slope)
        if c0 != 0.0:
            u_t, v_t, W = (hat(f.T[rows]) for f in (shape.u_rate, shape.v_rate, shape.W))
            self.W[rows] = now[6:9] + _integrated(Q, c0 * bend - u_t @ theta)
            source = (c0 * v - v_t) @ theta - v @ self.W[rows]
            source += (c0 * np.eye(3) + W) @ slope
            self.V[rows] = now[9:12] + _integrated(Q, source)
        ends = [field[rows.stop - 1] for field in (self.W, self.V, self.theta, self.p)]
        now[6:] = np.concatenate(ends)

    def line_wrench(self) -> Array:
        """Variations (G, 6, U) of moment and force per length of `body_load`."""
        shape, R, P = self.shape, self.R, self.grid.table
        A, c = P[:, MASS, None, None], self.c0 + P[:, MASS_DAMPING, None, None]
        W, V, force, moment = (hat(f.T) for f in (shape.W, shape.V, shape.force, shape.moment))
        J = _conjugated(R, P[:, ROTARY : ROTARY + 3])
        drag = P[:, DRAG : DRAG + 3] * np.abs(np.einsum("gji,jg->gi", R, shape.V))
        X = -A * (c * np.eye(3) + W) - 2.0 * _conjugated(R, drag)
        spin = hat(np.einsum("gij,jg->gi", J, shape.W)) - c * J - W @ J
        moments = (spin @ W - moment) @ self.theta + spin @ self.W
        forces = (X @ V + A * V @ W - force) @ self.theta + X @ self.V + A * (V @ self.W)
        return np.concatenate([moments, forces], axis=1)

    def backward(self, tip: Array, force: Array, wrench: Array | None) -> None:
        """Go from tip to base with the variations `tip` (6, U) of moment and force there, world.

        force : (3,) that holds the tip.  wrench : (G, 6, U) of moment and force per length, None if
        they do not change.
        """
        now, N, first = tip.copy(), force.copy(), self.grid.jumps.first
        for k in range(len(self.grid.rows), -1, -1):
            if k < len(self.grid.rows):
                rows = self.grid.rows[k]
                self._backward(rows, self.grid.matrices[k][0], now, wrench)
                now, N = (
                    np.concatenate([self.M[rows.start], self.N[rows.start]]),
                    self.shape.N[:, rows.start],
                )
            for e in range(first[k + 1] - 1, first[k] - 1, -1):
                N = self._jump_back(e, now, N)
        self.reaction = now

    def _backward(self, rows: slice, Q: Array, now: Array, wrench: Array | None) -> None:
        """Go over a piece from the variations `now` (6, U) at its end."""
        spin = hat(self.shape.slope.T[rows]), hat(self.shape.N.T[rows])
        self.N[rows] = now[3:]
        if wrench is not None:
            push = _integrated(Q, wrench[rows, 3:])
            self.N[rows] += push[-1] - push
        source = spin[0] @ self.N[rows] - spin[1] @ self.slope[rows]
        if wrench is not None:
            source += wrench[rows, :3]
        turn = _integrated(Q, source)
        self.M[rows] = now[:3] + turn[-1] - turn

    def _jump_back(self, e: int, now: Array, N: Array) -> Array:
        """Take the variations `now` (6, U) over a jump, beyond which the force N (3,) acts; return that
        before it.
        """
        jumps, y, Z = self.grid.jumps, self.shape.sections[e].copy(), self._sections[e].copy()
        R = y[15:].reshape(3, 3)
        if jumps.kind[e] == JOINT:
            arm = hat(R @ jumps.joints[jumps.row[e], :3, 3])
            now[:3] += arm @ now[3:] + hat(N) @ arm @ R @ Z[12:15]
            return N
        y[:6], Z[:6] = 0.0, 0.0
        apply_jumps(jumps, e, e + 1, self.c0, y, Z)
        now -= to_world(y, Z)[:6]
        return np.asarray(N - R @ y[3:6])

    def mismatch(self) -> Array:
        """Rows (U, U) of the tangent that belong to the nodes; those of the ends are zero."""
        grid, found = self.grid, np.zeros((self.grid.unknowns, self.grid.unknowns))
        m = np.swapaxes(self.R, 1, 2) @ (self.M + hat(self.shape.M.T) @ self.theta)
        for k, (_, to_moment, _, to_force, _) in enumerate(grid.matrices):
            for matrix, of, first in (
                (to_moment, m, grid.layout.moment_at[k]),
                (to_force, self.N, grid.layout.force_at[k]),
            ):
                rows = np.arange(first, first + 3 * len(matrix))
                values = matrix @ of[grid.rows[k]].reshape(matrix.shape[1], -1)
                found[rows] = -values.reshape(len(rows), grid.unknowns)
                found[rows, rows] += 1.0
        return found
