"""Motions by Chebyshev collocation, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.bvp.chain import BODY
from pliant.bvp.collocation.equilibria import LARGEST_GROWTH, CollocationEquilibria, Discrete
from pliant.bvp.collocation.grid import Order, moved_unknowns, on_grid
from pliant.bvp.collocation.kinematics import Shape, in_body
from pliant.bvp.collocation.newton import converge
from pliant.bvp.contract import RejectedError, State, StepError, TimeRule
from pliant.bvp.energy_balance import accumulate, transfer_powers
from pliant.bvp.history import (
    History,
    append_instant,
    begin_history,
    law_of,
    move_base,
    write_histories,
)
from pliant.bvp.prediction import Past, append, new_past, predict_values, replace_last, restart
from pliant.bvp.states import excess_strain, interpolated
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState

PATIENCE = 25
"""Time steps during which fewer points would do before they are taken away."""


class CollocationSolver(CollocationEquilibria):
    """Equilibria and motions by Chebyshev collocation."""

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
            self._history = self._history_of(state)
        self._history.base[:], self._history.twist[:] = state.pose[0], state.velocity[0]
        self._shape, self._state, self._idle = None, state, 0
        self._totals = np.zeros(2)
        self._balance = grid.balance(self._totals)
        self._past: Past = new_past(self.unknowns)
        restart(self._past, self._system.reaction(), self._x)

    def _history_of(self, state: State) -> History:
        """A state at knots as a history on the grid, rates zero."""
        grid = self._system.grid
        strain = grid.natural + excess_strain(state, grid)
        velocity = interpolated(state, grid.piece, grid.s, ("velocity",), False).velocity
        first = np.searchsorted(state.piece, np.arange(len(self.chain.pieces) + 1))
        body = state.velocity[grid.places(BODY, first[:-1], first[1:] - 1)]
        return begin_history(strain, velocity, body, state.pose[0], state.velocity[0])

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
        wanted, guess = None, None
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
        except RejectedError as error:
            self._system, self._history, self._balance, self._past, self._x = kept
            self._system.forget()
            raise StepError(
                f"a time step did not converge by collocation: {error}. Try a smaller time step, or "
                "more nodes and history_nodes.",
                self.state(),
            ) from None
        self._accept(rule, step, x, keep_older)
        self._shrink(wanted)

    def _solve(
        self, rule: TimeRule, values: Mapping[str, Any], base: BaseState, guess: Array | None
    ) -> Array:
        """Set up the equations of the next instant and solve them."""
        system, grid, history = self._system, self._system.grid, self._history
        assert history is not None
        grid.load(values)
        weights = np.array([rule.c0, rule.c1, rule.c2, rule.d1])
        write_histories(weights, history, law_of(grid), grid.table, grid.jumps.history)
        row = np.concatenate([base.pose[:3, :3].ravel(), base.pose[:3, 3], base.twist])
        move_base(weights, history, self.supports, row)
        if system.c0 != rule.c0 or not system.moving:
            system.forget()
        system.c0, system.moving = rule.c0, True
        guesses = [self._x] if guess is None else [guess]
        if guess is None and self._past.counts[0] > 1:
            guesses.append(np.empty(self.unknowns))
            predict_values(self._past, self._past.counts[2], 0, guesses[1])
        return converge(system, guesses, self.moving.tolerance, self.record)

    def _accept(self, rule: TimeRule, step: float, x: Array, keep_older: bool) -> None:
        system, grid, shape = self._system, self._system.grid, self._system.shape
        assert self._history is not None
        y, wrench = system.base_state(x), system.reaction()
        places = np.zeros((grid.size, 24))
        places[:, 6:12], places[:, 12:15] = in_body(shape, shape.W, shape.V), shape.p.T
        places[:, 15:] = shape.R.T
        velocity, strain = places[:, 6:12].copy(), np.ascontiguousarray(shape.strain.T)
        data = grid.table, grid.jumps.history, strain, velocity, self._body_velocities()
        append_instant(rule.c0, keep_older, *data, y, self._history)
        if grid.own is not None:
            pairs = enumerate(strain)
            self._balance.own_stress[:] = [grid.own.stress(k, rule.c0, e)[0] for k, e in pairs]
        shares = np.array(rule.shares(step))
        accumulate(self._balance, shares, grid.table, grid.jumps, places, wrench, self._history)
        self._x = x
        if keep_older:
            replace_last(self._past, wrench, x)
        else:
            append(self._past, self.chain.scale, wrench, x)
        self._shape = Shape(*(field.copy() for field in shape))
        self._state = self._given = None

    def work_and_loss(self) -> tuple[float, float]:
        """Return the work done on the chain and the energy lost since `begin`, J."""
        return float(self._totals[0]), float(self._totals[1])

    def _regrid(self, orders: list[Order], x: Array) -> Array:
        """Go over to other numbers of points; returns x on the new nodes."""
        old = self._system
        new = self._system = self._new_system(orders)
        new.shape.h[:] = on_grid(old.grid, new.grid, old.shape.h.T).T
        assert self._history is not None

        def transfer(values: Array) -> Array:
            return on_grid(old.grid, new.grid, values)

        if self._given is not None:
            self._history = self._history_of(self._given)
        else:
            self._history = self._history.on(transfer)
        balance = new.grid.balance(self._totals)
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

    def state(self) -> State:
        """Return the present state."""
        if self._state is None:
            assert self._shape is not None and self._history is not None
            self._state = self._make_state(self._shape, self._history.strain_rate)
        return self._state

    def attach_discrete(self, state: State) -> None:
        """Give the present state its history on the grid and its unknowns."""
        if state is self._state and state.discrete is None:
            assert self._history is not None
            made = self.orders, self._history.copy(), self._x.copy(), state.velocity.copy()
            state.discrete = Discrete(*made)
