"""Frames in the middle of a step, and how what acts there is shared by its ends.

Between ga and gb = ga exp(xi) the frame in the middle is gm = ga exp(xi / 2). Twists xa, xb of the ends
move it by Aa xa + Ab xb,

    Aa = 1/2 dexp(-xi/2) dexp(-xi)^-1,     Ab = 1/2 dexp(xi/2) dexp(xi)^-1,

(left-trivialised), so that a gradient p in the middle acts as Aa^T p at a and as Ab^T p at b. Momentum
is kept exactly, and a stiff effect is implicit, its change of direction included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant._numba import kernel
from pliant.lie import operators as op, se3
from pliant.lie.leaves import add_hat
from pliant.lie.se3_kernels import exp_pose_array, multiply_array, relative_array
from pliant.rods.contract import Array

_TURNED = 1e-4
"""Turn in a step below which the tangent of a quarter of it is that quarter, rad."""


@dataclass
class Middle:
    """Middles of some stations in a step: frames g (S, 4, 4), displacements xi (S, 6) from a to b,
    shares Aa and Ab (S, 6, 6), and turn (S, 6, 6), the derivative of xi in the twist of b.
    """

    g: Array
    xi: Array
    Aa: Array
    Ab: Array
    turn: Array


def middle(ga: Array, gb: Array) -> Middle:
    """The middles of frames ga and gb (S, 4, 4)."""
    xi = np.asarray(se3.log(se3.inverse(ga) @ gb))
    turn = se3.dexp_inverse(xi)
    Aa = 0.5 * se3.dexp(-0.5 * xi) @ se3.dexp_inverse(-xi)
    Ab = 0.5 * se3.dexp(0.5 * xi) @ turn
    return Middle(ga @ se3.exp(0.5 * xi), xi, np.asarray(Aa), np.asarray(Ab), np.asarray(turn))


def earlier(g: Array, eta: Array, time: float) -> Array:
    """Frames (S, 4, 4) a time before g, s, with body twists eta (S, 6)."""
    return np.asarray(g @ se3.exp(-time * eta)) if time else g


@kernel
def set_middle(ga, gb, station, implicit, gm, A):  # type: ignore[no-untyped-def]
    """Write the middle gm (4, 4) of a station of the frames ga, gb (S, 4, 4) and the shares Aa, Ab to
    A (2, 6, 6).

    implicit : False for gm = ga, which all of ga and nothing of gb moves. As functions of z = ad(xi)
    the shares are 1 / (1 + exp(z/2)) and 1 / (1 + exp(-z/2)), so that Aa = 1 - Ab. With the pose (R, p)
    of exp(xi/2) and the turn phi n of xi,

        Ab = [[a, 0], [w^, a]],   a = 1 / (1 + R^T) = (1 + tan(phi/4) n^) / 2,
        w = det(a) (1 + R^T) p,   det(a) = (1 + tan(phi/4)^2) / 8,   1 - a = a^T.
    """
    if not implicit:
        for i in range(4):
            for j in range(4):
                gm[i, j] = ga[station, i, j]
        for i in range(6):
            for j in range(6):
                A[0, i, j], A[1, i, j] = (1.0 if i == j else 0.0), 0.0
        return
    x, h = np.empty(6), np.empty((4, 4))
    angle = relative_array(op.EXP, ga[station], gb[station], x)
    for i in range(6):
        x[i] *= 0.5
    exp_pose_array(x, h)
    multiply_array(ga[station], h, gm)
    share = np.tan(0.25 * angle) / angle if angle > _TURNED else 0.25
    t0, t1, t2 = 2.0 * share * x[0], 2.0 * share * x[1], 2.0 * share * x[2]
    det = 0.125 * (1.0 + t0 * t0 + t1 * t1 + t2 * t2)
    for i in range(3):
        x[i] = det * (h[i, 3] + h[0, i] * h[0, 3] + h[1, i] * h[1, 3] + h[2, i] * h[2, 3])
    for end in range(2):
        sign = 2.0 * end - 1.0
        for i in range(3):
            for j in range(3):
                A[end, i, 3 + j] = 0.0
                A[end, i, j] = A[end, 3 + i, 3 + j] = 0.5 if i == j else 0.0
                A[end, 3 + i, j] = 0.0
        for at in (0, 3):
            add_hat(A[end], at, at, t0, t1, t2, 0.5 * sign)
        add_hat(A[end], 3, 0, x[0], x[1], x[2], sign)
