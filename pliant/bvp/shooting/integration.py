"""Integration of the rod equations from base to tip, with loads, bodies and joints on the way.

Variations are integrated along with the state by the same scheme: they are the derivative of the state
at the tip with respect to what is unknown at the base. Along states that are known, variations alone
are integrated for a fraction of the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.bvp.jump_conditions import Jumps, apply_jumps
from pliant.bvp.pointwise_effects import RESULT, STRESS, WRENCH, evaluate
from pliant.bvp.rod_equations import (
    MAGNUS,
    MOMENT_BODY,
    QUATERNION,
    balance,
    linearise,
    orientation,
    quaternion_rate,
    quaternion_rotation,
    rates,
    rotation,
    strains,
    wrench_and_velocity,
)
from pliant.lie.quaternion_leaves import quaternion_from_matrix
from pliant.lie.tuples import Array, add, apply, read_vector
from pliant.rods.contract import Ints

EULER, RK4 = 0, 1
SCHEMES = {"euler": EULER, "rk4": RK4, "adaptive": RK4}
ORDERS = {"euler": 1, "rk4": 4, "adaptive": 4}
"""Orders of convergence in the length of the intervals."""
_MOST = 8
"""Intervals that variations may be taken over at once."""
_REACH = 0.6
"""Largest exponent by which a variation may grow in one step of RK4."""


class Intervals(NamedTuple):
    """What an integration from base to tip reads, for N intervals.

    h : (N,) their lengths, m.  table : (N, 4, 44) rows of their stations, see `rod_equations`.
    jumps : with first (N + 2,) by interval: first[i] to first[i + 1] lie before interval i.
    own : (1,) address of effects in plain Python, see `pointwise_effects`, or 0.
    """

    h: Array
    table: Array
    jumps: Jumps
    own: Ints


@leaf
def integrated_numbers(kind, r):  # type: ignore[no-untyped-def]
    """The nine numbers that are integrated for a rotation r (9 numbers) from a grid point on."""
    if kind == QUATERNION:
        q = quaternion_from_matrix(r)
        return q[0], q[1], q[2], q[3], 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == MAGNUS:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return r


@leaf
def _move4(o, h, k):  # type: ignore[no-untyped-def]
    return o[0] + h * k[0], o[1] + h * k[1], o[2] + h * k[2], o[3] + h * k[3]


@leaf
def _move12(y, h, k):  # type: ignore[no-untyped-def]
    return (
        y[0] + h * k[0],
        y[1] + h * k[1],
        y[2] + h * k[2],
        y[3] + h * k[3],
        y[4] + h * k[4],
        y[5] + h * k[5],
        y[6] + h * k[6],
        y[7] + h * k[7],
        y[8] + h * k[8],
        y[9] + h * k[9],
        y[10] + h * k[10],
        y[11] + h * k[11],
    )


@leaf
def _move(state, h, k):  # type: ignore[no-untyped-def]
    """(y, p, q) + h k, where k are their rates."""
    return _move12(state[0], h, k[0]), add(1.0, state[1], h, k[1]), _move4(state[2], h, k[2])


@leaf
def _keep(y, out):  # type: ignore[no-untyped-def]
    for i in range(12):
        out[i] = y[i]


@leaf
def write_state(y, p, r, out):  # type: ignore[no-untyped-def]
    """Write wrench and velocity, position, and nine numbers r for the orientation into `out` (24,)."""
    _keep(y, out)
    for i in range(3):
        out[12 + i] = p[i]
    for i in range(9):
        out[15 + i] = r[i]


@leaf
def _keep_euler(nodes, stages):  # type: ignore[no-untyped-def]
    """Stations that Euler's rule does not evaluate, from the ends of the interval."""
    for i in range(12):
        stages[1, i] = stages[2, i] = 0.5 * (nodes[0, i] + nodes[1, i])
        stages[3, i] = nodes[1, i]


@leaf
def _rates(y, q, P, c0):  # type: ignore[no-untyped-def]
    """`rates` with a quaternion."""
    u, v = strains(y, P)
    r = quaternion_rotation(q)
    return balance(y, r, u, v, P, c0), apply(r, v), quaternion_rate(q, u)


