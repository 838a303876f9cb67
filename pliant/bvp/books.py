"""Work done on a chain and energy lost in it over the steps of a motion by shooting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.bvp.mesh import Mesh
from pliant.lie.tuples import Array


class Ledger(NamedTuple):
    """What was booked, and what pushed and moved at the last instant.

    totals : (2,) work and loss so far, J.  strain_rate, velocity, active : (N, 3, 6) at the stages,
    active the wrench of chambers.  push, move : (1 + P + 2 N, 12) of the base, of each point load and,
    if there are loads along rods, at both ends of each interval: wrench and twist in the world, then
    those in the body.
    """

    totals: Array
    strain_rate: Array
    velocity: Array
    active: Array
    push: Array
    move: Array


def new_ledger(mesh: Mesh, totals: Array) -> Ledger:
    """Pages for a mesh; totals : (2,) go on being added to."""
    lines = any(load.distributed for load in mesh.chain.description.loads.values())
    rows = (1 + len(mesh.load_sites) + (2 * mesh.N if lines else 0), 12)
    rate, velocity, active = (np.zeros((mesh.N, 3, 6)) for _ in range(3))
    return Ledger(totals, rate, velocity, active, np.zeros(rows), np.zeros(rows))


@kernel
def _twists(y, offset, move):  # type: ignore[no-untyped-def]
    """Write the twist of a section state y (24,) at an offset (3,): world (6,), then body (6,)."""
    wx, wy, wz = y[6], y[7], y[8]
    move[6], move[7], move[8] = wx, wy, wz
    move[9] = y[9] + wy * offset[2] - wz * offset[1]
    move[10] = y[10] + wz * offset[0] - wx * offset[2]
    move[11] = y[11] + wx * offset[1] - wy * offset[0]
    for part in (0, 3):
        for i in range(3):
            total = 0.0
            for j in range(3):
                total += y[15 + 3 * i + j] * move[6 + part + j]
            move[part + i] = total


@kernel
def _work(push, move, push_before, move_before, shares):  # type: ignore[no-untyped-def]
    """Work of one row (12,) in a step, J; the row before becomes that of now."""
    found = 0.0
    for r in range(12):
        f0, f1, v0, v1 = push_before[r], push[r], move_before[r], move[r]
        found += shares[0] * f0 * v0 + shares[1] * f1 * v1
        found += shares[2] * 0.25 * (f0 + f1) * (v0 + v1)
        push_before[r], move_before[r] = f1, v1
    return found


@kernel
def _loads_work(ledger, shares, arrays, sites, nodes, x):  # type: ignore[no-untyped-def]
    """Work of the base, of point loads and of loads along the rods, weight left out, J."""
    push, move, none = np.zeros(12), np.zeros(12), np.zeros(3)
    for r in range(6):
        push[6 + r], move[6 + r] = -x[r], nodes[0, 0, 6 + r]
    found = _work(push, move, ledger.push[0], ledger.move[0], shares)
    for p in range(len(sites)):
        load = arrays.loads[p]
        push[:] = load[3:15]
        _twists(nodes[sites[p, 0], sites[p, 1]], load[:3], move)
        found += _work(push, move, ledger.push[1 + p], ledger.move[1 + p], shares)
    for k in range(len(ledger.push) - 1 - len(sites)):
        i, end, row = k // 2, k % 2, 1 + len(sites) + k
        P, part = arrays.stages[i, 2 * end], 0.5 * arrays.h[i]
        for r in range(3):
            push[r], push[3 + r] = part * P[31 + r], part * (P[28 + r] - P[27] * arrays.gravity[r])
            push[6 + r], push[9 + r] = part * P[34 + r], part * P[37 + r]
        _twists(nodes[i, end], none, move)
        found += _work(push, move, ledger.push[row], ledger.move[row], shares)
    return found


@kernel
def _lost(P, D, M, rate, e, r):  # type: ignore[no-untyped-def]
    """Power lost per length by one of six components: damping, mass damping, drag, W/m."""
    found = D * rate * rate + P[43] * M * e * e
    if r > 2:
        found += P[37 + r] * abs(e) ** 3
    return found


@kernel
def enter(ledger, shares, arrays, D, M, active, sites, nodes, x, xi_t, eta):  # type: ignore[no-untyped-def]
    """Book the step that led to the present instant.

    shares (3,) see `TimeRule.shares`; all zero only keeps the instant. D, M (N, 3, 6) damping and
    inertia, active (N, 3, 6) wrench of chambers, sites (P, 2) interval and end of each point load,
    x (6,) wrench that the chain takes from the base, xi_t, eta (N, 3, 6) strain rate and velocity at
    the stages. Loss and the work of chambers are summed by Simpson's rule over the stages, work along
    rods by the trapezoidal rule.
    """
    work, lost = _loads_work(ledger, shares, arrays, sites, nodes, x), 0.0
    a, b, c = shares[0], shares[1], shares[2]
    for i in range(len(arrays.h)):
        for j in range(3):
            P = arrays.stages[i, j]
            part = arrays.h[i] * (4.0 if j == 1 else 1.0) / 6.0
            for r in range(6):
                d, m, f0, f1 = D[i, j, r], M[i, j, r], ledger.active[i, j, r], active[i, j, r]
                r0, r1 = ledger.strain_rate[i, j, r], xi_t[i, j, r]
                e0, e1 = ledger.velocity[i, j, r], eta[i, j, r]
                rate, e = 0.5 * (r0 + r1), 0.5 * (e0 + e1)
                work -= part * (a * f0 * r0 + b * f1 * r1 + c * 0.5 * (f0 + f1) * rate)
                if a != 0.0:
                    lost += a * part * _lost(P, d, m, r0, e0, r)
                lost += b * part * _lost(P, d, m, r1, e1, r) + c * part * _lost(P, d, m, rate, e, r)
                ledger.active[i, j, r] = f1
                ledger.strain_rate[i, j, r], ledger.velocity[i, j, r] = r1, e1
    ledger.totals[0] += work
    ledger.totals[1] += lost
