"""Polynomials through Chebyshev points: points, interpolation, integration, coefficients.

Functions are given by their values at the Chebyshev-Lobatto points x_i = -cos(pi i / (n - 1)) of
[-1, 1], both ends included; a single point (n = 1) lies in the middle. All maps are dense matrices
that act on columns of values.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebint, chebvander

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
    return _kept(np.linalg.inv(np.asarray(chebvander(points(n), n - 1), dtype=np.float64)))


@lru_cache(maxsize=512)
def integration(n: int) -> Array:
    """Return the matrix (n, n) from values of f to the integral of f from -1 to each point."""
    matrix = chebvander(points(n), n) @ chebint(np.eye(n), lbnd=-1.0) @ to_coefficients(n)
    if n > 1:
        matrix[0] = 0.0
    return _kept(matrix)


def interpolation(n: int, x: Array) -> Array:
    """Return the matrix (S, n) from values at n points to values at x (S,) in [-1, 1]."""
    return np.asarray(chebvander(x, n - 1) @ to_coefficients(n))


@lru_cache(maxsize=2048)
def between(n: int, to: int) -> Array:
    """Return the matrix (to, n) from values at n points to values at `to` points."""
    return _kept(interpolation(n, np.array(points(to))))
