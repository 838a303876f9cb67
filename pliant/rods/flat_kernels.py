"""Kernels of rods of nodes that stay in a plane: three variables a node, see `spectral_kernels`.

With the axis k of the sections normal to the plane and i, j the next two in cyclic order, a node has
the variables (w_k, v_i, v_j), and of C_i = (a_i, b_i) only b_i along k. What remains of the equations
of space is a part of theirs with the same numbers.
"""

from __future__ import annotations

from pliant._numba import inner, kernel, leaf
from pliant.rods.spectral_kernels import see_nodes


@leaf
def _turn(C, k):  # type: ignore[no-untyped-def]
    """cos and sin of the angle of a node as seen from the station, from C (4,)."""
    a, b = C[0], C[1 + k]
    s = 1.0 / (a * a + b * b)
    return s * (a * a - b * b), 2.0 * s * a * b


@leaf
def _others(k):  # type: ignore[no-untyped-def]
    """The axes i and j that follow k in cyclic order."""
    return (k + 1) % 3, (k + 2) % 3


@inner
def _write_frame(k, L, C, J):  # type: ignore[no-untyped-def]
    """J (6, m): turn sum L_i a_i w_i, shift sum L_i R^T R_i v_i."""
    i, j = _others(k)
    for n in range(L.shape[0]):
        at, w = 3 * n, L[n]
        co, si = _turn(C[n], k)
        J[k, at] = w * C[n, 0]
        J[3 + i, at + 1], J[3 + i, at + 2] = w * co, -w * si
        J[3 + j, at + 1], J[3 + j, at + 2] = w * si, w * co


@inner
def _write_strain(k, first, L, dL, poses, C, g, e, B):  # type: ignore[no-untyped-def]
    """Strain e (6,) and B (6, m) for the turn t of the station:

    du = sum ((L_i' - c0 L_i) a_i + d0 L_i b_i) w_i,   dv = sum L_i' R^T R_i v_i + v x t.
    """
    i, j = _others(k)
    x, y, z, c0, d0 = 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(L.shape[0]):
        P, d = poses[first + n], dL[n]
        x += d * P[0, 3]
        y += d * P[1, 3]
        z += d * P[2, 3]
        c0 += d * C[n, 0]
        d0 += d * C[n, 1 + k]
    vi = g[0, i] * x + g[1, i] * y + g[2, i] * z
    vj = g[0, j] * x + g[1, j] * y + g[2, j] * z
    e[k], e[3 + i], e[3 + j] = 2.0 * d0, vi, vj
    for n in range(L.shape[0]):
        at, a, d = 3 * n, C[n, 0], dL[n]
        co, si = _turn(C[n], k)
        turn = L[n] * a
        B[k, at] = (d - c0 * L[n]) * a + d0 * L[n] * C[n, 1 + k]
        B[3 + i, at], B[3 + j, at] = vj * turn, -vi * turn
        B[3 + i, at + 1], B[3 + i, at + 2] = d * co, -d * si
        B[3 + j, at + 1], B[3 + j, at + 2] = d * si, d * co


@kernel
def place(k, first, element, L, dL, poses, quaternions, frames, strains, C, g, J, e, B):  # type: ignore[no-untyped-def]
    """Frames g, J and strains e, B, as wanted; rows out of the plane are not written."""
    for s in range(element.shape[0]):
        at = first[element[s]]
        see_nodes(at, L[s], poses, quaternions, C[s], g[s])
        if frames:
            _write_frame(k, L[s], C[s], J[s])
        if strains:
            _write_strain(k, at, L[s], dL[s], poses, C[s], g[s], e[s], B[s])


