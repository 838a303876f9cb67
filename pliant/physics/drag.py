"""Square-law drag of the fluid around a rod.

At a section with body twist eta = (w, q) the drag p = (0, C q |q|), C (3,) along the body axes, is
minus the wrench per length, so that it stands on the side of inertia (Till, Aloi and Rucker,
section 2). |q| q is differentiable once everywhere, also at rest. The power lost is eta . p >= 0.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.lie.se3_kernels import dexp_inverse_array, log_relative_array
from pliant.model import Rod
from pliant.physics.contract import KernelTerm, Moment, Sections, Step, Term
from pliant.physics.symbolic import Symbols
from pliant.rods.contract import Array
from pliant.tree.tree import Tree


class Drag(KernelTerm):
    """Drag on the sections of one rod."""

    compiled = True
    smooth = True
    needs_twists = True

    def __init__(self, tree: Tree, i: int) -> None:
        self.i = i
        part = tree.parts[i]
        assert part.rod is not None
        self.rod: Rod | None = part.rod
        self._weights = part.mass_w.tolist()
        self.coefficients = part.rod.drag_coefficients()
        self.stations = part.line_stations(turns=True)
        self.C = self.coefficients * part.mass_w[:, None]
        """(Q, 3): coefficients times weights, kg/m."""

    def refill(self, tree: Tree) -> bool:
        self.rod = tree.parts[self.i].rod
        return True

    def act(self, m: Moment) -> None:
        if m.v is None:
            return
        w = m.work.parts[self.i]
        w.mass = True
        run(add_drag, self.C, self.stations, w.eta, m.speed, m.tangent is not None, w.p, w.k)

    def go(self, step: Step) -> None:
        w, ends = step.work.parts[self.i], (step.a.parts[self.i].g, step.b.parts[self.i].g)
        wanted = step.tangent is not None
        rule = (step.h, step.first, wanted)
        run(add_step_drag, self.C, self.stations, *ends, *rule, w.p, w.pb, w.k)

    def line_wrench(self, i: int, s: Array, sections: Sections, u: Array) -> Array | None:
        if i != self.i or sections.twist is None:
            return None
        q = sections.twist[:, 3:]
        return np.concatenate([np.zeros_like(q), -self.coefficients * q * np.abs(q)], axis=1)

    def symbolic(self, x: Symbols) -> None:
        s = x.sections(self.i)
        for station, weight in zip(s, self._weights, strict=True):
            R = station.place.R
            along = R.T @ x.rate(station.place.p)
            C = weight * x.number(self.rod, "drag")
            x.push(station.place, -(R @ (C * along * x.math.fabs(along))), x.math.SX.zeros(3))

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        run(add_loss, self.C, self.stations, m.work.parts[self.i].eta, scale, out)


def terms(tree: Tree) -> list[Term]:
    """The drag on all rods that have it."""
    rods = [(i, part.rod) for i, part in enumerate(tree.parts) if part.rod is not None]
    return [Drag(tree, i) for i, rod in rods if rod.drag_coefficients().any()]


@kernel
def add_drag(C, stations, eta, speed, tangent, p, k):  # type: ignore[no-untyped-def]
    """Add the drag at twists eta to p and, if `tangent`, speed times its derivative in eta to k."""
    for n in range(C.shape[0]):
        s = stations[n]
        for i in range(3):
            q = eta[s, 3 + i]
            p[s, 3 + i] += C[n, i] * q * abs(q)
            if tangent:
                k[s, 3 + i, 3 + i] += speed * 2.0 * C[n, i] * abs(q)


@kernel
def add_loss(C, stations, eta, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale sum_s C_s . |q_s|^3."""
    for n in range(C.shape[0]):
        for i in range(3):
            out[0] += scale * C[n, i] * abs(eta[stations[n], 3 + i]) ** 3


@kernel
def add_step_drag(C, stations, ga, gb, h, first, tangent, pa, pb, k):  # type: ignore[no-untyped-def]
    """Impulses of the drag in a step of length h with twists eta = log(ga^-1 gb) / h.

    The impulse h p(eta) is shared by the ends of the step: pa += first h p, pb -= (1 - first) h p, in
    their body frames. k, if `tangent`, gains first p'(eta) dexp(h eta)^-1, the derivative of pa in the
    body twist of gb.
    """
    x = np.empty(6)
    D = np.empty((6, 6))
    for n in range(C.shape[0]):
        s = stations[n]
        log_relative_array(ga[s], gb[s], x)
        for i in range(3):
            q = x[3 + i] / h
            p = C[n, i] * q * abs(q)
            pa[s, 3 + i] += first * h * p
            pb[s, 3 + i] -= (1.0 - first) * h * p
        if tangent:
            dexp_inverse_array(x, D)
            for i in range(3):
                slope = first * 2.0 * C[n, i] * abs(x[3 + i]) / h
                for j in range(6):
                    k[s, 3 + i, j] += slope * D[3 + i, j]
