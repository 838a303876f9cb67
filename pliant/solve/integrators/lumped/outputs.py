"""Outputs inside a step of an explicit integrator, by interpolation between its short steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import combine, copy
from pliant.engine.program import ask, repeat, run, when
from pliant.physics.contract import Term
from pliant.physics.effects import Effects
from pliant.rods.contract import Array, Ints
from pliant.solve.integrators.lumped.scheme import Scheme
from pliant.tree.state import State

Keep = Callable[[int, Array, Array, Array, Array], None]
"""Keeps a snapshot of a robot, by its number: coordinates, rates, account and inputs."""


class InsideOutputs:
    """Output times inside one step, and what finds the motion there.

    Steps go on to the short step with an output inside. Both its ends are sampled, and nodes and
    momenta between them are interpolated. Work is that of the inputs from the start of the step; what
    drives do and a short step dissipates is spread evenly over it.
    """

    def __init__(self, effects: Sequence[Effects], capacity: int) -> None:
        self.effects = effects
        count = sum(item.inputs for item in effects)
        self.times: Array = np.zeros(0)
        """Parts of the step at which outputs are wanted."""
        self.marks, self.left = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
        """How many outputs there are, and short steps after the last of them."""
        self._before = np.zeros(1, dtype=np.int64)
        """How many there were in the step that was accepted last."""
        self._table, self._parts = np.zeros((capacity, 2), dtype=np.int64), np.zeros(capacity)
        self._next, self._todo, self._new = (np.zeros(1, dtype=np.int64) for _ in range(3))
        self._part = np.zeros(1)
        self._acted, self._mean = np.zeros(count), np.zeros(count)
        self._rates = [np.zeros(item.tree.total) for item in effects]
        self._accounts = [np.zeros(2 + item.records) for item in effects]
        self._q = [np.zeros(item.tree.nq) for item in effects]
        self._sides = np.zeros((len(effects), 2, 2))
        """Work of drives, and what was lost, at both ends of a short step."""

    @cached_property
    def _states(self) -> list[tuple[State, State]]:
        """Of each robot, the start of the step and the output."""
        return [(State(item.tree), State(item.tree)) for item in self.effects]

    def plan(self, shares: Array, count: int) -> None:
        """Wish outputs at parts `shares` (T,) of a step of `count` short steps."""
        self.times, self.marks[0] = shares, len(shares)
        taken, last = 0, -1
        for m, place in enumerate((shares * count).tolist()):
            at = min(int(place), count - 1)
            self._table[m] = max(at - taken, 0), at != last
            self._parts[m] = place - at
            taken, last = at + 1, at
        self.left[0] = count - taken

    def forget(self, count: Ints) -> None:
        """Wish no outputs in the steps to come, which have count (1,) short ones."""
        run(forget_marks, count, self.marks, self.left, self._before)

    def last(self) -> Array:
        """Parts of the step that was accepted last at which outputs were wanted."""
        return self.times[: int(self._before[0])]

    def advance(self, scheme: Scheme, q: Sequence[Array], keep: Keep) -> None:
        """Take all short steps of a step from q (nq,) of each robot, and keep the outputs inside."""
        when(self.marks, self._start, scheme, q)
        repeat(self.marks, self._go_on, scheme, keep)
        when(self.left, scheme.advance, self.left)

    def _start(self, scheme: Scheme, q: Sequence[Array]) -> None:
        run(first_mark, self._next)
        for r, own in enumerate(q):
            if self._working(scheme, r):
                self._states[r][0].place(own)

    @staticmethod
    def _working(scheme: Scheme, r: int) -> Sequence[Term]:
        """What does work on a robot by its inputs."""
        return scheme.system.robots[r].working if scheme.keeps_account else ()

    def _go_on(self, scheme: Scheme, keep: Keep) -> None:
        """Go on to the next output, and keep it."""
        given = (self._table, self._parts, self._next)
        run(next_mark, *given, self._todo, self._new, self._part)
        when(self._todo, scheme.advance, self._todo)
        when(self._new, self._bracket, scheme)
        system, nodes = scheme.system, scheme.system.moving_arrays()
        kept = [np.zeros_like(x) for x in nodes]
        for x, out in zip(nodes, kept, strict=True):
            copy(x, out)
        for motion in system.motions:
            motion.interpolate(self._part, scheme.pace.short)
        run(part_passed, self._part, scheme.pace.share, scheme.pace.passed, system.now)
        system.write(self._q, self._rates)
        for x, out in zip(nodes, kept, strict=True):
            copy(out, x)
        self._keep(scheme, keep)

    def _bracket(self, scheme: Scheme) -> None:
        """Take one short step, and sample the motion at both ends of it."""
        for side in (0, 1):
            for account, sides in zip(scheme.accounts, self._sides, strict=True):
                copy(account[:2], sides[side])
            scheme.aside(lambda side=side: self._sample(scheme, side))  # type: ignore[misc]
            if side == 0:
                scheme.advance(self._new)

    def _sample(self, scheme: Scheme, side: int) -> None:
        scheme.system.accelerate(moving=not scheme.conserves)
        for motion in scheme.system.motions:
            motion.sample(side)

    def _keep(self, scheme: Scheme, keep: Keep) -> None:
        """Keep a snapshot of the motion, with the work of the inputs up to it."""
        pace, inputs = scheme.pace, (scheme.before, scheme.after)
        run(inputs_inside, self._part, pace.share, pace.passed, *inputs, self._acted)
        combine(0.5, scheme.before, 0.5, self._acted, self._mean)
        for r, q in enumerate(self._q):
            at, account = scheme.system.slices[r], self._accounts[r]
            copy(scheme.accounts[r], account)
            run(read_account, self._part, self._sides[r], account)
            if scheme.keeps_account:
                scheme.system.robots[r].guides.add_kinetic(account, False)
            working = self._working(scheme, r)
            if working:
                begin, inside = self._states[r]
                inside.place(q)
            for term in working:
                ask(term.add_work_done, begin, inside, self._mean[at], account[:1])
            keep(r, q, self._rates[r], account, self._acted[at])


@kernel
def forget_marks(count, marks, left, before):  # type: ignore[no-untyped-def]
    """Let no outputs be inside the next step of count_0 short ones."""
    before[0], marks[0], left[0] = marks[0], 0, count[0]


@kernel
def first_mark(following):  # type: ignore[no-untyped-def]
    """Begin with the first output."""
    following[0] = 0


@kernel
def next_mark(table, parts, following, todo, new, part):  # type: ignore[no-untyped-def]
    """Short steps before that of the next output, whether it is a new one, and the place in it."""
    m = following[0]
    todo[0], new[0], part[0] = table[m, 0], table[m, 1], parts[m]
    following[0] = m + 1


@kernel
def part_passed(part, share, passed, now):  # type: ignore[no-untyped-def]
    """now_0 : the part of dt that is over at the part part_0 of the short step that is just over."""
    now[0] = passed[0] - (1.0 - part[0]) * share[0]


@kernel
def inputs_inside(part, share, passed, before, after, acting):  # type: ignore[no-untyped-def]
    """acting (J,) : inputs at the part part_0 of the short step that is just over."""
    t = passed[0] - (1.0 - part[0]) * share[0]
    for j in range(acting.shape[0]):
        acting[j] = before[j] + t * (after[j] - before[j])


@kernel
def read_account(part, sides, account):  # type: ignore[no-untyped-def]
    """Work and energy dissipated, account (2,), at the part part_0 of a short step, sides (2, 2)."""
    for k in range(2):
        account[k] = sides[0, k] + part[0] * (sides[1, k] - sides[0, k])
