"""Kernels that factorise band matrices, symmetric ones and others, and solve with the factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._numba import inner, kernel, leaf

_REFINEMENTS, _BACKWARD = 4, 1e-12
"""Solutions with a factor, at most, that improve each other; part of the terms that a row may leave."""


@inner
def factor_band(data, A, d, work):  # type: ignore[no-untyped-def]
    """L D L^T of a symmetric band matrix by columns, A[j, i - j] for i >= j, from its flat `data`.

    No pivoting: the number of negative entries of d is the number of negative eigenvalues. Returns
    that number, or -1 if a pivot is lost to rounding. Columns are taken off the rest in pairs; `work`
    is room for two of them, (2 width + 3,).
    """
    n, width = A.shape
    u, v = work[: width + 2], work[width + 2 :]
    for j in range(n):
        _copy(data[j * width : (j + 1) * width], A[j])
    negative = 0
    for j in range(0, n, 2):
        first = _finish_column(A[j], u, min(width, n - j))
        d[j] = first
        if not abs(first) > 1e-15 * abs(data[j * width]):
            return -1
        negative += first < 0.0
        if j + 1 == n:
            break
        _subtract(A[j + 1], A[j, 1], u[1:], min(width, n - j) - 1)
        reach = min(width, n - j - 1)
        second = _finish_column(A[j + 1], v, reach)
        d[j + 1] = second
        if not abs(second) > 1e-15 * abs(data[(j + 1) * width]):
            return -1
        negative += second < 0.0
        for a in range(1, reach):
            f, g = u[a + 1] / first, v[a] / second
            column, p, q = A[j + 1 + a], u[a + 1 :], v[a:]
            for b in range(reach - a):
                column[b] -= f * p[b] + g * q[b]
    return negative


@kernel
def factor_band_flagged(data, A, d, work, flags):  # type: ignore[no-untyped-def]
    """`factor_band`, what it returns in flags[0]."""
    flags[0] = factor_band(data, A, d, work)


@leaf
def _copy(source, out):  # type: ignore[no-untyped-def]
    for b in range(len(out)):
        out[b] = source[b]


@leaf
def _subtract(column, f, u, reach):  # type: ignore[no-untyped-def]
    """column -= f u over `reach` entries."""
    for b in range(reach):
        column[b] -= f * u[b]


@leaf
def _finish_column(column, u, reach):  # type: ignore[no-untyped-def]
    """Keep a column of D L^T in u, with a zero behind it, leave that of L, and return the pivot."""
    pivot = column[0]
    for b in range(reach):
        u[b] = column[b]
    u[reach] = 0.0
    inverse = 1.0 / pivot
    for b in range(1, reach):
        column[b] = u[b] * inverse
    return pivot


@kernel
def solve_band(A, d, b):  # type: ignore[no-untyped-def]
    """Solve with the factor of `factor_band`, in place."""
    n, width = A.shape
    for j in range(n):
        v = b[j]
        for a in range(1, min(width, n - j)):
            b[j + a] -= A[j, a] * v
    for j in range(n):
        b[j] /= d[j]
    for j in range(n - 1, -1, -1):
        v = b[j]
        for a in range(1, min(width, n - j)):
            v -= A[j, a] * b[j + a]
        b[j] = v


@kernel
def factor_rows(data, A, b, flags):  # type: ignore[no-untyped-def]
    """L U of a band matrix by rows of 2 b + 1 entries, A[i, j - i + b], from `data`; both are flat.

    No rows are exchanged. Sets flags[1] = 1 if a pivot is lost to rounding, else flags[0] to the number
    of negative pivots: an odd one means a negative determinant.
    """
    # unsigned numbers are never taken for places counted from the end
    width: Any = np.uint64(b)
    one: Any = np.uint64(1)
    whole: Any = width + width + one
    n: Any = np.uint64(len(data)) // whole
    for i in range(len(data)):
        A[i] = data[i]
    flags[0] = flags[1] = 0
    for k in range(n):
        at = k * whole + width
        pivot = A[at]
        if not abs(pivot) > 1e-14 * abs(data[at]):
            flags[0], flags[1] = 0, 1
            return
        if pivot.real < 0.0:
            flags[0] += 1
        inverse = 1.0 / pivot
        for c in range(one, min(width + one, n - k)):
            row = at + c * (whole - one)
            f = A[row] * inverse
            A[row] = f
            if f != 0.0:
                for j in range(one, width + one):
                    A[row + j] -= f * A[at + j]


@kernel
def solve_rows(data, A, b, right, x, work, flags):  # type: ignore[no-untyped-def]
    """Solve with the factor of `factor_rows` and refine against `data`; work (2, n).

    flags[2] = 1 if the solution x (n,) is too rough.
    """
    gap, y = work[0], work[1]
    flags[2] = flags[1]
    if flags[1] != 0:
        return
    size, least = 0.0, np.inf
    for i in range(len(x)):
        x[i], gap[i] = 0.0, right[i]
        size += abs(right[i]) ** 2
    for _ in range(_REFINEMENTS):
        _solve_rows(A, b, gap, y)
        for i in range(len(x)):
            x[i] += y[i]
        norm, fine = _rows_gap(data, b, right, x, gap)
        if fine or not norm < 0.25 * least:
            break
        least = norm
    flags[2] = 0 if fine or norm <= 1e-8 * size else 1


@inner
def _solve_rows(A, b, right, x):  # type: ignore[no-untyped-def]
    """x = A^-1 right with the factor."""
    width: Any = np.uint64(b)
    one: Any = np.uint64(1)
    n: Any = np.uint64(len(x))
    whole = width + width + one
    for i in range(n):
        reach = min(i, width)
        at, from_ = i * whole + width - reach, i - reach
        v = right[i]
        for j in range(reach):
            v -= A[at + j] * x[from_ + j]
        x[i] = v
    for c in range(n):
        i = n - one - c
        at = i * whole + width
        v = x[i]
        for j in range(one, min(width, c) + one):
            v -= A[at + j] * x[i + j]
        x[i] = v / A[at]


@inner
def _rows_gap(data, b, right, x, gap):  # type: ignore[no-untyped-def]
    """gap = right - A x; returns the square of its norm, and whether it is mere rounding everywhere."""
    width: Any = np.uint64(b)
    one: Any = np.uint64(1)
    n: Any = np.uint64(len(x))
    whole = width + width + one
    norm, fine = 0.0, True
    for i in range(n):
        low = min(i, width)
        at, from_ = i * whole + width - low, i - low
        total, terms = 0.0, abs(right[i])
        for j in range(low + min(width, n - one - i) + one):
            y = data[at + j] * x[from_ + j]
            total += y
            terms += abs(y)
        gap[i] = right[i] - total
        norm += abs(gap[i]) ** 2
        fine = fine and abs(gap[i]) <= _BACKWARD * terms
    return norm, fine
