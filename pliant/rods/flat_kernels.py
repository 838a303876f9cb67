"""Kernels of rods of nodes that stay in a plane: three variables a node, see `spectral_kernels`.

With the axis k of the sections normal to the plane and i, j the next two in cyclic order, a node has
the variables (w_k, v_i, v_j), and of C_i = (a_i, b_i) only b_i along k. What remains of the equations
of space is a part of theirs. Quaternions of nodes, as their base sees them, are cos and sin of half the
angle of their turn.
"""

from __future__ import annotations

from pliant._numba import kernel, leaf
from pliant.lie.plane import exp, half_turn, increment_slopes, log, relative


@leaf
def others(k):  # type: ignore[no-untyped-def]
    """The axes i and j that follow k in cyclic order."""
    return (k + 1) % 3, (k + 2) % 3


@kernel
def propagate(k, psi, x, z, turn):  # type: ignore[no-untyped-def]
    """Nodes from increments psi (n, 6), as the base sees them: places x (n + 1, 2), half turns z and
    turns (n + 1, 2), both as cos and sin.
    """
    i, j = others(k)
    x[0, 0], x[0, 1] = 0.0, 0.0
    z[0, 0], z[0, 1] = 1.0, 0.0
    turn[0, 0], turn[0, 1] = 1.0, 0.0
    for n in range(psi.shape[0]):
        c, s, p, q = exp(psi[n, k], psi[n, 3 + i], psi[n, 3 + j])
        a, b, co, si = z[n, 0], z[n, 1], turn[n, 0], turn[n, 1]
        x[n + 1, 0], x[n + 1, 1] = x[n, 0] + co * p - si * q, x[n, 1] + si * p + co * q
        a, b = a * c - b * s, a * s + b * c
        unit = 1.5 - 0.5 * (a * a + b * b)
        a, b = unit * a, unit * b
        z[n + 1, 0], z[n + 1, 1] = a, b
        turn[n + 1, 0], turn[n + 1, 1] = a * a - b * b, 2.0 * a * b


@kernel
def write_poses(k, base, x, turn, poses):  # type: ignore[no-untyped-def]
    """Poses (n + 1, 4, 4) of nodes on a base (4, 4)."""
    for n in range(x.shape[0]):
        _write_pose(k, base, x[n, 0], x[n, 1], turn[n, 0], turn[n, 1], poses[n])


@leaf
def _write_pose(k, base, x, y, co, si, g):  # type: ignore[no-untyped-def]
    """g = base with a shift (x, y) and a turn in the plane."""
    i, j = others(k)
    for a in range(3):
        p, q = base[a, i], base[a, j]
        g[a, k] = base[a, k]
        g[a, i], g[a, j] = co * p + si * q, co * q - si * p
        g[a, 3] = base[a, 3] + x * p + y * q


@leaf
def _see_nodes(k, base, first, L, x, z, turn, C, g):  # type: ignore[no-untyped-def]
    """Pose g (4, 4) of a station and C (k + 1, 4), nodes as it sees them: (a, b) and the turn."""
    a, b, p, q = 0.0, 0.0, 0.0, 0.0
    for n in range(L.shape[0]):
        w, at = L[n], first + n
        a += w * z[at, 0]
        b += w * z[at, 1]
        p += w * x[at, 0]
        q += w * x[at, 1]
    s = 1.0 / (a * a + b * b)
    co, si = s * (a * a - b * b), 2.0 * s * a * b
    _write_pose(k, base, p, q, co, si, g)
    a, b = s * a, s * b
    for n in range(L.shape[0]):
        z0, z1 = z[first + n, 0], z[first + n, 1]
        c, d = turn[first + n, 0], turn[first + n, 1]
        C[n, 0], C[n, 1] = a * z0 + b * z1, a * z1 - b * z0
        C[n, 2], C[n, 3] = co * c + si * d, co * d - si * c
    return co, si


