"""Variations of what sits between pieces: loads, bodies and joints; and the products they are made of.

A variation is a matrix (3, U), one column for each unknown; see `collocation_tangent`.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.bvp.arrays import BODY, JOINT, LOAD
from pliant.bvp.collocation_balance import body_wrench, point_force, read_section
from pliant.bvp.collocation_kernels import back
from pliant.lie.tuples import apply as turned
from pliant.lie.tuples import multiply as times
from pliant.lie.tuples import transpose


@leaf
def skew(a):  # type: ignore[no-untyped-def]
    """Matrix of the cross product a x."""
    return 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0


@leaf
def plus(A, f, B):  # type: ignore[no-untyped-def]
    """A + f B."""
    return (
        A[0] + f * B[0], A[1] + f * B[1], A[2] + f * B[2],
        A[3] + f * B[3], A[4] + f * B[4], A[5] + f * B[5],
        A[6] + f * B[6], A[7] + f * B[7], A[8] + f * B[8],
    )  # fmt: skip


@leaf
def diagonal(a, b, c):  # type: ignore[no-untyped-def]
    """Diagonal matrix."""
    return a, 0.0, 0.0, 0.0, b, 0.0, 0.0, 0.0, c


@leaf
def conjugated(R, a, b, c):  # type: ignore[no-untyped-def]
    """R diag(a, b, c) R^T."""
    return times(times(R, diagonal(a, b, c)), transpose(R))


@kernel
def add_product(A, x, out):  # type: ignore[no-untyped-def]
    """out (3, U) += A x."""
    for j in range(x.shape[1]):
        a, b, c = x[0, j], x[1, j], x[2, j]
        out[0, j] += A[0] * a + A[1] * b + A[2] * c
        out[1, j] += A[3] * a + A[4] * b + A[5] * c
        out[2, j] += A[6] * a + A[7] * b + A[8] * c


@kernel
def set_product(A, x, out):  # type: ignore[no-untyped-def]
    """out (3, U) = A x."""
    for j in range(x.shape[1]):
        a, b, c = x[0, j], x[1, j], x[2, j]
        out[0, j] = A[0] * a + A[1] * b + A[2] * c
        out[1, j] = A[3] * a + A[4] * b + A[5] * c
        out[2, j] = A[6] * a + A[7] * b + A[8] * c


@kernel
def vary_events_forward(events, first, last, sections, now, section_dV):  # type: ignore[no-untyped-def]
    """Take the variations `now` (12, U) of theta, p, W, V over events."""
    for e in range(first, last):
        section_dV[e] = now[9:12]
        if events.kind[e] != JOINT:
            continue
        R, W, _ = read_section(sections[e])
        joint = events.joints[events.row[e]]
        arm = skew(turned(R, (-joint[9], -joint[10], -joint[11])))
        add_product(arm, now[:3], now[3:6])
        add_product(arm, now[6:9], now[9:12])
        add_product(times(skew(W), arm), now[:3], now[9:12])


@kernel
def _meet_body(events, row, c0, section, theta, dW, dV, dN, dM):  # type: ignore[no-untyped-def]
    """Add what a body's inertia and weight vary by."""
    R, W, V = read_section(section)
    w, q = back(R, W), back(R, V)
    mass, weight = events.mass[row], events.weight[row]
    b = np.empty(6)
    body_wrench(mass, events.history[row], c0, w, q, b)
    # derivative of the body wrench in eta, by columns; it is quadratic in eta
    D, one, two = np.empty((6, 6)), np.empty(6), np.empty(6)
    none = np.zeros(6)
    for j in range(6):
        x, y = (none.copy(), none.copy())
        for i in range(3):
            x[i] = y[i] = w[i]
            x[3 + i] = y[3 + i] = q[i]
        x[j] += 1.0
        y[j] -= 1.0
        body_wrench(mass, none, c0, (x[0], x[1], x[2]), (x[3], x[4], x[5]), one)
        body_wrench(mass, none, c0, (y[0], y[1], y[2]), (y[3], y[4], y[5]), two)
        for i in range(6):
            D[i, j] = 0.5 * (one[i] - two[i])
    for part in range(2):
        out = dM if part == 0 else dN
        i = 3 * part
        blocks = (
            (D[i, 0], D[i, 1], D[i, 2], D[i + 1, 0], D[i + 1, 1], D[i + 1, 2],
             D[i + 2, 0], D[i + 2, 1], D[i + 2, 2]),
            (D[i, 3], D[i, 4], D[i, 5], D[i + 1, 3], D[i + 1, 4], D[i + 1, 5],
             D[i + 2, 3], D[i + 2, 4], D[i + 2, 5]),
        )  # fmt: skip
        X, Y = times(times(R, blocks[0]), transpose(R)), times(times(R, blocks[1]), transpose(R))
        push = turned(R, (b[i], b[i + 1], b[i + 2]))
        T = plus(times(X, skew(W)), 1.0, times(Y, skew(V)))
        T = plus(skew(push), -1.0, T)
        add_product(T, theta, out)
        add_product(times(diagonal(-1.0, -1.0, -1.0), X), dW, out)
        add_product(times(diagonal(-1.0, -1.0, -1.0), Y), dV, out)
    g = (
        weight[0] * events.gravity[0],
        weight[0] * events.gravity[1],
        weight[0] * events.gravity[2],
    )
    arm = turned(R, (weight[1], weight[2], weight[3]))
    add_product(times(skew(g), skew(arm)), theta, dM)


@kernel
def vary_events_backward(events, first, last, c0, sections, force, theta, dW, section_dV, dN, dM):  # type: ignore[no-untyped-def]
    """Take the variations dN, dM (3, U) over events; `force` (3,) is the one beyond the events."""
    N = (force[0], force[1], force[2])
    for e in range(last - 1, first - 1, -1):
        R, _, _ = read_section(sections[e])
        row = events.row[e]
        if events.kind[e] == LOAD:
            load = events.loads[row]
            push, follower, arm = point_force(load, R)
            turn = turned(R, (load[9], load[10], load[11]))
            back_turned = skew((-follower[0], -follower[1], -follower[2]))
            add_product(back_turned, theta, dN)
            A = plus(times(skew(push), skew(arm)), 1.0, times(skew(arm), back_turned))
            add_product(plus(A, -1.0, skew(turn)), theta, dM)
            N = (N[0] + push[0], N[1] + push[1], N[2] + push[2])
        elif events.kind[e] == BODY:
            _meet_body(events, row, c0, sections[e], theta, dW, section_dV[e], dN, dM)
            b = np.empty(6)
            R, W, V = read_section(sections[e])
            body_wrench(events.mass[row], events.history[row], c0, back(R, W), back(R, V), b)
            push = turned(R, (b[3], b[4], b[5]))
            f = events.weight[row, 0]
            N = (
                N[0] + f * events.gravity[0] - push[0],
                N[1] + f * events.gravity[1] - push[1],
                N[2] + f * events.gravity[2] - push[2],
            )
        else:
            joint = events.joints[row]
            arm = skew(turned(R, (joint[9], joint[10], joint[11])))
            add_product(times(skew(N), arm), theta, dM)
            add_product(arm, dN, dM)
