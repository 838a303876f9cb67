"""The expected solution of the next instant: the guess that Newton's method starts with.

A motion in steps that are long for its quick modes is no polynomial in time. But a sum of modes obeys
a linear recurrence, the same one everywhere along the chain: the increments of six leading numbers, the
unknowns at the base, show its coefficients (linear prediction, by least squares that forget), and these
predict all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel
from pliant.bvp.rod_equations import rotation
from pliant.lie.so3 import exp_matrix, log_vector
from pliant.lie.tuples import Array, add, multiply, transpose
from pliant.rods.contract import Ints

ORDER = 16
"""Increments that the recurrence looks back on."""
HOLD, LINE, RECURRENCE = 0, 1, 4
"""Rows of `Past.table`: stay, go on along a line, follow the recurrence; between them polynomials of
order 2 and 3."""
_FORGET = 0.9
_RIDGE = 1e-9


class Past(NamedTuple):
    """The last instants of a motion.

    lead : (17, 6) leading numbers, newest first.  values : (17, K) all that is predicted, a ring.
    counts : (3,) how many instants there are, the newest in the ring, and the row of the table to use.
    table : (5, 16) coefficients that each predictor gives to the last increments, newest first.
    errors : (5,) of each so far.  G : (16, 16) and g : (16,) normal equations of the recurrence.
    """

    lead: Array
    values: Array
    counts: Ints
    table: Array
    errors: Array
    G: Array
    g: Array


def new_past(size: int) -> Past:
    """No instants yet, of K = `size` numbers each."""
    table = np.zeros((5, ORDER))
    table[1, 0] = 1.0
    table[2, :2] = 2.0, -1.0
    table[3, :3] = 3.0, -3.0, 1.0
    return Past(
        np.zeros((ORDER + 1, 6)),
        np.zeros((ORDER + 1, size)),
        np.zeros(3, dtype=np.int64),
        table,
        np.zeros(5),
        np.zeros((ORDER, ORDER)),
        np.zeros(ORDER),
    )


@kernel
def restart(past, lead, values):  # type: ignore[no-untyped-def]
    """Forget everything but one instant."""
    past.counts[0], past.counts[1], past.counts[2] = 1, 0, HOLD
    past.G[:], past.g[:], past.errors[:] = 0.0, 0.0, 0.0
    replace_last(past, lead, values)


@inner
def replace_last(past, lead, values):  # type: ignore[no-untyped-def]
    """Let the newest instant be another one."""
    past.lead[0] = lead
    past.values[past.counts[1]] = values


@kernel
def append(past, scale, keep_before, x, values):  # type: ignore[no-untyped-def]
    """Add an instant with leading numbers x (6,), and choose the predictor that served best of late.

    keep_before : (1,) True to let it take the place of the newest one.
    """
    if keep_before[0]:
        replace_last(past, x, values)
        return
    lead, table, known = past.lead, past.table, past.counts[0] - 1
    increments = lead[:-1] - lead[1:]
    misses = (lead[0] + np.dot(table, increments) - x) / scale
    best, chosen = np.inf, HOLD if known > 0 else LINE
    for row in range(len(table)):
        usable = past.G[0, 0] > 0.0 if row == RECURRENCE else row <= known
        if usable:
            past.errors[row] = 0.5 * past.errors[row] + np.dot(misses[row], misses[row])
            if known > 0 and row > HOLD and past.errors[row] < best:
                best, chosen = past.errors[row], row
    if known >= ORDER and not _learn(past, scale, x, increments) and chosen == RECURRENCE:
        chosen = LINE
    lead[1:] = lead[:-1].copy()
    past.counts[0] = min(past.counts[0] + 1, ORDER + 1)
    past.counts[1] = (past.counts[1] + 1) % (ORDER + 1)
    past.counts[2] = chosen
    replace_last(past, x, values)


@inner
def _learn(past, scale, x, increments):  # type: ignore[no-untyped-def]
    """Improve the recurrence by the increment to x (6,); tell whether it could be solved for."""
    d, G = increments / scale, past.G
    G[:] = _FORGET * G + np.dot(d, d.T)
    past.g[:] = _FORGET * past.g + np.dot(d, (x - past.lead[0]) / scale)
    size = np.trace(G)
    good = 0.0 < size < np.inf
    if good:
        past.table[RECURRENCE] = np.linalg.solve(G + _RIDGE * size * np.eye(ORDER), past.g)
    else:
        G[:], past.g[:] = 0.0, 0.0
    return good


@kernel
def predict(past, row, x):  # type: ignore[no-untyped-def]
    """Write the leading numbers that a predictor expects at the next instant into x (6,)."""
    x[:] = past.lead[0] + np.dot(past.table[row], past.lead[:-1] - past.lead[1:])


@kernel
def predict_values(past, row, first, out):  # type: ignore[no-untyped-def]
    """Write the values expected from number `first` on into `out`."""
    c, newest = past.table[row], past.counts[1]
    out[:] = past.values[newest, first : first + len(out)]
    for j in range(min(ORDER, past.counts[0] - 1)):
        if c[j] != 0.0:
            a, b = (newest - j) % (ORDER + 1), (newest - j - 1) % (ORDER + 1)
            for i in range(len(out)):
                out[i] += c[j] * (past.values[a, first + i] - past.values[b, first + i])


@kernel
def predict_state(past, row, first, y):  # type: ignore[no-untyped-def]
    """`predict_values` for a state (24,), whose rotation follows increments of the rotation vector."""
    c, newest = past.table[row], past.counts[1]
    turn = (0.0, 0.0, 0.0)
    predict_values(past, row, first, y[:15])
    at = slice(first, first + 24)
    for j in range(min(ORDER, past.counts[0] - 1)):
        if c[j] != 0.0:
            a = rotation(past.values[(newest - j) % (ORDER + 1), at])
            b = rotation(past.values[(newest - j - 1) % (ORDER + 1), at])
            turn = add(1.0, turn, c[j], log_vector(multiply(transpose(b), a)))
    R = multiply(rotation(past.values[newest, at]), exp_matrix(*turn))
    for i in range(9):
        y[15 + i] = R[i]
