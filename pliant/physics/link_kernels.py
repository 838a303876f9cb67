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

from pliant._numba import inner, kernel, leaf
from pliant.lie import operators as op
from pliant.lie.se3_kernels import inverse_map
from pliant.lie.tuples import (
    add,
    apply,
    cross,
    dot,
    multiply,
    read_block,
    read_vector,
    transpose,
    write_block,
    write_symmetric,
    write_vector,
)
from pliant.physics.frame_gap import set_curvature, set_gap
from pliant.physics.rope_law import counted, damper
from pliant.physics.stretch_law import add_update

_FOLDED = 2.0
"""Angle between the end frames from which on a link may be bent by more than half a turn, rad."""
_POINT = 1e-300
"""Distance of two ends below which a link has no direction, m."""
_CLOSE = 1e-9
"""Change of a strain measure below which a secant is a tangent."""


LINK = np.zeros(0, dtype=np.int64)
"""What stands for the rows that a bushing uses where there is a link, which uses all."""


@leaf
def _between(ga, gb, Q):  # type: ignore[no-untyped-def]
    """The turn R and the position p of h = ha^-1 hb."""
    Rt = transpose(multiply(read_block(ga), read_block(Q[0])))
    R = multiply(Rt, multiply(read_block(gb), read_block(Q[1])))
    way = (gb[0, 3] - ga[0, 3], gb[1, 3] - ga[1, 3], gb[2, 3] - ga[2, 3])
    return R, apply(Rt, way)


@inner
def _logarithm(R, p, half):  # type: ignore[no-untyped-def]
    """The measure (k, v) = log h of a link, beyond half a turn where it is so bent.

    half : the longest chord of a link bent by half a turn, m. With the angle a of k = a n, the other
    logarithm has the angle a - 2 pi about the same axis. Seen from the frame halfway, the chord is
    n (n.v) + s v', with v' the part of v across n and s = sin(a/2) / (a/2); for the other one it is
    turned by half a turn about n, n (n.v) - s v'. A link points from one end to the other: where v'
    leads backwards and the chord is as short as such a bend makes it, the other one is meant. The chord
    stays, so that v' becomes -(2 pi - a) / a v'.
    """
    k, v, angle = inverse_map(op.EXP, R, p)
    if angle < _FOLDED:
        return k, v
    n = (k[0] / angle, k[1] / angle, k[2] / angle)
    along = dot(n, v)
    s = np.sin(0.5 * angle) / (0.5 * angle)
    chord = s * s * dot(v, v) + (1.0 - s * s) * along * along
    if v[2] - n[2] * along >= 0.0 or chord > half * half:
        return k, v
    turn = (angle - 2.0 * np.pi) / angle
    return (turn * k[0], turn * k[1], turn * k[2]), add((1.0 - turn) * along, n, turn, v)


@inner
def _set_bushing(used, ga, gb, x, T):  # type: ignore[no-untyped-def]
    """Write the measure x (6,) of a bushing with rows `used` (r,), and its derivative T (6, 12) in the
    twists of the frames ga and gb (4, 4).
    """
    r = used.shape[0]
    gap, slopes = np.empty(r), np.empty((r, 12))
    set_gap(ga, gb, used, gap, slopes)
    for i in range(6):
        x[i] = 0.0
        for j in range(12):
            T[i, j] = 0.0
    for i in range(r):
        x[used[i]] = gap[i]
        for j in range(12):
            T[used[i], j] = slopes[i, j]


@leaf
def _inverse_tangent(k, v):  # type: ignore[no-untyped-def]
    """The blocks F and G of D = dexp^-1 = [[F, 0], [G, F]] at a twist (k, v)."""
    i, s, q, i1, s1, q1 = op.coefficients(op.DEXP_INVERSE, dot(k, k))
    return op.operator(i, s, q, k), op.operator_derivative(s, q, i1, s1, q1, k, v)


@leaf
def _carried(R, p, Q):  # type: ignore[no-untyped-def]
    """The blocks E and N of Ad(h^-1) = [[E, 0], [N, E]], in the twist of the frame ga."""
    E = multiply(transpose(R), transpose(read_block(Q[0])))
    return E, multiply(transpose(R), multiply(_hat(p, -1.0), transpose(read_block(Q[0]))))


