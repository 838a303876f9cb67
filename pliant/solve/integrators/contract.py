"""The contract of an integrator: settings that make a stepper for one robot.

A stepper holds the state between steps of length h. `take(rows, wanted)` takes one step for each row of
inputs, in one compiled call where all programs are, and keeps snapshots of those that are wanted;
`snapshots()` hands them over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops, modes
from pliant.engine.arrays import combine, copy
from pliant.engine.collection import collection_paused
from pliant.engine.exchange import Exchange, UnlikeError
from pliant.engine.loops import GAP, KEPT, SCALE, SIZE
from pliant.engine.newton import INFINITE, LOST, REASONS, SINGULAR, SLOW, Policy
from pliant.engine.program import Program, ask, include, record, run
from pliant.linalg.scatter import largest, norms
from pliant.linalg.sparse_factor import ENOUGH
from pliant.model import Rod
from pliant.model.checks import StepError
from pliant.model.fields import check_fields
from pliant.physics.effects import Effects, Inputs
from pliant.rods.contract import Array, Ints, RodModel
from pliant.solve.newton import Equations, negate
from pliant.tree.state import State
from pliant.tree.work import Work

_SHORT_LIVED = 2
"""Steps that are taken by plain calls: what takes no more is not worth recording."""


_IDLE, _KINDS = 2, 4
"""Steppers that are kept for a robot: of one kind, and kinds of them."""


_SNAPSHOTS, _NUMBERS = 1000, 2**20
"""Most snapshots that are kept in one call, and most numbers in them."""


class ChosenSteps(str):
    """How an integrator chose to take its steps, in words; with their order and their length, s."""

    order: int
    length: float


class Stepper(Equations):
    """The moving state of one simulation, and the equations of its next step; it belongs to one thread.

    q (nq,) configuration; z (total,) force fields and multipliers of the last step. A step leads from
    the state `a` to the state `b`, which then change places; `trial` (total,) are the force fields and
    multipliers at b, `left` (total,) the residual of the step. account
    (2 + records,) : work done by the inputs and energy dissipated so far, J, then what terms record of
    the last step. after (W,) : inputs at the end of the step, its first entries the
    numbers u (J,), then what prescribed joints do; before (J,) : u at its start, mean (J,) : between.
    memory : what terms keep from step to step; acted (J,) : u as it acts where the last step ended.
    u (J,) : numbers of the inputs at the end of the step.  v (total,) : rates at its start, where the
    stepper has them.
    """

    nodes: ClassVar[Array] = np.ones(1)
    """Parts (S,) of a step after which inputs are asked, the last one 1: a row of inputs (S W,) has
    those of the end first, then the others."""
    keeps_account: bool = True
    """Whether energy is accounted for; it costs time."""
    hint: str = "a smaller dt"
    """What to try where a step fails."""

    def __init__(self, effects: Effects, h: float, policy: Policy, tolerance: float) -> None:
        self.tangent = effects.tangent(False)
        super().__init__(policy, self.tangent.matrix)
        self.effects = effects
        self.tree = tree = effects.tree
        self.h = h
        self.tolerance = tolerance
        self.states = (State(tree), State(tree))
        self.side = np.zeros(1, dtype=np.int64)
        self.workspace = Work(tree)
        self._factored = np.zeros(tree.m)
        """Which one-sided rows held where the tangent was filled last."""
        self.q = np.zeros(tree.nq)
        self.z, self.trial, self.left = (np.zeros(tree.total) for _ in range(3))
        self.account = np.zeros(2 + effects.records)
        joints, count = effects.prescribed, effects.inputs
        self.before, self.mean = np.zeros(count), np.zeros(count)
        self.after = np.zeros(count + joints.width)
        ends = count + np.cumsum([0, len(joints.q_places), len(joints.v_places)])
        self.u, self.joint_q = self.after[:count], self.after[ends[0] : ends[1]]
        """Coordinates, velocities and accelerations of prescribed joints at the end of the step."""
        self.joint_v, self.joint_acc = self.after[ends[1] : ends[2]], self.after[ends[2] :]
        self.numbers[loops.TOLERANCE] = tolerance
        self.numbers[loops.GAP_LIMIT] = 1e-10 * max(tree.length, 1e-300)
        self.memory, self.acted = np.zeros(effects.memory), np.zeros(count)
        self._fed = [(term, self.memory[term.memory_at]) for term in effects.terms if term.memory]
        width = tree.nq + tree.total + count + 2
        self.capacity = min(_SNAPSHOTS, max(1, _NUMBERS // width))
        """Snapshots that one call can keep."""
        self.v, self.rates = np.zeros((2, tree.total))
        """What a snapshot keeps of the rates, see `note_rates`."""
        sizes = (tree.nq, tree.total, len(self.account), count)
        self._snapshots = tuple(np.empty((self.capacity, size)) for size in sizes)
        self._taken = 0
        self._plain: Any = None
        self._programs: Any = None

    # -- state ---------------------------------------------------------------------------------

    @property
    def a(self) -> State:
        """The state at the start of the step."""
        return self.states[self.side[0]]

    @property
    def b(self) -> State:
        """The state at its end."""
        return self.states[1 - self.side[0]]

    def start(self, q: Array, v: Array, inputs: Inputs, like: Stepper | None = None) -> None:
        """Begin at configuration q with rates v (total,) under `inputs`.

        like : a stepper that has come to this instant, whose memory it takes over.
        """
        self.q[...], self.before[...] = q, inputs.u
        if like is not None:
            self.memory[...], self.before[...] = like.memory, like.acted
        self.acted[...] = self.before
        self.z[...] = self.account[...] = 0.0
        self.side[0] = 0
        self.counts[[loops.ITERATIONS, loops.PREFERS_LAST, loops.ROUGH_STEPS, loops.PAUSED]] = 0
        self.numbers[[loops.SCALE, loops.REACH, loops.FIRST]] = 0.0
        self.forget_factor()
        if like is None and self._fed:
            where = (self.a.place(self.q), self.before, self.z, self.memory)
            self.effects.remember(*where, v)
        self.begin_motion(v, Inputs(self.before, inputs.drive))

    def refill(self) -> bool:
        """Take over the numbers of the robot, which has others now; False if it has to be made anew."""
        return False

    @abstractmethod
    def begin_motion(self, v: Array, inputs: Inputs) -> None:
        """Set what is known at the start of a motion at q with rates v (total,)."""

    def jump(self, u: Array) -> None:
        """Let the inputs have the numbers u (J,) from now on, at the start of the next step."""
        self.before[...] = self.acted[...] = u

    def velocity(self) -> Array:
        """Coordinate rates (total,) at the present configuration."""
        return self.v

    def rings(self) -> bool:
        """Whether the rates are mostly those of modes that the step does not resolve.

        They change sign from step to step and mean nothing; steps of another length would take them
        for a motion.
        """
        return False

    def note_rates(self, b: State) -> None:
        """Write to `rates` what `rates_of` needs to find the rates at the end of a step."""
        copy(self.v, self.rates)

    def rates_of(self, q: Array, noted: Array) -> Array:
        """Coordinate rates (T, total) of snapshots, from configurations (T, nq) and what was noted."""
        return noted

    def keep_now(self, wanted: bool) -> None:
        """Keep a snapshot of the present state, if wanted, and no other."""
        self.counts[loops.KEPT] = 0
        if wanted:
            self.keep_snapshot(self.a)

    def snapshots(self) -> tuple[Array, ...]:
        """Of the last call of `take`: q (T, nq), rates (T, total), account (T, 2) and inputs (T, J)."""
        count = int(self.counts[loops.KEPT])
        q, noted, account, acted = (kept[:count].copy() for kept in self._snapshots)
        return q, self.rates_of(q, noted), account, acted

    def holders(self) -> list[Any]:
        """Objects whose arrays the next step may depend on."""
        return [self, self.workspace, *self.workspace.parts]

    def remembered(self) -> list[Any]:
        """Arrays that hold all that the next step depends on, besides the states; see `resume`."""
        holders = [vars(holder) for holder in self.holders()]
        own = [x for names in holders for name, x in names.items() if name != "_programs"]
        arrays = [x for x in own if isinstance(x, np.ndarray)]
        return [*arrays, *(state.q for state in self.states), *self.matrix.remembered()]

    def resume(self) -> None:
        """Go on after the arrays that it remembers were given other numbers."""
        for state in self.states:
            state.place(state.q)

    def wish(self, shares: Array) -> bool:
        """Told before `take` at which parts (T,) of its first step outputs are wanted.

        Returns whether the stepper interpolates: it then keeps snapshots of them, with `keep_row`,
        before that of the end of the step. If not, shorter steps are taken to each of them.
        """
        return False

    # -- programs of a step from a to b ----------------------------------------------------------

    @abstractmethod
    def begin_step(self, a: State, b: State) -> None:
        """Set the equations of a step."""

    @abstractmethod
    def guesses(self, a: State, b: State) -> list[Callable[[], None]]:
        """What sets the iterate at which Newton's method may begin: one guess, or three."""

    @abstractmethod
    def place_iterate(self, a: State, b: State) -> None:
        """Place b where the iterate has it."""

    @abstractmethod
    def set_residual(self, a: State, b: State, tangent: bool) -> None:
        """Set `left` at the iterate, which is placed, and its size; fill the matrix if asked."""

    def fill(self, a: State, b: State, tangent: bool) -> None:
        """`set_residual`; a factor of other one-sided rows than those that hold now is given up."""
        self.set_residual(a, b, tangent)
        if self.effects.one_sided:
            run(heed_active, self.workspace.active, tangent, self._factored, self.counts)

    def measure_left(self) -> None:
        """Set size and largest gap of the residual."""
        effects, tree = self.effects, self.tree
        rows = (tree.coordinates, effects.gap_rows, effects.gap_weights, tree.multipliers)
        run(measure_residual, self.left, *rows, self.numbers)

    def weigh_play(self, play: Array, places: Ints, heavy: float, part: float) -> None:
        """Let the scale be as large as what is in play, as `weigh_residual` does."""
        effects = self.effects
        left = (self.left, self.tree.coordinates, effects.gap_rows, effects.gap_weights)
        run(weigh_residual, play, places, *left, heavy, part, self.numbers)
        self.measure_left()

    def weigh(self, a: State, b: State) -> None:
        """Set the scale from the first residual of a step."""

    @abstractmethod
    def move_iterate(self, a: State, b: State) -> None:
        """Move the iterate by x."""

    @abstractmethod
    def accept_step(self, a: State, b: State) -> None:
        """Take the iterate as the end of the step."""

    def feed(self) -> None:
        """Replace inputs that are asked for by those that act at the end of a step."""
        for term, memory in self._fed:
            ask(term.feed, self.h, memory, self.u)

    def begin_fed_step(self, a: State, b: State) -> None:
        """Set the equations of a step to inputs that are asked for."""
        self.feed()
        combine(0.5, self.before, 0.5, self.u, self.mean)
        self.begin_step(a, b)

    def accept_fed_step(self, a: State, b: State) -> None:
        """Take the iterate as the end of the step, and remember it."""
        self.accept_step(a, b)
        copy(self.before, self.acted)
        for term, memory in self._fed:
            ask(term.keep, self.h, b, memory, self.acted)
        self.record_terms(self.workspace)

    def take_over(self, b: State) -> None:
        """Let the end of the step be the start of the next one."""
        copy(b.q, self.q)
        copy(self.trial, self.z)
        copy(self.u, self.before)

    def record_terms(self, work: Work) -> None:
        """Write down what terms record of the step."""
        for term in self.effects.terms:
            if term.records:
                ask(term.record, work, self.z, self.account[2:][term.record_at])

    def keep_snapshot(self, b: State) -> None:
        """Keep the state at the end of a step."""
        self.note_rates(b)
        self.keep_row(self.q, self.rates, self.account, self.acted)

    def keep_row(self, q: Array, rates: Array, account: Array, acted: Array) -> None:
        """Keep a snapshot."""
        now = (q, rates, account, acted)
        for array, kept in zip(now, self._snapshots, strict=True):
            run(write_row, self.counts, array, kept)
        run(count_row, self.counts)

    def aim_at(self, leader: Any, b: State) -> None:
        """Set the iterate to that of another stepper of the same kind, at the end of its step."""
        raise TypeError(f"a {type(self).__name__} has no equations that a neighbour could correct")

    def _equations(self, place: Any, fill: Any) -> None:
        """The residual and the right-hand side of the equations of a correction, at the iterate."""
        include(place)
        include(fill)
        run(negate, self.left, self.right)

    def _row(self, side: int, record: Callable[..., Any]) -> list[Any]:
        """The programs of a step, by what makes programs of functions."""
        a, b = self.states[side], self.states[1 - side]
        row: list[Any] = [None] * loops.PROGRAMS
        row[loops.BEGIN] = record(self.begin_fed_step, a, b)
        places = (loops.FIRST_GUESS, loops.SECOND_GUESS, loops.LAST_GUESS)
        for place, guess in zip(places, self.guesses(a, b), strict=False):
            row[place] = record(guess)
        place, slope = record(self.place_iterate, a, b), record(self.fill, a, b, True)
        row[loops.PLACE], row[loops.SLOPE] = place, slope
        row[loops.RESIDUAL] = record(self._equations, place, partial(self.fill, a, b, False))
        row[loops.TANGENT] = record(self._equations, place, slope)
        row[loops.WEIGH] = record(self.weigh, a, b)
        row[loops.FACTORISE] = record(self.matrix.record_factorise)
        row[loops.SOLVE] = record(self.matrix.record_solve, self.right, self.x, ENOUGH)
        row[loops.REPAIR] = self.repair
        row[loops.MOVE] = record(self.move_iterate, a, b)
        row[loops.ACCEPT] = record(self.accept_fed_step, a, b)
        row[loops.SNAPSHOT] = record(self.keep_snapshot, b)
        return row

    @collection_paused()
    def _table(self, ahead: int = 1) -> Any:
        """Programs of both sides for some steps ahead: rows of plain calls as long as there are few
        steps, else of recorded ones.

        An array of addresses (2, PROGRAMS) if all of them are compiled.
        """
        if self._programs is not None:
            return self._programs
        if self._taken + ahead <= _SHORT_LIVED:
            if self._plain is None:
                self._plain = self._objects([self._row(side, partial) for side in (0, 1)])
            return self._plain
        rows = [self._row(0, record)]
        rows.append(self._way_back(rows[0]))
        self._plain = self._objects(rows)
        for row in rows:
            row[loops.REPAIR] = None
        self._kept, addresses = rows, table_of(rows)
        self._programs = self._plain if addresses is None else addresses
        return self._programs

    def _way_back(self, row: list[Any]) -> list[Any]:
        """The programs of the other side, from those of the first one if all are compiled."""
        programs = [x for x in row if isinstance(x, Program)]
        if programs and all(program.compiled for program in programs):
            with suppress(UnlikeError):
                exchange = Exchange(*(state.arrays() for state in self.states))
                return [exchange(x) if isinstance(x, Program) else x for x in row]
        return self._row(1, record)

    def _objects(self, rows: list[list[Any]]) -> list[list[Any]]:
        """Rows of programs in plain Python; errors in BEGIN and ACCEPT do not end an attempt."""
        whole = (loops.BEGIN, loops.ACCEPT, loops.SNAPSHOT)
        return [
            [x if place in whole else self.guarded(x) for place, x in enumerate(row)]
            for row in rows
        ]

    def prepare(self) -> tuple[Any, Any]:
        """Record the programs now, so that no step takes longer than others.

        Returns those of both sides, as `_table` does, and the same for loops in plain Python.
        """
        self._taken = max(self._taken, _SHORT_LIVED)
        return self._table(), self._plain

    # -- steps -----------------------------------------------------------------------------------

    def take(self, rows: Array, wanted: Any = None) -> int:
        """Take a step for each row of inputs (count, W); raises StepError where one fails.

        wanted : (count,) of which a snapshot is kept, at most `capacity`; None for no step. `done` is
        the number of steps taken.
        """
        self.done, self.problem, self.counts[loops.KEPT] = 0, "", 0
        wanted = np.zeros(len(rows), dtype=np.bool_) if wanted is None else wanted
        while self.done < len(rows):
            rest = slice(self.done, None)
            taken, end = self.take_some(rows[rest], wanted[rest], len(rows) - self.done)
            if end == loops.PAUSE:
                self._finish(bool(wanted[self.done + taken]))
                taken, end = taken + 1, loops.CONVERGED
            self._taken += taken
            self.done += taken
            if end != loops.CONVERGED:
                raise self.error(self.problem or REASONS[end])
        return self.done

    def take_some(self, rows: Array, wanted: Any, ahead: int) -> tuple[int, int]:
        """Take steps until one fails, pauses or is the last: how many, and how the last one ended.

        ahead : steps that are to come, for they are few if their programs are not recorded. A step that
        needs row exchanges is taken in plain Python.
        """
        table, plain = self._table(ahead), modes.uncompiled(loops.__name__)
        compiled = not isinstance(table, list)
        count = len(rows) if compiled else _SHORT_LIVED
        todo = (self.control, rows[:count], wanted[:count], self.after)
        taken, end = (loops if compiled else plain).take_steps(table, self.side, *todo)
        if end == loops.NEEDS_PIVOTING and compiled:
            one = slice(taken, taken + 1)
            todo = (self.control, rows[one], wanted[one], self.after)
            more, end = plain.take_steps(self._plain, self.side, *todo)
            taken += more
        return taken, int(end)

    def one_step(self, row: Array) -> Callable[[], bool]:
        """A call that takes the step to inputs row (1, W), whatever they are then; False if it failed.

        It costs less than `take`, which says why a step failed.
        """
        self.prepare()
        table, wanted = self._table(), np.zeros(1, dtype=np.bool_)
        if isinstance(table, list):
            return lambda: self.take(row) == 1
        todo = (table, self.side, self.control, row, wanted, self.after)
        call, counts = record(run, loops.note_steps, *todo), self.counts

        def take() -> bool:
            call()
            if counts[loops.END] == loops.PAUSE:
                self._finish(False)
                return True
            return bool(counts[loops.END] == loops.CONVERGED)

        return take

    def _finish(self, wanted: bool) -> None:
        """Finish a step that paused, and keep a snapshot of it if wanted."""
        self.counts[loops.PAUSED] = 0
        self.finish_step(self.a, self.b)
        if wanted:
            self.keep_snapshot(self.b)
        self.side[0] = 1 - self.side[0]

    def finish_step(self, a: State, b: State) -> None:
        """Do what a step asks for by PAUSED as it is accepted; in plain Python, for it is rare."""

    @property
    def method(self) -> str:
        """How it takes its steps, if it chooses that by itself."""
        return ""

    def remarks(self) -> list[str]:
        """Sentences for the user about the motion so far."""
        return []

    def error(self, reason: str) -> StepError:
        """The error of a step, with what went wrong and what to try."""
        return step_failed(self.h, reason, self.hint, int(self.counts[loops.LIMIT]))


