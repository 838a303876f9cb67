"""The solver of Chebyshev collocation: equilibria, and motions step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.collocation_books import Page, booked, page
from pliant.bvp.collocation_ends import Base
from pliant.bvp.collocation_grid import Order
from pliant.bvp.collocation_kernels import Shape
from pliant.bvp.collocation_newton import RejectedError, chase
from pliant.bvp.collocation_order import Policy
from pliant.bvp.collocation_state import (
    Instant,
    body_velocities,
    in_body,
    instant_from,
    make_state,
    moved_unknowns,
    on_grid,
    unknowns_from,
)
from pliant.bvp.collocation_statics import LARGEST_GROWTH, Ascent
from pliant.bvp.collocation_system import System
from pliant.bvp.contract import Progress, Record, State, StepError, StrongSolver, TimeRule, Watch
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState

PATIENCE = 25
"""Time steps during which fewer points would do before they are taken away."""


class CollocationSolver(StrongSolver):
    """Chebyshev collocation on one chain.

    policy : which numbers of points are given and which are chosen.
    """

    def __init__(self, chain: Chain, policy: Policy, moving: Policy | None = None) -> None:
        self.chain, self.policy, self.moving = chain, policy, moving or policy
        self.record = Record()
        self._free = ~chain.base.held
        self._system = self._fresh_system(self._first_orders())
        self._now: Instant | None = None
        self._older: Instant | None = None
        self._shape: Shape | None = None
        self._state: State | None = None
        self._given: State | None = None
        self._made: tuple[State, list[Order], Instant] | None = None
        self._idle = 0
        self._apart = 0.0
        self._page: Page | None = None
        self._books = np.zeros(2)

    def _first_orders(self) -> list[Order]:
        return [self.policy.first(p.rod.theory == "kirchhoff") for p in self.chain.pieces]

    def _fresh_system(self, orders: list[Order]) -> System:
        return System(self.chain, orders, Base(self._free, self.chain.base.pose))

    @property
    def unknowns(self) -> int:
        """Numbers that Newton's method solves for at present."""
        return self._system.unknowns

    @property
    def orders(self) -> list[Order]:
        """Numbers of points of each piece at present."""
        return list(self._system.grid.orders)

    def _made_here(self, state: State | None) -> bool:
        return state is not None and self._made is not None and self._made[0] is state

    def _system_for(self, state: State | None) -> System:
        """A system with the points that made `state`, if this solver did, or those to begin with."""
        orders = self._first_orders()
        if self._made_here(state):
            assert self._made is not None
            orders = self._made[1]
        if self._system.grid.orders == orders:
            return self._system
        return self._fresh_system(orders)

    # -- statics -----------------------------------------------------------------------------

    def statics(
        self,
        values: Mapping[str, Any],
        start: State | None,
        base: Array,
        tolerance: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> State:
        """Return the equilibrium for input values, on the branch from `start` (default: unloaded)."""
        self.record = Record()
        system = self._system_for(start)
        pose = np.array(base)
        if self._free.any():
            pose = np.array(self.chain.base.pose if start is None else start.pose[0])
        system.base = Base(self._free, pose)
        system.grid.rest()
        system.moving, system.c0 = False, 0.0
        system.forget()
        x = np.zeros(system.unknowns) if start is None else self._unknowns_of(system, start, values)

        def apply(system: System, share: float) -> None:
            system.grid.load(values, share)

        ascent = Ascent(system, x, self.policy, self.record, apply, start is None)
        state = ascent.run(tolerance, progress, start, watch)
        self._system = ascent.system
        self._made = (state, self.orders, self._instant(np.zeros(6), ascent.x))
        self.begin(state)
        return state

    def _unknowns_of(self, system: System, start: State, values: Mapping[str, Any]) -> Array:
        """Unknowns that `start` says, with the reactions at the tip that its wrench there means."""
        if self._made_here(start):
            assert self._made is not None
            x = self._made[2].x.copy()
            x[: system.grid.base_unknowns] = 0.0
            return x
        x = unknowns_from(self.chain, system, start)
        if len(system.tip):
            system.grid.load(values)
            system.evaluate(x)
            R, shape = start.pose[-1, :3, :3], system.shape
            moment = R @ start.wrench[-1, :3] - shape.M[:, -1]
            force = R @ start.wrench[-1, 3:] - shape.N[:, -1]
            x[system.unknowns - len(system.tip) :] = system.tip.reactions(shape.tip, moment, force)
        return x

    # -- motion ------------------------------------------------------------------------------

    def begin(self, state: State) -> None:
        """Take `state` as the present one; strain and velocity count, their rates do not."""
        self._system = self._system_for(state)
        self._system.forget()
        if self._made_here(state):
            assert self._made is not None
            self._now, self._given = self._made[2], None
        else:
            self._now, self._given = instant_from(self.chain, self._system, state), state
        self._older, self._shape, self._state = None, None, state
        self._page, self._books = None, np.zeros(2)
        self._idle = 0

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
        if self._now is None:
            raise RuntimeError("step() needs a present state: call begin(state) or statics() first")
        kept = self._system, self._now, self._older, self._page
        wanted, guess = None, None
        try:
            for _ in range(LARGEST_GROWTH):
                x = self._solve(rule, step, values, base, guess)
                if self.moving.fixed:
                    break
                wanted = self.moving.wanted(self._system.grid, self._system.shape)
                grown = self.moving.grown(self.orders, wanted)
                if grown is None:
                    break
                guess = self._regrid(grown, x)
        except RejectedError as error:
            self._system, self._now, self._older, self._page = kept
            self._system.forget()
            raise StepError(
                f"a time step did not converge by collocation: {error}. Try a smaller time step, or "
                "more nodes and history_nodes.",
                self.state(),
            ) from None
        self._accept(rule, step, x, keep_older)
        self._shrink(wanted)

    def _solve(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        guess: Array | None,
    ) -> Array:
        """Set up the equations of the next instant and solve them."""
        system, now = self._system, self._now
        assert now is not None
        older = self._older or now
        strain, velocity, bodies = (
            rule.c1 * a + rule.c2 * b + rule.d1 * rate
            for a, b, rate in (
                (now.strain, older.strain, now.strain_rate),
                (now.velocity, older.velocity, now.velocity_rate),
                (now.bodies, older.bodies, now.bodies_rate),
            )
        )
        system.grid.set_history(rule.c0, strain, velocity, bodies)
        system.grid.load(values)
        system.base = self._next_base(rule, base, now, older)
        if system.c0 != rule.c0 or not system.moving:
            system.forget()
        system.c0, system.moving = rule.c0, True
        guesses = [now.x] if guess is None else [guess]
        if guess is None and self._older is not None:
            guesses.append(now.x + step / self._apart * (now.x - older.x))
        return chase(system, guesses, self.moving.tolerance, self.record)

    def _next_base(self, rule: TimeRule, base: BaseState, now: Instant, older: Instant) -> Base:
        free = self._free
        if not free.any():
            return Base(free, base.pose, base.twist)
        rate = rule.d1 * now.twist
        if rule.c2:
            rate = rate + rule.c2 * se3.log(se3.inverse(now.base) @ older.base)
        return Base(free, now.base, np.zeros(6), rule.c0, np.where(free, rate, 0.0))

    def _instant(self, twist: Array, x: Array, pose: Array | None = None) -> Instant:
        """The present shape of the system as an instant."""
        system = self._system
        shape, fields, c0 = system.shape, system.grid.fields, system.c0
        strain, velocity = shape.e.copy(), in_body(shape, shape.W, shape.V)
        bodies = body_velocities(self.chain, shape)
        return Instant(
            strain,
            c0 * strain + fields.strain,
            velocity,
            c0 * velocity + fields.velocity,
            bodies,
            c0 * bodies + system.grid.events.history,
            system.base.pose if pose is None else pose,
            twist,
            x,
        )

    def _accept(self, rule: TimeRule, step: float, x: Array, keep_older: bool) -> None:
        system = self._system
        phi = x[: system.grid.base_unknowns]
        pose, twist = system.base.where(phi)
        self._apart = self._apart + step if keep_older else step
        if not keep_older:
            self._older = self._now
        now = self._now = self._instant(twist, x, pose)
        self._shape = Shape(*(field.copy() for field in system.shape))
        self._state = self._given = None
        section = system.base.section(phi)
        after = page(system.grid, system.shape, section, now.strain_rate, now.velocity)
        self._books += booked(system.grid, self._page, after, rule.shares(step))
        self._page = after

    def work_and_loss(self) -> tuple[float, float]:
        """Return the work done on the chain and the energy lost since `begin`, J."""
        return float(self._books[0]), float(self._books[1])

    # -- points ------------------------------------------------------------------------------

    def _regrid(self, orders: list[Order], x: Array) -> Array:
        """Go over to other numbers of points; returns x on the new nodes."""
        old, new = self._system, self._fresh_system(orders)
        new.base = old.base
        new.shape.h[:] = on_grid(old.grid.orders, orders, old.shape.h)
        assert self._now is not None
        if self._given is not None:
            self._now = instant_from(self.chain, new, self._given)
        else:
            self._now = self._now.regridded(old.grid, new.grid)
        if self._older is not None:
            self._older = self._older.regridded(old.grid, new.grid)
        if self._page is not None:
            self._page = self._page.regridded(old.grid, new.grid)
        self._system = new
        return moved_unknowns(old.grid, new.grid, x)

    def _shrink(self, wanted: list[Order] | None) -> None:
        """Take points away that have not been needed for a while."""
        fewer = None if wanted is None else self.moving.shrunk(self.orders, wanted)
        self._idle = 0 if fewer is None else self._idle + 1
        if fewer is not None and self._idle >= PATIENCE:
            self.state()
            assert self._now is not None
            self._regrid(fewer, self._now.x)
            self._idle = 0

    def state(self) -> State:
        """Return the present state."""
        if self._state is None:
            assert self._shape is not None and self._now is not None
            self._state = make_state(
                self.chain, self._system.grid, self._shape, self._now.strain_rate
            )
        return self._state
