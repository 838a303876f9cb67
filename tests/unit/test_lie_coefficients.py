"""The scalar coefficients against high precision, and across the switch to the closed form."""

import mpmath
import numpy as np
import pytest

from pliant._numba import kernel
from pliant.lie.coefficients import (
    SERIES_LIMIT,
    cayley_coefficients,
    exp_coefficients,
    log_coefficients,
)


@kernel
def evaluate(t2, out):
    """All twelve coefficients at the squared angles t2 (n,)."""
    for n in range(t2.size):
        out[n, 0], out[n, 1], out[n, 2], out[n, 3], out[n, 4], out[n, 5], out[n, 6] = (
            exp_coefficients(t2[n])
        )
        out[n, 7], out[n, 8] = log_coefficients(t2[n])
        out[n, 9], out[n, 10], out[n, 11] = cayley_coefficients(t2[n])


def ours(t2):
    out = np.empty((len(t2), 12))
    evaluate(np.asarray(t2, dtype=float), out)
    return out


def exact(t2):
    with mpmath.workdps(120):
        t = mpmath.sqrt(mpmath.mpf(float(t2)))
        t2 = t * t
        a, b = mpmath.sin(t) / t, (1 - mpmath.cos(t)) / t2
        c = (t - mpmath.sin(t)) / t**3
        b1, c1 = (a - 2 * b) / t2, (b - 3 * c) / t2
        b2, c2 = (c - b - 4 * b1) / t2, (b1 - 5 * c1) / t2
        half = t / 2
        d = (1 - half * mpmath.cot(half)) / t2
        slope = (half / mpmath.sin(half) ** 2 - mpmath.cot(half)) / (2 * t2) - 2 * d / t
        al = 1 / (1 + t2 / 4)
        values = [a, b, c, b1, c1, b2, c2, d, slope / t, al, -al * al / 2, al**3 / 2]
        return np.array([float(value) for value in values])


@pytest.mark.parametrize(
    "angle", [1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 1.5, 1.999, 2.0, 2.001, 2.5, 3.0, np.pi, 4.0, 6.0]
)
def test_coefficients_match_high_precision(angle):
    np.testing.assert_allclose(ours([angle**2])[0], exact(angle**2), rtol=5e-14, atol=1e-16)


def test_coefficients_at_zero():
    expected = [1, 1 / 2, 1 / 6, -1 / 12, -1 / 60, 1 / 90, 1 / 630, 1 / 12, 1 / 360, 1, -0.5, 0.5]
    np.testing.assert_allclose(ours([0.0])[0], expected, rtol=1e-15)


def test_no_step_where_the_series_ends():
    below, above = ours([np.nextafter(SERIES_LIMIT, 0.0), SERIES_LIMIT])
    assert np.abs(above - below).max() < 1e-15
