"""Equilibrium as equations for Newton's method: the step of statics.

`load_steps` chooses the loads under which balance is sought, `branch_checks` watches the corrections.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops
from pliant.engine.arrays import clear, copy
from pliant.engine.newton import Policy
from pliant.engine.program import Program, Recurring, ask, record, run
from pliant.linalg.matrices import SingularError
from pliant.linalg.scatter import add_at, norms
from pliant.linalg.sparse_factor import ENOUGH
from pliant.physics.effects import Inputs
from pliant.rods.contract import Array
from pliant.solve.balance import balance
from pliant.solve.branch_checks import BranchChecks
from pliant.solve.newton import Equations, negate
from pliant.solve.shape_error import ShapeError
from pliant.solve.static_error import StaticError
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work

if TYPE_CHECKING:
    from pliant.solve.load_steps import StaticSolver

_NOTHING = np.zeros((0, 3))
_UNKNOWN = 1e300
"""Size of loads that are not weighed yet, N."""
_LEAST = 1e-6
"""Part of the bending stiffness of the robot that joints which nothing holds keep to the end."""
_LITTLE = 1e-9
"""Way of prescribed joints, in lengths of the robot, in which friction that holds does not give way."""
POLICY = Policy(iterations=14, near=1e-4, stalled=1e-7, progress=0.3, patience=2)


@dataclass
class StaticSolution:
    """An equilibrium and the record of how it was found."""

    q: Array
    z: Array
    """(total,): force fields and multipliers."""
    inputs: Inputs
    iterations: int = 0
    residual: float = 0.0
    history: list[float] = field(default_factory=list)
    """Relative residual after each Newton iteration of the last attempt."""
    levels: list[float] = field(default_factory=list)
    """Load levels passed, 1.0 the full load."""
    negative: int | None = None
    """Negative pivots of the reduced tangent; None if the loads have no potential."""
    at_rounding: bool = False
    """True if the residual stopped at rounding error above the tolerance."""
    error: ShapeError | None = None
    """Estimated error of the shape."""
    lost: float | None = None
    """First load level at which the branch was found unstable, None if there is none."""
    fold: float | None = None
    """Load level beyond this equilibrium at which its branch turns back, if it is known to do so."""
    memory: Array | None = None
    """(memory,): what terms remember of the way there; None if nothing is known of it."""
    indifferent: bool = False
    """True if something can move in a joint that neither loads nor stiffness hold."""
    odd: bool = False
    """True if the loads have no potential and the determinant of the reduced tangent is negative: an
    odd number of directions is unstable."""


class Equilibrium(Equations):
    """Balance of a robot; `begin` sets the inputs under which it is sought and where from.

    The programs are recorded once and serve all attempts of a solver with one tangent.
    """

    def __init__(self, solver: StaticSolver, tangent: Tangent) -> None:
        super().__init__(POLICY, tangent.matrix)
        effects, tree = solver.effects, solver.effects.tree
        self.solver, self.effects, self.tree, self.tangent = solver, effects, tree, tangent
        self.state, self.work, self.other = State(tree), Work(tree), Work(tree)
        self.z, self.u, self.keep = (
            np.zeros(tree.total),
            np.zeros(effects.inputs),
            np.zeros(tree.total),
        )
        self.drive, self._unheld = _NOTHING, np.zeros(tree.total)
        self.lean, self._lean = np.zeros(tree.size), tree.joint_stiffness()
        """(n,) what is added to the diagonal of the tangent, times the size of the residual."""
        self._diagonal = tangent.matrix.slots(np.arange(tree.size), np.arange(tree.size))
        self._held = [term for term in effects.rows if len(term.rows) and term.rows[0] >= tree.n]
        """Terms with multipliers."""
        self._next, self._variation = np.zeros(tree.nq), np.zeros(tree.total)
        self.numbers[loops.GAP_LIMIT] = np.inf
        self.load = np.full(1, _UNKNOWN)
        """(1,) size of the generalised loads, N."""
        self.checks = BranchChecks(self)
        self.programs = self._guarded_row()
        """Of Newton's method."""
        self._unload = Recurring(self._balance_unloaded)

    def refill(self) -> None:
        """Take over the numbers of the robot."""
        self._lean[...] = self.tree.joint_stiffness()
        self.work.refill()
        self.other.refill()
        if "error" in vars(self):
            self.error.refill()

    def begin(self, start: StaticSolution, inputs: Inputs, aim: float, step: float) -> None:
        """Set the inputs under which balance is sought, from a known equilibrium."""
        options = self.solver.options
        self.start = start
        self.state.q[...] = self.effects.prescribed.put(start.q, inputs.drive)
        self.z[...], self.u[...], self.drive = start.z, inputs.u, inputs.drive
        self.numbers[loops.TOLERANCE] = options.tolerance
        self.heed_rounding(False)
        if aim < 1.0:
            self.numbers[loops.TOLERANCE] = max(min(options.loose, step / 100.0), options.tolerance)
        self.keep[...] = (1.0 - aim) * self.solver.gaps
        self.checks.begin()
        self.forget_factor()
        self.load[0] = _UNKNOWN

    def follow_drives(self) -> None:
        """Move all that is free as it follows the prescribed joints by the tangent where they begin.

        Friction that holds there carries parts along. From where they were, surfaces would have slid by
        the whole way of the joints, and Newton's method would throw the parts back and forth.
        """
        put, start, right = self.effects.prescribed.put, self.start, np.zeros_like(self.right)
        there = self.state.q.copy()
        way = self.tree.length * _LITTLE
        part = way / max(float(np.abs(there - start.q).max()), way)
        for share in (0.0, part):
            drive = (1.0 - share) * start.inputs.drive + share * self.drive
            self.state.q[...] = put(start.q, drive)
            self.programs[loops.TANGENT]()
            right = (self.right - right) / part if share else self.right.copy()
        self.right[...] = right
        for program in (loops.FACTORISE, loops.SOLVE):
            self.programs[program]()
        self.state.q[...] = there
        self.programs[loops.MOVE]()
        self.forget_factor()

    def heed_rounding(self, exact: bool) -> None:
        """Take a residual that stays after a correction as small as rounding error for the end."""
        self.numbers[loops.STALLED] = np.inf if exact else POLICY.stalled

    def lean_on_start(self, leans: bool) -> bool:
        """Whether corrections leave joints that nothing holds where they are; tells if there are any.

        The residual stays as it is, so that the equilibrium is a true one. The stiffness that the
        joints get falls with the residual, so that Newton's method keeps its order.
        """
        self.lean[...] = self._lean if leans else 0.0
        return bool(self._lean.any())

    @cached_property
    def error(self) -> StaticError:
        """Estimates the error of what was found last."""
        return StaticError(self)

    def has_factor(self) -> bool:
        """Whether the tangent of the last attempt can be factorised, which is done if need be."""
        if not self.counts[loops.THERE]:
            try:
                self.matrix.factorise()
            except SingularError:
                return False
        return True

    def look_at(self, found: StaticSolution) -> None:
        """Place everything at an equilibrium, with its tangent."""
        self.state.q[...], self.z[...], self.u[...] = found.q, found.z, found.inputs.u
        self.keep[...], self.load[0] = 0.0, 1.0
        self.lean_on_start(found.indifferent)
        self.solver.recall(found)
        self.forget_factor()
        self.programs[loops.TANGENT]()

    def attempt(self) -> None:
        """Newton's method; raises NewtonError if it goes astray."""
        self.run_newton(self.programs)
        self.state.renew()

    def _row(self, make: Callable[..., Any]) -> list[Any]:
        """The programs of Newton's method that place and balance, solve and move."""
        row: list[Any] = [None] * loops.PROGRAMS
        for place, tangent in ((loops.RESIDUAL, False), (loops.TANGENT, True)):
            row[place] = make(self._place_and_balance, tangent)
        row[loops.SLOPE] = make(self._set_slope)
        row[loops.FACTORISE] = make(self.matrix.record_factorise)
        row[loops.SOLVE] = make(self.matrix.record_solve, self.right, self.x, ENOUGH)
        row[loops.MOVE] = make(self._move)
        return row

    def _guarded_row(self) -> list[Any]:
        """All programs of an attempt."""
        row = self._row(Recurring)
        row[loops.WEIGH], row[loops.REPAIR] = self.weigh, self.repair
        row[loops.INSPECT] = self.checks.inspect
        return [self.guarded(program) for program in row]

    def _place_and_balance(self, tangent: bool) -> None:
        self.state.place(self.state.q)
        self._set_residual(tangent)

    def _set_slope(self) -> None:
        self.state.renew()  # a program may have moved it
        self._set_residual(True)

    def _set_residual(self, tangent: bool) -> None:
        filled = self.tangent if tangent else None
        keep = self.keep if self.tree.m else None
        what = (self.state, self.work, Inputs(self.u, _NOTHING), self.z)
        r = balance(self.effects, *what, filled, keep=keep, memory=self.solver.memory)
        run(negate, r, self.right)
        self._measure()
        if tangent:
            where = (self._diagonal, self.matrix.data)
            run(add_diagonal, self.lean, self.load, self.numbers, *where)

    def _measure(self) -> None:
        """Residual without unit: forces over loads, mean strain gaps, constraint gaps over length."""
        effects = self.effects
        where = (self.tree.coordinates, effects.gap_rows, effects.gap_weights)
        run(set_size, self.work.residual, *where, self.load, self.numbers)
        if self._held:
            ask(self._add_gap_forces)

    def _add_gap_forces(self) -> None:
        self.numbers[loops.SIZE] += self._gap_forces() / self.load[0]

    def _gap_forces(self) -> float:
        """What the gaps of multipliers cost, N: also of those that do not feel their gap at once."""
        r = self.work.residual
        return float(sum(np.sum(np.abs(x.augmented(r[x.rows]))) for x in self._held))

    def weigh(self) -> None:
        """Set the size of the generalised loads, or of the first residual where there are none."""
        r, free = self.work.residual, self.tree.coordinates
        own = max(float(np.linalg.norm(r[free])), 1e-12 * self.tree.stiffness, self._gap_forces())
        self.load[0] = own
        if self.tree.m or not self.start.inputs.empty:
            self._unload()
            self.load[0] = max(float(np.linalg.norm((r - self.other.residual)[free])), own)
        self._measure()

    def _balance_unloaded(self) -> None:
        """Set the residual without loads and without what constraints exert, in the other workspace."""
        self.state.renew()
        copy(self.z, self._unheld)
        clear(self._unheld[self.tree.n : self.tree.size])
        what = (self.effects.nothing, self._unheld)
        balance(self.effects, self.state, self.other, *what, memory=self.solver.memory)

    def _move(self) -> None:
        copy(self.x, self._variation[: len(self.x)])
        self.tree.advance(self.state, self._variation, self._next)
        copy(self._next, self.state.q)
        run(add_at, self.effects.gap_rows, self.x, self.z)

    def march_programs(self, note: Callable[[], None]) -> list[Program | None]:
        """Recorded programs for corrections that are only noted, by the program `note`."""
        row = self._row(record)
        row[loops.INSPECT] = record(note)
        return row


@kernel
def add_diagonal(values, load, numbers, slots, data):  # type: ignore[no-untyped-def]
    """data[slots] += values (n,) times the size of the residual, once the load (1,) is known."""
    share = 1.0 if load[0] == _UNKNOWN else min(max(numbers[loops.SIZE], _LEAST), 1.0)
    for i in range(values.shape[0]):
        if values[i] != 0.0:
            data[slots[i]] += share * values[i]


@kernel
def set_size(r, free, rows, weights, load, numbers):  # type: ignore[no-untyped-def]
    """numbers[SIZE] = norm of the forces r[free] over the load (1,), plus that of the weighted gaps."""
    forces, gaps = norms(r, free, rows, weights)
    numbers[loops.SIZE] = forces / load[0] + gaps
