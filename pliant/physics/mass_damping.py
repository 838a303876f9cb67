"""Mass damping, Rayleigh's first: the wrench -c M eta per length at body twists eta."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.lie.se3_kernels import dexp_inverse_array
from pliant.physics.contract import KernelTerm, Moment, Sections, Step, Term
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.tree import Tree


class MassDamping(KernelTerm):
    """Mass damping of the sections of one rod."""

    compiled = True
    smooth = True

    def __init__(self, tree: Tree, i: int) -> None:
        self.i = i
        self.part = part = tree.parts[i]
        assert part.rod is not None
        self.coefficient = part.rod.mass_damping
        self.d = self.coefficient * part.M[: len(part.mass_w) + part.of_tubes]
        """(Q, 6): coefficient times inertia of its own, without that of bodies it carries."""

    def refill(self, tree: Tree) -> bool:
        self.d[...] = self.coefficient * self.part.M[: len(self.d)]
        return True

    def act(self, m: Moment) -> None:
        if m.v is None:
            return
        w = m.work.parts[self.i]
        w.mass = True
        run(add_damping, self.d, w.eta, m.speed, m.tangent is not None, w.p, w.k)

    def go(self, step: Step) -> None:
        w = step.work.parts[self.i]
        wanted = step.tangent is not None
        run(add_step_damping, self.d, w.eta, step.h, step.first, wanted, w.p, w.pb, w.k)

    def line_wrench(self, i: int, s: Array, sections: Sections, u: Array) -> Array | None:
        if i != self.i or sections.twist is None:
            return None
        return np.asarray(-self.coefficient * self.part.map.inertia(s) * sections.twist)

    def symbolic(self, x: Symbols) -> None:
        c = x.number(self.part.rod, "mass_damping")
        for station in x.sections(self.i):
            at = station.place
            drag = -c * station.mass * x.rate(at.p)
            x.push(at, drag, -c * (station.inertia @ x.spin(at)))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        run(add_loss, self.d, m.work.parts[self.i].eta, scale, out)


def terms(tree: Tree) -> list[Term]:
    """The mass damping of all rods that have it."""
    rods = [(i, part.rod) for i, part in enumerate(tree.parts) if part.rod is not None]
    return [MassDamping(tree, i) for i, rod in rods if rod.mass_damping]


@kernel
def add_damping(d, eta, speed, tangent, p, k):  # type: ignore[no-untyped-def]
    """Add the damping at twists eta to p and, if `tangent`, speed times its derivative in eta to k."""
    for s in range(d.shape[0]):
        for i in range(6):
            p[s, i] += d[s, i] * eta[s, i]
            if tangent:
                k[s, i, i] += speed * d[s, i]


@kernel
def add_loss(d, eta, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale sum_s eta_s . d_s eta_s."""
    for s in range(d.shape[0]):
        for i in range(6):
            out[0] += scale * d[s, i] * eta[s, i] * eta[s, i]


@kernel
def add_step_damping(d, eta, h, first, tangent, pa, pb, k):  # type: ignore[no-untyped-def]
    """Impulses of the damping in a step of length h with twists eta, shared as those of drag are."""
    x = np.empty(6)
    D = np.empty((6, 6))
    for s in range(d.shape[0]):
        for i in range(6):
            p = d[s, i] * eta[s, i]
            pa[s, i] += first * h * p
            pb[s, i] -= (1.0 - first) * h * p
        if tangent:
            for j in range(6):
                x[j] = h * eta[s, j]
            dexp_inverse_array(x, D)
            for i in range(6):
                for j in range(6):
                    k[s, i, j] += first * d[s, i] * D[i, j]
