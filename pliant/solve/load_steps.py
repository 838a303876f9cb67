"""Load continuation: the equilibrium on the branch from the unloaded robot, in as few load steps as it
takes.

One attempt goes for the full load. Where it shows signs of leaving the branch (`branch_checks`), the
load step is cut and the path followed from the last equilibrium.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.engine import loops
from pliant.engine.newton import INFINITE, SINGULAR, SLOW, NewtonError
from pliant.linalg.matrices import SingularError
from pliant.linalg.scatter import norms
from pliant.model.checks import refuse
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array
from pliant.solve.closure import CLOSED, cannot_close, close_by_joints, open_gap
from pliant.solve.no_equilibrium import no_equilibrium
from pliant.solve.singular import loose_part
from pliant.solve.statics import POLICY, Equilibrium, StaticSolution
from pliant.tree.drivers import STRIDE
from pliant.tree.state import State
from pliant.tree.work import Work

Progress = Callable[[float, int, float], None]
"""Told the load level reached, the iterations so far and the relative residual."""
_REASONS = {
    INFINITE: "the residual became infinite",
    SINGULAR: "the tangent is singular",
    SLOW: f"no convergence in {POLICY.iterations} iterations",
}
_MANY = "many load steps did not lead farther"


@dataclass
class StaticOptions:
    """Tolerances of the static solver.

    tolerance : residual relative to the generalised loads at which the solver stops.
    smallest_step, largest_step : load steps below which the solver gives up, and with which it begins,
    as fractions of the whole load.
    attempts : at load levels after which it gives up, besides those that the largest step needs.
    """

    tolerance: float = 1e-10
    smallest_step: float = 1e-6
    largest_step: float = 1.0
    attempts: int = 2000
    loose: float = 1e-6
    """Tolerance at intermediate load levels; a hundredth of the load step if less."""
    arclength: bool = True
    """Whether to follow the branch by its arclength where load steps fail."""


class StaticSolver:
    """Newton with load stepping for one robot; it belongs to one thread."""

    def __init__(self, effects: Effects, options: StaticOptions | None = None) -> None:
        self.effects = effects
        self.options = options or StaticOptions()
        self.state = State(effects.tree)
        self.work = Work(effects.tree)
        self._equations: dict[bool, Equilibrium] = {}
        self.count = 0
        self.memory = np.zeros(effects.memory)
        """What terms remember of the configuration from which an equilibrium is sought."""
        self.response: Any = None
        """Storage for the derivatives of equilibria."""

    def refill(self) -> None:
        """Take over the numbers of the robot, which were given anew."""
        self.work.refill()
        self.response = None
        for equations in self._equations.values():
            equations.refill()

    def solve(
        self,
        target: Inputs,
        start: StaticSolution | None = None,
        progress: Progress | None = None,
    ) -> StaticSolution:
        """Follow the branch from `start` (default: the unloaded robot at rest) to `target`."""
        good = self._begin(target, start)
        origin, stable, lost = good.inputs, not good.negative and not good.odd, None
        largest = self.largest = self._largest_step(origin, target)
        smallest = self.options.smallest_step * largest
        level, step, reason = 0.0, largest, ""
        levels: list[float] = []
        left = self.options.attempts + math.ceil(4.0 / largest)
        while level < 1.0:
            if step < smallest or left <= 0:
                good = self._go_on(good, level, reason if left > 0 else _MANY, (origin, target))
                lost = good.lost if lost is None else lost
                levels += good.levels[1:]
                break
            left -= 1
            aim = min(1.0, level + step)
            final = aim >= 1.0
            inputs = target if final else origin.mix(target, aim)
            try:
                good = self._attempt(good, inputs, aim, aim - level)
            except NewtonError as rejected:
                reason = _REASONS.get(str(rejected), str(rejected))
                step /= 4.0 if final and not levels else 2.0
                continue
            level = aim
            levels.append(level)
            unstable = bool(good.negative) or good.odd
            if lost is None and (self.equations.checks.jumped or (stable and unstable)):
                lost = level
            step = min(2.0 * step, largest)
            if progress is not None:
                progress(level, self.count, good.residual)
        good.iterations = self.count
        good.levels, good.lost = levels, lost
        if self.effects.tree.estimates:
            good.error = self.equations.error.estimate()
        return good

    def _go_on(
        self, good: StaticSolution, level: float, reason: str, way: tuple[Inputs, Inputs]
    ) -> StaticSolution:
        """Follow the branch by its arclength where load steps fail; raises where it turns back."""
        from pliant.solve.load_branch import go_on

        fold = None
        if self.options.arclength and (level > 0.0 or "singular" not in reason):
            found, fold = go_on(self, good, level, (*way, self.gaps))
            if found is not None:
                return found
        good.iterations = self.count
        raise no_equilibrium(self.effects, level, reason, good, fold)

    def _begin(self, target: Inputs, start: StaticSolution | None) -> StaticSolution:
        """Choose the equations for the loads on the way to `target`; returns where it begins."""
        if start is None:
            start = self._unloaded(target)
        origin = start.inputs
        self.choose_equations(target, origin)
        self.state.place(start.q)
        for term in self.effects.hard:
            term.check_start(self.state)
        self.count, self.equations.checks.rate = 0, None
        self._set_gaps(start.q)
        good = StaticSolution(start.q.copy(), start.z.copy(), origin, negative=start.negative)
        good.odd = start.odd
        self._let_touching_hold(good)
        good.memory = start.memory
        return good

    def recall(self, found: StaticSolution, go_on: bool = False) -> None:
        """Take up what terms remember at an equilibrium, or let them begin there.

        go_on : whether the next load step begins there.
        """
        if not self.effects.memory:
            return
        where = (self.state.place(found.q), found.inputs.u, found.z)
        if found.memory is None:
            self.effects.remember(*where, self.memory)
            return
        self.memory[...] = found.memory
        if go_on:
            self.effects.come_to_rest(*where, self.memory)

    def _let_touching_hold(self, good: StaticSolution) -> None:
        """Let one-sided rows hold that are exactly met where the way begins.

        A part that only such rows hold has no stiffness else. Those that would pull are released.
        """
        state, still = self.state.place(good.q), np.zeros(self.effects.tree.total)
        for term in self.effects.rows:
            if term.one_sided:
                known = good.z[term.rows].copy()
                term.touch(state, still, good.z)
                good.z[term.rows] = np.where(known > 0.0, known, good.z[term.rows])

    @cached_property
    def _closed_rest(self) -> tuple[Array, bool]:
        """The robot at rest with its loops closed by joints, and whether that is so; else as it is."""
        rest = self.effects.tree.q_rest
        q = close_by_joints(self.effects, rest)
        closed = open_gap(self.effects, q) <= CLOSED
        return (q if closed else rest), closed

    def _unloaded(self, target: Inputs) -> StaticSolution:
        """The robot at rest, with loops that its joints can close closed.

        What stays open is closed by the elasticity of rods as the loads come on. Without rods, loops
        may close where the target has prescribed joints; else they are refused.
        """
        effects, tree = self.effects, self.effects.tree
        nothing = np.zeros(tree.total)
        q, closed = self._closed_rest
        if closed or any(part.rod is not None for part in tree.parts):
            return StaticSolution(q, nothing, effects.nothing)
        driven = Inputs(effects.nothing.u, target.drive)
        q = close_by_joints(effects, effects.prescribed.put(tree.q_rest, target.drive))
        if open_gap(effects, q) > CLOSED:
            raise cannot_close(effects, q)
        return StaticSolution(q, nothing, driven)

    def _largest_step(self, origin: Inputs, target: Inputs) -> float:
        """The load step in which prescribed joints and constraints go their stride."""
        effects, options = self.effects, self.options
        way = effects.prescribed.travel(origin.drive, target.drive, effects.tree.length)
        way += self.measure(self.gaps)[1]
        most = min(options.largest_step, 1.0 / effects.increments)
        return min(most, STRIDE / max(way, STRIDE))

    def look_at(self, found: StaticSolution) -> Equilibrium:
        """Place everything at an equilibrium, with its tangent."""
        self.choose_equations(found.inputs, found.inputs)
        self.equations.look_at(found)
        return self.equations

    def choose_equations(self, target: Inputs, origin: Inputs) -> None:
        """Take the equations with a symmetric tangent, if there is one."""
        effects = self.effects
        self.symmetric = effects.conservative(target.u) and effects.conservative(origin.u)
        if self.symmetric not in self._equations:
            tangent = effects.tangent(self.symmetric)
            self._equations[self.symmetric] = Equilibrium(self, tangent)
        self.equations = self._equations[self.symmetric]
        self.tangent = self.equations.tangent

    def _set_gaps(self, q: Array) -> None:
        """Set the gaps (total,) with which constraints begin at q."""
        tree = self.effects.tree
        self.gaps = np.zeros(tree.total)
        if not tree.m:
            return
        self.state.place(q)
        for term in self.effects.hard:
            if term.rows[0] >= tree.n:
                gaps = self.gaps[term.rows] = term.violations(self.state)
                refuse(
                    not np.isfinite(gaps).all(),
                    term.label,
                    "gap at the start",
                    gaps,
                    "finite: frames half a turn apart can be turned to each other both ways",
                    "turn one of the frames, e.g. by the rotation of its Frame",
                )

    def _attempt(
        self, start: StaticSolution, inputs: Inputs, aim: float, step: float
    ) -> StaticSolution:
        """An equilibrium at one load level, reached from `start`; raises NewtonError without one.

        What nothing holds and no load moves stays where it is. What falls until something holds it is
        not on the way.
        """
        try:
            return self._balance(start, inputs, aim, step)
        except NewtonError as failed:
            if self.effects.increments > 1 and (inputs.drive != start.inputs.drive).any():
                try:
                    return self._carry(start, inputs, aim, step)
                except NewtonError:
                    pass
            suspect = str(failed) == SINGULAR or self.tangent.matrix.lost or aim == step
            if not suspect or not self.equations.lean_on_start(True):
                raise
            try:
                found = self._balance(start, inputs, aim, step)
            except NewtonError:
                raise failed from None
            finally:
                self.equations.lean_on_start(False)
            if loose_part(self.effects, found.q, found.z, inputs, found.memory) is None:
                raise
        found.indifferent = True
        return found

    def _carry(
        self, start: StaticSolution, inputs: Inputs, aim: float, step: float
    ) -> StaticSolution:
        """As `_attempt`, with the loads first, then the prescribed joints, which friction follows."""
        if (inputs.u != start.inputs.u).any():
            start = self._attempt(start, Inputs(inputs.u, start.inputs.drive), aim, step)
        return self._balance(start, inputs, aim, step, follow=True)

    def _balance(
        self, start: StaticSolution, inputs: Inputs, aim: float, step: float, follow: bool = False
    ) -> StaticSolution:
        """Newton iterations at one load level from `start`; raises NewtonError if they go astray."""
        equations, checks = self.equations, self.equations.checks
        self.recall(start, go_on=True)
        equations.begin(start, inputs, aim, step)
        if follow:
            equations.follow_drives()
        before = self.count
        try:
            equations.attempt()
        finally:
            self.count = before + len(checks.steps)
        sizes = equations.sizes
        near = len(sizes) > 1 and sizes[-2] < POLICY.near
        negative, odd = (self.negative(), self.odd()) if near else self.inertia()
        checks.heed_end(negative)
        checks.heed_turn(step, self.largest)
        if checks.obstructed:
            checks.heed_obstacles(self.state.place(start.q))
        checks.heed_middle(inputs, negative, odd)
        checks.accept()
        return StaticSolution(
            equations.state.q.copy(),
            equations.z.copy(),
            inputs,
            0,
            sizes[-1],
            sizes,
            [],
            negative,
            bool(equations.counts[loops.AT_ROUNDING]),
            odd=odd,
            memory=self.memory.copy(),
        )

    def measure(self, r: Array) -> tuple[float, float]:
        """Norm of the forces of a residual, and of its weighted gaps."""
        effects = self.effects
        return norms(r, effects.tree.coordinates, effects.gap_rows, effects.gap_weights)

    def inertia(self) -> tuple[int | None, bool]:
        """Factorise the tangent: its negative pivots, and whether its determinant is negative."""
        try:
            self.tangent.matrix.factorise()
        except SingularError:
            return None, False
        return self.negative(), self.odd()

    def negative(self) -> int | None:
        """Negative pivots of the last factor, reduced to free motions: those of force fields and
        multipliers, one each, do not count.
        """
        pivots = self.tangent.matrix.negative
        return None if pivots is None else pivots - len(self.effects.gap_rows)

    def odd(self) -> bool:
        """Whether the determinant of the last factor, reduced, is negative; only without symmetry."""
        if self.symmetric or self.effects.increments > 1:
            return False
        pivots, lost = self.tangent.matrix.flags[:2].tolist()
        return bool(pivots >= 0 and not lost and (pivots - len(self.effects.gap_rows)) % 2)
