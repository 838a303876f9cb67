"""Equilibria by Chebyshev collocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.bvp.boundary_conditions import make_supports
from pliant.bvp.chain import BODY, Chain
from pliant.bvp.collocation import chebyshev
from pliant.bvp.collocation.grid import Order, moved_unknowns, on_grid
from pliant.bvp.collocation.kinematics import Shape, in_body
from pliant.bvp.collocation.newton import bent, converge_nearby
from pliant.bvp.collocation.order import Policy
from pliant.bvp.collocation.system import System
from pliant.bvp.contract import (
    Progress,
    Record,
    RejectedError,
    State,
    StrongSolver,
    Watch,
    blank_state,
)
from pliant.bvp.history import (
    History,
    begin_history,
)
from pliant.bvp.load_continuation import LARGEST_TURN, follow
from pliant.bvp.states import interpolated
from pliant.lie import quaternion
from pliant.lie.tuples import Array
from pliant.model import ConvergenceError

LARGEST_GROWTH = 8
"""Times that points may be added for one instant."""
LEAST_KNOTS = 49


class Discrete(NamedTuple):
    """A state on grids of these orders: history, unknowns, and the velocity (K, 6) at the knots that
    belongs to it.
    """

    orders: list[Order]
    history: History
    x: Array
    velocity: Array


class CollocationEquilibria(StrongSolver):
    """Equilibria of one chain by Chebyshev collocation.

    policy, moving : which numbers of points are given and which are chosen, at rest and in motion.
    """

    smallest, growth = 1e-4, 1.5

    def __init__(self, chain: Chain, policy: Policy, moving: Policy | None = None) -> None:
        self.chain, self.policy, self.moving = chain, policy, moving or policy
        self.record = Record()
        self.supports = make_supports(chain)
        self._system = self._new_system(self._first_orders())
        self._x = np.zeros(self._system.unknowns)
        self._history: History | None = None
        self._shape: Shape | None = None
        self._state: State | None = None
        self._given: State | None = None
        self._idle = 0
        self._totals = np.zeros(2)

    def _first_orders(self) -> list[Order]:
        return [self.policy.first(p.rod.theory == "kirchhoff") for p in self.chain.pieces]

    def _new_system(self, orders: list[Order]) -> System:
        return System(self.chain, orders, self.supports)

    @property
    def unknowns(self) -> int:
        """Numbers that Newton's method solves for at present."""
        return self._system.unknowns

    @property
    def orders(self) -> list[Order]:
        """Numbers of points of each piece at present."""
        return list(self._system.grid.orders)

    def _use_points_of(self, state: State | None) -> Discrete | None:
        """Take the points that made a state, if collocation did, or those to begin with."""
        made = state.discrete if state is not None else None
        made = made if isinstance(made, Discrete) else None
        orders = self._first_orders() if made is None else made.orders
        if self._system.grid.orders != orders:
            self._system = self._new_system(orders)
        self._system.forget()
        return made if made is not None and len(made.x) == self.unknowns else None

    # -- equilibria --------------------------------------------------------------------------

    def statics(
        self,
        values: Mapping[str, Any],
        start: State | None,
        base: Array,
        tolerance: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> State:
        """Return the equilibrium for input values, on the branch from `start` (default: unloaded).

        From rest the loads grow; from another state all loads act. The mismatch that is there, also the
        gap at a held tip, goes to zero on the way.
        """
        self.record = Record()
        made = self._use_points_of(start)
        system, free = self._system, self._system.free.any()
        pose = self.chain.base.pose if start is None else start.pose[0]
        self.supports.pose[:], self.supports.twist[:] = (pose if free else base), 0.0
        system.moving, system.c0 = False, 0.0
        self._x = np.zeros(system.unknowns)
        self._values, self._tolerance, self._good = values, tolerance, start
        self._share = 0.0 if start is None else 1.0
        self._apply(self._share)
        if made is not None:
            self._x = made.x.copy()
            self._x[: system.grid.base_unknowns] = 0.0
        elif start is not None:
            self._x = self._unknowns_of(start)
        self._left = system.evaluate(self._x)
        state = follow(self, progress, watch)
        if len(self.record.levels) > 1:
            self.record.rescues["load steps"] = len(self.record.levels)
        history = self._still_history()
        state.discrete = Discrete(self.orders, history, self._x.copy(), state.velocity.copy())
        self.begin(state)
        return state

    def _apply(self, share: float) -> None:
        self._system.grid.load(self._values, share)
        self._system.grid.rest()

    def _unknowns_of(self, state: State) -> Array:
        """Unknowns that a state means; the wrench beyond the tip is what the loads there leave."""
        grid, x = self._system.grid, np.zeros(self.unknowns)
        force = np.einsum("kij,kj->ki", state.pose[:, :3, :3], state.wrench[:, 3:])
        world = State(*state.__dict__.values())
        world.wrench = np.concatenate([state.wrench[:, :3], force], axis=1)
        for k, (piece, order) in enumerate(zip(self.chain.pieces, grid.orders, strict=True)):
            for count, first, part in (
                (order.moment, grid.layout.moment_at[k], slice(3)),
                (order.force, grid.layout.force_at[k], slice(3, 6)),
            ):
                s = chebyshev.points(count, piece.a, piece.b) if count else np.zeros(0)
                here = interpolated(world, np.full(count, k), s, ("wrench",), False)
                x[first : first + 3 * count] = here.wrench[:, part].ravel()
        if grid.tip_unknowns:
            self._system.evaluate(x)
            R, shape = state.pose[-1, :3, :3], self._system.shape
            x[-6:-3] = R @ state.wrench[-1, :3] - shape.M[:, -1]
            x[-3:] = R @ state.wrench[-1, 3:] - shape.N[:, -1]
        return x

    def keep(self) -> tuple[Any, ...]:
        """System, unknowns, mismatch to be closed and base at the present load level."""
        return self._system, self._x, self._left, self.supports.pose.copy(), self._good

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Come back to a load level."""
        self._system, self._x, self._left, self.supports.pose[:], self._good = kept

    def reach(self, level: float, target: float) -> State:
        """Solve at a load level and add points until the solution is resolved."""
        for attempt in range(LARGEST_GROWTH):
            system, x = self._system, self._x
            self._apply(target if self._share == 0.0 else 1.0)
            offset = (1.0 - target) * self._left
            self._x = converge_nearby(system, x, offset, self._tolerance, self.record)
            if attempt == 0 and bent(system, self._x - x) > LARGEST_TURN:
                raise RejectedError("the rods turn too far in one load step")
            grown = self.policy.grown(self.orders, self.policy.wanted(system.grid, system.shape))
            if grown is None:
                break
            self._system = self._new_system(grown)
            new = self._system.grid
            self._system.shape.h[:] = on_grid(system.grid, new, system.shape.h.T).T
            self._left = moved_unknowns(system.grid, new, self._left)
            self._x = moved_unknowns(system.grid, new, self._x)
        count = self._system.grid.base_unknowns
        if count:  # the pose of a free base is the new reference
            y = self._system.base_state(self._x)
            self.supports.pose[:3, :3], self.supports.pose[:3, 3] = y[15:].reshape(3, 3), y[12:15]
            self._x = self._x.copy()
            self._x[:count] = 0.0
        self._good = self._make_state(self._system.shape, np.zeros((self._system.grid.size, 6)))
        return self._good

    def give_up(self, level: float, reason: str) -> ConvergenceError:
        """The error of a branch that ends at a load level, with the last good state."""
        names = ", ".join(repr(rod.name) for rod in self.chain.rods)
        if level == 0.0 and "singular" in reason:
            text = (
                f"no equilibrium was found for rods {names} by collocation: {reason}. "
                "Clamp the base (base='world') or add a constraint that holds the free part."
            )
        else:
            text = (
                f"no equilibrium was found beyond {100 * level:.1f} % of the load for rods {names} "
                f"by collocation: {reason}. The rods may snap or buckle there, or no equilibrium "
                "carries the load. Try a smaller load, more nodes, or simulate() from the last good "
                "state."
            )
        return ConvergenceError(text, self._good)

    # -- states ------------------------------------------------------------------------------

    def _body_velocities(self) -> Array:
        """Body twists (B, 6) of the sections that carry bodies."""
        return self._system.shape.sections[self._system.grid.jumps.kind == BODY, 6:12]

    def _still_history(self) -> History:
        """The present shape of the system, at rest, as a history."""
        strain = np.ascontiguousarray(self._system.shape.strain.T)
        body, pose = np.zeros_like(self._system.grid.jumps.history), self.supports.pose
        return begin_history(strain, np.zeros_like(strain), body, pose, np.zeros(6))

    def _make_state(self, shape: Shape, strain_rate: Array) -> State:
        """The state at knots: Chebyshev points again, dense enough for cubic interpolation."""
        grid, pieces = self._system.grid, self.chain.pieces
        counts = [max(LEAST_KNOTS, 3 * order.grid) for order in grid.orders]
        places = [
            chebyshev.points(n, piece.a, piece.b) for n, piece in zip(counts, pieces, strict=True)
        ]
        state = blank_state(np.repeat(np.arange(len(counts)), counts), np.concatenate(places))
        wrench, velocity = in_body(shape, shape.M, shape.N), in_body(shape, shape.W, shape.V)
        fields = np.concatenate(
            [shape.h.T, shape.p.T, wrench, shape.strain.T, velocity, strain_rate], axis=1
        )
        ends = np.cumsum(counts)
        state.s[ends - 1] = [piece.b for piece in pieces]
        values = np.concatenate(
            [
                chebyshev.between(order.grid, n) @ fields[rows]
                for order, n, rows in zip(grid.orders, counts, grid.rows, strict=True)
            ]
        )
        h = values[:, :4] / np.linalg.norm(values[:, :4], axis=1, keepdims=True)
        state.pose[:, :3, :3], state.pose[:, :3, 3] = quaternion.to_matrix(h), values[:, 4:7]
        parts = np.split(values[:, 7:], 4, axis=1)
        state.wrench, state.strain, state.velocity, state.strain_rate = map(np.array, parts)
        return state
