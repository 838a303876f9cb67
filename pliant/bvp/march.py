"""Many time steps of a clamped chain with a free tip in one compiled call.

A step by simple shooting that does not arrive is helped by modified shooting, then by multiple
shooting with more and more segments, which stays for a while where it was needed. A step that nothing
helps ends the march, and the caller takes over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, kernel
from pliant.bvp.aiming import Aim, Flags, believable, solve_base
from pliant.bvp.books import Ledger, enter
from pliant.bvp.events import FLOOR, applied, heaviness, surge
from pliant.bvp.foresight import HOLD, LINE, Trail, foresee, foresee_state, remember, replace_last
from pliant.bvp.histories import blend, read_stages
from pliant.bvp.joined import assume, solve_joined
from pliant.bvp.mesh import write_history
from pliant.bvp.sweep import end_slopes
from pliant.bvp.variations import grouping
from pliant.lie.tuples import Array
from pliant.rods.contract import Ints

MOST_BENT = 0.5
"""Rad by which a chain may be bent otherwise than the last two instants predict for simple shooting to
be believed: it also finds solutions that no motion leads to."""
_ROUGH = 5e-3
"""Residual, relative, to which a guess is corrected half way: what should arrive there is not known
better."""
_GROWING = 8
"""Lengths through which modified shooting grows from base to tip."""
_OFTEN = 3
"""Time steps that modified shooting may save before several segments are used instead."""
RETRY = 4
"""Time steps with more segments than asked for after which fewer are tried again; each time twice as
many, up to 64."""
LEVEL, HELPED, MODIFIED, PATIENCE = 0, 1, 2, 3
"""Entries of `Memory.mode`."""
ITERATIONS, RESIDUAL, BY_MODIFIED, BY_MULTIPLE, SEGMENTS = 0, 1, 2, 3, 4
"""Entries of the result of a march."""


class Setting(NamedTuple):
    """What stays the same in a march.

    kind, scheme : of rotation and integration.  length : of the chain, m.  scale : (6,).
    tolerance : relative.  plain : level of a step without help, 0 for simple shooting, 1 for the
    first of `Parts`.  rescue : whether there is any help.
    runs : (N,), most : (1,) see `variations`.
    C, D, natural, active, M : (N, 3, 6), rigid : (N,) of the mesh.  loads, bodies : (.., 2) interval
    and end that each point load and body sits at.
    """

    kind: int
    scheme: int
    length: float
    scale: Array
    tolerance: float
    plain: int
    rescue: bool
    runs: Ints
    most: Ints
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

    trail : where the motion came from.  mode : (4,) level in use, steps for which it helped, steps
    that modified shooting saved in a row, and steps until less is tried again.
    xi, xi_t, eta, eta_t, xi_older, eta_older : (N, 3, 6).  body, body_t, body_older : (B, 6).
    books : work and loss.
    nodes : (N, 2, 24), slopes : (N, 12) of the last sweep.  kept : (N, 2, 24) of the last solution.
    """

    trail: Trail
    mode: Ints
    xi: Array
    xi_t: Array
    eta: Array
    eta_t: Array
    xi_older: Array
    eta_older: Array
    body: Array
    body_t: Array
    body_older: Array
    books: Ledger
    nodes: Array
    slopes: Array
    kept: Array


@driver
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


@driver
def _accept(setting, arrays, memory, c0, shares, keep_older, x, ends):  # type: ignore[no-untyped-def]
    """Take the solved sweep as the present, and book the work and loss of the step."""
    m = memory
    if keep_older:
        replace_last(m.trail, x, m.nodes)
    else:
        remember(m.trail, setting.scale, x, m.nodes)
        m.xi_older[:] = m.xi
        m.eta_older[:] = m.eta
        m.body_older[:] = m.body
    m.kept[:] = m.nodes
    end_slopes(setting.kind, arrays, c0, m.nodes, ends)
    read_stages(arrays.h, arrays.stages, m.nodes, m.slopes, ends, c0, m.xi, m.xi_t, m.eta, m.eta_t)
    for b in range(len(m.body)):
        for r in range(6):
            m.body[b, r] = m.nodes[setting.bodies[b, 0], setting.bodies[b, 1], 6 + r]
            m.body_t[b, r] = c0 * m.body[b, r] + arrays.body_history[b, r]
    D, M, active, sites = setting.D, setting.M, setting.active, setting.loads
    enter(m.books, shares, arrays, D, M, active, sites, m.nodes, x, m.xi_t, m.eta)


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


@driver
def _near(setting, arrays, memory):  # type: ignore[no-untyped-def]
    """Whether what was found is bent about as the last two instants predict."""
    return bent(arrays, memory.nodes, memory.xi, memory.xi_older) * setting.length < MOST_BENT


@driver
def _approach(setting, arrays, memory, middle, c0, base, limits, row, x):  # type: ignore[no-untyped-def]
    """Correct a guess x so that it passes where it should half way; returns the iterations.

    What is wrong at the base grows along the chain, and where it has grown too much Newton's method
    does not find back. Half way it has not yet, and the wrench there follows from the last steps.
    """
    if memory.trail.counts[0] < 3:
        return 0
    y, rough, guess = np.empty(24), np.array([_ROUGH, limits[1]]), x.copy()
    foresee_state(memory.trail, row, middle.last - 1, y)
    middle.wrench[:] = y[:6]
    size, used = solve_base(setting, arrays, memory, middle, c0, base, rough, guess)
    if size >= 0.0:
        x[:] = guess
    return used


