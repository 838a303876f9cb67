"""Body velocities and accelerations of what moves along exp in a chart: g(t) = g_0 exp(D(t)).

With the bracket [x, y] = ad(x) y of SE(3) or SO(3),

    v = dexp(-D) D' = u_0 + u_1 + u_2 + ...,   u_0 = D',   u_k = -[D, u_{k-1}] / (k + 1),

and the time derivative of this series is the acceleration v'.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel

_TERMS, _ENOUGH = 60, 1e-17
"""Most terms of a series, and the part of the first one at which it ends."""


@kernel
def set_chart_rates(poses, rotations, X, W, Y, v, acc):  # type: ignore[no-untyped-def]
    """Write v and acc (n,) of a chart with coordinates X, rates W and second derivatives Y (n,).

    poses (P, 6), rotations (R, 3) : places of twists and rotation vectors; all else is plain numbers.
    Of twists in a plane, three places are -1.
    """
    for i in range(W.shape[0]):
        v[i], acc[i] = W[i], Y[i]
    work = np.empty((5, 6))
    for k in range(poses.shape[0]):
        if poses[k, 0] < 0 or poses[k, 1] < 0:
            _add_flat_series(poses[k], X, W, v, acc)
        else:
            _add_series(poses[k], X, W, work, v, acc)
    for k in range(rotations.shape[0]):
        _add_series(rotations[k], X, W, work, v, acc)


@inner
def _add_series(places, X, W, work, v, acc):  # type: ignore[no-untyped-def]
    """Add all terms but the first of one twist or rotation vector."""
    n = len(places)
    D, rate, u, du, new = work[0], work[1], work[2], work[3], work[4]
    size = 0.0
    for i in range(n):
        at = places[i]
        D[i], rate[i], u[i], du[i] = X[at], W[at], v[at], acc[at]
        size = max(size, abs(v[at]), abs(acc[at]))
    for k in range(1, _TERMS):
        largest = 0.0
        scale = -1.0 / (k + 1.0)
        # du first, for it needs the last u
        for i in range(n):
            new[i] = 0.0
        _add_bracket(n, D, du, scale, new)
        _add_bracket(n, rate, u, scale, new)
        for i in range(n):
            du[i], new[i] = new[i], 0.0
        _add_bracket(n, D, u, scale, new)
        for i in range(n):
            u[i] = new[i]
            v[places[i]] += u[i]
            acc[places[i]] += du[i]
            largest = max(largest, abs(u[i]), abs(du[i]))
        if not largest > _ENOUGH * size:
            return


@inner
def _add_flat_series(places, X, W, v, acc):  # type: ignore[no-untyped-def]
    """The same for a twist in a plane: after the first bracket, (w, d) turns u by w J."""
    k = 0
    while places[k] < 0:
        k += 1
    i, j = places[3 + (k + 1) % 3], places[3 + (k + 2) % 3]
    w, di, dj = X[places[k]], X[i], X[j]
    rate, ri, rj = W[places[k]], v[i], v[j]
    second, si, sj = acc[places[k]], acc[i], acc[j]
    size = max(abs(rate), abs(ri), abs(rj), abs(second), abs(si), abs(sj))
    # u = -[D, D'] / 2 and its derivative -[D, D''] / 2
    ui, uj = 0.5 * (w * rj - rate * dj), 0.5 * (rate * di - w * ri)
    fi, fj = 0.5 * (w * sj - second * dj), 0.5 * (second * di - w * si)
    for n in range(2, _TERMS):
        v[i] += ui
        v[j] += uj
        acc[i] += fi
        acc[j] += fj
        if not max(abs(ui), abs(uj), abs(fi), abs(fj)) > _ENOUGH * size:
            return
        scale = 1.0 / (n + 1.0)
        fi, fj = scale * (w * fj + rate * uj), -scale * (w * fi + rate * ui)
        ui, uj = scale * w * uj, -scale * w * ui


@inner
def _add_bracket(n, x, y, scale, out):  # type: ignore[no-untyped-def]
    """out += scale [x, y]: x cross y of three, twists (angular part first) of six."""
    out[0] += scale * (x[1] * y[2] - x[2] * y[1])
    out[1] += scale * (x[2] * y[0] - x[0] * y[2])
    out[2] += scale * (x[0] * y[1] - x[1] * y[0])
    if n == 6:
        out[3] += scale * (x[1] * y[5] - x[2] * y[4] + x[4] * y[2] - x[5] * y[1])
        out[4] += scale * (x[2] * y[3] - x[0] * y[5] + x[5] * y[0] - x[3] * y[2])
        out[5] += scale * (x[0] * y[4] - x[1] * y[3] + x[3] * y[1] - x[4] * y[0])
