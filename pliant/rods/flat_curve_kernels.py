"""Kernels of cumulative curves that stay in a plane, see `cumulative` for space.

Positions and turns of the plane are complex numbers. A control pose has a place P_n and an angle phi_n,
and with w_j = phi_j - phi_{j-1} = 2 h_j and D_j = P_j - P_{j-1} the curve is

    phi = phi_0 + sum b_j w_j,    p = P_0 + sum G_j D_j,    G_j = rho_j exp(i theta_j),
    rho_j = sin(b_j h_j) / sin h_j,    theta_j = -sum_{l<j} (1 - b_l) w_l - (1 - b_j) w_j / 2,

so that all derivatives follow from those of G_j and of K_j = dG_j / ds in the w_l:

    l < j :  dG_j = -i (1 - b_l) G_j,   dK_j = i b_l' G_j - i (1 - b_l) K_j,

and in w_j itself from those of rho_j. A variation turns a pose by w_n and moves it by exp(i phi_n) v_n;
to second order by i w_n exp(i phi_n) v_n / 2 more.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.lie.plane import half_series, sinc_curvature, sinc_slopes
from pliant.rods.flat_kernels import others

_G, _GW, _GWW, _K, _KW, _KWW, _D, _U, _V = range(9)
"""Rows of the workspace (9, k + 2) of a station: by stage G, K and their derivatives in w_j, and D_j;
then room for sums."""


@leaf
def _turned(angle):  # type: ignore[no-untyped-def]
    """exp(i angle)."""
    s, c = half_series(angle)
    return complex(c, angle * s)


@leaf
def _set_stages(axis, inc, b, db, psi, x, strains, second, work):  # type: ignore[no-untyped-def]
    """Set the rows of a station; returns the angle from its first control pose and the strain u.

    strains : whether K is wanted, besides G.  second : whether second derivatives are.
    """
    k = b.shape[0]
    before, tau, angle, u = 0.0, 0.0, 0.0, 0.0
    work[_G, 0], work[_K, 0] = 1.0, 0.0
    for r in (_G, _GW, _K, _KW):
        work[r, k + 1] = 0.0
    for j in range(1, k + 1):
        w, bj = psi[inc + j - 1, axis], b[j - 1]
        h, less = 0.5 * w, 1.0 - bj
        y, square = h * h, bj * bj
        s, s1, _ = sinc_slopes(y)
        t, t1, c = sinc_slopes(square * y)
        one = 1.0 / s
        e = _turned(-before - less * h)
        rho = bj * t * one
        N = (square * t1 * s - t * s1) * one
        rho_x = bj * N * one
        rho_w = h * rho_x
        G, Gw = e * rho, e * complex(rho_w, -0.5 * less * rho)
        work[_G, j], work[_GW, j] = G, Gw
        if second:
            s2, t2 = sinc_curvature(y, s, s1), sinc_curvature(square * y, t, t1)
            rho_xx = bj * one * ((square * square * t2 * s - t * s2) * one - 2.0 * N * s1 * one)
            rho_ww = 0.5 * rho_x + y * rho_xx
            work[_GWW, j] = e * complex(rho_ww - 0.25 * less * less * rho, -less * rho_w)
        if strains:
            d = db[j - 1]
            to = tau + d * h
            r_b = c * one
            M = (-0.5 * square * t * s - c * s1) * one
            r_bx = M * one
            r_bw = h * r_bx
            work[_K, j] = e * complex(d * r_b, rho * to)
            own = e * complex(d * r_bw, 0.5 * d * (rho - less * r_b))
            work[_KW, j] = 1j * to * Gw + own
            if second:
                r_bxx = one * (
                    (-0.5 * square * square * t1 * s - c * s2) * one - 2.0 * M * s1 * one
                )
                r_bww = 0.5 * r_bx + y * r_bxx
                real = r_bww - 0.25 * less * less * r_b + 0.5 * less * rho
                own = e * complex(d * real, d * (rho_w - less * r_bw))
                work[_KWW, j] = 1j * to * work[_GWW, j] + own
            tau += 2.0 * d * h
            u += d * w
        work[_D, j] = complex(x[inc + j, 0] - x[inc + j - 1, 0], x[inc + j, 1] - x[inc + j - 1, 1])
        before += less * w
        angle += bj * w
    return angle, u


@leaf
def _set_slopes(b, db, of, work):  # type: ignore[no-untyped-def]
    """Set _U (k + 2,) to the derivatives of p (of = _G) or dp / ds (of = _K) in the w_j."""
    k = b.shape[0]
    g, s = 0j, 0j
    for j in range(k, 0, -1):
        less = 1.0 - b[j - 1]
        if of == _G:
            work[_U, j] = work[_GW, j] * work[_D, j] - 1j * less * g
        else:
            work[_U, j] = work[_KW, j] * work[_D, j] + 1j * (db[j - 1] * g - less * s)
        g += work[_G, j] * work[_D, j]
        s += work[_K, j] * work[_D, j]
    work[_U, 0], work[_U, k + 1] = 0j, 0j
    return s


@leaf
def _weight(values, n):  # type: ignore[no-untyped-def]
    """Of values (k,) by stage, what pose n has: values_n - values_{n+1}."""
    k = values.shape[0]
    return (values[n - 1] if n > 0 else 0.0) - (values[n] if n < k else 0.0)


@leaf
def _pose_turn(turn, at):  # type: ignore[no-untyped-def]
    """exp(i phi) of a control pose."""
    return complex(turn[at, 0], turn[at, 1])


@leaf
def _write_frame(axis, inc, b, db, x, turn, back, base, work, g, J):  # type: ignore[no-untyped-def]
    """Pose g (4, 4) and J (6, m) of a station that `back` turns from the world of the base to it."""
    k = b.shape[0]
    i, j = others(axis)
    p = complex(x[inc, 0], x[inc, 1])
    for n in range(1, k + 1):
        p += work[_G, n] * work[_D, n]
    co, si = back.real, -back.imag
    for a in range(3):
        f, h = base[a, i], base[a, j]
        g[a, axis] = base[a, axis]
        g[a, i], g[a, j] = co * f + si * h, co * h - si * f
        g[a, 3] = base[a, 3] + p.real * f + p.imag * h
    _set_slopes(b, db, _G, work)
    for n in range(k + 1):
        at = 3 * n
        bent = back * (work[_U, n] - work[_U, n + 1])
        moved = back * (work[_G, n] - work[_G, n + 1]) * _pose_turn(turn, inc + n)
        J[axis, at] = _weight(b, n) + (1.0 if n == 0 else 0.0)
        J[3 + i, at], J[3 + j, at] = bent.real, bent.imag
        J[3 + i, at + 1], J[3 + i, at + 2] = moved.real, -moved.imag
        J[3 + j, at + 1], J[3 + j, at + 2] = moved.imag, moved.real


@leaf
def _write_strain(axis, inc, b, db, u, turn, back, work, e, B):  # type: ignore[no-untyped-def]
    """Strain e (6,) and B (6, m): dv = back dq - i t v for q = dp / ds and the turn t."""
    k = b.shape[0]
    i, j = others(axis)
    v = back * _set_slopes(b, db, _K, work)
    e[axis], e[3 + i], e[3 + j] = u, v.real, v.imag
    for n in range(k + 1):
        at = 3 * n
        t = _weight(b, n) + (1.0 if n == 0 else 0.0)
        bent = back * (work[_U, n] - work[_U, n + 1]) - 1j * t * v
        moved = back * (work[_K, n] - work[_K, n + 1]) * _pose_turn(turn, inc + n)
        B[axis, at] = _weight(db, n)
        B[3 + i, at], B[3 + j, at] = bent.real, bent.imag
        B[3 + i, at + 1], B[3 + i, at + 2] = moved.real, -moved.imag
        B[3 + j, at + 1], B[3 + j, at + 2] = moved.imag, moved.real


@leaf
def _back(turn, inc, angle):  # type: ignore[no-untyped-def]
    """exp(-i phi) of a station, from its angle seen from its first control pose."""
    return (_pose_turn(turn, inc) * _turned(angle)).conjugate()


@kernel
def place(axis, base, first, element, b, db, psi, x, turn, frames, strains, g, J, e, B):  # type: ignore[no-untyped-def]
    """Frames g, J and strains e, B, as wanted; rows out of the plane are not written."""
    work = np.zeros((9, b.shape[1] + 2), dtype=np.complex128)
    for s in range(element.shape[0]):
        inc = first[element[s]]
        angle, u = _set_stages(axis, inc, b[s], db[s], psi, x, strains, False, work)
        back = _back(turn, inc, angle)
        if frames:
            _write_frame(axis, inc, b[s], db[s], x, turn, back, base, work, g[s], J[s])
        if strains:
            _write_strain(axis, inc, b[s], db[s], u, turn, back, work, e[s], B[s])


@leaf
def _dot(force, z):  # type: ignore[no-untyped-def]
    """force . z of vectors in the plane."""
    return force.real * z.real + force.imag * z.imag


@leaf
def _add_shifts(force, of, inc, b, db, turn, work, K):  # type: ignore[no-untyped-def]
    """Add what goes with turns times shifts in the second derivative of force . p, or of dp / ds."""
    k = b.shape[0]
    for n in range(k + 1):
        at, Q = 3 * n, _pose_turn(turn, inc + n)
        own = 0.5j * (work[of, n] - work[of, n + 1]) * Q
        _add_shift(force, own, at, at, K)
        # derivatives of the weight of P_n in the w_j, which turn poses j and j - 1
        for j in range(1, min(n + 1, k) + 1):
            less, d = 1.0 - b[j - 1], db[j - 1]
            slope = 0j
            for m, sign in ((n, 1.0), (n + 1, -1.0)):
                if m == j:
                    slope += sign * work[_GW if of == _G else _KW, m]
                elif j < m <= k:
                    slope -= sign * 1j * less * work[of, m]
                    if of == _K:
                        slope += sign * 1j * d * work[_G, m]
            _add_shift(force, slope * Q, 3 * j, at, K)
            _add_shift(force, -slope * Q, 3 * j - 3, at, K)


@leaf
def _add_shift(force, z, row, at, K):  # type: ignore[no-untyped-def]
    """K[row, at+1:at+3] += force . (z v), and its mirror image."""
    a, c = _dot(force, z), _dot(force, 1j * z)
    K[row, at + 1] += a
    K[at + 1, row] += a
    K[row, at + 2] += c
    K[at + 2, row] += c


@leaf
def _add_turns(force, of, b, db, work, K):  # type: ignore[no-untyped-def]
    """Add what goes with two turns in the second derivative of force . p, or of dp / ds."""
    k = b.shape[0]
    g, s = 0j, 0j
    for q in range(k, 0, -1):
        less, d, D = 1.0 - b[q - 1], db[q - 1], work[_D, q]
        for j in range(1, q + 1):
            own, slope = 1.0 - b[j - 1], db[j - 1]
            z = -own * less * (g if of == _G else s)
            if of == _K:
                z += (slope * less + own * d) * g
            if j == q:
                z += work[_GWW if of == _G else _KWW, q] * D
            elif of == _G:
                z -= 1j * own * work[_GW, q] * D
            else:
                z += 1j * (slope * work[_GW, q] - own * work[_KW, q]) * D
            value = _dot(force, z)
            _add_difference(value, 3 * j, 3 * q, K)
            if j < q:
                _add_difference(value, 3 * q, 3 * j, K)
        g += work[_G, q] * D
        s += work[_K, q] * D


@leaf
def _add_difference(value, row, col, K):  # type: ignore[no-untyped-def]
    """K += value w_j w_l with the angles w_j, w_l between poses and those before them."""
    K[row, col] += value
    K[row - 3, col] -= value
    K[row, col - 3] -= value
    K[row - 3, col - 3] += value


@leaf
def _add_twisted(scale, square, ni, nj, i, j, b, J, K):  # type: ignore[no-untyped-def]
    """K += scale (t x^T + x t^T) + square t t^T, t turns of the station and x = n x (its shifts J)."""
    k = b.shape[0]
    for n in range(k + 1):
        t = _weight(b, n) + (1.0 if n == 0 else 0.0)
        for m in range(k + 1):
            K[3 * n, 3 * m] += square * t * (_weight(b, m) + (1.0 if m == 0 else 0.0))
        for c in range(3 * (k + 1)):
            x = scale * t * (ni * J[3 + j, c] - nj * J[3 + i, c])
            K[3 * n, c] += x
            K[c, 3 * n] += x


@kernel
def add_frame_second(axis, first, element, b, psi, x, turn, J, f, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum f . log(g^-1 g(x)), f (S, 6).

    With the turn t and the shift r of a station, the shift of the logarithm is r'' - i t r'.
    """
    i, j = others(axis)
    work = np.zeros((9, b.shape[1] + 2), dtype=np.complex128)
    for s in range(element.shape[0]):
        ni, nj = f[s, 3 + i], f[s, 3 + j]
        if ni == 0.0 and nj == 0.0:
            continue
        inc, at = first[element[s]], K[element[s]]
        angle, _ = _set_stages(axis, inc, b[s], b[s], psi, x, False, True, work)
        force = complex(ni, nj) * _back(turn, inc, angle).conjugate()
        _add_shifts(force, _G, inc, b[s], b[s], turn, work, at)
        _add_turns(force, _G, b[s], b[s], work, at)
        _add_twisted(0.5, 0.0, ni, nj, i, j, b[s], J[s], at)


