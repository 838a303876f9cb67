"""Entries of vectors and matrices by number: scattering, norms."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel


@kernel
def scatter(slots, K, data):  # type: ignore[no-untyped-def]
    """data[slots] += K for element blocks K (E, n, n); negative slots are skipped."""
    E, n, m = K.shape
    for e in range(E):
        for a in range(n):
            for b in range(m):
                at = slots[e, a, b]
                if at >= 0:
                    data[at] += K[e, a, b]


@kernel
def scatter_vector(index, r, out):  # type: ignore[no-untyped-def]
    """out[index] += r for element vectors r (E, n); negative indices are skipped."""
    E, n = r.shape
    for e in range(E):
        for a in range(n):
            at = index[e, a]
            if at >= 0:
                out[at] += r[e, a]


@kernel
def add_at(rows, x, out):  # type: ignore[no-untyped-def]
    """out[rows] += x[rows]."""
    for at in rows:
        out[at] += x[at]


@kernel
def largest(x, rows):  # type: ignore[no-untyped-def]
    """Largest size of the entries x[rows]."""
    most = 0.0
    for at in rows:
        most = max(most, abs(x[at]))
    return most


@kernel
def norms(r, free, rows, weights):  # type: ignore[no-untyped-def]
    """Norm of the forces r[free] and of the weighted gaps r[rows]."""
    forces = 0.0
    for at in free:
        forces += r[at] * r[at]
    gaps = 0.0
    for i in range(len(rows)):
        gap = weights[i] * r[rows[i]]
        gaps += gap * gap
    return np.sqrt(forces), np.sqrt(gaps)
