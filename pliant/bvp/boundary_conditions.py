"""Boundary conditions of a chain: what is unknown at its base and what must hold at its tip.

Six numbers x are unknown at the base: in held directions the wrench there, in free directions the
motion phi of the base from a pose g, g exp(phi). In time, phi_t = c0 phi + H gives the base's velocity.
Six conditions hold at the tip: no gap in held directions, no wrench in free ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant._numba import inner, kernel
from pliant.bvp.chain import Chain
from pliant.bvp.rod_equations import skew
from pliant.lie import se3_kernels as se3, so3
from pliant.lie.operators import DEXP, DEXP_INVERSE
from pliant.lie.tuples import Array, read_block, read_vector


class Supports(NamedTuple):
    """Both ends at the instant that is solved for.

    held : (6,) directions (rx, ry, rz, x, y, z) of the base that are held.  pose : (4, 4) of a clamped
    base, or the pose that free directions move from.  twist : (6,) velocity of a clamped base.
    history : (6,) H of phi_t = c0 phi + H.  tip_held : (6,), tip_pose : (4, 4), tip_offset : (3,) held
    place in the section, m.  left : (6,) gaps that are allowed at the tip, for going there by and by.
    units : (2, 6) typical sizes of x and of the conditions at the tip.
    """

    held: np.ndarray
    pose: Array
    twist: Array
    history: Array
    tip_held: np.ndarray
    tip_pose: Array
    tip_offset: Array
    left: Array
    units: Array

    @property
    def clamped(self) -> bool:
        """True if all directions of the base are held."""
        return bool(self.held.all())

    @property
    def tip_free(self) -> bool:
        """True if no direction of the tip is held."""
        return not self.tip_held.any()


def make_supports(chain: Chain) -> Supports:
    """The ends of a chain at rest."""
    one, base, tip = np.array([1.0] * 3 + [chain.length] * 3), chain.base, chain.tip
    units = [np.where(base.held, chain.scale, one), np.where(tip.held, one, chain.scale)]
    pose, held_to = np.array(base.pose, dtype=float), np.array(tip.pose, dtype=float)
    offset = np.array(tip.offset, dtype=float)
    still = np.zeros(6), np.zeros(6), tip.held, held_to, offset, np.zeros(6), np.array(units)
    return Supports(base.held, pose, *still)


@inner
def _dexp_derivative(x, a, T):  # type: ignore[no-untyped-def]
    """The derivative (6, 6) of dexp(x) a in x; T = dexp(x).

    Its symmetric part is the second form; the rest follows from the Maurer-Cartan equation,
    D_v (T a) - D_a (T v) = -[T v, T a].
    """
    form, bracket, units = np.empty((6, 6)), np.empty((6, 6)), np.eye(6)
    se3.ad_array(np.dot(T, a), bracket)
    out = 0.5 * np.dot(bracket, T)
    for i in range(6):
        se3.second_array(DEXP, x, units[i], form)
        out[i] += np.dot(a, form)
    return out


@kernel
def _start_clamped(supports, rule, x, y, Z):  # type: ignore[no-untyped-def]
    """`start_at_base` where all directions are held."""
    for i in range(6):
        y[i], y[6 + i] = x[i], supports.twist[i]
        for j in range(6):
            Z[i, j] = 1.0 if i == j else 0.0
            Z[6 + i, j] = Z[12 + i, j] = 0.0
    for i in range(3):
        y[12 + i] = supports.pose[i, 3]
        for j in range(3):
            y[15 + 3 * i + j] = supports.pose[i, j]


@kernel
def _start_free(supports, rule, x, y, Z):  # type: ignore[no-untyped-def]
    """`start_at_base` where some direction is free."""
    held, g, move, T = supports.held, supports.pose.copy(), np.eye(4), np.empty((6, 6))
    phi, free, c0 = np.where(held, 0.0, x), np.where(held, 0.0, 1.0), rule[0]
    y[:], Z[:] = 0.0, 0.0
    y[:6] = np.where(held, x, 0.0)
    for i in range(6):
        Z[i, i] = 1.0 - free[i]
    se3.exp_pose_array(phi, move)
    se3.multiply_array(g, move, g)
    se3.dexp_array(phi, T)
    Z[12:18] = T * free
    if c0 != 0.0:
        rate = c0 * phi + free * supports.history
        y[6:12] = np.dot(T, rate)
        Z[6:12] = (_dexp_derivative(phi, rate, T) + c0 * T) * free
    y[12:15] = g[:3, 3]
    for i in range(3):
        y[15 + 3 * i : 18 + 3 * i] = g[i, :3]


def start_kernel(supports: Supports) -> Any:
    """The kernel that does what `start_at_base` does with these supports, for c0 = rule[0]."""
    return _start_clamped if supports.clamped else _start_free


def start_at_base(supports: Supports, c0: float, x: Array, y: Array, Z: Array) -> None:
    """Write the state y (24,) at the base for unknowns x (6,), and its variations Z (18, 6)."""
    start_kernel(supports)(supports, np.array([c0]), x, y, Z)


@kernel
def support_pairs(supports, y, Z):  # type: ignore[no-untyped-def]
    """Place of the tip in the support's chart and the wrench that does work on it.

    Returns place (6,), its variations (6, c), wrench (6,) and its variations. The place is the rotation
    vector k and the position from the held pose, in its axes; a moment m does the work of dexp(k)^T m
    on changes of k.
    """
    c, D, back, bent = Z.shape[1], np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    H, R = supports.tip_pose[:3, :3].copy(), y[15:24].copy().reshape(3, 3)
    Q = np.dot(H.T, R)
    turn = np.array(so3.log_vector(read_block(Q))[:3])
    so3.operator_array(DEXP, turn, D)
    so3.operator_array(DEXP_INVERSE, turn, back)
    O = np.array(skew(1.0, read_vector(supports.tip_offset, 0))).reshape(3, 3)  # noqa: E741
    n, away = y[3:6].copy(), y[12:15] - supports.tip_pose[:3, 3]
    m = y[:3] - np.dot(O, n)
    hat_m = np.array(skew(1.0, read_vector(m, 0))).reshape(3, 3)
    hat_n = np.array(skew(1.0, read_vector(n, 0))).reshape(3, 3)
    place, force, places, forces = np.empty(6), np.empty(6), np.empty((6, c)), np.empty((6, c))
    place[:3], place[3:] = turn, np.dot(H.T, away + np.dot(R, supports.tip_offset))
    force[:3], force[3:] = np.dot(D.T, m), np.dot(Q, n)
    dm, dn, theta, d = Z[:3].copy(), Z[3:6].copy(), Z[12:15].copy(), Z[15:18].copy()
    places[:3], places[3:] = np.dot(back, theta), np.dot(Q, d - np.dot(O, theta))
    # derivative of dexp(k)^T m in k: second form of m and half a bracket
    so3.second_array(DEXP, turn, m, bent)
    bent -= 0.5 * np.dot(D.T, np.dot(hat_m, D))
    forces[:3] = np.dot(D.T, dm - np.dot(O, dn)) + np.dot(bent, places[:3])
    forces[3:] = np.dot(Q, dn - np.dot(hat_n, theta))
    return place, places, force, forces


@kernel
def _free_tip(supports, y, Z, r, J):  # type: ignore[no-untyped-def]
    """`tip_conditions` where no direction is held."""
    for i in range(6):
        r[i] = y[i]
        for j in range(Z.shape[1]):
            J[i, j] = Z[i, j]


@kernel
def _held_tip(supports, y, Z, r, J):  # type: ignore[no-untyped-def]
    """`tip_conditions` where some direction is held."""
    place, places, r[:], J[:] = support_pairs(supports, y, Z)
    for i in range(6):
        if supports.tip_held[i]:
            r[i], J[i] = place[i] - supports.left[i], places[i]


def tip_kernel(supports: Supports) -> Any:
    """The kernel that does what `tip_conditions` does with these supports."""
    return _free_tip if supports.tip_free else _held_tip


def tip_conditions(supports: Supports, y: Array, Z: Array, r: Array, J: Array) -> None:
    """Write what must vanish at the tip r (6,) and its variations J (6, c), past the jumps there."""
    tip_kernel(supports)(supports, y, Z, r, J)
