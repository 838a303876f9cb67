"""Load continuation: from a known equilibrium to the full load along one branch."""

from __future__ import annotations

from typing import Any, Protocol

from pliant.bvp.contract import CAREFUL, FINEST, Progress, Record, RejectedError, State, Watch
from pliant.model import ConvergenceError

LARGEST_TURN = 2.5
"""Radians by which the chain may bend in one load step; beyond, branches can be confused."""


class Branch(Protocol):
    """Equilibria of a chain at load levels from 0 to 1.

    smallest : load step below which no equilibrium is expected.  growth : of load steps that converge.
    """

    record: Record
    smallest: float
    growth: float

    def keep(self) -> Any:
        """What `restore` needs to come back to the present level."""

    def restore(self, kept: Any) -> None:
        """Come back to a level."""

    def reach(self, level: float, target: float) -> State:
        """Go from one level to the next; raises RejectedError if that leads nowhere."""

    def give_up(self, level: float, reason: str) -> ConvergenceError:
        """The error of a branch that ends at `level`, where it is now."""


def follow(branch: Branch, progress: Progress | None, watch: Watch | None) -> State:
    """Follow a branch to the full load in as few load steps as it takes, and return the last state.

    watch : see `StrongSolver.statics`.
    """
    largest = 1.0 if watch is None else CAREFUL
    level, step, falling, record = 0.0, largest, 0, branch.record
    while True:
        target = min(1.0, level + step)
        kept = branch.keep()
        try:
            state = branch.reach(level, target)
            count = 0 if watch is None else watch(state, target)
            if count > falling and step > FINEST:
                raise RejectedError("an equilibrium becomes unstable within a load step")
        except RejectedError as error:
            branch.restore(kept)
            step = (0.25 if step == 1.0 else 0.5) * (target - level)
            if step < branch.smallest:
                raise branch.give_up(level, str(error)) from None
            continue
        step, level, falling = min(branch.growth * (target - level), largest), target, count
        record.levels.append(level)
        if progress is not None:
            progress(level, record.iterations, record.residual)
        if level >= 1.0:
            return state
