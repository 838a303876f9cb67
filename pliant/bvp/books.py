"""Power that goes in and power that is lost at one instant of a motion."""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel


@kernel
def _load_power(load, y):  # type: ignore[no-untyped-def]
    """Power of a point load (15,) at the section state y (24,), W."""
    wx, wy, wz = y[6], y[7], y[8]
    speed = np.empty(3)
    speed[0] = y[9] + wy * load[2] - wz * load[1]
    speed[1] = y[10] + wz * load[0] - wx * load[2]
    speed[2] = y[11] + wx * load[1] - wy * load[0]
    found = 0.0
    for i in range(3):
        moment, force = load[9 + i], load[12 + i]
        for j in range(3):
            moment += y[15 + 3 * j + i] * load[3 + j]
            force += y[15 + 3 * j + i] * load[6 + j]
        found += moment * y[6 + i] + force * speed[i]
    return found


@kernel
def _line_power(P, weight, y):  # type: ignore[no-untyped-def]
    """Power per length of the loads along a rod, weight (3,) left out, W/m."""
    found = 0.0
    for i in range(3):
        moment, force = P[34 + i], P[37 + i]
        for j in range(3):
            moment += y[15 + 3 * j + i] * P[31 + j]
            force += y[15 + 3 * j + i] * (P[28 + j] - weight[j])
        found += moment * y[6 + i] + force * y[9 + i]
    return found


@kernel
def powers(arrays, D, M, active, sites, nodes, x, xi_t, eta):  # type: ignore[no-untyped-def]
    """Power of loads, pressures and base, and power lost to damping and drag, W.

    D, M (N, 3, 6) damping and inertia, active (N, 3, 6) wrench of chambers, sites (P, 2) interval
    and end of each point load, x (6,) wrench that the chain takes from the base, xi_t, eta (N, 3, 6)
    strain rate and velocity at the stages. Loss and the power of chambers are summed by Simpson's
    rule over the stages, power along rods by the trapezoidal rule.
    """
    power, lost = 0.0, 0.0
    for r in range(6):
        power -= x[r] * nodes[0, 0, 6 + r]
    for p in range(len(sites)):
        power += _load_power(arrays.loads[p], nodes[sites[p, 0], sites[p, 1]])
    weight = np.empty(3)
    for i in range(len(arrays.h)):
        for j in range(3):
            P = arrays.stages[i, j]
            part = arrays.h[i] * (4.0 if j == 1 else 1.0) / 6.0
            for r in range(6):
                e = eta[i, j, r]
                power -= part * active[i, j, r] * xi_t[i, j, r]
                lost += part * (D[i, j, r] * xi_t[i, j, r] ** 2 + P[43] * M[i, j, r] * e * e)
            for r in range(3):
                lost += part * P[40 + r] * abs(eta[i, j, 3 + r]) ** 3
            if j != 1:
                for r in range(3):
                    weight[r] = P[27] * arrays.gravity[r]
                power += 0.5 * arrays.h[i] * _line_power(P, weight, nodes[i, j // 2])
    return power, lost
