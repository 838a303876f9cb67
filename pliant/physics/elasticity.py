"""Linear elasticity and Kelvin-Voigt damping of rods, on strains."""

from __future__ import annotations

from pliant._numba import kernel
from pliant.physics.collect import add_diagonal, add_vector


@kernel
def stress(k, w, C, e, e0, N, mode, element, at, mult, sigma, tangent, gap):  # type: ignore[no-untyped-def]
    """Weighted stress resultants sigma (S, 6), their derivative in e, and the gaps of stress modes.

    Linear law: sigma = k (e - e0), tangent = k (S, 6), the stiffness times weights. If the rod has
    stress modes (N not empty), rows 3 to 5 carry in addition the force n = sum_i N_i a_i with the
    weights w (S, 3): sigma += w n, and gap[e, i, r] = sum_s w N_i (v_r - v0_r - n_r / C_r) over the
    stations of element e. The modes a stand in `mult` at the places `at` (count, 3).
    """
    S, p = N.shape
    gap[:, :, :] = 0.0
    for s in range(S):
        for i in range(6):
            tangent[s, i] = k[s, i]
            sigma[s, i] = k[s, i] * (e[s, i] - e0[s, i])
        if p > 0:
            el = element[s]
            for r in range(3):
                n = 0.0
                for i in range(p):
                    n += N[s, i] * mult[at[mode[el, i], r]]
                sigma[s, 3 + r] += w[s, r] * n
                d = w[s, r] * (e[s, 3 + r] - e0[s, 3 + r] - n / C[s, 3 + r])
                for i in range(p):
                    gap[el, i, r] += N[s, i] * d


@kernel
def mixed_coupling(w, N, element, B, scale, out):  # type: ignore[no-untyped-def]
    """out[e, 3 i + r] += scale_r w_r N_i B_{3+r}: derivative of the gaps in y; w, scale (S, 3)."""
    S, p = N.shape
    m = B.shape[2]
    for s in range(S):
        e = element[s]
        for i in range(p):
            for r in range(3):
                f = scale[s, r] * w[s, r] * N[s, i]
                for b in range(m):
                    out[e, 3 * i + r, b] += f * B[s, 3 + r, b]


@kernel
def collect_elastic(  # type: ignore[no-untyped-def]
    k,
    w,
    C,
    e,
    e0,
    N,
    mode,
    element,
    at,
    mult,
    B,
    unit,
    wanted,
    sigma,
    tangent,
    gap,
    ry,
    Ky,
    coupling,
):
    """`stress` and what it gives the elements: ry (E, m) = sum B^T sigma and, if `wanted`,
    Ky (E, m, m) = sum B^T diag(tangent) B and the coupling (E, 3p, m) with the modes; all are
    overwritten. unit (S, 3) are ones.
    """
    stress(k, w, C, e, e0, N, mode, element, at, mult, sigma, tangent, gap)
    ry[:, :] = 0.0
    add_vector(element, B, sigma, ry)
    if wanted:
        Ky[:, :, :] = 0.0
        add_diagonal(element, B, tangent, B, Ky)
        coupling[:, :, :] = 0.0
        mixed_coupling(w, N, element, B, unit, coupling)


@kernel
def mode_compliance(w, C, N, element, out):  # type: ignore[no-untyped-def]
    """out[e, 3 i + r, 3 j + r] -= w_r N_i N_j / C_r: derivative of the gaps in the modes."""
    S, p = N.shape
    for s in range(S):
        e = element[s]
        for i in range(p):
            for j in range(p):
                for r in range(3):
                    out[e, 3 * i + r, 3 * j + r] -= w[s, r] * N[s, i] * N[s, j] / C[s, 3 + r]


@kernel
def lagging_strain(ea, eb, h, share, lag, rate, out):  # type: ignore[no-untyped-def]
    """Strain that meets the law in a step of length h, and its rate, all (S, 6).

    rate = (eb - ea) / h, out = ea + share (eb - ea) + lag rate, where lag = D / C is the
    Kelvin-Voigt retardation time of each row.
    """
    for s in range(ea.shape[0]):
        for i in range(6):
            r = (eb[s, i] - ea[s, i]) / h
            rate[s, i] = r
            out[s, i] = ea[s, i] + (share * h + lag[s, i]) * r
