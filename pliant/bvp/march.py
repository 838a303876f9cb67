"""Many time steps of a clamped chain with a free tip in one compiled call.

Each step is solved by Newton's method with a derivative that is kept, over iterations and over
steps, for as long as it brings the residual down quickly; a plain sweep costs a sixth of one with
variations. A step that does not arrive ends the march, and the caller takes over.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pliant._numba import kernel
from pliant.bvp.books import powers
from pliant.bvp.histories import blend, read_stages
from pliant.bvp.mesh import write_history
from pliant.bvp.sweep import end_slopes, sweep
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

Flags: TypeAlias = NDArray[np.bool_]

_ITERATIONS = 30
_POOR = 0.5
"""Reduction of the residual in one iteration above which the derivative is renewed."""
_PREDICTORS = 4
_ROUNDING = 1e-9
"""Residual below which it may stay if it no longer falls. More of it would ring on in time."""


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


@kernel
def predict(past, count, order, x):  # type: ignore[no-untyped-def]
    """Write the polynomial through the last order + 1 unknowns past (4, 6), newest first, at the
    next step into x (6,).
    """
    for i in range(6):
        if order == 0 or count < 2:
            x[i] = past[0, i]
        elif order == 1 or count < 3:
            x[i] = 2.0 * past[0, i] - past[1, i]
        elif order == 2 or count < 4:
            x[i] = 3.0 * (past[0, i] - past[1, i]) + past[2, i]
        else:
            x[i] = 4.0 * (past[0, i] + past[2, i]) - 6.0 * past[1, i] - past[3, i]


@kernel
def remember(past, state, scale, x):  # type: ignore[no-untyped-def]
    """Put x in front of past (4, 6) and choose the predictor that would have been closest to it.

    state (2,) holds the number of past unknowns and the order of the predictor.
    """
    guess = np.empty(6)
    best, found = np.inf, 0
    for order in range(_PREDICTORS):
        if order > 0 and state[0] <= order:
            break
        predict(past, state[0], order, guess)
        error = 0.0
        for i in range(6):
            error += ((guess[i] - x[i]) / scale[i]) ** 2
        if error < best:
            best, found = error, order
    for k in range(3, 0, -1):
        for i in range(6):
            past[k, i] = past[k - 1, i]
    for i in range(6):
        past[0, i] = x[i]
    state[0] = min(state[0] + 1, 4)
    state[1] = found


@kernel
def _measure(y, nodes, scale):  # type: ignore[no-untyped-def]
    """Wrench that is left beyond the tip, and the largest one in the chain, in units of `scale`."""
    distance, load = 0.0, 1e-6
    for i in range(6):
        distance += (y[i] / scale[i]) ** 2
    for i in range(len(nodes)):
        for j in range(6):
            load = max(load, abs(nodes[i, 0, j]) / scale[j])
    return np.sqrt(distance), load


@kernel
def _renew(setting, arrays, memory, c0, base, x):  # type: ignore[no-untyped-def]
    """Find the inverse derivative at x, in units of the scale; tell whether there is one."""
    y, Z, J = np.empty(24), np.zeros((18, 6)), np.empty((6, 6))
    scale = setting.scale
    start_state(base, x, y)
    for i in range(6):
        Z[i, i] = scale[i]
    N = len(arrays.h)
    sweep(setting.kind, setting.scheme, arrays, c0, 0, N, y, Z, memory.nodes, memory.slopes)
    for i in range(6):
        for j in range(6):
            J[i, j] = Z[i, j] / scale[i]
            if not abs(J[i, j]) < 1e60:
                return False
    if not abs(np.linalg.det(J)) > 1e-280:
        return False
    memory.inverse[:] = np.linalg.inv(J)
    return True


@kernel
def believable(loads, scale, x):  # type: ignore[no-untyped-def]
    """Largest wrench, in units of `scale`, to be expected after a step from x (6,) under loads."""
    found = 0.01
    for i in range(6):
        found = max(found, abs(x[i]) / scale[i])
        for p in range(len(loads)):
            found = max(found, (abs(loads[p, 3 + i]) + abs(loads[p, 9 + i])) / scale[i])
    return 100.0 * found


@kernel
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


@kernel
def _shoot(setting, arrays, memory, c0, base, x, y):  # type: ignore[no-untyped-def]
    """Sweep from the base with wrench x; y gets the state past the tip. Returns `_measure`."""
    start_state(base, x, y)
    none = np.empty((18, 0))
    N = len(arrays.h)
    sweep(setting.kind, setting.scheme, arrays, c0, 0, N, y, none, memory.nodes, memory.slopes)
    return _measure(y, memory.nodes, setting.scale)


@kernel
def solve_base(setting, arrays, memory, c0, base, limits, x):  # type: ignore[no-untyped-def]
    """Newton for the wrench x (6,) at the base that leaves none beyond the tip.

    limits (2,): tolerance, and the largest wrench that can be believed: far away lie solutions that
    no motion leads to. memory.inverse is the inverse derivative, valid if memory.known[0]. It is
    renewed where it no longer serves; a step with a new one that leads away is shortened. Returns
    the relative residual, negative if it did not arrive, and the iterations.
    """
    y, r, dx, back = np.empty(24), np.empty(6), np.zeros(6), x.copy()
    scale, known = setting.scale, memory.known
    before, part, fresh = np.inf, 1.0, False
    for iteration in range(_ITERATIONS):
        distance, load = _shoot(setting, arrays, memory, c0, base, x, y)
        good = np.isfinite(distance + load) and distance < before
        if good or before == np.inf:
            if not np.isfinite(distance + load) or load > 1e3 * limits[1]:
                return -1.0, iteration
            size = distance / load
            if size <= limits[0] or (size < _ROUNDING and fresh and distance > 0.3 * before):
                return (size if load <= limits[1] else -1.0), iteration
            stale = not known[0] or distance > _POOR * before
            if not stale and before < np.inf:
                _improve(memory.inverse, part, dx, r, y, scale)
            back[:] = x
            r[:] = y[:6]
            before = distance
        else:
            if before / load < _ROUNDING and fresh:
                # rounding is all that is left: the last x was as good as can be had
                x[:] = back
                distance, load = _shoot(setting, arrays, memory, c0, base, x, y)
                return (distance / load if load <= limits[1] else -1.0), iteration
            stale = not fresh
            part *= 0.5
            if fresh and part < 1.0 / 64.0:
                return -1.0, iteration
        if stale:
            known[0] = _renew(setting, arrays, memory, c0, base, back)
            if not known[0]:
                return -1.0, iteration
        if stale or good:
            fresh, part = stale, 1.0
            for i in range(6):
                dx[i] = 0.0
                for j in range(6):
                    dx[i] -= scale[i] * memory.inverse[i, j] * r[j] / scale[j]
        for i in range(6):
            x[i] = back[i] + part * dx[i]
    return -1.0, _ITERATIONS


class Setting(NamedTuple):
    """What stays the same in a march.

    kind, scheme : of rotation and integration.  scale : (6,).  tolerance : relative.
    C, D, natural, active, M : (N, 3, 6), rigid : (N,) of the mesh.  loads, bodies : (.., 2) interval
    and end that each point load and body sits at.
    """

    kind: int
    scheme: int
    scale: Array
    tolerance: float
    C: Array
    D: Array
    natural: Array
    rigid: Flags
    active: Array
    M: Array
    loads: Ints
    bodies: Ints


class Memory(NamedTuple):
    """What a march remembers from step to step.

    past : (4, 6), counts : (2,) see `remember`.  inverse : (6, 6), known : (1,) see `solve_base`.
    xi, xi_t, eta, eta_t, xi_older, eta_older : (N, 3, 6).  body, body_t, body_older : (B, 6).
    books : (4,) power and loss at the last instant, W, their integrals so far, J.
    nodes : (N, 2, 24), slopes : (N, 12) of the last sweep.
    """

    past: Array
    counts: Ints
    inverse: Array
    known: Flags
    xi: Array
    xi_t: Array
    eta: Array
    eta_t: Array
    xi_older: Array
    eta_older: Array
    body: Array
    body_t: Array
    body_older: Array
    books: Array
    nodes: Array
    slopes: Array


@kernel
def _prepare(setting, arrays, memory, rule, Hx, He):  # type: ignore[no-untyped-def]
    """Write law and histories of the coming instant into `arrays`."""
    m = memory
    blend(rule, m.xi, m.xi_t, m.xi_older, Hx)
    blend(rule, m.eta, m.eta_t, m.eta_older, He)
    write_history(
        rule[0],
        setting.C,
        setting.D,
        setting.natural,
        setting.rigid,
        setting.active,
        Hx,
        He,
        arrays.stages,
    )
    for b in range(len(m.body)):
        for r in range(6):
            arrays.body_history[b, r] = (
                rule[1] * m.body[b, r] + rule[2] * m.body_older[b, r] + rule[3] * m.body_t[b, r]
            )


@kernel
def _accept(setting, arrays, memory, c0, step, x, ends):  # type: ignore[no-untyped-def]
    """Take the solved sweep as the present, and book the work and loss of the step."""
    m = memory
    remember(m.past, m.counts, setting.scale, x)
    end_slopes(setting.kind, arrays, c0, m.nodes, ends)
    m.xi_older[:] = m.xi
    m.eta_older[:] = m.eta
    read_stages(arrays.h, arrays.stages, m.nodes, m.slopes, ends, c0, m.xi, m.xi_t, m.eta, m.eta_t)
    for b in range(len(m.body)):
        for r in range(6):
            m.body_older[b, r] = m.body[b, r]
            m.body[b, r] = m.nodes[setting.bodies[b, 0], setting.bodies[b, 1], 6 + r]
            m.body_t[b, r] = c0 * m.body[b, r] + arrays.body_history[b, r]
    power, lost = powers(
        arrays, setting.D, setting.M, setting.active, setting.loads, m.nodes, x, m.xi_t, m.eta
    )
    m.books[2] += 0.5 * step * (m.books[0] + power)
    m.books[3] += 0.5 * step * (m.books[1] + lost)
    m.books[0], m.books[1] = power, lost


@kernel
def march(setting, arrays, memory, rule, step, loads, bases, result):  # type: ignore[no-untyped-def]
    """Take len(loads) steps of `step` seconds with one time rule; returns how many arrived.

    rule (4,): c0, c1, c2, d1.  loads (T, P, 15) rows of point loads and bases (T, 18) at the end of
    each step.  result (2,) gets the iterations of all steps and the last residual.
    """
    c0 = rule[0]
    Hx, He = np.empty(memory.xi.shape), np.empty(memory.xi.shape)
    ends = np.empty(memory.slopes.shape)
    x, limits = np.empty(6), np.array([setting.tolerance, 0.0])
    for k in range(len(loads)):
        arrays.loads[:] = loads[k]
        _prepare(setting, arrays, memory, rule, Hx, He)
        limits[1] = believable(arrays.loads, setting.scale, memory.past[0])
        size = -1.0
        # a far guess can lead astray: the lower the order, the closer it stays
        for order in (memory.counts[1], 0):
            predict(memory.past, memory.counts[0], order, x)
            size, used = solve_base(setting, arrays, memory, c0, bases[k], limits, x)
            result[0] += used
            if size >= 0.0:
                break
            memory.known[0] = False
        if size < 0.0:
            return k
        result[1] = size
        _accept(setting, arrays, memory, c0, step, x, ends)
    return len(loads)
