"""The contract of a strong-form method: settings that make a solver for one chain of rods.

A solver has no coordinates. It finds the state of the chain, as functions of arclength, at rest or
at the next instant, and hands it over at knots: enough sections that everything between them follows
by cubic interpolation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pliant.bvp.chain import Chain
from pliant.engine.newton import NewtonError
from pliant.lie.tuples import Array
from pliant.model import BaseState, ConvergenceError
from pliant.model.checks import StepError
from pliant.rods.contract import Capabilities, Ints, RodModel

if TYPE_CHECKING:
    from pliant.bvp.history import History
    from pliant.bvp.sections import Sections

Progress = Callable[[float, int, float], None]
"""Told the load level reached, the iterations so far and the relative residual."""
CAREFUL, FINEST = 1.0 / 16.0, 1.0 / 512.0
"""Largest and smallest load step where stability is watched, as a part of the load."""
LARGEST_TURN = 2.5
"""Radians by which the chain may bend in one load step; beyond, branches can be confused."""


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

    def rows(self) -> Array:
        """The states (K, 24) of the sections as kernels have them, see `rod_equations`."""
        rotations = self.pose[:, :3, :3].reshape(-1, 9)
        return np.concatenate([self.wrench, self.velocity, self.pose[:, :3, 3], rotations], axis=1)


Watch = Callable[[State, float], int]
"""Tells of an equilibrium at a load level in how many directions its energy falls."""


@dataclass(frozen=True)
class TimeRule:
    """A time derivative as y_t = c0 y + c1 y_1 + c2 y_2 + d1 y_1t: now, one and two steps back."""

    c0: float
    c1: float
    c2: float
    d1: float

    def weights(self) -> Array:
        """The coefficients (4,) as kernels read them."""
        return np.array([self.c0, self.c1, self.c2, self.d1])

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


@dataclass(frozen=True)
class BasePath:
    """Where a clamped base is on the way to a load.

    pose : (4, 4) at a load level, 0 to 1.  largest : load step in which it does not go too far for the
    branch to be followed.
    """

    pose: Callable[[float], Array]
    largest: float = 1.0

    @classmethod
    def fixed(cls, pose: Array) -> BasePath:
        """A base that stays where it is."""
        return cls(lambda level: pose)


JUMP = 0.01
"""Change of the internal wrench, relative to one that bends the chain by a radian, that is expected."""


class StrongSolver(ABC):
    """Solves one chain; holds the present state and the history that a time rule needs.

    totals : (2,) work done on the chain and energy lost since `begin`, J; weight has a potential.
    smallest : load step below which no equilibrium is expected.  growth : of load steps that converge.
    attempts : at load levels after which it gives up, besides those that the largest step needs.
    """

    smallest: ClassVar[float]
    growth: ClassVar[float]
    attempts: ClassVar[int] = 500
    failure: StepError | None = None

    def __init__(self, chain: Chain) -> None:
        self.chain, self.record, self.totals = chain, Record(), np.zeros(2)
        self._present: State | None = None
        self._path = BasePath.fixed(chain.base.pose)
        self.acting: Mapping[str, Any] | None = None
        """Values of the inputs at the present instant, None before the first step."""

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """Numbers that Newton's method solves for at present."""

    @abstractmethod
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

        base : where a clamped base is on the way; from a `start` it is at its end.
        watch : go in load steps of CAREFUL at most, and in shorter ones, down to FINEST, where the
        number that it tells grows: a long one can lead to another branch.
        Raises ConvergenceError with the last good State.
        """

    def own_error(self, found: State) -> float | None:
        """Displacement error, m, of the equilibrium that was just found; None if a finer one must tell.

        It costs far less than the solve.
        """
        return None

    def is_resolved(self) -> bool:
        """Whether the equilibrium that was just found surely errs by far less than is warned of."""
        return False

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

    @abstractmethod
    def past(self) -> Any:
        """The `History` of the motion, which may be written to between steps."""

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
    def improved(
        self, found: State, values: Mapping[str, Any], base: BasePath, tolerance: float
    ) -> tuple[State, float]:
        """Return the equilibrium near the one that was found on a finer grid, and the share of the
        error of `found` that it does not have. Raises ConvergenceError if there is none.
        """

    def state(self) -> State:
        """Return the present state."""
        if self._present is None:
            self._present = self._make_present()
        return self._present

    def _jump(self, sections: Sections, history: History, wrench: Array) -> Array | None:
        """Change (S, 6) of the internal wrench as inputs jump: strains stay what they are for a moment.

        wrench : (S, 6) now, at the stations.  None if the change is small.
        """
        change = sections.wrench(history.strain, history.strain_rate) - wrench
        change[~np.isfinite(change)] = 0.0
        return change if np.any(np.abs(change) > JUMP * self.chain.scale) else None

    def attach_discrete(self, state: State) -> None:
        """Give the present state what a motion needs to start from the same discrete solution."""
        if state is self._present and state.discrete is None:
            state.discrete = self._discrete(state)

    # -- checkpoints --------------------------------------------------------------------------

    @abstractmethod
    def points(self) -> list[Array]:
        """Edges of the intervals, or numbers of points, of each piece at present."""

    @abstractmethod
    def use_points(self, points: list[Array]) -> None:
        """Work on such points from now on."""

    @abstractmethod
    def remembered(self) -> list[Array]:
        """Arrays that hold all that the next step depends on, besides the `notes`."""

    def notes(self) -> dict[str, Any]:
        """Single numbers that the next step depends on, by name."""
        record = self.record
        found = (record.iterations, record.residual, dict(record.rescues))
        return dict(zip(("iterations", "residual", "rescues"), found, strict=True))

    def resume(self, state: State, notes: Mapping[str, Any], acting: Mapping[str, Any]) -> None:
        """Take the notes of a motion, and its present state; asked before the arrays are filled.

        acting : values of the inputs at the last instant.
        """
        rescues = Counter(notes["rescues"])
        self.record = Record(notes["iterations"], notes["residual"], rescues=rescues)
        self._present, self.acting = state, acting

    @abstractmethod
    def _make_present(self) -> State:
        """The state that the last step led to."""

    @abstractmethod
    def _discrete(self, state: State) -> Any:
        """What `State.discrete` is of the present state."""

    # -- load continuation ------------------------------------------------------------------

    @abstractmethod
    def _keep(self) -> Any:
        """What `_restore` needs to come back to the present load level."""

    @abstractmethod
    def _restore(self, kept: Any) -> None:
        """Come back to a load level."""

    @abstractmethod
    def _reach(self, level: float, target: float) -> State:
        """Go from one load level to the next; raises NewtonError if that leads nowhere."""

    @abstractmethod
    def _give_up(self, level: float, reason: str) -> ConvergenceError:
        """The error of a branch that ends at a load level, where it is now."""

    def _follow(self, progress: Progress | None, watch: Watch | None) -> State:
        """Follow a branch to the full load in as few load steps as it takes, and return the last state.

        watch : see `statics`.
        """
        largest = min(self._path.largest, 1.0 if watch is None else CAREFUL)
        level, step, falling, record = 0.0, largest, 0, self.record
        left = self.attempts + math.ceil(4.0 / largest)
        while True:
            left -= 1
            target, kept = min(1.0, level + step), self._keep()
            try:
                state = self._reach(level, target)
                count = 0 if watch is None else watch(state, target)
                if count > falling and step > FINEST:
                    raise NewtonError("an equilibrium becomes unstable within a load step")
            except NewtonError as error:
                self._restore(kept)
                step = (0.25 if step == 1.0 else 0.5) * (target - level)
                if step < self.smallest:
                    raise self._give_up(level, str(error)) from None
                continue
            step, level, falling = min(self.growth * (target - level), largest), target, count
            record.levels.append(level)
            if progress is not None:
                progress(level, record.iterations, record.residual)
            if level >= 1.0:
                return state
            if left <= 0:
                raise self._give_up(level, "many load steps did not lead farther")


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


def arrays_in(*items: Any) -> list[Array]:
    """Return the arrays in tuples with named fields; addresses of programs are no numbers to keep."""
    found: list[Array] = []
    for item in items:
        if isinstance(item, np.ndarray):
            found.append(item)
        elif hasattr(item, "_asdict"):
            fields = [x for name, x in item._asdict().items() if name != "programs"]
            found += arrays_in(*fields)
    return found


def blank_state(piece: Ints, s: Array) -> State:
    """A state of zeros at K knots, poses the identity."""
    K = len(s)
    return State(piece, s, np.tile(np.eye(4), (K, 1, 1)), *(np.zeros((K, 6)) for _ in range(4)))