class Integrator(ABC):
    """Settings of an integrator."""

    def __post_init__(self) -> None:
        """Refuse settings that are not what their fields hold, see `pliant.model.fields`."""
        check_fields(self, f"integrator {type(self).__name__}")

    variational: ClassVar[bool] = False
    halves: ClassVar[bool] = True
    """Whether a step that fails is worth two of half its length: not if it fails by instability."""
    damped: ClassVar[str] = "GeneralizedAlpha(rho=0.5)"
    """One for the same robots that damps what the step cannot resolve, for advice."""
    undamped: ClassVar[str] = "Midpoint()"
    """One for the same robots that does not damp, for advice."""
    finer: ClassVar[str] = "a smaller dt"
    """What makes its errors smaller, for advice."""
    moves_many: ClassVar[bool] = False
    """Whether it can move robots of one `kind` side by side."""
    flattens: ClassVar[bool] = True
    """Whether it may be given a robot compiled for the plane in which it stays, see `in_plane`."""
    chooses_steps: ClassVar[bool] = False
    """Whether its steps are as long as a tolerance of its own allows, whatever dt."""

    @property
    def damps(self) -> bool:
        """Whether it is meant to take energy from vibrations."""
        return False

    @property
    def order(self) -> int:
        """Power of the step with which errors of positions fall."""
        return 2

    @property
    def drift_order(self) -> int:
        """Power of the step with which the errors fall that add up over time."""
        return self.order

    def formulations(self, rods: Mapping[str, Rod]) -> dict[str, RodModel] | None:
        """Formulations of rods for which nobody chose one, by name; None for the usual ones."""
        return None

    @abstractmethod
    def stepper(self, effects: Effects, h: float) -> Stepper:
        """A stepper with step length h, s."""

    def steps(self, stepper: Any, schedule: Any, q: Array, v: Array, duration: float) -> Any:
        """The steps of a motion of `duration` seconds from q (nq,) with rates v (total,)."""
        from pliant.solve.coordinate_steps import CoordinateSteps

        return CoordinateSteps(self, stepper, schedule, q, v)

    @property
    def family(self) -> Any:
        """What integrators have in common whose steppers can serve each other, see `adjust`."""
        return self

    def adjust(self, stepper: Any) -> None:
        """Give a stepper of another integrator of the same family the settings of this one."""
        return

    def kind(self, effects: Effects) -> Hashable | None:
        """What robots have in common that can move side by side; None for one that moves alone."""
        return None

    def side_by_side(self, begins: Sequence[Any], h: float) -> Any:
        """Steps of h seconds of several robots of one kind at once.

        begins : schedule, configuration (nq,) and rates (total,) of each robot. Snapshots have an axis
        for the robots: q (T, R, nq), v (T, R, total), account (T, 2, R).
        """
        raise TypeError(f"{type(self).__name__} moves robots one by one")

    def damped_stepper(self, effects: Effects, h: float) -> Stepper:
        """A stepper that damps what it cannot resolve, for steps that do not converge otherwise."""
        return self.stepper(effects, h)

    @contextmanager
    def borrowed(self, effects: Effects, h: float, keeps_account: bool = True) -> Iterator[Stepper]:
        """A stepper that may have served before, so that its programs are recorded.

        It is kept for the next motion unless this one fails.
        """
        idle: deque[Stepper] = deque()
        family = self.family
        if isinstance(family, Hashable):
            idle = effects.idle.setdefault((family, h, keeps_account), deque(maxlen=_IDLE))
        try:
            stepper = idle.pop()
            self.adjust(stepper)
        except IndexError:
            stepper = self.stepper(effects, h)
            stepper.keeps_account = keeps_account
        yield stepper
        if len(effects.idle) > _KINDS:
            effects.idle.clear()
        idle.append(stepper)


