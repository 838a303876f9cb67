"""Boundary conditions of a chain: what is unknown at its base and what must hold at its tip.

Six numbers x are unknown at the base: in held directions the wrench there, in free directions the
motion phi of the base from a pose g, g exp(phi). In time, phi_t = c0 phi + H gives the base's velocity.
Six conditions hold at the tip: no gap in held directions, no wrench in free ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant._numba import kernel
from pliant.bvp.chain import Chain
from pliant.bvp.rod_equations import rotation
from pliant.lie import se3_kernels as se3
from pliant.lie import so3
from pliant.lie.operators import DEXP, DEXP_INVERSE
from pliant.lie.tuples import Array, apply, multiply, transpose


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
    one = np.array([1.0] * 3 + [chain.length] * 3)
    units = np.array(
        [
            np.where(chain.base.held, chain.scale, one),
            np.where(chain.tip.held, one, chain.scale),
        ]
    )
    return Supports(
        chain.base.held,
        np.array(chain.base.pose, dtype=float),
        np.zeros(6),
        np.zeros(6),
        chain.tip.held,
        np.array(chain.tip.pose, dtype=float),
        np.array(chain.tip.offset, dtype=float),
        np.zeros(6),
        units,
    )


@kernel
def _dexp_derivative(x, a, T, out):  # type: ignore[no-untyped-def]
    """Add the derivative (6, 6) of dexp(x) a in x to `out`; T = dexp(x).

    Its symmetric part is the second form; the rest follows from the Maurer-Cartan equation,
    D_v (T a) - D_a (T v) = -[T v, T a].
    """
    form, bracket, unit = np.empty((6, 6)), np.empty((6, 6)), np.zeros(6)
    for i in range(6):
        unit[:] = 0.0
        unit[i] = 1.0
        se3.second_array(DEXP, x, unit, form)
        for j in range(6):
            for k in range(6):
                out[i, j] += a[k] * form[k, j]
    se3.ad_array(np.dot(T, a), bracket)
    out += 0.5 * np.dot(bracket, T)


@kernel
def start_at_base(supports, c0, x, y, Z):  # type: ignore[no-untyped-def]
    """Write the state y (24,) at the base for unknowns x (6,), and its variations Z (18, 6)."""
    y[:], Z[:] = 0.0, 0.0
    phi, free = np.zeros(6), False
    for i in range(6):
        if supports.held[i]:
            y[i], Z[i, i] = x[i], 1.0
        else:
            phi[i], free = x[i], True
    g, twist = supports.pose, supports.twist
    if free:
        move, here, T, rates = np.eye(4), np.eye(4), np.empty((6, 6)), np.zeros((6, 6))
        se3.exp_pose_array(phi, move)
        se3.multiply_array(g, move, here)
        se3.dexp_array(phi, T)
        g, twist = here, np.zeros(6)
        if c0 != 0.0:
            rate = c0 * phi + np.where(supports.held, 0.0, supports.history)
            twist = np.dot(T, rate)
            _dexp_derivative(phi, rate, T, rates)
            rates += c0 * T
        for i in range(6):
            if not supports.held[i]:
                for r in range(3):
                    Z[6 + r, i], Z[9 + r, i] = rates[r, i], rates[3 + r, i]
                    Z[12 + r, i], Z[15 + r, i] = T[3 + r, i], T[r, i]
    for i in range(3):
        y[6 + i], y[9 + i], y[12 + i] = twist[i], twist[3 + i], g[i, 3]
        for j in range(3):
            y[15 + 3 * i + j] = g[i, j]


@kernel
def support_pairs(supports, y, Z):  # type: ignore[no-untyped-def]
    """Place of the tip in the support's chart and the wrench that does work on it.

    Returns place (6,), its variations (6, c), wrench (6,) and its variations. The place is the rotation
    vector k and the position from the held pose, in its axes; a moment m does the work of dexp(k)^T m
    on changes of k.
    """
    held, c = supports.tip_pose, Z.shape[1]
    H = (held[0, 0], held[0, 1], held[0, 2], held[1, 0], held[1, 1], held[1, 2],
         held[2, 0], held[2, 1], held[2, 2])  # fmt: skip
    R, o = rotation(y), (supports.tip_offset[0], supports.tip_offset[1], supports.tip_offset[2])
    Q9 = multiply(transpose(H), R)
    k = so3.log_vector(Q9)
    turn, arm = np.array([k[0], k[1], k[2]]), apply(R, o)
    Q = np.array(Q9).reshape(3, 3)
    D, back = np.empty((3, 3)), np.empty((3, 3))
    so3.operator_array(DEXP, turn, D)
    so3.operator_array(DEXP_INVERSE, turn, back)
    shift = apply(
        transpose(H),
        (y[12] + arm[0] - held[0, 3], y[13] + arm[1] - held[1, 3], y[14] + arm[2] - held[2, 3]),
    )
    n = y[3:6].copy()
    O = np.array([[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]])  # noqa: E741
    hat_n = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
    m = y[:3] - np.dot(O, n)
    place, force = np.empty(6), np.empty(6)
    place[:3], place[3], place[4], place[5] = turn, shift[0], shift[1], shift[2]
    force[:3], force[3:] = np.dot(D.T, m), np.dot(Q, n)
    places, forces = np.empty((6, c)), np.empty((6, c))
    theta = np.ascontiguousarray(Z[15:18])
    dm, dn, d = Z[:3].copy(), Z[3:6].copy(), Z[12:15].copy()
    places[:3], places[3:] = np.dot(back, theta), np.dot(Q, d - np.dot(O, theta))
    # derivative of dexp(k)^T m in k: second form of m and half a bracket
    bent = np.empty((3, 3))
    so3.second_array(DEXP, turn, m, bent)
    for i in range(3):
        for j in range(3):
            a, b = D[:, i], D[:, j]
            half = m[0] * (a[1] * b[2] - a[2] * b[1]) + m[1] * (a[2] * b[0] - a[0] * b[2])
            bent[i, j] += 0.5 * (half + m[2] * (a[0] * b[1] - a[1] * b[0]))
    forces[:3] = np.dot(D.T, dm - np.dot(O, dn)) + np.dot(bent, places[:3])
    forces[3:] = np.dot(Q, dn - np.dot(hat_n, theta))
    return place, places, force, forces


@kernel
def tip_conditions(supports, y, Z, r, J):  # type: ignore[no-untyped-def]
    """Write what must vanish at the tip r (6,) and its variations J (6, c), past the jumps there."""
    if not supports.tip_held.any():
        r[:], J[:] = y[:6], Z[:6]
    else:
        place, places, force, forces = support_pairs(supports, y, Z)
        for i in range(6):
            if supports.tip_held[i]:
                r[i], J[i] = place[i] - supports.left[i], places[i]
            else:
                r[i], J[i] = force[i], forces[i]
