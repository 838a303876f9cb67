r"""The operators of SO(3) and SE(3) in one form, as leaves on tuples.

Every isotropic function of a rotation vector k used by Pliant (exp, Cayley, their left-trivialised
derivatives and the inverses of these) is

    F(k) = i I + s k^ + q k k^T,    i, s, q functions of t2 = k . k,

so one table of coefficients serves them all.  se(3) is so(3) over the dual numbers: with the twist
x = (k, e), an operator on SE(3) in the adjoint representation is

    [[F(k), 0], [DF(k)[e], F(k)]].

The second form of F is the symmetric matrix M(k, u) with v^T M v = u . DF(k)[v] v, and on SE(3),
for u = (um, un), the product rule over the dual numbers gives

    [[M(k, um) + D_k M(k, un)[e], M(k, un)], [M(k, un), 0]].
"""

from __future__ import annotations

from pliant._numba import leaf
from pliant.lie.coefficients import (
    cayley_coefficients,
    exp_coefficients,
    log_coefficients,
)
from pliant.lie.tuples import (
    Matrix,
    Symmetric,
    Vector,
    add,
    assemble,
    combine,
    cross,
    dot,
    symmetric_product,
    symmetric_sum,
)

EXP, CAYLEY, DEXP, DCAYLEY, DEXP_INVERSE, DCAYLEY_INVERSE = range(6)
"""Two maps tau, their derivatives dtau and the inverses of these; those of the Cayley map are odd."""
DTWIST = 7
"""The derivative of dtau_k k for the Cayley map; for the exponential it is the identity."""


@leaf
def coefficients(kind: int, t2: float) -> tuple[float, float, float, float, float, float]:
    """Return (i, s, q, i1, s1, q1) of the operator `kind`; for the two maps i1 = s1 = q1 = 0.

    The maps EXP and CAYLEY need no derivative here, as it is given by DEXP and DCAYLEY.
    """
    if kind == DEXP_INVERSE:
        d, d1 = log_coefficients(t2)
        return 1.0 - t2 * d, 0.5, d, -2.0 * d - t2 * d1, 0.0, d1
    if kind == DCAYLEY_INVERSE:
        return 1.0, 0.5, 0.25, 0.0, 0.0, 0.0
    if kind == DTWIST:
        al, al1, al2 = cayley_coefficients(t2)
        return al, 0.0, al1, al1, 0.0, al2
    of_map, of_tangent = map_coefficients(kind % 2, t2)
    if kind < DEXP:
        return of_map[0], of_map[1], of_map[2], 0.0, 0.0, 0.0
    return of_tangent


@leaf
def map_coefficients(
    kind: int, t2: float
) -> tuple[tuple[float, float, float], tuple[float, float, float, float, float, float]]:
    """Return (i, s, q) of EXP or CAYLEY, and (i, s, q, i1, s1, q1) of its derivative."""
    if kind == EXP:
        a, b, c, b1, c1, _, _ = exp_coefficients(t2)
        return (1.0 - t2 * b, a, b), (a, -b, c, c - b, -b1, c1)
    al, al1, _ = cayley_coefficients(t2)
    return (1.0 - 0.5 * t2 * al, al, 0.5 * al), (al, -0.5 * al, 0.0, al1, -0.5 * al1, 0.0)


@leaf
def second_coefficients(
    kind: int, t2: float
) -> tuple[float, float, float, float, float, float, float]:
    """Return (p, s1, q, p1, s2, q1, q2), p = i1 + q, of the second form of an operator.

    kind : DEXP, DCAYLEY or DTWIST; the map stands for its derivative as well.
    """
    if kind % 2 == EXP:
        _, b, c, b1, c1, b2, c2 = exp_coefficients(t2)
        return 2.0 * c - b, -b1, c, 2.0 * c1 - b1, -b2, c1, c2
    al, al1, al2 = cayley_coefficients(t2)
    if kind == DTWIST:
        return 2.0 * al1, 0.0, al1, 2.0 * al2, 0.0, al2, -1.5 * al * al2
    return al1, -0.5 * al1, 0.0, al2, -0.5 * al2, 0.0, 0.0


@leaf
def operator(i: float, s: float, q: float, k: Vector) -> Matrix:
    """Return F(k) = i I + s k^ + q k k^T."""
    qk = (q * k[0], q * k[1], q * k[2])
    return assemble(i, (s * k[0], s * k[1], s * k[2]), symmetric_product(qk, k))


@leaf
def operator_derivative(
    s: float, q: float, i1: float, s1: float, q1: float, k: Vector, e: Vector
) -> Matrix:
    """Return DF(k)[e], the derivative of F at k along e."""
    ke = dot(k, e)
    v = add(s1 * ke, k, s, e)
    return assemble(i1 * ke, v, symmetric_product(k, add(q1 * ke, k, 2.0 * q, e)))


@leaf
def apply_transposed(i: float, s: float, q: float, k: Vector, e: Vector) -> Vector:
    """Return F(k)^T e = F(-k) e: the right-trivialised (left) counterpart of F applied to e."""
    return combine(i, e, -s, cross(k, e), q * dot(k, e), k)


@leaf
def second_form(p: float, s1: float, q: float, q1: float, k: Vector, u: Vector) -> Symmetric:
    """Return M(k, u) = sym(k y^T) + z I, with y = p u + s1 u x k + q1 (u.k) k, z = q (u.k)."""
    uk = dot(u, k)
    y = combine(p, u, s1, cross(u, k), q1 * uk, k)
    m = symmetric_product(k, y)
    z = q * uk
    return m[0] + z, m[1], m[2], m[3] + z, m[4], m[5] + z


@leaf
def second_form_derivative(
    c: tuple[float, float, float, float, float, float, float], k: Vector, e: Vector, u: Vector
) -> Symmetric:
    """Return D_k M(k, u)[e] from the coefficients `c` of `second_coefficients`."""
    p, s1, q, p1, s2, q1, q2 = c
    uk = dot(u, k)
    ue = dot(u, e)
    ke = dot(k, e)
    w = cross(u, k)
    y = combine(p, u, s1, w, q1 * uk, k)
    dy = combine(p1 * ke, u, s2 * ke, w, q2 * ke * uk + q1 * ue, k)
    dy = combine(1.0, dy, s1, cross(u, e), q1 * uk, e)
    return symmetric_sum(q1 * ke * uk + q * ue, symmetric_product(e, y), symmetric_product(k, dy))


@leaf
def second_blocks(
    kind: int, k: Vector, e: Vector, um: Vector, un: Vector
) -> tuple[Symmetric, Symmetric]:
    """Return the blocks M(k, um) + D_k M(k, un)[e] and M(k, un) of the second form on SE(3)."""
    c = second_coefficients(kind, dot(k, k))
    p, s1, q, _, _, q1, _ = c
    dual = second_form_derivative(c, k, e, un)
    upper = symmetric_sum(0.0, second_form(p, s1, q, q1, k, um), dual)
    return upper, second_form(p, s1, q, q1, k, un)
