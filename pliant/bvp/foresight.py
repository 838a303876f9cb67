"""What the next instant will look like, from those before: the guess that Newton's method starts with.

A motion in steps that are long for its quick modes is no polynomial in time. But a sum of modes obeys
a linear recurrence, the same one everywhere along the chain: the increments of the wrench at the base
show its coefficients (linear prediction, by least squares that forget), and these foresee all states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel, leaf
from pliant.lie.so3 import exp_matrix, log_vector
from pliant.lie.tuples import Array, multiply, transpose
from pliant.rods.contract import Ints

ORDER = 16
"""Increments that the recurrence looks back on."""
HOLD, LINE, RECURRENCE = 0, 1, 4
"""Rows of `Trail.table`: stay, go on along a line, follow the recurrence; between them parabolas of
order 2 and 3."""
_FORGET = 0.9
_RIDGE = 1e-9


class Trail(NamedTuple):
    """Where a motion came from.

    past : (17, 6) wrench at the base, newest first.  ends : (17, N, 24) states at the ends of all
    intervals, a ring.  counts : (3,) how many of them there are, the newest in the ring, and the row
    of the table to use.
    table : (5, 16) coefficients that each predictor gives to the last increments, newest first.
    errors : (5,) of each so far.  G : (16, 16) and g : (16,) normal equations of the recurrence.
    """

    past: Array
    ends: Array
    counts: Ints
    table: Array
    errors: Array
    G: Array
    g: Array


def new_trail(intervals: int) -> Trail:
    """A trail without a past on so many intervals."""
    table = np.zeros((5, ORDER))
    table[1, 0] = 1.0
    table[2, :2] = 2.0, -1.0
    table[3, :3] = 3.0, -3.0, 1.0
    return Trail(
        np.zeros((ORDER + 1, 6)),
        np.zeros((ORDER + 1, intervals, 24)),
        np.zeros(3, dtype=np.int64),
        table,
        np.zeros(5),
        np.zeros((ORDER, ORDER)),
        np.zeros(ORDER),
    )


@kernel
def begin_trail(trail, x, nodes):  # type: ignore[no-untyped-def]
    """Forget everything but the wrench x (6,) at the base and the states nodes (N, 2, 24)."""
    trail.counts[0], trail.counts[1], trail.counts[2] = 1, 0, HOLD
    trail.G[:], trail.g[:], trail.errors[:] = 0.0, 0.0, 0.0
    replace_last(trail, x, nodes)


@kernel
def replace_last(trail, x, nodes):  # type: ignore[no-untyped-def]
    """Let the newest instant be another one."""
    ends = trail.ends[trail.counts[1]]
    for i in range(6):
        trail.past[0, i] = x[i]
    for i in range(len(nodes)):
        for j in range(24):
            ends[i, j] = nodes[i, 1, j]


@leaf
def _usable(trail, row):  # type: ignore[no-untyped-def]
    """Whether there are enough increments for a predictor, and for it to have learnt."""
    known = trail.counts[0] - 1
    return trail.G[0, 0] > 0.0 if row == RECURRENCE else row <= known


@kernel
def remember(trail, scale, x, nodes):  # type: ignore[no-untyped-def]
    """Add an instant, and choose the predictor that served best of late."""
    past, table = trail.past, trail.table
    best, chosen = np.inf, HOLD
    for row in range(len(table)):
        if not _usable(trail, row):
            continue
        error = 0.0
        for i in range(6):
            e = past[0, i] - x[i]
            for j in range(min(ORDER, trail.counts[0] - 1)):
                e += table[row, j] * (past[j, i] - past[j + 1, i])
            error += (e / scale[i]) ** 2
        trail.errors[row] = 0.5 * trail.errors[row] + error
        if trail.errors[row] < best and (row > HOLD or trail.counts[0] < 2):
            best, chosen = trail.errors[row], row
    if trail.counts[0] == 1:
        chosen = LINE
    if trail.counts[0] > ORDER and not _learn(trail, scale, x) and chosen == RECURRENCE:
        chosen = LINE
    for k in range(ORDER, 0, -1):
        for i in range(6):
            past[k, i] = past[k - 1, i]
    trail.counts[0] = min(trail.counts[0] + 1, ORDER + 1)
    trail.counts[1] = (trail.counts[1] + 1) % (ORDER + 1)
    trail.counts[2] = chosen
    replace_last(trail, x, nodes)


@kernel
def _learn(trail, scale, x):  # type: ignore[no-untyped-def]
    """Improve the recurrence by the increment to x (6,); tell whether it could be solved for."""
    past, G, g, trace = trail.past, trail.G, trail.g, 0.0
    G *= _FORGET
    g *= _FORGET
    d = np.empty(ORDER)
    for i in range(6):
        for a in range(ORDER):
            d[a] = (past[a, i] - past[a + 1, i]) / scale[i]
        ahead = (x[i] - past[0, i]) / scale[i]
        for a in range(ORDER):
            g[a] += d[a] * ahead
            for b in range(ORDER):
                G[a, b] += d[a] * d[b]
    for a in range(ORDER):
        trace += G[a, a]
    return _solve(G, g, _RIDGE * trace, trail.table[RECURRENCE])


@kernel
def _solve(G, g, ridge, c):  # type: ignore[no-untyped-def]
    """Solve (G + ridge I) c = g for a symmetric G (n, n) by Cholesky's method."""
    n = len(g)
    L = np.zeros((n, n))
    for a in range(n):
        for b in range(a + 1):
            total = G[a, b]
            for k in range(b):
                total -= L[a, k] * L[b, k]
            if a > b:
                L[a, b] = total / L[b, b]
            else:
                total += ridge
                if not total > 0.0:
                    G[:] = 0.0
                    g[:] = 0.0
                    return False
                L[a, a] = np.sqrt(total)
    for a in range(n):
        total = g[a]
        for k in range(a):
            total -= L[a, k] * c[k]
        c[a] = total / L[a, a]
    for a in range(n - 1, -1, -1):
        total = c[a]
        for k in range(a + 1, n):
            total -= L[k, a] * c[k]
        c[a] = total / L[a, a]
    return True


