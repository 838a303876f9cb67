"""Friction of tendons in channels: the capstan formula at every station.

The table of a channel (`channel`) cuts it into pieces: station k has the length l_k = w_k |t_k| and the
tension T_k. On the way from station k - 1 to station k the tendon turns by the angle phi_k, and

    T_k = T_{k-1} exp(-mu phi_k sigma_k),

with sigma_k from the rate s_k = -d/dt sum_{j >= k} l_j at which the tendon slides there, or from the
way, as in `capstan`. So the power lost, sum_k (T_{k-1} - T_k) s_k, is never negative, and with the
power that the rods get it makes up that of the pulled end.
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel
from pliant.physics.capstan import at_rest, turn
from pliant.physics.channel import DDX, DDY, DX, DY, STEP, WEIGHT, X, Y, gradient, tangent

_STRAIGHT = 1e-12
"""Part of the square of a tangent below which a channel does not turn there."""


@inner
def _to_strains(P, felt, d, scale, out):  # type: ignore[no-untyped-def]
    """out (6,) += scale times the derivative in the strains of what has the derivative d (3,) in t."""
    x, y = P[X], P[Y]
    out[0] += scale * felt[0] * y * d[2]
    out[1] -= scale * felt[1] * x * d[2]
    out[2] += scale * felt[2] * (x * d[1] - y * d[0])
    for i in range(3):
        out[3 + i] += scale * felt[3 + i] * d[i]


@inner
def _turning(P, e, felt, scale, out):  # type: ignore[no-untyped-def]
    """How much a channel turns per metre of its rod, rad/m; out (6,) += scale times its derivative.

    Seen from the world, t = v + u x r + r' turns by |t x a| / |t|^2 with a = u x (t + r') + r'', where
    what comes from changes of the strains along s is left out.
    """
    t = tangent(P, e)
    b0, b1, b2 = t[0] + P[DX], t[1] + P[DY], t[2]
    a0 = e[1] * b2 - e[2] * b1 + P[DDX]
    a1 = e[2] * b0 - e[0] * b2 + P[DDY]
    a2 = e[0] * b1 - e[1] * b0
    c0, c1, c2 = t[1] * a2 - t[2] * a1, t[2] * a0 - t[0] * a2, t[0] * a1 - t[1] * a0
    S = t[0] * t[0] + t[1] * t[1] + t[2] * t[2]
    size = math.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
    if size <= _STRAIGHT * S or scale == 0.0:
        return size / S
    c0, c1, c2 = c0 / size, c1 / size, c2 / size
    # d|t x a| = (a x c) . dt + m . da with m = c x t, and da = du x b + u x dt
    m0, m1, m2 = c1 * t[2] - c2 * t[1], c2 * t[0] - c0 * t[2], c0 * t[1] - c1 * t[0]
    d, two = np.empty(3), 2.0 * size / S
    d[0] = (a1 * c2 - a2 * c1 + m1 * e[2] - m2 * e[1] - two * t[0]) / S
    d[1] = (a2 * c0 - a0 * c2 + m2 * e[0] - m0 * e[2] - two * t[1]) / S
    d[2] = (a0 * c1 - a1 * c0 + m0 * e[1] - m1 * e[0] - two * t[2]) / S
    _to_strains(P, felt, d, scale, out)
    out[0] += scale * felt[0] * (b1 * m2 - b2 * m1) / S
    out[1] += scale * felt[1] * (b2 * m0 - b0 * m2) / S
    out[2] += scale * felt[2] * (b0 * m1 - b1 * m0) / S
    return size / S


@kernel
def set_pieces(rows, felt, e, first, lengths, slopes):  # type: ignore[no-untyped-def]
    """Lengths (1, N) of the pieces of a channel, from `first` on, and their derivatives (N, 6)."""
    for s in range(rows.shape[0]):
        k = first + s
        lengths[0, k] = rows[s, WEIGHT] * gradient(rows[s], e[s], felt, slopes[k])
        for i in range(6):
            slopes[k, i] *= rows[s, WEIGHT]


@kernel
def set_turns(rows, tail, felt, e, first, phi, here, back):  # type: ignore[no-untyped-def]
    """Angles phi (N + 1,) on the way to the stations of a channel, from `first` on.

    here, back (N + 1, 6) : their derivatives in the strains of station k and of station k - 1. The
    tail, m, turns on the way to what follows.
    """
    S = rows.shape[0]
    if first == 0:
        phi[0] = 0.0
        for i in range(6):
            here[0, i] = back[0, i] = 0.0
    for s in range(S):
        k = first + s
        ahead = 0.5 * rows[s + 1, STEP] if s + 1 < S else tail
        behind = rows[s, STEP] * (0.5 if s > 0 else 1.0)
        phi[k + 1] = 0.0
        for i in range(6):
            here[k + 1, i] = back[k + 1, i] = 0.0
        rate = _turning(rows[s], e[s], felt, behind, here[k])
        _turning(rows[s], e[s], felt, ahead, back[k + 1])
        phi[k] += behind * rate
        phi[k + 1] += ahead * rate


@kernel
def add_kink(P, e, before, felt, Q, f, after, felt_after, at, phi, here, back):  # type: ignore[no-untyped-def]
    """phi[at] += angle between the ends of two channels with rows P, Q at strains e, f (6,).

    before, after (3, 3) : turn the axes of both to common ones. here, back (N + 1, 6) : derivatives.
    """
    t, u = tangent(P, e), tangent(Q, f)
    a, b, da, db = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(3):
        for j in range(3):
            a[i] += before[i, j] * t[j]
            b[i] += after[i, j] * u[j]
    phi[at] += turn(a, b, da, db)
    d, g = np.zeros(3), np.zeros(3)
    for i in range(3):
        for j in range(3):
            d[j] += before[i, j] * da[i]
            g[j] += after[i, j] * db[i]
    _to_strains(P, felt, d, 1.0, back[at])
    _to_strains(Q, felt_after, g, 1.0, here[at])


@inner
def _slid(rates, ends, h, k):  # type: ignore[no-untyped-def]
    """What the piece k adds to the rate of sliding."""
    return -rates[k] if h == 0.0 else (ends[0, k] - ends[1, k]) / h


@kernel
def set_shares(  # type: ignore[no-untyped-def]
    rule, phi, lengths, ends, rates, still, was, speed, h, share, sigma, steep
):
    """The part share (N,) of a pull that arrives at the stations, sigma (N,) and how it changes.

    rule : of `capstan.set_capstan`. lengths (1, N) at one configuration, or ends (2, N) of a step of h
    seconds; rates (N,) of the pieces, and their derivative `speed`. still, was : as of `set_capstan`.
    steep (N,) : derivative of sigma in what has slid.
    """
    N, slid = share.shape[0], 0.0
    for k in range(N - 1, -1, -1):
        if still:
            sigma[k], steep[k] = at_rest(rule, k, lengths, was)
            continue
        slid += _slid(rates, ends, h, k)
        size = math.sqrt(slid * slid + rule[1] * rule[1])
        sigma[k] = slid / size
        steep[k] = rule[1] * rule[1] / size**3 * (1.0 / h if h > 0.0 else speed)
    log = 0.0
    for k in range(N):
        log -= rule[0] * phi[k] * sigma[k]
        share[k] = math.exp(log)


@kernel
def add_loss(tension, share, rates, ends, h, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale times the power lost where a part share (N,) of tension_0 arrives."""
    N, slid, last = share.shape[0], 0.0, 1.0
    for k in range(N):
        slid += _slid(rates, ends, h, k)
    for k in range(N):
        out[0] += scale * tension[0] * (last - share[k]) * slid
        slid -= _slid(rates, ends, h, k)
        last = share[k]


