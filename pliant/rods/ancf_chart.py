"""The Newton chart of an ANCF rod: slopes and chords between nodes turn and stretch.

A vector c moved by x gets the length |c| + x.d and turns from its direction d by x_perp / |c|, which
keeps lengths where straight moves of the nodes would stretch the rod. Its second derivative is

    f.c'' = (2 (d.x) (f.x_perp) - (f.d) |x_perp|^2) / |c|.

Nodes (N + 1, 2 d) hold position and slope; q (1 + 2 d N,) is the stretch of the first slope, then all
nodes but the first.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf


@kernel
def set_nodes(q, nodes):  # type: ignore[no-untyped-def]
    """nodes from q; position and direction of the first one are constant."""
    N, width = nodes.shape
    nodes[0, width - 1] = q[0]
    for n in range(1, N):
        for i in range(width):
            nodes[n, i] = q[1 + (n - 1) * width + i]


@kernel
def advance(nodes, x, out):  # type: ignore[no-untyped-def]
    """out = q after the variation x, both (1 + 2 d N,)."""
    N, width = nodes.shape
    d = width // 2
    chord, step, place = np.empty(d), np.empty(d), np.zeros(d)
    out[0] = nodes[0, width - 1] + x[0]
    for n in range(1, N):
        at = 1 + (n - 1) * width
        for i in range(d):
            chord[i] = nodes[n, i] - nodes[n - 1, i]
            step[i] = x[at + i] - (x[at - width + i] if n > 1 else 0.0)
        turn(chord, step, out[at : at + d])
        for i in range(d):
            place[i] += out[at + i]
            out[at + i] = place[i]
        turn(nodes[n, d:], x[at + d : at + width], out[at + d : at + width])


@leaf
def _along(vector, other):  # type: ignore[no-untyped-def]
    """Length of a vector (d,), and the part of another one along it."""
    square = 0.0
    part = 0.0
    for i in range(vector.shape[0]):
        square += vector[i] * vector[i]
        part += vector[i] * other[i]
    length = np.sqrt(square)
    return length, part / length


@kernel
def turn(vector, move, out):  # type: ignore[no-untyped-def]
    """out (d,): a vector moved, its length by the part along it, turned by the rest."""
    d = vector.shape[0]
    length, grow = _along(vector, move)
    angle = 0.0
    for i in range(d):
        side = (move[i] - grow * vector[i] / length) / length
        angle += side * side
    angle = np.sqrt(angle)
    cosine, sinc = np.cos(angle), (np.sin(angle) / angle if angle > 1e-9 else 1.0)
    for i in range(d):
        along = vector[i] / length
        out[i] = (length + grow) * (cosine * along + sinc * (move[i] - grow * along) / length)


@kernel
def add_second(nodes, balance, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of the chart, felt by balance (1 + 2 d N,), to K (N, m, m).

    A chord carries the residual of all nodes beyond it.
    """
    N, width = nodes.shape
    d = width // 2
    chord, beyond = np.empty(d), np.zeros(d)
    H = np.empty((d, d))
    for n in range(N - 1, 0, -1):
        at = 1 + (n - 1) * width
        for i in range(d):
            chord[i] = nodes[n, i] - nodes[n - 1, i]
            beyond[i] += balance[at + i]
        bend(chord, beyond, H)
        a, b, k = 6, 6 + width, K[n - 1]
        for i in range(d):
            for j in range(d):
                k[a + i, a + j] += H[i, j]
                k[b + i, b + j] += H[i, j]
                k[a + i, b + j] -= H[i, j]
                k[b + i, a + j] -= H[i, j]
        bend(nodes[n, d:], balance[at + d : at + width], H)
        for i in range(d):
            for j in range(d):
                k[b + d + i, b + d + j] += H[i, j]


@kernel
def bend(vector, force, H):  # type: ignore[no-untyped-def]
    """H (d, d): second derivative of force.(vector in the chart of `turn`) at no move."""
    d = vector.shape[0]
    length, push = _along(vector, force)
    for i in range(d):
        for j in range(d):
            a, b = vector[i] / length, vector[j] / length
            mixed = a * (force[j] - push * b) + b * (force[i] - push * a)
            flat = (1.0 if i == j else 0.0) - a * b
            H[i, j] = (mixed - push * flat) / length
