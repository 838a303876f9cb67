"""Time steps of a chain by shooting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bvp.aiming import Aim, believable, predict, remember
from pliant.bvp.books import powers
from pliant.bvp.chain import Chain
from pliant.bvp.contract import Record, State, StepError, TimeRule
from pliant.bvp.ends import Base
from pliant.bvp.histories import Histories
from pliant.bvp.march import MOST_BENT, Memory, Setting, bent, march
from pliant.bvp.mesh import Mesh
from pliant.bvp.newton import RejectedError
from pliant.bvp.shooting_statics import ShootingStatics
from pliant.bvp.sweep import end_slopes
from pliant.lie import se3
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState

if TYPE_CHECKING:
    from pliant.bvp.shooting import MultipleShooting, Shooting

STEP_TOLERANCE = 1e-10
_OFTEN = 3
"""Time steps that modified shooting may save before several segments are used instead."""
_RETRY = 4
"""Time steps with several segments after which simple shooting is tried again; each time it fails,
twice as many."""


class ShootingSolver(ShootingStatics):
    """Shooting with `count` segments, and with more of them where that does not arrive."""

    def __init__(self, chain: Chain, form: Shooting | MultipleShooting, count: int) -> None:
        super().__init__(chain, form, count)
        self._helped, self._modified, self._patience = 0, 0, _RETRY
        self.tip_free = not chain.tip.held.any()
        self.past, self.memory = np.zeros((4, 6)), np.array([1, 0])
        self.books = np.zeros(4)
        self.middle = np.zeros((2, 6))
        self.rule = TimeRule(0.0, 0.0, 0.0, 0.0)
        self._present: State | None = None

    def use(self, mesh: Mesh) -> None:
        """Work on these intervals from now on."""
        super().use(mesh)
        self.histories = Histories(mesh)
        self.nodes_older = self.shooter.nodes.copy()
        self.__dict__.pop("_setting", None)
        self._aims = [
            Aim(last, np.zeros(6), np.zeros((6, 6)), np.zeros(1, dtype=np.bool_))
            for last in (max(1, self.mesh.N // 2), self.mesh.N)
        ]

    def begin(self, state: State) -> None:
        """Take `state` as the present one."""
        self.shooter.record = Record()
        self._hold(state)
        self.histories.begin(*self.knots.stages(state))
        self.bases.begin(state.pose[0], state.velocity[0])
        self.past[0], self.memory[:] = self.shooter.x, (1, 0)
        self._forget()
        self.books[:] = 0.0
        self.shooter.count, self._helped = self.count, 0
        self._modified, self._patience = 0, _RETRY
        self.rule = TimeRule(0.0, 0.0, 0.0, 0.0)
        self._present = state

    def _forget(self) -> None:
        """Drop derivatives that belong to another time rule."""
        for aim in self._aims:
            aim.known[0] = False

    def step(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        keep_older: bool = False,
    ) -> None:
        """Go to the next instant; plainly, then with modified, then with multiple shooting."""
        shooter = self.shooter
        self.mesh.load(values)
        self.histories.prepare(rule)
        here = self.bases.moving(rule, base)
        x, nodes = shooter.x.copy(), shooter.nodes.copy()
        self._extrapolate(x, nodes)
        shooter.c0 = rule.c0
        try:
            self._solve_step(here, x, nodes)
        except RejectedError as error:
            shooter.x, shooter.nodes[:] = x, nodes
            raise StepError(
                f"a time step did not converge: {error}. Try a larger dt, alpha = 0, more steps "
                "along the rod, or Collocation()."
            ) from None
        self.nodes_older = nodes
        self.middle[1], self.middle[0] = (
            self.middle[0],
            shooter.nodes[self._aims[0].last - 1, 1, :6],
        )
        if keep_older:
            self.past[0] = shooter.x
        else:
            remember(self.past, self.memory, self.chain.scale, shooter.x)
        ends = np.zeros_like(shooter.slopes)
        end_slopes(self.kind, self.mesh.arrays, rule.c0, shooter.nodes, ends)
        self.histories.accept(rule, shooter.nodes, shooter.slopes, ends, keep_older)
        self._book(step)
        self._arrive(rule, keep_older)

    def _book(self, step: float) -> None:
        """Add the work done and the energy lost in a step, by the trapezoidal rule."""
        mesh, h, nodes = self.mesh, self.histories, self.shooter.nodes
        site = (mesh.load_sites, nodes, nodes[0, 0, :6])
        now = np.array(powers(mesh.arrays, mesh.D, mesh.M, mesh.active, *site, h.xi_t, h.eta))
        self.books[2:] += 0.5 * step * (self.books[:2] + now)
        self.books[:2] = now

    def _arrive(self, rule: TimeRule, keep_older: bool) -> None:
        y = self.shooter.nodes[0, 0]
        self.bases.accept(se3.pose(y[15:].reshape(3, 3), y[12:15]), y[6:12], keep_older)
        self.rule = rule
        self._present = None

    def advance(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
    ) -> int:
        """Go through several instants in one compiled call, as far as plain shooting arrives."""
        plain = self.bases.clamped and self.tip_free and self.shooter.count == 1
        moving_lines = len(values) > 1 and self.mesh.lines_move(values)
        if not plain or moving_lines:
            return super().advance(rule, step, values, bases)
        shooter, mesh = self.shooter, self.mesh
        mesh.load(values[0])
        if rule != self.rule:
            self._forget()
        result, nodes = np.zeros(2), shooter.nodes.copy()
        done = march(
            self._setting,
            mesh.arrays,
            self._memory,
            *self._aims,
            np.array([rule.c0, rule.c1, rule.c2, rule.d1]),
            step,
            np.array([mesh.point_loads(value) for value in values]),
            np.array([[*b.pose[:3, :3].ravel(), *b.pose[:3, 3], *b.twist] for b in bases]),
            result,
        )
        self.record.iterations += int(result[0])
        shooter.x = self.past[0].copy()
        if done == len(values):
            self.record.residual = float(result[1])
            self._arrive(rule, False)
            return done
        if done == 0:
            shooter.nodes[:] = nodes
        else:
            # the failed step has overwritten the nodes: integrate the last good one again
            self._again(rule, values[done - 1], bases[done - 1])
        return done + self._one_by_one(rule, step, values[done:], bases[done:])

    @cached_property
    def _setting(self) -> Setting:
        mesh = self.mesh
        return Setting(
            self.kind,
            self.scheme,
            self.chain.length,
            self.chain.scale,
            STEP_TOLERANCE,
            mesh.C,
            mesh.D,
            mesh.natural,
            mesh.rigid,
            mesh.active,
            mesh.M,
            mesh.load_sites,
            mesh.sites,
        )

    @property
    def _memory(self) -> Memory:
        h, shooter = self.histories, self.shooter
        return Memory(
            self.past,
            self.memory,
            self.middle,
            h.xi,
            h.xi_t,
            h.eta,
            h.eta_t,
            h.xi_older,
            h.eta_older,
            h.body,
            h.body_t,
            h.body_older,
            self.books,
            shooter.nodes,
            shooter.slopes,
        )

    def _again(self, rule: TimeRule, values: Mapping[str, Any], base: BaseState) -> None:
        """Restore the states of the last step that arrived, from what is known at the base."""
        h = self.histories
        self.mesh.load(values)
        strain = h.xi_t - rule.c0 * h.xi
        self.mesh.set_history(
            rule.c0, strain, h.eta_t - rule.c0 * h.eta, h.body_t - rule.c0 * h.body
        )
        self.shooter.c0 = rule.c0
        self.shooter.integrate(self.bases.moving(rule, base), self.shooter.x)
        self._arrive(rule, False)

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

    def _extrapolate(self, x: Array, nodes: Array) -> None:
        """Guess the next states on the line through the last two."""
        shooter, count = self.shooter, int(self.memory[0])
        if count > 1:
            guess = np.empty(6)
            predict(self.past, count, int(self.memory[1]), guess)
            shooter.x = np.where(self.chain.base.held, guess, x)
            if shooter.count > 1:
                shooter.nodes[..., :15] = 2.0 * nodes[..., :15] - self.nodes_older[..., :15]
                R = nodes[..., 15:].reshape(-1, 3, 3)
                back = self.nodes_older[..., 15:].reshape(-1, 3, 3)
                turned = R @ np.swapaxes(back, 1, 2) @ R
                shooter.nodes[..., 15:] = turned.reshape((*nodes.shape[:2], 9))

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
            self._believe(x)
            if shooter.count == 1:
                self._near()
        except RejectedError:
            if not self.form.rescue:
                raise
            shooter.x = x.copy()
            shooter.count = self.count
            shooter.nodes[:] = nodes
            shooter.count = shooter.rescue(base, STEP_TOLERANCE, self._near)
            self._believe(x)
            self._modified = self._modified + 1 if shooter.count == 1 else 0
            if self._modified >= _OFTEN:
                shooter.count, self._modified = 4, 0
        else:
            if shooter.count > self.count:
                self.record.rescues["multiple shooting"] += 1

    def _near(self) -> None:
        """Reject a solution of simple shooting that is bent quite otherwise than is expected."""
        h = self.histories
        apart = bent(self.mesh.arrays, self.shooter.nodes, h.xi, h.xi_older)
        if not apart * self.chain.length < MOST_BENT:
            raise RejectedError("what was found lies too far from the last steps")

    def _believe(self, x: Array) -> None:
        """Reject a solution with wrenches far beyond what the loads and the last step explain."""
        scale = self.chain.scale
        most = believable(self.mesh.arrays, scale, x)
        if np.max(np.abs(self.shooter.nodes[..., :6]) / scale) > most:
            raise RejectedError("what was found is another motion than the one under way")

    def work_and_loss(self) -> tuple[float, float]:
        """Return the work done on the chain and the energy lost since `begin`, J."""
        return float(self.books[2]), float(self.books[3])

    def state(self) -> State:
        """Return the present state."""
        if self._present is None:
            self._present = self.knots.state(self.shooter.nodes, self.rule.c0)
        return self._present
