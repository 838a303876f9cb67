"""Dead and follower wrenches on frames.

A load enters as the gradient p (S, 6) of its potential (minus the wrench) in the body frame, and the
derivative k (S, 6, 6) of that gradient in the chart g exp(x) of the station:

    dead force F       p = -(0, f),  f = R^T F    k = 1/2 [[0, f^], [-f^, 0]]   (symmetric)
    dead moment M      p = -(m, 0),  m = R^T M    k = -1/2 [[m^, 0], [0, 0]]    (not symmetric)
    follower (m, f)    p = -(m, f)                k = 1/2 [[m^, f^], [f^, 0]]   (not symmetric)
"""

from __future__ import annotations

from pliant._numba import kernel, leaf


@leaf
def _add_hat(k, row, col, a0, a1, a2, scale):  # type: ignore[no-untyped-def]
    k[row, col + 1] -= scale * a2
    k[row, col + 2] += scale * a1
    k[row + 1, col] += scale * a2
    k[row + 1, col + 2] -= scale * a0
    k[row + 2, col] -= scale * a1
    k[row + 2, col + 1] += scale * a0


@kernel
def add_dead(g, w, p, k):  # type: ignore[no-untyped-def]
    """World-fixed wrenches w (S, 6) = (moment, force) at the origins of g (S, 4, 4)."""
    for s in range(g.shape[0]):
        R = g[s]
        m0 = R[0, 0] * w[s, 0] + R[1, 0] * w[s, 1] + R[2, 0] * w[s, 2]
        m1 = R[0, 1] * w[s, 0] + R[1, 1] * w[s, 1] + R[2, 1] * w[s, 2]
        m2 = R[0, 2] * w[s, 0] + R[1, 2] * w[s, 1] + R[2, 2] * w[s, 2]
        f0 = R[0, 0] * w[s, 3] + R[1, 0] * w[s, 4] + R[2, 0] * w[s, 5]
        f1 = R[0, 1] * w[s, 3] + R[1, 1] * w[s, 4] + R[2, 1] * w[s, 5]
        f2 = R[0, 2] * w[s, 3] + R[1, 2] * w[s, 4] + R[2, 2] * w[s, 5]
        p[s, 0] -= m0
        p[s, 1] -= m1
        p[s, 2] -= m2
        p[s, 3] -= f0
        p[s, 4] -= f1
        p[s, 5] -= f2
        _add_hat(k[s], 0, 3, f0, f1, f2, 0.5)
        _add_hat(k[s], 3, 0, f0, f1, f2, -0.5)
        _add_hat(k[s], 0, 0, m0, m1, m2, -0.5)


@kernel
def add_follower(w, p, k):  # type: ignore[no-untyped-def]
    """Body-fixed wrenches w (S, 6) = (moment, force)."""
    for s in range(w.shape[0]):
        for i in range(6):
            p[s, i] -= w[s, i]
        _add_hat(k[s], 0, 0, w[s, 0], w[s, 1], w[s, 2], 0.5)
        _add_hat(k[s], 0, 3, w[s, 3], w[s, 4], w[s, 5], 0.5)
        _add_hat(k[s], 3, 0, w[s, 3], w[s, 4], w[s, 5], 0.5)


@kernel
def add_loads(g, dead, follower, p, k):  # type: ignore[no-untyped-def]
    """`add_dead` and `add_follower` of wrenches (S, 6) at the stations g (S, 4, 4)."""
    add_dead(g, dead, p, k)
    add_follower(follower, p, k)
