"""Time steps of a chain by shooting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bvp.aiming import believable
from pliant.bvp.books import enter, new_ledger
from pliant.bvp.chain import Chain
from pliant.bvp.contract import Record, State, StepError, TimeRule
from pliant.bvp.ends import Base
from pliant.bvp.events import applied, surge
from pliant.bvp.foresight import foresee, foresee_nodes, remember, replace_last
from pliant.bvp.histories import Histories
from pliant.bvp.march import MOST_BENT, RETRY, bent
from pliant.bvp.marching import STEP_TOLERANCE, Marching
from pliant.bvp.mesh import Mesh
from pliant.bvp.newton import RejectedError
from pliant.bvp.shooting_statics import ShootingStatics
from pliant.bvp.sweep import end_slopes
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState

if TYPE_CHECKING:
    from pliant.bvp.shooting import MultipleShooting, Shooting

_OFTEN = 3
"""Time steps that modified shooting may save before several segments are used instead."""


class ShootingSolver(ShootingStatics):
    """Shooting with `count` segments, and with more of them where that does not arrive."""

    def __init__(self, chain: Chain, form: Shooting | MultipleShooting, count: int) -> None:
        self.books = np.zeros(2)
        super().__init__(chain, form, count)
        self._helped, self._modified, self._patience = 0, 0, RETRY
        self.tip_free = not chain.tip.held.any()
        self.rule = TimeRule(0.0, 0.0, 0.0, 0.0)
        self._present: State | None = None
        self._acting: Mapping[str, Any] | None = None

    def use(self, mesh: Mesh) -> None:
        """Work on these intervals from now on."""
        super().use(mesh)
        self.histories, self.ledger = Histories(mesh), new_ledger(mesh, self.books)
        self.marching = Marching(self.shooter, self.form.rescue)

    @property
    def unknowns(self) -> int:
        """Numbers that Newton's method solves for, with the most segments since `begin`."""
        return self.shooter.segments(max(self.marching.most, self.shooter.count)).unknowns

    def begin(self, state: State) -> None:
        """Take `state` as the present one."""
        self.shooter.record = Record()
        self._hold(state)
        self.histories.begin(*self.knots.stages(state))
        self.bases.begin(state.pose[0], state.velocity[0])
        self.books[:], self.ledger = 0.0, new_ledger(self.mesh, self.books)
        self.shooter.count, self._helped = self.count, 0
        self._modified, self._patience = 0, RETRY
        self.marching.begin()
        self.rule = TimeRule(0.0, 0.0, 0.0, 0.0)
        self._present, self._acting = state, None

    def step(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        keep_older: bool = False,
    ) -> None:
        """Go to the next instant; plainly, then with modified, then with multiple shooting."""
        if not (self._compiled and self._march(rule, step, [values], [base], keep_older)):
            self._step_alone(rule, step, values, base, keep_older)

    def _step_alone(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        keep_older: bool,
    ) -> None:
        """One step for any ends of the chain, and the last resort where a march stopped."""
        shooter = self.shooter
        self.mesh.load(values)
        self.histories.prepare(rule)
        here = self.bases.moving(rule, base)
        x, nodes = shooter.x.copy(), shooter.nodes.copy()
        self._extrapolate(x)
        shooter.c0 = rule.c0
        try:
            self._solve_step(here, x, nodes)
        except RejectedError as error:
            shooter.x, shooter.nodes[:] = x, nodes
            raise StepError(
                f"a time step did not converge: {error}. Try a larger dt, alpha = 0, more steps along "
                "the rod, inputs that rise over some steps where they jump, or Collocation()."
            ) from None
        if keep_older:
            replace_last(self.marching.trail, shooter.x, shooter.nodes)
        else:
            remember(self.marching.trail, self.chain.scale, shooter.x, shooter.nodes)
        ends = np.zeros_like(shooter.slopes)
        end_slopes(self.kind, self.mesh.arrays, rule.c0, shooter.nodes, ends)
        self.histories.accept(rule, shooter.nodes, shooter.slopes, ends, keep_older)
        self._book(rule.shares(step))
        self._arrive(rule, values, keep_older)

    def _book(self, shares: tuple[float, float, float]) -> None:
        """Add the work done and the energy lost in the step that led to what is held."""
        mesh, h, nodes = self.mesh, self.histories, self.shooter.nodes
        laws = (mesh.arrays, mesh.D, mesh.M, mesh.active, mesh.load_sites)
        enter(self.ledger, np.array(shares), *laws, nodes, nodes[0, 0, :6], h.xi_t, h.eta)

    def _arrive(self, rule: TimeRule, values: Mapping[str, Any], keep_older: bool) -> None:
        y = self.shooter.nodes[0, 0]
        self.bases.accept(se3.pose(y[15:].reshape(3, 3), y[12:15]), y[6:12], keep_older)
        self.rule, self.shooter.c0 = rule, rule.c0
        self._acting, self._present = values, None

    def advance(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
    ) -> int:
        """Go through several instants in one compiled call, as far as plain shooting arrives."""
        moving_lines = len(values) > 1 and self.mesh.lines_move(values)
        if not self._compiled or moving_lines:
            return super().advance(rule, step, values, bases)
        done = self._march(rule, step, values, bases, False)
        if done < len(values):
            done += self._one_by_one(rule, step, values[done:], bases[done:])
        return done

    @property
    def _compiled(self) -> bool:
        """Whether the ends of the chain are those that whole marches are compiled for."""
        return self.bases.clamped and self.tip_free

    def _march(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
        keep_older: bool,
    ) -> int:
        """Go through several instants in one compiled call; return how many were reached."""
        if rule != self.rule:
            self.marching.forget()
        done = self.marching.go(rule, step, values, bases, keep_older, self.histories, self.ledger)
        if done > 0:
            self._arrive(rule, values[done - 1], keep_older)
        return done

    def _one_by_one(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
    ) -> int:
        """The first of the steps with all the help there is; the rest as they come."""
        try:
            self.step(rule, step, values[0], bases[0])
        except StepError as error:
            self.failure = error
            return 0
        return 1 + (self.advance(rule, step, values[1:], bases[1:]) if len(values) > 1 else 0)

    def _extrapolate(self, x: Array) -> None:
        """Guess the next states from those before; x (6,) are the last unknowns at the base."""
        shooter = self.shooter
        if self.marching.trail.counts[0] > 1:
            guess = np.empty(6)
            foresee(self.marching.trail, int(self.marching.trail.counts[2]), guess)
            shooter.x = np.where(self.chain.base.held, guess, x)
            if shooter.count > 1:
                foresee_nodes(self.marching.trail, shooter.nodes)

    def _solve_step(self, base: Base, x: Array, nodes: Array) -> None:
        """Plainly, then with help; where many segments were needed they are used for a while.

        x, nodes : unknowns and states of the last step, which the help starts from.
        """
        shooter = self.shooter
        if shooter.count > self.count:
            self._helped += 1
            if self._helped >= self._patience:
                shooter.count, self._helped = self.count, 0
                self._patience = min(2 * self._patience, 64)
        try:
            shooter.attempt(base, STEP_TOLERANCE, shooter.count)
            self._believe(base, x, nodes)
            if shooter.count == 1:
                self._near()
        except RejectedError:
            if not self.form.rescue:
                raise
            shooter.x = x.copy()
            shooter.count = self.count
            shooter.nodes[:] = nodes
            shooter.count = shooter.rescue(base, STEP_TOLERANCE, self._near)
            self._believe(base, x, nodes)
            self._modified = self._modified + 1 if shooter.count == 1 else 0
            if self._modified >= _OFTEN:
                shooter.count, self._modified = 4, 0
            self.marching.most = max(self.marching.most, shooter.count)
        else:
            if shooter.count > self.count:
                self.record.rescues["multiple shooting"] += 1

    def _near(self) -> None:
        """Reject a solution of simple shooting that is bent quite otherwise than is expected."""
        h = self.histories
        apart = bent(self.mesh.arrays, self.shooter.nodes, h.xi, h.xi_older)
        if not apart * self.chain.length < MOST_BENT:
            raise RejectedError("what was found lies too far from the last steps")

    def _believe(self, base: Base, x: Array, nodes: Array) -> None:
        """Reject a solution with wrenches far beyond what the loads and the last step explain."""
        scale, arrays, c0 = self.chain.scale, self.mesh.arrays, self.shooter.c0
        twist = base.twist if self.bases.clamped else nodes[0, 0, 6:12]
        sudden = surge(arrays, scale, self.chain.length, c0, twist, self.histories.xi, nodes)
        most = believable(max(applied(arrays, scale), sudden), scale, x)
        found = float(np.max(np.abs(self.shooter.nodes[..., :6]) / scale))
        if not found <= most:
            raise RejectedError(
                "what was found is another motion than the one under way, with wrenches "
                f"{found / most:.2g} times the largest that loads, pressures and inertia can bring"
            )

    def work_and_loss(self) -> tuple[float, float]:
        """Return the work done on the chain and the energy lost since `begin`, J."""
        return float(self.books[0]), float(self.books[1])

    def state(self) -> State:
        """Return the present state."""
        if self._present is None:
            self._present = self.knots.state(self.shooter.nodes, self.rule.c0)
        return self._present
