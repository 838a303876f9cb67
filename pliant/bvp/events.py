"""What a sweep meets on its way along the rods: point loads, rigid bodies, joints between rods.

Each takes the state y (24,) and its variations Z (18, c) from one side of a section to the other, in
place; the orientation of y is a matrix here.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.bvp.arrays import BODY, LOAD
from pliant.bvp.equations import (
    COMPLIANCE,
    FORCE_WORLD,
    MASS,
    MOMENT_BODY,
    MOMENT_WORLD,
    STRAIN,
    VELOCITY_HISTORY,
)

FLOOR = 1e-6
"""Internal wrench, relative to one that bends the chain by a radian, below which nothing acts."""


@kernel
def _cross(a, b, out):  # type: ignore[no-untyped-def]
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def _meet_load(load, y, Z):  # type: ignore[no-untyped-def]
    """(m, n) falls by the load: F = R^T f, M = R^T l + offset x F, and follower parts."""
    world = np.empty(6)
    turned = np.empty(3)
    arm = np.empty(3)
    offset = load[:3]
    for i in range(3):
        for part in range(2):
            total = 0.0
            for j in range(3):
                total += y[15 + 3 * j + i] * load[3 + 3 * part + j]
            world[3 * part + i] = total
    force = world[3:] + load[12:15]
    _cross(offset, force, arm)
    for i in range(3):
        y[i] -= world[i] + load[9 + i] + arm[i]
        y[3 + i] -= force[i]
    for c in range(Z.shape[1]):
        theta = Z[15:18, c]
        _cross(world[3:], theta, turned)
        _cross(offset, turned, arm)
        for i in range(3):
            Z[3 + i, c] -= turned[i]
            Z[i, c] -= arm[i]
        _cross(world[:3], theta, turned)
        for i in range(3):
            Z[i, c] -= turned[i]


@kernel
def _add_gyration(eta, mu, out):  # type: ignore[no-untyped-def]
    """Add -ad_eta^T mu = (w x l + q x p, w x p) for a momentum mu = (l, p) to `out`."""
    turned = np.empty(3)
    _cross(eta[:3], mu[:3], turned)
    for i in range(3):
        out[i] += turned[i]
    _cross(eta[3:], mu[3:], turned)
    for i in range(3):
        out[i] += turned[i]
    _cross(eta[:3], mu[3:], turned)
    for i in range(3):
        out[3 + i] += turned[i]


@kernel
def _meet_body(M, history, weight, gravity, c0, y, Z):  # type: ignore[no-untyped-def]
    """(m, n) rises by what moves the body, M eta_t - ad_eta^T M eta, less its weight."""
    eta, mu, rate, deta, dmu = np.empty(6), np.empty(6), np.empty(6), np.empty(6), np.empty(6)
    down, turned, arm = np.empty(3), np.empty(3), np.empty(3)
    eta[:] = y[6:12]
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += y[15 + 3 * j + i] * gravity[j]
        down[i] = weight[0] * total
    for i in range(6):
        mu[i] = rate[i] = 0.0
        for j in range(6):
            mu[i] += M[i, j] * eta[j]
            rate[i] += M[i, j] * (c0 * eta[j] + history[j])
    _add_gyration(eta, mu, rate)
    _cross(weight[1:], down, arm)
    for i in range(3):
        y[i] += rate[i] - arm[i]
        y[3 + i] += rate[3 + i] - down[i]
    for c in range(Z.shape[1]):
        deta[:] = Z[6:12, c]
        for i in range(6):
            dmu[i] = 0.0
            for j in range(6):
                dmu[i] += M[i, j] * deta[j]
            rate[i] = c0 * dmu[i]
        _add_gyration(deta, mu, rate)
        _add_gyration(eta, dmu, rate)
        _cross(down, Z[15:18, c], turned)
        _cross(weight[1:], turned, arm)
        for i in range(3):
            Z[i, c] += rate[i] - arm[i]
            Z[3 + i, c] += rate[3 + i] - turned[i]


@kernel
def _pass_joint(joint, y, Z):  # type: ignore[no-untyped-def]
    """Go over to the next rod's base frame: rotation X and translation t in the section frame."""
    t = joint[9:12]
    arm = np.empty(3)
    _cross(t, y[3:6], arm)
    for i in range(3):
        y[i] -= arm[i]
    _cross(y[6:9], t, arm)
    for i in range(3):
        y[9 + i] += arm[i]
        y[12 + i] += y[15 + 3 * i] * t[0] + y[16 + 3 * i] * t[1] + y[17 + 3 * i] * t[2]
    old = y[15:24].copy()
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += old[3 * i + k] * joint[3 * k + j]
            y[15 + 3 * i + j] = total
    for at in (0, 3, 6, 9):
        a, b, c = y[at], y[at + 1], y[at + 2]
        for j in range(3):
            y[at + j] = joint[j] * a + joint[3 + j] * b + joint[6 + j] * c
    for col in range(Z.shape[1]):
        _cross(t, Z[3:6, col], arm)
        for i in range(3):
            Z[i, col] -= arm[i]
        for of, to in ((6, 9), (15, 12)):
            _cross(Z[of : of + 3, col], t, arm)
            for i in range(3):
                Z[to + i, col] += arm[i]
        for at in (0, 3, 6, 9, 12, 15):
            a, b, c = Z[at, col], Z[at + 1, col], Z[at + 2, col]
            for j in range(3):
                Z[at + j, col] = joint[j] * a + joint[3 + j] * b + joint[6 + j] * c


