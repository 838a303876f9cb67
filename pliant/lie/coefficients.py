r"""Scalar coefficients of the exponential, the logarithm and the Cayley map on SO(3).

All of them are functions of t2 = theta^2, the squared length of a rotation vector.  A prime (a
trailing 1 or 2 in the names) is (1/theta) d/dtheta = 2 d/dt2, so that the derivative of f(t2)
along e is f1 * (k . e) for t2 = k . k.

The functions a, b, c below belong to the family

    f_n(t2) = sum_j (-t2)^j / (2 j + n)!,    f_n = 1/n! - t2 f_{n+2},    f_n' = n f_{n+2} - f_{n+1}

with a = f_1, b = f_2, c = f_3.  Below t2 = 4 only f_6 and f_7 are summed and the others follow
by the recursion, which loses nothing there; above, it is solved for the higher members.
"""

from __future__ import annotations

from math import sin, sqrt

from pliant._numba import leaf

SERIES_LIMIT = 4.0
"""Squared angle below which the power series is used; above it the closed form loses no digits."""


@leaf
def _last_two(t2: float) -> tuple[float, float]:
    """Return f_6 and f_7 by eleven terms of their series, exact to rounding for t2 < 4."""
    f6 = f7 = 1.0
    for j in range(10):
        n = 26.0 - 2.0 * j
        f6 = 1.0 - t2 * f6 / ((n - 1.0) * n)
        f7 = 1.0 - t2 * f7 / (n * (n + 1.0))
    return f6 / 720.0, f7 / 5040.0


@leaf
def _family(t2: float) -> tuple[float, float, float, float, float, float, float]:
    """Return f_1 ... f_7 of t2."""
    if t2 < SERIES_LIMIT:
        f6, f7 = _last_two(t2)
        f5 = 1.0 / 120.0 - t2 * f7
        f4 = 1.0 / 24.0 - t2 * f6
        f3 = 1.0 / 6.0 - t2 * f5
        f2 = 0.5 - t2 * f4
        f1 = 1.0 - t2 * f3
    else:
        t = sqrt(t2)
        half = sin(0.5 * t)
        f1 = sin(t) / t
        f2 = 2.0 * half * half / t2
        f3 = (1.0 - f1) / t2
        f4 = (0.5 - f2) / t2
        f5 = (1.0 / 6.0 - f3) / t2
        f6 = (1.0 / 24.0 - f4) / t2
        f7 = (1.0 / 120.0 - f5) / t2
    return f1, f2, f3, f4, f5, f6, f7


@leaf
def exp_coefficients(t2: float) -> tuple[float, float, float, float, float, float, float]:
    """Return (a, b, c, b1, c1, b2, c2) of the exponential at the squared angle `t2`.

    a = sin t / t, b = (1 - cos t) / t^2, c = (t - sin t) / t^3; b1, c1 their first and b2, c2
    their second (1/t) d/dt derivatives.  The derivative of a is c - b.
    """
    f1, f2, f3, f4, f5, f6, f7 = _family(t2)
    b1 = 2.0 * f4 - f3
    c1 = 3.0 * f5 - f4
    b2 = 8.0 * f6 - 5.0 * f5 + f4
    c2 = 15.0 * f7 - 7.0 * f6 + f5
    return f1, f2, f3, b1, c1, b2, c2


@leaf
def log_coefficients(t2: float) -> tuple[float, float]:
    """Return (d, d1): d = (1 - (t/2) cot(t/2)) / t^2 and its (1/t) d/dt derivative.

    The inverse of dexp is I + k^/2 + d k^2.  Written as d = -b1 / (2 b) it is accurate for all
    angles below 2 pi, where it is singular.
    """
    _, b, _, b1, _, b2, _ = exp_coefficients(t2)
    d = -0.5 * b1 / b
    d1 = 0.5 * (b1 * b1 / b - b2) / b
    return d, d1


@leaf
def cayley_coefficients(t2: float) -> tuple[float, float, float]:
    """Return (al, al1, al2): al = 1 / (1 + t2/4) of the Cayley map and its two derivatives."""
    al = 1.0 / (1.0 + 0.25 * t2)
    return al, -0.5 * al * al, 0.5 * al * al * al
