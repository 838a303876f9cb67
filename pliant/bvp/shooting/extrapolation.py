"""The error of an equilibrium that shooting found, from the mesh on which it was found.

Neighbouring intervals of one length are gone in two steps and in one. Of order p, one long step errs by
2^p times as much as the two short ones, so that

    y + (y - Y) / (2^p - 1),    y after two steps, Y after one,

is more accurate by an order (Richardson, locally). The equilibrium is corrected for steps that end
there, with the derivative that Newton's method has at hand: the nodes move by the error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import driver, inner, kernel
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.pointwise_effects import RESULT
from pliant.bvp.rod_equations import orientation, rotation, wrench_and_velocity
from pliant.bvp.shooting.elimination import resolve
from pliant.bvp.shooting.equations import (
    INTEGRATE,
    Segments,
    Setting,
    arrive,
    factorise,
    move,
    renew,
)
from pliant.bvp.shooting.integration import (
    EULER,
    Intervals,
    evaluate_stage,
    integrated_numbers,
    write_state,
)
from pliant.engine.loops import NEGATIVE, THERE
from pliant.engine.program import record, run
from pliant.lie.so3 import exp_matrix, log_vector
from pliant.lie.tuples import Array, multiply, read_vector, transpose
from pliant.rods.contract import Ints

_CORRECTIONS = 6
_NEGLIGIBLE, _SMALL, _CHANGE = 0.01, 0.2, 0.2
"""Parts of the error: that a gap which is left may be, which displaces the chain by about its size
times the length; that it may be if one more correction changes the error by no more than the last part.
"""
_ROUNDING = 1e-11
_PAIRED = 0.5
"""Part of the length that must lie in pairs of intervals."""
_AGREE, _EXACT = 0.25, 1e-8
"""Part by which errors from other pairs may differ; error over the length that needs no other."""


class Workspace(NamedTuple):
    """Of one step: slopes k and states `at` (4, 24) at the stages, what effects in plain Python return
    E (126,) or (0,), no derivatives A (0, 18), numbers of the stations (4,), results y, Y (24,).
    """

    k: Array
    at: Array
    E: Array
    A: Array
    stations: Ints
    fine: Array
    coarse: Array


def extrapolated_error(
    setting: Setting,
    segments: Segments,
    intervals: Intervals,
    runs: Ints,
    order: int,
    nodes: Array,
) -> float | None:
    """Largest displacement error of an equilibrium, m; None if it cannot be told this way.

    nodes : (N, 2, 24) of the equilibrium that Newton's method left in `segments`, whose unknowns are
    moved.  runs : (N,) see `integrate_extrapolated`.  order : of the scheme.

    Other pairs of intervals, which begin an interval later, must tell the same: steps that are too long
    for the order of the scheme to show would seem far more accurate than they are.
    """
    whole, given = float(intervals.h.sum()), (setting, segments, intervals)
    later = _begin_later(segments, runs)
    paired, others = (float(intervals.h @ _in_pairs(row)) for row in (runs, later))
    if paired < _PAIRED * whole:
        return None
    x, states = segments.x.copy(), segments.states.copy()
    first = _corrected(*given, runs, order, nodes)
    if first is None or others < _PAIRED * whole or first < _EXACT * setting.length:
        return first
    segments.x[:], segments.states[:] = x, states
    second = _corrected(*given, later, order, nodes)
    return None if second is None or abs(second - first) > _AGREE * max(first, second) else first


def _corrected(
    setting: Setting,
    segments: Segments,
    intervals: Intervals,
    runs: Ints,
    order: int,
    nodes: Array,
) -> float | None:
    """Largest displacement by corrections for extrapolated steps, m; None if they do not converge."""
    moved, s = nodes.copy(), segments
    part = 1.0 / (2.0**order - 1.0)
    given = setting.kind, setting.scheme, part, intervals, runs, setting.rule, s.span, s.y
    program = record(run, integrate_extrapolated, *given, moved)
    programs = s.programs.copy()
    programs[INTEGRATE] = program.address
    worst = gap = np.inf
    for k in range(1 + _CORRECTIONS):
        before = gap, worst
        gap = correct(setting, s, s._replace(programs=programs), moved, k == 0)
        if not gap <= before[0]:
            return None
        worst = float(np.linalg.norm((moved - nodes)[..., 12:15], axis=-1).max())
        share = _SMALL if abs(worst - before[1]) <= _CHANGE * worst else _NEGLIGIBLE
        if k > 0 and gap * setting.length <= max(share * worst, _ROUNDING * setting.length):
            return worst
    return None


def _begin_later(segments: Segments, runs: Ints) -> Ints:
    """The same runs, whose pairs begin after one interval in each run and each segment."""
    count = segments.divisions[segments.level[0]]
    later = runs.copy()
    later[np.flatnonzero(np.diff(runs, prepend=runs[0]) >= 0)] = 1
    later[segments.cuts[segments.level[0], :count]] = 1
    return later


def _in_pairs(runs: Ints) -> Array:
    """Which of N intervals `integrate_extrapolated` takes in pairs, 1.0 or 0.0."""
    found, i = np.zeros(len(runs)), 0
    while i < len(runs):
        if runs[i] > 1:
            found[i : i + 2] = 1.0
        i += 2 if runs[i] > 1 else 1
    return found


@inner
def _take(kind, scheme, intervals, c0, h, y, work, out):  # type: ignore[no-untyped-def]
    """out (24,) = the state h metres on from y (24,) by one step with the stations of the workspace."""
    k, at, r = work.k, work.at, rotation(y)
    write_state(wrench_and_velocity(y), read_vector(y, 12), integrated_numbers(kind, r), at[0])
    for j in range(1 if scheme == EULER else 4):
        ahead = h if j == 3 else 0.5 * h
        for c in range(24 if j > 0 else 0):
            at[j, c] = at[0, c] + ahead * k[j - 1, c]
        i, stage = work.stations[j] // 4, work.stations[j] % 4
        evaluate_stage(kind, intervals, i, stage, c0, at[j], r, work.E, work.A, k[j])
    for c in range(24):
        rk4 = (k[0, c] + 2.0 * (k[1, c] + k[2, c]) + k[3, c]) / 6.0
        out[c] = at[0, c] + h * (k[0, c] if scheme == EULER else rk4)
    R = orientation(kind, rotation(out), r)
    write_state(wrench_and_velocity(out), read_vector(out, 12), R, out)


@inner
def _extrapolate(fine, coarse, part, y):  # type: ignore[no-untyped-def]
    """y (24,) = fine + part (fine - coarse), rotations on their group."""
    R = rotation(fine)
    turn = log_vector(multiply(transpose(rotation(coarse)), R))
    for c in range(15):
        y[c] = fine[c] + part * (fine[c] - coarse[c])
    turned = multiply(R, exp_matrix(part * turn[0], part * turn[1], part * turn[2]))
    for c in range(9):
        y[15 + c] = turned[c]


@kernel
def integrate_extrapolated(kind, scheme, part, intervals, runs, rule, span, y, nodes):  # type: ignore[no-untyped-def]
    """`integrate` without variations, more accurate by an order where intervals come in pairs.

    part : 1 / (2^p - 1).  runs (N,): intervals of one length, without jumps between them, from each
    one on.
    """
    c0, first, last, jumps = rule[0], span[0], span[1], intervals.jumps
    E, A = np.empty(RESULT if intervals.own[0] != 0 else 0), np.empty((0, 18))
    stations, none = np.empty(4, dtype=np.int64), np.empty((18, 0))
    work = Workspace(
        np.empty((4, 24)), np.empty((4, 24)), E, A, stations, np.empty(24), np.empty(24)
    )
    i = first
    while i < last:
        if jumps.first[i + 1] > jumps.first[i]:
            apply_jumps(jumps, jumps.first[i], jumps.first[i + 1], c0, y, none)
        taken, h = (2 if runs[i] > 1 and i + 1 < last else 1), intervals.h[i]
        if taken == 2:
            stations[0], stations[1], stations[2], stations[3] = (
                4 * i,
                4 * i + 3,
                4 * i + 3,
                4 * i + 7,
            )
            _take(kind, scheme, intervals, c0, 2.0 * h, y, work, work.coarse)
        for n in range(i, i + taken):
            for j in range(4):
                stations[j] = 4 * n + j
            nodes[n, 0] = y
            _take(kind, scheme, intervals, c0, h, y, work, work.fine)
            y[:] = work.fine
            nodes[n, 1] = y
        if taken == 2:
            _extrapolate(work.fine, work.coarse, part, y)
            nodes[i + 1, 1] = y
        i += taken
    if last == len(intervals.h):
        apply_jumps(jumps, jumps.first[last], jumps.first[last + 1], c0, y, none)


@driver
def correct(setting, segments, extrapolated, nodes, first):  # type: ignore[no-untyped-def]
    """Correct an equilibrium for the programs of `extrapolated`, or before the first correction only
    look; returns the size of the gaps that are left, infinite if there is no derivative.

    nodes (N, 2, 24) get those of the corrected equilibrium.
    """
    s, count = segments, segments.divisions[segments.level[0]]
    if first:
        if s.counts[THERE] == 0:
            renew(setting, s, len(nodes))
            factorise(s)
            s.counts[THERE] = s.flags[NEGATIVE] == 0
    else:
        resolve(s.A[:count], s.inverse, s.S, s.chosen, s.gaps[:count], s.step[:count])
        s.x[:] += s.step[0, :6] * setting.units[0]
        for k in range(1, count):
            move(s.states[k], 1.0, s.step[k], s.unit)
    size, _ = arrive(setting, extrapolated, nodes)
    return size if s.counts[THERE] != 0 else np.inf
