"""Rigid bodies on rods: inertia and weight at the centre of mass.

A body fixed to a section moves with the frame g_c = g T, T = (V, c) the constant pose of its
principal axes V and its centre of mass c in the section frame. There its inertia is diagonal,
M = (I1, I2, I3, m, m, m), its weight a dead force at the origin, and its twist A eta, A = Ad(T)^-1:
a body is one more station of inertia. Gyroscopic terms and those of an offset centre are exact.
"""

from __future__ import annotations

import numpy as np

from pliant._numba import kernel
from pliant.lie import se3
from pliant.model import Array, Body


def principal(body: Body) -> tuple[Array, Array]:
    """Diagonal inertia (6,) of a body and its pose T (4, 4) in the section frame."""
    moments, axes = np.linalg.eigh(np.asarray(body.inertia))
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1.0
    T = np.eye(4)
    T[:3, :3] = axes
    T[:3, 3] = body.arm()
    return np.concatenate((np.maximum(moments, 0.0), np.full(3, body.mass))), T


def carried(T: Array) -> Array:
    """(6, 6): twist of the frame g T from the twist of g, Ad(T)^-1."""
    return np.asarray(se3.Ad(se3.inverse(T)))


@kernel
def carry(g, J, station, T, A, out_g, out_J):  # type: ignore[no-untyped-def]
    """Frames g_c = g T and Jacobians A J of bodies at `station` (N,) of g (P, 4, 4), J (P, 6, m)."""
    m = J.shape[2]
    for b in range(station.shape[0]):
        s = station[b]
        for i in range(4):
            for j in range(4):
                v = 0.0
                for a in range(4):
                    v += g[s, i, a] * T[b, a, j]
                out_g[b, i, j] = v
        for i in range(6):
            for c in range(m):
                v = 0.0
                for a in range(6):
                    v += A[b, i, a] * J[s, a, c]
                out_J[b, i, c] = v
