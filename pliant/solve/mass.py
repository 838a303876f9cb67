"""Momentum and the mass matrix: from rates to momenta and back."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pliant._numba import kernel
from pliant.engine.arrays import clear, combine, copy, put, put_values
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
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class Mass:
    """The mass matrix of a robot with all hard rows; it belongs to one thread."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.work = Work(effects.tree)
        total, size = effects.tree.total, effects.tree.size
        self._p, self._known, self._z, self._v, self._whole = (np.zeros(total) for _ in range(5))
        self._right, self._x = np.zeros(size), np.zeros(size)
        self._programs: dict[int, tuple[State, Program | None]] = {}
        """By identity of the states that were solved at, what repeats it."""

    @cached_property
    def tangent(self) -> Tangent:
        """Storage of the matrix, made when it is solved with."""
        return self.effects.mass_tangent()

    def momentum(self, state: State, v: Array) -> Array:
        """M v (total,) of rates v (total,)."""
        out = np.zeros(self.effects.tree.total)
        self.set_momentum(state, v, out)
        return out

    def set_momentum(self, state: State, v: Array, out: Array) -> None:
        """Write M v (total,) of rates v (total,)."""
        set_rates(self.effects.tree, state, self.work, v, strains=False)
        self._gather(state, [w.eta for w in self.work.parts], out)

    def momentum_of(self, state: State, twists: list[Array]) -> Array:
        """Generalised momentum (total,) of twists (F, 6) of the stations of each part."""
        out = np.zeros(self.effects.tree.total)
        self._gather(state, twists, out)
        return out

    def _gather(self, state: State, twists: list[Array], out: Array) -> None:
        tree, work = self.effects.tree, self.work
        work.clear(False)
        for part, w, eta in zip(tree.parts, work.parts, twists, strict=True):
            run(set_momenta, part.M, eta, w.p)
            w.mass = True
        gather(tree, state, work, work.residual)
        copy(work.residual, out)

    def solve(
        self, state: State, p: Array, known: Array | None = None, z: Array | None = None
    ) -> Array:
        """v (total,) with M v + A^T lam = p and A v = 0 in all hard rows, at a state.

        p (total,) momenta.  known (total,) : velocities of the prescribed coordinates, zero elsewhere;
        their entries of p do not count.  z (total,) : multipliers that tell which one-sided rows hold,
        None for none of them.
        """
        self._p[...], self._known[...] = p, 0.0 if known is None else known
        self._z[...] = 0.0 if z is None else z
        given = (state, self._p, self._known, self._z, self._v)
        met, program = self._programs.get(id(state), (None, None))
        if met is not state:
            self._programs[id(state)] = (state, None)
            self.find_rates(*given)
        else:
            if program is None:
                program = record(self.find_rates, *given)
                self._programs[id(state)] = (state, program)
            program()
        self.require_solution(self._v)
        return self._v.copy()

    def find_displacement(self, state: State, changes: Array, x: Array) -> None:
        """Write to x (total,) the least displacement by kinetic energy with given changes (total,) of
        the gaps of all hard rows; the flags of the matrix tell how that went.
        """
        clear(self._z)
        self._fill(state, self._z)
        self.tangent.matrix.record_factorise()
        copy(changes[: self.effects.tree.size], self._right)
        self.tangent.matrix.record_solve(self._right, self._x)
        clear(x)
        put(self._x, self.effects.tree.coordinates, x)

    def find_rates(
        self, state: State, p: Array, known: Array, z: Array, v: Array, again: bool = False
    ) -> None:
        """Write to v what `solve` returns; the flags of the matrix tell how that went.

        again : True at the same state with the same rows as before, for other momenta.
        """
        effects, tree = self.effects, self.effects.tree
        whole = self._whole
        if len(tree.prescribed):
            self.set_momentum(state, known, whole)
            combine(1.0, p, -1.0, whole, whole)
        else:
            copy(p, whole)
        put_values(np.zeros(len(effects.gap_rows)), effects.gap_rows, whole)
        if len(tree.prescribed):
            lifted = tree.variations(state, known)[1]
            for term in effects.hard:
                ask(term.add_gap_rates, state, known, lifted, z, -1.0, whole)
        copy(whole[: tree.size], self._right)
        if not again:
            self._fill(state, z)
            self.tangent.matrix.record_factorise()
        self.tangent.matrix.record_solve(self._right, self._x)
        clear(v)
        put(self._x, tree.coordinates, v)
        put(known, tree.prescribed, v)

    def add_row_impulses(self, state: State, out: Array) -> None:
        """Add to out (total,) the impulses A^T lam of the hard rows in the last solution."""
        tree, hard = self.effects.tree, self.effects.hard
        if hard:
            clear(self._whole)
            copy(self._x, self._whole[: tree.size])
            self.work.clear(False)
            for term in hard:
                ask(term.add_forces, state, self._whole, self.work, 1.0)
            gather(tree, state, self.work, self.work.residual)
            combine(1.0, out, 1.0, self.work.residual, out)

    def require_solution(self, x: Array) -> bool:
        """Repair the last solution x (total,) if it is too rough, and tell so; refuse a robot without
        mass.
        """
        matrix, free = self.tangent.matrix, self.effects.tree.coordinates
        try:
            if matrix.flags[0] < 0:
                raise SingularError
            if matrix.flags[2]:
                matrix.repair(self._right, self._x)
                x[free] = self._x[free]
                return True
        except SingularError:
            raise self.without_mass() from None
        return False

    def _fill(self, state: State, z: Array) -> None:
        self.tangent.clear()
        fill_mass(self.effects.tree, state, self.work, self.tangent)
        for term in self.effects.rows:
            if term.hard:
                ask(term.hold, state, self.tangent, z)
            ask(term.add_compliance, self.tangent, RATES if term.hard else None)

    def without_mass(self) -> ConvergenceError:
        """The error of a mass matrix that is singular."""
        names = ", ".join(repr(x.name) for x in self.effects.tree.parts if _is_light(x))
        if not names and self.effects.hard:
            held = ", ".join(dict.fromkeys(term.label for term in self.effects.hard))
            return ConvergenceError(
                f"the motion is not determined: directions held by {held} depend on each other in this "
                "configuration, as at the dead centre of a linkage. Start beside it, by "
                "simulate(joints=...), or leave out what is held twice"
            )
        return ConvergenceError(
            f"the mass matrix is singular: parts {names or 'of this robot'} have no mass or no rotary "
            "inertia; give the material a density rho, or Stiffness or the body a mass and an inertia"
        )


