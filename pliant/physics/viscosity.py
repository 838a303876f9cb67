"""Kelvin-Voigt viscosity of rods: sigma = C (e - e0) + D e', one value D for each strain.

The elastic law meets the strain e + lag e' with the retardation times lag = D / C of each strain, so
that force fields of the mixed form are viscous through their projected rates as well. This file keeps
what the steps need for that, and the power that is lost.
"""

from __future__ import annotations

from pliant._numba import kernel
from pliant.engine.program import run
from pliant.physics.contract import KernelTerm, Moment, Term
from pliant.rods.contract import Array
from pliant.tree.state import State
from pliant.tree.tree import Tree
from pliant.tree.work import Work


class Viscosity(KernelTerm):
    """Dissipation of one rod in the stresses that each strain has by itself."""

    compiled = True

    def __init__(self, tree: Tree, i: int) -> None:
        self.i = i
        self.part = tree.parts[i]

    def add_power_lost(self, m: Moment, scale: float, out: Array) -> None:
        damping = self.part.plain * self.part.lag
        run(add_quadratic, damping, m.work.parts[self.i].rate, scale, out)


def meet_moving(work: Work, state: State, speed: float) -> None:
    """Let the laws meet the strains of a moving state, with the rates in `work`.

    speed : derivative of the rates in the coordinates that are sought, 1/s.
    """
    for w, at in zip(work.parts, state.parts, strict=True):
        if len(w.met):
            run(moving_strain, at.strain.e, w.lag, w.rate, speed, w.met, w.shift)


def meet_between(work: Work, a: State, b: State, h: float, share: float) -> None:
    """Let the laws meet the strains of a step of h seconds, `share` of the way from a to b."""
    for w, start, end in zip(work.parts, a.parts, b.parts, strict=True):
        if len(w.met):
            ends = (start.strain.e, end.strain.e)
            run(lagging_strain, *ends, h, share, w.lag, w.rate, w.met, w.shift)


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


@kernel
def moving_strain(e, lag, rate, speed, met, shift):  # type: ignore[no-untyped-def]
    """met = e + lag rate and shift = 1 + speed lag, all (S, 6)."""
    for s in range(e.shape[0]):
        for i in range(6):
            met[s, i] = e[s, i] + lag[s, i] * rate[s, i]
            shift[s, i] = 1.0 + speed * lag[s, i]


@kernel
def lagging_strain(ea, eb, h, share, lag, rate, met, shift):  # type: ignore[no-untyped-def]
    """Strain that meets the law in a step of length h, its rate and its derivative in eb, all (S, 6).

    rate = (eb - ea) / h, met = ea + share (eb - ea) + lag rate.
    """
    for s in range(ea.shape[0]):
        for i in range(6):
            r = (eb[s, i] - ea[s, i]) / h
            rate[s, i] = r
            met[s, i] = ea[s, i] + (share * h + lag[s, i]) * r
            shift[s, i] = share + lag[s, i] / h
