"""The contract of a scheme: how an explicit integrator takes its short steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import copy
from pliant.engine.program import Program, ask, record, repeat, run
from pliant.rods.contract import Array, Ints
from pliant.solve.integrators.lumped import rigid
from pliant.solve.integrators.lumped.pace import Pace
from pliant.solve.integrators.lumped.system import LumpedSystem


@dataclass(frozen=True)
class Damping:
    """How fast a robot vibrates and how fast that dies out, where its motion starts.

    omega : highest frequency, rad/s.  rate : largest rate at which velocities decay by damping alone,
    1/s.  retardation : shortest retardation time of the rods, s; 0 where a rod has none.
    """

    omega: float
    rate: float
    retardation: float


class Scheme(ABC):
    """Short steps of a lumped system at a pace.

    before, after (J,) : inputs at the start and at the end of a step of h seconds.
    accounts (2 + records,) : of the energy of each robot; the second entry is what it lost, J.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    conserves: ClassVar[bool] = False
    """Whether the energy balance tells of instability: nothing is damped."""

    def __init__(
        self,
        system: LumpedSystem,
        pace: Pace,
        ends: tuple[Array, Array],
        accounts: Sequence[Array],
    ) -> None:
        self.system, self.pace, self.accounts = system, pace, accounts
        self.before, self.after = ends
        self.keeps_account, self.changes = True, False
        """Whether energies are accounted for, and whether inputs change in any step."""
        self._more, self._loss = np.zeros(1, dtype=np.int64), np.zeros(1)
        self._first: Program | None = None

    @abstractmethod
    def most(self, damping: Damping) -> float:
        """Length of the longest stable step, s."""

    def evaluations(self, damping: Damping) -> float:
        """Evaluations of the forces in a second of motion, for steps of that length."""
        return 2.0 / max(self.most(damping), 1e-300)

    def prepare(self, damping: Damping) -> None:
        """Get ready for steps of the length that the pace has."""
        return

    def process(self) -> None:
        """Change nodes and momenta of a motion to those that the steps take on."""
        return

    def undo(self) -> None:
        """Change what the steps have reached to nodes and momenta of the motion, for an output."""
        return

    def heed(self, rows: Array) -> bool:
        """Whether inputs (n, J) at the ends of steps are the first that change."""
        first = not self.changes and bool((rows != self.before).any())
        self.changes = self.changes or first
        return first

    def begin_change(self) -> None:
        """Let momenta be processed with inputs that change in this step, and then as before it."""
        return

    def end_change(self) -> None:
        """Let momenta be processed with constant inputs again."""
        return

    @abstractmethod
    def enter(self) -> None:
        """Begin a run of short steps."""

    @abstractmethod
    def step(self) -> None:
        """One short step within a run of them."""

    @abstractmethod
    def leave(self) -> None:
        """The last short step of a run."""

    def advance(self, count: Ints) -> None:
        """Take count (1,) short steps, at least one."""
        run(rigid.one_less, count, self._more)
        self.enter()
        self.go_on(self._more)
        self.leave()

    def go_on(self, more: Ints) -> None:
        """Take more (1,) short steps within a run of them."""
        if self._first is None:
            self._first = record(self.step)
        repeat(more, self._first)

    def aside(self, *functions: Callable[[], None]) -> None:
        """Call functions at the nodes and momenta of the motion; the steps then go on as before."""
        kept = [(x, np.zeros_like(x)) for x in self.system.moving_arrays()]
        for x, out in kept:
            copy(x, out)
        self.inputs_now()
        self.undo()
        for function in functions:
            function()
        for x, out in kept:
            copy(out, x)

    def inputs_now(self) -> None:
        """Let the inputs act that belong to the part of the step that is over."""
        system = self.system
        given = (self.before, self.after, system.acting, system.now)
        run(rigid.inputs_now, self.pace.passed, *given)

    def add_loss(self, share: float = 1.0) -> None:
        """Add `share` of what a short step at the velocities of the system dissipates, and of what
        drives do in it.
        """
        if not self.keeps_account:
            return
        self.add_work(share)
        for robot, account in zip(self.system.robots, self.accounts, strict=True):
            moment: Any = robot.moment(True)
            run(set_zero, self._loss)
            for term in robot.effects.terms:
                ask(term.add_power_lost, moment, 1.0, self._loss)
            run(rigid.add_loss, share, self.pace.short, self._loss, account)

    def add_work(self, share: float = 1.0) -> None:
        """Add `share` of what drives do in a short step, but that which moves the mass of bases."""
        fields = [motion.field for motion in self.system.motions]
        for robot, account in zip(self.system.robots, self.accounts, strict=True):
            robot.guides.add_work(share, self.pace.short, fields, robot.rates, account)


@kernel
def set_zero(out):  # type: ignore[no-untyped-def]
    """out_0 = 0."""
    out[0] = 0.0
