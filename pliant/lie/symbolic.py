"""Rotations as formulas, for equations of motion with symbols.

Every function takes `math`, the module that computes with symbols (CasADi), so that nothing here
depends on it. Vectors are columns (3, 1), quaternions (w, x, y, z) columns (4, 1). The formulas are
written down for themselves and share nothing with the kernels of this folder, which they check.

Functions of angles have removable singularities. They take the square t of the angle and switch to a
power series near zero, so that all derivatives exist there as well.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np

_NEAR, _TERMS = 0.1, 8
"""Square of an angle below which series are used, and how many terms of them."""


def hat(math: Any, a: Any) -> Any:
    """The matrix (3, 3) of the cross product with a."""
    return math.skew(a)


def axial(math: Any, A: Any) -> Any:
    """The vector (3, 1) of the antisymmetric part of a matrix (3, 3)."""
    return 0.5 * math.vertcat(A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1])


def quaternion_product(math: Any, a: Any, b: Any) -> Any:
    """The product (4, 1) of two quaternions."""
    u, v = a[1:4], b[1:4]
    scalar = a[0] * b[0] - math.dot(u, v)
    return math.vertcat(scalar, a[0] * v + b[0] * u + math.cross(u, v))


def conjugate(math: Any, Q: Any) -> Any:
    """The quaternion with the opposite vector part."""
    return math.vertcat(Q[0], -Q[1:4])


def quaternion_matrix(math: Any, Q: Any) -> Any:
    """The rotation (3, 3) of a quaternion of any length."""
    w, v = Q[0], Q[1:4]
    square = w * w + math.dot(v, v)
    outer = v @ v.T - math.dot(v, v) * math.SX.eye(3)
    return math.SX.eye(3) + (2.0 / square) * (w * hat(math, v) + outer)


def quaternion_rate(math: Any, Q: Any, spin: Any) -> Any:
    """The rate (4, 1) of a unit quaternion that turns with a spin (3, 1) in its own axes."""
    return 0.5 * quaternion_product(math, Q, math.vertcat(0.0, spin))


def rotation(math: Any, a: Any) -> Any:
    """The rotation (3, 3) by a rotation vector a: Rodrigues' formula."""
    t, A = math.dot(a, a), hat(math, a)
    sine = _piecewise(
        math, t, lambda k: (-1) ** k / factorial(2 * k + 1), lambda x: math.sin(x) / x
    )
    cosine = _piecewise(
        math, t, lambda k: (-1) ** k / factorial(2 * k + 2), lambda x: (1.0 - math.cos(x)) / x**2
    )
    return math.SX.eye(3) + sine * A + cosine * (A @ A)


def screw(math: Any, twist: Any, amount: Any) -> tuple[Any, Any]:
    """Rotation and position of an amount of a constant twist (6,) of unit turn or none."""
    along = math.SX(list(twist[3:]))
    if not np.any(twist[:3]):
        return math.SX.eye(3), amount * along
    A = hat(math, math.SX(list(twist[:3])))
    one, sine, cosine = math.SX.eye(3), math.sin(amount), 1.0 - math.cos(amount)
    moved = (amount * one + cosine * A + (amount - sine) * (A @ A)) @ along
    return one + sine * A + cosine * (A @ A), moved


def turn_by_quaternion(math: Any, a: Any) -> Any:
    """The rotation (3, 3) of the quaternion [1, a / 2], whose length does not matter."""
    return quaternion_matrix(math, math.vertcat(1.0, 0.5 * a))


def rotation_vector(math: Any, R: Any) -> Any:
    """The rotation vector (3, 1) of a rotation (3, 3) by less than half a turn."""
    a = axial(math, R)
    square, cosine = math.dot(a, a), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    return _angle_over_sine(math, square, cosine) * a


def quaternion_vector(math: Any, Q: Any) -> Any:
    """The rotation vector (3, 1) of a unit quaternion, the shorter way round."""
    side = math.if_else(Q[0] < 0.0, -1.0, 1.0)
    w, v = side * Q[0], side * Q[1:4]
    return 2.0 * _angle_over_sine(math, math.dot(v, v), w) * v


