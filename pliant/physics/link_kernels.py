"""Kernels of what is elastic between two frames: links, and bushings.

A bushing has the values b = (log R, p) of `frame_gap` in the frame ga; rows that are not used are zero.
The end frames of a link are ha = ga Qa and hb = gb Qb, with constant turns Qa, Qb that point local z
from a to b at rest. Its measure is the constant strain that leads from one to the other,

    x = log(ha^-1 hb),       dx = D (yb - Ad(h^-1) ya),   h = ha^-1 hb,   D = dexp^-1(x),

in the twists ya, yb of the end frames. Second derivatives along exp(t ya), exp(t yb), for a stress f:

    f.x'' = -x'.M(x, d) x' + d.[yb, Ad(h^-1) ya],     d = D^T f,   M = dexp_second.

It is objective, and its forces keep linear and angular momentum. The last three rows v of x have the
length of the arc over the chord between both ends, |v|, and a link that bends to an S is longer still.
Its stretch is measured by

    e = x5 + c_5 (|v| - x5) + (c_3 x3^2 + c_4 x4^2) / 2,

with c_5 = 6/5 where the shift x3, x4 across it comes from bending alone, 0 where it is all shear. For
small turns that is the geometric stiffness of Euler and Bernoulli's beam; without it, links under
tension would be unstable. For large ones, e is at least the chord: a link under tension pulls its ends
together however they have turned, and turns them towards each other.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel
from pliant.lie import operators as op
from pliant.lie.leaves import add_hat
from pliant.lie.se3_kernels import (
    Ad_inverse_array,
    ad_array,
    dexp_inverse_array,
    exp_pose_array,
    multiply_array,
    relative_array,
    second_array,
)
from pliant.physics.frame_gap import set_curvature, set_gap
from pliant.physics.rope_law import counted, damper

_FOLDED = 2.0
"""Angle between the end frames from which on a link may be bent by more than half a turn, rad."""
_POINT = 1e-300
"""Distance of two ends below which a link has no direction, m."""
_TURNED = 1e-4
"""Turn in a step below which the tangent of a quarter of it is that quarter, rad."""
_CLOSE = 1e-9
"""Change of a strain measure below which a secant is a tangent."""


LINK = np.zeros(0, dtype=np.int64)
"""What stands for the rows that a bushing uses where there is a link, which uses all."""


@inner
def _measure(used, g, Q, c, x, T, B):  # type: ignore[no-untyped-def]
    """Write the measure x (6,) of a link, or of a bushing if used (r,) rows are given, and its
    derivative T (6, 12) in the twists of the frames g (2, 4, 4); of a link also B, see `_measure_link`.
    """
    if used.shape[0] == 0:
        _measure_link(g, Q, c[0], x, T, B)
        return
    r = used.shape[0]
    gap, slopes = np.empty(r), np.empty((r, 12))
    set_gap(g[0], g[1], used, gap, slopes)
    for i in range(6):
        x[i] = 0.0
        for j in range(12):
            T[i, j] = 0.0
    for i in range(r):
        x[used[i]] = gap[i]
        for j in range(12):
            T[used[i], j] = slopes[i, j]


@inner
def _turn_columns(T, first, Q):  # type: ignore[no-untyped-def]
    """Columns of T (n, 12) from `first` on: from twists of h = g Q to twists of g."""
    for r in range(T.shape[0]):
        for at in (first, first + 3):
            a, b, c = T[r, at], T[r, at + 1], T[r, at + 2]
            for j in range(3):
                T[r, at + j] = Q[j, 0] * a + Q[j, 1] * b + Q[j, 2] * c


@inner
def _unfold(x, half):  # type: ignore[no-untyped-def]
    """Replace x (6,) = log h = (a n, v) by the logarithm beyond half a turn where a link is so bent.

    half : the longest chord of a link bent by half a turn, m. The other logarithm has the angle
    a - 2 pi about the same axis n. Seen from the frame halfway, the chord is n (n.v) + s v', with v'
    the part of v across n and s = sin(a/2) / (a/2); for the other one it is turned by half a turn
    about n, n (n.v) - s v'. A link points from one end to the other: where v' leads backwards and the
    chord is as short as such a bend makes it, the other one is meant. The chord stays, so that v'
    becomes -(2 pi - a) / a v'.
    """
    angle = np.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    if angle < _FOLDED:
        return
    n0, n1, n2 = x[0] / angle, x[1] / angle, x[2] / angle
    along = n0 * x[3] + n1 * x[4] + n2 * x[5]
    s = np.sin(0.5 * angle) / (0.5 * angle)
    chord = s * s * (x[3] * x[3] + x[4] * x[4] + x[5] * x[5]) + (1.0 - s * s) * along * along
    if x[5] - n2 * along >= 0.0 or chord > half * half:
        return
    turn = (angle - 2.0 * np.pi) / angle
    for i in range(3):
        x[i] *= turn
    x[3] = n0 * along + turn * (x[3] - n0 * along)
    x[4] = n1 * along + turn * (x[4] - n1 * along)
    x[5] = n2 * along + turn * (x[5] - n2 * along)


@inner
def _measure_link(g, Q, half, x, T, B):  # type: ignore[no-untyped-def]
    """Write x (6,), its derivative T (6, 12) in the twists of the frames g (2, 4, 4), and the columns
    B (6, 12) of Ad(h^-1) ya and of yb in them.
    """
    poses, operators = np.empty((3, 4, 4)), np.empty((2, 6, 6))
    ha, hb, h = poses[0], poses[1], poses[2]
    A, D = operators[0], operators[1]
    multiply_array(g[0], Q[0], ha)
    multiply_array(g[1], Q[1], hb)
    relative_array(op.EXP, ha, hb, x)
    _unfold(x, half)
    exp_pose_array(x, h)
    Ad_inverse_array(h, A)
    dexp_inverse_array(x, D)
    for i in range(6):
        for j in range(6):
            B[i, j] = A[i, j]
            B[i, 6 + j] = 1.0 if i == j else 0.0
    _turn_columns(B, 0, Q[0])
    _turn_columns(B, 6, Q[1])
    for i in range(6):
        for j in range(12):
            T[i, j] = 0.0
        for k in range(6):
            for j in range(6):
                T[i, j] -= D[i, k] * B[k, j]
            for j in range(6, 12):
                T[i, j] += D[i, k] * B[k, j]


@inner
def _arc(x):  # type: ignore[no-untyped-def]
    """Length of the arc x (6,) between two ends."""
    return np.sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5])


@inner
def _set_stretch_slope(x, c, n):  # type: ignore[no-untyped-def]
    """Write n (3,), the derivative of the stretch in the last three rows of x (6,)."""
    arc = max(_arc(x), _POINT)
    for i in range(3):
        n[i] = (c[5] / arc + c[3 + i]) * x[3 + i]
    n[2] = c[5] * x[5] / arc + 1.0 - c[5]


@inner
def _set_strain(x, T, c, e, U):  # type: ignore[no-untyped-def]
    """Write e (6,), x with the stretch of a beam in its last row, and its derivative U (6, 12)."""
    n = np.empty(3)
    _set_stretch_slope(x, c, n)
    for i in range(6):
        e[i] = x[i]
        for j in range(12):
            U[i, j] = T[i, j]
    e[5] = _stretch(x, c)
    for j in range(12):
        U[5, j] = n[0] * T[3, j] + n[1] * T[4, j] + n[2] * T[5, j]


@inner
def _stretch(x, c):  # type: ignore[no-untyped-def]
    """Length of a link of measure x (6,)."""
    return x[5] + c[5] * (_arc(x) - x[5]) + 0.5 * (c[3] * x[3] * x[3] + c[4] * x[4] * x[4])


@inner
def _set_measured(used, g, Q, c, e):  # type: ignore[no-untyped-def]
    """Write the strain e (6,) at the frames g (2, 4, 4) without any derivative."""
    if used.shape[0] == 0:
        poses = np.empty((2, 4, 4))
        multiply_array(g[0], Q[0], poses[0])
        multiply_array(g[1], Q[1], poses[1])
        relative_array(op.EXP, poses[0], poses[1], e)
        _unfold(e, c[0])
        e[5] = _stretch(e, c)
        return
    x, T, U = np.empty(6), np.empty((6, 12)), np.empty((6, 12))
    _measure(used, g, Q, c, x, T, U)
    _set_strain(x, T, c, e, U)


@inner
def _add_curvature(used, g, x, T, B, c, stress, H):  # type: ignore[no-untyped-def]
    """H (12, 12) += second derivative of stress . e in the charts of frames g (2, 4, 4)."""
    f = np.empty(6)
    if used.shape[0] > 0:
        force, bent = np.empty(used.shape[0]), np.empty((12, 12))
        for i in range(used.shape[0]):
            force[i] = stress[used[i]]
        set_curvature(g[0], g[1], used, force, bent)
        for a in range(12):
            for b in range(12):
                H[a, b] += bent[a, b]
        return
    n, W = np.empty(3), np.empty((6, 6))
    _set_stretch_slope(x, c, n)
    for i in range(3):
        f[i], f[3 + i] = stress[i], stress[3 + i] + stress[5] * n[i]
    f[5] -= stress[5]
    arc = max(_arc(x), _POINT)
    for i in range(6):
        for j in range(6):
            W[i, j] = 0.0
    for i in range(3, 6):
        W[i, i] = stress[5] * (c[5] / arc + (c[i] if i < 5 else 0.0))
        for j in range(3, 6):
            W[i, j] -= stress[5] * c[5] / (arc * arc * arc) * x[i] * x[j]
    _add_log_curvature(x, T, B, f, W, H)


@inner
def _add_log_curvature(x, T, B, stress, W, H):  # type: ignore[no-untyped-def]
    """H (12, 12) += second derivative of stress . x in the charts ga exp, gb exp, and T^T W T."""
    D, M, d, ad = np.empty((6, 6)), np.empty((6, 6)), np.zeros(6), np.empty((6, 6))
    dexp_inverse_array(x, D)
    for i in range(6):
        for j in range(6):
            d[j] += D[i, j] * stress[i]
    second_array(op.DEXP, x, d, M)
    row = np.empty(12)
    for i in range(6):
        for j in range(12):
            row[j] = 0.0
        for k in range(6):
            w = W[i, k] - M[i, k]
            for j in range(12):
                row[j] += w * T[k, j]
        for a in range(12):
            for b in range(12):
                H[a, b] += T[i, a] * row[b]
    # d.[yb, z] with yb the last and z the first six columns of B: half of it, and its mirror image
    column = np.empty(6)
    for b in range(6):
        for i in range(6):
            column[i] = B[i, 6 + b]
        ad_array(column, ad)
        for k in range(6):
            v = 0.0
            for i in range(6):
                v += 0.5 * d[i] * ad[i, k]
            for a in range(6):
                H[6 + b, a] += v * B[k, a]
                H[a, 6 + b] += v * B[k, a]


@inner
def _stress(rule, xa, xb, rates, speed, h, stress, slope):  # type: ignore[no-untyped-def]
    """Write the stress (6,) and its derivative slope (6,) in the strain at b; returns the power lost.

    rule (6, 6) : stiffness and damping of the strain, its value without stress, kind of each row, the
    coefficients c, of which those of shear count, and the power of the rate in the damping.
    At one configuration (h = 0) rates (6,) and their derivative `speed` in the strain; in a step of h
    seconds the secant of the potential between xa and xb.
    """
    lost = 0.0
    for i in range(6):
        k, c, rest, kind = rule[0, i], rule[1, i], rule[2, i], rule[3, i]
        ea, eb = xa[i] - rest, xb[i] - rest
        ca, sa = counted(kind, ea)
        cb, sb = counted(kind, eb)
        share, change = 0.5 * (sa + sb), 0.0
        if sa != sb and abs(eb - ea) > _CLOSE * abs(rest):
            share = (cb - ca) / (eb - ea)
            change = (sb - share) / (eb - ea)
        rate, grow = rates[i], speed
        if h > 0.0:
            rate, grow = (eb - ea) / h, 1.0 / h
        force = 0.5 * k * (ca + cb) * share
        bent = 1.0 if h > 0.0 else 2.0
        grown = 0.5 * k * (bent * sb * share + (ca + cb) * change)
        f, df = damper(c, rule[5, i], rate)
        damped, damped_slope = share * f, share * df * grow + change * f
        if (kind == 1.0 and force + damped < 0.0) or (kind == 2.0 and force + damped > 0.0):
            damped, damped_slope = -force, -grown
        stress[i], slope[i] = force + damped, grown + damped_slope
        lost += damped * rate
    return lost


@inner
def _middle(ga, gb, gm, A, first):  # type: ignore[no-untyped-def]
    """Write the frame gm in the middle of a step and its shares Aa, Ab to A (2, 6, 6), see `between`.

    first : True for gm = ga, which all of ga and nothing of gb moves. As functions of z = ad(xi) the
    shares are 1 / (1 + exp(z/2)) and 1 / (1 + exp(-z/2)), so that Aa = 1 - Ab. With the pose (R, p) of
    exp(xi/2) and the turn phi n of xi,

        Ab = [[a, 0], [w^, a]],   a = 1 / (1 + R^T) = (1 + tan(phi/4) n^) / 2,
        w = det(a) (1 + R^T) p,   det(a) = (1 + tan(phi/4)^2) / 8,   1 - a = a^T.
    """
    if first:
        for i in range(4):
            for j in range(4):
                gm[i, j] = ga[i, j]
        for i in range(6):
            for j in range(6):
                A[0, i, j], A[1, i, j] = (1.0 if i == j else 0.0), 0.0
        return
    x, h = np.empty(6), np.empty((4, 4))
    angle = relative_array(op.EXP, ga, gb, x)
    for i in range(6):
        x[i] *= 0.5
    exp_pose_array(x, h)
    multiply_array(ga, h, gm)
    share = np.tan(0.25 * angle) / angle if angle > _TURNED else 0.25
    t0, t1, t2 = 2.0 * share * x[0], 2.0 * share * x[1], 2.0 * share * x[2]
    det = 0.125 * (1.0 + t0 * t0 + t1 * t1 + t2 * t2)
    for i in range(3):
        x[i] = det * (h[i, 3] + h[0, i] * h[0, 3] + h[1, i] * h[1, 3] + h[2, i] * h[2, 3])
    for end in range(2):
        sign = 2.0 * end - 1.0
        for i in range(3):
            for j in range(3):
                A[end, i, 3 + j] = 0.0
                A[end, i, j] = A[end, 3 + i, 3 + j] = 0.5 if i == j else 0.0
                A[end, 3 + i, j] = 0.0
        for at in (0, 3):
            add_hat(A[end], at, at, t0, t1, t2, 0.5 * sign)
        add_hat(A[end], 3, 0, x[0], x[1], x[2], sign)


@kernel
def take_frame(g, station, frame):  # type: ignore[no-untyped-def]
    """frame (4, 4) = that of a station of g (F, 4, 4)."""
    for i in range(4):
        for j in range(4):
            frame[i, j] = g[station, i, j]


@kernel
def take_twist(eta, station, twist):  # type: ignore[no-untyped-def]
    """twist (6,) = that of a station of eta (F, 6)."""
    for i in range(6):
        twist[i] = eta[station, i]


@kernel
def set_strain(used, g, Q, c, e):  # type: ignore[no-untyped-def]
    """Write the strain e (6,) of a link with frames g (2, 4, 4), rad and m over its whole length."""
    _set_measured(used, g, Q, c, e)


@kernel
def set_gradient(used, g, Q, rule, twists, speed, tangent, p, H):  # type: ignore[no-untyped-def]
    """Write the gradients p (2, 6) at the frames g (2, 4, 4) and, with a tangent, their derivative
    H (12, 12).

    twists (2, 6) : of the frames.  speed : derivative of the rates in the configuration, 1/s.
    """
    x, T, B, rates = np.empty(6), np.empty((6, 12)), np.empty((6, 12)), np.zeros(6)
    e, U, stress, slope = np.empty(6), np.empty((6, 12)), np.empty(6), np.empty(6)
    _measure(used, g, Q, rule[4], x, T, B)
    _set_strain(x, T, rule[4], e, U)
    _set_rates(U, twists, rates)
    _stress(rule, e, e, rates, speed, 0.0, stress, slope)
    _set_pull(U, stress, p)
    if not tangent:
        return
    for a in range(12):
        for b in range(12):
            H[a, b] = 0.0
        for i in range(6):
            s = U[i, a] * slope[i]
            for b in range(12):
                H[a, b] += s * U[i, b]
    _add_curvature(used, g, x, T, B, rule[4], stress, H)


@inner
def _set_rates(T, twists, rates):  # type: ignore[no-untyped-def]
    """rates (6,) of the strain at twists (2, 6) of the frames."""
    for i in range(6):
        rates[i] = 0.0
        for j in range(6):
            rates[i] += T[i, j] * twists[0, j] + T[i, 6 + j] * twists[1, j]


@kernel
def set_impulses(used, ga, gb, Q, rule, h, implicit, tangent, leaving, arriving, H):  # type: ignore[no-untyped-def]
    """Write the impulses (2, 6) that leave the frames ga and arrive at gb (2, 4, 4) in a step of h
    seconds and, with a tangent, the derivative H (12, 12) of what leaves in the frames gb.

    The stress is the secant between both measures, its directions are those of the frames in the middle
    of the step; in an explicit step both are those of its start, but for the damping.
    """
    vectors, slopes, c = np.empty((6, 6)), np.empty((4, 6, 12)), rule[4]
    x, ea, eb, rates = vectors[0], vectors[1], vectors[2], vectors[3]
    stress, slope = vectors[4], vectors[5]
    T, U, Ub, B = slopes[0], slopes[1], slopes[2], slopes[3]
    A, middles, pull = np.empty((2, 2, 6, 6)), np.empty((2, 4, 4)), np.empty((2, 6))
    _set_measured(used, ga, Q, c, ea)
    if tangent:
        _measure(used, gb, Q, c, x, T, B)
        _set_strain(x, T, c, eb, Ub)
    else:
        _set_measured(used, gb, Q, c, eb)
    for i in range(6):
        rates[i] = (eb[i] - ea[i]) / h
    if implicit:
        _stress(rule, ea, eb, rates, 0.0, h, stress, slope)
    else:
        _stress(rule, ea, ea, rates, 1.0 / h, 0.0, stress, slope)
        for i in range(6):
            slope[i] = damper(rule[1, i], rule[5, i], rates[i])[1] / h
    for end in range(2):
        _middle(ga[end], gb[end], middles[end], A[end], not implicit)
    if tangent:
        _measure(used, middles, Q, c, x, T, B)
        _set_strain(x, T, c, ea, U)
        _set_pull(U, stress, pull)
    else:
        _pull(used, middles, Q, c, stress, pull)
    for end in range(2):
        for j in range(6):
            leaving[end, j], arriving[end, j] = 0.0, 0.0
            for k in range(6):
                leaving[end, j] += h * A[end, 0, k, j] * pull[end, k]
                arriving[end, j] -= h * A[end, 1, k, j] * pull[end, k]
    if not tangent:
        return
    bent = np.zeros((12, 12))
    if implicit:
        _add_curvature(used, middles, x, T, B, c, stress, bent)
    _set_moved(h, A, bent, U, slope, Ub, H)


@inner
def _set_moved(h, A, bent, U, slope, Ub, H):  # type: ignore[no-untyped-def]
    """Write H (12, 12), the derivative in the frames gb of what leaves the frames ga.

    A (2, 2, 6, 6) : shares of both ends.  bent (12, 12) : curvature in the middle.  U, Ub (6, 12) :
    derivatives of the strain in the middle and at gb.  slope (6,) : of the stress.
    """
    row = np.empty(12)
    for a in range(12):
        for b in range(12):
            H[a, b] = 0.0
    for a in range(12):
        for b in range(12):
            row[b] = 0.0
        for k in range(6):
            s = U[k, a] * slope[k]
            for b in range(12):
                row[b] += s * Ub[k, b]
            for b in range(6):
                row[b] += bent[a, k] * A[0, 1, k, b]
                row[6 + b] += bent[a, 6 + k] * A[1, 1, k, b]
        end = a // 6
        for i in range(6):
            s = h * A[end, 0, a % 6, i]
            for b in range(12):
                H[6 * end + i, b] += s * row[b]


@inner
def _set_pull(U, stress, p):  # type: ignore[no-untyped-def]
    """Write the gradients p (2, 6) of a stress (6,) on a strain of derivative U (6, 12)."""
    for end in range(2):
        for j in range(6):
            p[end, j] = 0.0
            for i in range(6):
                p[end, j] += U[i, 6 * end + j] * stress[i]


@inner
def _pull(used, g, Q, c, stress, p):  # type: ignore[no-untyped-def]
    """Write the gradients p (2, 6) at frames g (2, 4, 4) that a stress (6,) makes."""
    x, f, n = np.empty(6), np.empty(6), np.empty(3)
    if used.shape[0] > 0:
        T, B = np.empty((6, 12)), np.empty((6, 12))
        _measure(used, g, Q, c, x, T, B)
        _set_pull(T, stress, p)
        return
    poses, A = np.empty((3, 4, 4)), np.empty((6, 6))
    multiply_array(g[0], Q[0], poses[0])
    multiply_array(g[1], Q[1], poses[1])
    relative_array(op.EXP, poses[0], poses[1], x)
    _unfold(x, c[0])
    exp_pose_array(x, poses[2])
    _set_stretch_slope(x, c, n)
    for i in range(3):
        f[i], f[3 + i] = stress[i], stress[3 + i] + stress[5] * n[i]
    f[5] -= stress[5]
    dexp_inverse_array(x, A)
    for j in range(6):
        x[j] = 0.0
        for i in range(6):
            x[j] += A[i, j] * f[i]
    Ad_inverse_array(poses[2], A)
    for j in range(6):
        f[j] = 0.0
        for i in range(6):
            f[j] -= A[i, j] * x[i]
    for at in (0, 3):
        for j in range(3):
            p[0, at + j] = Q[0, j, 0] * f[at] + Q[0, j, 1] * f[at + 1] + Q[0, j, 2] * f[at + 2]
            p[1, at + j] = Q[1, j, 0] * x[at] + Q[1, j, 1] * x[at + 1] + Q[1, j, 2] * x[at + 2]


@kernel
def add_at(p, H, end, tangent, station, to_p, to_k):  # type: ignore[no-untyped-def]
    """Add gradients p (2, 6) and their derivatives H (12, 12) at one end to those of its station."""
    first = 6 * end
    for i in range(6):
        to_p[station, i] += p[end, i]
        if tangent:
            for j in range(6):
                to_k[station, i, j] += H[first + i, first + j]


@kernel
def add_between(H, number, flip, cross):  # type: ignore[no-untyped-def]
    """Add the derivatives between both ends to a coupling; flip : 1 if b comes first in it."""
    for i in range(6):
        for j in range(6):
            cross[number, flip, i, j] += H[i, 6 + j]
            cross[number, 1 - flip, i, j] += H[6 + i, j]


@kernel
def add_loss(used, ga, gb, Q, rule, twists, h, scale, out):  # type: ignore[no-untyped-def]
    """out_0 += scale times the power that a link loses: in a step of h seconds from ga to gb (2, 4, 4),
    or (h = 0) at the twists (2, 6) of the frames gb.
    """
    ea, eb, rates = np.empty(6), np.empty(6), np.zeros(6)
    _set_measured(used, ga, Q, rule[4], ea)
    if h > 0.0:
        _set_measured(used, gb, Q, rule[4], eb)
    else:
        x, T, U, B = np.empty(6), np.empty((6, 12)), np.empty((6, 12)), np.empty((6, 12))
        _measure(used, gb, Q, rule[4], x, T, B)
        _set_strain(x, T, rule[4], eb, U)
        _set_rates(U, twists, rates)
    out[0] += scale * _stress(rule, ea, eb, rates, 0.0, h, np.empty(6), np.empty(6))
