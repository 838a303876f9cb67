"""Eight numbers at once: lanes compute what numbers compute."""

from __future__ import annotations

import numpy as np
import pytest

from pliant._numba import kernel
from pliant.engine.lanes import largest, load, store
from pliant.lie import so3
from pliant.lie.tuples import add, cross, dot
from pliant.solve.integrators.lumped import rigid


@kernel
def combine_lanes(a, out):  # type: ignore[no-untyped-def]
    for c in range(0, a.shape[1], 8):
        x, y = (load(a, 0, c), load(a, 1, c), load(a, 2, c)), (load(a, 3, c), load(a, 4, c), 2.0)
        z = add(0.5, cross(x, (y[0], y[1], -x[0])), 1.0, x)
        for i in range(3):
            store(out, i, c, 1.0 / (1.0 + z[i] * z[i]) - x[i] / 3.0)
        if largest(dot(x, x)) > 1e6:
            store(out, 0, c, x[0])


def test_lanes_compute_as_numbers_do() -> None:
    a, out = np.random.default_rng(1).normal(size=(5, 24)), np.zeros((3, 24))
    combine_lanes(a, out)
    z = 0.5 * np.cross(a[:3], np.stack([a[3], a[4], -a[0]]), axis=0) + a[:3]
    assert out == pytest.approx(1.0 / (1.0 + z * z) - a[:3] / 3.0, rel=1e-14)
    a[1, 9] = 1e4
    combine_lanes(a, out)
    assert out[0, 8:16] == pytest.approx(a[0, 8:16])
    assert out[0, :8] != pytest.approx(a[0, :8])


def test_nodes_turn_by_any_angle() -> None:
    rng = np.random.default_rng(2)
    X, Q, V = np.zeros((3, 8)), np.zeros((4, 8)), rng.normal(size=(3, 8))
    Q[0] = 1.0
    angle = np.array([0.0, 1e-9, 0.1, 0.6, 1.5, 3.0, 7.0, 40.0])
    axis = rng.normal(size=(3, 8))
    L = axis / np.linalg.norm(axis, axis=0) * angle
    inverse = np.tile(np.eye(3).reshape(9, 1), (1, 8))  # spheres: momentum and axis stay the same
    blocks = np.zeros(1, dtype=np.int64)
    rigid.drift(2.0, np.array([0.5]), True, blocks, np.zeros((3, 8)), inverse, X, Q, V, L)
    assert pytest.approx(V) == X
    for c in range(8):
        w, x, y, z = Q[:, c]
        R = np.eye(3) + 2 * w * so3.hat(np.array([x, y, z]))
        R += 2 * np.linalg.matrix_power(so3.hat(np.array([x, y, z])), 2)
        assert pytest.approx(so3.exp(L[:, c]), abs=1e-12) == R
