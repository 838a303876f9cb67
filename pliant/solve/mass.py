"""Momentum and the mass matrix: from rates to momenta and back."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import Program, ask, record, run
from pliant.linalg.matrices import SingularError
from pliant.model import ConvergenceError
from pliant.physics.contract import RATES
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.tree.backward import gather, gather_form
from pliant.tree.forward import set_rates
from pliant.tree.part import Part
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work


class Mass:
    """The mass matrix of a robot with all hard rows; it belongs to one thread."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.work = Work(effects.tree)
        self._right, self._x = np.zeros(effects.tree.size), np.zeros(effects.tree.size)
        self._programs: dict[int, tuple[State, Program | None]] = {}
        """By identity of the states that were solved at, what repeats it."""

    @cached_property
    def tangent(self) -> Tangent:
        """Storage of the matrix, made when it is solved with."""
        return self.effects.tangent(True)

    def momentum(self, state: State, v: Array) -> Array:
        """M v (total,) of rates v (total,)."""
        tree, work = self.effects.tree, self.work
        set_rates(tree, state, work, v)
        return self.momentum_of(state, [w.eta for w in work.parts])

    def momentum_of(self, state: State, twists: list[Array]) -> Array:
        """Generalised momentum (total,) of twists (F, 6) of the stations of each part."""
        tree, work = self.effects.tree, self.work
        work.clear(False)
        for part, w, eta in zip(tree.parts, work.parts, twists, strict=True):
            w.p[: part.inertial] = part.M * eta[: part.inertial]
            w.mass = True
        gather(tree, state, work, work.residual)
        return work.residual.copy()

    def solve(
        self,
        state: State,
        p: Array,
        known: Array | None = None,
        rates: Array | None = None,
        z: Array | None = None,
    ) -> Array:
        """v (total,) with M v + A^T lam = p and A v = rates in all hard rows, at a state.

        p (total,) momenta.  known (total,) : velocities of the prescribed coordinates, zero elsewhere;
        their entries of p do not count.  rates (total,) : zero by default.  z (total,) : multipliers
        that tell which one-sided rows hold, None for none of them.
        """
        effects, tree = self.effects, self.effects.tree
        right = p.copy()
        right[effects.gap_rows] = 0.0 if rates is None else rates[effects.gap_rows]
        if known is not None and len(tree.prescribed):
            right -= self.momentum(state, known)
            lifted = tree.variations(state, known)[1]
            for term in effects.hard:
                right[term.rows] -= term.holding(z) * term.gap_rates(state, known, lifted)
        self._right[...] = right[: tree.size]
        self._invert(state, z)
        x = self._x
        v = np.zeros(tree.total)
        v[tree.coordinates] = x[tree.coordinates]
        if known is not None:
            v[tree.prescribed] = known[tree.prescribed]
        return v

    def _invert(self, state: State, z: Array | None) -> None:
        """Solve for x; at a state that was met before by a program."""
        matrix = self.tangent.matrix
        known, program = self._programs.get(id(state), (None, None))
        if known is not state or self.effects.one_sided:
            self._programs[id(state)] = (state, None)
            self._factor_and_solve(state, z)
        else:
            if program is None:
                program = record(self._factor_and_solve, state, None)
                self._programs[id(state)] = (state, program)
            program()
        try:
            if matrix.flags[0] < 0:
                raise SingularError
            if matrix.flags[2]:
                matrix.repair(self._right, self._x)
        except SingularError:
            raise self._without_mass() from None

    def _factor_and_solve(self, state: State, z: Array | None) -> None:
        self._fill(state, z)
        self.tangent.matrix.record_factorise()
        self.tangent.matrix.record_solve(self._right, self._x)

    def _fill(self, state: State, z: Array | None) -> None:
        tree, work = self.effects.tree, self.work
        work.clear(True)
        self.tangent.clear()
        for part, w in zip(tree.parts, work.parts, strict=True):
            run(set_diagonal, part.M, w.k)
            w.mass = True
        gather_form(tree, state, state, work, self.tangent)
        for term in self.effects.rows:
            if term.hard:
                ask(term.hold, state, self.tangent, z)
            ask(term.add_compliance, self.tangent, RATES if term.hard else None)

    def _without_mass(self) -> ConvergenceError:
        names = ", ".join(repr(x.name) for x in self.effects.tree.parts if _is_light(x))
        return ConvergenceError(
            f"the mass matrix is singular: parts {names or 'of this robot'} have no mass or no rotary "
            "inertia; give the material a density rho, or Stiffness or the body a mass and an inertia"
        )


def _is_light(part: Part) -> bool:
    """Whether a part may move without momentum; centres on a clamped base need no rotary inertia."""
    if part.rod is None:
        return not part.M.any(axis=0).all()
    if part.centred:
        return part.joint.moves or not part.M[:, 3].all()
    return not bool(np.all(part.M[: len(part.mass_s)] > 0.0))


@kernel
def set_diagonal(M, k):  # type: ignore[no-untyped-def]
    """k_s (6, 6) += diag(M_s) with M (S, 6)."""
    for s in range(M.shape[0]):
        for i in range(6):
            k[s, i, i] += M[s, i]
