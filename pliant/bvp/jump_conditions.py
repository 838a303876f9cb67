"""Jump conditions between the pieces of a chain: point loads, rigid bodies, joints between rods.

Each takes the state y (24,) and its variations Z (18, c) from one side of a section to the other, in
place; the orientation of y is a matrix here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant._numba import inner, kernel, leaf
from pliant.bvp.chain import BODY, JOINT, WRENCH, Chain
from pliant.bvp.rod_equations import rotation
from pliant.lie.tuples import (
    Array,
    add,
    apply,
    cross,
    multiply,
    read_block,
    read_vector,
    transpose,
    write_vector,
)
from pliant.rods.contract import Ints


class Jumps(NamedTuple):
    """Loads, bodies and joints between the pieces, from base to tip.

    first : (P + 2,) jumps first[k] to first[k + 1] lie before piece k, those of k = P at the tip.
    kind, row : (J,) WRENCH, BODY or JOINT and its row.  wrenches : (., 15) offset in the section (3),
    world wrench (6), body wrench (6).  mass : (., 6, 6) inertia of bodies at the section; history :
    (., 6) H of their velocity; weight : (., 4) mass and centre.  joints : (., 4, 4) pose of the next
    base in the frame of a rod's tip.  gravity : (3,) world, m/s^2.
    """

    first: Ints
    kind: Ints
    row: Ints
    wrenches: Array
    mass: Array
    history: Array
    weight: Array
    joints: Array
    gravity: Array


def compile_jumps(chain: Chain) -> Jumps:
    """Jumps of a chain as arrays, the wrenches still zero."""
    wrenches, bodies, joints = (chain.jumps_of(kind) for kind in (WRENCH, BODY, JOINT))
    kinds = np.array([jump.kind for jump in chain.jumps], dtype=np.int64)
    rows = [int(np.sum(kinds[:e] == kind)) for e, kind in enumerate(kinds)]
    weights = [[jump.part.mass, *jump.offset] for jump in bodies]
    return Jumps(
        np.cumsum([0, *(len(group) for group in chain.jump_groups)]),
        kinds,
        np.array(rows, dtype=np.int64),
        np.array([[*jump.offset, *np.zeros(12)] for jump in wrenches]).reshape(-1, 15),
        np.array([jump.part.spatial_inertia() for jump in bodies]).reshape(-1, 6, 6),
        np.zeros((len(bodies), 6)),
        np.array(weights).reshape(-1, 4),
        np.array([jump.pose for jump in joints]).reshape(-1, 4, 4),
        np.array(chain.description.gravity, dtype=float),
    )


def point_wrenches(chain: Chain, values: Mapping[str, Any]) -> Array:
    """World wrench and body wrench (P, 12) of what acts at points, from base to tip."""
    points = [jump.part for jump in chain.jumps_of(WRENCH)]
    found = np.zeros((len(points), 2, 6))
    for row, point in zip(found, points, strict=True):
        row[0 if point.world else 1] = point.wrench(values[point.name])
    return found.reshape(-1, 12)


@leaf
def _add(f, moment, force, y):  # type: ignore[no-untyped-def]
    """Add f times a moment and a force to the first six of some numbers."""
    for i in range(3):
        y[i] += f * moment[i]
        y[3 + i] += f * force[i]


@leaf
def _subtract(o, moment, force, y):  # type: ignore[no-untyped-def]
    """(m, n) falls by a moment and a force at an offset o, all in the body frame."""
    _add(-1.0, add(1.0, moment, 1.0, cross(o, force)), force, y)


@leaf
def _subtract_dead(o, moment, force, y, Z):  # type: ignore[no-untyped-def]
    """`_subtract` for world vectors; seen from the body they turn with the section, by F x theta."""
    back = transpose(rotation(y))
    moment, force = apply(back, moment), apply(back, force)
    _subtract(o, moment, force, y)
    for c in range(Z.shape[1]):
        theta = (Z[12, c], Z[13, c], Z[14, c])
        _subtract(o, cross(moment, theta), cross(force, theta), Z[:, c])


@leaf
def _inertial(M, eta, rate):  # type: ignore[no-untyped-def]
    """Momentum M eta and what M times a rate is, as four vectors."""
    mu, change = np.zeros(6), np.zeros(6)
    for i in range(6):
        for j in range(6):
            mu[i] += M[i, j] * eta[j]
            change[i] += M[i, j] * rate[j]
    return read_vector(mu, 0), read_vector(mu, 3), read_vector(change, 0), read_vector(change, 3)


@leaf
def _carry(eta, m, f, y):  # type: ignore[no-untyped-def]
    """Add -ad_eta^T of a momentum (m, f) to the first six of some numbers."""
    w, q = read_vector(eta, 0), read_vector(eta, 3)
    _add(1.0, add(1.0, cross(w, m), 1.0, cross(q, f)), cross(w, f), y)


@inner
def _apply_body(M, history, weight, gravity, c0, y, Z):  # type: ignore[no-untyped-def]
    """(m, n) rises by what moves the body, M eta_t - ad_eta^T M eta, less its weight."""
    eta = y[6:12].copy()
    m, f, moment, force = _inertial(M, eta, c0 * eta + history)
    _add(1.0, moment, force, y)
    _carry(eta, m, f, y)
    for c in range(Z.shape[1]):
        z, change = Z[:, c], Z[6:12, c].copy()
        dm, df, moment, force = _inertial(M, change, c0 * change)
        _add(1.0, moment, force, z)
        _carry(change, m, f, z)
        _carry(eta, dm, df, z)
    g, none = read_vector(gravity, 0), (0.0, 0.0, 0.0)
    _subtract_dead(read_vector(weight, 1), none, add(weight[0], g, 0.0, g), y, Z)


@leaf
def _change_frame(back, arm, wrench, z):  # type: ignore[no-untyped-def]
    """Take a wrench, or else a twist, z (6,) to a frame at `arm`, turned by `back` inverted."""
    a, b = read_vector(z, 0), read_vector(z, 3)
    if wrench:
        a = add(1.0, a, -1.0, cross(arm, b))
    else:
        b = add(1.0, b, -1.0, cross(arm, a))
    write_vector(z, 0, apply(back, a))
    write_vector(z, 3, apply(back, b))


@inner
def _apply_joint(pose, y, Z):  # type: ignore[no-untyped-def]
    """Go over to the next rod's base frame, at a pose (4, 4) in the section frame."""
    t, R, X = (pose[0, 3], pose[1, 3], pose[2, 3]), rotation(y), read_block(pose)
    back = transpose(X)
    write_vector(y, 12, add(1.0, read_vector(y, 12), 1.0, apply(R, t)))
    turned = multiply(R, X)
    for i in range(9):
        y[15 + i] = turned[i]
    for at in range(0, 18, 6):
        if at < 12:
            _change_frame(back, t, at == 0, y[at : at + 6])
        for c in range(Z.shape[1]):
            _change_frame(back, t, at == 0, Z[at : at + 6, c])


@kernel
def apply_jumps(jumps, first, last, c0, y, Z):  # type: ignore[no-untyped-def]
    """Take the state and its variations over jumps first to last - 1, towards the tip."""
    for e in range(first, last):
        k, kind = jumps.row[e], jumps.kind[e]
        if kind == WRENCH:
            row = jumps.wrenches[k]
            o = read_vector(row, 0)
            _subtract(o, read_vector(row, 9), read_vector(row, 12), y)
            _subtract_dead(o, read_vector(row, 3), read_vector(row, 6), y, Z)
        elif kind == BODY:
            parts = jumps.mass[k], jumps.history[k], jumps.weight[k], jumps.gravity
            _apply_body(*parts, c0, y, Z)
        else:
            _apply_joint(jumps.joints[k], y, Z)
