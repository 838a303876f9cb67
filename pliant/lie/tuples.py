"""Small vectors and matrices as tuples of scalars: the fastest form inside a compiled kernel.

A vector is (x, y, z), a matrix nine numbers row by row, a symmetric matrix its six upper entries
(xx, xy, xz, yy, yz, zz) and a quaternion (w, x, y, z).  Every function here is a leaf: it is
inlined into the kernel that calls it and is not meant to be called from Python.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant._numba import leaf

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]
Symmetric: TypeAlias = tuple[float, float, float, float, float, float]
Matrix: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]


@leaf
def dot(a: Vector, b: Vector) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@leaf
def cross(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@leaf
def add(a: float, x: Vector, b: float, y: Vector) -> Vector:
    """Return a x + b y."""
    return a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2]


@leaf
def combine(a: float, x: Vector, b: float, y: Vector, c: float, z: Vector) -> Vector:
    """Return a x + b y + c z."""
    return (
        a * x[0] + b * y[0] + c * z[0],
        a * x[1] + b * y[1] + c * z[1],
        a * x[2] + b * y[2] + c * z[2],
    )


@leaf
def symmetric_product(a: Vector, b: Vector) -> Symmetric:
    """Return (a b^T + b a^T) / 2."""
    return (
        a[0] * b[0],
        0.5 * (a[0] * b[1] + a[1] * b[0]),
        0.5 * (a[0] * b[2] + a[2] * b[0]),
        a[1] * b[1],
        0.5 * (a[1] * b[2] + a[2] * b[1]),
        a[2] * b[2],
    )


@leaf
def symmetric_sum(z: float, a: Symmetric, b: Symmetric) -> Symmetric:
    """Return z I + a + b."""
    return (
        z + a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        z + a[3] + b[3],
        a[4] + b[4],
        z + a[5] + b[5],
    )


@leaf
def assemble(z: float, v: Vector, m: Symmetric) -> Matrix:
    """Return z I + hat(v) + m."""
    return (
        z + m[0],
        m[1] - v[2],
        m[2] + v[1],
        m[1] + v[2],
        z + m[3],
        m[4] - v[0],
        m[2] - v[1],
        m[4] + v[0],
        z + m[5],
    )


@leaf
def multiply(a: Matrix, b: Matrix) -> Matrix:
    """Return the matrix product a b."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@leaf
def transpose(a: Matrix) -> Matrix:
    """Return the transposed matrix."""
    return a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]


@leaf
def apply(a: Matrix, v: Vector) -> Vector:
    """Return the matrix a times the vector v."""
    return (
        a[0] * v[0] + a[1] * v[1] + a[2] * v[2],
        a[3] * v[0] + a[4] * v[1] + a[5] * v[2],
        a[6] * v[0] + a[7] * v[1] + a[8] * v[2],
    )


@leaf
def read_vector(x: Array, start: int) -> Vector:
    """Return x[start:start + 3]."""
    return x[start], x[start + 1], x[start + 2]


@leaf
def write_vector(x: Array, start: int, v: Vector) -> None:
    """Write v to x[start:start + 3]."""
    x[start], x[start + 1], x[start + 2] = v


@leaf
def read_block(x: Array) -> Matrix:
    """Return the upper left 3x3 block of x."""
    return (
        x[0, 0], x[0, 1], x[0, 2],
        x[1, 0], x[1, 1], x[1, 2],
        x[2, 0], x[2, 1], x[2, 2],
    )  # fmt: skip


@leaf
def write_block(x: Array, i: int, j: int, m: Matrix) -> None:
    """Write m to the 3x3 block of x whose first entry is x[i, j]."""
    x[i, j], x[i, j + 1], x[i, j + 2] = m[0], m[1], m[2]
    x[i + 1, j], x[i + 1, j + 1], x[i + 1, j + 2] = m[3], m[4], m[5]
    x[i + 2, j], x[i + 2, j + 1], x[i + 2, j + 2] = m[6], m[7], m[8]


@leaf
def write_symmetric(x: Array, i: int, j: int, m: Symmetric) -> None:
    """Write the symmetric m to the 3x3 block of x whose first entry is x[i, j]."""
    x[i, j], x[i, j + 1], x[i, j + 2] = m[0], m[1], m[2]
    x[i + 1, j], x[i + 1, j + 1], x[i + 1, j + 2] = m[1], m[3], m[4]
    x[i + 2, j], x[i + 2, j + 1], x[i + 2, j + 2] = m[2], m[4], m[5]


@leaf
def write_dual(x: Array, a: Matrix, b: Matrix) -> None:
    """Write the 6x6 matrix [[a, 0], [b, a]] to x."""
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    write_block(x, 0, 0, a)
    write_block(x, 0, 3, zero)
    write_block(x, 3, 0, b)
    write_block(x, 3, 3, a)
