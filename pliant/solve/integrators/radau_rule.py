"""Coefficients of Radau IIA with three stages, and the kernels of its steps.

A step of h seconds has stages at c_i h. With second derivatives Y of the coordinates X in a chart,

    W_i = W_0 + h sum_j A_ij Y_j,        X_i = h sum_j A_ij W_j.

A has one real eigenvalue and a pair of complex ones. In the basis of its eigenvectors V the equations
of all stages, linearised with one stiffness K, damping C and mass M, fall apart into

    (K + C / (h l) + M / (h l)^2) x = -V^-1 r        for each eigenvalue l,

and X moves by V x, W by V x / (h l), Y by V x / (h l)^2.
"""

from __future__ import annotations

import math

import numpy as np

from pliant._numba import inner, kernel
from pliant.model import Array

_ROOT = math.sqrt(6.0)
NODES: Array = np.array([(4.0 - _ROOT) / 10.0, (4.0 + _ROOT) / 10.0, 1.0])
STAGES = len(NODES)


def _lagrange() -> Array:
    """(3, 3): coefficients of the Lagrange polynomials of the nodes, one in a row, rising powers."""
    return np.asarray(np.linalg.inv(np.vander(NODES, increasing=True)).T)


def _integral(polynomials: Array) -> Array:
    """Coefficients of the integrals from zero of polynomials in rows."""
    powers = np.arange(1, polynomials.shape[1] + 1)
    return np.concatenate([np.zeros((len(polynomials), 1)), polynomials / powers], axis=1)


LAGRANGE: Array = _lagrange()
ONCE: Array = _integral(LAGRANGE)
"""(3, 4): integrals of the Lagrange polynomials from zero."""
TWICE: Array = _integral(ONCE)
"""(3, 5): and their integrals."""


def values(polynomials: Array, x: float | Array) -> Array:
    """Values (..., 3) of polynomials (3, p) at x (...)."""
    return np.asarray(
        np.vander(np.atleast_1d(x), polynomials.shape[1], increasing=True) @ polynomials.T
    )


A: Array = values(ONCE, NODES)
_l, _V = np.linalg.eig(A)
_real = int(np.argmin(np.abs(_l.imag)))
_pair = int(np.argmax(_l.imag))
REAL, COMPLEX = float(_l[_real].real), complex(_l[_pair])
"""Eigenvalues of A: the real one, and the one with a positive imaginary part."""
_basis = np.stack([_V[:, _real], _V[:, _pair], _V[:, _pair].conj()], axis=1)
_inverse = np.linalg.inv(_basis)
TO_REAL: Array = np.ascontiguousarray(_inverse[0].real)
TO_COMPLEX = np.ascontiguousarray(_inverse[1])
FROM_REAL: Array = np.ascontiguousarray(_basis[:, 0].real)
FROM_COMPLEX = np.ascontiguousarray(2.0 * _basis[:, 1])
"""From right-hand sides (3,) of the stages to those of the two systems, and back, by real parts."""
AT_START: Array = values(LAGRANGE, 0.0)[0]
"""What of the stages (3,) a polynomial through them has at the start of the step."""
WEIGHTS: Array = A[-1].copy()
_FARTHEST = 2.0
"""Steps of the last length over which its accelerations are extrapolated at most."""


@inner
def _lagrange_at(x, out):  # type: ignore[no-untyped-def]
    """out (3,) : Lagrange polynomials of the nodes at x."""
    for j in range(out.shape[0]):
        out[j] = LAGRANGE[j, 0] + x * (LAGRANGE[j, 1] + x * LAGRANGE[j, 2])


@kernel
def predict(step, last, known, free, acc, v, z, rest, Y, W, X):  # type: ignore[no-untyped-def]
    """Set the stages (3, n) of a step from the accelerations `last` (3, n) at those of the one before.

    step (2,) : length of the step and of the last one, s. known (1,) : 0 if there was none; acc (n,)
    goes on then. free, rest : places of coordinates, and of all else, whose values z (n,) go on.
    """
    h = step[0]
    weights = np.empty((3, 3))
    for i in range(3):
        weights[i, 0] = weights[i, 1] = 0.0
        weights[i, 2] = 1.0
        if known[0] != 0 and h <= _FARTHEST * step[1]:
            _lagrange_at(1.0 + NODES[i] * h / step[1], weights[i])
    for at in free:
        for i in range(3):
            Y[i, at] = acc[at]
            if known[0] != 0:
                Y[i, at] = 0.0
                for j in range(3):
                    Y[i, at] += weights[i, j] * last[j, at]
        _integrate(h, at, v, Y, W, X)
    for at in rest:
        for i in range(3):
            X[i, at], W[i, at], Y[i, at] = z[at], 0.0, 0.0


@inner
def _integrate(h, at, v, Y, W, X):  # type: ignore[no-untyped-def]
    """Set W and X of coordinate `at` in all stages from its Y."""
    for i in range(3):
        W[i, at] = v[at]
        for j in range(3):
            W[i, at] += h * A[i, j] * Y[j, at]
    for i in range(3):
        X[i, at] = 0.0
        for j in range(3):
            X[i, at] += h * A[i, j] * W[j, at]


