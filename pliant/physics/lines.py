"""Pressure lines in compiled loops: the steps of `Lag` and `Flow`, see `model.chamber`."""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import kernel
from pliant.model import Array, Flow, Lag, PressureLine

NONE, LAG, FLOW = 0, 1, 2


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
def line_step(kind, constants, h, pressure, asked, wanted, volume, after):  # type: ignore[no-untyped-def]
    """Gauge pressure behind a line after h seconds, Pa; what is wanted itself where there is none.

    asked, wanted : pressure asked for at the start and at the end, Pa.  volume, after : of the
    chamber at the start and at the end, m^3.
    """
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
