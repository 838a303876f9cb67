"""Newton's method for a clamped chain with a free tip that is cut into segments, compiled.

The states at the cuts are unknown too, apart from their positions: those move nothing else and follow
from the segment before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, kernel
from pliant.bvp.aiming import start_state
from pliant.bvp.condensed import WHOLE, condense, resolve
from pliant.bvp.foresight import foresee_state
from pliant.bvp.sweep import sweep
from pliant.bvp.variations import vary
from pliant.lie.so3 import exp_matrix, log_vector
from pliant.lie.tuples import Array, multiply, transpose
from pliant.rods.contract import Ints

_ITERATIONS = 40
_POOR = 0.25
"""Reduction of the residual in one iteration above which the derivative is renewed."""
_SMALLEST = 1.0 / 64.0
_ROUNDING = 1e-9
"""Residual below which it may stay if it no longer falls."""


class Parts(NamedTuple):
    """A chain cut into segments, coarsely and finely.

    counts : (levels,) segments at each level.  cuts : (levels, most + 1) the first interval of each.
    states : (most, 24) assumed at their starts, the base's first.
    A : (most, 15, 15), inverse : (most, 6, 6), S : (most, 6, 9) see `condensed`, in typical units.
    known : (1,) the level that they belong to, -1 if none.
    """

    counts: Ints
    cuts: Ints
    states: Array
    A: Array
    inverse: Array
    S: Array
    known: Ints


def new_parts(cuts: list[Ints]) -> Parts:
    """Parts for given cuts (segments + 1,) at each level."""
    counts = np.array([len(places) - 1 for places in cuts], dtype=np.int64)
    most = int(counts.max(initial=1))
    table = np.zeros((len(cuts), most + 1), dtype=np.int64)
    for row, places in zip(table, cuts, strict=True):
        row[: len(places)] = places
    return Parts(
        counts,
        table,
        np.zeros((most, 24)),
        np.zeros((most, WHOLE, WHOLE)),
        np.zeros((most, 6, 6)),
        np.zeros((most, 6, 9)),
        np.full(1, -1, dtype=np.int64),
    )


@kernel
def _row(i):  # type: ignore[no-untyped-def]
    """Row of a variation (18,) that the i-th of the 15 unknowns at a cut belongs to."""
    return i if i < 12 else i + 3


@kernel
def units(setting, c0, out):  # type: ignore[no-untyped-def]
    """Typical sizes (15,) of wrench, velocity and rotation."""
    for i in range(3):
        out[i], out[3 + i] = setting.scale[i], setting.scale[3 + i]
        out[6 + i], out[9 + i], out[12 + i] = c0, c0 * setting.length, 1.0


@kernel
def _gap(y, state, unit, out):  # type: ignore[no-untyped-def]
    """Write by how much an arriving state y (24,) misses the assumed one, (15,) in typical units."""
    for i in range(12):
        out[i] = (y[i] - state[i]) / unit[i]
    R = (state[15], state[16], state[17], state[18], state[19], state[20])
    R9 = (R[0], R[1], R[2], R[3], R[4], R[5], state[21], state[22], state[23])
    arrived = (y[15], y[16], y[17], y[18], y[19], y[20], y[21], y[22], y[23])
    k = log_vector(multiply(transpose(R9), arrived))
    out[12], out[13], out[14] = k[0], k[1], k[2]


@kernel
def _join(setting, arrays, memory, parts, level, c0, unit, gaps):  # type: ignore[no-untyped-def]
    """Sweep over all segments; returns the size of the gaps and the largest wrench in the chain."""
    y, none = np.empty(24), np.empty((18, 0))
    count, cuts, distance = parts.counts[level], parts.cuts[level], 0.0
    for k in range(count):
        for i in range(24):
            if k == 0 or i < 12 or i > 14:
                y[i] = parts.states[k, i]
            else:
                parts.states[k, i] = y[i]
        a, b = cuts[k], cuts[k + 1]
        sweep(setting.kind, setting.scheme, arrays, c0, a, b, y, none, memory.nodes, memory.slopes)
        if k + 1 < count:
            _gap(y, parts.states[k + 1], unit, gaps[k])
        else:
            for i in range(15):
                gaps[k, i] = y[i] / unit[i] if i < 6 else 0.0
        for i in range(15):
            distance += gaps[k, i] ** 2
    load = 0.0
    for i in range(len(memory.nodes)):
        for e in range(2):
            for j in range(6):
                load = max(load, abs(memory.nodes[i, e, j]) / unit[j])
    return np.sqrt(distance), load


@driver
def _renew(setting, arrays, memory, parts, level, c0, unit):  # type: ignore[no-untyped-def]
    """Find the derivatives of all segments along the states of the last sweep and condense them."""
    count, cuts = parts.counts[level], parts.cuts[level]
    blocks = np.empty((2, 18, 8))
    for k in range(count):
        blocks[:] = 0.0
        for c in range(15):
            blocks[c // 8, _row(c), c % 8] = unit[c]
        # at the base only the wrench is unknown
        some = blocks[:1] if k == 0 else blocks
        a, b = cuts[k], cuts[k + 1]
        vary(arrays, setting.runs, setting.most[0], c0, a, b, memory.nodes, some)
        for i in range(15):
            for c in range(15):
                parts.A[k, i, c] = blocks[c // 8, _row(i), c % 8] / unit[i]
    return condense(parts.A[:count], parts.inverse, parts.S)


@kernel
def _move(state, part, step, unit):  # type: ignore[no-untyped-def]
    """Move a state (24,) by a part of a step (15,) in typical units."""
    for i in range(12):
        state[i] += part * step[i] * unit[i]
    R = (
        state[15], state[16], state[17], state[18], state[19], state[20], state[21], state[22],
        state[23],
    )  # fmt: skip
    R = multiply(R, exp_matrix(part * step[12], part * step[13], part * step[14]))
    for i in range(9):
        state[15 + i] = R[i]


@driver
def assume(trail, parts, level, row, base, x):  # type: ignore[no-untyped-def]
    """Start from the states that a predictor expects, and from the wrench x (6,) at the base."""
    start_state(base, x, parts.states[0])
    for k in range(1, parts.counts[level]):
        foresee_state(trail, row, parts.cuts[level, k] - 1, parts.states[k])


@kernel
def _correct(steps, taken, step):  # type: ignore[no-untyped-def]
    """Broyden's update of a step that an old derivative gives, from the steps already taken.

    steps (.., n): the `taken` last ones, all of full length; step (n,) is the next with the old
    derivative (Kelley 1995, Iterative Methods for Linear and Nonlinear Equations, algorithm brsol).
    """
    for j in range(taken):
        inner, square = 0.0, 0.0
        for i in range(len(step)):
            inner += steps[j, i] * step[i]
            square += steps[j, i] ** 2
        part = inner / square
        if j + 1 < taken:
            for i in range(len(step)):
                step[i] += part * steps[j + 1, i]
        elif part < 0.9:
            for i in range(len(step)):
                step[i] /= 1.0 - part


@kernel
def solve_joined(setting, arrays, memory, parts, level, c0, limits):  # type: ignore[no-untyped-def]
    """Newton's method from parts.states, which become the solution; memory.nodes as well.

    limits (3,): tolerance, the largest wrench that can be believed, and the least one that residuals
    are compared with, both in units of the chain's. The derivative is kept, over iterations and steps
    in time, for as long as it serves; a step with a new one that leads away is shortened. Returns the
    relative residual, negative if it did not arrive, and the iterations.
    """
    count = parts.counts[level]
    unit, gaps, step = np.empty(15), np.empty((count, 15)), np.empty((count, 15))
    units(setting, c0, unit)
    states, kept = parts.states[:count], parts.states[:count].copy()
    steps, taken = np.empty((_ITERATIONS + 1, 15 * count)), 0
    before, part, fresh = np.inf, 1.0, False
    for iteration in range(_ITERATIONS):
        distance, load = _join(setting, arrays, memory, parts, level, c0, unit, gaps)
        finite = np.isfinite(distance + load)
        size = distance / max(load, limits[2])
        closer = distance <= (1.0 - 0.1 * part) * before
        good = finite and (closer or (size < 1e-6 and part == 1.0))
        if good:
            if size <= limits[0] or (fresh and size < _ROUNDING and distance > 0.3 * before):
                return (size if load <= limits[1] else -1.0), iteration
            stale = parts.known[0] != level or distance > _POOR * before
            kept[:], before = states, distance
        else:
            if before == np.inf:
                return -1.0, iteration
            stale, part = not fresh, 0.5 * part
            states[:] = kept
            if stale:
                _join(setting, arrays, memory, parts, level, c0, unit, gaps)
            elif part < _SMALLEST:
                return -1.0, iteration
        if stale:
            parts.known[0] = -1
            if not _renew(setting, arrays, memory, parts, level, c0, unit):
                return -1.0, iteration
            parts.known[0] = level
        if stale or good:
            resolve(parts.A[:count], parts.inverse, parts.S, gaps, step)
            taken = 0 if stale or part < 1.0 else taken
            _correct(steps, taken, step.reshape(15 * count))
            steps[taken] = step.reshape(15 * count)
            taken, fresh, part = taken + 1, stale, 1.0
        for k in range(count):
            _move(states[k], part, step[k], unit)
    return -1.0, _ITERATIONS
