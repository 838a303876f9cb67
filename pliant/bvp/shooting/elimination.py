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
    out[:] = np.eye(n)
    for k in range(n):
        pivot = k + np.argmax(np.abs(W[k:, k]))
        # also false for NaN
        if not 1e-280 < abs(W[pivot, k]) < 1e280:
            return False
        for M in (W, out):
            for j in range(n):
                M[k, j], M[pivot, j] = M[pivot, j], M[k, j]
        part = 1.0 / W[k, k]
        for M in (out, W):
            for j in range(n):
                M[k, j] *= part
        for i in range(n):
            part = W[i, k]
            if i != k and part != 0.0:
                for j in range(n):
                    W[i, j] -= part * W[k, j]
                    out[i, j] -= part * out[k, j]
    return True


@kernel
def _choose(B, chosen):  # type: ignore[no-untyped-def]
    """Choose six columns of B (6, n) that are well independent; B is lost."""
    n = B.shape[1]
    for k in range(6):
        best, row, column = -1.0, k, k
        for i in range(k, 6):
            for j in range(n):
                size = abs(B[i, j]) * (_PREFERENCE if j < 6 else 1.0)
                if size > best:
                    best, row, column = size, i, j
        chosen[k] = column
        for j in range(n):
            B[k, j], B[row, j] = B[row, j], B[k, j]
        for i in range(k + 1, 6):
            if B[k, column] != 0.0:
                B[i] -= B[i, column] / B[k, column] * B[k]
        B[k:, column] = 0.0


@kernel
def condense(A, inverse, S, chosen):  # type: ignore[no-untyped-def]
    """Write conditions S (M, 6, n), numbers (M, 6) they are solved for, and inverses (M, 6, 6).

    A (M, n, n): of the last segment only six rows count, the conditions at the tip; of the first six
    columns, the unknowns at the base. Tells whether all inverses exist.
    """
    last = len(A) - 1
    chosen[0] = np.arange(6)
    for k in range(last, -1, -1):
        B = A[k, :6].copy() if k == last else np.dot(S[k + 1], A[k])
        if k > 0:
            _choose(B.copy(), chosen[k])
        if not invert(B[:, chosen[k]], inverse[k]):
            return False
        S[k] = np.dot(inverse[k], B)
    return True


@kernel
def resolve(A, inverse, S, chosen, gaps, step):  # type: ignore[no-untyped-def]
    """Write the Newton step (M, n) that closes gaps (M, n) to first order.

    gaps : what arrives at the end of each segment less what is assumed there; of the last, the six
    conditions at the tip. step : changes at the starts, of the first those of the unknowns at the base.
    """
    last, d = len(A) - 1, np.empty((len(A), 6))
    for k in range(last, -1, -1):
        t = -gaps[k, :6] if k == last else d[k + 1] - np.dot(S[k + 1], gaps[k])
        d[k] = np.dot(inverse[k], t)
    step[0], step[0, :6] = 0.0, d[0]
    for k in range(last):
        z = step[k + 1]
        z[:] = gaps[k] + np.dot(A[k], step[k])
        z[chosen[k + 1]] = 0.0
        z[chosen[k + 1]] = d[k + 1] - np.dot(S[k + 1], z)
