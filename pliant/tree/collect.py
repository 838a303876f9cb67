"""Kernels that collect station quantities into element vectors and matrices.

r (E, m) and K (E, m, m) are in element variables y; J or B (S, 6, m) the derivative at a station.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel


@kernel
def add_vector(element, J, p, r):  # type: ignore[no-untyped-def]
    """r_e += sum_s J_s^T p_s."""
    S, _, m = J.shape
    for s in range(S):
        e = element[s]
        for i in range(6):
            v = p[s, i]
            if v != 0.0:
                for a in range(m):
                    r[e, a] += J[s, i, a] * v


@kernel
def subtract_vector(element, J, p, r):  # type: ignore[no-untyped-def]
    """r_e -= sum_s J_s^T p_s."""
    S, _, m = J.shape
    for s in range(S):
        out = r[element[s]]
        for i in range(6):
            v = p[s, i]
            if v != 0.0:
                row = J[s, i]
                for a in range(m):
                    out[a] -= row[a] * v


@kernel
def add_matrix(element, J, k, K):  # type: ignore[no-untyped-def]
    """K_e += sum_s J_s^T k_s J_s with full 6x6 blocks k (S, 6, 6)."""
    add_bilinear(element, J, k, J, K)


@kernel
def add_bilinear(element, Jl, k, Jr, K):  # type: ignore[no-untyped-def]
    """K_e += sum_s Jl_s^T k_s Jr_s."""
    S, _, m = Jl.shape
    row = np.empty(m)
    for s in range(S):
        e = element[s]
        for i in range(6):
            alive = False
            for a in range(m):
                row[a] = 0.0
            for j in range(6):
                v = k[s, i, j]
                if v != 0.0:
                    alive = True
                    for a in range(m):
                        row[a] += v * Jr[s, j, a]
            if alive:
                for a in range(m):
                    v = Jl[s, i, a]
                    if v != 0.0:
                        for b in range(m):
                            K[e, a, b] += v * row[b]


@kernel
def add_diagonal(element, Bl, c, Br, K):  # type: ignore[no-untyped-def]
    """K_e += sum_s Bl_s^T diag(c_s) Br_s with c (S, 6), three rows at a time."""
    S, _, m = Bl.shape
    for s in range(S):
        e = element[s]
        for i in range(0, 6, 3):
            w0, w1, w2 = c[s, i], c[s, i + 1], c[s, i + 2]
            if w0 == 0.0 and w1 == 0.0 and w2 == 0.0:
                continue
            r0, r1, r2 = Br[s, i], Br[s, i + 1], Br[s, i + 2]
            for a in range(m):
                v0, v1, v2 = w0 * Bl[s, i, a], w1 * Bl[s, i + 1, a], w2 * Bl[s, i + 2, a]
                if v0 != 0.0 or v1 != 0.0 or v2 != 0.0:
                    row = K[e, a]
                    for b in range(m):
                        row[b] += v0 * r0[b] + v1 * r1[b] + v2 * r2[b]


@kernel
def add_stations(element, J, p, k, tangent, r, K):  # type: ignore[no-untyped-def]
    """`add_vector` and, if `tangent`, `add_matrix` of what acts at the stations."""
    add_vector(element, J, p, r)
    if tangent:
        add_bilinear(element, J, k, J, K)


@kernel
def carry(g, J, X, A, out_g, out_J):  # type: ignore[no-untyped-def]
    """Frames g X and Jacobians A J of points with constant poses X (P, 4, 4) in sections g (P, 4, 4).

    A (P, 6, 6) = Ad(X)^-1, J and out_J (P, 6, m).
    """
    m = J.shape[2]
    for s in range(g.shape[0]):
        for i in range(4):
            for j in range(4):
                v = 0.0
                for a in range(4):
                    v += g[s, i, a] * X[s, a, j]
                out_g[s, i, j] = v
        for i in range(6):
            row = out_J[s, i]
            for c in range(m):
                row[c] = 0.0
            for a in range(6):
                f = A[s, i, a]
                if f != 0.0:
                    source = J[s, a]
                    for c in range(m):
                        row[c] += f * source[c]
