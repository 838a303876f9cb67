"""Time steps of a chain by shooting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.bvp.contract import Record, State, StepError, TimeRule
from pliant.bvp.energy_balance import accumulate
from pliant.bvp.history import begin_history, law_of
from pliant.bvp.jump_conditions import point_wrenches
from pliant.bvp.prediction import restart
from pliant.bvp.shooting import engine
from pliant.bvp.shooting.equilibria import Discrete, ShootingEquilibria
from pliant.bvp.states import excess_strain, interpolated
from pliant.lie.tuples import Array
from pliant.model.base_motion import BaseState


class ShootingSolver(ShootingEquilibria):
    """Equilibria and motions by shooting."""

    def begin(self, state: State) -> None:
        """Take `state` as the present one."""
        self.record = Record()
        self._hold(state)
        mesh, made = self.mesh, state.discrete
        body = self.motion.nodes.reshape(-1, 24)[mesh.body_places, 6:12]
        first = state.pose[0], state.velocity[0]
        strain = mesh.natural + excess_strain(state, mesh)
        velocity = interpolated(state, mesh.piece, mesh.s, ("velocity",), False).velocity
        self.history = begin_history(strain, velocity, body, *first)
        if isinstance(made, Discrete) and all(map(np.array_equal, made.edges, mesh.edges)):
            own = begin_history(made.history.strain, made.history.velocity, body, *first)
            self.history.strain[:], self.history.strain_before[:] = own.strain, own.strain
            self.history.strain_offset[:] = made.history.strain_offset
            if np.array_equal(made.velocity, state.velocity):
                own.velocity_offset[:] = made.history.velocity_offset
                own.strain_offset[:] = made.history.strain_offset
                self.history = own
        self.totals[:], self.balance = 0.0, mesh.balance(self.totals)
        self._start(state, TimeRule(0.0, 0.0, 0.0, 0.0))

    def _start(self, state: State, rule: TimeRule) -> None:
        """Go on from the nodes and the history without a past."""
        self.motion.kept[:] = self.motion.nodes
        restart(self.motion.past, self.x, self.motion.nodes[:, 1].ravel())
        self._reset()
        self.rule, self._present, self._acting = rule, state, None

    def step(
        self,
        rule: TimeRule,
        step: float,
        values: Mapping[str, Any],
        base: BaseState,
        keep_older: bool = False,
    ) -> None:
        """Go to the next instant; plainly, then with modified, then with multiple shooting."""
        if not self._march(rule, step, [values], [base], keep_older):
            assert self.failure is not None
            raise self.failure

    def advance(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
    ) -> int:
        """Go through several instants, in one compiled call unless loads along the rods move."""
        if len(values) > 1 and self.mesh.loads_move(values):
            return super().advance(rule, step, values, bases)
        return self._march(rule, step, values, bases, False)

    def _march(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
        keep_before: bool,
    ) -> int:
        """Go through several instants in one compiled call; return how many were reached."""
        if rule != self.rule:
            self._forget()
        mesh, report = self.mesh, np.zeros(6)
        mesh.load(values[0])
        weights = np.array([rule.c0, rule.c1, rule.c2, rule.d1]), np.array(rule.shares(step))
        parts = self.middle, self.segments, law_of(mesh), mesh.body_places
        options = self._plain, self.form.rescue, keep_before
        rows = _rows(self._point_loads, values), _rows(_base_row, bases)
        done = engine.march(
            self.data,
            self.motion,
            self.history,
            self.balance,
            parts,
            options,
            *weights,
            *rows,
            report,
        )
        mesh.forget_loads()
        self.motion.nodes[:] = self.motion.kept
        self.x = self.motion.past.lead[0].copy()
        self._report(report)
        if mesh.own is not None:
            mesh.own.raise_error()
        if done > 0:
            self.record.residual = float(report[engine.RESIDUAL])
            self.rule, self._acting, self._present = rule, values[done - 1], None
        if done < len(values):
            reason = self._reason(report[engine.CODE], self.form.rescue)
            self.failure = StepError(
                f"a time step did not converge: {reason}. Try a larger dt, alpha = 0, more steps along "
                "the rod, inputs that rise over some steps where they jump, or Collocation()."
            )
        return int(done)

    def _point_loads(self, values: Mapping[str, Any]) -> Array:
        offsets = self.mesh.jumps.loads[:, :3]
        return np.concatenate([offsets, point_wrenches(self.chain, values)], axis=1)

    def _keep_powers(self) -> None:
        """Keep what pushes and moves now, without adding to work and loss."""
        ends, wrench = self.motion.nodes.reshape(-1, 24), self.motion.nodes[0, 0, :6]
        parts = self.mesh.table, self.mesh.jumps, ends, wrench, self.history
        accumulate(self.balance, np.zeros(3), *parts)

    def work_and_loss(self) -> tuple[float, float]:
        """Return the work done on the chain and the energy lost since `begin`, J."""
        return float(self.totals[0]), float(self.totals[1])

    def state(self) -> State:
        """Return the present state."""
        if self._present is None:
            self._present = self._state(self.motion.law, self.rule.c0)
        return self._present

    def attach_discrete(self, state: State) -> None:
        """Give the present state its history at the stations."""
        if state is self._present and state.discrete is None:
            state.discrete = Discrete(self.mesh.edges, self.history.copy(), state.velocity.copy())


def _rows(make: Callable[[Any], Array], items: Sequence[Any]) -> Array:
    """What `make` gives for each of the items, made once for the same one again and again."""
    rows: list[Array] = []
    for k, item in enumerate(items):
        rows.append(rows[-1] if k > 0 and item is items[k - 1] else make(item))
    return np.array(rows)


def _base_row(base: BaseState) -> Array:
    """Rotation by rows, position and twist (18,) of a base."""
    return np.concatenate([base.pose[:3, :3].ravel(), base.pose[:3, 3], base.twist])
