"""Linear elasticity and Kelvin-Voigt damping of rods, on strains."""

from __future__ import annotations

from pliant._numba import kernel


@kernel
def stress(  # type: ignore[no-untyped-def]
    w, C, soft, e, e0, N, rows, mode, element, a, sigma, tangent, gap
):
    """Weighted stress resultants sigma (S, 6), their derivative in e, and the gaps of stress modes.

    Linear law: sigma = w C (e - e0), tangent = w C. If the rod has stress modes (N not empty), the
    strain rows `rows` (R,) carry the force n = sum_i N_i a_i instead: sigma = w n, tangent = 0, and
    gap[e, i, r] = sum_s w N_i (v_r - v0_r - soft_r n_r) over the stations of element e, soft (S, R)
    their compliance.
    """
    S, p = N.shape
    gap[:, :, :] = 0.0
    for s in range(S):
        for i in range(6):
            k = w[s, i] * C[s, i]
            tangent[s, i] = k
            sigma[s, i] = k * (e[s, i] - e0[s, i])
        if p > 0:
            el = element[s]
            for r in range(rows.shape[0]):
                row = rows[r]
                n = 0.0
                for i in range(p):
                    n += N[s, i] * a[mode[el, i], r]
                sigma[s, row] = w[s, row] * n
                tangent[s, row] = 0.0
                d = w[s, row] * (e[s, row] - e0[s, row] - soft[s, r] * n)
                for i in range(p):
                    gap[el, i, r] += N[s, i] * d


@kernel
def mixed_coupling(w, N, rows, element, B, scale, out):  # type: ignore[no-untyped-def]
    """out[e, R i + r] += scale_r w N_i B_row: derivative of the gaps in y, scale (S, R)."""
    S, p = N.shape
    R = rows.shape[0]
    m = B.shape[2]
    for s in range(S):
        e = element[s]
        for i in range(p):
            for r in range(R):
                row = rows[r]
                f = scale[s, r] * w[s, row] * N[s, i]
                for b in range(m):
                    out[e, R * i + r, b] += f * B[s, row, b]


@kernel
def mode_compliance(w, C, N, rows, element, out):  # type: ignore[no-untyped-def]
    """out[e, R i + r, R j + r] -= w N_i N_j / C_row: derivative of the gaps in the modes."""
    S, p = N.shape
    R = rows.shape[0]
    for s in range(S):
        e = element[s]
        for i in range(p):
            for j in range(p):
                for r in range(R):
                    f = w[s, rows[r]] * N[s, i] * N[s, j]
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