def fill_mass(tree: Tree, state: State, work: Work, tangent: Tangent) -> None:
    """Add the mass matrix of all coordinates at a state to a tangent."""
    work.clear(True)
    for part, w in zip(tree.parts, work.parts, strict=True):
        run(set_diagonal, part.M, w.k)
        w.mass = True
    gather_form(tree, state, state, work, tangent)


def _is_light(part: Part) -> bool:
    """Whether a part may move without momentum; centres on a clamped base need no rotary inertia."""
    if part.auxiliary:
        return False
    if part.rod is None:
        return not part.M.any(axis=0).all()
    if part.centred:
        return part.joint.moves or not part.M[:, 3].all()
    return not bool(np.all(part.M[: len(part.mass_s)] > 0.0))


@kernel
def set_momenta(M, eta, p):  # type: ignore[no-untyped-def]
    """p_s (6,) = M_s eta_s at the first stations, M (S, 6)."""
    for s in range(M.shape[0]):
        for i in range(6):
            p[s, i] = M[s, i] * eta[s, i]


@kernel
def set_diagonal(M, k):  # type: ignore[no-untyped-def]
    """k_s (6, 6) += diag(M_s) with M (S, 6)."""
    for s in range(M.shape[0]):
        for i in range(6):
            k[s, i, i] += M[s, i]
