"""Rods against rods: closest points between smooth segments.

Between two stations the centre line is the cubic x(t) through both, with tangents l R e3, l the length
of the segment at rest. With x_A(t), x_B(u), D = |x_A - x_B| and n = (x_A - x_B) / D,

    phi = max over t, u in [0, 1] of  r_A(t) + r_B(u) - D.

Each segment of the first rod is a row; the segment of the second rod that it meets is the one with the
largest phi. Slopes need no derivatives of t and u, second derivatives are those of phi(x, t, u) reduced
by the t and u that are free:  F_xx - F_xt F_tt^-1 F_tx.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie.leaves import add_hat
from pliant.rods.contract import Array, Ints

_GROUP = 8
"""Segments that the first search takes together."""
_ITERATIONS = 12


class Segments(NamedTuple):
    """Segments of two rods.

    first (M + 1,), second (N + 1,) : stations of the pool at their ends, in order.  r_first, r_second :
    radii there; s_first, s_second : arclengths there, m.  apart : arclength below which two segments
    never meet, where both rods are one; negative where they are two.  near : distance between surfaces
    up to which closest points are found, m.
    """

    first: Ints
    second: Ints
    r_first: Array
    r_second: Array
    s_first: Array
    s_second: Array
    apart: float
    near: float


@inner
def _weights(t, h, dh, ddh):  # type: ignore[no-untyped-def]
    """Cubic weights (4,) of position, tangent, position, tangent at t, and their derivatives."""
    a, b = t * t, t * t * t
    h[0], h[1], h[2], h[3] = 2.0 * b - 3.0 * a + 1.0, b - 2.0 * a + t, 3.0 * a - 2.0 * b, b - a
    dh[0], dh[1] = 6.0 * (a - t), 3.0 * a - 4.0 * t + 1.0
    dh[2], dh[3] = 6.0 * (t - a), 3.0 * a - 2.0 * t
    ddh[0], ddh[1], ddh[2], ddh[3] = 12.0 * t - 6.0, 6.0 * t - 4.0, 6.0 - 12.0 * t, 6.0 * t - 2.0


@inner
def _along(G, a, b, length, h, x):  # type: ignore[no-untyped-def]
    """x (3,) = h . (p_a, l R_a e3, p_b, l R_b e3)."""
    for j in range(3):
        x[j] = h[0] * G[a, j, 3] + h[2] * G[b, j, 3]
        x[j] += length * (h[1] * G[a, j, 2] + h[3] * G[b, j, 2])


class Pair(NamedTuple):
    """Workspace of two segments: weights h (2, 3, 4) and points x (2, 3, 3) with two derivatives."""

    h: Array
    x: Array
    n: Array


@inner
def _evaluate(G, ends, lengths, t, u, pair):  # type: ignore[no-untyped-def]
    """Set weights, points, derivatives and normal of a pair; returns the distance."""
    for k, at in ((0, t), (1, u)):
        _weights(at, pair.h[k, 0], pair.h[k, 1], pair.h[k, 2])
        for d in range(3):
            _along(G, ends[2 * k], ends[2 * k + 1], lengths[k], pair.h[k, d], pair.x[k, d])
    far = 0.0
    for j in range(3):
        pair.n[j] = pair.x[0, 0, j] - pair.x[1, 0, j]
        far += pair.n[j] ** 2
    far = math.sqrt(far)
    for j in range(3):
        pair.n[j] = pair.n[j] / far if far > 0.0 else 0.0
    return far


@inner
def _slopes(pair, far, dr, ds, F):  # type: ignore[no-untyped-def]
    """First and second derivatives F = (t, u, tt, uu, tu) of phi in t and u; radii change by dr, ds."""
    x, n = pair.x, pair.n
    tt, uu, tu, nt, nu, nnt, nnu = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(3):
        nt += n[j] * x[0, 1, j]
        nu += n[j] * x[1, 1, j]
        nnt += n[j] * x[0, 2, j]
        nnu += n[j] * x[1, 2, j]
        tt += x[0, 1, j] ** 2
        uu += x[1, 1, j] ** 2
        tu += x[0, 1, j] * x[1, 1, j]
    F[0], F[1] = dr - nt, ds + nu
    F[2] = -(tt - nt * nt) / far - nnt
    F[3] = -(uu - nu * nu) / far + nnu
    F[4] = (tu - nt * nu) / far


@inner
def _closest(G, ends, lengths, r, pair, F, place):  # type: ignore[no-untyped-def]
    """Find t, u of the largest phi from those in place (2,); returns phi. r (4,) : radii at ends."""
    dr, ds = r[1] - r[0], r[3] - r[2]
    t, u = place[0], place[1]
    far = _evaluate(G, ends, lengths, t, u, pair)
    best = r[0] + t * dr + r[2] + u * ds - far
    for _ in range(_ITERATIONS):
        if far == 0.0:
            break
        _slopes(pair, far, dr, ds, F)
        free_t = not ((t <= 0.0 and F[0] <= 0.0) or (t >= 1.0 and F[0] >= 0.0))
        free_u = not ((u <= 0.0 and F[1] <= 0.0) or (u >= 1.0 and F[1] >= 0.0))
        a, b, c = min(F[2], -1e-12), min(F[3], -1e-12), F[4]
        det = a * b - c * c
        dt, du = 0.0, 0.0
        if free_t and free_u and det > 1e-10 * a * b:
            dt, du = -(b * F[0] - c * F[1]) / det, -(a * F[1] - c * F[0]) / det
        else:
            dt = -F[0] / a if free_t else 0.0
            du = -F[1] / b if free_u and not free_t else 0.0
            if free_t and free_u and abs(F[1]) > abs(F[0]):
                dt, du = 0.0, -F[1] / b
        step = 1.0
        while step > 1e-3:
            tn, un = min(1.0, max(0.0, t + step * dt)), min(1.0, max(0.0, u + step * du))
            far_n = _evaluate(G, ends, lengths, tn, un, pair)
            value = r[0] + tn * dr + r[2] + un * ds - far_n
            if value >= best:
                break
            step *= 0.5
        if step <= 1e-3:
            far = _evaluate(G, ends, lengths, t, u, pair)
            break
        moved = abs(tn - t) + abs(un - u)
        t, u, far, best = tn, un, far_n, value
        if moved < 1e-13:
            break
    place[0], place[1] = t, u
    return best


@inner
def _guess(G, ends, start, place):  # type: ignore[no-untyped-def]
    """Closest points of the straight chords, as t and u in place (2,).

    start : 0 for those of both, 1 and 2 for that to the one or the other end of the first chord.
    """
    a0, a1, b0, b1 = ends[0], ends[1], ends[2], ends[3]
    aa, bb, ab, ad, bd = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(3):
        a, b = G[a1, j, 3] - G[a0, j, 3], G[b1, j, 3] - G[b0, j, 3]
        d = G[b0, j, 3] - G[a0, j, 3]
        aa += a * a
        bb += b * b
        ab += a * b
        ad += a * d
        bd += b * d
    det = aa * bb - ab * ab
    t = 0.5 if start == 0 else start - 1.0
    if start == 0 and det > 1e-9 * aa * bb:
        t = min(1.0, max(0.0, (ad * bb - ab * bd) / det))
    u = min(1.0, max(0.0, (ab * t - bd) / bb)) if bb > 0.0 else 0.0
    if start == 0:
        t = min(1.0, max(0.0, (ab * u + ad) / aa)) if aa > 0.0 else 0.0
    place[0], place[1] = t, u


@inner
def _ball_around(G, stations, first, last, centre):  # type: ignore[no-untyped-def]
    """Write the centre (3,) of a ball around some stations in a row; returns its radius."""
    for j in range(3):
        centre[j] = 0.0
        for k in range(first, last + 1):
            centre[j] += G[stations[k], j, 3] / (last - first + 1)
    most = 0.0
    for k in range(first, last + 1):
        far = 0.0
        for j in range(3):
            far += (G[stations[k], j, 3] - centre[j]) ** 2
        most = max(most, far)
    return math.sqrt(most)


class Ends(NamedTuple):
    """Two segments: their stations (4,), lengths (2,) and radii at the ends (4,)."""

    at: Ints
    lengths: Array
    r: Array


@inner
def _take(segments, i, j, ends):  # type: ignore[no-untyped-def]
    """Set the ends of segment i of the first rod and segment j of the second."""
    for e in range(2):
        ends.at[e], ends.at[2 + e] = segments.first[i + e], segments.second[j + e]
        ends.r[e], ends.r[2 + e] = segments.r_first[i + e], segments.r_second[j + e]
    ends.lengths[0] = segments.s_first[i + 1] - segments.s_first[i]
    ends.lengths[1] = segments.s_second[j + 1] - segments.s_second[j]


@kernel
def find_segments(segments, G, first_row, found):  # type: ignore[no-untyped-def]
    """Fill the rows of segments, from `first_row` on, at frames G (P, 4, 4).

    Balls around groups of segments, then around single ones, tell which pairs are looked at: those
    that may be near. The gap of others is a bound from these balls.
    """
    pair = Pair(np.empty((2, 3, 4)), np.empty((2, 3, 3)), np.empty(3))
    ends = Ends(np.empty(4, dtype=np.int64), np.empty(2), np.empty(4))
    N = segments.second.shape[0] - 1
    groups = (N + _GROUP - 1) // _GROUP
    around, wide, place = np.empty((groups, 3)), np.empty(groups), np.empty(2)
    for g in range(groups):
        last = min(N, (g + 1) * _GROUP)
        wide[g] = _ball_around(G, segments.second, g * _GROUP, last, around[g])
        wide[g] += 0.3 * (segments.s_second[last] - segments.s_second[g * _GROUP]) / _GROUP
    for i in range(segments.first.shape[0] - 1):
        row = first_row + i
        for k in range(4):
            found.at[row, k] = -1
        chosen, gap = _search(segments, G, i, around, wide, pair, ends, place)
        found.gap[row] = gap
        if chosen >= 0:
            _take(segments, i, chosen, ends)
            far = _evaluate(G, ends.at, ends.lengths, place[0], place[1], pair)
            ra = ends.r[0] + place[0] * (ends.r[1] - ends.r[0])
            _write(G, ends.at, ends.lengths, place, pair, ra, gap + far - ra, row, found)


@inner
def _search(segments, G, i, around, wide, pair, ends, found):  # type: ignore[no-untyped-def]
    """The segment of the second rod that segment i meets, -1 for none, and the gap to it, or a bound.

    around (g, 3), wide (g,) : balls around groups of segments.  found (2,) : t and u.
    """
    place, F, centre, other = np.empty(2), np.empty(5), np.empty(3), np.empty(3)
    chosen, best, rest, N = -1, -np.inf, -np.inf, segments.second.shape[0] - 1
    s0, s1 = segments.s_first[i], segments.s_first[i + 1]
    reach = _ball_around(G, segments.first, i, i + 1, centre) + 0.3 * (s1 - s0)
    reach += max(segments.r_first[i], segments.r_first[i + 1]) + np.max(segments.r_second)
    for g in range(around.shape[0]):
        bound = reach + wide[g] - _distance(centre, around[g])
        if bound < -segments.near:
            rest = max(rest, bound)
            continue
        for j in range(g * _GROUP, min(N, (g + 1) * _GROUP)):
            u0, u1 = segments.s_second[j], segments.s_second[j + 1]
            if segments.apart >= 0.0 and u0 - s1 < segments.apart:
                continue
            size = _ball_around(G, segments.second, j, j + 1, other) + 0.3 * (u1 - u0)
            bound = reach + size - _distance(centre, other)
            if bound < -segments.near:
                rest = max(rest, bound)
                continue
            _take(segments, i, j, ends)
            for start in range(3):
                # pieces side by side may be closest at either end
                _guess(G, ends.at, start, place)
                gap = _closest(G, ends.at, ends.lengths, ends.r, pair, F, place)
                if gap > best:
                    chosen, best = j, gap
                    found[0], found[1] = place[0], place[1]
    if chosen >= 0:
        return chosen, best
    return chosen, rest if rest > -np.inf else -reach


@inner
def _distance(a, b):  # type: ignore[no-untyped-def]
    """Between two points (3,)."""
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@inner
def _write(G, ends, lengths, place, pair, ra, rb, row, found):  # type: ignore[no-untyped-def]
    """Fill a row from two segments at their closest points, where their radii are ra and rb."""
    n = pair.n
    for k in range(2):
        found.place[row, k] = place[k]
        sign = -1.0 if k == 0 else 1.0
        for e in range(2):
            c, st = 2 * k + e, ends[2 * k + e]
            found.at[row, c] = st
            share = place[k] if e == 1 else 1.0 - place[k]
            found.weight[row, c] = -sign * share
            m0 = G[st, 0, 0] * n[0] + G[st, 1, 0] * n[1] + G[st, 2, 0] * n[2]
            m1 = G[st, 0, 1] * n[0] + G[st, 1, 1] * n[1] + G[st, 2, 1] * n[2]
            m2 = G[st, 0, 2] * n[0] + G[st, 1, 2] * n[1] + G[st, 2, 2] * n[2]
            hp, hd = pair.h[k, 0, 2 * e], lengths[k] * pair.h[k, 0, 2 * e + 1]
            out = found.slopes[row, c]
            # n . R (w x e3) = w . (e3 x m)
            out[0], out[1], out[2] = -sign * hd * m1, sign * hd * m0, 0.0
            out[3], out[4], out[5] = sign * hp * m0, sign * hp * m1, sign * hp * m2
    for j in range(3):
        found.normal[row, j] = n[j]
        found.point[row, j] = 0.5 * (pair.x[0, 0, j] + pair.x[1, 0, j] + (rb - ra) * n[j])


@kernel
def bend_segments(segments, G, first_row, found, force, out):  # type: ignore[no-untyped-def]
    """out (M, 24, 24) = force (M,) times the second derivatives of phi, where there is a force."""
    pair = Pair(np.empty((2, 3, 4)), np.empty((2, 3, 3)), np.empty(3))
    lengths, F = np.empty(2), np.empty(5)
    L, Lt, X = np.zeros((3, 24)), np.zeros((2, 3, 24)), np.empty((2, 24))
    for i in range(segments.first.shape[0] - 1):
        row = first_row + i
        ends, place, B = found.at[row], found.place[row], out[row]
        if force[row] == 0.0 or ends[0] < 0:
            continue
        j = 0
        while segments.second[j] != ends[2]:
            j += 1
        lengths[0] = segments.s_first[i + 1] - segments.s_first[i]
        lengths[1] = segments.s_second[j + 1] - segments.s_second[j]
        far = _evaluate(G, ends, lengths, place[0], place[1], pair)
        dr = segments.r_first[i + 1] - segments.r_first[i]
        ds = segments.r_second[j + 1] - segments.r_second[j]
        _slopes(pair, far, dr, ds, F)
        for k in range(4):
            _move(G, ends[k], k, lengths[k // 2], pair.h[k // 2, 0], L)
            _move(G, ends[k], k, lengths[k // 2], pair.h[k // 2, 1], Lt[k // 2])
        _bend_fixed(pair, far, L, B)
        for k in range(4):
            _bend_turned(G, ends[k], k, lengths[k // 2], pair, B)
        free_t, free_u = 0.0 < place[0] < 1.0, 0.0 < place[1] < 1.0
        _mixed(pair, far, L, Lt, X)
        a, b, c = F[2], F[3], F[4] if free_t and free_u else 0.0
        det = a * b - c * c
        for r in range(24):
            for s in range(24):
                v = 0.0
                if free_t:
                    v += b * X[0, r] * X[0, s]
                if free_u:
                    v += a * X[1, r] * X[1, s]
                if free_t and free_u:
                    v -= c * (X[0, r] * X[1, s] + X[1, r] * X[0, s])
                B[r, s] = force[row] * (B[r, s] - v / det)


@inner
def _move(G, at, k, length, h, L):  # type: ignore[no-untyped-def]
    """Write to L (3, 24) how station k moves x_A - x_B, with weights h (4,) of its segment."""
    sign = 1.0 if k < 2 else -1.0
    hp, hd = sign * h[2 * (k % 2)], sign * length * h[2 * (k % 2) + 1]
    for j in range(3):
        L[j, 6 * k], L[j, 6 * k + 1], L[j, 6 * k + 2] = -hd * G[at, j, 1], hd * G[at, j, 0], 0.0
        for c in range(3):
            L[j, 6 * k + 3 + c] = hp * G[at, j, c]


@inner
def _bend_fixed(pair, far, L, B):  # type: ignore[no-untyped-def]
    """B (24, 24) = -L^T (1 - n n^T) L / D."""
    n = pair.n
    for r in range(24):
        nr = n[0] * L[0, r] + n[1] * L[1, r] + n[2] * L[2, r]
        for s in range(24):
            ns = n[0] * L[0, s] + n[1] * L[1, s] + n[2] * L[2, s]
            v = L[0, r] * L[0, s] + L[1, r] * L[1, s] + L[2, r] * L[2, s]
            B[r, s] = (nr * ns - v) / far


@inner
def _bend_turned(G, at, k, length, pair, B):  # type: ignore[no-untyped-def]
    """Take off B what n meets of the second derivative along the chart of station k."""
    n, h, sign = pair.n, pair.h[k // 2, 0], 1.0 if k < 2 else -1.0
    hp, hd = sign * h[2 * (k % 2)], sign * length * h[2 * (k % 2) + 1]
    m0 = G[at, 0, 0] * n[0] + G[at, 1, 0] * n[1] + G[at, 2, 0] * n[2]
    m1 = G[at, 0, 1] * n[0] + G[at, 1, 1] * n[1] + G[at, 2, 1] * n[2]
    m2 = G[at, 0, 2] * n[0] + G[at, 1, 2] * n[1] + G[at, 2, 2] * n[2]
    o = 6 * k
    # m.(w x v) = -w . m^ v
    add_hat(B, o, o + 3, m0, m1, m2, 0.5 * hp)
    add_hat(B, o + 3, o, m0, m1, m2, -0.5 * hp)
    # m.(w x (w x e3)) = (m.w) w_3 - m_3 w.w
    B[o, o + 2] -= 0.5 * hd * m0
    B[o + 2, o] -= 0.5 * hd * m0
    B[o + 1, o + 2] -= 0.5 * hd * m1
    B[o + 2, o + 1] -= 0.5 * hd * m1
    B[o, o] += hd * m2
    B[o + 1, o + 1] += hd * m2


@inner
def _mixed(pair, far, L, Lt, X):  # type: ignore[no-untyped-def]
    """Derivatives X (2, 24) of the slopes -L^T n in t and u; Lt (2, 3, 24) those of L."""
    n, x = pair.n, pair.x
    for k in range(2):
        sign = -1.0 if k == 0 else 1.0
        nx = n[0] * x[k, 1, 0] + n[1] * x[k, 1, 1] + n[2] * x[k, 1, 2]
        for c in range(24):
            v = 0.0
            for j in range(3):
                v -= n[j] * Lt[k, j, c]
                v += sign * L[j, c] * (x[k, 1, j] - nx * n[j]) / far
            X[k, c] = v