@kernel
def integrate_state(scheme, intervals, rule, span, y, nodes, stages):  # type: ignore[no-untyped-def]
    """`integrate` with a quaternion and without variations, in scalars: the quickest way.

    rule : (4,) with c0 first.  span : (2,) first and last.
    """
    c0, first, last = rule[0], span[0], span[1]
    none, R, jumps = np.empty((18, 0)), rotation(y), intervals.jumps
    state = wrench_and_velocity(y), read_vector(y, 12), quaternion_from_matrix(R)
    for i in range(first, last):
        if jumps.first[i + 1] > jumps.first[i]:
            write_state(state[0], state[1], R, y)
            apply_jumps(jumps, jumps.first[i], jumps.first[i + 1], c0, y, none)
            R = rotation(y)
            state = wrench_and_velocity(y), read_vector(y, 12), quaternion_from_matrix(R)
        write_state(state[0], state[1], R, nodes[i, 0])
        h, P, stage = intervals.h[i], intervals.table[i], stages[i]
        k = _rates(state[0], state[2], P[0], c0)
        _keep(state[0], stage[0])
        if scheme == EULER:
            state = _move(state, h, k)
        else:
            total = k
            ahead = _move(state, 0.5 * h, k)
            _keep(ahead[0], stage[1])
            k = _rates(ahead[0], ahead[2], P[1], c0)
            total = _move(total, 2.0, k)
            ahead = _move(state, 0.5 * h, k)
            _keep(ahead[0], stage[2])
            k = _rates(ahead[0], ahead[2], P[2], c0)
            total = _move(total, 2.0, k)
            ahead = _move(state, h, k)
            _keep(ahead[0], stage[3])
            k = _rates(ahead[0], ahead[2], P[3], c0)
            state = _move(state, h / 6.0, _move(total, 1.0, k))
        R = quaternion_rotation(state[2])
        write_state(state[0], state[1], R, nodes[i, 1])
        if scheme == EULER:
            _keep_euler(nodes[i], stage)
    write_state(state[0], state[1], R, y)
    if last == len(intervals.h):
        apply_jumps(jumps, jumps.first[last], jumps.first[last + 1], c0, y, none)


@inner
def _vary(scheme, A, h, Z, K, T):  # type: ignore[no-untyped-def]
    """Take variations Z (18, c) over h metres, where Z' = A Z at the four stages; K, T workspace."""
    start, z, k, t = Z.copy().ravel(), Z.ravel(), K.ravel(), T.ravel()
    np.dot(A[0], Z, K)
    if scheme == EULER:
        for i in range(len(z)):
            z[i] += h * k[i]
        return
    for j in range(1, 5):
        part, ahead = (h / 6.0 if j == 1 or j == 4 else h / 3.0), (h if j == 3 else 0.5 * h)
        for i in range(len(z)):
            z[i] += part * k[i]
            t[i] = start[i] + ahead * k[i]
        if j < 4:
            np.dot(A[j], T, K)


@kernel
def evaluate_stage(kind, intervals, i, j, c0, y, r, E, A, slope):  # type: ignore[no-untyped-def]
    """Write rates (24,) of a state y (24,) at stage j of interval i, and the matrix A of variations.

    y has the numbers that are integrated for its orientation; r (9 numbers) at the last grid point.
    E (126,) is what effects in plain Python return, or (0,).  A (18, 18), or (0, 18).
    """
    P, R, seen = intervals.table[i, j], orientation(kind, rotation(y), r), np.empty(24)
    write_state(wrench_and_velocity(y), read_vector(y, 12), R, seen)
    if len(E) > 0:
        evaluate(intervals.own[0], 4 * i + j, c0, seen, E)
        P = P.copy()
        P[:6], P[6:12] = 0.0, E[:6]
        P[MOMENT_BODY : MOMENT_BODY + 6] += E[WRENCH : WRENCH + 6]
    dy, dp, do = rates(kind, wrench_and_velocity(y), rotation(y), r, P, c0)
    write_state(dy, dp, do, slope)
    if len(A) > 0:
        linearise(seen, R, P, c0, E, A)


