"""Leaves of motions in a plane: turns and shifts, with half turns as cos and sin.

A twist (w, v) has exp with the turn w and the shift V v, V = S (c + h J S / c ...); with h = w / 2,
S = sin h / h, c = cos h and J the turn by a right angle,

    V = S (c + h S J),   V^-1 = c / S - h J,
    dexp(-x)^-1 (w', v') = (w', (a + h J) v' - w' (q + J / 2) v),   a = c / S,   q = (a - 1) / w.
"""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from pliant._numba import leaf

_SMALL, _FLAT = 0.25, 0.1
"""Half turns, and tangents of them, below which series are taken."""


@leaf
def half_series(h):  # type: ignore[no-untyped-def]
    """sin h / h and cos h."""
    t = h * h
    if t < _SMALL * _SMALL:
        s = 1.0 - t / 72.0 * (1.0 - t / 110.0 * (1.0 - t / 156.0))
        s = 1.0 - t / 6.0 * (1.0 - t / 20.0 * (1.0 - t / 42.0 * s))
        c = 1.0 - t / 56.0 * (1.0 - t / 90.0 * (1.0 - t / 132.0))
        return s, 1.0 - t / 2.0 * (1.0 - t / 12.0 * (1.0 - t / 30.0 * c))
    return sin(h) / h, cos(h)


@leaf
def exp(w, vi, vj):  # type: ignore[no-untyped-def]
    """cos and sin of half the turn, and the shift of exp(w, v)."""
    h = 0.5 * w
    s, c = half_series(h)
    a, b = s * c, h * s * s
    return c, h * s, a * vi - b * vj, b * vi + a * vj


@leaf
def log(a, b, ri, rj):  # type: ignore[no-untyped-def]
    """Twist (w, v) of a turn with half cos a and sin b, as near as 2 pi allows, and a shift r."""
    if a < 0.0:
        a, b = -a, -b
    if abs(b) < _FLAT * a:
        t = b / a
        h, t = t, t * t
        f = 1.0 / 9.0 - t * (1.0 / 11.0 - t * (1.0 / 13.0 - t * (1.0 / 15.0 - t / 17.0)))
        f = 1.0 - t * (1.0 / 3.0 - t * (1.0 / 5.0 - t * (1.0 / 7.0 - t * f)))
        h *= f
    else:
        h = atan2(b, a)
        f = h * a / b
    return 2.0 * h, f * ri + h * rj, f * rj - h * ri


@leaf
def relative(A, B, i, j):  # type: ignore[no-untyped-def]
    """cos and sin of the turn, and the shift, of a pose B seen from A in the plane of its axes i, j."""
    co, si, p, q = 0.0, 0.0, 0.0, 0.0
    for r in range(3):
        co += A[r, i] * B[r, i]
        si += A[r, j] * B[r, i]
        p += A[r, i] * (B[r, 3] - A[r, 3])
        q += A[r, j] * (B[r, 3] - A[r, 3])
    return co, si, p, q


@leaf
def half_turn(co, si):  # type: ignore[no-untyped-def]
    """cos and sin of half an angle with cos co and sin si, between minus and plus a right angle."""
    if co > 0.0:
        a = sqrt(0.5 * (1.0 + co))
        return a, 0.5 * si / a
    b = sqrt(0.5 * (1.0 - co))
    if si < 0.0:
        b = -b
    return 0.5 * si / b, b


@leaf
def increment_slopes(h):  # type: ignore[no-untyped-def]
    """a = h cos h / sin h and q = (a - 1) / (2 h)."""
    s, c = half_series(h)
    t = h * h
    if t < _SMALL * _SMALL:
        g = 1.0 - t / 54.0 * (1.0 - t / 88.0 * (1.0 - t / 130.0))
        g = 1.0 - t / 10.0 * (1.0 - t / 28.0 * g)
        return c / s, -h * g / (6.0 * s)
    a = c / s
    return a, 0.5 * (a - 1.0) / h


@leaf
def sinc_slopes(x):  # type: ignore[no-untyped-def]
    """s = sin h / h of x = h^2, its derivative in x, and cos h."""
    if x < 0.25:
        c = 1.0 - x / 90.0 * (1.0 - x / 132.0 * (1.0 - x / 182.0))
        c = 1.0 - x / 2.0 * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * c)))
        s = 1.0 - x / 110.0 * (1.0 - x / 156.0 * (1.0 - x / 210.0))
        s = 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * s)))
        s1 = 1.0 - x / 88.0 * (1.0 - x / 130.0 * (1.0 - x / 180.0))
        return s, -(1.0 - x / 10.0 * (1.0 - x / 28.0 * (1.0 - x / 54.0 * s1))) / 6.0, c
    h = sqrt(x)
    s, c = sin(h) / h, cos(h)
    return s, 0.5 * (c - s) / x, c


@leaf
def sinc_curvature(x, s, s1):  # type: ignore[no-untyped-def]
    """Second derivative in x of s = sin h / h, x = h^2."""
    if x < 0.25:
        s2 = 1.0 - x / 66.0 * (1.0 - x / 104.0 * (1.0 - x / 150.0))
        return (1.0 - x / 14.0 * (1.0 - x / 36.0 * s2)) / 60.0
    return -0.5 * (0.5 * s + 3.0 * s1) / x