@leaf
def _write_frame(k, L, C, J):  # type: ignore[no-untyped-def]
    """J (6, m): turn sum L_i a_i w_i, shift sum L_i R^T R_i v_i."""
    i, j = others(k)
    for n in range(L.shape[0]):
        at, w = 3 * n, L[n]
        co, si = w * C[n, 2], w * C[n, 3]
        J[k, at] = w * C[n, 0]
        J[3 + i, at + 1], J[3 + i, at + 2] = co, -si
        J[3 + j, at + 1], J[3 + j, at + 2] = si, co


@leaf
def _write_strain(k, first, L, dL, x, C, co, si, e, B):  # type: ignore[no-untyped-def]
    """Strain e (6,) and B (6, m) for the turn t of the station:

    du = sum ((L_i' - c0 L_i) a_i + d0 L_i b_i) w_i,   dv = sum L_i' R^T R_i v_i + v x t.
    """
    i, j = others(k)
    p, q, c0, d0 = 0.0, 0.0, 0.0, 0.0
    for n in range(L.shape[0]):
        d = dL[n]
        p += d * x[first + n, 0]
        q += d * x[first + n, 1]
        c0 += d * C[n, 0]
        d0 += d * C[n, 1]
    vi, vj = co * p + si * q, co * q - si * p
    e[k], e[3 + i], e[3 + j] = 2.0 * d0, vi, vj
    for n in range(L.shape[0]):
        at, w, d = 3 * n, L[n], dL[n]
        turn, c, s = w * C[n, 0], d * C[n, 2], d * C[n, 3]
        B[k, at] = d * C[n, 0] - c0 * turn + d0 * w * C[n, 1]
        B[3 + i, at], B[3 + j, at] = vj * turn, -vi * turn
        B[3 + i, at + 1], B[3 + i, at + 2] = c, -s
        B[3 + j, at + 1], B[3 + j, at + 2] = s, c


@kernel
def place(k, base, first, element, L, dL, x, z, turn, frames, strains, C, g, J, e, B):  # type: ignore[no-untyped-def]
    """Frames g, J and strains e, B, as wanted; rows out of the plane are not written."""
    for s in range(element.shape[0]):
        at = first[element[s]]
        co, si = _see_nodes(k, base, at, L[s], x, z, turn, C[s], g[s])
        if frames:
            _write_frame(k, L[s], C[s], J[s])
        if strains:
            _write_strain(k, at, L[s], dL[s], x, C[s], co, si, e[s], B[s])