@kernel
def foresee(trail, row, x):  # type: ignore[no-untyped-def]
    """Write the wrench at the base that a predictor expects at the next instant into x (6,)."""
    c = trail.table[row]
    for i in range(6):
        x[i] = trail.past[0, i]
        for j in range(min(ORDER, trail.counts[0] - 1)):
            x[i] += c[j] * (trail.past[j, i] - trail.past[j + 1, i])


@kernel
def foresee_state(trail, row, interval, y):  # type: ignore[no-untyped-def]
    """Write the state (24,) expected at the end of an interval into y; its position stays."""
    c, size = trail.table[row], ORDER + 1
    newest = trail.ends[trail.counts[1], interval]
    kx, ky, kz = 0.0, 0.0, 0.0
    y[:] = newest
    for j in range(min(ORDER, trail.counts[0] - 1)):
        if c[j] != 0.0:
            a = trail.ends[(trail.counts[1] - j) % size, interval]
            b = trail.ends[(trail.counts[1] - j - 1) % size, interval]
            for i in range(12):
                y[i] += c[j] * (a[i] - b[i])
            k = log_vector(multiply(transpose(_nine(b)), _nine(a)))
            kx, ky, kz = kx + c[j] * k[0], ky + c[j] * k[1], kz + c[j] * k[2]
    R = multiply(_nine(newest), exp_matrix(kx, ky, kz))
    for i in range(9):
        y[15 + i] = R[i]


@kernel
def foresee_nodes(trail, nodes):  # type: ignore[no-untyped-def]
    """Write the states expected at the ends of all intervals into nodes (N, 2, 24)."""
    for i in range(len(nodes)):
        foresee_state(trail, trail.counts[2], i, nodes[i, 1])


@leaf
def _nine(y):  # type: ignore[no-untyped-def]
    return y[15], y[16], y[17], y[18], y[19], y[20], y[21], y[22], y[23]