@kernel
def measure_residual(r, free, rows, weights, multipliers, numbers):  # type: ignore[no-untyped-def]
    """Set size and largest gap of a residual r (total,): forces r[free], gaps r[rows] times weights.

    Gaps count relative to strain and length, times the scale of the forces.
    """
    forces, gaps = norms(r, free, rows, weights)
    numbers[SIZE] = forces + gaps * numbers[SCALE]
    numbers[GAP] = largest(r, multipliers)


@kernel
def weigh_residual(play, places, r, free, rows, weights, heavy, part, numbers):  # type: ignore[no-untyped-def]
    """Let the scale be as large as `play` in some places and a part of the residual r (total,); where
    there are none, as `heavy` times the weighted gaps: what it takes to close them within the step.
    """
    forces, gaps = norms(r, free, rows, weights)
    total = 0.0
    for at in places:
        total += play[at] ** 2
    numbers[SCALE] = max(numbers[SCALE], np.sqrt(total), part * forces)
    if numbers[SCALE] < loops.NOTHING * heavy * gaps:
        numbers[SCALE] = heavy * gaps


@kernel
def heed_active(active, tangent, factored, counts):  # type: ignore[no-untyped-def]
    """Keep which rows are active (m,) with a tangent; without one, ask for one if they are others."""
    for i in range(active.shape[0]):
        if active[i] != factored[i]:
            if tangent:
                factored[i] = active[i]
            else:
                counts[loops.THERE] = 0


