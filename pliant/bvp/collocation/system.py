"""The algebraic equations of collocation on one grid: mismatch, tangent, programs that solve them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

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
from pliant.bvp.contract import LARGEST_TURN, Record
from pliant.bvp.rod_equations import write_law
from pliant.engine import loops, modes
from pliant.engine.newton import Newton, NewtonError, Policy
from pliant.lie.so3 import hat
from pliant.lie.tuples import Array

EQUILIBRIUM = Policy(iterations=40, least=1, near=np.inf, progress=0.3, patience=1, lost=1e6)
STEP = replace(EQUILIBRIUM, contraction=0.25, shortest=1e-3, progress=0.5)
"""How Newton's method works at rest, where each correction has a tangent of its own, and in motion."""
_ROUNDING = 1e3
"""Times the tolerance at which a mismatch may stay that rounding does not let fall."""


class System(Newton):
    """Equations r(x) = 0 for x = (base, moments and forces at the nodes, wrench beyond the tip).

    A base has an unknown phi in each free direction, where no wrench must act. A tip that is held in
    any direction has the six conditions of `tip_conditions` and its wrench, world, as unknowns.
    grid, shape : on which, and what the last evaluation left.
    c0 : of the time rule, 0 at rest.  x : iterate (U,) of Newton's method.  offset : (U,) mismatch that
    is sought.
    """

    reasons: ClassVar[Mapping[int, str]] = {
        loops.INFINITE: "the mismatch of internal loads grows",
        loops.RAN_AWAY: "the mismatch of internal loads grows",
        loops.SINGULAR: "the tangent is singular",
        loops.SLOW: "Newton's method needs too many iterations",
        loops.WORSE: "no step makes the mismatch of internal loads smaller",
    }

    def __init__(self, chain: Chain, orders: Sequence[Order], supports: Supports) -> None:
        super().__init__(EQUILIBRIUM, np.zeros(loops.FLAGS, dtype=np.int64))
        self.supports, self.free = supports, ~supports.held
        self.grid = Grid(chain, orders, (int(self.free.sum()), 0 if supports.tip_free else 6))
        jumps = len(self.grid.jumps.kind)
        self.shape: Shape = new_shape(self.grid.size, jumps)
        self._factor: tuple[Array, Array] | None = None
        self.c0 = 0.0
        self.units = self.grid.scale()
        self.units[: self.grid.base_unknowns] = chain.scale[self.free]
        self.units[self.unknowns - self.grid.tip_unknowns :] = supports.units[1][
            : self.grid.tip_unknowns
        ]
        self._weight = 1.0 / self.units
        self._base, self._base_variation = np.zeros(24), np.zeros((18, 6))
        self.x, self.offset = np.zeros(self.unknowns), np.zeros(self.unknowns)
        self._bend = np.inf
        """Radians that the last correction bends the rods by, in all."""

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

    @property
    def factorised(self) -> bool:
        """True if a factor is kept."""
        return bool(self.counts[loops.THERE])

    def make_factor(self, there: bool) -> None:
        """Make room for a factor, if there is one."""
        U = self.unknowns
        self._factor = (np.zeros((U, U), order="F"), np.zeros(U, dtype=np.int32)) if there else None
        self.counts[loops.THERE] = there

    def remembered(self) -> list[Array]:
        """The factor, the state of the base, and what Newton's method has noted."""
        factor = self._factor if self.factorised else None
        return [*(factor or ()), self._base, self._base_variation, self.numbers, self.counts]

    def norm(self, r: Array) -> float:
        """Largest mismatch in its unit; infinite if any is not finite."""
        size = float(np.abs(r * self._weight).max())
        return size if size < np.inf else np.inf

    # -- Newton's method ---------------------------------------------------------------------

    def find_equilibrium(self, x: Array, offset: Array, tolerance: float, record: Record) -> Array:
        """Solve r(x) = offset on the branch of x; raises NewtonError.

        What does not look like the neighbourhood of a solution is rejected, for a smaller load step.
        """
        self.x, self.offset = x, offset
        row = self._row()
        row[loops.INSPECT] = self.guarded(self._inspect)
        self._set_policy(EQUILIBRIUM, tolerance)
        self.forget_factor()
        return self._finish(self._loops.newton(row, *self.control), record)

    def take_step(self, guesses: Sequence[Array], tolerance: float, record: Record) -> Array:
        """Solve r(x) = 0 from the first of some guesses that leads there; raises NewtonError."""
        row = self._row()
        self.offset = np.zeros(self.unknowns)

        def begin(guess: Array) -> None:
            self.x = guess

        places = (loops.FIRST_GUESS, loops.SECOND_GUESS, loops.LAST_GUESS)
        for place, guess in zip(places, guesses, strict=False):
            row[place] = partial(begin, guess)
        self.counts[loops.KNOWS_LAST] = 1 if len(guesses) == len(places) else -1
        self._set_policy(STEP, tolerance)
        return self._finish(self._loops.solve_step(row, *self.control), record)

    @property
    def _loops(self) -> Any:
        return modes.uncompiled(loops.__name__)

    def _set_policy(self, policy: Policy, tolerance: float) -> None:
        self.use(policy)
        self.numbers[loops.TOLERANCE] = tolerance
        self.numbers[loops.STALLED] = _ROUNDING * tolerance
        self.problem = ""

    def _finish(self, end: int, record: Record) -> Array:
        """The solution (U,), unless there is none."""
        record.iterations += self.iterations
        self.iterations = 0
        self.check(end)
        record.residual, record.history = float(self.numbers[loops.SIZE]), self.sizes[1:]
        return self.x

    def _row(self) -> list[Any]:
        """The programs of Newton's method."""
        row: list[Any] = [None] * loops.PROGRAMS
        row[loops.RESIDUAL] = row[loops.TANGENT] = self._find_residual
        row[loops.FACTORISE], row[loops.SOLVE] = self._factorise, self._solve
        row[loops.MOVE] = self._move
        return row

    def _find_residual(self) -> None:
        self._r = self.evaluate(self.x) - self.offset
        self.numbers[loops.SIZE] = self.norm(self._r)

    def _factorise(self) -> None:
        """Factorise the tangent at x, where it was evaluated last."""
        lu, pivots, info = lapack.dgetrf(self.tangent(self.x) / self.units[:, None], overwrite_a=1)
        self._factor = (lu, pivots)
        diagonal = np.abs(np.diag(lu))
        good = info == 0 and np.isfinite(lu).all() and diagonal.min() > 1e-14 * diagonal.max()
        self.flags[loops.NEGATIVE] = 0 if good else -1

    def _solve(self) -> None:
        """Find Newton's correction -K^-1 r with the factor that is kept."""
        assert self._factor is not None
        self._kept = self.x
        self._step = -np.asarray(lapack.dgetrs(*self._factor, self._r * self._weight)[0])

    def _inspect(self) -> None:
        bend, last = bent(self, self._step), self._bend if self.counts[loops.SIZES] > 1 else np.inf
        if bend > 0.75 * last and bend > 0.05:
            raise NewtonError("the Newton corrections do not get smaller")
        if bend > 2.0 * LARGEST_TURN:
            raise NewtonError("the rods turn too far in one load step")
        self._bend = bend

    def _move(self) -> None:
        self.x = self._kept + self.numbers[loops.PART] * self._step


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
