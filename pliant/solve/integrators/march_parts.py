"""Residual, tangent and losses of a step of one rod, for the loop in `march_kernels`, which has the
tuples of arrays explained.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel, leaf
from pliant.linalg.band import factor_band
from pliant.linalg.scatter import scatter


@leaf
def _dot(a, b):  # type: ignore[no-untyped-def]
    """a.b"""
    found = 0.0
    for i in range(len(a)):
        found += a[i] * b[i]
    return found


@leaf
def _add(f, a, out):  # type: ignore[no-untyped-def]
    """out += f a"""
    for i in range(len(a)):
        out[i] += f * a[i]


@leaf
def add_bands(A, x, C, y, out):  # type: ignore[no-untyped-def]
    """out += A x + C y for band matrices by rows, A[j, b + i - j] for |i - j| <= b."""
    n, width = A.shape
    b = width // 2
    for j in range(n):
        first, last = max(0, j - b), min(n, j + b + 1)
        shift = first - j + b
        rows, other = A[j, shift : shift + last - first], C[j, shift : shift + last - first]
        u, v = x[first:last], y[first:last]
        found = 0.0
        for a in range(len(u)):
            found += rows[a] * u[a] + other[a] * v[a]
        out[j] += found


@kernel
def strains_at(strain, ints, floats, q, e, B):  # type: ignore[no-untyped-def]
    """Strains e (S, R) and their derivatives B (S, R, n) of a `CompiledMap`."""
    strain(ints, floats, q, e, B)


@leaf
def place(rule, rod, state, room):  # type: ignore[no-untyped-def]
    """Configuration, rates and accelerations at the end of a step of increment D."""
    own = rod[4]
    q, v, acc, like = state[0], state[1], state[2], state[3]
    D, q1, v1, acc1, like1 = room[0], room[1], room[2], room[3], room[4]
    h, beta, gamma, am, af = rule[0], rule[1], rule[2], rule[3], rule[4]
    for j in range(len(own)):
        q1[j] = q[j] + D[own[j]]
    for j in range(len(D)):
        if beta == 0.0:
            v1[j] = D[j] / h
            acc1[j] = (v1[j] - v[j]) / h
        else:
            like1[j] = (D[j] - h * v[j] - h * h * (0.5 - beta) * like[j]) / (beta * h * h)
            v1[j] = v[j] + h * ((1.0 - gamma) * like[j] + gamma * like1[j])
            acc1[j] = ((1.0 - am) * like1[j] + am * like[j] - af * acc[j]) / (1.0 - af)


@leaf
def measure(strain, rule, rod, room):  # type: ignore[no-untyped-def]
    """Strains e (S, R), their derivatives B and, where they lag, their rates at a placed end."""
    element, index = rod[2], rod[3]
    v1, B, rate, ve = room[2], room[7], room[8], room[11]
    strain(rod[0], rod[1], room[1], room[6], B)
    if rule[10] > 0.0:
        for el in range(ve.shape[0]):
            for a in range(ve.shape[1]):
                k = index[el, a]
                ve[el, a] = v1[k] if k >= 0 else 0.0
        for t in range(B.shape[0]):
            v = ve[element[t]]
            for i in range(B.shape[1]):
                rate[t, i] = _dot(B[t, i], v)


@leaf
def _stresses(law, room):  # type: ignore[no-untyped-def]
    """Stresses sigma (S, R) of the strains in `room`, without those of stress modes."""
    plain, lag, e0 = law[:3]
    e, rate, sigma, s = room[6], room[8], room[9], room[15]
    for t in range(e.shape[0]):
        for i in range(e.shape[1]):
            sigma[t, i] = s[t, i] + plain[t, i] * (e[t, i] + lag[t, i] * rate[t, i] - e0[t, i])


@leaf
def _stress_modes(rod, law, room):  # type: ignore[no-untyped-def]
    """Add the stresses of stress modes to sigma, and write the gaps (E, p, Q) that they leave."""
    element, numbers, at = rod[2], law[7], law[8]
    lag, e0, weight, soft, N, rows = law[1:7]
    mult, e, rate, sigma, gap, force = room[5], room[6], room[8], room[9], room[10], room[21]
    E, p, Q = gap.shape
    for el in range(E):
        for i in range(p):
            for c in range(Q):
                force[el, i, c] = mult[at[numbers[el, i], c]]
                gap[el, i, c] = 0.0
    for t in range(e.shape[0]):
        el = element[t]
        holds, opens, f = N[t], gap[el], force[el]
        for c in range(Q):
            row, w = rows[c], weight[t, c]
            n = 0.0
            for i in range(p):
                n += holds[i] * f[i, c]
            sigma[t, row] += w * n
            met = w * (e[t, row] + lag[t, row] * rate[t, row] - e0[t, row] - soft[t, c] * n)
            for i in range(p):
                opens[i, c] += holds[i] * met


@leaf
def _forces(rod, room):  # type: ignore[no-untyped-def]
    """What stresses do on the coordinates of elements, re (E, n) = sum B^T sigma."""
    element = rod[2]
    B, sigma, re = room[7], room[9], room[12]
    re[:, :] = 0.0
    for t in range(B.shape[0]):
        out = re[element[t]]
        for i in range(B.shape[1]):
            _add(sigma[t, i], B[t, i], out)


@leaf
def residual(strain, rule, rod, law, form, room):  # type: ignore[no-untyped-def]
    """Write the residual r (n,) of the placed end of a step; returns the norm of the net force.

    Its parts are loops of their own: one loop for all takes half as long again.
    """
    index, numbers, at = rod[3], law[7], law[8]
    gap, re, r, f = room[10], room[12], room[13], room[14]
    measure(strain, rule, rod, room)
    _stresses(law, room)
    _stress_modes(rod, law, room)
    _forces(rod, room)
    E, p, Q = gap.shape
    for j in range(len(r)):
        r[j] = -f[j]
    for el in range(E):
        for a in range(index.shape[1]):
            k = index[el, a]
            if k >= 0:
                r[k] += re[el, a]
        for i in range(p):
            for c in range(Q):
                r[at[numbers[el, i], c]] += gap[el, i, c]
    net = 0.0
    for j in rod[5]:
        net += r[j] * r[j]
    add_bands(form[0], room[3], form[1], room[2], r)
    return np.sqrt(net)


@kernel
def _add_tangent(rule, rod, law, room):  # type: ignore[no-untyped-def]
    """K (E, n, n) = sum B^T c B, c stiffness with its damping, and the coupling with stress modes."""
    element = rod[2]
    plain, lag, weight, N, rows = law[0], law[1], law[3], law[5], law[6]
    B, K, coupling = room[7], room[16], room[17]
    Q = len(rows)
    K[:, :, :] = 0.0
    coupling[:, :, :] = 0.0
    for t in range(B.shape[0]):
        el = element[t]
        full, mixed = K[el], coupling[el]
        for i in range(B.shape[1]):
            c = plain[t, i] * (1.0 + rule[5] * lag[t, i])
            if c != 0.0:
                b = B[t, i]
                for a in range(len(b)):
                    out, v = full[a], c * b[a]
                    for n in range(len(b)):
                        out[n] += v * b[n]
        for c in range(Q):
            b = B[t, rows[c]]
            for i in range(N.shape[1]):
                out, v = mixed[Q * i + c], weight[t, c] * N[t, i]
                for a in range(len(b)):
                    out[a] += v * b[a]


@kernel
def factorise(second, rule, rod, law, form, room, band):  # type: ignore[no-untyped-def]
    """Factorise the tangent of the residual just written; returns False if it is singular.

    Rows of gaps are divided by `mode_slope` (rule[9]), which makes the tangent symmetric.
    """
    mass, damping, compliance, at_elements, at_down, at_up, at_inner = form
    K, coupling, inner = room[16], room[17], room[18]
    data, A, d, made, work = band
    _add_tangent(rule, rod, law, room)
    second(rod[0], rod[1], room[1], room[9], K)
    width = A.shape[1]
    for j in range(A.shape[0]):
        for a in range(width):
            at = width - 1 + a
            data[j * width + a] = rule[6] * mass[j, at] + rule[5] * damping[j, at]
    for el in range(inner.shape[0]):
        for a in range(inner.shape[1]):
            for b in range(inner.shape[1]):
                inner[el, a, b] = compliance[el, a, b] / rule[9]
    scatter(at_elements, K, data)
    scatter(at_down, coupling, data)
    scatter(at_up, coupling, data)
    scatter(at_inner, inner, data)
    made[0] = factor_band(data, A, d, work) >= 0
    return made[0] > 0


@kernel
def dissipated(rule, law, form, start, room):  # type: ignore[no-untyped-def]
    """Energy lost in a step of increment D, J: see `kinematics.Rates.dissipated`.

    start : strains (S, R) before the step.
    """
    D, e, plainly, lagging = room[0], room[6], room[22], room[23]
    plain, lag, _, weight, _, N, rows = law[:7]
    flexible, mode = law[11], law[12]
    lost = 0.0
    damping, b = form[1], form[1].shape[1] // 2
    for j in range(len(D)):
        if D[j] != 0.0:
            for i in range(max(0, j - b), min(len(D), j + b + 1)):
                lost += D[j] * damping[j, b + i - j] * D[i]
    if rule[10] == 0.0:
        return lost / rule[0]
    for t in range(e.shape[0]):
        for i in range(e.shape[1]):
            change = e[t, i] - start[t, i]
            lost += plain[t, i] * lag[t, i] * change * change
    Q, K, _ = flexible.shape
    for c in range(Q):
        lagging[:] = 0.0
        plainly[:] = 0.0
        row = rows[c]
        for t in range(e.shape[0]):
            change = weight[t, c] * (e[t, row] - start[t, row])
            for i in range(N.shape[1]):
                f = N[t, i] * change
                plainly[mode[t, i]] += f
                lagging[mode[t, i]] += lag[t, row] * f
        for i in range(K):
            for j in range(K):
                lost += plainly[i] * flexible[c, i, j] * lagging[j]
    return lost / rule[0]
