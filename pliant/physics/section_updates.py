"""Sections updated from the stretch: what the law of `SectionUpdate` adds to linear elasticity."""

from __future__ import annotations

import numpy as np

from pliant.engine.program import run
from pliant.model import SectionUpdate
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.stretch_law import add_update
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class UpdatedSections(KernelTerm):
    """The update of one rod, at the stations of its strain rule."""

    compiled = True
    column = "elastic"

    def __init__(self, tree: Tree, update: SectionUpdate) -> None:
        self.i = tree.number_of(update.part)
        self.part = tree.parts[self.i]
        self.part.coupled = True
        assert self.part.rod is not None
        self.rod = self.part.rod
        s = self.part.strain_s
        self.weight = np.ascontiguousarray(self.part.strain_w)
        self.C, self.natural = np.array(self.rod.stiffness(s)), np.array(self.rod.natural_strain(s))

    def act(self, m: Moment) -> None:
        e, w = m.state.parts[self.i].strain.e, m.work.parts[self.i]
        wanted = 0.0 if m.tangent is None else 1.0
        law = (self.weight, self.C, self.natural)
        run(add_update, *law, e, e, 1.0, wanted, w.sigma, w.full)

    def go(self, step: Step) -> None:
        a, b = step.a.parts[self.i].strain.e, step.b.parts[self.i].strain.e
        w, scale = step.work.parts[self.i], step.h * step.first
        slope = 0.5 * scale if step.implicit and step.tangent is not None else 0.0
        law = (self.weight, self.C, self.natural)
        run(add_update, *law, a, b if step.implicit else a, scale, slope, w.sigma, w.full)

    def _added(self, s: Array, e: Array) -> tuple[Array, Array]:
        """Stress (S, 6) and its derivative (S, 6, 6) at arclengths s (S,) with strains e (S, 6)."""
        C, natural = np.array(self.rod.stiffness(s)), np.array(self.rod.natural_strain(s))
        sigma, full = np.zeros((len(s), 6)), np.zeros((len(s), 6, 6))
        run(add_update, np.ones((len(s), 6)), C, natural, e, e, 1.0, 1.0, sigma, full)
        return sigma, full

    def add_section_stress(
        self, i: int, s: Array, e: Array, m: Moment, stress: Array, slope: Array
    ) -> None:
        if i == self.i:
            sigma, full = self._added(s, np.ascontiguousarray(e))
            stress += sigma
            slope += full

    def stress(self, i: int, s: Array, e: Array, u: Array) -> Array | None:
        return self._added(s, np.ascontiguousarray(e))[0] if i == self.i else None

    def symbolic(self, x: Symbols) -> None:
        """The potential of the law less that of linear elasticity."""
        weighed = zip(self.part.strain_s.tolist(), self.weight, self.natural, strict=True)
        for s, w, natural in weighed:
            e, C = x.strain(self.i, s), x.stiffness(self.i, s)
            d, stretch = e - natural, e[5] / natural[5]
            for k, power in enumerate((4, 4, 4, 3, 3, 2)):
                x.store(0.5 * w[k] * C[k] * (stretch**-power - 1.0) * d[k] ** 2)

    def energy(self, state: State, u: Array) -> float:
        e = state.parts[self.i].strain.e
        d, stretch = e - self.natural, e[:, 5] / self.natural[:, 5]
        share = np.repeat([stretch**-4, stretch**-3, stretch**-2], [3, 2, 1], axis=0).T - 1.0
        return 0.5 * float(np.sum(self.weight * self.C * share * d * d))


def terms(tree: Tree) -> list[Term]:
    """The updates of all rods that have one."""
    return [UpdatedSections(tree, update) for update in tree.description.of(SectionUpdate).values()]