@kernel
def meet_events(arrays, i, c0, y, Z):  # type: ignore[no-untyped-def]
    """Take the state and its variations over everything that sits before interval i."""
    for e in range(arrays.first_event[i], arrays.first_event[i + 1]):
        row = arrays.event_row[e]
        if arrays.event_kind[e] == LOAD:
            _meet_load(arrays.loads[row], y, Z)
        elif arrays.event_kind[e] == BODY:
            _meet_body(
                arrays.body_mass[row],
                arrays.body_history[row],
                arrays.body_weight[row],
                arrays.gravity,
                c0,
                y,
                Z,
            )
        else:
            _pass_joint(arrays.joints[row], y, Z)


@kernel
def applied(arrays, scale):  # type: ignore[no-untyped-def]
    """Largest of the wrenches that act on the chain, weight included, in units of `scale` (6,)."""
    found = 0.0
    for i in range(6):
        total = 0.0
        for p in range(len(arrays.loads)):
            total += abs(arrays.loads[p, 3 + i]) + abs(arrays.loads[p, 9 + i])
        world = FORCE_WORLD + i - 3 if i > 2 else MOMENT_WORLD + i
        for k in range(len(arrays.h)):
            P = arrays.stages[k, 1]
            total += arrays.h[k] * (abs(P[world]) + abs(P[MOMENT_BODY + i]))
        if i > 2:
            for b in range(len(arrays.body_weight)):
                total += arrays.body_weight[b, 0] * abs(arrays.gravity[i - 3])
        found = max(found, total / scale[i])
    return found


@kernel
def _whole_mass(arrays):  # type: ignore[no-untyped-def]
    """Mass of rods and bodies, kg."""
    mass = 0.0
    for i in range(len(arrays.h)):
        mass += arrays.h[i] * arrays.stages[i, 1, MASS]
    for b in range(len(arrays.body_weight)):
        mass += arrays.body_weight[b, 0]
    return mass


@kernel
def surge(arrays, scale, length, c0, twist, xi, nodes):  # type: ignore[no-untyped-def]
    """Wrench, in units of `scale`, that a step can bring without loads: pressure, inertia, motion.

    twist (6,) of the base to come, xi (N, 3, 6), nodes (N, 2, 24) strains and states of the last
    instant. Where a pressure jumps, sections keep their strain until they move, and the law asks for
    (xi - xi_0) / S instead of the wrench so far; a moment m that they cannot follow within a time step
    dies out over 1/k, k^4 = c0^2 mass S, by forces of k m. A base accelerates all that it carries, and
    sections that go on turning at w bend the chain by w / c0.
    """
    jump, steep, bend, base = 0.0, 0.0, 0.0, 0.0
    for i in range(len(arrays.h)):
        P, y = arrays.stages[i, 0], nodes[i, 0]
        for r in range(6):
            S = P[COMPLIANCE + r]
            if S > 0.0:
                change = (xi[i, 0, r] - P[STRAIN + r]) / S - y[r]
                jump = max(jump, abs(change) / scale[r])
            if r < 3:
                rate = max(abs(y[6 + r]), abs(y[9 + r]) / length)
                bend = max(bend, rate / (c0 * length * S * scale[r]))
        steep = max(steep, c0 * c0 * P[MASS] * max(P[COMPLIANCE], P[COMPLIANCE + 1]))
    for r in range(6):
        part = c0 * twist[r] + arrays.stages[0, 0, VELOCITY_HISTORY + r]
        base = max(base, abs(part) * (length if r < 3 else 1.0))
    found = max(jump * max(1.0, length * steep**0.25), bend)
    return max(found, base * _whole_mass(arrays) / scale[3])


@kernel
def heaviness(arrays, scale, length, c0):  # type: ignore[no-untyped-def]
    """Wrench, in units of `scale`, of which rounding of positions in a short step leaves 1e-11."""
    return 1e-5 * c0 * c0 * _whole_mass(arrays) * length / scale[3]
