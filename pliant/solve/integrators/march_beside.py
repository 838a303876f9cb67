"""Steps of `march_kernels.march` beside others: those of a rod that differs a little.

See `beside` for the idea. The leader keeps of every step what its neighbours need, in the arrays of a
trail: increment and modes (steps, n) at its end, the residual left (steps, n), and factor
(steps, n, b + 1) and pivots (steps, n) of the tangent there.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.linalg.band import solve_band
from pliant.solve.integrators.march_kernels import (
    CONVERGED,
    SINGULAR,
    accept,
    keep,
    load,
    solve,
)
from pliant.solve.integrators.march_parts import factorise, place, residual


@kernel
def lead(bundle, limit, trail):  # type: ignore[no-untyped-def]
    """Take the steps of a task as `march` does, and write the trail; returns how many were taken."""
    strain, second = bundle.strain, bundle.second
    rule, rod, law, form, loads, lines, state, room, band, books, counts, task = bundle.parts
    inputs, row, record = task
    ends, modes, left, factors, pivots = trail
    for k in range(inputs.shape[0]):
        room[20][:] = inputs[k]
        load(rule, loads, lines, state, room)
        counts[2] = solve(
            strain, second, rule, limit, rod, law, form, state, room, band, books, counts
        )
        if counts[2] != CONVERGED:
            return k
        residual(strain, rule, rod, law, form, room)
        counts[1] += 1
        if not factorise(second, rule, rod, law, form, room, band):
            counts[2] = SINGULAR
            return k
        ends[k] = room[0]
        modes[k] = room[5]
        left[k] = room[13]
        factors[k] = band[1]
        pivots[k] = band[2]
        accept(rule, rod, law, form, loads, lines, state, room, books)
        keep(row[k], record, state, books)
    return inputs.shape[0]


@kernel
def follow(bundle, trail, slope, corrections, enough):  # type: ignore[no-untyped-def]
    """Take the steps of a task beside those of a trail.

    dx = -T^-1 [R(x; state + dstate, p + dp) - R(x; state, p)], at most `corrections` times, until the
    difference is the part `enough` of what it was. slope : of gaps of stress modes in T, see `rule`.
    """
    strain = bundle.strain
    rule, rod, law, form, loads, lines, state, room, _, books, counts, task = bundle.parts
    inputs, row, record = task
    ends, modes, left, factors, pivots = trail
    D, mult, r, x = room[0], room[5], room[13], room[19]
    for k in range(inputs.shape[0]):
        room[20][:] = inputs[k]
        load(rule, loads, lines, state, room)
        D[:] = ends[k]
        mult[:] = modes[k]
        first = 0.0
        for c in range(corrections + 1):
            place(rule, rod, state, room)
            residual(strain, rule, rod, law, form, room)
            size = 0.0
            for j in range(len(r)):
                x[j] = left[k, j] - r[j]
                size += x[j] * x[j]
            size = np.sqrt(size)
            if c == 0:
                first = size
            if c == corrections or size <= enough * first:
                break
            for j in law[9]:
                x[j] /= slope
            solve_band(factors[k], pivots[k], x)
            counts[0] += 1
            for j in rod[5]:
                D[j] += x[j]
            for j in law[9]:
                mult[j] += x[j]
        accept(rule, rod, law, form, loads, lines, state, room, books)
        keep(row[k], record, state, books)
