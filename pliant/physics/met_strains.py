"""The strains that meet the laws of rods: those of a state at rest, in motion, or within a step.

In motion a law meets e + lag e' with the retardation time lag = D / C of each strain.
"""

from __future__ import annotations

from pliant._numba import kernel
from pliant.engine.arrays import copy
from pliant.engine.program import run
from pliant.tree.state import State
from pliant.tree.work import Work


def meet_at_rest(work: Work, state: State) -> None:
    """Let the laws of all rods meet the strains of a state at rest, with a workspace for rest."""
    for w, at in zip(work.parts, state.parts, strict=True):
        copy(at.strain.e, w.met)


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
