"""Where strain energy and mass are collected along a rod.

The strain rule of a spline rod has as many stations as increments between control poses, the same
for all six rows. Strains and coordinates then correspond one to one, so a slender rod can bend
without being forced to shear or stretch (no locking), and no motion goes unseen (no zero-energy
mode). The stations are the Gauss points of a spline space of twice that dimension which contains
the products of linear functions with derivatives of the interpolation: see
`docs/theory/locking.md`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

Array = NDArray[np.float64]


def gauss_per_span(breaks: Array, points: int) -> tuple[Array, Array]:
    """Gauss-Legendre stations and weights, `points` in each span of `breaks`."""
    x, w = np.polynomial.legendre.leggauss(points)
    h = np.diff(breaks)[:, None]
    return (breaks[:-1, None] + 0.5 * h * (x + 1)).ravel(), (0.5 * h * w).ravel()


def spline_strain_rule(knots: Array, degree: int) -> tuple[Array, Array]:
    """Stations (n,) and weights (n, 6) for n + 1 control poses on an open knot vector."""
    length = float(knots[-1])
    s, w = _unit_rule(tuple(np.round(knots / length, 14)), degree)
    return length * s, np.repeat(length * w[:, None], 6, axis=1)


@lru_cache(maxsize=64)
def _unit_rule(knots: tuple[float, ...], degree: int) -> tuple[Array, Array]:
    """The rule on [0, 1], cut at knots where the curve has a kink."""
    t = np.asarray(knots)
    breaks, counts = np.unique(t[degree : len(t) - degree], return_counts=True)
    counts[0] = counts[-1] = degree
    cuts = np.flatnonzero(counts >= degree)
    stations, weights = [], []
    for i, j in zip(cuts[:-1], cuts[1:], strict=True):
        T, p = _target_space(breaks[i : j + 1], [int(v) for v in counts[i + 1 : j]], degree)
        span = T[-1] - T[0]
        s, w = _gauss_rule((T - T[0]) / span, p)
        stations.append(T[0] + span * s)
        weights.append(span * w)
    return np.concatenate(stations), np.concatenate(weights)


def _target_space(breaks: Array, counts: list[int], k: int) -> tuple[Array, int]:
    """Knots and degree p of the space integrated exactly, of dimension 2 (k + sum(counts)).

    It has the breaks of the curve with the smoothness of a product of its derivative with a linear
    function; what is left of the dimension goes to the end spans, an odd one to the middle.
    """
    n = len(breaks) - 1
    dimension = 2 * (k + sum(counts))
    p = (2 * k - 1 + (n - 1) * (k - 1) + sum(counts)) // n
    inner: list[float] = []
    for at, count in zip(breaks[1:-1], counts, strict=True):
        inner += [float(at)] * (count + p - k + 1)
    free = dimension - (p + 1) - len(inner)
    for j, count in enumerate(counts, 1):
        for i in range(min(count - 1, free)):
            if inner.count(float(breaks[j])) < p:
                inner.append(float(breaks[j]))
            else:
                side = 1 if i % 2 else -1
                inner.append(float(breaks[j] + (breaks[j + side] - breaks[j]) / (2 + i // 2)))
            free -= 1
    half = free // 2
    for i in range(1, half + 1):
        inner.append(float(breaks[0] + (breaks[1] - breaks[0]) * i / (half + 1)))
        inner.append(float(breaks[-1] - (breaks[-1] - breaks[-2]) * i / (half + 1)))
    if free % 2:
        c = n // 2
        on_knot = n % 2 == 0 and inner.count(float(breaks[c])) < p
        inner.append(float(breaks[c] if on_knot else 0.5 * (breaks[c] + breaks[min(c + 1, n)])))
    ends = np.full(p + 1, breaks[0]), np.full(p + 1, breaks[-1])
    return np.concatenate([ends[0], np.sort(inner), ends[1]]), p


def _gauss_rule(T: Array, p: int) -> tuple[Array, Array]:
    """Gauss rule of the even-dimensional spline space with knots T and degree p.

    Newton from mean Greville points; if that fails, continuation from equal spans to the given ones.
    """
    rule = _newton(T, p, *_first_guess(T, p))
    if rule is not None:
        return rule
    breaks, inverse = np.unique(T, return_inverse=True)

    def graded(grading: float) -> Array:
        h = np.diff(breaks) ** grading
        return np.concatenate([[0.0], np.cumsum(h) / h.sum()])

    grading, step = 0.0, 0.25
    rule = _newton(graded(0.0)[inverse], p, *_first_guess(graded(0.0)[inverse], p))
    while rule is not None and grading < 1.0 and step > 1e-3:
        target = min(1.0, grading + step)
        old, new = graded(grading), graded(target)
        span = np.clip(np.searchsorted(old, rule[0]) - 1, 0, len(breaks) - 2)
        scaled = rule[1] * (np.diff(new) / np.diff(old))[span]
        trial = _newton(new[inverse], p, np.interp(rule[0], old, new), scaled, rounds=25)
        if trial is None:
            step /= 2
        else:
            rule, grading, step = trial, target, 1.5 * step
    if rule is None or grading < 1.0:
        raise ValueError(
            "no strain rule was found for these knots; use knots that grade less steeply "
            "or fewer repeated ones"
        )
    return rule


def _first_guess(T: Array, p: int) -> tuple[Array, Array]:
    """Means of pairs of Greville points, and integrals of pairs of basis functions."""
    count = len(T) - p - 1
    greville = np.array([T[i + 1 : i + p + 1].mean() for i in range(count)])
    integrals = (T[p + 1 :] - T[:count]) / (p + 1)
    return 0.5 * (greville[::2] + greville[1::2]), integrals[::2] + integrals[1::2]


def _basis(T: Array, p: int, x: Array, derivative: bool) -> Array:
    """Values of the p + 1 basis functions alive at x and their first index: dense (len, count)."""
    if not derivative:
        return np.asarray(BSpline.design_matrix(x, T, p).toarray())
    count = len(T) - p - 1
    lower = BSpline.design_matrix(x, T[1:-1], p - 1).toarray()
    padded = np.zeros((len(x), count + 1))
    padded[:, 1:count] = lower
    width = T[p : p + count + 1] - T[: count + 1]
    ratio = np.divide(p, width, out=np.zeros_like(width), where=width > 0)
    scaled = padded * ratio
    return np.asarray(scaled[:, :-1] - scaled[:, 1:])


def _newton(
    T: Array, p: int, x: Array, w: Array, rounds: int = 80
) -> tuple[Array, Array] | None:
    """Damped Newton for sum_i w_i B_j(x_i) = integral of B_j, all j; None if it fails."""
    count = len(T) - p - 1
    integrals = (T[p + 1 :] - T[:count]) / (p + 1)

    def gap(x: Array, w: Array) -> Array:
        return np.asarray(_basis(T, p, x, False).T @ w / integrals - 1.0)

    r = gap(x, w)
    for _ in range(rounds):
        if np.max(np.abs(r)) < 1e-13:
            break
        J = np.empty((count, count))
        J[:, 0::2] = _basis(T, p, x, True).T * w / integrals[:, None]
        J[:, 1::2] = _basis(T, p, x, False).T / integrals[:, None]
        try:
            d = splu(coo_matrix(J).tocsc()).solve(-r)
        except RuntimeError:
            return None
        scale = 1.0
        while scale > 1e-5:
            y, v = x + scale * d[0::2], w + scale * d[1::2]
            ordered = T[0] < y[0] and y[-1] < T[-1] and bool(np.all(np.diff(y) > 0))
            if ordered and bool(np.all(v > 0)):
                trial = gap(y, v)
                if np.linalg.norm(trial) < (1 - 1e-4 * scale) * np.linalg.norm(r):
                    break
            scale /= 2
        else:
            return (x, w) if np.max(np.abs(r)) < 1e-9 else None
        x, w, r = y, v, trial
    return (x, w) if np.max(np.abs(r)) < 1e-9 else None
