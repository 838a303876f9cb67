"""The algebraic equations of collocation: unknowns to mismatch and exact tangent, on one grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

from pliant.bvp.chain import Chain
from pliant.bvp.collocation_balance import backward, mismatch, respond
from pliant.bvp.collocation_ends import Base, Tip
from pliant.bvp.collocation_grid import Grid, Order
from pliant.bvp.collocation_kernels import Shape, forward, new_shape
from pliant.bvp.collocation_tangent import (
    Variation,
    new_variation,
    vary_backward,
    vary_forward,
    vary_mismatch,
)
from pliant.lie.tuples import Array


class System:
    """Equations r(x) = 0 for x = (base, moments and forces at the nodes, reactions at the tip).

    grid, shape : on which, and what the last evaluation left.  moving : False at rest.
    """

    def __init__(self, chain: Chain, orders: Sequence[Order], base: Base) -> None:
        self.tip = Tip(chain)
        self.base = base
        self.grid = Grid(chain, orders, (int(base.free.sum()), len(self.tip)))
        self.events = len(self.grid.events.kind)
        self.shape: Shape = new_shape(self.grid.size, self.events)
        self._variation: Variation | None = None
        self._factor: tuple[Array, Array] | None = None
        self.c0 = 0.0
        self.moving = False
        self.scale = self._scale(chain)
        self._weight = 1.0 / self.scale

    @property
    def unknowns(self) -> int:
        """Length of x."""
        return self.grid.unknowns

    def _scale(self, chain: Chain) -> Array:
        """Units (U,) of the equations."""
        found = self.grid.scale()
        found[: self.grid.base_unknowns] = chain.scale[self.base.free]
        gap = np.array([1.0] * 3 + [chain.length] * 3)[self.tip.rows]
        found[self.unknowns - len(self.tip) :] = gap
        return found

    def parts(self, x: Array) -> tuple[Array, Array]:
        """Base unknowns and tip reactions of x."""
        return x[: self.grid.base_unknowns], x[self.unknowns - len(self.tip) :]

    def evaluate(self, x: Array) -> Array:
        """Mismatch r (U,) of x; leaves the shape."""
        grid, shape = self.grid, self.shape
        data = (grid.layout, grid.fields, grid.events, self.c0)
        r = np.empty(self.unknowns)
        phi, reaction = self.parts(x)
        base = self.base.section(phi)
        if len(reaction):
            forward(*data, self.moving, base, x, shape)
            backward(*data, self.tip.wrench(shape.tip, reaction), shape)
            mismatch(grid.layout, x, shape, r)
            r[self.unknowns - len(reaction) :] = self.tip.gap(shape.tip)
        else:
            respond(*data, self.moving, base, x, shape, r)
        if len(phi):
            R = base[:9].reshape(3, 3)
            wrench = np.concatenate([R.T @ shape.reaction[:3], R.T @ shape.reaction[3:]])
            r[: len(phi)] = wrench[self.base.free]
        return r

    def tangent(self, x: Array) -> Array:
        """Derivative (U, U) of r at x, where it was evaluated last."""
        grid, shape, U = self.grid, self.shape, self.unknowns
        if self._variation is None:
            self._variation = new_variation(grid.size, self.events, U)
        var = self._variation
        phi, reaction = self.parts(x)
        data = (grid.layout, grid.fields, grid.events, self.c0)
        vary_forward(*data, self.moving, self.base.vary(phi, U), shape, var)
        tip, gap = self.tip.vary(shape.tip, reaction, var.tip)
        force = self.tip.wrench(shape.tip, reaction)[3:]
        turning = self.moving or grid.follows()
        vary_backward(*data, turning, tip, force, shape, var)
        matrix = np.zeros((U, U))
        vary_mismatch(grid.layout, shape, var, matrix)
        if len(phi):
            R = self.base.section(phi)[:9].reshape(3, 3)
            theta = var.theta[0]
            rows = np.zeros((6, U))
            for part in (0, 3):
                turned = np.cross(shape.reaction[part : part + 3], theta, axisb=0).T
                rows[part : part + 3] = R.T @ (var.reaction[part : part + 3] + turned)
            matrix[: len(phi)] = rows[self.base.free]
        if len(reaction):
            matrix[U - len(reaction) :] = gap
        return matrix

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
