"""Equilibria under many inputs, each from the one before it, in one compiled call.

Newton's method starts at the neighbour, moved on as far as the neighbour was from its own if the inputs
change alike, and keeps the tangent of its first correction as long as that serves: a residual costs far
less. An equilibrium is taken if the second correction is much smaller than the first one, so that it is
connected to the neighbour (`branch_checks`), and if it has as many unstable directions; else the march
ends before it, and whoever called goes on with `StaticSolver`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine import loops
from pliant.engine.calls import execute
from pliant.engine.loops import (
    CONVERGED,
    FACTORISE,
    MOVE,
    NEGATIVE,
    RAN_AWAY,
    SIZES,
    TANGENT,
    THERE,
    newton,
)
from pliant.engine.program import run
from pliant.linalg.scatter import largest
from pliant.physics.effects import Inputs
from pliant.rods.contract import Array
from pliant.solve.integrators.contract import table_of
from pliant.solve.load_steps import StaticSolver
from pliant.solve.statics import POLICY, StaticSolution

_CONTRACTION = 0.2
"""Part of a residual that a correction may leave before the tangent is renewed."""
_CONNECTED = 0.25
"""Size of a second correction over the first one up to which a solution is connected to where it began,
also with one tangent for both (Deuflhard)."""
_ALIKE = 1e-9
"""Relative difference of changes of the inputs that count as alike."""


class StaticMarch:
    """Marches through inputs of one robot; it belongs to the thread of its solver.

    table (N, J) : numbers of the inputs. `possible` is False where something that acts is not compiled,
    has multipliers or a memory: those need the checks of single solutions.
    """

    def __init__(self, solver: StaticSolver, table: Array, drive: Array) -> None:
        effects = solver.effects
        self.solver, self.table, self.drive = solver, table, drive
        self.q = np.zeros((len(table), effects.tree.nq))
        self.z = np.zeros((len(table), effects.tree.total))
        """Solutions, one for each row of the table."""
        largest_u = Inputs(np.abs(table).max(axis=0, initial=0.0), drive)
        solver.choose_equations(largest_u, effects.nothing)
        self._equations = equations = solver.equations
        self._corrections = np.zeros(len(equations.history) + 1)
        self._along = np.zeros(equations.matrix.n)
        """Displacement from the solution before the last to the last one, in the Newton chart."""
        self._programs = equations.march_programs(self._note)
        plain = not effects.tree.m and not effects.memory
        self._addresses = table_of([self._programs]) if plain else None

    @property
    def possible(self) -> bool:
        """Whether the march can be made in compiled calls."""
        return self._addresses is not None

    def _note(self) -> None:
        equations = self._equations
        run(note_correction, equations.x, equations.tree.coordinates, equations.counts,
            self._corrections, self._along)  # fmt: skip

    def go(self, start: StaticSolution, first: int) -> int:
        """Solve for the rows from `first` on, beginning at a solution; returns the first row that was
        not solved.
        """
        equations, solver = self._equations, self.solver
        assert self._addresses is not None
        solver.gaps = np.zeros(equations.tree.total)
        equations.begin(start, Inputs(self.table[first], self.drive), 1.0, 1.0)
        equations.programs[loops.RESIDUAL]()
        equations.weigh()
        start_pivots = (start.negative or 0) + len(equations.effects.gap_rows)
        pivots = start_pivots if solver.symmetric else -1
        equations.numbers[loops.CONTRACTION] = _CONTRACTION
        done, _ = march(
            self._addresses[0], equations.control, self.table[first:], equations.u,
            (equations.state.q, equations.z, equations.x), (self.q[first:], self.z[first:]),
            self._corrections, self._along, pivots,
        )  # fmt: skip
        equations.numbers[loops.CONTRACTION] = POLICY.contraction
        return first + int(done)

    def negative(self, start: StaticSolution) -> int | None:
        """Unstable directions of all solutions since `start`; None if loads have no potential."""
        return start.negative if self.solver.symmetric else None


@kernel
def note_correction(x, free, counts, corrections, along):  # type: ignore[no-untyped-def]
    """corrections[k] = largest entry of the k-th correction, x[free]; along += x."""
    corrections[counts[SIZES] - 1] = largest(x, free)
    for i in range(x.shape[0]):
        along[i] += x[i]


@kernel
def alike(table, k):  # type: ignore[no-untyped-def]
    """Whether the inputs change from row k - 1 to row k as they did before."""
    if k < 2:
        return False
    change, size = 0.0, 0.0
    for j in range(table.shape[1]):
        step = table[k, j] - table[k - 1, j]
        change = max(change, abs(step - (table[k - 1, j] - table[k - 2, j])))
        size = max(size, abs(step))
    return change <= _ALIKE * size


@kernel
def march(programs, control, table, u, state, kept, corrections, along, pivots):  # type: ignore[no-untyped-def]
    """Newton's method for each row of the inputs `table` (N, J), from the solution before it; returns
    how many were found, and how the last one ended.

    state : coordinates q (nq,), force fields z (total,) and the correction x (n,), which the programs
    move; kept : (N, nq) and (N, total) for the solutions. pivots : negative ones that a solution has,
    -1 if they tell nothing.
    """
    numbers, counts, flags, history = control
    q, z, x = state
    qs, zs = kept
    for k in range(table.shape[0]):
        for j in range(u.shape[0]):
            u[j] = table[k, j]
        if alike(table, k):
            for i in range(x.shape[0]):
                x[i] = along[i]
            execute(programs[MOVE])
        else:
            along[:] = 0.0
        counts[THERE] = 0
        end = newton(programs, numbers, counts, flags, history)
        if end != CONVERGED:
            return k, end
        if counts[SIZES] > 2 and not corrections[1] < _CONNECTED * corrections[0]:
            return k, RAN_AWAY
        if counts[SIZES] == 1:  # the guess was the solution
            execute(programs[TANGENT])
            execute(programs[FACTORISE])
        if pivots >= 0 and flags[NEGATIVE] != pivots:
            return k, RAN_AWAY
        for i in range(q.shape[0]):
            qs[k, i] = q[i]
        for i in range(z.shape[0]):
            zs[k, i] = z[i]
    return table.shape[0], CONVERGED
