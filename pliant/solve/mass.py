"""Momentum and the mass matrix: from rates to momenta and back."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pliant.linalg.matrices import SingularError
from pliant.model import ConvergenceError
from pliant.physics.contract import RATES
from pliant.physics.effects import Effects
from pliant.rods.contract import Array
from pliant.tree.backward import gather, gather_form
from pliant.tree.forward import set_rates
from pliant.tree.state import State
from pliant.tree.tangent import Tangent
from pliant.tree.work import Work


class Mass:
    """The mass matrix of a robot with all hard rows; it belongs to one thread."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.work = Work(effects.tree)

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
        self._fill(state, z)
        matrix = self.tangent.matrix
        try:
            matrix.factorise()
            x = matrix.solve(right[: tree.size])
        except SingularError:
            raise self._without_mass() from None
        v = np.zeros(tree.total)
        v[tree.coordinates] = x[tree.coordinates]
        if known is not None:
            v[tree.prescribed] = known[tree.prescribed]
        return v

    def _fill(self, state: State, z: Array | None) -> None:
        tree, work, diagonal = self.effects.tree, self.work, np.arange(6)
        work.clear(True)
        self.tangent.clear()
        for part, w in zip(tree.parts, work.parts, strict=True):
            w.k[: part.inertial, diagonal, diagonal] = part.M
            w.mass = True
        gather_form(tree, state, state, work, self.tangent)
        for term in self.effects.rows:
            if term.hard:
                term.hold(state, self.tangent, z)
            term.add_compliance(self.tangent, RATES if term.hard else None)

    def _without_mass(self) -> ConvergenceError:
        parts = self.effects.tree.parts
        names = ", ".join(repr(x.name) for x in parts if not np.all(x.M[: len(x.mass_s)] > 0))
        return ConvergenceError(
            f"the mass matrix is singular: rods {names or 'of this robot'} have no mass or no "
            "rotary inertia; give the material a density rho, or Stiffness a mass and an inertia"
        )
