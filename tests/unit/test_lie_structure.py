"""Group structure, kernels, stacking and refusals of the Lie layer."""

import numpy as np
import pytest

from pliant.lie import se3, se3_kernels, so3
from pliant.lie.batch import LieError
from pliant.model.checks import PliantError

RNG = np.random.default_rng(7)
TWISTS = RNG.normal(size=(40, 6))
WEIGHTS = RNG.normal(size=(40, 6))


def filled(writer, shape, *arguments):
    """What a kernel writes into an array that was full of NaN."""
    out = np.full(shape, np.nan)
    writer(*arguments, out)
    return out


def test_adjoint_is_a_homomorphism():
    g, h = se3.exp(TWISTS), se3.exp(WEIGHTS)
    np.testing.assert_allclose(se3.Ad(g @ h), se3.Ad(g) @ se3.Ad(h), atol=1e-13)
    np.testing.assert_allclose(
        se3.Ad(se3.inverse(g)) @ se3.Ad(g), np.eye(6) + 0 * g[:, :1, :1], atol=1e-13
    )
    moved = g @ se3.hat(WEIGHTS) @ se3.inverse(g)
    np.testing.assert_allclose(
        se3.vee(moved), np.einsum("nij,nj->ni", se3.Ad(g), WEIGHTS), atol=1e-13
    )


def test_bracket_is_the_commutator():
    x, y = se3.hat(TWISTS), se3.hat(WEIGHTS)
    bracket = np.einsum("nij,nj->ni", se3.ad(TWISTS), WEIGHTS)
    np.testing.assert_allclose(se3.vee(x @ y - y @ x), bracket, atol=1e-13)


def test_cayley_of_the_adjoint_representation():
    half = se3.ad(TWISTS) / 2
    expected = np.linalg.solve(np.eye(6) - half, np.eye(6) + half)
    np.testing.assert_allclose(se3.Ad(se3.cayley(TWISTS)), expected, atol=1e-13)


def test_cayley_agrees_with_exp_to_third_order():
    x = TWISTS / np.linalg.norm(TWISTS, axis=1)[:, None]
    errors = [np.abs(se3.cayley(h * x) - se3.exp(h * x)).max() for h in (0.1, 0.05)]
    assert errors[0] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.05)


def test_tangents_relate_left_and_right():
    np.testing.assert_allclose(
        se3.dexp(-TWISTS), se3.Ad(se3.exp(TWISTS)) @ se3.dexp(TWISTS), atol=1e-12
    )
    np.testing.assert_allclose(
        se3.dcayley(-TWISTS), se3.Ad(se3.cayley(TWISTS)) @ se3.dcayley(TWISTS), atol=1e-12
    )


@pytest.mark.parametrize("name", ["dexp", "dcayley"])
def test_inverse_pairs(name):
    product = getattr(se3, name)(TWISTS) @ getattr(se3, f"{name}_inverse")(TWISTS)
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(6), product.shape), atol=1e-12)


def test_rotations_stay_orthogonal():
    for R in (so3.exp(TWISTS[:, :3]), se3.cayley(TWISTS)[:, :3, :3]):
        unit = np.swapaxes(R, 1, 2) @ R
        np.testing.assert_allclose(unit, np.broadcast_to(np.eye(3), unit.shape), atol=1e-14)
        np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-14)


def test_rotation_functions_are_the_angular_blocks_of_the_rigid_ones():
    k, u = TWISTS[:, :3], WEIGHTS[:, :3]
    still = np.concatenate((k, 0 * k), axis=1)
    for name in ("dexp", "dexp_inverse", "exp"):
        block = getattr(se3, name)(still)[:, :3, :3]
        np.testing.assert_allclose(getattr(so3, name)(k), block, atol=1e-15)
    block = se3.dexp_second(still, np.concatenate((u, 0 * u), axis=1))[:, :3, :3]
    np.testing.assert_allclose(so3.dexp_second(k, u), block, atol=1e-15)
    np.testing.assert_array_equal(so3.vee(so3.hat(k)), k)
    np.testing.assert_array_equal(se3.vee(se3.hat(TWISTS)), TWISTS)