@kernel
def integrate_general(kind, scheme, intervals, rule, span, y, Z, nodes, stages):  # type: ignore[no-untyped-def]
    """`integrate` for all orientations, with variations and effects in plain Python."""
    c0, first, last = rule[0], span[0], span[1]
    k, at, jumps, vary = np.empty((4, 24)), np.empty((4, 24)), intervals.jumps, Z.shape[1] > 0
    E, A = np.empty(RESULT if intervals.own[0] != 0 else 0), np.empty((4, 18 if vary else 0, 18))
    K, T, count = np.empty_like(Z), np.empty_like(Z), 1 if scheme == EULER else 4
    for i in range(first, last):
        if jumps.first[i + 1] > jumps.first[i]:
            apply_jumps(jumps, jumps.first[i], jumps.first[i + 1], c0, y, Z)
        nodes[i, 0] = y
        r, h = rotation(y), intervals.h[i]
        write_state(wrench_and_velocity(y), read_vector(y, 12), integrated_numbers(kind, r), at[0])
        for j in range(count):
            ahead = h if j == 3 else 0.5 * h
            for c in range(24 if j > 0 else 0):
                at[j, c] = at[0, c] + ahead * k[j - 1, c]
            evaluate_stage(kind, intervals, i, j, c0, at[j], r, E, A[j], k[j])
            _keep(at[j], stages[i, j])
        if vary:
            _vary(scheme, A, h, Z, K, T)
        for c in range(24):
            rk4 = (k[0, c] + 2.0 * (k[1, c] + k[2, c]) + k[3, c]) / 6.0
            y[c] = at[0, c] + h * (k[0, c] if scheme == EULER else rk4)
        R = orientation(kind, rotation(y), r)
        write_state(wrench_and_velocity(y), read_vector(y, 12), R, nodes[i, 1])
        if scheme == EULER:
            _keep_euler(nodes[i], stages[i])
        y[:] = nodes[i, 1]
    if last == len(intervals.h):
        apply_jumps(jumps, jumps.first[last], jumps.first[last + 1], c0, y, Z)


def integrate(
    kind: int,
    scheme: int,
    intervals: Intervals,
    c0: float,
    first: int,
    last: int,
    y: Array,
    Z: Array,
    nodes: Array,
    stages: Array,
) -> None:
    """Integrate over intervals first to last - 1, beginning with the jumps before `first`.

    y (24,) enters as the state before these jumps and leaves as the state after interval last - 1, at
    the tip (last = N) after the jumps there, orientation as a matrix. Z (18, c) are variations that are
    integrated along; c may be 0. nodes (N, 2, 24) get the states at both ends of each interval, stages
    (N, 4, 12) wrench and velocity at its stations.
    """
    rule, span = np.array([c0]), np.array([first, last], dtype=np.int64)
    if Z.shape[1] == 0 and is_quick(kind, intervals):
        integrate_state(scheme, intervals, rule, span, y, nodes, stages)
    else:
        integrate_general(kind, scheme, intervals, rule, span, y, Z, nodes, stages)


def is_quick(kind: int, intervals: Intervals) -> bool:
    """Tell whether `integrate_state` can do without `integrate_general`."""
    return kind == QUATERNION and intervals.own[0] == 0


@kernel
def derivatives(kind, rows, c0, states, out):  # type: ignore[no-untyped-def]
    """Derivative (N, 12) of wrench and velocity at states (N, 24), with rows (N, 44) of stations."""
    for i in range(len(out)):
        y, R = wrench_and_velocity(states[i]), rotation(states[i])
        slope, _, _ = rates(kind, y, integrated_numbers(kind, R), R, rows[i], c0)
        _keep(slope, out[i])


