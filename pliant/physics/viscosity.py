"""Kelvin-Voigt viscosity of rods: sigma = C (e - e0) + D e', one value D for each strain.

The elastic law meets the strain e + lag e' with the retardation times lag = D / C of each strain, so
that force fields of the mixed form are viscous through their projected rates as well (`met_strains`).
What is left for this effect is the power that is lost.
"""

from __future__ import annotations

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.physics.contract import KernelTerm, Moment, Term
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.tree import Tree


class Viscosity(KernelTerm):
    """Dissipation of one rod in the stresses that each strain has by itself."""

    compiled = True
    smooth = True
    at_strains = True

    def __init__(self, tree: Tree, i: int) -> None:
        self.i = i
        self.part = part = tree.parts[i]
        self.damping = part.plain * part.lag
        """(S, 6): damping times weight."""

    def refill(self, tree: Tree) -> bool:
        self.damping[...] = self.part.plain * self.part.lag
        return True

    def symbolic(self, x: Symbols) -> None:
        weight = self.part.strain_w.copy()
        weight[:, self.part.field_rows] = 0.0
        for s, w in zip(self.part.strain_s.tolist(), weight, strict=True):
            e = x.strain(self.i, s)
            x.resist(e, w * x.damping(self.i, s) * x.rate(e))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        run(add_quadratic, self.damping, m.work.parts[self.i].rate, scale, out)


def terms(tree: Tree) -> list[Term]:
    """The viscosity of all rods that have it."""
    return [Viscosity(tree, i) for i, part in enumerate(tree.parts) if part.D.any()]


@kernel
def add_quadratic(c, x, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale sum_s x_s . c_s x_s with c (S, 6) and x (F, 6), F >= S."""
    total = 0.0
    for s in range(c.shape[0]):
        for i in range(6):
            total += c[s, i] * x[s, i] * x[s, i]
    out[0] += scale * total