@pytest.mark.parametrize(
    "kernel, function",
    [
        ("exp_pose_array", "exp"),
        ("dexp_array", "dexp"),
        ("dexp_inverse_array", "dexp_inverse"),
        ("ad_array", "ad"),
    ],
)
def test_kernels_write_what_the_public_functions_return(kernel, function):
    expected = getattr(se3, function)(TWISTS[0])
    np.testing.assert_allclose(
        filled(getattr(se3_kernels, kernel), expected.shape, TWISTS[0]), expected, atol=1e-15
    )


def test_pose_kernels():
    g, h = se3.exp(TWISTS[0]), se3.exp(WEIGHTS[0])
    np.testing.assert_allclose(filled(se3_kernels.multiply_array, (4, 4), g, h), g @ h, atol=1e-14)
    np.testing.assert_allclose(
        filled(se3_kernels.Ad_inverse_array, (6, 6), g), np.linalg.inv(se3.Ad(g)), atol=1e-14
    )
    x = np.full(6, np.nan)
    angle = se3_kernels.log_relative_array(g, g @ h, x)
    np.testing.assert_allclose(x, se3.log(h), atol=1e-14)
    assert angle == pytest.approx(np.linalg.norm(x[:3]), abs=1e-14)
    se3_kernels.multiply_array(g, h, h)
    np.testing.assert_allclose(h, g @ se3.exp(WEIGHTS[0]), atol=1e-14)


def test_stacks_of_any_shape():
    stack = TWISTS.reshape(4, 10, 6)
    assert se3.exp(stack).shape == (4, 10, 4, 4)
    np.testing.assert_array_equal(se3.dexp(stack)[1, 2], se3.dexp(stack[1, 2]))
    second = se3.dexp_second(stack, WEIGHTS[0])[3, 4]
    np.testing.assert_allclose(second, se3.dexp_second(stack[3, 4], WEIGHTS[0]), atol=1e-15)
    assert se3.exp(np.empty((0, 6))).shape == (0, 4, 4)
    assert se3.pose(np.eye(3), TWISTS[:, 3:]).shape == (40, 4, 4)
    np.testing.assert_allclose(
        (se3.exp(stack) @ se3.inverse(se3.exp(stack)))[2, 3], np.eye(4), atol=1e-14
    )


def test_zero_twist_gives_identities():
    zero = np.zeros(6)
    np.testing.assert_array_equal(se3.exp(zero), np.eye(4))
    np.testing.assert_array_equal(se3.log(np.eye(4)), zero)
    np.testing.assert_array_equal(se3.dexp(zero), np.eye(6))
    np.testing.assert_array_equal(se3.dexp_inverse(zero), np.eye(6))
    np.testing.assert_array_equal(se3.cayley_inverse(np.eye(4)), zero)


def test_nan_propagates():
    x = TWISTS[0].copy()
    x[1] = np.nan
    assert np.isnan(se3.exp(x)[:3]).all()
    assert np.isnan(se3.log(se3.exp(x))).all()
    assert np.isnan(se3.dexp(x)[:3, :3]).all()


@pytest.mark.parametrize("module, function", [(so3, "log"), (se3, "log"), (se3, "cayley_inverse")])
def test_half_a_turn_is_refused_with_a_remedy(module, function):
    size = 3 if module is so3 else 6
    x = np.zeros((2, size))
    x[1, 1] = np.pi
    with pytest.raises(LieError, match=r"rotation of 3\.14159\d* rad \(item 1 of 2\).*split"):
        getattr(module, function)(module.exp(x))
    assert issubclass(LieError, PliantError)
    assert issubclass(LieError, ValueError)
    x[1, 1] = np.pi - 1e-8
    getattr(module, function)(module.exp(x))


def test_kernel_logarithm_at_half_a_turn_takes_one_of_the_two_axes():
    x = np.empty(6)
    angle = se3_kernels.log_relative_array(np.eye(4), np.diag([-1.0, -1.0, 1.0, 1.0]), x)
    assert angle == pytest.approx(np.pi)
    np.testing.assert_allclose(np.abs(x), [0, 0, np.pi, 0, 0, 0], atol=1e-15)


def test_wrong_shapes_are_named():
    with pytest.raises(LieError, match=r"x has shape \(3,\), expected \(\.\.\., 6\)"):
        se3.exp(np.zeros(3))
    with pytest.raises(LieError, match=r"g has shape \(3, 3\), expected \(\.\.\., 4, 4\)"):
        se3.log(np.eye(3))
    with pytest.raises(LieError, match="do not broadcast"):
        se3.dexp_second(TWISTS[:3], WEIGHTS[:2])
