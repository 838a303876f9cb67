"""Pressure lines in time: from the pressure that is asked for to the pressure in a chamber.

A chamber behind a line keeps five numbers from step to step: the pressure in it (Pa), its volume (m^3)
and the rate of that (m^3/s), and the pressures asked for at the start and at the end of the step (Pa).
Within a step the volume is extrapolated; once the step is taken, the line goes over it again with the
volume that was found, so that no gas is lost.
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel
from pliant.model import Array, Flow, Lag, PressureLine

NONE, LAG, FLOW = 0, 1, 2
MEMORY = 5


def constants(line: PressureLine | None) -> tuple[int, Array] | None:
    """Kind and numbers (3,) of a line for `line_step`, or None for a line of another kind."""
    if line is None:
        return NONE, np.zeros(3)
    if type(line) is Lag:
        return LAG, np.array([line.time, 0.0, 0.0])
    if type(line) is Flow:
        return FLOW, np.array([line.conductance, line.dead_volume, line.atmosphere])
    return None


@kernel
def feed(kind, constants, h, memory, u):  # type: ignore[no-untyped-def]
    """Replace the pressure asked for at the end of a step, in u (1,), by the one that acts there."""
    memory[4] = u[0]
    ahead = max(memory[1] + h * memory[2], 0.1 * memory[1])
    u[0] = line_step(kind, constants, h, memory, ahead)


@kernel
def keep(kind, constants, h, rest, swept, memory, u):  # type: ignore[no-untyped-def]
    """Bring the memory to the end of a step, with the volume rest - swept_0 there, and u (1,)."""
    volume = rest - swept[0]
    memory[0] = u[0] = line_step(kind, constants, h, memory, volume)
    memory[2] = (volume - memory[1]) / h
    memory[1], memory[3] = volume, memory[4]


@inner
def line_step(kind, constants, h, memory, after):  # type: ignore[no-untyped-def]
    """Gauge pressure behind a line after h seconds, Pa; after : volume of the chamber then, m^3.

    The steps of `Lag` and `Flow`, see `model.chamber`.
    """
    pressure, volume, asked, wanted = memory[0], memory[1], memory[3], memory[4]
    if kind == LAG:
        time = constants[0]
        slope = (wanted - asked) / h
        return wanted - slope * time + (pressure - asked + slope * time) * math.exp(-h / time)
    if kind == FLOW:
        first, last = volume + constants[1], after + constants[1]
        middle = 0.5 * (first + last)
        settled = (0.5 * (asked + wanted) + constants[2]) * middle
        amount = (pressure + constants[2]) * first
        amount = settled + (amount - settled) * math.exp(-h * constants[0] / middle)
        return amount / last - constants[2]
    return wanted


def feed_own(line: PressureLine, h: float, memory: Array, u: Array) -> None:
    """`feed` by a line of your own."""
    memory[4] = u[0]
    ahead = max(memory[1] + h * memory[2], 0.1 * memory[1])
    u[0] = line.step(h, memory[0], (memory[3], memory[4]), (memory[1], ahead))


def keep_own(line: PressureLine, h: float, volume: float, memory: Array, u: Array) -> None:
    """`keep` by a line of your own."""
    memory[0] = u[0] = line.step(h, memory[0], (memory[3], memory[4]), (memory[1], volume))
    memory[2] = (volume - memory[1]) / h
    memory[1], memory[3] = volume, memory[4]
