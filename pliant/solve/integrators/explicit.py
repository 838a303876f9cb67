"""Explicit integration of robots whose inertia is lumped at nodes: no equations to solve.

`dt` is the time between inputs. Each is cut into as many short steps as stability needs, by a scheme
that suits the damping (`lumped`). The only guess of a step is its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops
from pliant.engine.arrays import clear, combine, copy
from pliant.engine.newton import Policy
from pliant.engine.program import Program, ask, record, run
from pliant.model import DescriptionError, Rod
from pliant.model.fields import Number, holds
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array, RodModel
from pliant.solve.integrators.contract import Integrator, StepError, Stepper
from pliant.solve.integrators.lumped import rigid
from pliant.solve.integrators.lumped.energy_watch import EnergyWatch
from pliant.solve.integrators.lumped.guides import Guides
from pliant.solve.integrators.lumped.outputs import InsideOutputs
from pliant.solve.integrators.lumped.scheme import Scheme
from pliant.solve.integrators.lumped.short_steps import LOOK, ShortSteps, failed
from pliant.solve.integrators.lumped.side_by_side import SideBySide, kind_of
from pliant.tree.state import State

_RUNGS = (0.6, 0.42, 0.3, 0.2)
"""Length of short steps, relative to those of the start, each time that the balance does not hold."""
POLICY = Policy(iterations=1)


_EXAMPLE = "0.9, where 1 is the stability limit"


@dataclass(frozen=True)
class Explicit(Integrator):
    """Explicit integrator for robots with lumped inertia: many cheap steps near their stability limit.

    Rods are spectral elements unless you choose another formulation with lumped inertia.

    Without damping, steps are those of a leapfrog method of fourth order; with weak damping those of
    Verlet's method, with strong viscosity those of a Runge-Kutta-Chebyshev method, both of second
    order. Which one is chosen, by cost, is in `motion.scheme`. Bases may move as inputs tell; joints
    that are free to move other than Free() and constraints are refused; contact needs a stiffness.

    Undamped motions of soft rods carry energy to ever shorter waves. From the time at which it reaches
    the grid, steps near the limit would gain energy: they are shortened when the energy balance shows
    it, and you are told the time, for from then on the motion depends on the mesh.

    safety : length of the first steps relative to the stability limit, between 0 and 1.
    longest : length that they may have, s; None for what stability allows. With strong viscosity
    stable steps can be too long to be accurate.
    """

    safety: float = holds(Number(example=_EXAMPLE, sign="positive", limits=(0.0, 1.0)), 0.9)
    longest: float | None = holds(Number(unit="s", sign="positive", example="1e-4"), None)
    halves: ClassVar[bool] = False
    moves_many: ClassVar[bool] = True
    flattens: ClassVar[bool] = False
    """It finds planes by itself, also on its way."""

    @property
    def order(self) -> int:
        """Four without damping."""
        return 4

    def formulations(self, rods: Mapping[str, Rod]) -> dict[str, RodModel]:
        """Nodes with lumped inertia."""
        from pliant.solve.registry import lumped_formulation

        own = [name for name, rod in rods.items() if rod.formulation is None]
        return dict.fromkeys(own, lumped_formulation())

    def stepper(self, effects: Effects, h: float) -> Stepper:
        return ExplicitStepper(effects, h, self.safety, self.longest)

    def kind(self, effects: Effects) -> Hashable | None:
        return kind_of(effects)

    def side_by_side(self, begins: Sequence[Any], h: float) -> SideBySide:
        return SideBySide(begins, h, self.safety, self.longest)


def _check(effects: Effects) -> None:
    """Refuse what explicit steps cannot carry."""
    if effects.rows:
        term = effects.rows[0]
        name = getattr(term.source, "label", "a rod whose strains are held")
        wanted = "one that solves for constraints"
        remedy = "give it a stiffness, or use Midpoint()" if term.one_sided else "use Midpoint()"
        raise DescriptionError(name, "integrator", "Explicit()", wanted, remedy)


class ExplicitStepper(Stepper):
    """Steps of `Explicit`: several short ones for every step of h seconds."""

    def __init__(
        self, effects: Effects, h: float, safety: float, longest: float | None = None
    ) -> None:
        super().__init__(effects, h, POLICY, 1e-12)
        self._lengths = safety, longest
        ends = (self.before, self.after[: len(self.before)])
        self.short = ShortSteps([effects], [self.workspace], h, ends, [self.account])
        self.system, self.pace = self.short.system, self.short.pace
        self.system.robots[0].memory = self.memory
        _check(effects)
        self._outputs = InsideOutputs([effects], self.capacity)
        self._rates = np.zeros(self.tree.total)
        self._stepping: Program | None = None
        self._interpolates = self._heeds = False
        """Whether any outputs were wanted inside steps so far, and inputs that change."""
        self.counts[loops.KNOWS_LAST] = -1
        self.watch, self.wait = EnergyWatch([effects]), np.zeros(2, dtype=np.int64)
        """The energy balance; steps until it is looked at, and steps taken."""
        self.rung, self.shortened = np.zeros(1, dtype=np.int64), np.zeros(1)
        """How often the short steps were shortened, and when that was first, s."""
        self._start: list[Array] = []

    def refill(self) -> bool:
        self.workspace.refill()
        self.system.refill()
        return True

    # -- state -------------------------------------------------------------------------------

    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        self.a.place(self.q)
        self.system.acting[...], self._rates[...] = inputs.u, v
        self._put_nodes()
        self.guides.begin(v, self.effects.prescribed.rates(inputs.drive)[1], self.h)
        self.system.set_rates()
        self.guides.add_kinetic(np.zeros(2), True)
        self.rung[0], self.wait[1] = 0, 0
        self._choose_steps()
        self.scheme.process()
        if self.keeps_account:
            self.watch.start(self.scheme, [self.a])
            self._keep_start()

    def _put_nodes(self) -> None:
        """Put the nodes at the configuration, with its rates, at the start of a step."""
        self.pace.passed[0] = self.system.now[0] = 0.0
        self.system.begin([self.q], [self._rates])

    @property
    def guides(self) -> Guides:
        """The joints that inputs move."""
        return self.system.robots[0].guides

    @property
    def scheme(self) -> Scheme:
        """What takes the short steps."""
        return self.short.scheme

    def _choose_steps(self) -> None:
        """Choose scheme and length of the short steps."""
        before = self.scheme
        self.short.choose(*self._lengths, self.keeps_account)
        if self.scheme is not before:
            self._forget_programs()
        self._set_steps(self.short_steps)

    def _forget_programs(self) -> None:
        """Have the programs of a step recorded anew."""
        self._stepping = self._plain = self._programs = None

    def _set_steps(self, count: int) -> None:
        """Take `count` short steps for each step of h seconds."""
        self.pace.set(count)
        self.wait[0] = self.short.patience
        self._outputs.plan(np.zeros(0), count)

    @property
    def short_steps(self) -> int:
        """Short steps for each step."""
        return int(self.pace.count[0])

    def velocity(self) -> Array:
        return self._rates

    def note_rates(self, b: State) -> None:
        copy(self._rates, self.rates)

    def remembered(self) -> list[Any]:
        own = [x for motion in self.system.motions for x in vars(motion).values()]
        own = [x for x in own if isinstance(x, np.ndarray)]
        pace = [x for x in vars(self.pace).values() if isinstance(x, np.ndarray)]
        return [
            *super().remembered(), *own, *pace, *self.system.moving_arrays(),
            *self.guides.changing(), self.watch.known,
        ]  # fmt: skip

    def resume(self) -> None:
        super().resume()
        self._outputs.plan(np.zeros(0), self.short_steps)
        if self.keeps_account:
            self._keep_start()

    # -- what a step is asked for ----------------------------------------------------------------

    def wish(self, shares: Array) -> bool:
        self._outputs.plan(shares, self.short_steps)
        if len(shares) and not self._interpolates:
            self._interpolates = True
            self._forget_programs()
        return True

    def take(self, rows: Array, wanted: Any = None) -> int:
        if self._fed or self.scheme.heed(rows[:, : len(self.before)]):
            self._heed_changes()
        return super().take(rows, wanted)

    def one_step(self, row: Array) -> Callable[[], bool]:
        self._heed_changes()
        return super().one_step(row)

    def _heed_changes(self) -> None:
        """Have steps whose inputs change."""
        if not self._heeds:
            self._heeds = self.scheme.changes = True
            self._forget_programs()

    def begin_step(self, a: State, b: State) -> None:
        combine(0.5, self.before, 0.5, self.after[: len(self.before)], self.mean)
        self.guides.plan(self.q, self.joint_q, self.joint_v, self.joint_acc, self.h)

    def guesses(self, a: State, b: State) -> list[Callable[[], None]]:
        def advance() -> None:
            self._advance(b)

        return [advance]

    def _advance(self, b: State) -> None:
        """Take all short steps, and set b and the rates as the motion has them."""
        if self._stepping is None:
            self._stepping = record(self._all_steps)
        self._stepping()
        self.scheme.aside(lambda: self.system.write([b.q], [self._rates]))
        self.scheme.end_change()

    def _all_steps(self) -> None:
        clear(self.pace.passed)
        self.scheme.begin_change()
        if self._interpolates:
            self._outputs.advance(self.scheme, [self.q], lambda _, *row: self.keep_row(*row))
        else:
            self.scheme.advance(self.pace.count)

    def place_iterate(self, a: State, b: State) -> None:
        b.place(b.q)

    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        clear(self.left)
        self.measure_left()
        for motion in self.system.motions:
            run(rigid.check_finite, motion.rates, self.numbers, loops.SIZE)

    def move_iterate(self, a: State, b: State) -> None:
        """Move nothing: there is nothing to correct."""

    def accept_step(self, a: State, b: State) -> None:
        copy(b.q, self.q)
        if self.keeps_account:
            for term in self.system.robots[0].working:
                ask(term.add_work_done, a, b, self.mean, self.account[:1])
            self.guides.add_kinetic(self.account, True)
            run(count_steps, self.wait, self.counts)
        copy(self.after[: len(self.before)], self.before)
        self._outputs.forget(self.pace.count)

    # -- watching the energy ---------------------------------------------------------------------

    def _moving(self) -> list[Array]:
        """All that a step changes."""
        nodes = [*self.system.moving_arrays(), *self.guides.changing()]
        return [*nodes, self.q, self._rates, self.before, self.account, self.memory]

    def _keep_start(self) -> None:
        self.guides.moved[0] = 0
        self._start = [x.copy() for x in self._moving()]

    def finish_step(self, a: State, b: State) -> None:
        """Look at the energy; shorten the steps where it has changed, and take this step again.

        Where inputs change or loads follow the robot, their work is known for whole steps of h seconds
        only, not well enough; with damping no energy reaches the grid.
        """
        self.wait[0] = self.short.patience
        inputs = self.after.copy()
        steady = np.array_equal(self._start[-3], self.before) and self.scheme.conserves
        if not steady or not self.effects.conservative(self.before):
            self.watch.start(self.scheme, [b])
            self._keep_start()
            return
        while not self.watch.holds(self.scheme, [b], bool(self.guides.moved[0])):
            if self.rung[0] == len(_RUNGS):
                raise self.error("the energy balance does not close, however short the steps are")
            self._shorten(a, b, inputs)
        self._keep_start()

    def _shorten(self, a: State, b: State, inputs: Array) -> None:
        """Shorten the short steps; take the step again if it is the only one since the last look, and
        bases rested in it.
        """
        rung, last = int(self.rung[0]), self.short_steps
        before = 1.0 if rung == 0 else _RUNGS[rung - 1]
        count = math.ceil(last * before / _RUNGS[rung])
        if rung == 0:
            self.shortened[0] = float(self.wait[1]) * self.h
        self.rung[0] += 1
        again = last >= LOOK and not self.guides.moved[0]
        shares = self._outputs.last()
        self._set_steps(count)
        if not again:
            self.watch.start(self.scheme, [b])
            return
        for x, kept in zip(self._moving(), self._start, strict=True):
            x[...] = kept
        self.after[...] = inputs
        self.system.acting[...] = self.before
        self._put_nodes()
        self.scheme.process()
        self.counts[loops.KEPT] -= len(shares)
        self._outputs.plan(shares, count)
        self.begin_fed_step(a, b)
        self._advance(b)
        b.place(b.q)
        self.wait[1] -= 1
        self.accept_fed_step(a, b)
        self.counts[loops.PAUSED] = 0

    @property
    def method(self) -> str:
        return self.short.method

    def remarks(self) -> list[str]:
        """Tell from when on the steps were shortened."""
        if not self.rung[0]:
            return []
        return [
            f"from t = {self.shortened[0]:.3g} s on, waves shorter than the grid resolves carry "
            "energy: the motion then depends on the mesh. Explicit() has shortened its steps. Give the "
            "material a viscosity, which takes up such waves, or use the motion before that time."
        ]

    def aim_at(self, leader: Stepper, b: State) -> None:
        raise TypeError("explicit steps have no equations that a neighbour could correct")

    def error(self, reason: str) -> StepError:
        return failed(self.h, reason)


@kernel
def count_steps(wait, counts):  # type: ignore[no-untyped-def]
    """Count steps; pause where the energy balance is to be looked at."""
    wait[0] -= 1
    wait[1] += 1
    if wait[0] <= 0:
        counts[loops.PAUSED] = 1
