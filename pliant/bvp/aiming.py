"""Newton's method for the wrench at a clamped base, compiled: aim at the tip, or at a place before it.

The derivative is kept, over iterations and over steps in time, for as long as it brings the residual
down quickly.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant._numba import driver, kernel
from pliant.bvp.condensed import invert
from pliant.bvp.sweep import sweep
from pliant.bvp.variations import vary
from pliant.lie.tuples import Array

Flags: TypeAlias = NDArray[np.bool_]

_ITERATIONS = 30
_POOR = 0.5
"""Reduction of the residual in one iteration above which the derivative is renewed."""
_ROUNDING = 1e-9
"""Residual below which it may stay if it no longer falls. More of it would ring on in time."""


class Aim(NamedTuple):
    """Where a sweep should arrive, and how.

    first, last : intervals to go.  wrench : (6,) wanted there; none beyond the tip.
    inverse : (6, 6) inverse derivative of what arrives, in units of the scale, if known : (1,).
    """

    first: int
    last: int
    wrench: Array
    inverse: Array
    known: Flags


@kernel
def start_state(base, x, y):  # type: ignore[no-untyped-def]
    """Write the state (24,) at the base for its wrench x (6,); base (18,): R by rows, p, twist."""
    for i in range(6):
        y[i] = x[i]
        y[6 + i] = base[12 + i]
    for i in range(3):
        y[12 + i] = base[9 + i]
    for i in range(9):
        y[15 + i] = base[i]


@driver
def _measure(y, aim, nodes, scale):  # type: ignore[no-untyped-def]
    """Wrench missing where the sweep ended, and the largest one on the way, in units of `scale`."""
    distance, load = 0.0, 1e-6
    for i in range(6):
        distance += ((y[i] - aim.wrench[i]) / scale[i]) ** 2
    for i in range(aim.last):
        for j in range(6):
            load = max(load, abs(nodes[i, 0, j]) / scale[j])
    return np.sqrt(distance), load


@driver
def _renew(setting, arrays, memory, aim, c0):  # type: ignore[no-untyped-def]
    """Find the inverse derivative along the last sweep, in units of the scale, if there is one."""
    block, J, scale = np.zeros((1, 18, 8)), np.empty((6, 6)), setting.scale
    for i in range(6):
        block[0, i, i] = scale[i]
    vary(arrays, setting.runs, setting.most[0], c0, aim.first, aim.last, memory.nodes, block)
    for i in range(6):
        for j in range(6):
            J[i, j] = block[0, i, j] / scale[i]
    return invert(J, aim.inverse)


@kernel
def believable(acting, scale, x):  # type: ignore[no-untyped-def]
    """Largest wrench, in units of `scale`, to be expected after a step from x (6,).

    acting : the largest that is applied.
    """
    found = max(0.01, acting)
    for i in range(6):
        found = max(found, abs(x[i]) / scale[i])
    return 100.0 * found


@driver
def _improve(inverse, part, dx, r, y, scale):  # type: ignore[no-untyped-def]
    """Broyden's update of the inverse derivative: part * dx took the residual r to y."""
    step, change, row = np.empty(6), np.empty(6), np.zeros(6)
    for i in range(6):
        step[i] = part * dx[i] / scale[i]
    bottom = 0.0
    for i in range(6):
        change[i] = step[i]
        for j in range(6):
            change[i] -= inverse[i, j] * (y[j] - r[j]) / scale[j]
            row[j] += step[i] * inverse[i, j]
    for j in range(6):
        bottom += row[j] * (y[j] - r[j]) / scale[j]
    if abs(bottom) > 1e-3 * np.sum(step * step):
        for i in range(6):
            for j in range(6):
                inverse[i, j] += change[i] * row[j] / bottom


@driver
def shoot(setting, arrays, memory, aim, c0, base, x, y):  # type: ignore[no-untyped-def]
    """Sweep from the base with wrench x; y gets the state at the aim. Returns `_measure`."""
    start_state(base, x, y)
    none = np.empty((18, 0))
    kind, scheme = setting.kind, setting.scheme
    sweep(kind, scheme, arrays, c0, aim.first, aim.last, y, none, memory.nodes, memory.slopes)
    return _measure(y, aim, memory.nodes, setting.scale)


@kernel
def solve_base(setting, arrays, memory, aim, c0, base, limits, x):  # type: ignore[no-untyped-def]
    """Newton for the wrench x (6,) at the base that gives the wrench of `aim` where it lies.

    limits (2,): tolerance, and the largest wrench that can be believed: far away lie solutions that
    no motion leads to. aim.inverse is the inverse derivative, valid if aim.known[0]. It is renewed
    where it no longer serves; a step with a new one that leads away is shortened. Returns the
    relative residual, negative if it did not arrive, and the iterations.
    """
    y, r, dx, back = np.empty(24), np.empty(6), np.zeros(6), x.copy()
    scale, known = setting.scale, aim.known
    before, there, part, fresh = np.inf, 1.0, 1.0, False
    for iteration in range(_ITERATIONS):
        distance, load = shoot(setting, arrays, memory, aim, c0, base, x, y)
        good = np.isfinite(distance + load) and distance < before
        if good or before == np.inf:
            if not np.isfinite(distance + load) or load > 1e3 * limits[1]:
                return -1.0, iteration
            size = distance / load
            if size <= limits[0] or (size < _ROUNDING and fresh and distance > 0.3 * before):
                return (size if load <= limits[1] else -1.0), iteration
            stale = not known[0] or distance > _POOR * before
            if not stale and before < np.inf:
                _improve(aim.inverse, part, dx, r, y[:6] - aim.wrench, scale)
            back[:] = x
            r[:] = y[:6] - aim.wrench
            before, there = distance, load
        else:
            if before / there < _ROUNDING and fresh:
                # rounding is all that is left: the last x was as good as can be had
                x[:] = back
                distance, load = shoot(setting, arrays, memory, aim, c0, base, x, y)
                return (distance / load if load <= limits[1] else -1.0), iteration
            stale = not fresh
            part *= 0.5
            if fresh and part < 1.0 / 64.0:
                return -1.0, iteration
            if stale:
                shoot(setting, arrays, memory, aim, c0, base, back, y)
        if stale:
            known[0] = _renew(setting, arrays, memory, aim, c0)
            if not known[0]:
                return -1.0, iteration
        if stale or good:
            fresh, part = stale, 1.0
            for i in range(6):
                dx[i] = 0.0
                for j in range(6):
                    dx[i] -= scale[i] * aim.inverse[i, j] * r[j] / scale[j]
        for i in range(6):
            x[i] = back[i] + part * dx[i]
    return -1.0, _ITERATIONS
