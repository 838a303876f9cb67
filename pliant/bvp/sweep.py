"""Integration of the rod equations from base to tip, with loads, bodies and joints on the way.

The variations travel with the state and are integrated by the same scheme: they are the derivative
of what arrives at the tip with respect to what is unknown at the base.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.equations import (
    MAGNUS,
    QUATERNION,
    balance,
    carried,
    nine,
    orientation,
    quaternion_rotation,
    quaternion_turning,
    rates,
    strains,
)
from pliant.bvp.events import meet_events
from pliant.bvp.variations import (
    BLOCK,
    WIDTH,
    add,
    from_blocks,
    linear_rates,
    meet_with_blocks,
    to_blocks,
)
from pliant.lie.quaternion_leaves import quaternion_from_matrix
from pliant.lie.tuples import apply

EULER, RK4 = 0, 1
SCHEMES = {"euler": EULER, "rk4": RK4, "adaptive": RK4}


@leaf
def entered(kind, r):  # type: ignore[no-untyped-def]
    """The nine numbers that carry a rotation r (9 numbers) from a grid point on."""
    if kind == QUATERNION:
        q = quaternion_from_matrix(r)
        return q[0], q[1], q[2], q[3], 0.0, 0.0, 0.0, 0.0, 0.0
    if kind == MAGNUS:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return r


@leaf
def twelve(y):  # type: ignore[no-untyped-def]
    """Wrench and velocity of a state."""
    return y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11]


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
def _rates(y, q, P, c0):  # type: ignore[no-untyped-def]
    """`rates` with a quaternion."""
    u, v = strains(y, P)
    r = quaternion_rotation(q)
    return balance(y, r, u, v, P, c0), apply(r, v), quaternion_turning(q, u)


@kernel
def _glide(scheme, arrays, c0, first, last, y, nodes, slopes):  # type: ignore[no-untyped-def]
    """`sweep` with a quaternion and without variations, in scalars: the quickest way along a chain."""
    none, R = np.empty((18, 0)), carried(y)
    state = twelve(y), (y[12], y[13], y[14]), quaternion_from_matrix(R)
    for i in range(first, last):
        if arrays.first_event[i + 1] > arrays.first_event[i]:
            _write(state[0], state[1], R, y)
            meet_events(arrays, i, c0, y, none)
            R = carried(y)
            state = twelve(y), (y[12], y[13], y[14]), quaternion_from_matrix(R)
        _write(state[0], state[1], R, nodes[i, 0])
        h = arrays.h[i]
        Pa, Pb, Pc = arrays.stages[i, 0], arrays.stages[i, 1], arrays.stages[i, 2]
        k = _rates(state[0], state[2], Pa, c0)
        for j in range(12):
            slopes[i, j] = k[0][j]
        if scheme == EULER:
            state = _move(state, h, k)
        else:
            total = k
            ahead = _move(state, 0.5 * h, k)
            k = _rates(ahead[0], ahead[2], Pb, c0)
            total = _move(total, 2.0, k)
            ahead = _move(state, 0.5 * h, k)
            k = _rates(ahead[0], ahead[2], Pb, c0)
            total = _move(total, 2.0, k)
            ahead = _move(state, h, k)
            k = _rates(ahead[0], ahead[2], Pc, c0)
            state = _move(state, h / 6.0, _move(total, 1.0, k))
        R = quaternion_rotation(state[2])
        _write(state[0], state[1], R, nodes[i, 1])
    _write(state[0], state[1], R, y)
    if last == len(arrays.h):
        meet_events(arrays, last, c0, y, none)


@leaf
def enter(kind, y, R):  # type: ignore[no-untyped-def]
    """Turn the orientation of a state from a matrix into the numbers that are integrated."""
    for i in range(9):
        R[i] = y[15 + i]
    o = entered(kind, nine(R))
    for i in range(9):
        y[15 + i] = o[i]


@leaf
def rates_array(kind, y, R, P, c0, out):  # type: ignore[no-untyped-def]
    """Write `rates` of the state y (24,), R (9,) at the last grid point, into `out` (24,)."""
    dy, dp, do = rates(kind, twelve(y), carried(y), nine(R), P, c0)
    _write(dy, dp, do, out)


@leaf
def _shift(h, y, k, out):  # type: ignore[no-untyped-def]
    for i in range(24):
        out[i] = y[i] + h * k[i]


@kernel
def _sweep_both(kind, scheme, arrays, c0, first, last, y, blocks, nodes, slopes):  # type: ignore[no-untyped-def]
    """`sweep` with variations in blocks (B, 18, 8)."""
    R = np.empty(9)
    k1, k2, k3, k4 = np.empty(24), np.empty(24), np.empty(24), np.empty(24)
    y2, y3, y4 = np.empty(24), np.empty(24), np.empty(24)
    K, L, T = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    flat, width = blocks.reshape((len(blocks), BLOCK)), blocks.shape[2]
    for i in range(first, last):
        if arrays.first_event[i + 1] > arrays.first_event[i]:
            meet_with_blocks(arrays, i, c0, y, blocks)
        nodes[i, 0] = y
        enter(kind, y, R)
        h, r = arrays.h[i], nine(R)
        Pa, Pb, Pc = arrays.stages[i, 0], arrays.stages[i, 1], arrays.stages[i, 2]
        rates_array(kind, y, R, Pa, c0, k1)
        slopes[i] = k1[:12]
        _shift(0.5 * h, y, k1, y2)
        rates_array(kind, y2, R, Pb, c0, k2)
        _shift(0.5 * h, y, k2, y3)
        rates_array(kind, y3, R, Pb, c0, k3)
        _shift(h, y, k3, y4)
        rates_array(kind, y4, R, Pc, c0, k4)
        for b in range(len(flat)):
            Z = flat[b]
            linear_rates(y, orientation(kind, carried(y), r), Pa, c0, width, Z, K)
            if scheme == EULER:
                add(Z, h, K, Z)
                continue
            add(Z, 0.5 * h, K, T)
            linear_rates(y2, orientation(kind, carried(y2), r), Pb, c0, width, T, L)
            add(K, 2.0, L, K)
            add(Z, 0.5 * h, L, T)
            linear_rates(y3, orientation(kind, carried(y3), r), Pb, c0, width, T, L)
            add(K, 2.0, L, K)
            add(Z, h, L, T)
            linear_rates(y4, orientation(kind, carried(y4), r), Pc, c0, width, T, L)
            add(K, 1.0, L, K)
            add(Z, h / 6.0, K, Z)
        for j in range(24):
            part = k1[j] if scheme == EULER else (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j]) / 6.0
            y[j] += h * part
        _write(twelve(y), (y[12], y[13], y[14]), orientation(kind, carried(y), r), nodes[i, 1])
        y[:] = nodes[i, 1]
    if last == len(arrays.h):
        meet_with_blocks(arrays, last, c0, y, blocks)


@kernel
def sweep(kind, scheme, arrays, c0, first, last, y, Z, nodes, slopes):  # type: ignore[no-untyped-def]
    """Integrate over intervals first to last - 1, beginning with the events before `first`.

    y (24,) enters as the state before these events and leaves as the state after interval
    last - 1, at the tip (last = N) after the events there, orientation as a matrix. Z (18, c) are
    variations that travel along; c may be 0. nodes (N, 2, 24) and slopes (N, 12) get the states at
    both ends of each interval and the derivative of wrench and velocity at its start.
    """
    if Z.shape[1] == 0 and kind == QUATERNION:
        _glide(scheme, arrays, c0, first, last, y, nodes, slopes)
    else:
        blocks = np.empty(((Z.shape[1] + WIDTH - 1) // WIDTH, 18, WIDTH))
        to_blocks(Z, blocks)
        _sweep_both(kind, scheme, arrays, c0, first, last, y, blocks, nodes, slopes)
        from_blocks(blocks, Z)


@kernel
def end_slopes(kind, arrays, c0, nodes, out):  # type: ignore[no-untyped-def]
    """Derivative of wrench and velocity (N, 12) at the end of each interval."""
    for i in range(len(arrays.h)):
        y, R = twelve(nodes[i, 1]), carried(nodes[i, 1])
        k, _, _ = rates(kind, y, entered(kind, R), R, arrays.stages[i, 2], c0)
        for j in range(12):
            out[i, j] = k[j]
