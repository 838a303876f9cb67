"""Linear elasticity of rods: the stress that each strain has by itself.

sigma = C (e - e0) at the stations of the strain rule, with e0 the strains of the map at rest. Where
force fields carry the stress of a row, its rest is in `force_fields`. In motion the law meets the
strain e + (D / C) e', see `viscosity`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.physics.contract import KernelTerm, Moment, Step, Term
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree


class Elasticity(KernelTerm):
    """Strain energy of one rod."""

    compiled = True
    smooth = True
    column = "elastic"
    at_strains = True

    def __init__(self, tree: Tree, i: int) -> None:
        self.i = i
        self.part = tree.parts[i]

    def close(self, tree: Tree) -> None:
        self.e0 = tree.rest.parts[self.i].strain.e.copy()

    def refill(self, tree: Tree) -> bool:
        """The stiffness is that of the part."""
        return True

    def act(self, m: Moment) -> None:
        w = m.work.parts[self.i]
        wanted = m.tangent is not None
        run(add_stress, self.part.plain, w.met, self.e0, 1.0, wanted, w.sigma, w.slope)

    def strain_law(self) -> tuple[int, Array, Array]:
        return self.i, self.part.plain, self.e0

    def go(self, step: Step) -> None:
        w, scale = step.work.parts[self.i], step.h * step.first
        wanted = step.tangent is not None
        run(add_stress, self.part.plain, w.met, self.e0, scale, wanted, w.sigma, w.slope)

    def symbolic(self, x: Symbols) -> None:
        part = self.part
        if (part.fields is not None and not part.rigid) or part.map.elastic_share(part.strain_s):
            x.refuse(self, "choose SRL, EBR, EBA or ROM")
        weight = part.strain_w.copy()
        weight[:, part.field_rows] = 0.0
        for s, w in zip(part.strain_s.tolist(), weight, strict=True):
            e = x.strain(self.i, s)
            d = e - x.at_rest(e)
            x.store(0.5 * x.math.dot(w * x.stiffness(self.i, s), d * d))

    def energy(self, state: State, u: Array) -> float:
        d = state.parts[self.i].strain.e - self.e0
        return 0.5 * float(np.sum(self.part.plain * d * d))


def terms(tree: Tree) -> list[Term]:
    """The strain energy of all rods."""
    return [Elasticity(tree, i) for i, part in enumerate(tree.parts) if part.rod is not None]


@kernel
def add_stress(k, met, e0, scale, tangent, sigma, slope):  # type: ignore[no-untyped-def]
    """sigma (S, 6) += scale k (met - e0) and, if `tangent`, slope (S, 6) += scale k."""
    stiff, strain, rest, stress = k.ravel(), met.ravel(), e0.ravel(), sigma.ravel()
    for i in range(strain.shape[0]):
        stress[i] += scale * stiff[i] * (strain[i] - rest[i])
    if tangent:
        for s in range(met.shape[0]):
            for i in range(6):
                slope[s, i] += scale * k[s, i]
