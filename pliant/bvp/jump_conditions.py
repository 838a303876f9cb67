"""Jump conditions between the pieces of a chain: point loads, rigid bodies, joints between rods.

Each takes the state y (24,) and its variations Z (18, c) from one side of a section to the other, in
place; the orientation of y is a matrix here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.bvp.chain import BODY, JOINT, LOAD, Chain
from pliant.lie.tuples import Array
from pliant.model import Body, Load
from pliant.rods.contract import Ints


class Jumps(NamedTuple):
    """Loads, bodies and joints between the pieces, from base to tip.

    first : (P + 2,) jumps first[k] to first[k + 1] lie before piece k, those of k = P at the tip.
    kind, row : (J,) LOAD, BODY or JOINT and its row.  loads : (., 15) offset in the section (3), world
    wrench (6), body wrench (6).  mass : (., 6, 6) inertia of bodies at the section; history : (., 6) H
    of their velocity; weight : (., 4) mass and centre.  joints : (., 12) rotation by rows and
    translation from one rod's tip to the next base.  gravity : (3,) world, m/s^2.
    """

    first: Ints
    kind: Ints
    row: Ints
    loads: Array
    mass: Array
    history: Array
    weight: Array
    joints: Array
    gravity: Array


def compile_jumps(chain: Chain) -> Jumps:
    """Jumps of a chain as arrays, the loads still zero."""
    kinds = np.array([jump.kind for jump in chain.jumps], dtype=np.int64)
    rows = np.zeros(len(kinds), dtype=np.int64)
    for kind in (LOAD, BODY, JOINT):
        rows[kinds == kind] = np.arange(int(np.sum(kinds == kind)))
    bodies = [jump.part for jump in chain.jumps if isinstance(jump.part, Body)]
    offsets = [jump.offset for jump in chain.jumps if jump.kind == LOAD]
    poses = [jump.pose for jump in chain.jumps if jump.kind == JOINT]
    return Jumps(
        np.cumsum([0, *(len(group) for group in chain.jump_groups)]),
        kinds,
        rows,
        np.concatenate([np.array(offsets).reshape(-1, 3), np.zeros((len(offsets), 12))], axis=1),
        np.array([body.spatial_inertia() for body in bodies]).reshape(-1, 6, 6),
        np.zeros((len(bodies), 6)),
        np.array([[body.mass, *body.arm()] for body in bodies]).reshape(-1, 4),
        np.array([[*g[:3, :3].ravel(), *g[:3, 3]] for g in poses]).reshape(-1, 12),
        np.array(chain.description.gravity, dtype=float),
    )


def point_wrenches(chain: Chain, values: Mapping[str, Any]) -> Array:
    """World wrench and body wrench (loads, 12) of the loads at points, from base to tip."""
    loads = [jump.part for jump in chain.jumps if isinstance(jump.part, Load)]
    found = np.zeros((len(loads), 12))
    for row, load in zip(found, loads, strict=True):
        at = 0 if load.frame == "world" else 6
        row[at : at + 6] = load.wrench(values[load.name])
    return found


@kernel
def _cross(a, b, out):  # type: ignore[no-untyped-def]
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def _apply_load(load, y, Z):  # type: ignore[no-untyped-def]
    """(m, n) falls by the load: F = R^T f, M = R^T l + offset x F, and follower parts."""
    world, turned, arm, offset = np.empty(6), np.empty(3), np.empty(3), load[:3]
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
    for part in range(3):
        _cross(eta[3:] if part == 1 else eta[:3], mu[:3] if part == 0 else mu[3:], turned)
        for i in range(3):
            out[(3 if part == 2 else 0) + i] += turned[i]


@kernel
def _apply_body(M, history, weight, gravity, c0, y, Z):  # type: ignore[no-untyped-def]
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
def _apply_joint(joint, y, Z):  # type: ignore[no-untyped-def]
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
    for at in (0, 3, 6, 9, 15, 18, 21):  # vectors turn to X^T a, rows of R to X^T r
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
def apply_jumps(jumps, first, last, c0, y, Z):  # type: ignore[no-untyped-def]
    """Take the state and its variations over jumps first to last - 1, towards the tip."""
    for e in range(first, last):
        row = jumps.row[e]
        if jumps.kind[e] == LOAD:
            _apply_load(jumps.loads[row], y, Z)
        elif jumps.kind[e] == BODY:
            _apply_body(
                jumps.mass[row], jumps.history[row], jumps.weight[row], jumps.gravity, c0, y, Z
            )
        else:
            _apply_joint(jumps.joints[row], y, Z)
