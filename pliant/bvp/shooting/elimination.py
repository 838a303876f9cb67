"""The linearised equations of multiple shooting, solved from tip to base and back.

At the start of each segment but the first a state varies by z (n numbers), at the base by x (6). What
arrives at the next cut is A z plus the gap there; six conditions hold at the tip. From the tip
backwards each cut gets six conditions

    S z = d,    S' A z = d' - S' gap    (a prime marks the next cut),

solved for six of its numbers, by preference the wrench: what lies beyond responds to a motion by a
wrench. Forwards, the others follow from the base. Neither way multiplies the growth of one segment by
that of another, as elimination from base to tip would.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel

_PREFERENCE = 100.0
"""How much larger than those of the wrench the coefficients of a motion must be to be solved for it."""


@kernel
def invert(W, out):  # type: ignore[no-untyped-def]
    """Write the inverse of W (n, n), which is lost, into `out`; tell whether there is one."""
    n = len(W)
    for i in range(n):
        for j in range(n):
            out[i, j] = 1.0 if i == j else 0.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(W[i, k]) > abs(W[pivot, k]):
                pivot = i
        # also false for NaN
        if not 1e-280 < abs(W[pivot, k]) < 1e280:
            return False
        if pivot != k:
            for j in range(n):
                W[k, j], W[pivot, j] = W[pivot, j], W[k, j]
                out[k, j], out[pivot, j] = out[pivot, j], out[k, j]
        part = 1.0 / W[k, k]
        for j in range(n):
            W[k, j] *= part
            out[k, j] *= part
        for i in range(n):
            if i != k and W[i, k] != 0.0:
                part = W[i, k]
                for j in range(n):
                    W[i, j] -= part * W[k, j]
                    out[i, j] -= part * out[k, j]
    return True


@kernel
def _choose(B, W, chosen):  # type: ignore[no-untyped-def]
    """Choose six columns of B (6, n) that are well independent; W (6, n) is room for elimination."""
    n = B.shape[1]
    W[:] = B
    for k in range(6):
        best, row, column = -1.0, k, k
        for i in range(k, 6):
            for j in range(n):
                size = abs(W[i, j]) * (_PREFERENCE if j < 6 else 1.0)
                if size > best:
                    best, row, column = size, i, j
        chosen[k] = column
        for j in range(n):
            W[k, j], W[row, j] = W[row, j], W[k, j]
        if W[k, column] != 0.0:
            for i in range(k + 1, 6):
                part = W[i, column] / W[k, column]
                for j in range(n):
                    W[i, j] -= part * W[k, j]
        for i in range(k, 6):
            W[i, column] = 0.0


@kernel
def condense(A, inverse, S, chosen):  # type: ignore[no-untyped-def]
    """Write conditions S (M, 6, n), numbers (M, 6) they are solved for, and inverses (M, 6, 6).

    A (M, n, n): of the last segment only six rows count, the conditions at the tip; of the first six
    columns, the unknowns at the base. Tells whether all inverses exist.
    """
    last, n = len(A) - 1, A.shape[1]
    B, W, V = np.empty((6, n)), np.empty((6, n)), np.empty((6, 6))
    for k in range(last, -1, -1):
        columns = n if k > 0 else 6
        for i in range(6):
            for j in range(columns):
                total = A[k, i, j]
                if k < last:
                    total = 0.0
                    for e in range(n):
                        total += S[k + 1, i, e] * A[k, e, j]
                B[i, j] = total
        if k > 0:
            _choose(B, W, chosen[k])
        for i in range(6):
            for j in range(6):
                V[i, j] = B[i, chosen[k, j] if k > 0 else j]
        if not invert(V, inverse[k]):
            return False
        for i in range(6):
            for j in range(columns):
                S[k, i, j] = 0.0
                for e in range(6):
                    S[k, i, j] += inverse[k, i, e] * B[e, j]
    return True


@kernel
def resolve(A, inverse, S, chosen, gaps, step):  # type: ignore[no-untyped-def]
    """Write the Newton step (M, n) that closes gaps (M, n) to first order.

    gaps : what arrives at the end of each segment less what is assumed there; of the last, the six
    conditions at the tip. step : changes at the starts, of the first those of the unknowns at the base.
    """
    last, n = len(A) - 1, A.shape[1]
    d, t = np.empty((last + 1, 6)), np.empty(6)
    for k in range(last, -1, -1):
        for i in range(6):
            t[i] = -gaps[k, i]
            if k < last:
                t[i] = d[k + 1, i]
                for j in range(n):
                    t[i] -= S[k + 1, i, j] * gaps[k, j]
        for i in range(6):
            d[k, i] = 0.0
            for j in range(6):
                d[k, i] += inverse[k, i, j] * t[j]
    for j in range(n):
        step[0, j] = d[0, j] if j < 6 else 0.0
    for k in range(last):
        z = step[k + 1]
        for i in range(n):
            z[i] = gaps[k, i]
            for j in range(n if k > 0 else 6):
                z[i] += A[k, i, j] * step[k, j]
        for i in range(6):
            z[chosen[k + 1, i]] = 0.0
        for i in range(6):
            t[i] = d[k + 1, i]
            for j in range(n):
                t[i] -= S[k + 1, i, j] * z[j]
        for i in range(6):
            z[chosen[k + 1, i]] = t[i]
