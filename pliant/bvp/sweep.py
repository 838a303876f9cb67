"""Integration of the rod equations from base to tip, with loads, bodies and joints on the way.

The variations travel with the state and are integrated by the same scheme: they are the derivative
of what arrives at the tip with respect to what is unknown at the base.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.equations import MAGNUS, QUATERNION, linear_rates, orientation, rates
from pliant.bvp.events import meet_events
from pliant.lie.quaternion_leaves import quaternion_from_matrix

EULER, RK4 = 0, 1
SCHEMES = {"euler": EULER, "rk4": RK4}


@leaf
def enter(kind, y, R):  # type: ignore[no-untyped-def]
    """Turn the orientation of a state from a matrix into the numbers that are integrated."""
    for i in range(9):
        R[i] = y[15 + i]
    if kind == QUATERNION:
        q = quaternion_from_matrix((R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]))
        y[15], y[16], y[17], y[18] = q[0], q[1], q[2], q[3]
    elif kind == MAGNUS:
        y[15] = y[16] = y[17] = 0.0


@leaf
def leave(kind, y, R, out):  # type: ignore[no-untyped-def]
    """Copy the state into `out` with its orientation as a matrix."""
    r = orientation(kind, y, R)
    for i in range(15):
        out[i] = y[i]
    for i in range(9):
        out[15 + i] = r[i]


@leaf
def _move(count, h, y, k, out):  # type: ignore[no-untyped-def]
    for i in range(count):
        out[i] = y[i] + h * k[i]


@leaf
def _add(Z, h, K, out):  # type: ignore[no-untyped-def]
    """out = Z + h K."""
    for i in range(Z.shape[0]):
        for c in range(Z.shape[1]):
            out[i, c] = Z[i, c] + h * K[i, c]


@kernel
def sweep(kind, scheme, arrays, c0, first, last, y, Z, nodes, slopes):  # type: ignore[no-untyped-def]
    """Integrate over intervals first to last - 1, beginning with the events before `first`.

    y (24,) enters as the state before these events and leaves as the state after interval
    last - 1, at the tip (last = N) after the events there, orientation as a matrix. Z (18, c) are
    variations that travel along; c may be 0. nodes (N, 2, 24) and slopes (N, 12) get the states at
    both ends of each interval and the derivative of wrench and velocity at its start.
    """
    count = 19 if kind == QUATERNION else (18 if kind == MAGNUS else 24)
    R = np.empty(9)
    k1, k2, k3, k4 = np.empty(24), np.empty(24), np.empty(24), np.empty(24)
    t = np.empty(24)
    K, L, T = np.empty(Z.shape), np.empty(Z.shape), np.empty(Z.shape)
    moving = Z.shape[1] > 0
    for i in range(first, last):
        if arrays.first_event[i + 1] > arrays.first_event[i]:
            meet_events(arrays, i, c0, y, Z)
        for j in range(24):
            nodes[i, 0, j] = y[j]
        enter(kind, y, R)
        h = arrays.h[i]
        Pa, Pb, Pc = arrays.stages[i, 0], arrays.stages[i, 1], arrays.stages[i, 2]
        rates(kind, y, R, Pa, c0, k1)
        for j in range(12):
            slopes[i, j] = k1[j]
        if moving:
            linear_rates(kind, y, R, Pa, c0, Z, K)
        if scheme == EULER:
            _move(count, h, y, k1, y)
            if moving:
                _add(Z, h, K, Z)
        else:
            _move(count, 0.5 * h, y, k1, t)
            rates(kind, t, R, Pb, c0, k2)
            if moving:
                _add(Z, 0.5 * h, K, T)
                linear_rates(kind, t, R, Pb, c0, T, L)
                _add(K, 2.0, L, K)
                _add(Z, 0.5 * h, L, T)
            _move(count, 0.5 * h, y, k2, t)
            rates(kind, t, R, Pb, c0, k3)
            if moving:
                linear_rates(kind, t, R, Pb, c0, T, L)
                _add(K, 2.0, L, K)
                _add(Z, h, L, T)
            _move(count, h, y, k3, t)
            rates(kind, t, R, Pc, c0, k4)
            if moving:
                linear_rates(kind, t, R, Pc, c0, T, L)
                _add(K, 1.0, L, K)
                _add(Z, h / 6.0, K, Z)
            for j in range(count):
                y[j] += h / 6.0 * (k1[j] + 2.0 * (k2[j] + k3[j]) + k4[j])
        leave(kind, y, R, nodes[i, 1])
        for j in range(24):
            y[j] = nodes[i, 1, j]
    if last == len(arrays.h):
        meet_events(arrays, last, c0, y, Z)


@kernel
def end_slopes(kind, arrays, c0, nodes, out):  # type: ignore[no-untyped-def]
    """Derivative of wrench and velocity (N, 12) at the end of each interval."""
    y, R, k = np.empty(24), np.empty(9), np.empty(24)
    for i in range(len(arrays.h)):
        for j in range(24):
            y[j] = nodes[i, 1, j]
        enter(kind, y, R)
        rates(kind, y, R, arrays.stages[i, 2], c0, k)
        for j in range(12):
            out[i, j] = k[j]
