"""Strains of an ANCF rod for compiled loops: live rows and own coordinates only, base at rest.

The same strains as in `ancf_kernels`, in the shape that `contract.CompiledMap` asks for. `ints` are
(turn, d, stations, then the element of each), `floats` the derivatives dH and ddH (S, 8) of the shape
functions at each station, and room for one station. Variables of an element are position and slope
of its two nodes (4 d).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pliant._numba import handed, kernel, leaf
from pliant.rods.ancf_section import SPACE, XZ, slopes
from pliant.rods.compiled import SECOND_SIGNATURE, STRAIN_SIGNATURE
from pliant.rods.contract import Array, Ints

_ROOM = 30
"""Numbers behind the shape functions, for the kernels to write to."""


@leaf
def _component(q, d, element, values, i):  # type: ignore[no-untyped-def]
    """sum_k values_k X_k of component i of d, X position and slope of the nodes of an element.

    q = (last component of the slope of the first node, whose other components are zero, and then
    position and slope of each further node).
    """
    b = 1 + 2 * d * element
    found = values[2] * q[b + i] + values[3] * q[b + d + i]
    if element > 0:
        a = b - 2 * d
        return found + values[0] * q[a + i] + values[1] * q[a + d + i]
    return found + values[1] * q[0] if i == d - 1 else found


@kernel
def _plane_strain(ints, floats, q, e, B):  # type: ignore[no-untyped-def]
    """e (S, 2) = (curvature, stretch) and B (S, 2, 8) of a rod in a plane."""
    sign = 1.0 if ints[0] == XZ else -1.0
    for s in range(ints[2]):
        el = ints[3 + s]
        dH, ddH = floats[8 * s : 8 * s + 4], floats[8 * s + 4 : 8 * s + 8]
        wa, wc = _component(q, 2, el, dH, 0), _component(q, 2, el, dH, 1)
        za, zc = _component(q, 2, el, ddH, 0), _component(q, 2, el, ddH, 1)
        square = wa * wa + wc * wc
        length = np.sqrt(square)
        c = (wc * za - wa * zc) / square
        e[s, 0] = sign * c
        e[s, 1] = length
        k = sign / square
        ga, gc = k * (-zc - 2.0 * c * wa), k * (za - 2.0 * c * wc)
        ta, tc = wa / length, wc / length
        bend, stretch = B[s, 0], B[s, 1]
        for n in range(4):
            bend[2 * n] = ga * dH[n] + k * wc * ddH[n]
            bend[2 * n + 1] = gc * dH[n] - k * wa * ddH[n]
            stretch[2 * n] = ta * dH[n]
            stretch[2 * n + 1] = tc * dH[n]


@leaf
def _room(floats):  # type: ignore[no-untyped-def]
    """Four vectors (3,) and two matrices (3, 3) to write to."""
    room = floats[len(floats) - _ROOM :]
    vectors = room[:3], room[3:6], room[6:9], room[9:12]
    return *vectors, room[12:21].reshape(3, 3), room[21:30].reshape(3, 3)


@kernel
def _space_strain(ints, floats, q, e, B):  # type: ignore[no-untyped-def]
    """e (S, 3) = (two curvatures, stretch) and B (S, 3, 12) of a cable in space."""
    w, z, gw, W, Hww, Hwz = _room(floats)
    for s in range(ints[2]):
        el = ints[3 + s]
        dH, ddH = floats[8 * s : 8 * s + 4], floats[8 * s + 4 : 8 * s + 8]
        for i in range(3):
            w[i] = _component(q, 3, el, dH, i)
            z[i] = _component(q, 3, el, ddH, i)
        length = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
        e[s, 2] = length
        for r in range(2):
            slopes(SPACE, w, z, 1.0 - r, 1.0 * r, 0.0, 0.0, gw, Hww, Hwz)
            _space_row(r, w, length, W)
            e[s, r] = W[0] * z[0] + W[1] * z[1] + W[2] * z[2]
            for n in range(4):
                for i in range(3):
                    B[s, r, 3 * n + i] = gw[i] * dH[n] + W[i] * ddH[n]
        for n in range(4):
            for i in range(3):
                B[s, 2, 3 * n + i] = w[i] / length * dH[n]


@leaf
def _space_row(r, w, length, W):  # type: ignore[no-untyped-def]
    """W (3,): the curvature of row r is W.z, see `ancf_section`."""
    D = max(length * (length + w[2]), 1e-14 * length * length)
    side, sign = (w[1], 1.0) if r == 0 else (w[0], -1.0)
    for i in range(3):
        W[i] = sign * side * w[i] / (length * D)
    W[2] += sign * side / D
    W[1 - r] -= sign / length


@kernel
def _strain(ints, floats, q, e, B):  # type: ignore[no-untyped-def]
    if ints[0] == SPACE:
        _space_strain(ints, floats, q, e, B)
    else:
        _plane_strain(ints, floats, q, e, B)


@kernel
def _second(ints, floats, q, sigma, K):  # type: ignore[no-untyped-def]
    """Add to K (E, 4 d, 4 d) the second derivative of sum_s sigma_s.e_s, sigma (S, R)."""
    turn, d = ints[0], ints[1]
    w, z, gw, _, Hww, Hwz = _room(floats)
    w[:] = 0.0
    z[:] = 0.0
    for s in range(ints[2]):
        el = ints[3 + s]
        dH, ddH = floats[8 * s : 8 * s + 4], floats[8 * s + 4 : 8 * s + 8]
        for i in range(d):
            at = _axis(turn, i)
            w[at] = _component(q, d, el, dH, i)
            z[at] = _component(q, d, el, ddH, i)
        s0 = 0.0 if turn == XZ else sigma[s, 0]
        s1 = sigma[s, 0] if turn == XZ else (sigma[s, 1] if turn == SPACE else 0.0)
        slopes(turn, w, z, s0, s1, 0.0, sigma[s, d - 1], gw, Hww, Hwz)
        for i in range(d):
            for j in range(d):
                a, b = _axis(turn, i), _axis(turn, j)
                ww, wz, zw = Hww[a, b], Hwz[a, b], Hwz[b, a]
                for k in range(4):
                    f = dH[k] * ww + ddH[k] * zw
                    g = dH[k] * wz
                    row = K[el, d * k + i]
                    for n in range(4):
                        row[d * n + j] += f * dH[n] + g * ddH[n]


@leaf
def _axis(turn, i):  # type: ignore[no-untyped-def]
    """Component i of a vector of the curve among x, y and z."""
    if turn == SPACE:
        return i
    if i == 1:
        return 2
    return 0 if turn == XZ else 1


def _handed_strain(ints, floats, q, e, B):  # type: ignore[no-untyped-def]
    _strain(ints, floats, q, e, B)


def _handed_second(ints, floats, q, sigma, K):  # type: ignore[no-untyped-def]
    _second(ints, floats, q, sigma, K)


@cache
def strain_functions() -> tuple[Any, Any]:
    """`strain` and `second` of a `CompiledMap`, compiled on first use."""
    return handed(STRAIN_SIGNATURE, _handed_strain), handed(SECOND_SIGNATURE, _handed_second)


def pack(turn: int, d: int, element: Ints, dH: Array, ddH: Array) -> tuple[Ints, Array]:
    """The arrays `ints` and `floats` of stations."""
    ints = np.concatenate([[turn, d, len(element)], element]).astype(np.int64)
    shapes = np.concatenate([dH, ddH], axis=1).ravel()
    return ints, np.concatenate([shapes, np.zeros(_ROOM)])