@kernel
def mix_matrices(step, K, C, M, damped, real, complex_):  # type: ignore[no-untyped-def]
    """Entries of the two systems from those of stiffness K, of K + C / step_2 and of mass M."""
    h = step[0]
    a = 1.0 / (h * REAL)
    b = 1.0 / (h * COMPLEX)
    for i in range(K.shape[0]):
        c = step[2] * (C[i] - K[i]) if damped else 0.0
        real[i] = K[i] + a * c + a * a * M[i]
        complex_[i] = K[i] + b * c + b * b * M[i]


@kernel
def split_residuals(r, real, complex_):  # type: ignore[no-untyped-def]
    """Right-hand sides (m,) of the two systems from the residuals r (3, n) of the stages."""
    for k in range(real.shape[0]):
        x, y = 0.0, 0.0 + 0.0j
        for i in range(3):
            x -= TO_REAL[i] * r[i, k]
            y -= TO_COMPLEX[i] * r[i, k]
        real[k], complex_[k] = x, y


@kernel
def last_stage(real, complex_, out):  # type: ignore[no-untyped-def]
    """What the end of the step moves by, out (n,), for the solutions (m,) of the two systems."""
    for k in range(real.shape[0]):
        out[k] = FROM_REAL[2] * real[k] + (FROM_COMPLEX[2] * complex_[k]).real


@kernel
def move_stages(step, real, complex_, X, W, Y):  # type: ignore[no-untyped-def]
    """Move the stages (3, n) by the solutions (m,) of the two systems."""
    h = step[0]
    a = 1.0 / (h * REAL)
    b = 1.0 / (h * COMPLEX)
    for k in range(real.shape[0]):
        for i in range(3):
            x, y = FROM_REAL[i] * real[k], FROM_COMPLEX[i] * complex_[k]
            X[i, k] += x + y.real
            W[i, k] += a * x + (b * y).real
            Y[i, k] += a * a * x + (b * b * y).real


@kernel
def start_acceleration(Y, free, out):  # type: ignore[no-untyped-def]
    """Accelerations out (n,) of the polynomial through those of the stages (3, n), at the start."""
    for at in free:
        out[at] = 0.0
        for i in range(3):
            out[at] += AT_START[i] * Y[i, at]


@kernel
def largest_move(eta, inertial, turn, out):  # type: ignore[no-untyped-def]
    """out_0 = max(out_0, |v|, turn |w|) of the first stations with twists eta = (w, v) (F, 6)."""
    for s in range(inertial):
        w = eta[s, 0] ** 2 + eta[s, 1] ** 2 + eta[s, 2] ** 2
        v = eta[s, 3] ** 2 + eta[s, 4] ** 2 + eta[s, 5] ** 2
        size = math.sqrt(max(v, turn * turn * w))
        out[0] = size if not size <= out[0] else out[0]


@kernel
def set_weights(part, weights):  # type: ignore[no-untyped-def]
    """Weights (3, 3) of the stages in accelerations, rates and coordinates after part_0 of a step."""
    x = part[0]
    for j in range(3):
        weights[0, j] = weights[1, j] = weights[2, j] = 0.0
        power = 1.0
        for k in range(5):
            if k < 3:
                weights[0, j] += power * LAGRANGE[j, k]
            if k < 4:
                weights[1, j] += power * ONCE[j, k]
            weights[2, j] += power * TWICE[j, k]
            power *= x


@kernel
def inside_step(h, part, weights, free, v, z, rest, Y, X, W, acc):  # type: ignore[no-untyped-def]
    """Chart coordinates X, their rates W and second derivatives acc (n,) after part_0 of a step.

    h (1,) : its length, s; v (n,) : rates at its start; Y (3, n) : second derivatives at its stages.
    """
    for at in free:
        X[at], W[at], acc[at] = part[0] * h[0] * v[at], v[at], 0.0
        for j in range(3):
            acc[at] += weights[0, j] * Y[j, at]
            W[at] += h[0] * weights[1, j] * Y[j, at]
            X[at] += h[0] * h[0] * weights[2, j] * Y[j, at]
    for at in rest:
        X[at], W[at], acc[at] = z[at], 0.0, 0.0


@kernel
def add_account(h, part, weights, done, drive, lost, account):  # type: ignore[no-untyped-def]
    """Add to account (2,) work and loss up to where part_0 of a step of h_0 seconds is over.

    weights (3,) of the stages in integrals up to there. done (4,) : work of inputs from stage to stage
    and in one go; the former, each with an error as the cube of its interval, are corrected by what
    they differ from the latter. Between stages it is a cubic polynomial. drive, lost (3,) : powers.
    """
    a, b = NODES[0], NODES[1] - NODES[0]
    c = 1.0 - NODES[1]
    left = a * a * a + b * b * b + c * c * c
    gap = (done[0] + done[1] + done[2] - done[3]) / (1.0 - left)
    first = done[0] + gap * a * a * a
    second = first + done[1] + gap * b * b * b
    third = second + done[2] + gap * c * c * c
    x, p, q = part[0], NODES[0], NODES[1]
    account[0] += first * x * (x - q) * (x - 1.0) / (p * (p - q) * (p - 1.0))
    account[0] += second * x * (x - p) * (x - 1.0) / (q * (q - p) * (q - 1.0))
    account[0] += third * x * (x - p) * (x - q) / ((1.0 - p) * (1.0 - q))
    for i in range(3):
        account[0] += h[0] * weights[i] * drive[i]
        account[1] += h[0] * weights[i] * lost[i]


@kernel
def clear_at(places, out):  # type: ignore[no-untyped-def]
    """out[places] = 0."""
    for at in places:
        out[at] = 0.0
