"""The algebraic equations of collocation on one grid: mismatch, exact tangent, and Newton's method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

from pliant.bvp.boundary_conditions import Supports, start_at_base, tip_conditions
from pliant.bvp.chain import Chain
from pliant.bvp.collocation.grid import Grid, Order
from pliant.bvp.collocation.integrals import (
    Shape,
    backward,
    forward,
    mismatch,
    new_shape,
    respond,
)
from pliant.bvp.collocation.tangent import Variations, to_body, to_world
from pliant.bvp.contract import LARGEST_TURN, Record, RejectedError
from pliant.bvp.rod_equations import write_law
from pliant.lie.so3 import hat
from pliant.lie.tuples import Array


class System:
    """Equations r(x) = 0 for x = (base, moments and forces at the nodes, wrench beyond the tip).

    A base has an unknown phi in each free direction, where no wrench must act. A tip that is held in
    any direction has the six conditions of `tip_conditions` and its wrench, world, as unknowns.
    grid, shape : on which, and what the last evaluation left.
    c0 : of the time rule, 0 at rest.
    """

    def __init__(self, chain: Chain, orders: Sequence[Order], supports: Supports) -> None:
        self.supports, self.free = supports, ~supports.held
        self.grid = Grid(chain, orders, (int(self.free.sum()), 0 if supports.tip_free else 6))
        jumps = len(self.grid.jumps.kind)
        self.shape: Shape = new_shape(self.grid.size, jumps)
        self._factor: tuple[Array, Array] | None = None
        self.c0 = 0.0
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
            forward(*data, y, x, shape)
            self._apply_own(x)
            backward(*data, tip, shape)
            mismatch(grid.layout, x, shape, r)
        else:
            respond(*data, y, tip, x, shape, r)
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
            write_law(self.c0, *grid.law, grid.table)
            own.linearise_stress(self.c0, before.T)
            forward(*data, self._base, x, shape)
            if np.abs(shape.strain - before).max() < 1e-13 * (1.0 + np.abs(before).max()):
                break
        self._slopes = own.apply_line_wrench(shape.states(), shape.strain.T)

    def _vary_own(self, var: Variations) -> Array:
        """Variations (G, 6, U) of the wrench of effects in plain Python, world."""
        back, states = np.swapaxes(var.R, 1, 2), self.shape.states()
        turn = back @ var.theta
        w, q = hat(states[:, 6:9]), hat(states[:, 9:12])
        twist = back @ var.W + w @ turn, back @ var.V + q @ turn
        change = self._slopes @ np.concatenate([turn, back @ var.p, *twist], axis=1)
        return np.concatenate([var.R @ change[:, :3], var.R @ change[:, 3:]], axis=1)

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
        grid, U, free = self.grid, self.unknowns, self.grid.base_unknowns
        var, base, tip = (
            Variations(grid, self.shape, self.c0),
            np.zeros((18, U)),
            np.zeros((6, U)),
        )
        base[:, :free] = self._base_variation[:, self.free]
        var.forward(to_world(self._base, base))
        wrench = var.line_wrench() if self.c0 != 0.0 or grid.follower.any() else None
        if grid.own is not None:
            wrench = self._vary_own(var) + (0.0 if wrench is None else wrench)
        if grid.tip_unknowns:
            tip[:, U - 6 :] = np.eye(6)
        var.backward(tip, self.tip_wrench(x)[3:], wrench)
        matrix = var.mismatch()
        if free:
            R, reaction = self._base[15:].reshape(3, 3), self.shape.reaction.reshape(2, 3)
            turned = var.reaction.reshape(2, 3, U) + hat(reaction) @ var.theta[0]
            matrix[:free] = (R.T @ turned).reshape(6, U)[self.free]
        if grid.tip_unknowns:
            y, r, var.tip[:6] = self._tip_state(x), np.zeros(6), tip
            tip_conditions(self.supports, y, to_body(y, var.tip), r, matrix[U - 6 :])
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

    def make_factor(self, there: bool) -> None:
        """Make room for a factor, if there is one."""
        U = self.unknowns
        self._factor = (np.zeros((U, U), order="F"), np.zeros(U, dtype=np.int32)) if there else None

    def remembered(self) -> list[Array]:
        """The factor and the state of the base."""
        return [*(self._factor or ()), self._base, self._base_variation]

    def correction(self, r: Array) -> Array:
        """Newton's correction -K^-1 r with the factor that is kept."""
        assert self._factor is not None
        return -np.asarray(lapack.dgetrs(*self._factor, r * self._weight)[0])

    def norm(self, r: Array) -> float:
        """Largest mismatch in its unit; infinite if any is not finite."""
        size = float(np.abs(r * self._weight).max())
        return size if size < np.inf else np.inf


