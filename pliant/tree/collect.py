"""Kernels that collect station quantities into element vectors and matrices.

r (E, m) and K (E, m, m) are in element variables y; J or B (S, 6, m) the derivative at a station.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import inner, kernel


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
def add_bilinear(first, element, Jl, k, Jr, row, K):  # type: ignore[no-untyped-def]
    """K_e += sum_s Jl_s^T k_s Jr_s in the variables from `first` on; row (m,) is workspace."""
    S, _, m = Jl.shape
    for s in range(S):
        e = element[s]
        for i in range(6):
            alive = False
            for a in range(np.uint64(first), np.uint64(m)):
                row[a] = 0.0
            for j in range(6):
                v = k[s, i, j]
                if v != 0.0:
                    alive = True
                    for a in range(np.uint64(first), np.uint64(m)):
                        row[a] += v * Jr[s, j, a]
            if alive:
                for a in range(np.uint64(first), np.uint64(m)):
                    v = Jl[s, i, a]
                    if v != 0.0:
                        for b in range(np.uint64(first), np.uint64(m)):
                            K[e, a, b] += v * row[b]


@kernel
def add_diagonal(first, element, Bl, slope, shift, Br, K):  # type: ignore[no-untyped-def]
    """K_e += sum_s Bl_s^T diag(slope_s shift_s) Br_s, both (S, 6), three rows at a time, in the
    variables from `first` on.
    """
    S, _, m = Bl.shape
    for s in range(S):
        e = element[s]
        for i in range(0, 6, 3):
            w0, w1 = slope[s, i] * shift[s, i], slope[s, i + 1] * shift[s, i + 1]
            w2 = slope[s, i + 2] * shift[s, i + 2]
            if w0 == 0.0 and w1 == 0.0 and w2 == 0.0:
                continue
            if (w0 == 0.0) + (w1 == 0.0) + (w2 == 0.0) == 2:
                r = i if w0 != 0.0 else i + 1 if w1 != 0.0 else i + 2
                _add_outer(first, w0 + w1 + w2, Bl[s, r], Br[s, r], K[e])
                continue
            r0, r1, r2 = Br[s, i], Br[s, i + 1], Br[s, i + 2]
            for a in range(np.uint64(first), np.uint64(m)):
                v0, v1, v2 = w0 * Bl[s, i, a], w1 * Bl[s, i + 1, a], w2 * Bl[s, i + 2, a]
                if v0 != 0.0 or v1 != 0.0 or v2 != 0.0:
                    row = K[e, a]
                    for b in range(np.uint64(first), np.uint64(m)):
                        row[b] += v0 * r0[b] + v1 * r1[b] + v2 * r2[b]


@inner
def _add_outer(first, w, left, right, K):  # type: ignore[no-untyped-def]
    """K (m, m) += w left right^T in the variables from `first` on."""
    m = left.shape[0]
    for a in range(np.uint64(first), np.uint64(m)):
        v = w * left[a]
        for b in range(np.uint64(first), np.uint64(m)):
            K[a, b] += v * right[b]


@kernel
def to_sections(A, p, extra, out):  # type: ignore[no-untyped-def]
    """out (P, 6) = A^T (p + extra): wrenches at points as wrenches of their sections, A (P, 6, 6)."""
    for s in range(A.shape[0]):
        for j in range(6):
            v = 0.0
            for i in range(6):
                v += A[s, i, j] * (p[s, i] + extra[s, i])
            out[s, j] = v


@kernel
def entries_of(elements, x, out):  # type: ignore[no-untyped-def]
    """out (E, n) = x[elements], zero where an element has no entry (-1)."""
    E, n = elements.shape
    for e in range(E):
        for a in range(n):
            at = elements[e, a]
            out[e, a] = x[at] if at >= 0 else 0.0


@kernel
def station_values(first, element, J, y, out):  # type: ignore[no-untyped-def]
    """out_s (S, 6) = J_s y_e with y (E, m), which is zero before `first`."""
    S, _, m = J.shape
    for s in range(S):
        e = element[s]
        for i in range(6):
            v = 0.0
            for a in range(np.uint64(first), np.uint64(m)):
                v += J[s, i, a] * y[e, a]
            out[s, i] = v


@kernel
def add_moved_values(A, values, out):  # type: ignore[no-untyped-def]
    """out_s (S, 6) += A_s values_s."""
    for s in range(A.shape[0]):
        for i in range(6):
            for j in range(6):
                out[s, i] += A[s, i, j] * values[s, j]


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
