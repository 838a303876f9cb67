"""Equilibria and motions by Chebyshev collocation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bvp.boundary_conditions import make_supports
from pliant.bvp.chain import BODY, Chain
from pliant.bvp.collocation.chebyshev import between, points
from pliant.bvp.collocation.grid import Order, Policy, moved_unknowns, on_grid
from pliant.bvp.collocation.integrals import Shape, in_body
from pliant.bvp.collocation.system import System, bent
from pliant.bvp.contract import (
    LARGEST_TURN,
    BasePath,
    Progress,
    Record,
    State,
    StepError,
    StrongSolver,
    TimeRule,
    Watch,
    arrays_in,
    blank_state,
)
from pliant.bvp.energy_balance import accumulate, transfer_powers
from pliant.bvp.history import (
    Discrete,
    History,
    append_instant,
    base_row,
    begin_history,
    history_of,
    move_base,
    write_histories,
)
from pliant.bvp.prediction import (
    HOLD,
    LINE,
    Past,
    append,
    new_past,
    predict_values,
    restart,
)
from pliant.bvp.states import interpolated
from pliant.engine.newton import NewtonError
from pliant.lie import so3
from pliant.lie.tuples import Array
from pliant.model import BaseState, ConvergenceError

LARGEST_GROWTH = 8
"""Times that points may be added for one instant."""
LEAST_KNOTS = 49
MORE_POINTS = 4
"""Points that `finer` adds."""
RESOLVED = 1e-6
"""Coefficients left out, relative to wrench and strain, at which no error is large. A chain that bends
by several turns multiplies them by ten or so, one that is about to buckle by as much again.
"""
PATIENCE = 25
"""Time steps during which fewer points would do before they are taken away."""


class CollocationSolver(StrongSolver):
    """Equilibria and motions of one chain by Chebyshev collocation.

    policy, moving : which numbers of points are given and which are chosen, at rest and in motion.
    """

    smallest, growth = 1e-4, 1.5

    def __init__(self, chain: Chain, policy: Policy, moving: Policy | None = None) -> None:
        super().__init__(chain)
        self.policy, self.moving = policy, moving or policy
        self.supports = make_supports(chain)
        self._system = self._new_system(self._first_orders())
        self._x = np.zeros(self._system.unknowns)
        self._history: History | None = None
        self._shape: Shape | None = None
        self._given: State | None = None
        self._idle = 0

    def _first_orders(self) -> list[Order]:
        return [self.policy.first(p.rod.theory == "kirchhoff") for p in self.chain.pieces]

    def _new_system(self, orders: list[Order]) -> System:
        return System(self.chain, orders, self.supports)

    def is_resolved(self) -> bool:
        """Whether the coefficients that are left out are small, by the decay of those that are not."""
        grid, shape = self._system.grid, self._system.shape
        policy = Policy(None, None, None, RESOLVED)
        return policy.grown(self.orders, policy.wanted(grid, shape)) is None

    def improved(
        self, found: State, values: Mapping[str, Any], base: BasePath, tolerance: float
    ) -> tuple[State, float]:
        """Return the equilibrium with more points, on which spectral errors are far smaller."""
        most = Order(*(max(counts) + MORE_POINTS for counts in zip(*self.orders, strict=True)))
        policy = Policy(most.force, most.moment, most.grid, self.policy.tolerance)
        solver = _NearbySolver(self.chain, policy)
        return solver.statics(values, replace(found, discrete=None), base, tolerance), 1.0

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
        made = None if state is None else state.discrete
        if not (isinstance(made, Discrete) and isinstance(made.points[0], Order)):
            made = None
        orders = self._first_orders() if made is None else made.points
        if self._system.grid.orders != orders:
            self._system = self._new_system(orders)
        self._system.forget_factor()
        return made if made is not None and len(made.x) == self.unknowns else None

    # -- equilibria --------------------------------------------------------------------------

    def statics(
        self,
        values: Mapping[str, Any],
        start: State | None,
        base: BasePath,
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
        system, self._path = self._system, base
        self.supports.pose[:] = self.chain.base.pose if start is None else start.pose[0]
        self.supports.twist[:] = 0.0
        system.c0 = 0.0
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
        state = self._follow(progress, watch)
        if len(self.record.levels) > 1:
            self.record.rescues["load steps"] = len(self.record.levels)
        history = self._still_history()
        state.discrete = Discrete(self.orders, history, state.velocity.copy(), self._x.copy())
        self.begin(state)
        return state

    def _apply(self, share: float) -> None:
        self._system.grid.load(self._values, share)
        self._system.grid.rest()
        if self.supports.clamped:
            self.supports.pose[:] = self._path.pose(share)

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
                s = points(count, piece.a, piece.b) if count else np.zeros(0)
                here = interpolated(world, np.full(count, k), s, ("wrench",), False)
                x[first : first + 3 * count] = here.wrench[:, part].ravel()
        if grid.tip_unknowns:
            self._system.evaluate(x)
            R, shape = state.pose[-1, :3, :3], self._system.shape
            x[-6:-3] = R @ state.wrench[-1, :3] - shape.M[:, -1]
            x[-3:] = R @ state.wrench[-1, 3:] - shape.N[:, -1]
        return x

    def _keep(self) -> tuple[Any, ...]:
        """System, unknowns, mismatch to be closed and base at the present load level."""
        return self._system, self._x, self._left, self.supports.pose.copy(), self._good

    def _restore(self, kept: tuple[Any, ...]) -> None:
        """Come back to a load level."""
        self._system, self._x, self._left, self.supports.pose[:], self._good = kept

    def _reach(self, level: float, target: float) -> State:
        """Solve at a load level and add points until the solution is resolved."""
        for attempt in range(LARGEST_GROWTH):
            system, x = self._system, self._x
            self._apply(target if self._share == 0.0 else 1.0)
            offset = (1.0 - target) * self._left
            self._x = system.find_equilibrium(x, offset, self._tolerance, self.record)
            if attempt == 0 and bent(system, self._x - x) > LARGEST_TURN:
                raise NewtonError("the rods turn too far in one load step")
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

    def _give_up(self, level: float, reason: str) -> ConvergenceError:
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

    def past(self) -> History:
        """The history of the motion."""
        assert self._history is not None
        return self._history

    def _still_history(self) -> History:
        """The present shape of the system, at rest, as a history."""
        strain = np.ascontiguousarray(self._system.shape.strain.T)
        body, pose = np.zeros_like(self._system.grid.jumps.history), self.supports.pose
        return begin_history(strain, np.zeros_like(strain), body, pose, np.zeros(6))

    def _make_state(self, shape: Shape, strain_rate: Array) -> State:
        """The state at knots: Chebyshev points again, dense enough for cubic interpolation."""
        grid, pieces = self._system.grid, self.chain.pieces
        counts = [max(LEAST_KNOTS, 3 * order.grid) for order in grid.orders]
        places = [points(n, piece.a, piece.b) for n, piece in zip(counts, pieces, strict=True)]
        state = blank_state(np.repeat(np.arange(len(counts)), counts), np.concatenate(places))
        wrench, velocity = in_body(shape, shape.M, shape.N), in_body(shape, shape.W, shape.V)
        fields = np.concatenate(
            [shape.h.T, shape.p.T, wrench, shape.strain.T, velocity, strain_rate], axis=1
        )
        ends = np.cumsum(counts)
        state.s[ends - 1] = [piece.b for piece in pieces]
        values = np.concatenate(
            [
                between(order.grid, n) @ fields[rows]
                for order, n, rows in zip(grid.orders, counts, grid.rows, strict=True)
            ]
        )
        h = values[:, :4] / np.linalg.norm(values[:, :4], axis=1, keepdims=True)
        state.pose[:, :3, :3], state.pose[:, :3, 3] = so3.from_quaternion(h), values[:, 4:7]
        parts = np.split(values[:, 7:], 4, axis=1)
        state.wrench, state.strain, state.velocity, state.strain_rate = map(np.array, parts)
        return state

    # -- motions ----------------------------------------------------------------------------

    def begin(self, state: State) -> None:
        """Take `state` as the present one; strain and velocity count, their rates do not."""
        made, self._given = self._use_points_of(state), None
        grid = self._system.grid
        if made is not None and np.array_equal(made.velocity, state.velocity):
            self._history, self._x = made.history.copy(), made.x.copy()
        else:
            self._given, self._x = (
                state,
                self._unknowns_of(state) if made is None else made.x.copy(),
            )
            self._history = history_of(state, grid)
        self._history.base[:], self._history.twist[:] = state.pose[0], state.velocity[0]
        self._shape, self._present, self._idle, self.acting = None, state, 0, None
        self.totals[:] = 0.0
        self._balance = grid.balance(self.totals)
        self._past: Past = new_past(self.unknowns)
        restart(self._past, self._system.reaction(), self._x)

    def step(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        keep_older: bool = False,
    ) -> None:
        """Go to the instant `step` seconds on, where `values` act and a clamped base is as `base` says.

        keep_older : let the state two steps back stay what it is. Raises StepError and changes
        nothing if the step does not converge.
        """
        if self._history is None:
            raise RuntimeError("step() needs a present state: call begin(state) or statics() first")
        kept = self._system, self._history, self._balance, self._past, self._x
        wanted, guess = None, self._expect_jump(values)
        try:
            for _ in range(LARGEST_GROWTH):
                x = self._solve(rule, values, base, guess)
                if self.moving.fixed:
                    break
                wanted = self.moving.wanted(self._system.grid, self._system.shape)
                grown = self.moving.grown(self.orders, wanted)
                if grown is None:
                    break
                guess = self._regrid(grown, x)
        except NewtonError as error:
            self._system, self._history, self._balance, self._past, self._x = kept
            self._system.forget_factor()
            raise StepError(
                f"a time step did not converge by collocation: {error}. Try a smaller time step, or "
                "more nodes and history_nodes.",
                self.state(),
            ) from None
        self.acting = values
        self._accept(rule, step, x, keep_older)
        self._shrink(wanted)

    def _expect_jump(self, values: Mapping[str, Any]) -> Array | None:
        """Unknowns (U,) after inputs that change the law have jumped; None if they have not."""
        grid, x = self._system.grid, self._x.copy()
        assert self._history is not None
        grid.load(values)
        if not grid.loads_move([self.acting or {}, values]):
            return None
        here = interpolated(self.state(), grid.piece, grid.s, ("wrench",))
        change = self._jump(grid, self._history, here.wrench)
        if change is None:
            return None
        force = np.einsum("kij,kj->ki", here.pose[:, :3, :3], change[:, 3:])
        for k, (_, to_moment, _, to_force, _) in enumerate(grid.matrices):
            for matrix, of, first in (
                (to_moment, change[:, :3], grid.layout.moment_at[k]),
                (to_force, force, grid.layout.force_at[k]),
            ):
                x[first : first + 3 * len(matrix)] += (matrix @ of[grid.rows[k]]).ravel()
        return x

    def _solve(
        self, rule: TimeRule, values: Mapping[str, Any], base: BaseState, guess: Array | None
    ) -> Array:
        """Set up the equations of the next instant and solve them."""
        system, grid, history = self._system, self._system.grid, self._history
        assert history is not None
        grid.load(values)
        weights = rule.weights()
        write_histories(weights, history, grid.law, grid.table, grid.jumps.history)
        move_base(weights, history, self.supports, base_row(base))
        if system.c0 != rule.c0:
            system.forget_factor()
        system.c0 = rule.c0
        guesses = [self._x if guess is None else guess]
        if guess is None and self._past.counts[0] > 1:
            guesses = [np.empty(self.unknowns) for _ in range(3)]
            for x, row in zip(guesses, (self._past.counts[2], HOLD, LINE), strict=True):
                predict_values(self._past, row, 0, x)
        return system.take_step(guesses, self.moving.tolerance, self.record)

    def _accept(self, rule: TimeRule, step: float, x: Array, keep_older: bool) -> None:
        system, grid, shape = self._system, self._system.grid, self._system.shape
        assert self._history is not None
        y, wrench = system.base_state(x), system.reaction()
        places = shape.states()
        velocity, strain = places[:, 6:12].copy(), np.ascontiguousarray(shape.strain.T)
        data = grid.table, grid.jumps.history, strain, velocity, self._body_velocities()
        keep_before = np.array([keep_older])
        append_instant(rule.weights(), keep_before, *data, y, self._history)
        if grid.own is not None:
            pairs = enumerate(strain)
            self._balance.own_stress[:] = [grid.own.stress(k, rule.c0, e)[0] for k, e in pairs]
        shares = np.array(rule.shares(step))
        accumulate(self._balance, shares, grid.table, grid.jumps, places, wrench, self._history)
        self._x = x
        append(self._past, self.chain.scale, keep_before, wrench, x)
        self._shape = Shape(*(field.copy() for field in shape))
        self._present = self._given = None

    def _regrid(self, orders: list[Order], x: Array) -> Array:
        """Go over to other numbers of points; returns x on the new nodes."""
        old = self._system
        new = self._system = self._new_system(orders)
        new.shape.h[:] = on_grid(old.grid, new.grid, old.shape.h.T).T
        assert self._history is not None

        def transfer(values: Array) -> Array:
            return on_grid(old.grid, new.grid, values)

        if self._given is not None:
            self._history = history_of(self._given, new.grid)
        else:
            self._history = self._history.on(transfer)
        balance = new.grid.balance(self.totals)
        transfer_powers(self._balance, balance, transfer)
        past = new_past(new.unknowns)
        for k, values in enumerate(self._past.values):
            past.values[k] = moved_unknowns(old.grid, new.grid, values)
        self._past, self._balance = self._past._replace(values=past.values), balance
        self._x = moved_unknowns(old.grid, new.grid, self._x)
        return moved_unknowns(old.grid, new.grid, x)

    def _shrink(self, wanted: list[Order] | None) -> None:
        """Take points away that have not been needed for a while."""
        fewer = None if wanted is None else self.moving.shrunk(self.orders, wanted)
        self._idle = 0 if fewer is None else self._idle + 1
        if fewer is not None and self._idle >= PATIENCE:
            self.state()
            self._regrid(fewer, self._x)
            self._idle = 0

    def points(self) -> list[Array]:
        """Numbers of points of each piece."""
        return [np.array(order) for order in self.orders]

    def use_points(self, points: list[Array]) -> None:
        """Work on these numbers of points from now on."""
        orders = [Order(*map(int, order)) for order in points]
        if self.orders != orders:
            self._system = self._new_system(orders)
        grid = self._system.grid
        self._history, self._x = self._still_history(), np.zeros(self.unknowns)
        self._balance, self._past = grid.balance(self.totals), new_past(self.unknowns)

    def remembered(self) -> list[Array]:
        """Histories, predictions, the last shape and its factor, and energy of the motion."""
        grid, system = self._system.grid, self._system
        parts = (self._history, self._past, self._balance, self.supports, system.shape, grid.jumps)
        return arrays_in(*parts, grid.table, self._x, *system.remembered())

    def notes(self) -> dict[str, Any]:
        """Time rule, steps with more points than needed, and whether there is a factor."""
        system = self._system
        own = {"idle": self._idle, "c0": system.c0, "factorised": system.factorised}
        return {**super().notes(), **own}

    def resume(self, state: State, notes: Mapping[str, Any], acting: Mapping[str, Any]) -> None:
        """Take the notes of a motion."""
        super().resume(state, notes, acting)
        self._given = None
        self._idle, self._system.c0 = notes["idle"], notes["c0"]
        self._system.make_factor(notes["factorised"])

    def _make_present(self) -> State:
        assert self._shape is not None and self._history is not None
        return self._make_state(self._shape, self._history.strain_rate)

    def _discrete(self, state: State) -> Discrete:
        """The history on the grid and the unknowns."""
        assert self._history is not None
        return Discrete(self.orders, self._history.copy(), state.velocity.copy(), self._x.copy())


class _NearbySolver(CollocationSolver):
    """Finds equilibria near a given one only."""

    smallest = 0.1
