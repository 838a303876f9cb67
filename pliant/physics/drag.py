"""Drag and mass damping: wrenches that oppose the velocity of sections.

At a section with body twist eta = (w, q), with weights of the mass rule included,

    p = d eta + (0, C q |q|)          d (6,) = c M mass damping, C (3,) square-law drag

is minus the wrench, so that it stands on the side of inertia (Till, Aloi and Rucker, section 2, with
the coefficients C along the body axes). |q| q is differentiable once everywhere, also at rest. The
power lost is eta . p >= 0.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.lie.se3_kernels import dexp_inverse_array


@kernel
def add_resistance(C, d, eta, p, k):  # type: ignore[no-untyped-def]
    """Add p to p (S, 6) and its derivative in eta to the diagonal of k (S, 6, 6)."""
    for s in range(C.shape[0]):
        for i in range(6):
            p[s, i] += d[s, i] * eta[s, i]
            k[s, i, i] += d[s, i]
        for i in range(3):
            q = eta[s, 3 + i]
            p[s, 3 + i] += C[s, i] * q * abs(q)
            k[s, 3 + i, 3 + i] += 2.0 * C[s, i] * abs(q)


@kernel
def resistance_power(C, d, eta):  # type: ignore[no-untyped-def]
    """Power lost at twists eta (S, 6), W."""
    power = 0.0
    for s in range(C.shape[0]):
        for i in range(6):
            power += d[s, i] * eta[s, i] * eta[s, i]
        for i in range(3):
            q = abs(eta[s, 3 + i])
            power += C[s, i] * q * q * q
    return power


@kernel
def add_step_resistance(C, d, eta, h, first, last, tangent, pa, pb, k):  # type: ignore[no-untyped-def]
    """Impulses of the resistance in a step of length h with twists eta = log(ga^-1 gb) / h.

    The impulse h p(eta) is shared by the ends of the step: pa += first h p, pb -= last h p, in their
    body frames. k (S, 6, 6), if `tangent`, gains the derivative of pa in the body twist of gb:
    first p'(eta) dexp(h eta)^-1.
    """
    x = np.empty(6)
    D = np.empty((6, 6))
    for s in range(C.shape[0]):
        for i in range(6):
            q = eta[s, i]
            p = d[s, i] * q
            slope = d[s, i]
            if i >= 3:
                p += C[s, i - 3] * q * abs(q)
                slope += 2.0 * C[s, i - 3] * abs(q)
            pa[s, i] += first * h * p
            pb[s, i] -= last * h * p
            if tangent:
                if i == 0:
                    for j in range(6):
                        x[j] = h * eta[s, j]
                    dexp_inverse_array(x, D)
                for j in range(6):
                    k[s, i, j] += first * slope * D[i, j]