def bent(system: System, d: Array) -> float:
    """Radians by which a correction d of the unknowns bends the rods in all."""
    grid = system.grid
    total = 0.0
    for k, (part, order) in enumerate(zip(grid.rows, grid.orders, strict=True)):
        first = int(grid.layout.moment_at[k])
        moment = d[first : first + 3 * order.moment].reshape(-1, 3)
        size = np.abs(moment).max(axis=0) @ grid.table[part, :3].mean(axis=0)
        total += float(size) * grid.chain.pieces[k].length
    return total + float(np.abs(d[: grid.base_unknowns]).sum())


def converge_nearby(
    system: System, x: Array, offset: Array, tolerance: float, record: Record
) -> Array:
    """Newton's method with a fresh tangent each time, to r(x) = offset, on the branch of x.

    Corrections must become smaller; what does not look like the neighbourhood of a solution is
    rejected, for a smaller load step.
    """
    r = system.evaluate(x) - offset
    size = first = system.norm(r)
    last = np.inf
    record.history.clear()
    for count in range(30):
        if size < tolerance and count:
            return x
        if not np.isfinite(size) or size > 1e6 * max(first, 1.0):
            raise RejectedError("the mismatch of internal loads grows")
        if not system.factorise(x):
            raise RejectedError("the tangent is singular")
        d = system.correction(r)
        bend = bent(system, d)
        if count and bend > 0.75 * last and bend > 0.05:
            raise RejectedError("the Newton corrections do not get smaller")
        if bend > 2.0 * LARGEST_TURN:
            raise RejectedError("the rods turn too far in one load step")
        last = bend
        x = x + d
        r = system.evaluate(x) - offset
        before, size = size, system.norm(r)
        record.iterations += 1
        record.residual = size
        record.history.append(size)
        if size > 0.3 * before and size < 1e3 * tolerance:
            return x  # as near as rounding allows
    raise RejectedError("Newton's method needs too many iterations")


def converge(system: System, guesses: list[Array], tolerance: float, record: Record) -> Array:
    """Newton's method from the best of some guesses, with a tangent that is kept while it serves.

    Returns the solution; raises RejectedError. Steps that make the mismatch larger are shortened.
    """
    found = [(system.evaluate(x), x) for x in guesses]
    sizes = [system.norm(r) for r, _ in found]
    best = int(np.argmin(sizes))
    (r, x), size = found[best], sizes[best]
    if best != len(guesses) - 1 or not system.factorised:
        system.evaluate(x)
    fresh = False
    record.history.clear()
    for count in range(40):
        if size < tolerance and count:
            return x
        if not system.factorised:
            if not system.factorise(x):
                raise RejectedError("the tangent is singular")
            fresh = True
        d = system.correction(r)
        trial = x + d
        new = system.evaluate(trial)
        now = system.norm(new)
        record.iterations += 1
        if now > 0.5 * size and now > tolerance:
            if fresh and now < 1e3 * tolerance:
                record.residual = min(now, size)
                return trial if now < size else x
            if not fresh:
                system.evaluate(x)
                system.forget()
                continue
            trial, new, now = _shortened(system, x, d, size)
        if now > 0.25 * size and now > tolerance:
            system.forget()
        fresh = False
        x, r, size = trial, new, now
        record.residual = size
        record.history.append(size)
    raise RejectedError("Newton's method needs too many iterations")


def _shortened(system: System, x: Array, d: Array, size: float) -> tuple[Array, Array, float]:
    """The longest of d, d/2, d/4 ... that makes the mismatch smaller."""
    share = 1.0
    while share > 1e-3:
        trial = x + share * d
        r = system.evaluate(trial)
        now = system.norm(r)
        if now < (1.0 - 0.1 * share) * size:
            return trial, r, now
        share *= 0.5
    raise RejectedError("no step makes the mismatch of internal loads smaller")
