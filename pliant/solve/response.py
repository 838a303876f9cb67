"""How an equilibrium responds to its inputs and to wrenches, with the factor of its tangent.

Balance R(x, u) = 0 has unknowns x (coordinates, force fields, multipliers) and inputs u. With the
tangent K = dR/dx factorised once,

    dx/du = -K^-1 (dR/du + dR/dp dp/du),    dx/dw = K^-1 J^T,

where p are the coordinates that inputs prescribe and J (6, n) is the body twist of a frame for the
rates of x. `docs/theory/continuation.md` has the derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pliant.engine.arrays import clear, copy
from pliant.engine.program import Program, ask, record
from pliant.lie import se3
from pliant.linalg.matrices import Sparse
from pliant.model import ConvergenceError, Frame
from pliant.physics.contract import Moment, Term
from pliant.physics.effects import Inputs
from pliant.physics.met_strains import meet_at_rest
from pliant.rods.contract import Array, Plan
from pliant.solve.balance import balance
from pliant.solve.load_steps import StaticSolver
from pliant.solve.statics import Equilibrium, StaticSolution
from pliant.tree.backward import gather
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.tree import Tree
from pliant.tree.work import Work

_ENOUGH = 1e-10
"""Part of a displacement that may be left of what held strains have given way."""
_STEP = 1e-5
"""Relative difference of an input. The effects that come with Pliant are linear in theirs."""


class Response:
    """Derivatives of an equilibrium that `look_at` has placed; belongs to the thread of its solver."""

    def __init__(self, solver: StaticSolver) -> None:
        self.solver, self.effects = solver, solver.effects
        self.tree = solver.effects.tree
        self._work = Work(self.tree)
        self._eased = [term for term in self.effects.rows if term.eased]
        self._u, self._z = np.zeros(self.effects.inputs), np.zeros(self.tree.total)
        self._forces: dict[tuple[int, tuple[int, ...]], Program] = {}
        self._frames: dict[tuple[int, Frame], tuple[Any, Array, Array, Program]] = {}
        self._whole: dict[int, Program] = {}

    def attach(self, equations: Equilibrium, inputs: Inputs) -> None:
        """Look at the configuration of equations as it is, under some inputs."""
        self.equations, self.inputs = equations, inputs
        self._z[...] = equations.z

    def look_at(self, found: StaticSolution) -> Response:
        """Place everything at an equilibrium and factorise its tangent."""
        self.attach(self.solver.look_at(found), found.inputs)
        if not self.equations.has_factor():
            raise ConvergenceError(
                "the equilibrium has no derivatives: its tangent is singular. It is at a fold or a "
                "bifurcation, or part of the robot can move freely; look beside it, or follow() it"
            )
        return self

    @property
    def state(self) -> State:
        """The robot at the equilibrium."""
        return self.equations.state

    def solve(self, forces: Array) -> Array:
        """Displacements (total,) under generalised forces (size,), with prescribed joints held.

        The compliance that tangents have where strains are held is taken off again.
        """
        size, moved = self.tree.size, np.inf
        x = np.zeros(self.tree.total)
        x[:size] = change = self.equations.matrix.solve(forces)
        while self._eased and moved > _ENOUGH * np.linalg.norm(x):
            excess = np.zeros(self.tree.total)
            for term in self._eased:
                term.add_excess(change, excess)
            change = self.equations.matrix.solve(excess[:size])
            if not np.linalg.norm(change) < 0.5 * moved:
                break
            x[:size] += change
            moved = float(np.linalg.norm(change))
        return x

    # -- inputs ----------------------------------------------------------------------------------

    def input_rates(self, values: Mapping[str, Any], names: Sequence[str]) -> Array:
        """Displacements (total, n) per unit of some inputs; an input of several numbers has as many
        columns.

        values : of all inputs, by name.
        """
        columns = [column for name in names for column in self._columns(values, name)]
        return np.stack(columns, axis=1) if columns else np.zeros((self.tree.total, 0))

    def _columns(self, values: Mapping[str, Any], name: str) -> list[Array]:
        value = np.asarray(values[name], dtype=float)
        columns = []
        for k in range(value.size):
            unit = np.zeros(value.size)
            unit[k] = 1.0
            forces, moved = self.input_forces(name, value, unit.reshape(value.shape))
            columns.append(self.solve(-forces) + moved)
        return columns

    def input_forces(self, name: str, value: Array, unit: Array) -> tuple[Array, Array]:
        """Derivative (size,) of the residual when an input changes along `unit`, shaped as its value,
        and the rates (total,) of the prescribed joints that follow it.
        """
        forces = self._term_forces(name, value, unit)
        prescribed = self.effects.prescribed
        speeds = np.zeros(len(prescribed.names))
        if name in prescribed.names:
            speeds[prescribed.names.index(name)] = float(np.sum(unit))
        more, moved = self.driven_forces(speeds)
        return forces + more, moved

    def driven_forces(self, speeds: Array) -> tuple[Array, Array]:
        """Derivative (size,) of the residual while inputs of prescribed joints change at speeds (K,),
        and the rates (total,) of these joints.
        """
        if not speeds.any():
            return np.zeros(self.tree.size), np.zeros(self.tree.total)
        drive = self.inputs.drive.copy()
        drive[:, 1], drive[:, 2] = speeds, 0.0
        moved = self.effects.prescribed.rates(drive)[0]
        return self._reactions(moved), moved

    def _term_forces(self, name: str, value: Array, unit: Array) -> Array:
        """What the terms that follow an input add to the residual (size,) while it changes."""
        terms = [term for term in self.effects.terms if term.input == name]
        h = _STEP * max(1.0, float(np.abs(value).max(initial=0.0)))
        sides = [self.inputs.u.copy(), self.inputs.u.copy()]
        for u, step in zip(sides, (h, -h), strict=True):
            for term in terms:
                u[term.at] = term.numbers(value + step * unit)
        return self.forces_between(sides[0], sides[1]) / (2.0 * h)

    def forces_between(self, after: Array, before: Array) -> Array:
        """Difference (size,) of the residual between two sets of numbers (J,) of the inputs."""
        changed = after != before
        terms = [term for term in self.effects.terms if changed[term.at].any()]
        if not terms:
            return np.zeros(self.tree.size)
        found = []
        for u in (after, before):
            self._u[...] = u
            found.append(self._act(terms)[: self.tree.size].copy())
        return found[0] - found[1]

    def _act(self, terms: list[Term]) -> Array:
        """Residual (total,) of some terms alone, under the numbers `_u`."""
        key = (id(self.equations), tuple(term.number for term in terms))
        if key not in self._forces:
            self._balance_terms(terms)
            self._forces[key] = record(self._balance_terms, terms)
        else:
            self._forces[key]()
        return self._work.residual

    def _balance_terms(self, terms: list[Term]) -> None:
        work, state = self._work, self.state
        work.clear(False)
        meet_at_rest(work, state)
        moment = Moment(self.tree, state, work, self._u, self._z, memory=self.solver.memory)
        for term in terms:
            ask(term.act, moment)
        gather(self.tree, state, work, work.residual)

    @cached_property
    def _full(self) -> Tangent:
        """Storage of the tangent with the prescribed coordinates."""
        return Tangent(self.tree, Sparse, self.effects.pairs(), prescribed=True)

    def _reactions(self, moved: Array) -> Array:
        """Derivative (size,) of the residual along rates (total,) of prescribed joints."""
        key = id(self.equations)
        self._u[...] = self.inputs.u
        if key not in self._whole:
            self._fill()
            self._whole[key] = record(self._fill)
        else:
            self._whole[key]()
        matrix = self._full.matrix
        assert isinstance(matrix, Sparse)
        return matrix.product(moved)[: self.tree.size]

    def _fill(self) -> None:
        given = self._work, Inputs(self._u, self.inputs.drive), self._z, self._full
        balance(self.effects, self.state, *given, memory=self.solver.memory)

    # -- frames ----------------------------------------------------------------------------------

    def frame_rates(self, frame: Frame) -> tuple[Array, Array]:
        """World pose (4, 4) of a frame, and its body twist (6, total) for rates of all numbers."""
        key = (id(self.equations), frame)
        if key not in self._frames:
            self._frames[key] = self._new_frame(frame)
        plan, inner, rows, program = self._frames[key]
        program()
        return plan.g[0] @ inner, se3.Ad(se3.inverse(inner)) @ rows

    def _new_frame(self, frame: Frame) -> tuple[Any, Array, Array, Program]:
        i, s, inner = self.tree.place_of(frame)
        plan = self.tree.parts[i].map.frames(np.array([s]))
        rows = np.zeros((6, self.tree.total))
        self._set_rows(i, plan, rows)
        return plan, inner, rows, record(self._set_rows, i, plan, rows)

    def _set_rows(self, i: int, plan: Plan, rows: Array) -> None:
        set_twist_rows(self.tree, self.state, self._work, i, plan, rows)


def set_twist_rows(tree: Tree, state: State, work: Work, i: int, plan: Plan, rows: Array) -> None:
    """Write the twist (6, total) of a section of part i; each row is what a unit wrench does."""
    ask(tree.parts[i].map.frame, plan, state.parts[i].c)
    e = int(plan.element[0])
    for k in range(6):
        work.clear(False)
        copy(plan.J[0, k], work.parts[i].ry[e])
        clear(rows[k])
        gather(tree, state, work, rows[k])


def response_at(solver: StaticSolver, found: StaticSolution) -> Response:
    """The response of an equilibrium, with the storage that the solver keeps for it."""
    if solver.response is None:
        solver.response = Response(solver)
    response: Response = solver.response
    return response.look_at(found)