@driver
def _simple(setting, arrays, memory, aims, c0, base, limits, result, x):  # type: ignore[no-untyped-def]
    """Simple shooting; returns the relative residual, negative if it did not arrive."""
    middle, tip = aims
    # a far guess can lead astray: what stays closer is tried then
    for row in (memory.trail.counts[2], LINE, HOLD):
        foresee(memory.trail, row, x)
        result[ITERATIONS] += _approach(setting, arrays, memory, middle, c0, base, limits, row, x)
        size, used = solve_base(setting, arrays, memory, tip, c0, base, limits, x)
        result[ITERATIONS] += used
        if size >= 0.0 and _near(setting, arrays, memory):
            return size
        tip.known[0] = False
    return -1.0


@driver
def _modified(setting, arrays, memory, aims, c0, base, limits, result, x):  # type: ignore[no-untyped-def]
    """Modified simple shooting (Holsapple, Venkataraman and Doman 2003): over a part of the chain that
    grows to the whole, aimed at the wrenches of the last step.
    """
    middle, tip = aims
    N, y, rough = len(arrays.h), np.empty(24), np.array([1e-6, limits[1]])
    foresee(memory.trail, HOLD, x)
    for k in range(1, _GROWING):
        last = max(1, k * N // _GROWING)
        foresee_state(memory.trail, HOLD, last - 1, y)
        aim = Aim(middle.first, last, middle.wrench, middle.inverse, middle.known)
        aim.wrench[:] = y[:6]
        aim.known[0] = False
        size, used = solve_base(setting, arrays, memory, aim, c0, base, rough, x)
        result[ITERATIONS] += used
        middle.known[0] = False
        if size < 0.0:
            return -1.0
    tip.known[0] = False
    size, used = solve_base(setting, arrays, memory, tip, c0, base, limits, x)
    result[ITERATIONS] += used
    if size >= 0.0 and _near(setting, arrays, memory):
        return size
    tip.known[0] = False
    return -1.0


@driver
def _multiple(setting, arrays, memory, parts, level, c0, base, limits, result, x):  # type: ignore[no-untyped-def]
    """Multiple shooting at one level of `parts`, from what is foreseen, then from the last step."""
    for row in (memory.trail.counts[2], HOLD):
        foresee(memory.trail, row, x)
        assume(memory.trail, parts, level, row, base, x)
        size, used = solve_joined(setting, arrays, memory, parts, level, c0, limits)
        result[ITERATIONS] += used
        if size >= 0.0:
            x[:] = parts.states[0, :6]
            result[SEGMENTS] = max(result[SEGMENTS], parts.counts[level])
            return size
        parts.known[0] = -1
    return -1.0


@driver
def _solve(setting, arrays, memory, aims, parts, c0, base, limits, result, x):  # type: ignore[no-untyped-def]
    """One instant, with all the help there is; returns the relative residual, or a negative number."""
    mode, size = memory.mode, -1.0
    if mode[LEVEL] > setting.plain:
        mode[HELPED] += 1
        if mode[HELPED] >= mode[PATIENCE]:
            mode[LEVEL], mode[HELPED] = setting.plain, 0
            mode[PATIENCE] = min(2 * mode[PATIENCE], 64)
    level = mode[LEVEL]
    if level == 0:
        size = _simple(setting, arrays, memory, aims, c0, base, limits, result, x)
        if size >= 0.0 or not setting.rescue:
            return size
        size = _modified(setting, arrays, memory, aims, c0, base, limits, result, x)
        if size >= 0.0:
            result[BY_MODIFIED] += 1
            mode[MODIFIED] += 1
            if mode[MODIFIED] >= _OFTEN:
                mode[LEVEL], mode[MODIFIED] = min(1, len(parts.counts)), 0
            return size
        level = 1
    while level <= len(parts.counts):
        size = _multiple(setting, arrays, memory, parts, level - 1, c0, base, limits, result, x)
        if size >= 0.0:
            mode[LEVEL], mode[MODIFIED] = level, 0
            result[BY_MULTIPLE] += level > setting.plain
            return size
        if not setting.rescue:
            return size
        level += 1
    return size


@kernel
def march(setting, arrays, memory, aims, parts, rule, shares, keep_older, loads, bases, result):  # type: ignore[no-untyped-def]
    """Take len(loads) steps with one time rule; returns how many arrived.

    aims : half way and at the tip.  rule (4,): c0, c1, c2, d1.  shares (3,) see `TimeRule.shares`.
    keep_older : let the state two steps back stay what it is.  loads (T, P, 15) rows of point loads
    and bases (T, 18) at the end of each step.  result (5,) gets the iterations of all steps, the last
    residual, how many steps modified and multiple shooting saved, and the most segments.
    """
    c0 = rule[0]
    Hx, He = np.empty(memory.xi.shape), np.empty(memory.xi.shape)
    ends = np.empty(memory.slopes.shape)
    x, limits = np.empty(6), np.array([setting.tolerance, 0.0, 0.0])
    heavy = heaviness(arrays, setting.scale, setting.length, c0)
    for k in range(len(loads)):
        arrays.loads[:] = loads[k]
        _prepare(setting, arrays, memory, rule, Hx, He)
        if k == 0:
            setting.most[0] = grouping(setting.scheme, arrays, c0)
        acting = applied(arrays, setting.scale)
        twist = bases[k, 12:]
        sudden = surge(arrays, setting.scale, setting.length, c0, twist, memory.xi, memory.kept)
        limits[1] = believable(max(acting, sudden), setting.scale, memory.trail.past[0])
        limits[2] = max(FLOOR, heavy, acting)
        size = _solve(setting, arrays, memory, aims, parts, c0, bases[k], limits, result, x)
        if size < 0.0:
            return k
        result[RESIDUAL] = size
        _accept(setting, arrays, memory, c0, shares, keep_older, x, ends)
    return len(loads)