@leaf
def _add_bend(ni, nj, factor, W, L, C, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of n . w(x), of which the shift of nodes is bent:

    w = sum W_i R^T R_i (v_i + w_i x v_i / 2), and of factor n . (w x t), t the turn of the station.
    """
    for n in range(L.shape[0]):
        at = 3 * n
        co, si = C[n, 2], C[n, 3]
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


@leaf
def _add_turn(m, L, C, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of m . t(x): -L_i b_i w_i^2 / 2 + (sum L_i b_i w_i) t'."""
    for n in range(L.shape[0]):
        x = L[n] * C[n, 1]
        K[3 * n, 3 * n] -= 0.5 * m * x
        for o in range(L.shape[0]):
            y = 0.5 * m * x * L[o] * C[o, 0]
            K[3 * n, 3 * o] += y
            K[3 * o, 3 * n] += y


@kernel
def add_frame_second(k, element, L, C, f, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum f . log(g^-1 g(x)), f (S, 6)."""
    i, j = others(k)
    for s in range(element.shape[0]):
        at = K[element[s]]
        _add_turn(f[s, k], L[s], C[s], at)
        _add_bend(f[s, 3 + i], f[s, 3 + j], 0.5, L[s], L[s], C[s], at)


@leaf
def _add_curvature(m, L, dL, C, K):  # type: ignore[no-untyped-def]
    """Add the second derivative of m u(x), see `spectral_kernels`: 2 (al rho + be tau) and what goes
    with w_i^2.
    """
    c0, d0 = 0.0, 0.0
    for n in range(L.shape[0]):
        c0 += dL[n] * C[n, 0]
        d0 += dL[n] * C[n, 1]
    for n in range(L.shape[0]):
        a, b, w, d = C[n, 0], C[n, 1], L[n], dL[n]
        K[3 * n, 3 * n] -= 0.5 * m * ((d - c0 * w) * b - w * a * d0)
        al, be = -0.5 * w * b, 0.5 * w * a
        for o in range(L.shape[0]):
            half, below = 0.5 * C[o, 0], -0.5 * C[o, 1]
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
    i, j = others(k)
    for s in range(element.shape[0]):
        at, w, c = K[element[s]], L[s], C[s]
        ni, nj = sigma[s, 3 + i], sigma[s, 3 + j]
        vi, vj = e[s, 3 + i], e[s, 3 + j]
        _add_curvature(sigma[s, k], w, dL[s], c, at)
        _add_turn(ni * vj - nj * vi, w, c, at)
        _add_bend(ni, nj, 1.0, dL[s], w, c, at)
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
    i, j = others(k)
    for s in range(element.shape[0]):
        y = ydot[element[s]]
        w, along, turn, qi, qj, pi, pj = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for n in range(L.shape[1]):
            wn, vi, vj = y[3 * n], y[3 * n + 1], y[3 * n + 2]
            co, si = C[s, n, 2], C[s, n, 3]
            x, b = L[s, n], L[s, n] * C[s, n, 1]
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
def retract(k, base, other, x, z, turn, dx, psi):  # type: ignore[no-untyped-def]
    """Increments psi (n, 6) after nodes moved by exp(dx), dx (6 + 3 n,), and the base from `base` to
    `other` (4, 4); psi_n = log(h_{n-1}^-1 h_n), h_n the nodes after that.
    """
    i, j = others(k)
    co, si, p, q = relative(base, other, i, j)
    a, b = half_turn(co, si)
    for n in range(psi.shape[0]):
        at, m = 6 + 3 * n, n + 1
        c, s, u, v = exp(dx[at], dx[at + 1], dx[at + 2])
        c, s = z[m, 0] * c - z[m, 1] * s, z[m, 0] * s + z[m, 1] * c
        u, v = turn[m, 0] * u - turn[m, 1] * v, turn[m, 1] * u + turn[m, 0] * v
        u, v = x[m, 0] + u, x[m, 1] + v
        co, si = a * a - b * b, 2.0 * a * b
        f, g = u - p, v - q
        w, f, g = log(a * c + b * s, a * s - b * c, co * f + si * g, co * g - si * f)
        for r in range(6):
            psi[n, r] = 0.0
        psi[n, k], psi[n, 3 + i], psi[n, 3 + j] = w, f, g
        a, b, p, q = c, s, u, v


@kernel
def advance(k, psi, dx, out):  # type: ignore[no-untyped-def]
    """out_n (n, 6) = Psi_n + Psi_n' when nodes move at dx (6 + 3 n,), see `chain`."""
    i, j = others(k)
    w0, i0, j0 = dx[k], dx[3 + i], dx[3 + j]
    for n in range(psi.shape[0]):
        at = 6 + 3 * n
        w1, i1, j1 = dx[at], dx[at + 1], dx[at + 2]
        w, f, g = psi[n, k], psi[n, 3 + i], psi[n, 3 + j]
        h = 0.5 * w
        a, q = increment_slopes(h)
        # what the turns of both nodes do to the shift, by q f and by f turned by a right angle
        less, more = q * (w1 - w0), 0.5 * (w1 + w0)
        for r in range(6):
            out[n, r] = 0.0
        out[n, k] = w + w1 - w0
        out[n, 3 + i] = f + a * (i1 - i0) - h * (j1 + j0) - less * f + more * g
        out[n, 3 + j] = g + a * (j1 - j0) + h * (i1 + i0) - less * g - more * f
        w0, i0, j0 = w1, i1, j1


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
