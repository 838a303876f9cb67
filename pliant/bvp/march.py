"""Many time steps of a clamped chain with a free tip in one compiled call.

A step that does not arrive ends the march, and the caller takes over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.bvp.aiming import Flags, believable, predict, remember, shoot, solve_base
from pliant.bvp.books import powers
from pliant.bvp.histories import blend, read_stages
from pliant.bvp.mesh import write_history
from pliant.bvp.sweep import end_slopes
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

MOST_BENT = 0.5
"""Rad by which a chain may be bent otherwise than the last two instants predict for simple shooting to
be believed: it also finds solutions that no motion leads to."""
_NEAR = 0.05
"""Residual of a guess, relative, above which it is corrected half way first."""


class Setting(NamedTuple):
    """What stays the same in a march.

    kind, scheme : of rotation and integration.  length : of the chain, m.  scale : (6,).
    tolerance : relative.
    C, D, natural, active, M : (N, 3, 6), rigid : (N,) of the mesh.  loads, bodies : (.., 2) interval
    and end that each point load and body sits at.
    """

    kind: int
    scheme: int
    length: float
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

    past : (4, 6), counts : (2,) see `remember`.  middle : (2, 6) wrench half way, the last two.
    xi, xi_t, eta, eta_t, xi_older, eta_older : (N, 3, 6).  body, body_t, body_older : (B, 6).
    books : (4,) power and loss at the last instant, W, their integrals so far, J.
    nodes : (N, 2, 24), slopes : (N, 12) of the last sweep.
    """

    past: Array
    counts: Ints
    middle: Array
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
    half = max(1, len(m.nodes) // 2)
    for i in range(6):
        m.middle[1, i] = m.middle[0, i]
        m.middle[0, i] = m.nodes[half - 1, 1, i]
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
def bent(arrays, nodes, xi, xi_older):  # type: ignore[no-untyped-def]
    """Largest distance of curvature and twist in a sweep from the line through the last two, rad/m."""
    found = 0.0
    for i in range(len(nodes)):
        P = arrays.stages[i, 0]
        for r in range(3):
            expected = 2.0 * xi[i, 0, r] - xi_older[i, 0, r]
            found = max(found, abs(P[6 + r] + P[r] * nodes[i, 0, r] - expected))
    return found


@kernel
def _approach(setting, arrays, memory, middle, tip, c0, base, limits, x):  # type: ignore[no-untyped-def]
    """Correct a guess x that misses the tip by far so that it passes where it should half way.

    What is wrong at the base grows along the chain, and where it has grown too much Newton's method
    does not find back. Half way it has not yet, and the wrench there follows from the last steps.
    """
    y, rough = np.empty(24), np.array([1e-4, limits[1]])
    distance, load = shoot(setting, arrays, memory, tip, c0, base, x, y)
    if memory.counts[0] < 3 or distance <= _NEAR * load:
        return 0
    guess = x.copy()
    for i in range(6):
        middle.wrench[i] = 2.0 * memory.middle[0, i] - memory.middle[1, i]
    size, used = solve_base(setting, arrays, memory, middle, c0, base, rough, guess)
    if size >= 0.0:
        x[:] = guess
    return used


@kernel
def march(setting, arrays, memory, middle, tip, rule, step, loads, bases, result):  # type: ignore[no-untyped-def]
    """Take len(loads) steps of `step` seconds with one time rule; returns how many arrived.

    middle, tip : the aims.  rule (4,): c0, c1, c2, d1.  loads (T, P, 15) rows of point loads and
    bases (T, 18) at the end of each step.  result (2,) gets the iterations of all steps and the last
    residual.
    """
    c0 = rule[0]
    Hx, He = np.empty(memory.xi.shape), np.empty(memory.xi.shape)
    ends = np.empty(memory.slopes.shape)
    x, limits = np.empty(6), np.array([setting.tolerance, 0.0])
    for k in range(len(loads)):
        arrays.loads[:] = loads[k]
        _prepare(setting, arrays, memory, rule, Hx, He)
        limits[1] = believable(arrays, setting.scale, memory.past[0])
        size = -1.0
        # a far guess can lead astray: the lower the order, the closer it stays
        for order in (memory.counts[1], 1, 0):
            predict(memory.past, memory.counts[0], order, x)
            result[0] += _approach(setting, arrays, memory, middle, tip, c0, bases[k], limits, x)
            size, used = solve_base(setting, arrays, memory, tip, c0, bases[k], limits, x)
            result[0] += used
            apart = bent(arrays, memory.nodes, memory.xi, memory.xi_older)
            if size >= 0.0 and apart * setting.length < MOST_BENT:
                break
            size = -1.0
            tip.known[0] = False
        if size < 0.0:
            return k
        result[1] = size
        _accept(setting, arrays, memory, c0, step, x, ends)
    return len(loads)
