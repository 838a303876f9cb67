"""Dampers along rods that resist a power of the rates of strain: sigma = D |e'|^(p - 1) e'.

They act on the strains of the map at the stations of its strain rule. In a step the rate is that of the
mean strain, so that the work of the damper and the loss agree.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.model import StrainDamper
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.rope_law import damper
from pliant.physics.symbolic import Symbols, damper_force
from pliant.rods.contract import Array
from pliant.tree.tree import Tree
from pliant.tree.work import PartWork


class StrainDamperTerm(KernelTerm):
    """The damper of one rod."""

    compiled = True
    smooth = True

    def __init__(self, tree: Tree, given: StrainDamper) -> None:
        self.i = tree.number_of(given.part)
        self.part = tree.parts[self.i]
        self.part.coupled = True
        assert self.part.rod is not None
        damping = given.along(self.part.rod)(self.part.strain_s)
        self.weighted, self.power = np.array(self.part.strain_w * damping), float(given.power)

    def _add(self, w: PartWork, scale: float, slope: float) -> None:
        run(add_stress, self.weighted, self.power, w.rate, scale, slope, w.sigma, w.full)

    def act(self, m: Moment) -> None:
        if m.v is not None:
            self._add(m.work.parts[self.i], 1.0, 0.0 if m.tangent is None else m.speed)

    def go(self, step: Step) -> None:
        scale = step.h * step.first
        slope = 0.0 if step.tangent is None else scale / step.h
        self._add(step.work.parts[self.i], scale, slope)

    def symbolic(self, x: Symbols) -> None:
        for s, damping in zip(self.part.strain_s.tolist(), self.weighted, strict=True):
            e = x.strain(self.i, s)
            rate = x.rate(e)
            for row in np.flatnonzero(damping).tolist():
                x.resist(e[row], damper_force(x, damping[row], self.power, rate[row]))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        run(add_loss, self.weighted, self.power, m.work.parts[self.i].rate, scale, out)


def terms(tree: Tree) -> list[Term]:
    """The dampers of all rods that have one."""
    return [StrainDamperTerm(tree, x) for x in tree.description.of(StrainDamper).values()]


@kernel
def add_stress(weighted, power, rate, scale, slope, sigma, full):  # type: ignore[no-untyped-def]
    """sigma (S, 6) += scale times the stress at the rates (S, 6); full (S, 6, 6) += slope times its
    derivative in them.
    """
    for s in range(weighted.shape[0]):
        for i in range(6):
            f, df = damper(weighted[s, i], power, rate[s, i])
            sigma[s, i] += scale * f
            if slope != 0.0:
                full[s, i, i] += slope * df


@kernel
def add_loss(weighted, power, rate, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale times the power lost at the rates (S, 6)."""
    for s in range(weighted.shape[0]):
        for i in range(6):
            out[0] += scale * damper(weighted[s, i], power, rate[s, i])[0] * rate[s, i]
