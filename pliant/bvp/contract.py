"""The contract of a strong-form method: settings that make a solver for one chain of rods.

A solver has no coordinates. It finds the state of the chain, as functions of arclength, at rest or
at the next instant, and hands it over at knots: enough sections that everything between them follows
by cubic interpolation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pliant.bvp.chain import Chain
from pliant.lie.tuples import Array
from pliant.model import ConvergenceError
from pliant.model.base_motion import BaseState
from pliant.rods.contract import Capabilities, Ints, RodModel

Progress = Callable[[float, int, float], None]
"""Told the load level reached, the iterations so far and the relative residual."""
CAREFUL, FINEST = 1.0 / 16.0, 1.0 / 512.0
"""Largest and smallest load step where stability is watched, as a part of the load."""


@dataclass
class State:
    """A chain at one instant, at K knots from base to tip; each piece has knots at both its ends.

    piece : (K,) piece of each knot.  s : (K,) arclength on its rod, m.  pose : (K, 4, 4) world.
    wrench, strain, velocity, strain_rate : (K, 6) body frame.
    discrete : what the solver that made the state keeps of it, so that a motion can start from the very
    same discrete solution; None for states made otherwise.
    """

    piece: Ints
    s: Array
    pose: Array
    wrench: Array
    strain: Array
    velocity: Array
    strain_rate: Array
    discrete: Any = None


Watch = Callable[[State, float], int]
"""Tells of an equilibrium at a load level in how many directions its energy falls."""


@dataclass(frozen=True)
class TimeRule:
    """A time derivative as y_t = c0 y + c1 y_1 + c2 y_2 + d1 y_1t: now, one and two steps back."""

    c0: float
    c1: float
    c2: float
    d1: float

    def shares(self, step: float) -> tuple[float, float, float]:
        """Seconds of a step of `step` s during which the powers at its start, at its end, and those of
        the mean rates and forces of both count in the energy balance.

        Mean balance at both ends of a trapezoidal step, times the mean rates, is

            T1 - T0 + V1 - V0 + h vm^T C vm = h fm^T vm,   vm = (v0 + v1) / 2,  fm = (f0 + f1) / 2,

        where the mean of both powers would be more by h (v1 - v0)^T C (v1 - v0) / 4: no small part of
        it where rates jump. Stages y = y_0 + h sum a k of a first step know no rates at its start; they
        count the powers k with the weights of k in y, of which 1 / c0 is that of the last.
        """
        if self.c1 == 0.0 or (self.c2 == 0.0 and self.d1 == 0.0):
            return step - 1.0 / self.c0, 1.0 / self.c0, 0.0
        return 0.0, 0.0, step


@dataclass
class Record:
    """How a solution was found.

    iterations : of Newton in all.  residual : what is left, relative.  history : after each
    iteration of the last attempt.  levels : load levels passed, 1.0 the full load.
    rescues : what had to be called for help, with how often.
    """

    iterations: int = 0
    residual: float = 0.0
    history: list[float] = field(default_factory=list)
    levels: list[float] = field(default_factory=list)
    rescues: Counter[str] = field(default_factory=Counter)


class RejectedError(Exception):
    """An attempt that should not be continued, with the reason in words."""


class StepError(ConvergenceError):
    """A time step did not converge; the solver still holds the state before it."""


class StrongSolver(ABC):
    """Solves one chain; holds the present state and the history that a time rule needs."""

    record: Record
    failure: StepError | None = None

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """Numbers that Newton's method solves for at present."""

    @abstractmethod
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

        base : (4, 4) pose of a clamped base.  watch : go in load steps of CAREFUL at most, and in
        shorter ones, down to FINEST, where the number that it tells grows: a long one can lead to
        another branch. Raises ConvergenceError with the last good State.
        """

    @abstractmethod
    def begin(self, state: State) -> None:
        """Take `state` as the present one; strain and velocity count, their rates do not."""

    @abstractmethod
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

    def advance(
        self,
        rule: TimeRule,
        step: float,
        values: Sequence[Mapping[str, Any]],
        bases: Sequence[BaseState],
    ) -> int:
        """Go through several instants, `step` seconds apart; return how many were reached.

        If one of them was not, `failure` says why and the solver holds the state before it.
        """
        for k, (value, base) in enumerate(zip(values, bases, strict=True)):
            try:
                self.step(rule, step, value, base)
            except StepError as error:
                self.failure = error
                return k
        return len(values)

    @abstractmethod
    def work_and_loss(self) -> tuple[float, float]:
        """Return the work done on the chain and the energy lost since `begin`, J.

        Weight does no work here: it has a potential.
        """

    @abstractmethod
    def state(self) -> State:
        """Return the present state."""

    @abstractmethod
    def attach_discrete(self, state: State) -> None:
        """Give the present state what a motion needs to start from the same discrete solution."""


@dataclass(frozen=True)
class StrongForm(RodModel, ABC):
    """Settings of a strong-form method; used like a formulation."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        theories=("cosserat", "kirchhoff"), massless_rotation=True
    )

    @abstractmethod
    def solver(self, chain: Chain, rate: float = 0.0) -> StrongSolver:
        """Return a solver for `chain`; rate : c0 of the time rule that it is meant for, 0 at rest."""

    def doubt(self, chain: Chain, rate: float, dt: float) -> str:
        """Say why motions with this time rule cannot be trusted, or nothing."""
        return ""


def blank_state(piece: Ints, s: Array) -> State:
    """A state of zeros at K knots, poses the identity."""
    K = len(s)
    return State(piece, s, np.tile(np.eye(4), (K, 1, 1)), *(np.zeros((K, 6)) for _ in range(4)))
