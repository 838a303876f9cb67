"""The gap between two frames: residual, Jacobian and second derivative in body twists.

With h = g1^-1 g2 = (R, p), the residual is b = (log R, p), of which the held rows are kept: zero when
the frames agree. p is kept as it is instead of the translation part of log h, so that the
multipliers are the force and (at b = 0) the moment of the connection in the frame of g1. These are
the types of Xun et al., Table 3, whose Jacobian in g1 lacks a minus sign.
"""

from __future__ import annotations

import numpy as np

from pliant.lie import se3, so3
from pliant.rods.contract import Array


def residual(g1: Array, g2: Array) -> Array:
    """b (6,) = (log R, p) of h = g1^-1 g2."""
    h = se3.inverse(g1) @ g2
    return np.concatenate([so3.log(h[:3, :3]), h[:3, 3]])


def jacobian(g1: Array, g2: Array) -> tuple[Array, Array]:
    """Derivatives (6, 6) of b in the body twists of g1 and of g2."""
    h = se3.inverse(g1) @ g2
    R, p = h[:3, :3], h[:3, 3]
    D = so3.dexp_inverse(so3.log(R))
    A1, A2 = np.zeros((6, 6)), np.zeros((6, 6))
    A2[:3, :3] = D
    A2[3:, 3:] = R
    A1[:3, :3] = -D @ R.T
    A1[3:, :3] = so3.hat(p)
    A1[3:, 3:] = -np.eye(3)
    return A1, A2


def second(g1: Array, g2: Array, lam: Array) -> Array:
    """(12, 12) second derivative of lam . b along (exp(x1), exp(x2)), symmetric.

    Rotation: with k = log R, w = x2 - R^T x1 (angular), k' = D w and
    lam.k'' = -k'.M(k, d) k' + d.(x2 x R^T x1), d = D^T lam, M = so3.dexp_second.
    Position p = R1^T (p2 - p1): p'' = x1 x (x1 x p) + ... collected below.
    """
    h = se3.inverse(g1) @ g2
    R, p = h[:3, :3], h[:3, 3]
    k = so3.log(R)
    D = so3.dexp_inverse(k)
    H = np.zeros((12, 12))
    lr, lp = lam[:3], lam[3:]
    d = D.T @ lr
    T = np.zeros((3, 12))
    T[:, 0:3] = -D @ R.T
    T[:, 6:9] = D
    H -= T.T @ so3.dexp_second(k, d) @ T
    # d.(x2 x R^T x1) = -x2 . d^ R^T x1
    cross = -0.5 * so3.hat(d) @ R.T
    H[6:9, 0:3] += cross
    H[0:3, 6:9] += cross.T
    # p(t) with q = p2 - p1 seen from frame 1. Writing a = x1 angular, u = x1 linear, b = x2 angular,
    # v = x2 linear: p'' = a x (a x p) - 2 a x (R v - u) + R (b x v) - (a x u)
    outer = 0.5 * (np.outer(lp, p) + np.outer(p, lp)) - np.dot(lp, p) * np.eye(3)
    H[0:3, 0:3] += outer
    # -2 lp.(a x R v) = -2 a.(R v x lp) = 2 a.(lp^ R v)
    av = so3.hat(lp) @ R
    H[0:3, 9:12] += av
    H[9:12, 0:3] += av.T
    # 2 lp.(a x u) - lp.(a x u) = lp.(a x u) = a.(u x lp) = -a.(lp^ u)
    au = -0.5 * so3.hat(lp)
    H[0:3, 3:6] += au
    H[3:6, 0:3] += au.T
    # lp.R(b x v) = b.(v x R^T lp) = -b.((R^T lp)^ v)
    bv = -0.5 * so3.hat(R.T @ lp)
    H[6:9, 9:12] += bv
    H[9:12, 6:9] += bv.T
    return H