@kernel
def set_rates(slopes, rate, first, out):  # type: ignore[no-untyped-def]
    """Rates (N,) of the pieces of a channel, from `first` on, at strain rates (S, 6)."""
    for s in range(rate.shape[0]):
        k = first + s
        out[k] = 0.0
        for i in range(6):
            out[k] += slopes[k, i] * rate[s, i]


@kernel
def set_turn_columns(here, back, D, share, out):  # type: ignore[no-untyped-def]
    """out (N, n) = `share` of the derivatives of the angles, D (N, 6, n) being those of the strains."""
    N, _, n = D.shape
    for k in range(N):
        for a in range(n):
            out[k, a] = 0.0
        for i in range(6):
            v = share * here[k, i]
            for a in range(n):
                out[k, a] += v * D[k, i, a]
            if k > 0:
                v = share * back[k, i]
                for a in range(n):
                    out[k, a] += v * D[k - 1, i, a]


@kernel
def set_length_columns(slopes, D, out):  # type: ignore[no-untyped-def]
    """out (N, n) = derivatives of the lengths of the pieces with slopes (N, 6)."""
    N, _, n = D.shape
    for k in range(N):
        for a in range(n):
            out[k, a] = 0.0
        for i in range(6):
            v = slopes[k, i]
            if v != 0.0:
                for a in range(n):
                    out[k, a] += v * D[k, i, a]


