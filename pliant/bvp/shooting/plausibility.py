"""Which wrenches a solution may have: Newton's method also finds solutions that no motion leads to."""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel
from pliant.bvp.rod_equations import (
    COMPLIANCE,
    FORCE_WORLD,
    MASS,
    MOMENT_BODY,
    MOMENT_WORLD,
    STRAIN,
    VELOCITY_HISTORY,
)
from pliant.bvp.shooting.equations import FLOOR, LARGEST, SHORTEST, STEP, TOLERANCE

STEP_TOLERANCE = 1e-10
"""Of time steps, relative to the wrench in the chain."""
_SHORTEST = float(STEP.shortest)
LEAST = 1e-6
"""Internal wrench, relative to one that bends the chain by a radian, below which nothing acts."""


@kernel
def applied_wrench(intervals, scale):  # type: ignore[no-untyped-def]
    """Largest of the wrenches that act on the chain, weight included, in units of `scale` (6,)."""
    largest, jumps = 0.0, intervals.jumps
    for i in range(6):
        total = np.sum(np.abs(jumps.wrenches[:, 3 + i]) + np.abs(jumps.wrenches[:, 9 + i]))
        world = FORCE_WORLD + i - 3 if i > 2 else MOMENT_WORLD + i
        for k in range(len(intervals.h)):
            P = intervals.table[k, 1]
            total += intervals.h[k] * (abs(P[world]) + abs(P[MOMENT_BODY + i]))
        if i > 2:
            total += np.sum(jumps.weight[:, 0]) * abs(jumps.gravity[i - 3])
        largest = max(largest, total / scale[i])
    return largest


@inner
def _sudden_wrench(intervals, scale, length, c0, mass, twist, strain, nodes):  # type: ignore[no-untyped-def]
    """Wrench, in units of `scale`, that a step can bring without loads: pressure, inertia, motion.

    mass : of all rods and bodies, kg.  twist (6,) of the base to come, strain (4 N, 6) and nodes
    (N, 2, 24) of the last instant. Where a pressure jumps, sections keep their strain until they move,
    and the law asks for (xi - xi_0) / S instead of the wrench so far; a moment m that they cannot
    follow within a time step decays over 1/k, k^4 = c0^2 mass S, by forces of k m. A base accelerates
    all that it carries, and sections that go on turning at w bend the chain by w / c0.
    """
    jump, steep, bend, base = 0.0, 0.0, 0.0, 0.0
    for i in range(len(intervals.h)):
        P, y = intervals.table[i, 0], nodes[i, 0]
        for r in range(6):
            S = P[COMPLIANCE + r]
            if S > 0.0:
                change = (strain[4 * i, r] - P[STRAIN + r]) / S - y[r]
                jump = max(jump, abs(change) / scale[r])
            if r < 3:
                rate = max(abs(y[6 + r]), abs(y[9 + r]) / length)
                bend = max(bend, rate / (c0 * length * S * scale[r]))
        steep = max(steep, c0 * c0 * P[MASS] * max(P[COMPLIANCE], P[COMPLIANCE + 1]))
    for r in range(6):
        part = c0 * twist[r] + intervals.table[0, 0, VELOCITY_HISTORY + r]
        base = max(base, abs(part) * (length if r < 3 else 1.0))
    largest = max(jump * max(1.0, length * steep**0.25), bend)
    return max(largest, base * mass / scale[3])


@kernel
def write_limits(setting, intervals, supports, history, kept, limits):  # type: ignore[no-untyped-def]
    """Write the limits (4,) of a time step from kept nodes (N, 2, 24), see `equations.LIMITS`.

    Plausible is a hundred times the largest wrench that loads, pressures and inertia can bring or that
    is there. Rounding of positions in a short step leaves 1e-11 of c0^2 times mass and length.
    """
    scale, length, c0, jumps = setting.scale, setting.length, setting.rule[0], intervals.jumps
    mass, explained = np.sum(jumps.weight[:, 0]), 0.01
    for i in range(len(intervals.h)):
        mass += intervals.h[i] * intervals.table[i, 1, MASS]
    for r in range(6):
        explained = max(explained, abs(kept[0, 0, r]) / scale[r])
    acting = applied_wrench(intervals, scale)
    twist = supports.twist if supports.held.all() else history.twist
    sudden = _sudden_wrench(intervals, scale, length, c0, mass, twist, history.strain, kept)
    limits[TOLERANCE], limits[SHORTEST] = STEP_TOLERANCE, _SHORTEST
    limits[LARGEST] = 100.0 * max(explained, acting, sudden)
    limits[FLOOR] = max(LEAST, acting, 1e-5 * c0 * c0 * mass * length / scale[3])


@kernel
def write_bend(length, intervals, history, nodes, bend):  # type: ignore[no-untyped-def]
    """Write by how many radians nodes (N, 2, 24) are bent away from what the last two steps predict."""
    bend[0] = 0.0
    for i in range(len(nodes)):
        P = intervals.table[i, 0]
        for r in range(3):
            expected = 2.0 * history.strain[4 * i, r] - history.strain_before[4 * i, r]
            miss = abs(P[STRAIN + r] + P[r] * nodes[i, 0, r] - expected)
            bend[0] = max(bend[0], length * miss)
