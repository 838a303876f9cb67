"""A channel along a rod: the length of a line at an offset from the centreline, from the strains.

With strains (u, v) and offset r = (x, y, 0) the tangent of the line in body axes is

    t = v + u x r + r',        t = A e + r',   A = [-r^, 1],

its length is the integral of |t|, and

    d|t| = t/|t| . A de,       d2|t| = A^T (1 - tt^T/|t|^2) A / |t|.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.model.routing import Route
from pliant.rods.contract import Array

WEIGHT, X, Y, DX, DY, DDX, DDY, STEP = range(8)
"""Columns of the table of a channel at its stations."""


def table(route: Route, s: Array, w: Array, start: float) -> Array:
    """Table (S, 8) of a channel at increasing stations s (S,), m, with weights w (S,), from `start`."""
    step = np.diff(s, prepend=start)
    return np.ascontiguousarray(np.column_stack([w, route.r, route.slope, route.bend, step]))


@leaf
def tangent(P, e):  # type: ignore[no-untyped-def]
    """Tangent t (3 numbers) of a channel with row P (8,) of its table at strains e (6,)."""
    return (
        e[3] - e[2] * P[Y] + P[DX],
        e[4] + e[2] * P[X] + P[DY],
        e[5] + e[0] * P[Y] - e[1] * P[X],
    )


@leaf
def gradient(P, e, felt, out):  # type: ignore[no-untyped-def]
    """Write the derivative (6,) of |t| in the strains e (6,) that are felt (6,); returns |t|."""
    t = tangent(P, e)
    size = np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
    nx, ny, nz = t[0] / size, t[1] / size, t[2] / size
    out[0], out[1], out[2] = P[Y] * nz, -P[X] * nz, P[X] * ny - P[Y] * nx
    out[3], out[4], out[5] = nx, ny, nz
    for i in range(6):
        out[i] *= felt[i]
    return size


@kernel
def add_pull(rows, share, tension, scale, slope, felt, e, sigma, full):  # type: ignore[no-untyped-def]
    """sigma (S, 6) += scale T w d|t|, and full (S, 6, 6) += slope T w d2|t| unless slope is zero.

    T = tension_0 share, at strains e (S, 6).
    """
    g, A = np.zeros(6), np.zeros((3, 6))
    if tension[0] == 0.0:
        return
    for s in range(rows.shape[0]):
        P = rows[s]
        size = gradient(P, e[s], felt, g)
        force = tension[0] * share[s] * P[WEIGHT]
        for i in range(6):
            sigma[s, i] += scale * force * g[i]
        if slope != 0.0:
            A[0, 2], A[1, 2], A[2, 0], A[2, 1] = -P[Y], P[X], P[Y], -P[X]
            for i in range(3):
                A[i, 3 + i] = 1.0
            c = slope * force / size
            for i in range(6):
                for j in range(6):
                    v = A[0, i] * A[0, j] + A[1, i] * A[1, j] + A[2, i] * A[2, j]
                    full[s, i, j] += c * (felt[i] * felt[j] * v - g[i] * g[j])


@kernel
def add_pull_work(rows, share, tension, felt, met, before, after, out):  # type: ignore[no-untyped-def]
    """out_0 -= sum_s T w d|t| (after - before): work of a tension at strains `met`, all (S, 6)."""
    g = np.zeros(6)
    for s in range(rows.shape[0]):
        P = rows[s]
        gradient(P, met[s], felt, g)
        for i in range(6):
            out[0] -= tension[0] * share[s] * P[WEIGHT] * g[i] * (after[s, i] - before[s, i])


@kernel
def set_gradient(rows, felt, e, out):  # type: ignore[no-untyped-def]
    """out (S, 6) = w d|t| at strains e (S, 6)."""
    for s in range(rows.shape[0]):
        gradient(rows[s], e[s], felt, out[s])
        for i in range(6):
            out[s, i] *= rows[s, WEIGHT]


@kernel
def add_length(rows, e, out):  # type: ignore[no-untyped-def]
    """out_0 += sum_s w |t| at strains e (S, 6), m."""
    for s in range(rows.shape[0]):
        t = tangent(rows[s], e[s])
        out[0] += rows[s, WEIGHT] * np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])


@kernel
def between(ea, eb, share, out):  # type: ignore[no-untyped-def]
    """out (S, 6) = ea + share (eb - ea)."""
    for s in range(out.shape[0]):
        for i in range(6):
            out[s, i] = ea[s, i] + share * (eb[s, i] - ea[s, i])
