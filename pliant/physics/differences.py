"""Derivatives by central differences, for effects that give none of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.lie import se3
from pliant.rods.contract import Array

_STEP = 1e-5
"""Step in radians and metres, and relative to the size of strains and twists."""


def frame_gradient(potential: Callable[[Array], float], g: Array) -> Array:
    """Derivative (K, 6) of a function of frames g (K, 4, 4) in their body twists."""
    p = np.empty((len(g), 6))
    for k in range(len(g)):
        for a in range(6):
            ends = [potential(_moved(g, k, a, sign * _STEP)) for sign in (1.0, -1.0)]
            p[k, a] = (ends[0] - ends[1]) / (2.0 * _STEP)
    return p


def frame_curvature(gradient: Callable[[Array], Array], g: Array) -> Array:
    """Derivative (6 K, 6 K) of a gradient (K, 6) in the chart g exp(x) of its frames g (K, 4, 4).

    In that chart the covector of a body gradient p(x) is dexp(x)^T p(x).
    """
    size = 6 * len(g)
    k = np.empty((size, size))
    for j in range(size):
        frame, a = divmod(j, 6)
        ends = []
        for sign in (1.0, -1.0):
            p = np.array(gradient(_moved(g, frame, a, sign * _STEP)), dtype=float)
            x = np.zeros(6)
            x[a] = sign * _STEP
            p[frame] = se3.dexp(x).T @ p[frame]
            ends.append(p.ravel())
        k[:, j] = (ends[0] - ends[1]) / (2.0 * _STEP)
    return k


def station_curvature(gradient: Callable[[Array], Array], g: Array) -> Array:
    """`frame_curvature` (S, 6, 6) of stations g (S, 4, 4) that do not feel each other."""
    k = np.empty((len(g), 6, 6))
    for a in range(6):
        x = np.zeros(6)
        x[a] = _STEP
        ends = [gradient(g @ se3.exp(sign * x)) @ se3.dexp(sign * x) for sign in (1.0, -1.0)]
        k[:, :, a] = (ends[0] - ends[1]) / (2.0 * _STEP)
    return k


def row_slopes(function: Callable[[Array], Array], x: Array) -> Array:
    """Derivative (S, 6, 6) of rows function(x) (S, 6) in x (S, 6), row by row."""
    step = _STEP * max(1.0, float(np.max(np.abs(x), initial=0.0)))
    k = np.empty((len(x), 6, 6))
    for a in range(6):
        shift = np.zeros(6)
        shift[a] = step
        k[:, :, a] = (function(x + shift) - function(x - shift)) / (2.0 * step)
    return k


def whole_slope(function: Callable[[Array], Array], x: Array) -> Array:
    """Derivative (6 K, 6 K) of function(x) (K, 6) in x (K, 6)."""
    step = _STEP * max(1.0, float(np.max(np.abs(x), initial=0.0)))
    k = np.empty((x.size, x.size))
    for j in range(x.size):
        shift = np.zeros(x.size)
        shift[j] = step
        ends = [function(x + sign * shift.reshape(x.shape)).ravel() for sign in (1.0, -1.0)]
        k[:, j] = (ends[0] - ends[1]) / (2.0 * step)
    return k


def _moved(g: Array, k: int, a: int, step: float) -> Array:
    x = np.zeros(6)
    x[a] = step
    moved = g.copy()
    moved[k] = g[k] @ se3.exp(x)
    return moved