@leaf
def _hat(p, scale):  # type: ignore[no-untyped-def]
    """The matrix scale p^."""
    x, y, z = scale * p[0], scale * p[1], scale * p[2]
    return 0.0, -z, y, z, 0.0, -x, -y, x, 0.0


@leaf
def _sum(a, A, b, B):  # type: ignore[no-untyped-def]
    """The matrix a A + b B."""
    return (
        a * A[0] + b * B[0], a * A[1] + b * B[1], a * A[2] + b * B[2],
        a * A[3] + b * B[3], a * A[4] + b * B[4], a * A[5] + b * B[5],
        a * A[6] + b * B[6], a * A[7] + b * B[7], a * A[8] + b * B[8],
    )  # fmt: skip


@leaf
def _write_dual_at(T, column, A, B):  # type: ignore[no-untyped-def]
    """Write [[A, 0], [B, A]] to the six columns of T (6, 12) from `column` on."""
    write_block(T, 0, column, A)
    write_block(T, 0, column + 3, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    write_block(T, 3, column, B)
    write_block(T, 3, column + 3, A)


@inner
def _set_link(ga, gb, Q, half, x, T):  # type: ignore[no-untyped-def]
    """Write the measure x (6,) of a link and its derivative T (6, 12) in the twists of its frames."""
    R, p = _between(ga, gb, Q)
    k, v = _logarithm(R, p, half)
    write_vector(x, 0, k)
    write_vector(x, 3, v)
    F, G = _inverse_tangent(k, v)
    E, N = _carried(R, p, Q)
    _write_dual_at(
        T, 0, _sum(-1.0, multiply(F, E), 0.0, F), _sum(-1.0, multiply(G, E), -1.0, multiply(F, N))
    )
    Qt = transpose(read_block(Q[1]))
    _write_dual_at(T, 6, multiply(F, Qt), multiply(G, Qt))


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
def _set_measured(used, ga, gb, Q, c, e):  # type: ignore[no-untyped-def]
    """Write the strain e (6,) at the frames ga and gb (4, 4) without any derivative."""
    if used.shape[0] == 0:
        R, p = _between(ga, gb, Q)
        k, v = _logarithm(R, p, c[0])
        write_vector(e, 0, k)
        write_vector(e, 3, v)
        e[5] = _stretch(e, c)
        return
    T = np.empty((6, 12))
    _set_bushing(used, ga, gb, e, T)
    e[5] = _stretch(e, c)


@inner
def _measure(used, ga, gb, Q, c, x, T, e, U):  # type: ignore[no-untyped-def]
    """Write the measure x (6,) of a link, or of a bushing if used (r,) rows are given, its derivative
    T (6, 12) in the twists of the frames ga and gb (4, 4), and both for the strain, e and U.
    """
    if used.shape[0] == 0:
        _set_link(ga, gb, Q, c[0], x, T)
    else:
        _set_bushing(used, ga, gb, x, T)
    _set_strain(x, T, c, e, U)


@inner
def _add_curvature(used, ga, gb, Q, x, T, c, stress, H):  # type: ignore[no-untyped-def]
    """H (12, 12) += second derivative of stress . e in the charts of frames ga, gb (4, 4)."""
    if used.shape[0] > 0:
        force, bent = np.empty(used.shape[0]), np.empty((12, 12))
        for i in range(used.shape[0]):
            force[i] = stress[used[i]]
        set_curvature(ga, gb, used, force, bent)
        for a in range(12):
            for b in range(12):
                H[a, b] += bent[a, b]
        return
    W = np.empty((6, 6))
    k, v = read_vector(x, 0), read_vector(x, 3)
    um, un = _meant(x, c, stress)
    F, G = _inverse_tangent(k, v)
    Ft = transpose(F)
    dm, dn = add(1.0, apply(Ft, um), 1.0, apply(transpose(G), un)), apply(Ft, un)
    upper, mixed = op.second_blocks(op.DEXP, k, v, dm, dn)
    write_symmetric(W, 0, 0, (-upper[0], -upper[1], -upper[2], -upper[3], -upper[4], -upper[5]))
    mixed = (-mixed[0], -mixed[1], -mixed[2], -mixed[3], -mixed[4], -mixed[5])
    write_symmetric(W, 0, 3, mixed)
    write_symmetric(W, 3, 0, mixed)
    arc = max(_arc(x), _POINT)
    for i in range(3, 6):
        for j in range(3, 6):
            W[i, j] = -stress[5] * c[5] / (arc * arc * arc) * x[i] * x[j]
        W[i, i] += stress[5] * (c[5] / arc + (c[i] if i < 5 else 0.0))
    row = np.empty(12)
    for i in range(6):
        for b in range(12):
            row[b] = 0.0
        for j in range(6):
            w = W[i, j]
            for b in range(12):
                row[b] += w * T[j, b]
        for a in range(12):
            t = T[i, a]
            for b in range(12):
                H[a, b] += t * row[b]
    _add_bracket(ga, gb, Q, dm, dn, H)


@inner
def _add_bracket(ga, gb, Q, dm, dn, H):  # type: ignore[no-untyped-def]
    """H (12, 12) += half of d.[yb, Ad(h^-1) ya] and its mirror image, d = (dm, dn)."""
    R, p = _between(ga, gb, Q)
    E, N = _carried(R, p, Q)
    Qb = read_block(Q[1])
    low = multiply(Qb, multiply(_hat(dn, -0.5), E))
    both = _sum(1.0, multiply(_hat(dm, -0.5), E), 1.0, multiply(_hat(dn, -0.5), N))
    up = multiply(Qb, both)
    for i in range(3):
        for j in range(3):
            H[6 + i, j] += up[3 * i + j]
            H[j, 6 + i] += up[3 * i + j]
            H[6 + i, 3 + j] += low[3 * i + j]
            H[3 + j, 6 + i] += low[3 * i + j]
            H[9 + i, j] += low[3 * i + j]
            H[j, 9 + i] += low[3 * i + j]


@leaf
def _meant(x, c, stress):  # type: ignore[no-untyped-def]
    """The stress on the measure x (6,), moment and force, that a stress (6,) on the strain is."""
    f, scale = stress[5], c[5] / max(_arc(x), _POINT)
    force = (
        stress[3] + f * (scale + c[3]) * x[3],
        stress[4] + f * (scale + c[4]) * x[4],
        f * (scale * x[5] + 1.0 - c[5]),
    )
    return read_vector(stress, 0), force


@inner
def _stress(rule, xa, xb, rates, speed, h, stress, slope):  # type: ignore[no-untyped-def]
    """Write the stress (6,) and its derivative slope (6,) in the strain at b; returns the power lost.

    rule (7, 6) : stiffness and damping of the strain, its value without stress, kind of each row, the
    coefficients c, of which those of shear count, the power of the rate in the damping, and 1 in its
    last row for a section that follows the stretch, by `_add_update`.
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
    _set_measured(used, g[0], g[1], Q, c, e)


@kernel
def set_gradient(used, g, Q, rule, twists, speed, tangent, p, H):  # type: ignore[no-untyped-def]
    """Write the gradients p (2, 6) at the frames g (2, 4, 4) and, with a tangent, their derivative
    H (12, 12).

    twists (2, 6) : of the frames.  speed : derivative of the rates in the configuration, 1/s.
    """
    vectors, slopes, c = np.zeros((5, 6)), np.empty((2, 6, 12)), rule[4]
    x, e, rates, stress, slope = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    T, U = slopes[0], slopes[1]
    _measure(used, g[0], g[1], Q, c, x, T, e, U)
    _set_rates(U, twists, rates)
    _stress(rule, e, e, rates, speed, 0.0, stress, slope)
    full = np.zeros((6, 6))
    if rule[6, 0] != 0.0:
        _add_update(rule, e, e, stress, full)
    _set_pull(U, stress, p)
    if not tangent:
        return
    S = np.empty((6, 12))
    _set_stress_slopes(slope, 1.0, full, U, S)
    for a in range(12):
        for b in range(12):
            H[a, b] = 0.0
        for i in range(6):
            s = U[i, a]
            for b in range(12):
                H[a, b] += s * S[i, b]
    _add_curvature(used, g[0], g[1], Q, x, T, c, stress, H)


@inner
def _add_update(rule, ea, eb, stress, full):  # type: ignore[no-untyped-def]
    """Add to the stress (6,) what the section gives by the mean of the strains ea and eb (6,), beyond
    the linear law, and to full (6, 6) its derivative in that mean.
    """
    one, ends = (1, 6), (ea.reshape((1, 6)), eb.reshape((1, 6)))
    law = (np.ones(one), rule[0:1], rule[2:3])
    add_update(*law, *ends, 1.0, 1.0, stress.reshape(one), full.reshape((1, 6, 6)))


@inner
def _set_stress_slopes(slope, share, full, U, S):  # type: ignore[no-untyped-def]
    """S (6, 12) = (diag(slope) + share full) U of a derivative U (6, 12) of the strain."""
    for i in range(6):
        for b in range(12):
            S[i, b] = slope[i] * U[i, b]
        for j in range(6):
            f = share * full[i, j]
            if f != 0.0:
                for b in range(12):
                    S[i, b] += f * U[j, b]


@inner
def _set_rates(T, twists, rates):  # type: ignore[no-untyped-def]
    """rates (6,) of the strain at twists (2, 6) of the frames."""
    for i in range(6):
        rates[i] = 0.0
        for j in range(6):
            rates[i] += T[i, j] * twists[0, j] + T[i, 6 + j] * twists[1, j]


@kernel
def add_impulses(used, first, second, Q, rule, h, implicit, p, pb, far_p, far_pb):  # type: ignore[no-untyped-def]
    """Add the impulses that leave, p (F, 6), and arrive, pb (F, 6), at the stations of both ends in a
    step of h seconds.

    first, second : of both ends the station; the frames (F, 4, 4) at the start and at the end of the
    step; the frame (4, 4) in its middle and the shares (2, 6, 6) of its ends there, see `between`. The
    stress is the secant between both measures, its directions are those of the frames in the middle of
    the step; in an explicit step both are those of its start, but for the damping.
    """
    vectors, pull, c = np.empty((5, 6)), np.empty((2, 6)), rule[4]
    full = np.zeros((6, 6))
    ea, eb, rates, stress, slope = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    i, ga, gb, gm, A = first
    j, far_ga, far_gb, far_gm, B = second
    _set_measured(used, ga[i], far_ga[j], Q, c, ea)
    _set_measured(used, gb[i], far_gb[j], Q, c, eb)
    _set_step_stress(rule, ea, eb, h, implicit, rates, stress, slope, full)
    _pull(used, gm, far_gm, Q, c, stress, pull)
    _share(h, A, pull[0], p[i], pb[i])
    _share(h, B, pull[1], far_p[j], far_pb[j])


@kernel
def add_sloped_impulses(  # type: ignore[no-untyped-def]
    used, first, second, Q, rule, h, implicit, p, pb, k, far_p, far_pb, far_k, H
):
    """`add_impulses`, and the derivatives of what leaves: H (12, 12) in the frames of both ends at the
    end of the step, whose diagonal blocks are added to k (F, 6, 6).
    """
    vectors, slopes, c = np.empty((6, 6)), np.empty((3, 6, 12)), rule[4]
    x, ea, eb, rates = vectors[0], vectors[1], vectors[2], vectors[3]
    stress, slope = vectors[4], vectors[5]
    T, U, Ub, bent, pull = slopes[0], slopes[1], slopes[2], np.zeros((12, 12)), np.empty((2, 6))
    full = np.zeros((6, 6))
    i, ga, gb, gm, A = first
    j, far_ga, far_gb, far_gm, B = second
    _set_measured(used, ga[i], far_ga[j], Q, c, ea)
    _measure(used, gb[i], far_gb[j], Q, c, x, T, eb, Ub)
    _set_step_stress(rule, ea, eb, h, implicit, rates, stress, slope, full)
    _measure(used, gm, far_gm, Q, c, x, T, ea, U)
    _set_pull(U, stress, pull)
    _share(h, A, pull[0], p[i], pb[i])
    _share(h, B, pull[1], far_p[j], far_pb[j])
    if implicit:
        _add_curvature(used, gm, far_gm, Q, x, T, c, stress, bent)
    _set_stress_slopes(slope, 0.5, full, Ub, T)
    _set_moved(h, A, B, bent, U, T, H)
    for a in range(6):
        for b in range(6):
            k[i, a, b] += H[a, b]
            far_k[j, a, b] += H[6 + a, 6 + b]


@inner
def _set_step_stress(rule, ea, eb, h, implicit, rates, stress, slope, full):  # type: ignore[no-untyped-def]
    """Write the stress (6,) of a step of h seconds between strains ea and eb (6,), and its slope; of an
    updated section full (6, 6) as well, which is zero.
    """
    for i in range(6):
        rates[i] = (eb[i] - ea[i]) / h
    if implicit:
        _stress(rule, ea, eb, rates, 0.0, h, stress, slope)
        if rule[6, 0] != 0.0:
            _add_update(rule, ea, eb, stress, full)
        return
    _stress(rule, ea, ea, rates, 1.0 / h, 0.0, stress, slope)
    for i in range(6):
        slope[i] = damper(rule[1, i], rule[5, i], rates[i])[1] / h
    if rule[6, 0] != 0.0:
        _add_update(rule, ea, ea, stress, np.empty((6, 6)))


@inner
def _share(h, A, pull, leaving, arriving):  # type: ignore[no-untyped-def]
    """Add what a gradient pull (6,) in the middle of a step of h seconds is at both of its ends."""
    for k in range(6):
        p = h * pull[k]
        for j in range(6):
            leaving[j] += A[0, k, j] * p
            arriving[j] -= A[1, k, j] * p


@inner
def _set_moved(h, A, B, bent, U, S, H):  # type: ignore[no-untyped-def]
    """Write H (12, 12), the derivative in the frames gb of what leaves the frames ga.

    A, B (2, 6, 6) : shares of both ends of the step.  bent (12, 12) : curvature in the middle.
    U (6, 12) : derivative of the strain in the middle.  S (6, 12) : of the stress in the frames gb.
    """
    row = np.empty(12)
    for a in range(12):
        for b in range(12):
            H[a, b] = 0.0
    for a in range(12):
        for b in range(12):
            row[b] = 0.0
        for k in range(6):
            s = U[k, a]
            for b in range(12):
                row[b] += s * S[k, b]
            s, t = bent[a, k], bent[a, 6 + k]
            for b in range(6):
                row[b] += s * A[1, k, b]
                row[6 + b] += t * B[1, k, b]
        first = 0 if a < 6 else 6
        for i in range(6):
            s = h * (A[0, a, i] if a < 6 else B[0, a - 6, i])
            for b in range(12):
                H[first + i, b] += s * row[b]


@inner
def _set_pull(U, stress, p):  # type: ignore[no-untyped-def]
    """Write the gradients p (2, 6) of a stress (6,) on a strain of derivative U (6, 12)."""
    for end in range(2):
        for j in range(6):
            p[end, j] = 0.0
            for i in range(6):
                p[end, j] += U[i, 6 * end + j] * stress[i]


@inner
def _pull(used, ga, gb, Q, c, stress, p):  # type: ignore[no-untyped-def]
    """Write the gradients p (2, 6) at frames ga, gb (4, 4) that a stress (6,) makes."""
    x = np.empty(6)
    if used.shape[0] > 0:
        T = np.empty((6, 12))
        _set_bushing(used, ga, gb, x, T)
        _set_pull(T, stress, p)
        return
    R, r = _between(ga, gb, Q)
    k, v = _logarithm(R, r, c[0])
    write_vector(x, 0, k)
    write_vector(x, 3, v)
    um, un = _meant(x, c, stress)
    F, G = _inverse_tangent(k, v)
    Ft, Qa, Qb = transpose(F), read_block(Q[0]), read_block(Q[1])
    dm, dn = add(1.0, apply(Ft, um), 1.0, apply(transpose(G), un)), apply(Ft, un)
    write_vector(p[1], 0, apply(Qb, dm))
    write_vector(p[1], 3, apply(Qb, dn))
    far = apply(R, dn)
    back = apply(Qa, add(1.0, apply(R, dm), 1.0, cross(r, far)))
    write_vector(p[0], 0, (-back[0], -back[1], -back[2]))
    back = apply(Qa, far)
    write_vector(p[0], 3, (-back[0], -back[1], -back[2]))


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
    _set_measured(used, ga[0], ga[1], Q, rule[4], ea)
    if h > 0.0:
        _set_measured(used, gb[0], gb[1], Q, rule[4], eb)
    else:
        x, T, U = np.empty(6), np.empty((6, 12)), np.empty((6, 12))
        _measure(used, gb[0], gb[1], Q, rule[4], x, T, eb, U)
        _set_rates(U, twists, rates)
    out[0] += scale * _stress(rule, ea, eb, rates, 0.0, h, np.empty(6), np.empty(6))
