"""Equilibria by collocation: load steps along a branch, with as many points as the solution needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.bvp.chain import Chain
from pliant.bvp.collocation_newton import LARGEST_TURN, RejectedError, bent, climb
from pliant.bvp.collocation_order import Policy
from pliant.bvp.collocation_state import make_state, moved_unknowns, on_grid
from pliant.bvp.collocation_system import System
from pliant.bvp.contract import CAREFUL, FINEST, Progress, Record, State, Watch
from pliant.lie.tuples import Array
from pliant.model import ConvergenceError

SMALLEST_STEP = 1e-4
LARGEST_GROWTH = 8
"""Times that points may be added for one load step."""


class Ascent:
    """The way from a start to the full load.

    From rest the loads grow; from another state all loads act. The mismatch that is there, also the
    gap at a held tip, goes to zero on the way. `system` and `x` are the last good ones.
    """

    def __init__(
        self,
        system: System,
        x: Array,
        policy: Policy,
        record: Record,
        apply: Callable[[System, float], None],
        from_rest: bool,
    ) -> None:
        self.system, self.x = system, x
        self.policy, self.record = policy, record
        self._apply, self._from_rest = apply, from_rest
        self._left = np.zeros(system.unknowns)

    @property
    def chain(self) -> Chain:
        """The chain that is solved."""
        return self.system.grid.chain

    def state(self) -> State:
        """The state of the last good x."""
        return make_state(self.chain, self.system.grid, self.system.shape, self._no_rate())

    def _no_rate(self) -> Array:
        return np.zeros((6, self.system.grid.size))

    def run(
        self,
        tolerance: float,
        progress: Progress | None,
        good: State | None,
        watch: Watch | None = None,
    ) -> State:
        """Go up to the full load; `good` is the state to report if that fails at once."""
        self._apply(self.system, 0.0 if self._from_rest else 1.0)
        self._left = self.system.evaluate(self.x)
        largest = 1.0 if watch is None else CAREFUL
        level, step, falling = 0.0, largest, 0
        while level < 1.0:
            target = min(1.0, level + step)
            kept = self.system, self.x, self._left, self.system.base.pose
            try:
                self._reach(target, tolerance)
                found = self.state()
                count = 0 if watch is None else watch(found, target)
                if count > falling and step > FINEST:
                    self.system, self.x, self._left, self.system.base.pose = kept
                    raise RejectedError("an equilibrium becomes unstable within a load step")
            except RejectedError as error:
                step = 0.5 * (target - level)
                if step < SMALLEST_STEP:
                    raise self._failure(level, str(error), good) from None
                continue
            self.record.levels.append(target)
            step, level = min(1.5 * (target - level), largest), target
            good, falling = found, count
            if progress is not None:
                progress(level, self.record.iterations, self.record.residual)
        if len(self.record.levels) > 1:
            self.record.rescues["load steps"] = len(self.record.levels)
        assert good is not None
        return good

    def _reach(self, target: float, tolerance: float) -> None:
        """Solve at a load level and add points until the solution is resolved."""
        system, x, left = self.system, self.x, self._left
        tail = LARGEST_GROWTH
        for _ in range(LARGEST_GROWTH):
            self._apply(system, target if self._from_rest else 1.0)
            found = climb(system, x, (1.0 - target) * left, tolerance, self.record)
            if tail == LARGEST_GROWTH and bent(system, found - x) > LARGEST_TURN:
                raise RejectedError("the rods turn too far in one load step")
            grown = self.policy.grown(
                system.grid.orders, self.policy.wanted(system.grid, system.shape)
            )
            if grown is None:
                x = found
                break
            other = System(self.chain, grown, system.base)
            other.shape.h[:] = on_grid(system.grid.orders, grown, system.shape.h)
            left = moved_unknowns(system.grid, other.grid, left)
            x = moved_unknowns(system.grid, other.grid, found)
            system, tail = other, tail - 1
        self.system, self.x, self._left = system, self._settled(system, x), left

    @staticmethod
    def _settled(system: System, x: Array) -> Array:
        """Take the pose of a free base as the new reference."""
        count = system.grid.base_unknowns
        if count:
            system.base.pose = system.base.where(x[:count])[0]
            x = x.copy()
            x[:count] = 0.0
        return x

    def _failure(self, level: float, reason: str, good: State | None) -> ConvergenceError:
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
        return ConvergenceError(text, good)
