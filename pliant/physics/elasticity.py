"""Linear elasticity and Kelvin-Voigt damping of rods, on strains."""

from __future__ import annotations

from pliant._numba import kernel
from pliant.physics.collect import add_diagonal, add_vector


@kernel
def stress(  # type: ignore[no-untyped-def]
    k, w, soft, e, met, e0, N, rows, mode, element, at, mult, sigma, tangent, gap
):
    """Weighted stress resultants sigma (S, 6), their derivative in e, and the gaps of stress modes.

    Linear law: sigma = k (e - e0), tangent = k (S, 6), the stiffness times weights. If the rod has
    stress modes (N not empty), the strain rows `rows` (R,) carry in addition the force
    n = sum_i N_i a_i with the weights w (S, R): sigma += w n, and
    gap[e, i, r] = sum_s w N_i (met_r - v0_r - soft_r n_r) over the stations of element e, met (S, 6)
    the strains that meet the modes and soft (S, R) their compliance. The modes a stand in `mult` at
    the places `at` (count, R).
    """
    S, p = N.shape
    gap[:, :, :] = 0.0
    for s in range(S):
        for i in range(6):
            tangent[s, i] = k[s, i]
            sigma[s, i] = k[s, i] * (e[s, i] - e0[s, i])
        if p > 0:
            el = element[s]
            for r in range(rows.shape[0]):
                row = rows[r]
                n = 0.0
                for i in range(p):
                    n += N[s, i] * mult[at[mode[el, i], r]]
                sigma[s, row] += w[s, r] * n
                d = w[s, r] * (met[s, row] - e0[s, row] - soft[s, r] * n)
                for i in range(p):
                    gap[el, i, r] += N[s, i] * d


@kernel
def mixed_coupling(w, N, rows, element, B, scale, out):  # type: ignore[no-untyped-def]
    """out[e, R i + r] += scale_r w_r N_i B_row: derivative of the gaps in y; w, scale (S, R)."""
    S, p = N.shape
    R = rows.shape[0]
    m = B.shape[2]
    for s in range(S):
        e = element[s]
        for i in range(p):
            for r in range(R):
                f = scale[s, r] * w[s, r] * N[s, i]
                row = B[s, rows[r]]
                for b in range(m):
                    out[e, R * i + r, b] += f * row[b]


@kernel
def collect_elastic(  # type: ignore[no-untyped-def]
    k, w, soft, e, e0, N, rows, mode, element, at, mult, B, unit, wanted,
    sigma, tangent, gap, ry, Ky, coupling,
):  # fmt: skip
    """`stress` and what it gives the elements: ry (E, m) = sum B^T sigma and, if `wanted`,
    Ky (E, m, m) = sum B^T diag(tangent) B and the coupling (E, pR, m) with the modes; all are
    overwritten. unit (S, R) are ones.
    """
    stress(k, w, soft, e, e, e0, N, rows, mode, element, at, mult, sigma, tangent, gap)
    ry[:, :] = 0.0
    add_vector(element, B, sigma, ry)
    if wanted:
        Ky[:, :, :] = 0.0
        add_diagonal(element, B, tangent, B, Ky)
        coupling[:, :, :] = 0.0
        mixed_coupling(w, N, rows, element, B, unit, coupling)


@kernel
def mode_compliance(w, C, N, rows, element, out):  # type: ignore[no-untyped-def]
    """out[e, R i + r, R j + r] -= w_r N_i N_j / C_row: derivative of the gaps in the modes."""
    S, p = N.shape
    R = rows.shape[0]
    for s in range(S):
        e = element[s]
        for i in range(p):
            for j in range(p):
                for r in range(R):
                    f = w[s, r] * N[s, i] * N[s, j]
                    out[e, R * i + r, R * j + r] -= f / C[s, rows[r]]


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
