"""Coefficients of the two retraction maps of Pliant, the exponential and the Cayley map.

On SO(3) both maps and their left-trivialised differentials are polynomials in the hat matrix K of the
rotation vector k, with coefficients that depend on t2 = k.k only:

    tau(k)   = I + r1 K + r2 K^2
    dtau(k)  = al I - be K + ga K^2

SE(3) follows by reading k as a dual vector (k, e): see `docs/theory/lie_groups.md`. A prime means
(1/t) d/dt with t = |k|, so that the derivative of f(t2) in direction v is f' (k.v).
"""

from __future__ import annotations

from pliant._numba import leaf
from pliant.lie.coefficients import exp_coefficients

EXP = 0
CAYLEY = 1


@leaf
def pose_coefficients(kind, t2):  # type: ignore[no-untyped-def]
    """(r1, r2) of tau = I + r1 K + r2 K^2, then those of `tangent_coefficients`."""
    if kind == 0:
        a, b, c, b1, c1, _b2, _c2 = exp_coefficients(t2)
        return a, b, 1.0, b, c, 0.0, b1, c1
    al = 1.0 / (1.0 + 0.25 * t2)
    al1 = -0.5 * al * al
    return al, 0.5 * al, al, 0.5 * al, 0.0, al1, 0.5 * al1, 0.0


@leaf
def tangent_coefficients(kind, t2):  # type: ignore[no-untyped-def]
    """(al, be, ga, al', be', ga') of dtau and its first derivative."""
    if kind == 0:
        _a, b, c, b1, c1, _b2, _c2 = exp_coefficients(t2)
        return 1.0, b, c, 0.0, b1, c1
    al = 1.0 / (1.0 + 0.25 * t2)
    al1 = -0.5 * al * al
    return al, 0.5 * al, 0.0, al1, 0.5 * al1, 0.0


@leaf
def second_coefficients(kind, t2):  # type: ignore[no-untyped-def]
    """(al'', be'', ga'', al''') of dtau, for the exact second derivatives."""
    if kind == 0:
        _a, _b, _c, _b1, _c1, b2, c2 = exp_coefficients(t2)
        return 0.0, b2, c2, 0.0
    al = 1.0 / (1.0 + 0.25 * t2)
    al2 = 0.5 * al * al * al
    return al2, 0.5 * al2, 0.0, -0.75 * al * al * al * al
