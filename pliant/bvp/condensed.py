"""The linearised problem of many segments, solved from tip to base and back.

At the start of each segment a state varies by df (6), its wrench, and dm (9), its velocity and its
orientation; its position moves nothing else. What arrives at the next cut is A (df, dm) plus the gap
there. From the free tip backwards the rest of the chain answers a motion by a wrench,

    df = S dm + d,      (A_ff - S' A_mf) S = S' A_mm - A_fm,

where S' belongs to the next cut, and forwards the motions follow from the clamped base. Neither way
multiplies the growth of one segment by that of another, as eliminating from base to tip would.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel

WRENCH, MOTION, WHOLE = 6, 9, 15


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
        # also false for what is not a number
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
def condense(A, inverse, S):  # type: ignore[no-untyped-def]
    """Write S (M, 6, 9) and the inverse (M, 6, 6) of A_ff - S' A_mf for segments with A (M, 15, 15).

    Tells whether all of them exist. Of the last A only the rows of the wrench count, of the first
    only its columns: what arrives at the tip, and what is unknown at the base.
    """
    W, T = np.empty((WRENCH, WRENCH)), np.empty((WRENCH, MOTION))
    last = len(A) - 1
    for k in range(last, -1, -1):
        B = A[k]
        for i in range(WRENCH):
            for j in range(WRENCH):
                W[i, j] = B[i, j]
            for j in range(MOTION):
                T[i, j] = -B[i, WRENCH + j]
            if k < last:
                for e in range(MOTION):
                    s = S[k + 1, i, e]
                    for j in range(WRENCH):
                        W[i, j] -= s * B[WRENCH + e, j]
                    for j in range(MOTION):
                        T[i, j] += s * B[WRENCH + e, WRENCH + j]
        if not invert(W, inverse[k]):
            return False
        for i in range(WRENCH):
            for j in range(MOTION):
                S[k, i, j] = 0.0
            for e in range(WRENCH):
                for j in range(MOTION):
                    S[k, i, j] += inverse[k, i, e] * T[e, j]
    return True


@kernel
def resolve(A, inverse, S, gaps, step):  # type: ignore[no-untyped-def]
    """Write the Newton step (M, 15) that closes gaps (M, 15) to first order.

    gaps : what arrives at the end of each segment less what is assumed there; of the last, the wrench
    beyond the tip. step : changes of the states at the starts.
    """
    last = len(A) - 1
    for k in range(last, -1, -1):
        for i in range(WRENCH):
            step[k, i] = 0.0
        for e in range(WRENCH):
            t = -gaps[k, e]
            if k < last:
                t += step[k + 1, e]
                for j in range(MOTION):
                    t += S[k + 1, e, j] * gaps[k, WRENCH + j]
            for i in range(WRENCH):
                step[k, i] += inverse[k, i, e] * t
    for j in range(MOTION):
        step[0, WRENCH + j] = 0.0
    for k in range(last):
        for j in range(MOTION):
            total = gaps[k, WRENCH + j]
            for i in range(WHOLE):
                total += A[k, WRENCH + j, i] * step[k, i]
            step[k + 1, WRENCH + j] = total
        for i in range(WRENCH):
            for j in range(MOTION):
                step[k + 1, i] += S[k + 1, i, j] * step[k + 1, WRENCH + j]
