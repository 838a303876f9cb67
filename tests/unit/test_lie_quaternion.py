"""Unit quaternions against rotation matrices."""

import numpy as np
import pytest

from pliant.lie import so3
from pliant.lie.quaternion_leaves import (
    quaternion_from_matrix,
    quaternion_log,
    quaternion_multiply,
)

RNG = np.random.default_rng(3)
VECTORS = RNG.normal(size=(60, 3))


def from_matrix(R):
    """The quaternions (n, 4) of rotation matrices (n, 3, 3)."""
    return np.array([quaternion_from_matrix(tuple(entries)) for entries in R.reshape(-1, 9)])


def half_turns():
    """Rotations whose largest quaternion component is each of the four in turn."""
    eye = np.eye(3)
    return np.concatenate((1e-3 * eye, (np.pi - 1e-6) * eye, (1e-6 - np.pi) * eye, 2.0 * eye))


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 3.0, np.pi - 1e-6])
def test_logarithm_undoes_the_exponential(angle):
    k = angle * VECTORS / np.linalg.norm(VECTORS, axis=1)[:, None]
    q = from_matrix(so3.exp(k))
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-15)
    log, opposite = (np.array([quaternion_log(one)[:3] for one in s * q]) for s in (1.0, -1.0))
    np.testing.assert_allclose(log, k, rtol=0, atol=1e-14 * max(angle, 1e-3))
    np.testing.assert_allclose(opposite, log, atol=0)
    np.testing.assert_allclose(so3.from_quaternion(q), so3.exp(k), atol=1e-14)


def test_matrices_survive_the_round_trip_in_every_branch():
    k = np.concatenate((VECTORS, half_turns()))
    R = so3.exp(k)
    q = from_matrix(R)
    assert (q[:, 0] >= 0).all()
    np.testing.assert_allclose(so3.from_quaternion(q), R, atol=1e-14)
    exact = np.stack([np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])])
    np.testing.assert_array_equal(so3.from_quaternion(from_matrix(exact)), exact)


def test_product_follows_the_matrices():
    P, Q = so3.exp(VECTORS[:30]), so3.exp(VECTORS[30:])
    p, q = from_matrix(P), from_matrix(Q)
    product = np.stack(quaternion_multiply(p.T, q.T), axis=1)
    np.testing.assert_allclose(so3.from_quaternion(product), P @ Q, atol=1e-14)