def pose_logarithm(math: Any, R: Any, p: Any) -> Any:
    """The twist (6, 1) whose exponential is the pose (R, p)."""
    k = rotation_vector(math, R)
    t, K = math.dot(k, k), hat(math, k)
    series = _cotangent_series()
    bent = _piecewise(
        math,
        t,
        lambda n: series[n],
        lambda x: (1.0 - 0.5 * x * math.cos(0.5 * x) / math.sin(0.5 * x)) / x**2,
    )
    return math.vertcat(k, p - 0.5 * (K @ p) + bent * (K @ (K @ p)))


def unfolded(math: Any, x: Any) -> Any:
    """The twist (6, 1) of the same pose beyond half a turn, where the chord of x leads backwards.

    A twist (a n, v) of a pose turns by a about n; the other one by a - 2 pi. Its part across n is then
    (a - 2 pi) / a times that of v, which keeps the chord. Turns below 2 rad are never meant so.
    """
    square = math.dot(x[:3], x[:3])
    far = square > 4.0
    angle = math.sqrt(math.if_else(far, square, 1.0))
    n = x[:3] / angle
    along = n * math.dot(n, x[3:])
    back = math.logic_and(far, x[5] - along[2] < 0.0)
    other = (angle - 2.0 * np.pi) / angle
    return math.if_else(back, math.vertcat(other * x[:3], along + other * (x[3:] - along)), x)


def numeric_quaternion(R: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The unit quaternion (4,) of a rotation (3, 3) of numbers, by its largest component."""
    squares = np.array([np.trace(R), *np.diag(R)])
    big = int(np.argmax(squares))
    if big == 0:
        v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        Q = np.array([1.0 + squares[0], *v])
    else:
        i, j, k = (big - 1), big % 3, (big + 1) % 3
        Q = np.zeros(4)
        Q[0] = R[k, j] - R[j, k]
        Q[1 + i] = 1.0 + R[i, i] - R[j, j] - R[k, k]
        Q[1 + j], Q[1 + k] = R[j, i] + R[i, j], R[k, i] + R[i, k]
    return np.asarray(Q / np.linalg.norm(Q))


def _piecewise(
    math: Any, t: Any, term: Callable[[int], float], of_angle: Callable[[Any], Any]
) -> Any:
    """A function of t = angle^2: its series sum term(k) t^k near zero, elsewhere `of_angle`."""
    small = t < _NEAR
    away = math.if_else(small, 1.0, t)
    series: Any = 0.0
    for k in reversed(range(_TERMS)):
        series = series * t + term(k)
    return math.if_else(small, series, of_angle(math.sqrt(away)))


def _angle_over_sine(math: Any, square: Any, cosine: Any) -> Any:
    """angle / sin(angle) from sin^2 and cos; the series is that of arctan in sin / cos."""
    small = math.logic_and(square < _NEAR / 4.0, cosine > 0.0)
    away = math.if_else(small, 1.0, square)
    t = square / math.if_else(small, cosine, 1.0) ** 2
    series: Any = 0.0
    for k in reversed(range(2 * _TERMS)):
        series = series * t + (-1) ** k / (2 * k + 1)
    series = series / math.if_else(small, cosine, 1.0)
    sine = math.sqrt(away)
    return math.if_else(small, series, math.atan2(sine, cosine) / sine)


def _cotangent_series() -> list[float]:
    """Coefficients of (1 - x/2 cot(x/2)) / x^2 in powers of x^2: |B_2k| / (2k)!, k = 1, 2, ...

    From x/2 cot(x/2) sin(x/2) = x/2 cos(x/2), power by power.
    """
    sine = [Fraction((-1) ** k, factorial(2 * k + 1) * 4**k) for k in range(_TERMS + 1)]
    cosine = [Fraction((-1) ** k, factorial(2 * k) * 4**k) for k in range(_TERMS + 1)]
    cotangent: list[Fraction] = []
    for k in range(_TERMS + 1):
        known = sum((c * sine[k - j] for j, c in enumerate(cotangent)), Fraction(0))
        cotangent.append(cosine[k] - known)
    return [float(-c) for c in cotangent[1:]]
