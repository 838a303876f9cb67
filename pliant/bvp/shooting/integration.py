"""Integration of the rod equations from base to tip, with loads, bodies and joints on the way.

Variations are integrated along with the state by the same scheme: they are the derivative of the state
at the tip with respect to what is unknown at the base.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.effect_callback import RESULT, STRESS, WRENCH, evaluate
from pliant.bvp.jump_conditions import apply_jumps
from pliant.bvp.rod_equations import (
    MAGNUS,
    QUATERNION,
    balance,
    orientation,
    quaternion_rate,
    quaternion_rotation,
    rates,
    rotation,
    strains,
    wrench_and_velocity,
)
from pliant.bvp.shooting.variations import (
    BLOCK,
    WIDTH,
    add,
    add_own_rates,
    apply_jumps_to_blocks,
    from_blocks,
    linear_rates,
    to_blocks,
)
from pliant.lie.quaternion_leaves import quaternion_from_matrix
from pliant.lie.tuples import apply

EULER, RK4 = 0, 1
SCHEMES = {"euler": EULER, "rk4": RK4, "adaptive": RK4}


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
def _move3(p, h, k):  # type: ignore[no-untyped-def]
    return p[0] + h * k[0], p[1] + h * k[1], p[2] + h * k[2]


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
    return _move12(state[0], h, k[0]), _move3(state[1], h, k[1]), _move4(state[2], h, k[2])


@leaf
def _write(y, p, r, out):  # type: ignore[no-untyped-def]
    """Write a state with its orientation as a matrix r into `out` (24,)."""
    for i in range(12):
        out[i] = y[i]
    for i in range(3):
        out[12 + i] = p[i]
    for i in range(9):
        out[15 + i] = r[i]


@leaf
def _keep(y, out):  # type: ignore[no-untyped-def]
    for i in range(12):
        out[i] = y[i]


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
def _integrate_state(scheme, intervals, c0, first, last, y, nodes, stages):  # type: ignore[no-untyped-def]
    """`integrate` with a quaternion and without variations, in scalars: the quickest way."""
    none, R, jumps = np.empty((18, 0)), rotation(y), intervals.jumps
    state = wrench_and_velocity(y), (y[12], y[13], y[14]), quaternion_from_matrix(R)
    for i in range(first, last):
        if jumps.first[i + 1] > jumps.first[i]:
            _write(state[0], state[1], R, y)
            apply_jumps(jumps, jumps.first[i], jumps.first[i + 1], c0, y, none)
            R = rotation(y)
            state = wrench_and_velocity(y), (y[12], y[13], y[14]), quaternion_from_matrix(R)
        _write(state[0], state[1], R, nodes[i, 0])
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
        _write(state[0], state[1], R, nodes[i, 1])
        if scheme == EULER:
            _keep_euler(nodes[i], stage)
    _write(state[0], state[1], R, y)
    if last == len(intervals.h):
        apply_jumps(jumps, jumps.first[last], jumps.first[last + 1], c0, y, none)


@leaf
def _rates_array(kind, y, r, P, c0, out):  # type: ignore[no-untyped-def]
    """Write `rates` of the state y (24,), r (9 numbers) at the last grid point, into `out` (24,)."""
    dy, dp, do = rates(kind, wrench_and_velocity(y), rotation(y), r, P, c0)
    _write(dy, dp, do, out)


@leaf
def _shift(h, y, k, out):  # type: ignore[no-untyped-def]
    for i in range(24):
        out[i] = y[i] + h * k[i]


@kernel
def _evaluate_own(kind, own, station, c0, y, r, P, row, E):  # type: ignore[no-untyped-def]
    """Evaluate effects in plain Python; `row` becomes P with their strain and no compliance."""
    seen = y.copy()
    R = orientation(kind, rotation(y), r)
    for i in range(9):
        seen[15 + i] = R[i]
    evaluate(own, station, c0, seen, E)
    row[:] = P
    row[:6], row[6:12] = 0.0, E[:6]


@kernel
def _integrate_both(kind, scheme, intervals, c0, first, last, y, blocks, nodes, stages):  # type: ignore[no-untyped-def]
    """`integrate` with variations in blocks (B, 18, 8)."""
    k, at, jumps = np.empty((4, 24)), np.empty((4, 24)), intervals.jumps
    own, E, rows = intervals.own[0], np.empty((4, RESULT)), np.empty((4, intervals.table.shape[2]))
    K, L, T = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    flat, width = blocks.reshape((len(blocks), BLOCK)), blocks.shape[2]
    for i in range(first, last):
        if jumps.first[i + 1] > jumps.first[i]:
            apply_jumps_to_blocks(intervals, i, c0, y, blocks)
        nodes[i, 0] = y
        r, h, P = rotation(y), intervals.h[i], intervals.table[i]
        _write(wrench_and_velocity(y), (y[12], y[13], y[14]), integrated_numbers(kind, r), at[0])
        for j in range(4):
            if j > 0:
                _shift(h if j == 3 else 0.5 * h, at[0], k[j - 1], at[j])
            if own != 0:
                _evaluate_own(kind, own, 4 * i + j, c0, at[j], r, P[j], rows[j], E[j])
            _rates_array(kind, at[j], r, rows[j] if own != 0 else P[j], c0, k[j])
            if own != 0:
                k[j, :6] -= E[j, WRENCH : WRENCH + 6]
            _keep(at[j], stages[i, j])
        P = rows if own != 0 else P
        for b in range(len(flat)):
            Z = flat[b]
            linear_rates(at[0], orientation(kind, rotation(at[0]), r), P[0], c0, width, Z, K)
            if own != 0:
                add_own_rates(E[0], at[0], c0, width, Z, K)
            if scheme == EULER:
                add(Z, h, K, Z)
                continue
            add(Z, 0.5 * h, K, T)
            for j in range(1, 4):
                linear_rates(at[j], orientation(kind, rotation(at[j]), r), P[j], c0, width, T, L)
                if own != 0:
                    add_own_rates(E[j], at[j], c0, width, T, L)
                add(K, 1.0 if j == 3 else 2.0, L, K)
                add(Z, h if j == 2 else 0.5 * h, L, T)
            add(Z, h / 6.0, K, Z)
        for j in range(24):
            part = k[0, j]
            if scheme != EULER:
                part = (part + 2.0 * (k[1, j] + k[2, j]) + k[3, j]) / 6.0
            y[j] = at[0, j] + h * part
        R = orientation(kind, rotation(y), r)
        _write(wrench_and_velocity(y), (y[12], y[13], y[14]), R, nodes[i, 1])
        if scheme == EULER:
            _keep_euler(nodes[i], stages[i])
        y[:] = nodes[i, 1]
    if last == len(intervals.h):
        apply_jumps_to_blocks(intervals, last, c0, y, blocks)


@kernel
def integrate(kind, scheme, intervals, c0, first, last, y, Z, nodes, stages):  # type: ignore[no-untyped-def]
    """Integrate over intervals first to last - 1, beginning with the jumps before `first`.

    y (24,) enters as the state before these jumps and leaves as the state after interval last - 1, at
    the tip (last = N) after the jumps there, orientation as a matrix. Z (18, c) are variations that are
    integrated along; c may be 0. nodes (N, 2, 24) get the states at both ends of each interval, stages
    (N, 4, 12) wrench and velocity at its stations.
    """
    if Z.shape[1] == 0 and kind == QUATERNION and intervals.own[0] == 0:
        _integrate_state(scheme, intervals, c0, first, last, y, nodes, stages)
    else:
        blocks = np.empty(((Z.shape[1] + WIDTH - 1) // WIDTH, 18, WIDTH))
        to_blocks(Z, blocks)
        _integrate_both(kind, scheme, intervals, c0, first, last, y, blocks, nodes, stages)
        from_blocks(blocks, Z)


@kernel
def derivatives(kind, rows, c0, states, out):  # type: ignore[no-untyped-def]
    """Derivative (N, 12) of wrench and velocity at states (N, 24), with rows (N, 44) of stations."""
    for i in range(len(out)):
        y, R = wrench_and_velocity(states[i]), rotation(states[i])
        k, _, _ = rates(kind, y, integrated_numbers(kind, R), R, rows[i], c0)
        for j in range(12):
            out[i, j] = k[j]


@kernel
def at_stations(c0, intervals, D, stages, nodes, offsets, strain, velocity, new_offsets, stress):  # type: ignore[no-untyped-def]
    """Write strain and velocity (4 N, 6) of a solution at the stations, and offsets (2, 4 N, 6).

    In the middle of an interval the cubic polynomial with the first and last slope of RK4 counts,
    y(h/2) = (Y_2 + Y_3) / 2 + (Y_4 - y(h)) / 4 by its stages Y. offsets : those that the histories in
    the table were made with; D (4 N, 6) damping; stress (4 N, 6) gets that of effects in plain Python.
    """
    y, Y, E, own = np.empty(24), np.empty(24), np.empty((2, RESULT)), intervals.own[0]
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
                back = P[r] * D[k, r] * c0 * offsets[0][k, r]
                strain[k, r] = (E[0, r] if own != 0 else P[6 + r] + P[r] * y[r]) - back
                apart = E[1, r] - E[0, r] if own != 0 else P[r] * (Y[r] - y[r])
                new_offsets[0, k, r] = apart + back
                velocity[k, r], new_offsets[1, k, r] = y[6 + r], Y[6 + r] - y[6 + r]