@kernel
def write_row(counts, values, kept):  # type: ignore[no-untyped-def]
    """Write values (n,) to the next row of kept (T, n)."""
    for i in range(values.shape[0]):
        kept[counts[KEPT], i] = values[i]


@kernel
def count_row(counts):  # type: ignore[no-untyped-def]
    """A row was written."""
    counts[KEPT] += 1


def table_of(rows: list[list[Any]]) -> Any:
    """Addresses (rows, programs) of programs, None where one of them is not compiled."""
    if not all(program.compiled for row in rows for program in row if program is not None):
        return None
    numbers = [[0 if x is None else x.address for x in row] for row in rows]
    return np.array(numbers, dtype=np.int64)


def rounding_force(effects: Effects, h: float) -> float:
    """Force that rounding of poses and strains makes up when the step is h, N."""
    force = 0.0
    for part in effects.tree.parts:
        reach = float(np.max(np.abs(part.pose[:3, 3]))) + part.length
        force += float(np.sum(part.M[:, 3])) * reach / h**2
        if len(part.C):
            own = np.setdiff1d(np.arange(6), part.field_rows)
            force += float(np.max(part.C[:, own])) / (1.0 if part.fields is None else reach)
    return 1e-15 * force


def step_failed(h: float, reason: str, hint: str, iterations: int) -> StepError:
    """The error of a step of h seconds, with what went wrong and what to try."""
    what = {
        INFINITE: "the motion became infinite",
        SINGULAR: "the step matrix is singular: something can move without inertia or stiffness",
        LOST: "Newton's method ran away",
        SLOW: f"no convergence in {iterations} iterations",
    }.get(reason, reason)
    return StepError(f"a time step of {h:g} s failed: {what}; try {hint}")
