"""Linear elasticity and Kelvin-Voigt damping of rods, on strains."""

from __future__ import annotations

from pliant._numba import kernel


@kernel
def stress(w, C, e, e0, sigma, tangent):  # type: ignore[no-untyped-def]
    """sigma = w C (e - e0) (weighted stress resultants) and its derivative w C, all (S, 6)."""
    S = e.shape[0]
    for s in range(S):
        for i in range(6):
            k = w[s, i] * C[s, i]
            tangent[s, i] = k
            sigma[s, i] = k * (e[s, i] - e0[s, i])


@kernel
def elastic_energy(w, C, e, e0):  # type: ignore[no-untyped-def]
    """1/2 sum_s w C (e - e0)^2, J."""
    u = 0.0
    for s in range(e.shape[0]):
        for i in range(6):
            d = e[s, i] - e0[s, i]
            u += 0.5 * w[s, i] * C[s, i] * d * d
    return u


@kernel
def midstep_stress(w, C, D, ea, eb, e0, h, sigma, tangent):  # type: ignore[no-untyped-def]
    """Stress of the mean strain and mean strain rate of a step of length h, weighted.

    sigma = w (C ((ea + eb)/2 - e0) + D (eb - ea)/h); tangent is its derivative in eb.
    Returns the energy dissipated in the step, h w D ((eb - ea)/h)^2.
    """
    lost = 0.0
    for s in range(ea.shape[0]):
        for i in range(6):
            rate = (eb[s, i] - ea[s, i]) / h
            sigma[s, i] = w[s, i] * (
                C[s, i] * (0.5 * (ea[s, i] + eb[s, i]) - e0[s, i]) + D[s, i] * rate
            )
            tangent[s, i] = w[s, i] * (0.5 * C[s, i] + D[s, i] / h)
            lost += h * w[s, i] * D[s, i] * rate * rate
    return lost
