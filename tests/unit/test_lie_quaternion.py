"""Unit quaternions against rotation matrices."""

import numpy as np
import pytest

from pliant.lie import quaternion, so3
from pliant.lie.batch import LieError

RNG = np.random.default_rng(3)
VECTORS = RNG.normal(size=(60, 3))


def half_turns():
    """Rotations whose largest quaternion component is each of the four in turn."""
    eye = np.eye(3)
    return np.concatenate((1e-3 * eye, (np.pi - 1e-6) * eye, (1e-6 - np.pi) * eye, 2.0 * eye))


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 3.0, np.pi - 1e-6])
def test_logarithm_undoes_the_exponential(angle):
    k = angle * VECTORS / np.linalg.norm(VECTORS, axis=1)[:, None]
    q = quaternion.exp(k)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(quaternion.log(q), k, rtol=0, atol=1e-14 * max(angle, 1e-3))
    np.testing.assert_allclose(quaternion.log(-q), quaternion.log(q), atol=0)
    np.testing.assert_allclose(quaternion.to_matrix(q), so3.exp(k), atol=1e-14)


def test_matrices_survive_the_round_trip_in_every_branch():
    k = np.concatenate((VECTORS, half_turns()))
    R = so3.exp(k)
    q = quaternion.from_matrix(R)
    assert (q[:, 0] >= 0).all()
    np.testing.assert_allclose(quaternion.to_matrix(q), R, atol=1e-14)
    exact = np.stack([np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])])
    np.testing.assert_array_equal(quaternion.to_matrix(quaternion.from_matrix(exact)), exact)


def test_product_and_rotation_follow_the_matrices():
    p, q = quaternion.exp(VECTORS[:30]), quaternion.exp(VECTORS[30:])
    P, Q = so3.exp(VECTORS[:30]), so3.exp(VECTORS[30:])
    np.testing.assert_allclose(quaternion.to_matrix(quaternion.multiply(p, q)), P @ Q, atol=1e-14)
    np.testing.assert_allclose(quaternion.rotate(p, VECTORS[0]), P @ VECTORS[0], atol=1e-14)
    unit = quaternion.multiply(p, quaternion.conjugate(p))
    np.testing.assert_allclose(unit, np.tile([1.0, 0, 0, 0], (30, 1)), atol=1e-15)


def test_normalise():
    q = quaternion.exp(VECTORS)
    np.testing.assert_allclose(quaternion.normalise(3.0 * q), q, atol=1e-15)
    with pytest.raises(LieError, match="length 0"):
        quaternion.normalise(np.zeros(4))


def test_half_a_turn_is_refused():
    with pytest.raises(LieError, match=r"quaternion\.log is undefined"):
        quaternion.log([0.0, 1.0, 0.0, 0.0])