@kernel
def add_strain_second(axis, first, element, b, db, psi, x, turn, e, B, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, m, m) the second derivative of sum sigma . e(x), sigma = (m, n) (S, 6).

    u is linear in the angles, and v = exp(-i phi) q has v'' = exp(-i phi) q'' - 2 i t v' + t^2 v.
    """
    i, j = others(axis)
    work = np.zeros((9, b.shape[1] + 2), dtype=np.complex128)
    for s in range(element.shape[0]):
        ni, nj = sigma[s, 3 + i], sigma[s, 3 + j]
        if ni == 0.0 and nj == 0.0:
            continue
        inc, at = first[element[s]], K[element[s]]
        angle, _ = _set_stages(axis, inc, b[s], db[s], psi, x, True, True, work)
        force = complex(ni, nj) * _back(turn, inc, angle).conjugate()
        _add_shifts(force, _K, inc, b[s], db[s], turn, work, at)
        _add_turns(force, _K, b[s], db[s], work, at)
        along = ni * e[s, 3 + i] + nj * e[s, 3 + j]
        _add_twisted(1.0, along, ni, nj, i, j, b[s], B[s], at)


@kernel
def frame_bias(axis, first, element, b, psi, x, turn, J, ydot, bias):  # type: ignore[no-untyped-def]
    """bias (S, 6): body acceleration of stations when control poses move at constant rates (E, m).

    p'' = P_0'' + sum G_j D_j'' + 2 G_j' D_j' + G_j'' D_j with P_n'' = i w_n exp(i phi_n) v_n.
    """
    i, j = others(axis)
    k = b.shape[1]
    work = np.zeros((9, k + 2), dtype=np.complex128)
    for s in range(element.shape[0]):
        inc, y = first[element[s]], ydot[element[s]]
        angle, _ = _set_stages(axis, inc, b[s], b[s], psi, x, False, True, work)
        back = _back(turn, inc, angle)
        speed = _pose_turn(turn, inc) * complex(y[1], y[2])
        bent, beta = 1j * y[0] * speed, 0.0
        total = bent
        for n in range(1, k + 1):
            rate = y[3 * n] - y[3 * n - 3]
            now = _pose_turn(turn, inc + n) * complex(y[3 * n + 1], y[3 * n + 2])
            then = 1j * y[3 * n] * now
            G, Gw = work[_G, n], work[_GW, n]
            G1 = Gw * rate - 1j * beta * G
            G2 = work[_GWW, n] * rate * rate - 2j * beta * rate * Gw - beta * beta * G
            total += G * (then - bent) + 2.0 * G1 * (now - speed) + G2 * work[_D, n]
            beta += (1.0 - b[s, n - 1]) * rate
            speed, bent = now, then
        t, moved = 0.0, 0j
        for c in range(3 * (k + 1)):
            t += J[s, axis, c] * y[c]
            moved += complex(J[s, 3 + i, c], J[s, 3 + j, c]) * y[c]
        found = back * total - 1j * t * moved
        bias[s, 3 + i], bias[s, 3 + j] = found.real, found.imag
