"""Friction of tendons at their via-points: the capstan formula.

A tendon that slides through a via-point where it turns by the angle phi loses tension,

    T_k = T_{k-1} exp(-mu phi_k sigma_k),

with sigma = 1 where it slides towards the end at which it is pulled, -1 where it slides back. The rate
of sliding is that of the path beyond the point, s_k = -d/dt sum_{j >= k} l_j; in a motion
sigma = s / sqrt(s^2 + creep^2). At rest sigma is given, or it follows the way: over a load step in
which the tendon slides by s at a point, from sigma_0 at its start,

    sigma = clip(sigma_0 + s / e, -1, 1),

e the small way by which it gives way before it slides. The power lost at a point, (T_{k-1} - T_k) s_k,
is never negative, and with the work of the forces on the robot it makes up that of the pulled end.
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel

INCREMENTS = 16
"""Load steps, at least, in which loads are brought up where the way decides on friction."""
STICKS = 1e-4
"""Way, relative to its length at rest, by which a tendon gives way before it slides."""
SIGNS = {"pull": 1.0, "release": -1.0, "way": 0.0}
"""The sign of sliding at rest."""
_STRAIGHT = 1e-12
"""Sine of the angle below which a tendon is straight."""


@inner
def turn(a, b, da, db):  # type: ignore[no-untyped-def]
    """Angle between directions a and b (3,), and its derivatives in them, to da and db (3,)."""
    c0, c1, c2 = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    S = math.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
    D = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    Q = S * S + D * D
    if S * S < _STRAIGHT * _STRAIGHT * Q:
        for i in range(3):
            da[i] = db[i] = 0.0
        return math.atan2(S, D)
    c0, c1, c2 = c0 / S, c1 / S, c2 / S
    da[0] = (D * (b[1] * c2 - b[2] * c1) - S * b[0]) / Q
    da[1] = (D * (b[2] * c0 - b[0] * c2) - S * b[1]) / Q
    da[2] = (D * (b[0] * c1 - b[1] * c0) - S * b[2]) / Q
    db[0] = (D * (c1 * a[2] - c2 * a[1]) - S * a[0]) / Q
    db[1] = (D * (c2 * a[0] - c0 * a[2]) - S * a[1]) / Q
    db[2] = (D * (c0 * a[1] - c1 * a[0]) - S * a[2]) / Q
    return math.atan2(S, D)


@inner
def _add_direction(n, nb, both, bend, k, d, scale, out):  # type: ignore[no-untyped-def]
    """out (K, 3) += scale d . (derivative of direction k in the points at b)."""
    along = d[0] * n[k, 0] + d[1] * n[k, 1] + d[2] * n[k, 2]
    for i in range(3):
        v = scale * bend * (d[i] - along * nb[k, i]) / both[k]
        out[k + 1, i] += v
        out[k, i] -= v


@inner
def _sliding(rule, k, lengths, rates, h):  # type: ignore[no-untyped-def]
    """Rate at which the tendon slides at point k towards its pulled end."""
    s = 0.0
    for j in range(k, rates.shape[0]):
        s -= rates[j] if h == 0.0 else (lengths[1, j] - lengths[0, j]) / h
    return s


@inner
def at_rest(rule, k, lengths, was):  # type: ignore[no-untyped-def]
    """sigma at point k of a tendon at rest, and its derivative in the way that it slides."""
    if rule[4] == 0.0 or math.isnan(was[0, k]):
        return rule[2], 0.0
    sigma = was[1, k]
    for j in range(k, was.shape[1]):
        sigma += (was[0, j] - lengths[0, j]) / rule[4]
    if abs(sigma) > 1.0:
        return math.copysign(1.0, sigma), 0.0
    return sigma, 1.0 / rule[4]


@kernel
def renew_sliding(rule, lengths, was):  # type: ignore[no-untyped-def]
    """Set `was` (2, K - 1) to the lengths and sigma at the end of a load step."""
    for k in range(was.shape[1]):
        was[1, k] = at_rest(rule, k, lengths, was)[0]
    for k in range(was.shape[1]):
        was[0, k] = lengths[0, k]


@kernel
def set_capstan(  # type: ignore[no-untyped-def]
    rule, n, nb, lengths, rates, still, was, speed, h, bend, slope, tension, dT, loss
):
    """Let tensions (K - 1,), all of which have that of the pulled end, fall along a tendon.

    rule : friction, creep in m/s, the sign of sliding at rest, the first point with friction, and e.
    still : whether it is at rest. was (2, K - 1) : lengths and sigma at the start of a load step, where
    sigma follows the way; it is not a number where that is not known. speed : derivative of rates in
    lengths, 1/s; h : of a step, 0 at one configuration. slope_0 : derivative of the tension of the
    pulled end in the length; bend as of `path_kernels`. Writes dT (K - 1, K, 3), and to loss_0 the
    power lost.
    """
    spans = n.shape[0]
    mu, creep, first = rule[0], rule[1], int(rule[3])
    pulled, log = tension[0], 0.0
    grow = 1.0 / h if h > 0.0 else speed
    da, db, logs = np.empty(3), np.empty(3), np.zeros((spans + 1, 3))
    loss[0] = 0.0
    for k in range(spans):
        if k >= first:
            phi = turn(n[k - 1], n[k], da, db)
            s = 0.0 if still else _sliding(rule, k, lengths, rates, h)
            size = math.sqrt(s * s + creep * creep)
            sigma, steep = s / size, creep * creep / size**3 * grow
            if still:
                sigma, steep = at_rest(rule, k, lengths, was)
            log -= mu * phi * sigma
            _add_direction(n, nb, lengths[2], bend, k - 1, da, -mu * sigma, logs)
            _add_direction(n, nb, lengths[2], bend, k, db, -mu * sigma, logs)
            if steep != 0.0:
                rise = mu * phi * steep
                for j in range(k, spans):
                    for i in range(3):
                        logs[j + 1, i] += rise * nb[j, i]
                        logs[j, i] -= rise * nb[j, i]
            loss[0] += (tension[k - 1] - pulled * math.exp(log)) * s
        w = math.exp(log)
        tension[k] = pulled * w
        for j in range(spans + 1):
            for i in range(3):
                c = 0.0
                if j > 0:
                    c += nb[j - 1, i]
                if j < spans:
                    c -= nb[j, i]
                dT[k, j, i] = w * slope[0] * c + tension[k] * logs[j, i]
