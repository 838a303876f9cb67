"""Kernels that factorise a symmetric band matrix and solve with the factor."""

from __future__ import annotations

from pliant._numba import inner, kernel, leaf


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
