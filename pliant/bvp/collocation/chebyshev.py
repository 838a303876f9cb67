"""Polynomials through Chebyshev points: points, interpolation, integration, coefficients.

Functions are given by their values at the Chebyshev-Lobatto points x_i = -cos(pi i / (n - 1)) of
[-1, 1], both ends included; a single point (n = 1) lies in the middle. All maps are dense matrices
that act on columns of values.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pliant.lie.tuples import Array


def _kept(matrix: Array) -> Array:
    """Return the matrix as one that nobody may write to, since it is handed out again."""
    found = np.ascontiguousarray(matrix)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=512)
def points(n: int, a: float = -1.0, b: float = 1.0) -> Array:
    """Return the n points (n,) in [a, b], increasing."""
    if n == 1:
        return _kept(np.array([0.5 * (a + b)]))
    i = np.arange(n)
    # the sine is symmetric about the middle to the last digit, the cosine is not
    x = np.sin(0.5 * np.pi * (2.0 * i - (n - 1)) / (n - 1))
    return _kept(x if (a, b) == (-1.0, 1.0) else a + 0.5 * (b - a) * (1.0 + x))


@lru_cache(maxsize=512)
def to_coefficients(n: int) -> Array:
    """Return the matrix (n, n) from values to the coefficients c_k of sum_k c_k T_k(x)."""
    if n == 1:
        return _kept(np.ones((1, 1)))
    k, i = np.arange(n)[:, None], np.arange(n)[None, :]
    matrix = 2.0 / (n - 1) * np.cos(np.pi * k * (n - 1 - i) / (n - 1))
    matrix[:, [0, -1]] *= 0.5
    matrix[[0, -1]] *= 0.5
    return _kept(matrix)


def chebyshev(count: int, x: Array) -> Array:
    """Return T_0 ... T_{count-1} at x (S,), shape (S, count)."""
    angle = np.arccos(np.clip(x, -1.0, 1.0))
    return np.asarray(np.cos(np.arange(count)[None, :] * angle[:, None]))


@lru_cache(maxsize=512)
def integration(n: int) -> Array:
    """Return the matrix (n, n) from values of f to the integral of f from -1 to each point."""
    if n == 1:
        return _kept(np.ones((1, 1)))
    # integral of T_k: (T_{k+1} / (k + 1) - T_{k-1} / (k - 1)) / 2, constants chosen to vanish at -1
    raised = np.zeros((n + 1, n))
    raised[1, 0] = 1.0
    if n > 1:
        raised[2, 1] = 0.25
    for k in range(2, n):
        raised[k + 1, k] = 0.5 / (k + 1)
        raised[k - 1, k] = -0.5 / (k - 1)
    raised[0] = -((-1.0) ** np.arange(1, n + 1)) @ raised[1:]
    matrix = chebyshev(n + 1, points(n)) @ raised @ to_coefficients(n)
    matrix[0] = 0.0
    return _kept(matrix)


def interpolation(n: int, x: Array) -> Array:
    """Return the matrix (S, n) from values at n points to values at x (S,) in [-1, 1].

    Barycentric formula; a point that is asked for itself is returned as it is.
    """
    if n == 1:
        return np.ones((len(x), 1))
    weights = (-1.0) ** np.arange(n)
    weights[[0, -1]] *= 0.5
    difference = x[:, None] - points(n)[None, :]
    hit = np.abs(difference) < 1e-15
    difference[hit] = 1.0
    matrix = weights / difference
    matrix /= matrix.sum(axis=1, keepdims=True)
    rows = hit.any(axis=1)
    matrix[rows] = hit[rows]
    return matrix


@lru_cache(maxsize=2048)
def between(n: int, to: int) -> Array:
    """Return the matrix (to, n) from values at n points to values at `to` points."""
    return _kept(interpolation(n, np.array(points(to))))