@inner
def _add_bend(k, ni, nj, factor, W, L, C, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of n . w(x), of which the shift of nodes is bent:

    w = sum W_i R^T R_i (v_i + w_i x v_i / 2), and of factor n . (w x t), t the turn of the station.
    """
    for n in range(L.shape[0]):
        at = 3 * n
        co, si = _turn(C[n], k)
        half = 0.5 * W[n]
        # n in the axes of the node, and n x (a unit shift of the node)
        oi, oj = co * ni + si * nj, co * nj - si * ni
        K[at, at + 1] += half * oj
        K[at + 1, at] += half * oj
        K[at, at + 2] -= half * oi
        K[at + 2, at] -= half * oi
        ti, tj = -W[n] * oj, W[n] * oi
        for m in range(L.shape[0]):
            c, x = 3 * m, factor * L[m] * C[m, 0]
            K[c, at + 1] += x * ti
            K[at + 1, c] += x * ti
            K[c, at + 2] += x * tj
            K[at + 2, c] += x * tj


@inner
def _add_turn(k, m, L, C, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of m . t(x): -L_i b_i w_i^2 / 2 + (sum L_i b_i w_i) t'."""
    for n in range(L.shape[0]):
        x = L[n] * C[n, 1 + k]
        K[3 * n, 3 * n] -= 0.5 * m * x
        for o in range(L.shape[0]):
            y = 0.5 * m * x * L[o] * C[o, 0]
            K[3 * n, 3 * o] += y
            K[3 * o, 3 * n] += y


@kernel
def add_frame_second(k, element, L, C, f, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum f . log(g^-1 g(x)), f (S, 6)."""
    i, j = _others(k)
    for s in range(element.shape[0]):
        at = K[element[s]]
        _add_turn(k, f[s, k], L[s], C[s], at)
        _add_bend(k, f[s, 3 + i], f[s, 3 + j], 0.5, L[s], L[s], C[s], at)


@inner
def _add_curvature(k, m, L, dL, C, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of m u(x), see `spectral_kernels`: 2 (al rho + be tau) and what goes
    with w_i^2.
    """
    c0, d0 = 0.0, 0.0
    for n in range(L.shape[0]):
        c0 += dL[n] * C[n, 0]
        d0 += dL[n] * C[n, 1 + k]
    for n in range(L.shape[0]):
        a, b, w, d = C[n, 0], C[n, 1 + k], L[n], dL[n]
        K[3 * n, 3 * n] -= 0.5 * m * ((d - c0 * w) * b - w * a * d0)
        al, be = -0.5 * w * b, 0.5 * w * a
        for o in range(L.shape[0]):
            half, below = 0.5 * C[o, 0], -0.5 * C[o, 1 + k]
            rho = (2.0 * c0 * L[o] - dL[o]) * half + d0 * L[o] * below
            tau = -d0 * L[o] * half - dL[o] * below
            x = 2.0 * m * (al * rho + be * tau)
            K[3 * n, 3 * o] += x
            K[3 * o, 3 * n] += x


@kernel
def add_strain_second(k, element, L, dL, C, e, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum sigma . e(x), sigma = (m, n) (S, 6).

    v = exp(-t) w with w = R^T p'(x):  v'' = w'' - 2 t' x w' - t'' x v + t' x (t' x v).
    """
    i, j = _others(k)
    for s in range(element.shape[0]):
        at, w, c = K[element[s]], L[s], C[s]
        ni, nj = sigma[s, 3 + i], sigma[s, 3 + j]
        vi, vj = e[s, 3 + i], e[s, 3 + j]
        _add_curvature(k, sigma[s, k], w, dL[s], c, at)
        _add_turn(k, ni * vj - nj * vi, w, c, at)
        _add_bend(k, ni, nj, 1.0, dL[s], w, c, at)
        along = ni * vi + nj * vj
        for n in range(w.shape[0]):
            x = along * w[n] * c[n, 0]
            for o in range(w.shape[0]):
                at[3 * n, 3 * o] -= x * w[o] * c[o, 0]


@kernel
def frame_bias(k, element, L, C, ydot, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6): body acceleration of stations when nodes move at constant rates ydot (E, m).

    w' = -sum L_i b_i w_i^2 / 2 + (sum L_i b_i w_i) w,
    q' = -w x q + sum L_i R^T R_i (w_i x v_i).
    """
    i, j = _others(k)
    for s in range(element.shape[0]):
        y = ydot[element[s]]
        w, along, turn, qi, qj, pi, pj = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for n in range(L.shape[1]):
            wn, vi, vj = y[3 * n], y[3 * n + 1], y[3 * n + 2]
            co, si = _turn(C[s, n], k)
            x, b = L[s, n], L[s, n] * C[s, n, 1 + k]
            along += b * wn
            w += x * C[s, n, 0] * wn
            turn -= 0.5 * b * wn * wn
            ui, uj = co * vi - si * vj, si * vi + co * vj
            qi += x * ui
            qj += x * uj
            pi -= x * wn * uj
            pj += x * wn * ui
        bias[s, k] = turn + along * w
        bias[s, 3 + i], bias[s, 3 + j] = pi + w * qj, pj - w * qi


@kernel
def take_variables(at, x, y):  # type: ignore[no-untyped-def]
    """y (E, m) = x[:, at] of x (E, n)."""
    for e in range(y.shape[0]):
        for a in range(at.shape[0]):
            y[e, a] = x[e, at[a]]


@kernel
def put_rows(at, Cy, C):  # type: ignore[no-untyped-def]
    """C[:, :, at] (E, p, n) = Cy (E, p, m), else zero."""
    E, p, n = C.shape
    for e in range(E):
        for q in range(p):
            for b in range(n):
                C[e, q, b] = 0.0
            for a in range(at.shape[0]):
                C[e, q, at[a]] = Cy[e, q, a]


@kernel
def put_blocks(at, Ky, K):  # type: ignore[no-untyped-def]
    """K[:, at, at] (E, n, n) = Ky (E, m, m), else zero."""
    E, n, _ = K.shape
    for e in range(E):
        for b in range(n):
            for c in range(n):
                K[e, b, c] = 0.0
        for a in range(at.shape[0]):
            for c in range(at.shape[0]):
                K[e, at[a], at[c]] = Ky[e, a, c]


@kernel
def spread(at, x, twists):  # type: ignore[no-untyped-def]
    """Twists (N + 1, 6) of nodes from x (6 + 3 N,): of the base, then entries at (3,) of others."""
    for b in range(6):
        twists[0, b] = x[b]
    for n in range(1, twists.shape[0]):
        for b in range(6):
            twists[n, b] = 0.0
        for a in range(3):
            twists[n, at[a]] = x[3 + 3 * n + a]


@kernel
def spread_entries(at, index, x, out):  # type: ignore[no-untyped-def]
    """out (6 N,) : wrenches with the entries at (3,) from x[index], index (3 N,); else zero."""
    for b in range(out.shape[0]):
        out[b] = 0.0
    for n in range(index.shape[0] // 3):
        for a in range(3):
            out[6 * n + at[a]] = x[index[3 * n + a]]


@kernel
def take_entries(at, index, x, out):  # type: ignore[no-untyped-def]
    """out[index], index (3 N,), = entries at (3,) of wrenches x (6 N,)."""
    for n in range(index.shape[0] // 3):
        for a in range(3):
            out[index[3 * n + a]] = x[6 * n + at[a]]