@kernel
def at_stations(rule, intervals, D, stages, nodes, offset, strain, velocity, new_offsets, stress):  # type: ignore[no-untyped-def]
    """Write strain and velocity (4 N, 6) of a solution at the stations, and offsets (2, 4 N, 6).

    In the middle of an interval the cubic polynomial with the first and last slope of RK4 counts,
    y(h/2) = (Y_2 + Y_3) / 2 + (Y_4 - y(h)) / 4 by its stages Y. offset : (4 N, 6) of the strain, that
    the histories in the table were made with; D (4 N, 6) damping; stress (4 N, 6) gets that of effects
    in plain Python.
    """
    y, Y, E, own = np.empty(24), np.empty(24), np.empty((2, RESULT)), intervals.own[0]
    c0 = rule[0]
    for i in range(len(nodes)):
        for j in range(4):
            P, k = intervals.table[i, j], 4 * i + j
            y[:] = Y[:] = nodes[i, j // 2]
            for r in range(12):
                Y[r] = stages[i, j, r]
                if j == 1 or j == 2:
                    y[r] = 0.5 * (stages[i, 1, r] + stages[i, 2, r])
                    y[r] += 0.25 * (stages[i, 3, r] - nodes[i, 1, r])
            if own != 0:
                evaluate(own, k, c0, y, E[0])
                evaluate(own, k, c0, Y, E[1])
                stress[k] = E[0, STRESS : STRESS + 6]
            for r in range(6):
                back = P[r] * D[k, r] * c0 * offset[k, r]
                strain[k, r] = (E[0, r] if own != 0 else P[6 + r] + P[r] * y[r]) - back
                apart = E[1, r] - E[0, r] if own != 0 else P[r] * (Y[r] - y[r])
                new_offsets[0, k, r] = apart + back
                velocity[k, r], new_offsets[1, k, r] = y[6 + r], Y[6 + r] - y[6 + r]


# -- variations along known states ---------------------------------------------------------------


@kernel
def group(scheme, intervals, rule, most):  # type: ignore[no-untyped-def]
    """Write how many intervals `integrate_variations` may take at once and resolve the growth of
    variations into most (1,).

    Waves grow along s as exp(k s) with k^4 = A c0^2 / EI when they bend a rod, with k = c0 / speed
    when they stretch, shear or twist it. Zero for Euler's rule, whose variations are exact.
    """
    fastest, c0 = 0.0, rule[0]
    for i in range(len(intervals.h)):
        P, h = intervals.table[i, 1], intervals.h[i]
        heavy = P[27] * c0 * c0
        bend = np.sqrt(np.sqrt(heavy * max(P[0], P[1])))
        push = np.sqrt(max(heavy * max(P[3], P[4], P[5]), P[26] * c0 * c0 * P[2]))
        fastest = max(fastest, h * max(bend, push))
    most[0] = 0 if scheme == EULER else _MOST
    while most[0] > 1 and most[0] * fastest > _REACH:
        most[0] //= 2


@kernel
def integrate_variations(intervals, runs, most, rule, span, nodes, Z):  # type: ignore[no-untyped-def]
    """Integrate variations Z (18, c) along states that are known: nodes (N, 2, 24) of an integration.

    They begin before the jumps at interval span[0] and end after interval span[1] - 1, at the tip after
    the jumps there. With RK4 over up to most[0] intervals at once (see `group`), the ends of which
    give all the states that are needed. runs (N,): intervals of one length, without jumps between
    them, from each one on.
    """
    c0, first, last, most = rule[0], span[0], span[1], most[0]
    K, T, middle = np.empty_like(Z), np.empty_like(Z), np.empty(24)
    A, none, i = np.empty((4, 18, 18)), np.empty(0), first
    jumps, table, scheme = intervals.jumps, intervals.table, EULER if most == 0 else RK4
    while i < last:
        if jumps.first[i + 1] > jumps.first[i]:
            # jumps at the base only change the wrench, on which they do not depend
            before = nodes[i - 1, 1].copy() if i > 0 else nodes[0, 0].copy()
            apply_jumps(jumps, jumps.first[i], jumps.first[i + 1], c0, before, Z)
        taken, left = 1, min(runs[i], last - i)
        while 2 * taken <= min(left, most):
            taken *= 2
        half, end = i + taken // 2, i + taken - 1
        ya, yb, yc, Pb = nodes[i, 0], nodes[half, 0], nodes[end, 1], table[half, 0]
        if taken == 1:
            middle[:] = 0.5 * (ya + yc)
            yb, Pb = middle, table[i, 1]
        linearise(ya, rotation(ya), table[i, 0], c0, none, A[0])
        if scheme != EULER:
            linearise(yb, rotation(yb), Pb, c0, none, A[1])
            A[2] = A[1]
            linearise(yc, rotation(yc), table[end, 3], c0, none, A[3])
        _vary(scheme, A, taken * intervals.h[i], Z, K, T)
        i += taken
    if last == len(intervals.h):
        tip = nodes[last - 1, 1].copy()
        apply_jumps(jumps, jumps.first[last], jumps.first[last + 1], c0, tip, Z)


def equal_runs(h: Array, first_jump: Ints) -> Ints:
    """For each of N intervals, how many of its length follow without a jump, itself included."""
    runs = np.ones(len(h), dtype=np.int64)
    for i in range(len(h) - 2, -1, -1):
        alone = first_jump[i + 2] > first_jump[i + 1]
        if not alone and abs(h[i + 1] - h[i]) <= 1e-9 * h[i]:
            runs[i] = runs[i + 1] + 1
    return runs