@kernel
def add_block(  # type: ignore[no-untyped-def]
    friction,
    tension,
    slope,
    phi,
    share,
    sigma,
    steep,
    left,
    turns,
    right,
    reel,
    unreeled,
    scale,
    ahead,
    block,
):
    """block (n, n) += scale sum_k left_k^T d(tension of k), all of whose derivatives are (N, n).

    tension_0, slope_0 : of the pulled end, and its derivative in the length. left, right : derivatives
    of the lengths of the pieces, of those that are pulled and of those that slide; turns : of the
    angles. reel, unreeled (n,) : the same of the way to a reel, which has the tension of the pulled
    end. ahead (N, n) : workspace.
    """
    N, n = left.shape
    log, d = np.zeros(n), np.zeros(n)
    for a in range(n):
        ahead[N - 1, a] = right[N - 1, a]
    for k in range(N - 2, -1, -1):
        for a in range(n):
            ahead[k, a] = ahead[k + 1, a] + right[k, a]
    for k in range(N):
        w, rise = friction * sigma[k], friction * phi[k] * steep[k]
        pull, first = scale * share[k] * tension[0], scale * share[k] * slope[0]
        for a in range(n):
            log[a] += rise * ahead[k, a] - w * turns[k, a]
            d[a] = pull * log[a] + first * (ahead[0, a] + unreeled[a])
        for a in range(n):
            v = left[k, a]
            if v != 0.0:
                for b in range(n):
                    block[a, b] += v * d[b]
    for a in range(n):
        v = scale * reel[a] * slope[0]
        if v != 0.0:
            for b in range(n):
                block[a, b] += v * (ahead[0, b] + unreeled[b])


@kernel
def set_section_shares(rows, friction, e, ahead, start, where, sigma, share):  # type: ignore[no-untyped-def]
    """Part (S,) of a pull that arrives at sections with strains e (S, 6).

    start (1,) : the part at the first station of the channel, which the first section is `ahead` of, m.
    where (S,) : places of the sections among the N stations, at which sigma (N,) is known.
    """
    none = np.zeros(6)
    before, log = -1.0, 0.0
    for s in range(rows.shape[0]):
        here = _turning(rows[s], e[s], none, 0.0, none)
        k = max(min(int(where[s]), sigma.shape[0] - 2), 0)
        part = min(where[s] - k, 1.0)
        mean = sigma[k] if sigma.shape[0] == 1 else (1.0 - part) * sigma[k] + part * sigma[k + 1]
        turned = ahead * here if before < 0.0 else 0.5 * rows[s, STEP] * (before + here)
        log -= friction * mean * turned
        before = here
        share[s] = start[0] * math.exp(log)
