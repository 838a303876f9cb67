"""Which wrenches a solution may have: Newton's method also finds solutions that no motion leads to."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.bvp.rod_equations import (
    COMPLIANCE,
    FORCE_WORLD,
    MASS,
    MOMENT_BODY,
    MOMENT_WORLD,
    STRAIN,
    VELOCITY_HISTORY,
)

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


@kernel
def _whole_mass(intervals):  # type: ignore[no-untyped-def]
    """Mass of rods and bodies, kg."""
    return np.sum(intervals.h * intervals.table[:, 1, MASS]) + np.sum(intervals.jumps.weight[:, 0])


@kernel
def sudden_wrench(intervals, scale, length, c0, twist, strain, nodes):  # type: ignore[no-untyped-def]
    """Wrench, in units of `scale`, that a step can bring without loads: pressure, inertia, motion.

    twist (6,) of the base to come, strain (4 N, 6) and nodes (N, 2, 24) of the last instant. Where a
    pressure jumps, sections keep their strain until they move, and the law asks for (xi - xi_0) / S
    instead of the wrench so far; a moment m that they cannot follow within a time step decays over 1/k,
    k^4 = c0^2 mass S, by forces of k m. A base accelerates all that it carries, and sections that go on
    turning at w bend the chain by w / c0.
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
    return max(largest, base * _whole_mass(intervals) / scale[3])


@kernel
def rounding_wrench(intervals, scale, length, c0):  # type: ignore[no-untyped-def]
    """Wrench, in units of `scale`, of which rounding of positions in a short step leaves 1e-11."""
    return 1e-5 * c0 * c0 * _whole_mass(intervals) * length / scale[3]


@kernel
def plausible_wrench(explained, scale, wrench):  # type: ignore[no-untyped-def]
    """Largest wrench, in units of `scale`, to be expected after a step from `wrench` (6,) at the base.

    explained : the largest that loads, pressures and inertia can bring.
    """
    return 100.0 * max(0.01, explained, np.max(np.abs(wrench[:6]) / scale))


@kernel
def unexpected_curvature(intervals, nodes, strain, before):  # type: ignore[no-untyped-def]
    """Largest distance of curvature and twist from the line through the last two instants, rad/m.

    strain, before : (4 N, 6) of these instants.
    """
    largest = 0.0
    for i in range(len(nodes)):
        P = intervals.table[i, 0]
        for r in range(3):
            expected = 2.0 * strain[4 * i, r] - before[4 * i, r]
            largest = max(largest, abs(P[STRAIN + r] + P[r] * nodes[i, 0, r] - expected))
    return largest
