"""The compiled constants of a chain of rods, as plain arrays for kernels."""

from __future__ import annotations

from typing import NamedTuple

from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

LOAD, BODY, JOINT = 0, 1, 2


class Arrays(NamedTuple):
    """What a sweep from base to tip reads, for N intervals.

    h : (N,) their lengths, m.
    stages : (N, 3, 44) stage data at start, middle and end of each (see `equations`).
    first_event : (N + 2,) events first_event[i] to first_event[i + 1] lie before interval i, those
        of i = N at the tip.  event_kind, event_row : (events,) LOAD, BODY or JOINT and its row.
    loads : (loads, 15) offset in the section (3), world wrench (6), body wrench (6).
    body_mass : (bodies, 6, 6) inertia at the section, body_history : (bodies, 6) H of its velocity,
    body_weight : (bodies, 4) mass and centre.
    joints : (joints, 12) rotation by rows and translation from one rod's tip to the next base.
    gravity : (3,) world, m/s^2.
    """

    h: Array
    stages: Array
    first_event: Ints
    event_kind: Ints
    event_row: Ints
    loads: Array
    body_mass: Array
    body_history: Array
    body_weight: Array
    joints: Array
    gravity: Array
