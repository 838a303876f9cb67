"""Small kernels on blocks of larger arrays."""

from __future__ import annotations

from pliant._numba import leaf


@leaf
def add_hat(k, row, col, a0, a1, a2, scale):  # type: ignore[no-untyped-def]
    """k[row:row+3, col:col+3] += scale a^, the matrix of the cross product with a."""
    k[row, col + 1] -= scale * a2
    k[row, col + 2] += scale * a1
    k[row + 1, col] += scale * a2
    k[row + 1, col + 2] -= scale * a0
    k[row + 2, col] -= scale * a1
    k[row + 2, col + 1] += scale * a0
