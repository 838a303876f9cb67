"""The law of springs and dampers, of both or of one sign.

With e = L - rest, of which c is the part that counts (e, max(e, 0) for a rope, min(e, 0) for a bumper),
the potential is V = k c^2 / 2. In a step from a to b its stress is the secant

    (V_b - V_a) / (e_b - e_a) = k/2 (c_a + c_b) share,     share = (c_b - c_a) / (e_b - e_a),

with `share` the part of the step in which the spring is engaged; the damper acts for as long. What only
pulls or only pushes does so with its damper: its force never changes its sign.
"""

from __future__ import annotations

import math

from pliant._numba import inner, kernel

_SLOW = 1e-3
"""Rate below which a damper of a power below one is smoothed, m/s."""
_CLOSE = 1e-9
"""Change of length, relative to the length, below which a secant is a tangent."""


@kernel
def add_scaled(scale, values, out):  # type: ignore[no-untyped-def]
    """out_0 += scale values_0."""
    out[0] += scale * values[0]


@inner
def counted(kind, e):  # type: ignore[no-untyped-def]
    """The part of an elongation that counts, and its derivative."""
    if (kind == 1.0 and e < 0.0) or (kind == 2.0 and e > 0.0):
        return 0.0, 0.0
    return e, 1.0


@inner
def damper(c, power, rate):  # type: ignore[no-untyped-def]
    """Force of a damper and its derivative in the rate."""
    if power == 1.0:
        return c * rate, c
    size = math.sqrt(rate * rate + (_SLOW * _SLOW if power < 1.0 else 0.0))
    if size == 0.0:
        return 0.0, 0.0
    f = c * size ** (power - 1.0)
    return f * rate, f * (1.0 + (power - 1.0) * rate * rate / (size * size))


@kernel
def set_force(rule, lengths, rates, speed, h, implicit, tension, slope, loss):  # type: ignore[no-untyped-def]
    """Write tension (K - 1,) of all spans, its derivative slope_0 in the length at b, and the power
    lost loss_0.

    lengths (3, K - 1) as of `Spans`; at one configuration (h = 0) rates (K - 1,) of the spans and their
    derivative `speed` in the lengths.
    """
    k, rest, kind = rule[0], rule[1], rule[4]
    ea, eb, rate, grow = -rest, -rest, 0.0, speed
    for i in range(tension.shape[0]):
        ea += lengths[0, i]
        eb += lengths[1, i]
        rate += rates[i]
    ca, sa = counted(kind, ea)
    cb, sb = counted(kind, eb)
    if h == 0.0 or not implicit:
        share, change = sa, 0.0
        force, grown = k * ca, (k * sa if h == 0.0 else 0.0)
    else:
        share, change = 0.5 * (sa + sb), 0.0
        if abs(eb - ea) > _CLOSE * (rest + abs(eb)):
            share = (cb - ca) / (eb - ea)
            change = (sb - share) / (eb - ea)
        force = 0.5 * k * (ca + cb) * share
        grown = 0.5 * k * (sb * share + (ca + cb) * change)
    if h > 0.0:
        rate, grow = (eb - ea) / h, 1.0 / h
    f, df = damper(rule[2], rule[3], rate)
    damped, damped_slope = share * f, share * df * grow + change * f
    total = force + damped
    if (kind == 1.0 and total < 0.0) or (kind == 2.0 and total > 0.0):
        damped, damped_slope = -force, -grown
    loss[0] = damped * rate
    slope[0] = grown + damped_slope
    for i in range(tension.shape[0]):
        tension[i] = force + damped


@kernel
def add_work(u, lengths, out):  # type: ignore[no-untyped-def]
    """out_0 -= u_0 times the change of length from a to b."""
    for i in range(lengths.shape[1]):
        out[0] -= u[0] * (lengths[1, i] - lengths[0, i])
